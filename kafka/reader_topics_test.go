package kafka

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kfake"
	"github.com/twmb/franz-go/pkg/kmsg"

	"resurge/streams"
)

func TestClusterIsIdentifiedFromTheLiveConnection(t *testing.T) {
	f := fake(t, kfake.ClusterID("live-id"))
	c, _ := dial(t, f)
	got, err := c.Reader().Cluster(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if got.ID != "live-id" || len(got.Brokers) != 3 || got.Brokers[0].Host == "" || got.Brokers[0].Port == 0 {
		t.Errorf("got %+v", got)
	}
}

func TestTopics(t *testing.T) {
	f := fake(t, kfake.SeedTopics(2, "orders", "_invoices"))
	c, n := dial(t, f)
	all, err := c.Reader().Topics(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if len(all) != 2 || all[0].Name != "_invoices" || all[1].Name != "orders" || all[1].ID.IsZero() || len(all[1].Partitions) != 2 || all[1].Partitions[1].Partition != 1 {
		t.Errorf("all topics: %+v", all)
	}
	if got := n.take(); got[kmsg.Metadata] != 1 {
		t.Errorf("one request is enough, sent %v", got)
	}
	named, err := c.Reader().Topics(t.Context(), "orders", "ordres", "orders")
	if err != nil {
		t.Fatal(err)
	}
	if len(named) != 2 || named[0].Fault != nil {
		t.Fatalf("named topics: %+v", named)
	}
	wantFault(t, named[1].Fault, streams.FaultNotFound)
	if f.TopicInfo("ordres") != nil {
		t.Error("looking for a topic created it")
	}
}

func TestTopicConfigs(t *testing.T) {
	f := fake(t)
	if err := f.CreateTopic("t", 1, map[string]string{"cleanup.policy": "compact"}); err != nil {
		t.Fatal(err)
	}
	c, _ := dial(t, f)
	got, err := c.Reader().TopicConfigs(t.Context(), "t", "absent")
	if err != nil {
		t.Fatal(err)
	}
	if v := got["t"].Values["cleanup.policy"]; v != (streams.Config{Value: "compact", Dynamic: true}) {
		t.Errorf("cleanup.policy: %+v", v)
	}
	if v := got["t"].Values["retention.ms"]; v.Dynamic {
		t.Errorf("retention.ms is the broker's: %+v", v)
	}
	wantFault(t, got["absent"].Fault, streams.FaultNotFound)
	if none, err := c.Reader().TopicConfigs(t.Context()); err != nil || len(none) != 0 {
		t.Errorf("no name asks for nothing: %v %v", none, err)
	}
}

func TestWatermarksAndOffsetsAt(t *testing.T) {
	f := fake(t, kfake.SeedTopics(2, "t"))
	cl := client(t, f)
	produce(t, cl, "t", 0, "v1", "v2", "v3")
	if err := f.DeleteRecords("t", 0, 1); err != nil {
		t.Fatal(err)
	}
	c, n := dial(t, f)
	marks, err := c.Reader().Watermarks(t.Context(), "t", "absent")
	if err != nil {
		t.Fatal(err)
	}
	wantFault(t, marks[tp("absent", -1)].Fault, streams.FaultNotFound)
	delete(marks, tp("absent", -1))
	want := map[streams.TopicPartition]streams.Watermarks{tp("t", 0): {Start: 1, End: 3, Stable: 3}, tp("t", 1): {}}
	if d := cmp.Diff(want, marks); d != "" {
		t.Error(d)
	}
	if got := n.take(); got[kmsg.ListOffsets] > 9 || got[kmsg.Metadata] > 2 {
		t.Errorf("requests: %v", got)
	}
	at, err := c.Reader().OffsetsAt(t.Context(), time.UnixMilli(2500), "t")
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(map[streams.TopicPartition]streams.OffsetAt{tp("t", 0): {Offset: 2, Found: true, Time: time.UnixMilli(3000).UTC()}, tp("t", 1): {}}, at); d != "" {
		t.Error(d)
	}
	late, err := c.Reader().OffsetsAt(t.Context(), time.UnixMilli(9999), "t")
	if err != nil {
		t.Fatal(err)
	}
	if got := late[tp("t", 0)]; got != (streams.OffsetAt{Offset: 3}) {
		t.Errorf("nothing later: %+v, want the end and not found", got)
	}
	early, err := c.Reader().OffsetsAt(t.Context(), time.UnixMilli(-2), "t")
	if err != nil {
		t.Fatal(err)
	}
	if got := early[tp("t", 0)]; got != (streams.OffsetAt{Offset: 1, Found: true, Time: time.UnixMilli(2000).UTC()}) {
		t.Errorf("before 1970: %+v, want the first record", got)
	}
}

func TestWatermarksFaultOfOnePartition(t *testing.T) {
	f := fake(t, kfake.SeedTopics(2, "t"))
	c, _ := dial(t, f)
	f.Fault(kfake.Fault{Keys: []kmsg.Key{kmsg.ListOffsets}, Topic: "t", Partitions: []int32{1}, Err: kerr.TopicAuthorizationFailed})
	marks, err := c.Reader().Watermarks(t.Context(), "t")
	if err != nil {
		t.Fatal(err)
	}
	if m := marks[tp("t", 0)]; m.Fault != nil {
		t.Errorf("partition 0: %+v", m.Fault)
	}
	wantFault(t, marks[tp("t", 1)].Fault, streams.FaultNotAllowed)
}
