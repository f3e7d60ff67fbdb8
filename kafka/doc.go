// Package kafka is the adapter to Kafka brokers, through franz-go. It answers
// in the types of package streams.
//
// [Dial] makes a [Cluster] and proves the connection. What a cluster offers is
// split in two. A [Reader] holds connections that refuse every request that is
// not a read, whatever the code above them does: a preview made with it cannot
// change the cluster. A [Writer] has connections of its own, opened when it is
// first used, and only a step of an approved plan holds one.
//
// # What an answer means
//
// Unknown is not empty, not allowed is not absent, and not found is not
// stopped. Brokers answer a principal without rights with empty lists and no
// error, and describe a running group as Dead when they are asked through the
// API of another group type. So absence is only reported after the named thing
// itself was asked for, and a group is described by its true type. What could
// not be had is a [streams.Fault] beside what could, and an error leaves this
// package only when nothing could be had; it then wraps a Fault, which
// [streams.FaultOf] finds, and the cause, for [errors.Is].
//
// All methods are safe for concurrent use. Each call waits for brokers no
// longer than its context, and no longer than about ten seconds per request
// that fails.
package kafka
