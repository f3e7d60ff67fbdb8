package kafka

import (
	"math"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/twmb/franz-go/pkg/kmsg"

	"resurge/streams"
)

func TestStreamsMemberInFull(t *testing.T) {
	g := streamsGroup()
	g.Epoch, g.AssignmentEpoch, g.AssignorName = 7, 6, new("sticky")
	g.Topology.Epoch = 3
	changelog := &g.Topology.Subtopologies[0].StateChangelogTopics[0]
	changelog.Configs = []kmsg.TopicInfoConfig{{Key: "cleanup.policy", Value: "compact"}}
	m := &g.Members[0]
	m.MemberEpoch, m.TopologyEpoch, m.RackID, m.IsClassic = 6, 2, new("a"), true
	m.ClientTags = []kmsg.StreamsGroupDescribeResponseGroupMemberClientTag{{Key: "zone", Value: "z1"}}
	m.Assignment.WarmupTasks = []kmsg.TaskIDs{{SubtopologyID: "1", Partitions: []int32{3}}}
	m.TargetAssignment = kmsg.StreamsAssignment{ActiveTasks: []kmsg.TaskIDs{{SubtopologyID: "1", Partitions: []int32{3, 0}}}}
	m.TaskEndOffsets = []kmsg.TaskOffset{{SubtopologyID: "1", Partition: 1, Offset: 50}}
	got := streamsGroupOf(g, 1)
	if got.Epoch != 7 || got.TargetEpoch != 6 || got.TopologyEpoch != 3 || got.Assignor != "sticky" {
		t.Errorf("group %+v", got)
	}
	if d := cmp.Diff(map[string]map[string]string{"shop-store-changelog": {"cleanup.policy": "compact"}}, got.Topology[0].Wanted); d != "" {
		t.Error(d)
	}
	task := func(p int32) streams.TaskID { return streams.TaskID{Subtopology: 1, Partition: p} }
	want := streams.Member{
		ID: "m1", ClientID: "shop-client", Host: "/10.0.0.1", ProcessID: "1f2e3d4c-0000-4000-8000-000000000001", Endpoint: "app-1:7070",
		Active: []streams.TaskID{task(0), task(2)}, Standby: []streams.TaskID{task(1)}, Warmup: []streams.TaskID{task(3)},
		Target: &streams.Target{Active: []streams.TaskID{task(0), task(3)}},
		Rack:   "a", Tags: map[string]string{"zone": "z1"}, Epoch: 6, TopologyEpoch: 2, ClassicInNew: true,
		ReportedTasks: true, OffsetSums: map[streams.TaskID]int64{task(1): 42}, EndSums: map[streams.TaskID]int64{task(1): 50},
	}
	if d := cmp.Diff(want, got.Members[0]); d != "" {
		t.Error(d)
	}
}

func TestConsumerMemberInFull(t *testing.T) {
	g := kmsg.NewConsumerGroupDescribeResponseGroup()
	g.Group, g.State, g.Epoch, g.AssignmentEpoch = "g", "Reconciling", 5, 4
	upgraded, classic, old := kmsg.NewConsumerGroupDescribeResponseGroupMember(), kmsg.NewConsumerGroupDescribeResponseGroupMember(), kmsg.NewConsumerGroupDescribeResponseGroupMember()
	upgraded.MemberID, upgraded.MemberType, upgraded.MemberEpoch, upgraded.RackID = "a", 1, 4, new("r1")
	classic.MemberID, classic.MemberType = "b", 0
	old.MemberID = "c" // version 0 does not tell
	g.Members = []kmsg.ConsumerGroupDescribeResponseGroupMember{classic, old, upgraded}
	got := consumerGroup(g)
	if got.Epoch != 5 || got.TargetEpoch != 4 {
		t.Errorf("group %+v", got)
	}
	want := []streams.Member{{ID: "a", Rack: "r1", Epoch: 4}, {ID: "b", ClassicInNew: true}, {ID: "c"}}
	if d := cmp.Diff(want, got.Members); d != "" {
		t.Error(d)
	}
}

// classicStreams is the group of one classic Streams member.
func classicStreams(t *testing.T, said streams.SubscriptionInfo, told streams.AssignmentInfo) streams.Member {
	t.Helper()
	subscription, err := said.Encode()
	if err != nil {
		t.Fatal(err)
	}
	assignment, err := told.Encode()
	if err != nil {
		t.Fatal(err)
	}
	meta := kmsg.NewConsumerMemberMetadata()
	meta.Version, meta.Topics, meta.UserData, meta.Rack = 3, []string{"in"}, subscription, new("r1")
	assigned := kmsg.NewConsumerMemberAssignment()
	assigned.Topics = []kmsg.ConsumerMemberAssignmentTopic{{Topic: "in", Partitions: []int32{0}}}
	assigned.UserData = assignment
	g, m := kmsg.NewDescribeGroupsResponseGroup(), kmsg.NewDescribeGroupsResponseGroupMember()
	g.Group, g.ProtocolType, g.Protocol, g.State = "shop", "consumer", "stream", "Stable"
	m.MemberID, m.ProtocolMetadata, m.MemberAssignment = "m", meta.AppendTo(nil), assigned.AppendTo(nil)
	g.Members = append(g.Members, m)
	return classicGroup(g).Members[0]
}

func TestClassicMemberInFull(t *testing.T) {
	next := time.UnixMilli(1700000000000).UTC()
	said := streams.SubscriptionInfo{Version: 11, LatestSupported: 11, ClientTags: map[string]string{"zone": "z1"}}
	told := streams.AssignmentInfo{Version: 11, CommonlySupported: 11, Active: []streams.TaskID{{}}, NextRebalanceMillis: next.UnixMilli()}
	m := classicStreams(t, said, told)
	if m.Fault != nil || m.Userdata != 11 || m.UserdataLatest != 11 || m.Tags["zone"] != "z1" || m.Rack != "r1" || m.Trouble != "" || m.NextRebalance != next {
		t.Errorf("got %+v", m)
	}
	told.NextRebalanceMillis = math.MaxInt64
	said.ErrorCode = 4
	if m := classicStreams(t, said, told); !m.NextRebalance.IsZero() || m.Trouble != "shutdown requested" {
		t.Errorf("got %+v", m)
	}
	said.ErrorCode, told.ErrorCode = 0, 1
	if m := classicStreams(t, said, told); m.Trouble != "incomplete source topic metadata" {
		t.Errorf("the leader's word: %+v", m)
	}
	told.ErrorCode = 77
	if m := classicStreams(t, said, told); m.Trouble != "error code 77" {
		t.Errorf("an unknown code: %+v", m)
	}
	said.Version, said.LatestSupported, said.ClientTags = 2, 0, nil
	if m := classicStreams(t, said, told); m.Userdata != 2 || m.UserdataLatest != 0 {
		t.Errorf("version 2 does not tell the newest: %+v", m)
	}
}

func TestB7_NewerUserdataSaysItsVersion(t *testing.T) {
	var m streams.Member
	meta := kmsg.NewConsumerMemberMetadata()
	meta.Topics, meta.UserData = []string{"in"}, []byte{0, 0, 0, 99, 0, 0, 0, 98}
	err := takeSubscription(&m, meta.AppendTo(nil), true)
	if err == nil || m.Userdata != 99 || m.UserdataLatest != 98 || len(m.Subscribed) != 1 {
		t.Errorf("got %+v %v", m, err)
	}
}

// TestB8_ShortEntriesHarmNobody: hostile and half answers of one group.
func TestB8_ShortEntriesHarmNobody(t *testing.T) {
	g := kmsg.NewStreamsGroupDescribeResponseGroup()
	g.Members = append(g.Members, kmsg.NewStreamsGroupDescribeResponseGroupMember())
	for _, version := range []int16{0, 1} {
		if got := streamsGroupOf(g, version); len(got.Members) != 1 || got.Members[0].Fault != nil || got.Members[0].Target != nil {
			t.Errorf("got %+v", got)
		}
	}
	if got := shareGroup(kmsg.NewShareGroupDescribeResponseGroup()); !got.Exists || len(got.Members) != 0 {
		t.Errorf("got %+v", got)
	}
	if got := classicGroup(kmsg.NewDescribeGroupsResponseGroup()); len(got.Members) != 0 {
		t.Errorf("got %+v", got)
	}
}
