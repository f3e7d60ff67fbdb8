package sandbox

import (
	"bytes"
	"path/filepath"
	"slices"
	"strconv"

	"github.com/twmb/franz-go/pkg/kgo"

	"resurge/streams"
)

// The names that the sample topology is made of.
const (
	topicOrders    = "orders"
	topicCustomers = "customers"
	topicTotals    = "order-totals"

	storeCustomers = "customers"
	storeTotals    = "totals"
	storePerMinute = "per-minute"
	storeItems     = "item-totals"

	byItem = "by-item"
)

// minuteMs is the window size of the per-minute store; retentionMs is how long
// its windows are kept, grace included, so that no order is ever too late.
const (
	minuteMs    = int64(60_000)
	retentionMs = int64(86_400_000)
)

// topology is the sample application's, as Topology#describe() would print it:
//
//	Sub-topology: 0
//	  Source: KSTREAM-SOURCE-orders (topics: [orders])
//	    --> totals, per-minute, by-item-repartition-sink
//	  Source: KTABLE-SOURCE-customers (topics: [customers])   (the topic is the changelog)
//	  Stores: totals (key-value), per-minute (windowed, 1 minute), customers
//	  Sink:   by-item-repartition-sink (topic: <app>-by-item-repartition)
//	Sub-topology: 1
//	  Source: by-item-repartition-source (topics: [<app>-by-item-repartition])
//	  Stores: item-totals (key-value)
//	  Sink:   KSTREAM-SINK (topic: order-totals)
type topology struct {
	app    string
	output string
	// factor is how often an order is counted: 1, or more in a deploy with the
	// bug of scenario "bad-deploy".
	factor int
}

// storeSpec is one store of a subtopology.
type storeSpec struct {
	name     string
	topic    string // the changelog
	windowed bool
	// source says that the changelog is an input topic (topology.optimization):
	// nothing is logged, and a restore ends at the committed offset.
	source bool
}

// file is where Streams keeps such a store in a task directory.
func (s storeSpec) file(taskDir string) string {
	if s.windowed {
		return filepath.Join(taskDir, s.name, s.name+".0")
	}
	return filepath.Join(taskDir, "rocksdb", s.name, "store.log")
}

func (t topology) repartition() string { return streams.RepartitionTopic(t.app, byItem) }

// sources are the source topics by subtopology.
func (t topology) sources() [][]string {
	return [][]string{{topicCustomers, topicOrders}, {t.repartition()}}
}

// subscription lists all source topics in order.
func (t topology) subscription() []string {
	return []string{topicCustomers, t.repartition(), topicOrders}
}

func (t topology) stores(subtopology int32) []storeSpec {
	if subtopology == 1 {
		return []storeSpec{{name: storeItems, topic: streams.ChangelogTopic(t.app, storeItems)}}
	}
	return []storeSpec{
		{name: storeTotals, topic: streams.ChangelogTopic(t.app, storeTotals)},
		{name: storePerMinute, topic: streams.ChangelogTopic(t.app, storePerMinute), windowed: true},
		{name: storeCustomers, topic: topicCustomers, source: true},
	}
}

// internalTopic is a topic that the application creates for itself.
type internalTopic struct {
	name       string
	partitions int32
	configs    map[string]string
}

// internalTopics are those needed for the given number of input partitions, with
// the configs that Streams gives them.
func (t topology) internalTopics(inputs int32) []internalTopic {
	repartition := internalTopic{name: t.repartition(), partitions: inputs, configs: map[string]string{
		"cleanup.policy":         "delete",
		"retention.ms":           "-1",
		"segment.bytes":          "52428800",
		"message.timestamp.type": "CreateTime",
	}}
	out := []internalTopic{repartition}
	for sub := range int32(2) {
		for _, s := range t.stores(sub) {
			if s.source {
				continue
			}
			cfg := map[string]string{"cleanup.policy": "compact", "message.timestamp.type": "CreateTime"}
			if s.windowed {
				cfg["cleanup.policy"] = "compact,delete"
				// windowstore.changelog.additional.retention.ms is a day.
				cfg["retention.ms"] = strconv.FormatInt(retentionMs+86_400_000, 10)
			}
			out = append(out, internalTopic{name: s.topic, partitions: inputs, configs: cfg})
		}
	}
	return out
}

// emitFn sends a record that processing gave rise to. A store is named when the
// record is an entry of its changelog.
type emitFn func(r *kgo.Record, logOf *store)

// process applies one record to the task's stores and emits what follows from it.
func (t topology) process(tk *task, r *kgo.Record, emit emitFn) {
	ts := r.Timestamp.UnixMilli()
	switch r.Topic {
	case topicCustomers:
		s := tk.store(storeCustomers)
		s.put(string(r.Key), row{ts: ts, value: r.Value})
		s.applied.Store(r.Offset)
	case topicOrders:
		item, amount, ok := parseOrder(r.Value)
		if !ok {
			return // log-and-continue, as the deserialization handler is set
		}
		for range t.factor {
			t.order(tk, string(r.Key), ts, emit)
			emit(&kgo.Record{
				Topic: t.repartition(), Key: item, Value: amount, Timestamp: r.Timestamp,
				Partition: partitionOf(item, tk.repartitions),
			}, nil)
		}
	default:
		amount, err := strconv.ParseInt(string(r.Value), 10, 64)
		if err != nil {
			return
		}
		s := tk.store(storeItems)
		got := s.add(string(r.Key), amount, ts)
		emit(tk.changelog(s, r.Key, got), s)
		emit(&kgo.Record{
			Topic: t.output, Key: r.Key, Value: strconv.AppendInt(nil, got.counter(), 10), Timestamp: r.Timestamp,
			Partition: partitionOf(r.Key, tk.outputs),
		}, nil)
	}
}

// order counts an order by customer, in total and by minute.
func (t topology) order(tk *task, customer string, ts int64, emit emitFn) {
	totals, perMinute := tk.store(storeTotals), tk.store(storePerMinute)
	emit(tk.changelog(totals, []byte(customer), totals.add(customer, 1, ts)), totals)
	key := streams.EncodeWindowKey(streams.WindowKey{Key: []byte(customer), StartMillis: ts - ts%minuteMs})
	emit(tk.changelog(perMinute, key, perMinute.add(string(key), 1, ts)), perMinute)
}

func parseOrder(value []byte) (item, amount []byte, ok bool) {
	item, amount, ok = bytes.Cut(value, []byte{','})
	return item, amount, ok && len(item) > 0
}

// partitionOf is the Java client's default partitioner for a record with a key.
func partitionOf(key []byte, partitions int32) int32 {
	return int32(murmur2(key)&0x7fffffff) % partitions
}

// murmur2 is the hash of org.apache.kafka.common.utils.Utils.
func murmur2(b []byte) uint32 {
	const m = uint32(0x5bd1e995)
	h := uint32(0x9747b28c) ^ uint32(len(b))
	for ; len(b) >= 4; b = b[4:] {
		k := uint32(b[3])<<24 | uint32(b[2])<<16 | uint32(b[1])<<8 | uint32(b[0])
		k *= m
		k ^= k >> 24
		k *= m
		h *= m
		h ^= k
	}
	for i, c := range slices.Backward(b) {
		h ^= uint32(c) << (8 * i)
	}
	if len(b) > 0 {
		h *= m
	}
	h ^= h >> 13
	h *= m
	return h ^ h>>15
}
