package kafka

import (
	"context"
	"maps"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kfake"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"
	"go.uber.org/goleak"

	"resurge/streams"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// counter counts requests by API key.
type counter struct {
	mu   sync.Mutex // guards keys
	keys map[kmsg.Key]int
}

func (c *counter) observe(key int16) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.keys == nil {
		c.keys = map[kmsg.Key]int{}
	}
	c.keys[kmsg.Key(key)]++
}

// take returns what was counted since the last call.
func (c *counter) take() map[kmsg.Key]int {
	c.mu.Lock()
	defer c.mu.Unlock()
	out := c.keys
	c.keys = nil
	return out
}

func names(keys map[kmsg.Key]int) []string {
	var out []string
	for k := range maps.Keys(keys) {
		out = append(out, k.Name())
	}
	slices.Sort(out)
	return out
}

func fake(t *testing.T, opts ...kfake.Opt) *kfake.Cluster {
	t.Helper()
	c, err := kfake.NewCluster(append([]kfake.Opt{kfake.NumBrokers(3), kfake.GroupMinSessionTimeout(time.Millisecond)}, opts...)...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.Close)
	return c
}

func dial(t *testing.T, f *kfake.Cluster) (*Cluster, *counter) {
	t.Helper()
	n := &counter{}
	c, err := Dial(t.Context(), ClientConfig{Bootstrap: f.ListenAddrs()}, Options{OnRequest: n.observe})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.Close)
	n.take()
	return c, n
}

// client is a plain client, the stand-in of an application.
func client(t *testing.T, f *kfake.Cluster, opts ...kgo.Opt) *kgo.Client {
	t.Helper()
	cl, err := kgo.NewClient(append([]kgo.Opt{
		kgo.SeedBrokers(f.ListenAddrs()...), kgo.MetadataMinAge(10 * time.Millisecond), kgo.DisableClientMetrics(),
		kgo.RecordPartitioner(kgo.ManualPartitioner()),
	}, opts...)...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(cl.Close)
	return cl
}

func produce(t *testing.T, cl *kgo.Client, topic string, partition int32, values ...string) {
	t.Helper()
	for i, v := range values {
		r := &kgo.Record{Topic: topic, Partition: partition, Key: []byte{byte('a' + i)}, Value: []byte(v), Timestamp: time.UnixMilli(int64(1000 * (i + 1)))}
		if err := cl.ProduceSync(t.Context(), r).FirstErr(); err != nil {
			t.Fatal(err)
		}
	}
}

func commit(t *testing.T, f *kfake.Cluster, group string, offsets map[streams.TopicPartition]int64) {
	t.Helper()
	var os kadm.Offsets
	for tp, at := range offsets {
		os.AddOffset(tp.Topic, tp.Partition, at, -1)
	}
	if err := kadm.NewClient(client(t, f)).CommitAllOffsets(t.Context(), group, os); err != nil {
		t.Fatal(err)
	}
}

// streamBalancer joins as classic Kafka Streams does, with userdata.
type streamBalancer struct {
	kgo.GroupBalancer
	userdata []byte
}

func (streamBalancer) ProtocolName() string { return "stream" }

func (b streamBalancer) JoinGroupMetadata(topics []string, _ map[string][]int32, _ int32) []byte {
	m := kmsg.NewConsumerMemberMetadata()
	m.Version, m.Topics, m.UserData = 1, topics, b.userdata
	return m.AppendTo(nil)
}

// join starts a member of a group and waits until the group is stable.
func join(t *testing.T, f *kfake.Cluster, group string, opts ...kgo.Opt) *kgo.Client {
	t.Helper()
	cl := client(t, f, append([]kgo.Opt{kgo.ConsumerGroup(group), kgo.SessionTimeout(3 * time.Second), kgo.HeartbeatInterval(50 * time.Millisecond), kgo.DisableAutoCommit()}, opts...)...)
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
	defer cancel()
	cl.PollFetches(ctx)
	return cl
}

func tp(topic string, partition int32) streams.TopicPartition {
	return streams.TopicPartition{Topic: topic, Partition: partition}
}

func wantFault(t *testing.T, f *streams.Fault, kind streams.FaultKind) {
	t.Helper()
	if f == nil {
		t.Fatalf("want fault %s, got none", kind)
	}
	if f.Kind != kind {
		t.Fatalf("want fault %s, got %+v", kind, *f)
	}
	if f.What == "" || f.Message == "" {
		t.Fatalf("fault does not say what failed: %+v", *f)
	}
}
