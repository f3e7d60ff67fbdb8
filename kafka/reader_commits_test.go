package kafka

import (
	"context"
	"errors"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kfake"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"
	"github.com/twmb/franz-go/pkg/kversion"

	"resurge/streams"
)

func TestB9_EmptyGroupHasItsCommits(t *testing.T) {
	f := fake(t, kfake.SeedTopics(3, "in"))
	commit(t, f, "shop", map[streams.TopicPartition]int64{tp("in", 0): 5, tp("in", 2): 0})
	c, n := dial(t, f)
	g, err := c.Reader().Group(t.Context(), "shop")
	if err != nil || !g.Exists || !g.Empty() {
		t.Fatalf("group %+v %v", g, err)
	}
	n.take()
	got, err := c.Reader().Commits(t.Context(), "shop", true)
	if err != nil {
		t.Fatal(err)
	}
	want := map[streams.TopicPartition]streams.Commit{tp("in", 0): {Offset: 5, LeaderEpoch: -1}, tp("in", 2): {LeaderEpoch: -1}}
	if d := cmp.Diff(want, got.Offsets); d != "" {
		t.Error(d)
	}
	if sent := n.take(); len(sent) != 1 || sent[kmsg.OffsetFetch] != 1 {
		t.Errorf("B14: commits of a group take one request, sent %v", sent)
	}
}

func TestB10_GroupWithoutCommits(t *testing.T) {
	f := fake(t)
	c, _ := dial(t, f)
	for _, stable := range []bool{false, true} {
		got, err := c.Reader().Commits(t.Context(), "never", stable)
		if err != nil || len(got.Offsets) != 0 || len(got.Faults) != 0 {
			t.Errorf("got %+v %v", got, err)
		}
	}
}

func TestB11_MinusOneIsNone(t *testing.T) {
	var g kmsg.OffsetFetchResponseGroup
	g.Topics = []kmsg.OffsetFetchResponseGroupTopic{{Topic: "in", Partitions: []kmsg.OffsetFetchResponseGroupTopicPartition{
		{Partition: 0, Offset: -1, LeaderEpoch: -1}, {Partition: 1, Offset: 7, LeaderEpoch: 3, Metadata: new("AgAA")}, {Partition: 2, Offset: -1, ErrorCode: kerr.TopicAuthorizationFailed.Code},
	}}}
	got, unstable := commitsOf(g)
	if unstable {
		t.Error("not unstable")
	}
	if d := cmp.Diff(map[streams.TopicPartition]streams.Commit{tp("in", 1): {Offset: 7, LeaderEpoch: 3, Metadata: "AgAA"}}, got.Offsets); d != "" {
		t.Error(d)
	}
	wantFault(t, got.Faults[tp("in", 2)], streams.FaultNotAllowed)
}

func TestCommitsOfOldBroker(t *testing.T) {
	f := fake(t, kfake.SeedTopics(1, "in"), kfake.MaxVersions(kversion.V2_4_0()))
	commit(t, f, "shop", map[streams.TopicPartition]int64{tp("in", 0): 5})
	c, _ := dial(t, f)
	got, err := c.Reader().Commits(t.Context(), "shop", true)
	if err != nil || got.Offsets[tp("in", 0)].Offset != 5 {
		t.Errorf("got %+v %v", got, err)
	}
}

// openTransaction leaves a transaction undecided that holds a record and an
// offset of the group.
func openTransaction(t *testing.T, f *kfake.Cluster, id, group string) *kgo.Client {
	t.Helper()
	byName := kversion.Stable()
	byName.SetMaxKeyVersion(kmsg.TxnOffsetCommit.Int16(), 4)
	cl := client(t, f, kgo.TransactionalID(id), kgo.MaxVersions(byName))
	if err := cl.BeginTransaction(); err != nil {
		t.Fatal(err)
	}
	produce(t, cl, "in", 0, "undecided")
	pid, epoch, err := cl.ProducerID(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	add := kmsg.NewPtrAddOffsetsToTxnRequest()
	add.TransactionalID, add.ProducerID, add.ProducerEpoch, add.Group = id, pid, epoch, group
	if resp, err := add.RequestWith(t.Context(), cl); err != nil || resp.ErrorCode != 0 {
		t.Fatal(err, resp.ErrorCode)
	}
	req := kmsg.NewPtrTxnOffsetCommitRequest()
	req.TransactionalID, req.ProducerID, req.ProducerEpoch, req.Group, req.Generation = id, pid, epoch, group, -1
	topic := kmsg.NewTxnOffsetCommitRequestTopic()
	p := kmsg.NewTxnOffsetCommitRequestTopicPartition()
	topic.Topic, p.Offset, p.LeaderEpoch = "in", 1, -1
	topic.Partitions = append(topic.Partitions, p)
	req.Topics = append(req.Topics, topic)
	resp, err := req.RequestWith(t.Context(), cl)
	if err != nil {
		t.Fatal(err)
	}
	if code := resp.Topics[0].Partitions[0].ErrorCode; code != 0 {
		t.Fatal(kerr.ErrorForCode(code))
	}
	return cl
}

func TestStableCommitsWaitForTheTransaction(t *testing.T) {
	f := fake(t, kfake.SeedTopics(1, "in"))
	commit(t, f, "shop", map[streams.TopicPartition]int64{tp("in", 0): 0})
	cl := openTransaction(t, f, "shop-1", "shop")
	c, _ := dial(t, f)
	if got, err := c.Reader().Commits(t.Context(), "shop", false); err != nil || got.Offsets[tp("in", 0)].Offset != 0 {
		t.Fatalf("not stable: %+v %v", got, err)
	}
	marks, err := c.Reader().Watermarks(t.Context(), "in")
	if err != nil || marks[tp("in", 0)] != (streams.Watermarks{End: 1}) {
		t.Errorf("an open transaction holds the last stable offset: %+v %v", marks, err)
	}
	seen := f.Fault(kfake.Fault{Keys: []kmsg.Key{kmsg.OffsetFetch}, Observe: true, Count: -1})
	ended := make(chan error, 1)
	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Second)
	defer cancel()
	go func() {
		err := seen.Wait(ctx, 2)
		ended <- errors.Join(err, cl.EndTransaction(ctx, kgo.TryCommit))
	}()
	got, err := c.Reader().Commits(t.Context(), "shop", true)
	if err != nil || got.Offsets[tp("in", 0)].Offset != 1 {
		t.Errorf("stable: %+v %v", got, err)
	}
	if err := <-ended; err != nil {
		t.Error(err)
	}
}

func TestOpenTransactions(t *testing.T) {
	f := fake(t, kfake.SeedTopics(1, "in"))
	cl := openTransaction(t, f, "shop-1", "shop")
	openTransaction(t, f, "other-1", "other")
	c, _ := dial(t, f)
	got, err := c.Reader().OpenTransactions(t.Context(), "shop-")
	if err != nil {
		t.Fatal(err)
	}
	if len(got) != 1 || got[0].TransactionalID != "shop-1" || got[0].State != "Ongoing" || got[0].Started.IsZero() || !slices.Contains(got[0].Partitions, tp("in", 0)) {
		t.Errorf("got %+v", got)
	}
	if err := cl.EndTransaction(t.Context(), kgo.TryAbort); err != nil {
		t.Fatal(err)
	}
	if got, err := c.Reader().OpenTransactions(t.Context(), "shop-"); err != nil || len(got) != 0 {
		t.Errorf("after its end: %+v %v", got, err)
	}
}

func TestOpenTransactionsOnAnOldBroker(t *testing.T) {
	f := fake(t, kfake.MaxVersions(kversion.V2_8_0()))
	c, _ := dial(t, f)
	_, err := c.Reader().OpenTransactions(t.Context(), "shop-")
	if !streams.IsFault(err, streams.FaultUnsupported) {
		t.Errorf("got %v", err)
	}
}

func TestOpenTransactionsNeedsEveryBroker(t *testing.T) {
	f := fake(t)
	c, _ := dial(t, f)
	f.Fault(kfake.Fault{Keys: []kmsg.Key{kmsg.ListTransactions}, Nodes: []int32{1}, TopLevel: true, Err: kerr.UnknownServerError})
	if got, err := c.Reader().OpenTransactions(t.Context(), "shop-"); err == nil {
		t.Errorf("a broker that did not answer may keep one: %+v", got)
	}
}
