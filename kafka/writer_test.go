package kafka

import (
	"context"
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kfake"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"
	"github.com/twmb/franz-go/pkg/kversion"

	"resurge/streams"
)

func TestB78_CommitForAnEmptyGroup(t *testing.T) {
	f := fake(t, kfake.SeedTopics(3, "in"))
	c, _ := dial(t, f)
	want := map[streams.TopicPartition]streams.Commit{
		tp("in", 0): {Offset: 0, LeaderEpoch: -1},
		tp("in", 1): {Offset: 9, LeaderEpoch: -1, Metadata: "AgAAAAAAAAAB"},
	}
	if err := c.Writer().CommitOffsets(t.Context(), "shop", want); err != nil {
		t.Fatal(err)
	}
	got, err := c.Reader().Commits(t.Context(), "shop", true)
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(want, got.Offsets); d != "" {
		t.Error(d)
	}
	g, err := c.Reader().Group(t.Context(), "shop")
	if err != nil || !g.Exists || !g.Empty() || len(g.Members) != 0 {
		t.Errorf("a commit leaves no phantom member: %+v %v", g, err)
	}
	if err := c.Writer().CommitOffsets(t.Context(), "shop", nil); err != nil {
		t.Errorf("nothing to commit: %v", err)
	}
}

func TestB80_CommitWhileTheGroupIsActive(t *testing.T) {
	f := fake(t, kfake.SeedTopics(8, "in"))
	produce(t, client(t, f), "in", 0, "x")
	c, _ := dial(t, f)
	offsets := map[streams.TopicPartition]streams.Commit{}
	for p := range int32(8) {
		offsets[tp("in", p)] = streams.Commit{LeaderEpoch: -1}
	}
	join(t, f, "classic", kgo.ConsumeTopics("in"), kgo.ClientID("forgotten"))
	newProtocol(t, f, "new")
	for _, group := range []string{"classic", "new"} {
		err := c.Writer().CommitOffsets(t.Context(), group, offsets)
		if !streams.IsFault(err, streams.FaultActive) {
			t.Fatalf("%s: %v", group, err)
		}
		msg := err.Error()
		if !strings.Contains(msg, "still has members") || !strings.Contains(msg, "8 of 8") || !strings.Contains(msg, "and 3 more") || streams.FaultOf(err).Hint == "" {
			t.Errorf("the message explains nothing: %s", msg)
		}
		if hint := streams.FaultOf(err).Hint; group == "classic" && !strings.Contains(hint, "forgotten on 127.0.0.1") {
			t.Errorf("the hint does not name who is there: %s", hint)
		}
		if err := c.Writer().DeleteCommits(t.Context(), group, []streams.TopicPartition{tp("in", 0)}); !streams.IsFault(err, streams.FaultActive) {
			t.Errorf("delete commits of %s: %v", group, err)
		}
	}
}

func TestB52_CommitReportsEveryPartition(t *testing.T) {
	f := fake(t, kfake.SeedTopics(2, "in"))
	c, _ := dial(t, f)
	err := c.Writer().CommitOffsets(t.Context(), "shop", map[streams.TopicPartition]streams.Commit{
		tp("in", 0): {Offset: 3, LeaderEpoch: -1}, tp("gone", 0): {LeaderEpoch: -1},
	})
	if !streams.IsFault(err, streams.FaultNotFound) || !strings.Contains(err.Error(), "1 of 2: gone-0") {
		t.Errorf("got %v", err)
	}
	if !errors.Is(err, kerr.UnknownTopicOrPartition) {
		t.Error("the cause is lost")
	}
}

// TestB82_CommitThatTimedOut has the broker do the work and answer a timeout.
func TestB82_CommitThatTimedOut(t *testing.T) {
	f := fake(t, kfake.SeedTopics(1, "in"))
	c, _ := dial(t, f)
	f.Fault(kfake.Fault{Keys: []kmsg.Key{kmsg.OffsetCommit}, Err: kerr.RequestTimedOut, Count: -1})
	err := c.Writer().CommitOffsets(t.Context(), "shop", map[streams.TopicPartition]streams.Commit{tp("in", 0): {Offset: 7, LeaderEpoch: -1}})
	if !streams.IsFault(err, streams.FaultUnreachable) || !strings.Contains(streams.FaultOf(err).Hint, "read back") {
		t.Errorf("got %v", err)
	}
	got, err := c.Reader().Commits(t.Context(), "shop", true)
	if err != nil || got.Offsets[tp("in", 0)].Offset != 7 {
		t.Errorf("read back: %+v %v", got, err)
	}
}

func TestDeleteCommits(t *testing.T) {
	f := fake(t, kfake.SeedTopics(2, "in", "gone"))
	commit(t, f, "shop", map[streams.TopicPartition]int64{tp("in", 0): 1, tp("in", 1): 2, tp("gone", 0): 3})
	c, _ := dial(t, f)
	if err := c.Writer().DeleteCommits(t.Context(), "shop", []streams.TopicPartition{tp("in", 0)}); err != nil {
		t.Fatal(err)
	}
	got, err := c.Reader().Commits(t.Context(), "shop", true)
	if err != nil || len(got.Offsets) != 2 {
		t.Errorf("left %+v %v", got.Offsets, err)
	}
	if err := c.Writer().DeleteCommits(t.Context(), "never", []streams.TopicPartition{tp("in", 0)}); err != nil {
		t.Errorf("a group that is not there has no commits: %v", err)
	}
}

// TestDeleteCommitsOfADeletedTopic: a broker refuses with
// UNKNOWN_TOPIC_OR_PARTITION and drops such offsets by itself, later.
func TestDeleteCommitsOfADeletedTopic(t *testing.T) {
	f := fake(t, kfake.SeedTopics(1, "gone"))
	commit(t, f, "shop", map[streams.TopicPartition]int64{tp("gone", 0): 3})
	c, _ := dial(t, f)
	f.ControlKey(kmsg.OffsetDelete.Int16(), func(kreq kmsg.Request) (kmsg.Response, error, bool) {
		f.KeepControl()
		resp := kreq.(*kmsg.OffsetDeleteRequest).ResponseKind().(*kmsg.OffsetDeleteResponse)
		rt := kmsg.NewOffsetDeleteResponseTopic()
		rp := kmsg.NewOffsetDeleteResponseTopicPartition()
		rt.Topic, rp.ErrorCode = "gone", kerr.UnknownTopicOrPartition.Code
		rt.Partitions = append(rt.Partitions, rp)
		resp.Topics = append(resp.Topics, rt)
		return resp, nil, true
	})
	looks := 0
	f.ControlKey(kmsg.OffsetFetch.Int16(), func(kreq kmsg.Request) (kmsg.Response, error, bool) {
		f.KeepControl()
		req := kreq.(*kmsg.OffsetFetchRequest)
		if looks++; looks < 3 {
			return nil, nil, false
		}
		resp := req.ResponseKind().(*kmsg.OffsetFetchResponse)
		rg := kmsg.NewOffsetFetchResponseGroup()
		rg.Group = "shop"
		resp.Groups = append(resp.Groups, rg)
		return resp, nil, true
	})
	if err := c.Writer().DeleteCommits(t.Context(), "shop", []streams.TopicPartition{tp("gone", 0)}); err != nil {
		t.Error(err)
	}
	if looks < 3 {
		t.Errorf("looked %d times", looks)
	}
}

func TestB25_RemoveMembersThatLeft(t *testing.T) {
	f := fake(t, kfake.SeedTopics(1, "in"))
	produce(t, client(t, f), "in", 0, "x")
	join(t, f, "shop", kgo.ConsumeTopics("in"), kgo.InstanceID("i1"))
	c, _ := dial(t, f)
	g, err := c.Reader().Group(t.Context(), "shop")
	if err != nil || len(g.Members) != 1 {
		t.Fatalf("%+v %v", g, err)
	}
	m := MemberRef{ID: g.Members[0].ID, InstanceID: g.Members[0].InstanceID}
	w := c.Writer()
	if err := w.RemoveMembers(t.Context(), "shop", []MemberRef{{ID: "left-already"}, m}); err != nil {
		t.Errorf("remove: %v", err)
	}
	if err := w.RemoveMembers(t.Context(), "shop", []MemberRef{m}); err != nil {
		t.Errorf("remove again: %v", err)
	}
	if err := w.RemoveMembers(t.Context(), "never", []MemberRef{m}); err != nil {
		t.Errorf("a group that is gone: %v", err)
	}
	if err := w.RemoveMembers(t.Context(), "shop", nil); err != nil {
		t.Error(err)
	}
}

func topicID(t *testing.T, c *Cluster) streams.TopicID {
	t.Helper()
	topics, err := c.Reader().Topics(t.Context(), "t")
	if err != nil || topics[0].Fault != nil {
		t.Fatal(topics, err)
	}
	return topics[0].ID
}

func TestDeleteTopicByGeneration(t *testing.T) {
	f := fake(t, kfake.SeedTopics(1, "t"))
	c, _ := dial(t, f)
	w := c.Writer()
	old := topicID(t, c)
	if err := f.DeleteTopic("t"); err != nil {
		t.Fatal(err)
	}
	if err := w.DeleteTopic(t.Context(), "t", old); err != nil {
		t.Errorf("already gone: %v", err)
	}
	if err := f.CreateTopic("t", 1, nil); err != nil {
		t.Fatal(err)
	}
	err := w.DeleteTopic(t.Context(), "t", old)
	if err == nil || !errors.Is(err, errOtherTopic) || streams.FaultOf(err) == nil {
		t.Errorf("another generation: %v", err)
	}
	if f.TopicInfo("t") == nil {
		t.Fatal("deleted another generation")
	}
	if err := w.DeleteTopic(t.Context(), "t", topicID(t, c)); err != nil {
		t.Error(err)
	}
	if f.TopicInfo("t") != nil {
		t.Error("still there")
	}
	if err := f.CreateTopic("t", 1, nil); err != nil {
		t.Fatal(err)
	}
	if err := w.DeleteTopic(t.Context(), "t", streams.TopicID{}); err != nil || f.TopicInfo("t") != nil {
		t.Errorf("by name where no ID is known: %v", err)
	}
}

func TestDeleteTopicOfAnOldBroker(t *testing.T) {
	f := fake(t, kfake.SeedTopics(1, "t"), kfake.MaxVersions(kversion.V2_4_0()))
	c, _ := dial(t, f)
	id := topicID(t, c)
	if !id.IsZero() {
		t.Fatalf("ID %s from an old broker", id)
	}
	if err := c.Writer().DeleteTopic(t.Context(), "t", id); err != nil || f.TopicInfo("t") != nil {
		t.Error(err)
	}
}

func TestDeleteTopicWithALostAnswer(t *testing.T) {
	f := fake(t, kfake.SeedTopics(1, "t"))
	c, _ := dial(t, f)
	f.Fault(kfake.Fault{Keys: []kmsg.Key{kmsg.DeleteTopics}, Err: kerr.RequestTimedOut})
	if err := c.Writer().DeleteTopic(t.Context(), "t", topicID(t, c)); err != nil {
		t.Errorf("it is gone, whatever the answer was: %v", err)
	}
}

func TestCreateTopic(t *testing.T) {
	for name, opts := range map[string][]kfake.Opt{"new": nil, "old": {kfake.MaxVersions(kversion.V2_4_0())}} {
		f := fake(t, opts...)
		c, _ := dial(t, f)
		id, err := c.Writer().CreateTopic(t.Context(), NewTopic{Name: "t", Partitions: 3, ReplicationFactor: -1, Configs: map[string]string{"cleanup.policy": "compact"}})
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		info := f.TopicInfo("t")
		if info == nil || id != topicID(t, c) || id.IsZero() != (name == "old") {
			t.Errorf("%s: ID %s, topic %+v", name, id, info)
		}
		configs, err := c.Reader().TopicConfigs(t.Context(), "t")
		if err != nil || configs["t"].Values["cleanup.policy"].Value != "compact" {
			t.Errorf("%s: %+v %v", name, configs, err)
		}
		_, err = c.Writer().CreateTopic(t.Context(), NewTopic{Name: "t", Partitions: 1, ReplicationFactor: -1})
		if !errors.Is(err, kerr.TopicAlreadyExists) || streams.FaultOf(err) == nil {
			t.Errorf("%s: a topic that stands: %v", name, err)
		}
	}
}

func TestCreateTopicRefused(t *testing.T) {
	f := fake(t)
	c, _ := dial(t, f)
	f.Fault(kfake.Fault{Keys: []kmsg.Key{kmsg.CreateTopics}, Err: kerr.InvalidConfig})
	_, err := c.Writer().CreateTopic(t.Context(), NewTopic{Name: "t", Partitions: 1, ReplicationFactor: 1})
	if f := streams.FaultOf(err); f == nil || !strings.Contains(f.Message, "INVALID_CONFIG") || !strings.Contains(f.What, "create topic t") {
		t.Errorf("got %v", err)
	}
}

// TestB39_CreateWhileTheTopicIsBeingDeleted: the controller still knows the
// name that metadata has forgotten.
func TestB39_CreateWhileTheTopicIsBeingDeleted(t *testing.T) {
	virtual(t, func(t *testing.T, f *kfake.Cluster, c *Cluster) {
		t.Helper()
		busy := f.Fault(kfake.Fault{Keys: []kmsg.Key{kmsg.CreateTopics}, Err: kerr.TopicAlreadyExists, Count: 6})
		id, err := c.Writer().CreateTopic(t.Context(), NewTopic{Name: "t", Partitions: 1, ReplicationFactor: 1})
		if err != nil || id.IsZero() || busy.Hits() != 6 {
			t.Errorf("ID %s, %v after %d refusals", id, err, busy.Hits())
		}
		f.Fault(kfake.Fault{Keys: []kmsg.Key{kmsg.CreateTopics}, Err: kerr.TopicAlreadyExists, Count: -1})
		before := time.Now()
		_, err = c.Writer().CreateTopic(t.Context(), NewTopic{Name: "u", Partitions: 1, ReplicationFactor: 1})
		if took := time.Since(before); !errors.Is(err, kerr.TopicAlreadyExists) || took > createTimeout+time.Second {
			t.Errorf("%v after %s", err, took)
		}
	})
}

// virtual runs a test in virtual time, without sockets.
func virtual(t *testing.T, test func(t *testing.T, f *kfake.Cluster, c *Cluster), opts ...kfake.Opt) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		var network kfake.VirtualNetwork
		f, err := kfake.NewCluster(append([]kfake.Opt{kfake.NumBrokers(3), kfake.Ports(9092, 9093, 9094), kfake.ListenFn(network.Listen)}, opts...)...)
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		c, err := Dial(t.Context(), ClientConfig{Bootstrap: f.ListenAddrs()}, Options{Dialer: network.DialContext})
		if err != nil {
			t.Fatal(err)
		}
		defer c.Close()
		test(t, f, c)
	})
}

func TestStableCommitsGiveUp(t *testing.T) {
	virtual(t, func(t *testing.T, f *kfake.Cluster, c *Cluster) {
		t.Helper()
		f.ControlKey(kmsg.OffsetFetch.Int16(), func(kreq kmsg.Request) (kmsg.Response, error, bool) {
			f.KeepControl()
			resp := kreq.(*kmsg.OffsetFetchRequest).ResponseKind().(*kmsg.OffsetFetchResponse)
			g := kmsg.NewOffsetFetchResponseGroup()
			rt := kmsg.NewOffsetFetchResponseGroupTopic()
			rp := kmsg.NewOffsetFetchResponseGroupTopicPartition()
			g.Group, rt.Topic, rp.Offset, rp.ErrorCode = "shop", "in", -1, kerr.UnstableOffsetCommit.Code
			rt.Partitions = append(rt.Partitions, rp)
			g.Topics = append(g.Topics, rt)
			resp.Groups = append(resp.Groups, g)
			return resp, nil, true
		})
		before := time.Now()
		_, err := c.Reader().Commits(t.Context(), "shop", true)
		if !errors.Is(err, kerr.UnstableOffsetCommit) || streams.FaultOf(err) == nil {
			t.Errorf("got %v", err)
		}
		if took := time.Since(before); took > stableTimeout {
			t.Errorf("took %s", took)
		}
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		if _, err := c.Reader().Commits(ctx, "shop", true); !errors.Is(err, context.DeadlineExceeded) || streams.FaultOf(err) == nil {
			t.Errorf("the caller gave up: %v", err)
		}
	}, kfake.SeedTopics(1, "in"))
}

func TestClosedClusterFails(t *testing.T) {
	f := fake(t)
	c, _ := dial(t, f)
	c.Close()
	if _, err := c.Reader().Topics(t.Context()); streams.FaultOf(err) == nil {
		t.Errorf("got %v", err)
	}
	if err := c.Writer().DeleteTopic(t.Context(), "t", streams.TopicID{}); !errors.Is(err, kgo.ErrClientClosed) {
		t.Errorf("got %v", err)
	}
}
