// Package batch knows Kafka's record batches as bytes: it walks what a broker
// sent or an archive keeps, reads batch headers, checks CRCs, and decodes the
// records of a batch when somebody has to see them. Nothing in it speaks to a
// broker or a store.
//
// Only batches of magic 2 (Kafka 0.11 and later) keep their shape. Message sets
// of magic 0 and 1 are decoded record by record.
//
// It imports the standard library and decompressors.
//
// The layout is that of org.apache.kafka.common.record.DefaultRecordBatch
// (https://kafka.apache.org/documentation/#recordbatch).
package batch
