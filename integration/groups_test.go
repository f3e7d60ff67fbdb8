//go:build integration

package integration

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"
)

// consume reads in a group of the test's own until the test ends, and waits for the first records.
func (b *broker) consume(t *testing.T, opts ...kgo.Opt) {
	t.Helper()
	cl, err := kgo.NewClient(append([]kgo.Opt{
		kgo.SeedBrokers(b.addr), kgo.DisableClientMetrics(), kgo.FetchMaxWait(200 * time.Millisecond), kgo.SessionTimeout(10 * time.Second),
		kgo.AutoCommitInterval(100 * time.Millisecond), kgo.MetadataMinAge(50 * time.Millisecond),
	}, opts...)...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(cl.Close)
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
	defer cancel()
	fetches := cl.PollFetches(ctx)
	if err := fetches.Err(); err != nil {
		t.Fatalf("read in a group: %v", err)
	}
}

// fill writes n records with keys of their own to a topic.
func (b *broker) fill(t *testing.T, topic string, n int) {
	t.Helper()
	records := make([]*kgo.Record, n)
	for i := range records {
		records[i] = &kgo.Record{Topic: topic, Key: fmt.Append(nil, i), Value: []byte("v")}
	}
	if err := b.cl.ProduceSync(t.Context(), records...).FirstErr(); err != nil {
		t.Fatalf("fill %s: %v", topic, err)
	}
}

// commit sets offsets of a group as an admin does: without a member.
func (b *broker) commit(t *testing.T, group, topic string, at ...int64) {
	t.Helper()
	offsets := kadm.Offsets{}
	for p, o := range at {
		offsets.Add(kadm.Offset{Topic: topic, Partition: int32(p), At: o, LeaderEpoch: -1})
	}
	if err := b.admin.CommitAllOffsets(t.Context(), group, offsets); err != nil {
		t.Fatalf("commit for %s: %v", group, err)
	}
}

// coordinator is the broker that keeps a group. franz-go routes the requests below to any.
func (b *broker) coordinator(t *testing.T, group string) *kgo.Broker {
	t.Helper()
	var node int32
	eventually(t, 20*time.Second, group+" has a coordinator", func() (bool, string) {
		found := b.admin.FindGroupCoordinators(t.Context(), group) // not before __consumer_offsets is made
		node = found[group].NodeID
		return found.Error() == nil, fmt.Sprint(found.Error())
	})
	return b.cl.Broker(int(node))
}

// joinConnect joins a group as a worker of Kafka Connect does, with metadata that no consumer understands.
func (b *broker) joinConnect(t *testing.T, group string) {
	t.Helper()
	join := kmsg.NewPtrJoinGroupRequest()
	join.Group, join.ProtocolType = group, "connect"
	join.SessionTimeoutMillis, join.RebalanceTimeoutMillis = 30_000, 5_000
	p := kmsg.NewJoinGroupRequestProtocol()
	p.Name, p.Metadata = "sessioned", []byte{0, 2, 0, 21, 'h', 't', 't', 'p'}
	join.Protocols = append(join.Protocols, p)
	for range 2 { // the first answer is the member's ID
		resp, err := join.RequestWith(t.Context(), b.cl)
		if err != nil {
			t.Fatalf("join %s: %v", group, err)
		}
		join.MemberID = resp.MemberID
		if err := kerr.ErrorForCode(resp.ErrorCode); err == nil {
			return
		} else if !errors.Is(err, kerr.MemberIDRequired) {
			t.Fatalf("join %s: %v", group, err)
		}
	}
	t.Fatalf("join %s: still no member", group)
}

// streamsMember is a member of a streams group (KIP-1071), as far as a heartbeat makes one.
type streamsMember struct {
	b         *broker
	group, id string
	epoch     int32
}

// joinStreams joins with a topology of one subtopology that reads the topic and keeps its state in a changelog, and of a
// second one behind a repartition topic when it is named; and waits for its tasks.
func (b *broker) joinStreams(t *testing.T, group, topic string, internal ...string) *streamsMember {
	t.Helper()
	m := &streamsMember{b: b, group: group, id: newClusterID()}
	topology := kmsg.NewStreamsGroupHeartbeatRequestTopology()
	sub := kmsg.NewStreamsGroupHeartbeatRequestTopologySubtopology()
	sub.SubtopologyID, sub.SourceTopics = "0", []string{topic}
	if len(internal) > 0 {
		sub.RepartitionSinkTopics = internal[1:]
		behind := kmsg.NewStreamsGroupHeartbeatRequestTopologySubtopology()
		behind.SubtopologyID = "1"
		behind.StateChangelogTopics = []kmsg.TopicInfo{topicInfo(internal[0], 0)}
		behind.RepartitionSourceTopics = []kmsg.TopicInfo{topicInfo(internal[1], 2)}
		topology.Subtopologies = append(topology.Subtopologies, behind)
	}
	topology.Subtopologies = append(topology.Subtopologies, sub)
	eventually(t, 20*time.Second, group+" has its tasks", func() (bool, string) {
		req := kmsg.NewPtrStreamsGroupHeartbeatRequest()
		req.Group, req.MemberID, req.MemberEpoch, req.RebalanceTimeoutMillis = group, m.id, m.epoch, 30_000
		req.ActiveTasks, req.StandbyTasks, req.WarmupTasks = []kmsg.TaskIDs{}, []kmsg.TaskIDs{}, []kmsg.TaskIDs{}
		process := m.id
		req.ProcessID = &process
		if m.epoch == 0 {
			req.Topology = &topology
		}
		resp := m.heartbeat(t, req)
		m.epoch = resp.MemberEpoch
		return len(resp.ActiveTasks) > 0, "no task assigned"
	})
	return m
}

func (m *streamsMember) heartbeat(t *testing.T, req *kmsg.StreamsGroupHeartbeatRequest) (resp *kmsg.StreamsGroupHeartbeatResponse) {
	t.Helper()
	eventually(t, 20*time.Second, m.group+" takes a heartbeat", func() (bool, string) {
		answer, err := m.b.coordinator(t, m.group).RetriableRequest(t.Context(), req)
		if err != nil {
			t.Fatalf("heartbeat in %s: %v", m.group, err)
		}
		resp = answer.(*kmsg.StreamsGroupHeartbeatResponse)
		err = kerr.ErrorForCode(resp.ErrorCode)
		if err != nil && !kerr.IsRetriable(err) {
			t.Fatalf("heartbeat in %s: %v: %s", m.group, err, str(resp.ErrorMessage))
		}
		return err == nil, fmt.Sprint(err)
	})
	return resp
}

// leave ends the membership; the group is empty then.
func (m *streamsMember) leave(t *testing.T) {
	t.Helper()
	req := kmsg.NewPtrStreamsGroupHeartbeatRequest()
	req.Group, req.MemberID, req.MemberEpoch = m.group, m.id, -1
	m.heartbeat(t, req)
	m.b.waitEmpty(t, m.group)
}

func topicInfo(name string, partitions int32) kmsg.TopicInfo {
	info := kmsg.NewTopicInfo()
	info.Topic, info.NumPartitions = name, partitions
	return info
}

func str(s *string) string {
	if s == nil {
		return ""
	}
	return *s
}
