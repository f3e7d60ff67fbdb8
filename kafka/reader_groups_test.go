package kafka

import (
	"context"
	"math"
	"net"
	"os"
	"slices"
	"strings"
	"syscall"
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

// newProtocol joins with the consumer group protocol of KIP-848.
func newProtocol(t *testing.T, f *kfake.Cluster, group string) {
	t.Helper()
	join(t, f, group, kgo.ConsumeTopics("in"), kgo.ServerSideBalancer())
}

func TestB4_NewProtocolGroupIsNotDead(t *testing.T) {
	f := fake(t, kfake.SeedTopics(3, "in"))
	produce(t, client(t, f), "in", 0, "x")
	newProtocol(t, f, "g1")
	c, _ := dial(t, f)
	g, err := c.Reader().Group(t.Context(), "g1")
	if err != nil {
		t.Fatal(err)
	}
	if g.Fault != nil || !g.Exists || g.Protocol != streams.ProtocolConsumer || g.Empty() || len(g.Members) != 1 || g.Coordinator != f.CoordinatorFor("g1") {
		t.Fatalf("got %+v", g)
	}
	if m := g.Members[0]; !slices.Equal(m.Subscribed, []string{"in"}) || len(m.Assigned) != 3 {
		t.Errorf("member %+v", m)
	}
}

func TestB5_ClassicAnswerForAnotherTypeIsNotEmpty(t *testing.T) {
	for _, version := range []int16{5, 6} {
		f := fake(t)
		emulateStreams(t, f, streamsGroup())
		// What a broker answers to DescribeGroups for a streams group.
		f.ControlKey(kmsg.DescribeGroups.Int16(), func(kreq kmsg.Request) (kmsg.Response, error, bool) {
			f.KeepControl()
			resp := kreq.(*kmsg.DescribeGroupsRequest).ResponseKind().(*kmsg.DescribeGroupsResponse)
			g := kmsg.NewDescribeGroupsResponseGroup()
			g.Group, g.State = "shop", "Dead"
			if version >= 6 {
				g.ErrorCode = kerr.GroupIDNotFound.Code
			}
			resp.Groups = append(resp.Groups, g)
			return resp, nil, true
		})
		c, _ := dial(t, f)
		r := c.Reader()
		r.protocols["shop"] = streams.ProtocolClassic // as an older look had it
		g, err := r.Group(t.Context(), "shop")
		if err != nil {
			t.Fatal(err)
		}
		if g.Fault != nil || !g.Exists || g.Empty() || g.Protocol != streams.ProtocolStreams || len(g.Members) != 1 {
			t.Errorf("version %d: got %+v", version, g)
		}
	}
}

func TestStreamsGroup(t *testing.T) {
	f := fake(t)
	emulateStreams(t, f, streamsGroup())
	c, n := dial(t, f)
	g, err := c.Reader().Group(t.Context(), "shop")
	if err != nil {
		t.Fatal(err)
	}
	want := streams.Group{
		ID: "shop", Exists: true, Protocol: streams.ProtocolStreams, ProtocolType: "streams", State: "Stable", Epoch: 7, Coordinator: f.CoordinatorFor("shop"),
		Topology: []streams.Subtopology{{
			ID: "1", SourceTopics: []string{"in"}, RepartitionSinks: []string{"shop-by-repartition"},
			RepartitionSources: []string{"shop-by-repartition"}, Changelogs: []string{"shop-store-changelog"},
		}},
		Members: []streams.Member{{
			ID: "m1", ClientID: "shop-client", Host: "/10.0.0.1", ProcessID: "1f2e3d4c-0000-4000-8000-000000000001", Endpoint: "app-1:7070",
			Active:  []streams.TaskID{{Subtopology: 1, Partition: 0}, {Subtopology: 1, Partition: 2}},
			Standby: []streams.TaskID{{Subtopology: 1, Partition: 1}}, ReportedTasks: true,
			OffsetSums: map[streams.TaskID]int64{{Subtopology: 1, Partition: 1}: 42},
		}},
	}
	if d := cmp.Diff(want, g); d != "" {
		t.Error(d)
	}
	n.take()
	if _, err := c.Reader().Group(t.Context(), "shop"); err != nil {
		t.Fatal(err)
	}
	if got := n.take(); len(got) != 1 || got[kmsg.StreamsGroupDescribe] != 1 {
		t.Errorf("B14: a known group takes one request, sent %v", names(got))
	}
}

func TestStreamsGroupOfABrokerThatReportsNoTasks(t *testing.T) {
	m := streamsMember("shop", streamsGroup().Members[0], 0)
	if m.ReportedTasks || m.OffsetSums != nil {
		t.Errorf("version 0 never fills in task offsets: %+v", m)
	}
	odd := streamsGroup().Members[0]
	odd.Assignment.ActiveTasks[0].SubtopologyID = "x"
	if m := streamsMember("shop", odd, 1); m.Fault == nil || m.ProcessID == "" {
		t.Errorf("an odd subtopology ID marks the member only: %+v", m)
	}
}

func TestStreamsGroupFollowsItsCoordinator(t *testing.T) {
	f := fake(t)
	emulateStreams(t, f, streamsGroup())
	c, _ := dial(t, f)
	r := c.Reader()
	r.coordinators["shop"] = (f.CoordinatorFor("shop") + 1) % 3
	if g, err := r.Group(t.Context(), "shop"); err != nil || g.Fault != nil || !g.Exists {
		t.Errorf("got %+v %v", g, err)
	}
}

func TestB42_AbsentIsAskedForByName(t *testing.T) {
	f := fake(t)
	emulateStreams(t, f)
	c, n := dial(t, f)
	g, err := c.Reader().Group(t.Context(), "shpo")
	if err != nil {
		t.Fatal(err)
	}
	if g.Exists || g.Fault != nil {
		t.Errorf("got %+v", g)
	}
	sent := n.take()
	for _, k := range []kmsg.Key{kmsg.ListGroups, kmsg.DescribeGroups, kmsg.ConsumerGroupDescribe, kmsg.StreamsGroupDescribe} {
		if sent[k] == 0 {
			t.Errorf("absent without asking %s: %v", k.Name(), names(sent))
		}
	}
}

func TestGroupOnABrokerWithoutTheNewCalls(t *testing.T) {
	f := fake(t, kfake.SeedTopics(1, "in"), kfake.MaxVersions(kversion.V2_8_0()))
	commit(t, f, "old", map[streams.TopicPartition]int64{tp("in", 0): 0})
	c, _ := dial(t, f)
	list, err := c.Reader().Groups(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if len(list.Groups) != 1 || list.Groups[0].Protocol != streams.ProtocolUnknown {
		t.Errorf("list %+v", list)
	}
	g, err := c.Reader().Group(t.Context(), "old")
	if err != nil {
		t.Fatal(err)
	}
	if g.Fault != nil || !g.Exists || g.Protocol != streams.ProtocolClassic || !g.Empty() {
		t.Errorf("got %+v", g)
	}
	if g, err := c.Reader().Group(t.Context(), "absent"); err != nil || g.Exists || g.Fault != nil {
		t.Errorf("absent: %+v %v", g, err)
	}
}

func TestB6_OneBadShardLeavesTheRest(t *testing.T) {
	f := fake(t, kfake.SeedTopics(1, "in"))
	for _, g := range []string{"a", "b", "c", "d", "e"} {
		commit(t, f, g, map[streams.TopicPartition]int64{tp("in", 0): 0})
	}
	c, _ := dial(t, f)
	down := f.CoordinatorFor("a")
	f.Fault(kfake.Fault{Keys: []kmsg.Key{kmsg.ListGroups}, Nodes: []int32{down}, TopLevel: true, Err: kerr.UnknownServerError})
	list, err := c.Reader().Groups(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if len(list.Faults) != 1 {
		t.Fatalf("faults %+v, want one", list.Faults)
	}
	wantFault(t, list.Faults[0], streams.FaultOther)
	for _, g := range list.Groups {
		if f.CoordinatorFor(g.ID) == down {
			t.Errorf("%s is of the broker that failed", g.ID)
		}
	}
	g, err := c.Reader().Group(t.Context(), "a")
	if err != nil || !g.Exists || g.Fault != nil {
		t.Errorf("a group missing from a short list is asked for by name: %+v %v", g, err)
	}
}

func TestB6_ConnectGroupIsARow(t *testing.T) {
	f := fake(t, kfake.SeedTopics(1, "in"))
	commit(t, f, "app1", map[streams.TopicPartition]int64{tp("in", 0): 0})
	produce(t, client(t, f), "in", 0, "x")
	join(t, f, "connect-x", kgo.ConsumeTopics("in"), kgo.GroupProtocol("connect"))
	c, _ := dial(t, f)
	list, err := c.Reader().Groups(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if len(list.Groups) != 2 || list.Groups[1].ProtocolType != "connect" || list.Groups[0].Protocol != streams.ProtocolClassic {
		t.Errorf("list %+v", list)
	}
	g, err := c.Reader().Group(t.Context(), "connect-x")
	if err != nil || g.Fault != nil || len(g.Members) != 1 || g.Members[0].Fault != nil {
		t.Errorf("connect's member metadata is opaque, not an error: %+v %v", g, err)
	}
}

func TestClassicStreamsGroup(t *testing.T) {
	id := streams.ProcessID{1, 2, 3}
	info := streams.SubscriptionInfo{
		Version: 11, LatestSupported: 11, ProcessID: id, UserEndpoint: "app-1:7070",
		OffsetSums: map[streams.TaskID]int64{{Partition: 1}: 88},
	}
	userdata, err := info.Encode()
	if err != nil {
		t.Fatal(err)
	}
	f := fake(t, kfake.SeedTopics(2, "in"))
	produce(t, client(t, f), "in", 0, "x")
	cl := join(t, f, "shop", kgo.ConsumeTopics("in"), kgo.Balancers(streamBalancer{kgo.RangeBalancer(), userdata}), kgo.InstanceID("i1"), kgo.ClientID("shop-1"))
	c, _ := dial(t, f)
	g, err := c.Reader().Group(t.Context(), "shop")
	if err != nil {
		t.Fatal(err)
	}
	if g.Protocol != streams.ProtocolClassic || g.ProtocolType != "consumer" || g.Assignor != "stream" || g.State != "Stable" || len(g.Members) != 1 {
		t.Fatalf("group %+v", g)
	}
	m := g.Members[0]
	if m.ProcessID != id.String() || m.Endpoint != "app-1:7070" || m.InstanceID != "i1" || m.ClientID != "shop-1" || !m.ReportedTasks ||
		m.OffsetSums[streams.TaskID{Partition: 1}] != 88 || !slices.Equal(m.Subscribed, []string{"in"}) || len(m.Assigned) != 2 {
		t.Errorf("member %+v", m)
	}
	cl.Close()
	if g, err = c.Reader().Group(t.Context(), "shop"); err != nil || g.Empty() {
		t.Errorf("a static member has not left: %+v %v", g, err)
	}
}

func TestB7_UndecodableMemberMarksItselfOnly(t *testing.T) {
	g := kmsg.NewDescribeGroupsResponseGroup()
	g.Group, g.ProtocolType, g.Protocol = "shop", "consumer", "stream"
	meta := kmsg.NewConsumerMemberMetadata()
	meta.Topics, meta.UserData = []string{"in"}, []byte{0, 0, 0, 99, 0, 0, 0, 99}
	newer := kmsg.NewDescribeGroupsResponseGroupMember()
	newer.MemberID, newer.ProtocolMetadata = "m", meta.AppendTo(nil)
	if m := classicMember(g, newer); m.Fault == nil || m.Fault.Kind != streams.FaultUnsupported || !slices.Equal(m.Subscribed, []string{"in"}) || m.ReportedTasks {
		t.Errorf("newer userdata: %+v", m)
	}
	cut := kmsg.NewDescribeGroupsResponseGroupMember()
	cut.MemberID, cut.ProtocolMetadata, cut.MemberAssignment = "m", []byte{0, 1, 0}, []byte{9}
	if m := classicMember(g, cut); m.Fault == nil || m.ID != "m" {
		t.Errorf("cut metadata: %+v", m)
	}
	huge := kmsg.NewDescribeGroupsResponseGroupMember()
	huge.MemberID, huge.ProtocolMetadata = "m", []byte{0, 1, 0x7f, 0xff, 0xff, 0xff}
	if m := classicMember(g, huge); m.Fault == nil {
		t.Errorf("a huge count: %+v", m)
	}
	g.ProtocolType = "connect"
	if m := classicMember(g, cut); m.Fault != nil {
		t.Errorf("another protocol's bytes are opaque: %+v", m)
	}
}

func TestB8_NoAssignmentIsNormal(t *testing.T) {
	g := kmsg.NewDescribeGroupsResponseGroup()
	g.Group, g.ProtocolType, g.Protocol, g.State = "shop", "consumer", "stream", "PreparingRebalance"
	if m := classicMember(g, kmsg.NewDescribeGroupsResponseGroupMember()); m.Fault != nil || m.ReportedTasks {
		t.Errorf("got %+v", m)
	}
}

func TestClassicAssignment(t *testing.T) {
	info := streams.AssignmentInfo{
		Version: 11, CommonlySupported: 11, NextRebalanceMillis: math.MaxInt64,
		Active:  []streams.TaskID{{Partition: 0}, {Partition: 1}, {Subtopology: 1}},
		Standby: map[streams.TaskID][]streams.TopicPartition{{Subtopology: 1, Partition: 1}: nil},
	}
	userdata, err := info.Encode()
	if err != nil {
		t.Fatal(err)
	}
	a := kmsg.NewConsumerMemberAssignment()
	a.UserData = userdata
	a.Topics = []kmsg.ConsumerMemberAssignmentTopic{{Topic: "z", Partitions: []int32{0}}, {Topic: "in", Partitions: []int32{1, 0}}}
	var m streams.Member
	if err := takeAssignment(&m, a.AppendTo(nil), true); err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(m.Active, []streams.TaskID{{}, {Partition: 1}, {Subtopology: 1}}) || !slices.Equal(m.Standby, []streams.TaskID{{Subtopology: 1, Partition: 1}}) {
		t.Errorf("got %+v", m)
	}
}

func TestOldUserdataNamesTasksWithoutSums(t *testing.T) {
	info := streams.SubscriptionInfo{Version: 4, LatestSupported: 4, Active: []streams.TaskID{{Partition: 3}}}
	userdata, err := info.Encode()
	if err != nil {
		t.Fatal(err)
	}
	meta := kmsg.NewConsumerMemberMetadata()
	meta.UserData = userdata
	var m streams.Member
	if err := takeSubscription(&m, meta.AppendTo(nil), true); err != nil {
		t.Fatal(err)
	}
	if !m.ReportedTasks || m.OffsetSums[streams.TaskID{Partition: 3}] != streams.OffsetSumUnknown {
		t.Errorf("got %+v", m)
	}
}

func TestShareGroup(t *testing.T) {
	f := fake(t, kfake.SeedTopics(1, "in"))
	cl := client(t, f, kgo.ShareGroup("sg"), kgo.ConsumeTopics("in"))
	produce(t, client(t, f), "in", 0, "x")
	go cl.PollFetches(t.Context())
	if _, err := f.WaitGroupInfo(t.Context(), "sg", func(g *kfake.GroupInfo) bool { return g != nil && len(g.Members) == 1 }); err != nil {
		t.Fatal(err)
	}
	c, _ := dial(t, f)
	g, err := c.Reader().Group(t.Context(), "sg")
	if err != nil || g.Fault != nil || g.Protocol != streams.ProtocolShare || len(g.Members) != 1 || g.Empty() {
		t.Errorf("got %+v %v", g, err)
	}
}

// TestB70_DeadBroker: metadata still lists a broker that nobody can reach.
func TestB70_DeadBroker(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var network kfake.VirtualNetwork
		f, err := kfake.NewCluster(kfake.NumBrokers(2), kfake.Ports(9092, 9093), kfake.ListenFn(network.Listen), kfake.SeedTopics(1, "in"))
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		f.ControlKey(kmsg.Metadata.Int16(), func(kreq kmsg.Request) (kmsg.Response, error, bool) {
			f.KeepControl()
			req := kreq.(*kmsg.MetadataRequest)
			if len(req.Topics) > 0 {
				return nil, nil, false
			}
			resp := req.ResponseKind().(*kmsg.MetadataResponse)
			for node, port := range []int32{9092, 9093, 9099} {
				b := kmsg.NewMetadataResponseBroker()
				b.NodeID, b.Host, b.Port = int32(node), "127.0.0.1", port
				resp.Brokers = append(resp.Brokers, b)
			}
			return resp, nil, true
		})
		dial := func(ctx context.Context, n, address string) (net.Conn, error) {
			if address == "127.0.0.1:9099" {
				return nil, &net.OpError{Op: "dial", Net: n, Err: os.NewSyscallError("connect", syscall.ECONNREFUSED)}
			}
			return network.DialContext(ctx, n, address)
		}
		c, err := Dial(t.Context(), ClientConfig{Bootstrap: f.ListenAddrs()}, Options{Dialer: dial})
		if err != nil {
			t.Fatal(err)
		}
		defer c.Close()
		before := time.Now()
		list, err := c.Reader().Groups(t.Context())
		if err != nil || len(list.Faults) != 1 || list.Faults[0].Kind != streams.FaultUnreachable || !strings.Contains(list.Faults[0].What, "127.0.0.1:9099") {
			t.Errorf("groups %+v %v", list, err)
		}
		for name, ask := range map[string]func() error{
			"brokers with the topic": func() error { _, err := c.Reader().BrokersWithTopic(t.Context(), "in"); return err },
			"open transactions":      func() error { _, err := c.Reader().OpenTransactions(t.Context(), "shop-"); return err },
		} {
			if err := ask(); !streams.IsFault(err, streams.FaultUnreachable) || !strings.Contains(err.Error(), "connection refused") {
				t.Errorf("%s: %v", name, err)
			}
		}
		if g, err := c.Reader().Group(t.Context(), "shop"); err != nil || g.Exists {
			t.Errorf("group %+v %v", g, err)
		}
		if took := time.Since(before); took > 4*retryTimeout {
			t.Errorf("took %s", took)
		}
	})
}
