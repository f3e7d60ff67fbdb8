package kafka

import (
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kfake"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"

	"resurge/streams"
)

func TestBrokersWithTopic(t *testing.T) {
	f := fake(t, kfake.SeedTopics(1, "t"))
	c, n := dial(t, f)
	got, err := c.Reader().BrokersWithTopic(t.Context(), "t")
	if err != nil || !slices.Equal(got, []int32{0, 1, 2}) {
		t.Errorf("got %v %v", got, err)
	}
	if sent := n.take(); sent[kmsg.Metadata] != 4 {
		t.Errorf("every broker is asked once, sent %v", sent)
	}
	// One broker lags behind: it still knows the topic.
	if err := f.DeleteTopic("t"); err != nil {
		t.Fatal(err)
	}
	f.ControlKey(kmsg.Metadata.Int16(), func(kreq kmsg.Request) (kmsg.Response, error, bool) {
		f.KeepControl()
		req := kreq.(*kmsg.MetadataRequest)
		if f.CurrentNode() != 1 || len(req.Topics) == 0 {
			return nil, nil, false
		}
		resp := req.ResponseKind().(*kmsg.MetadataResponse)
		mt := kmsg.NewMetadataResponseTopic()
		mt.Topic, mt.ErrorCode = new("t"), kerr.LeaderNotAvailable.Code
		resp.Topics = append(resp.Topics, mt)
		b := kmsg.NewMetadataResponseBroker()
		b.NodeID, b.Host, b.Port = 1, "127.0.0.1", 1
		resp.Brokers = append(resp.Brokers, b)
		return resp, nil, true
	})
	c2, _ := dial(t, f)
	got, err = c2.Reader().BrokersWithTopic(t.Context(), "t")
	if err != nil || !slices.Equal(got, []int32{1}) {
		t.Errorf("got %v %v", got, err)
	}
}

func TestBrokersWithTopicNeedsEveryBroker(t *testing.T) {
	f := fake(t)
	c, _ := dial(t, f)
	f.Fault(kfake.Fault{Keys: []kmsg.Key{kmsg.Metadata}, Nodes: []int32{2}, Topic: "t", Err: kerr.TopicAuthorizationFailed, Count: -1})
	got, err := c.Reader().BrokersWithTopic(t.Context(), "t")
	if !streams.IsFault(err, streams.FaultNotAllowed) {
		t.Errorf("a broker that cannot be asked is an error: %v %v", got, err)
	}
}

func TestLatest(t *testing.T) {
	f := fake(t, kfake.SeedTopics(3, "t"))
	cl := client(t, f)
	produce(t, cl, "t", 0, "v0", "v1", "v2", "v3", "v4")
	produce(t, cl, "t", 2, "w0")
	if err := cl.ProduceSync(t.Context(), &kgo.Record{Topic: "t", Partition: 2, Key: []byte("k"), Value: nil, Timestamp: time.UnixMilli(5)},
		&kgo.Record{Topic: "t", Partition: 2, Key: []byte("k"), Value: []byte{}, Timestamp: time.UnixMilli(6)}).FirstErr(); err != nil {
		t.Fatal(err)
	}
	c, _ := dial(t, f)
	got, err := c.Reader().Latest(t.Context(), "t", 2)
	if err != nil {
		t.Fatal(err)
	}
	want := []streams.Record{
		{Partition: 0, Offset: 3, Time: time.UnixMilli(4000), Key: []byte("d"), Value: []byte("v3")},
		{Partition: 0, Offset: 4, Time: time.UnixMilli(5000), Key: []byte("e"), Value: []byte("v4")},
		{Partition: 2, Offset: 1, Time: time.UnixMilli(5), Key: []byte("k"), Value: nil},
		{Partition: 2, Offset: 2, Time: time.UnixMilli(6), Key: []byte("k"), Value: []byte{}},
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
	if _, err := c.Reader().Latest(t.Context(), "absent", 2); !streams.IsFault(err, streams.FaultNotFound) {
		t.Errorf("absent topic: %v", err)
	}
}

func TestB68_TailOfMarkersDoesNotHang(t *testing.T) {
	f := fake(t, kfake.SeedTopics(1, "in"))
	end := func(id string, how kgo.TransactionEndTry) {
		t.Helper()
		cl := client(t, f, kgo.TransactionalID(id))
		if err := cl.BeginTransaction(); err != nil {
			t.Fatal(err)
		}
		produce(t, cl, "in", 0, id)
		if err := cl.EndTransaction(t.Context(), how); err != nil {
			t.Fatal(err)
		}
	}
	end("kept", kgo.TryCommit)      // 0, marker 1
	end("dropped", kgo.TryAbort)    // 2, marker 3
	openTransaction(t, f, "o", "g") // 4, undecided
	c, _ := dial(t, f)
	got, err := c.Reader().Latest(t.Context(), "in", 10)
	if err != nil {
		t.Fatal(err)
	}
	if len(got) != 1 || string(got[0].Value) != "kept" || got[0].Offset != 0 {
		t.Errorf("got %+v", got)
	}
}

func TestLatestOfACompactedTail(t *testing.T) {
	f := fake(t)
	if err := f.CreateTopic("t", 1, map[string]string{"cleanup.policy": "compact"}); err != nil {
		t.Fatal(err)
	}
	cl := client(t, f)
	for _, v := range []string{"a", "b", "c"} {
		if err := cl.ProduceSync(t.Context(), &kgo.Record{Topic: "t", Key: []byte("k"), Value: []byte(v)}).FirstErr(); err != nil {
			t.Fatal(err)
		}
	}
	f.Compact()
	c, _ := dial(t, f)
	got, err := c.Reader().Latest(t.Context(), "t", 5)
	if err != nil || len(got) == 0 || string(got[len(got)-1].Value) != "c" {
		t.Errorf("got %+v %v", got, err)
	}
}

func TestLatestFollowsAMovedLeader(t *testing.T) {
	f := fake(t, kfake.SeedTopics(1, "t"))
	produce(t, client(t, f), "t", 0, "v")
	c, _ := dial(t, f)
	moved := f.Fault(kfake.Fault{Keys: []kmsg.Key{kmsg.Fetch}, Topic: "t", Err: kerr.NotLeaderForPartition, Count: 2})
	got, err := c.Reader().Latest(t.Context(), "t", 5)
	if err != nil || len(got) != 1 || moved.Hits() != 2 {
		t.Errorf("got %+v %v after %d refusals", got, err, moved.Hits())
	}
}

func TestAfterBatches(t *testing.T) {
	batch := kmsg.RecordBatch{FirstOffset: 40, Length: 49, Magic: 2, LastOffsetDelta: 9}
	b := batch.AppendTo(nil)
	if got := afterBatches(b); got != 50 {
		t.Errorf("an empty batch takes offsets too: next %d, want 50", got)
	}
	if got := afterBatches(b[:60]); got != -1 {
		t.Errorf("a cut batch says nothing: %d", got)
	}
	b[8] = 0xff
	if got := afterBatches(b); got != -1 {
		t.Errorf("a negative size: %d", got)
	}
}
