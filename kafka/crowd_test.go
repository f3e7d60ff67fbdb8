package kafka

import (
	"fmt"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kfake"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"
	"github.com/twmb/franz-go/pkg/kversion"

	"resurge/streams"
)

func listed(p streams.GroupProtocol, ids ...string) []streams.GroupListing {
	out := make([]streams.GroupListing, 0, len(ids))
	for _, id := range ids {
		out = append(out, streams.GroupListing{ID: id, Protocol: p})
	}
	return out
}

// manyGroups makes n groups of bare commits.
func manyGroups(t *testing.T, f *kfake.Cluster, n int) []string {
	t.Helper()
	cl := client(t, f)
	ids := make([]string, 0, n)
	for i := range n {
		req := kmsg.NewPtrOffsetCommitRequest()
		req.Version, req.Group, req.Generation = 9, fmt.Sprintf("g%03d", i), -1
		topic, p := kmsg.NewOffsetCommitRequestTopic(), kmsg.NewOffsetCommitRequestTopicPartition()
		topic.Topic, p.Offset = "in", int64(i)
		topic.TopicID = f.TopicInfo("in").TopicID
		topic.Partitions = append(topic.Partitions, p)
		req.Topics = append(req.Topics, topic)
		if resp, err := req.RequestWith(t.Context(), cl); err != nil || resp.Topics[0].Partitions[0].ErrorCode != 0 {
			t.Fatal(resp, err)
		}
		ids = append(ids, req.Group)
	}
	return ids
}

// crowdOfTypes is one group of every type and state; the streams group is
// emulated.
func crowdOfTypes(t *testing.T, f *kfake.Cluster) []streams.GroupListing {
	t.Helper()
	commit(t, f, "bare", map[streams.TopicPartition]int64{tp("in", 0): 1})
	produce(t, client(t, f), "in", 0, "x")
	newProtocol(t, f, "new")
	userdata, err := streams.SubscriptionInfo{Version: 11, LatestSupported: 11, ProcessID: streams.ProcessID{1}}.Encode()
	if err != nil {
		t.Fatal(err)
	}
	join(t, f, "classic", kgo.ConsumeTopics("in"), kgo.Balancers(streamBalancer{kgo.RangeBalancer(), userdata}))
	join(t, f, "connect-x", kgo.ConsumeTopics("in"), kgo.GroupProtocol("connect"))
	return slices.Concat(
		listed(streams.ProtocolConsumer, "new"), listed(streams.ProtocolClassic, "bare", "classic", "connect-x"),
		listed(streams.ProtocolStreams, "shop"), listed(streams.ProtocolUnknown, "gone", "new"),
		listed(streams.ProtocolClassic, "deleted"),
	)
}

func TestB4_ManyGroupsAreDescribedAsEachAlone(t *testing.T) {
	f := fake(t, kfake.SeedTopics(3, "in"))
	groups := crowdOfTypes(t, f)
	emulateStreams(t, f, streamsGroup())
	c, _ := dial(t, f)
	got, err := c.Reader().DescribeGroups(t.Context(), groups)
	if err != nil {
		t.Fatal(err)
	}
	for i, l := range groups {
		alone, err := c.Reader().Group(t.Context(), l.ID)
		if err != nil {
			t.Fatal(err)
		}
		if d := cmp.Diff(alone, got[i]); d != "" {
			t.Errorf("%s: %s", l.ID, d)
		}
		if want := l.ID != "gone" && l.ID != "deleted"; got[i].Exists != want || got[i].Fault != nil {
			t.Errorf("%+v", got[i])
		}
	}
}

// TestB5_ListedTypeIsNotBelieved: the group was converted since it was listed.
func TestB5_ListedTypeIsNotBelieved(t *testing.T) {
	f := fake(t, kfake.SeedTopics(1, "in"))
	commit(t, f, "old", map[streams.TopicPartition]int64{tp("in", 0): 1})
	emulateStreams(t, f, streamsGroup())
	c, _ := dial(t, f)
	got, err := c.Reader().DescribeGroups(t.Context(), slices.Concat(listed(streams.ProtocolClassic, "shop"), listed(streams.ProtocolConsumer, "old")))
	if err != nil {
		t.Fatal(err)
	}
	if got[0].Protocol != streams.ProtocolStreams || got[0].Empty() || got[1].Protocol != streams.ProtocolClassic || !got[1].Empty() {
		t.Errorf("got %+v", got)
	}
}

func TestB6_ConnectGroupDoesNotHideOthers(t *testing.T) {
	f := fake(t, kfake.SeedTopics(1, "in"))
	commit(t, f, "a", map[streams.TopicPartition]int64{tp("in", 0): 1})
	commit(t, f, "b", map[streams.TopicPartition]int64{tp("in", 0): 2})
	produce(t, client(t, f), "in", 0, "x")
	join(t, f, "connect-x", kgo.ConsumeTopics("in"), kgo.GroupProtocol("connect"))
	c, _ := dial(t, f)
	f.Fault(kfake.Fault{Keys: []kmsg.Key{kmsg.DescribeGroups, kmsg.OffsetFetch}, Group: "b", Err: kerr.GroupAuthorizationFailed, Count: -1})
	got, err := c.Reader().DescribeGroups(t.Context(), listed(streams.ProtocolClassic, "a", "b", "connect-x"))
	if err != nil {
		t.Fatal(err)
	}
	if got[0].Fault != nil || !got[0].Exists || got[2].Fault != nil || len(got[2].Members) != 1 {
		t.Errorf("the others: %+v", got)
	}
	wantFault(t, got[1].Fault, streams.FaultNotAllowed)
	if !got[1].Exists || got[1].Empty() {
		t.Errorf("unknown is not empty: %+v", got[1])
	}
	commits, err := c.Reader().CommitsOf(t.Context(), []string{"a", "b"})
	if err != nil {
		t.Fatal(err)
	}
	if g := commits["a"]; g.Fault != nil || g.Offsets[tp("in", 0)].Offset != 1 {
		t.Errorf("a: %+v", g)
	}
	wantFault(t, commits["b"].Fault, streams.FaultNotAllowed)
}

func TestB14_ThreeHundredGroupsCostFewRequests(t *testing.T) {
	f := fake(t, kfake.SeedTopics(1, "in"))
	ids := manyGroups(t, f, 300)
	c, n := dial(t, f)
	asked := f.Fault(kfake.Fault{Keys: []kmsg.Key{kmsg.DescribeGroups, kmsg.OffsetFetch, kmsg.FindCoordinator}, Observe: true, Count: -1})
	got, err := c.Reader().DescribeGroups(t.Context(), listed(streams.ProtocolClassic, ids...))
	if err != nil {
		t.Fatal(err)
	}
	commits, err := c.Reader().CommitsOf(t.Context(), ids)
	if err != nil {
		t.Fatal(err)
	}
	for i, id := range ids {
		if got[i].ID != id || !got[i].Exists || got[i].Fault != nil || commits[id].Fault != nil || commits[id].Offsets[tp("in", 0)].Offset != int64(i) {
			t.Fatalf("%s: %+v %+v", id, got[i], commits[id])
		}
	}
	// Three coordinators, each with one request of either kind; two lookups, of
	// which the first finds out that one request may name many groups.
	sent := n.take()
	if sent[kmsg.FindCoordinator] > 2 || sent[kmsg.DescribeGroups] > 3 || sent[kmsg.OffsetFetch] > 3 || asked.Hits() > 8 || sent[kmsg.Metadata] > 0 {
		t.Errorf("sent %v, %d seen", sent, asked.Hits())
	}
}

func TestB14_EndsCostOneRequestPerLeader(t *testing.T) {
	f := fake(t, kfake.SeedTopics(20, "a", "b"))
	produce(t, client(t, f), "a", 7, "x", "y")
	c, n := dial(t, f)
	asked := make([]streams.TopicPartition, 0, 62)
	for p := range int32(20) {
		asked = append(asked, tp("a", p), tp("b", p), tp("a", p))
	}
	asked = append(asked, tp("deleted", 0), tp("a", 99))
	got, err := c.Reader().Ends(t.Context(), asked)
	if err != nil {
		t.Fatal(err)
	}
	if len(got) != 42 || got[tp("a", 7)] != (streams.Watermarks{End: 2}) || got[tp("b", 0)] != (streams.Watermarks{}) {
		t.Errorf("got %+v", got)
	}
	wantFault(t, got[tp("deleted", 0)].Fault, streams.FaultNotFound)
	wantFault(t, got[tp("a", 99)].Fault, streams.FaultNotFound)
	if sent := n.take(); sent[kmsg.ListOffsets] > 3 || sent[kmsg.Metadata] > 1 {
		t.Errorf("sent %v", sent)
	}
}

func TestB10_CrowdWithoutCommits(t *testing.T) {
	f := fake(t, kfake.SeedTopics(1, "in"))
	commit(t, f, "some", map[streams.TopicPartition]int64{tp("in", 0): 0})
	c, _ := dial(t, f)
	got, err := c.Reader().CommitsOf(t.Context(), []string{"never", "some"})
	if err != nil {
		t.Fatal(err)
	}
	if g, ok := got["never"]; !ok || g.Fault != nil || len(g.Offsets) != 0 || len(got) != 2 {
		t.Errorf("got %+v", got)
	}
	if at, ok := got["some"].Offsets[tp("in", 0)]; !ok || at.Offset != 0 {
		t.Errorf("committed 0 is a commit: %+v", got["some"])
	}
}

func TestCrowdFollowsItsCoordinators(t *testing.T) {
	f := fake(t, kfake.SeedTopics(1, "in"))
	ids := manyGroups(t, f, 30)
	all, names := make([]kmsg.StreamsGroupDescribeResponseGroup, 0, 12), make([]string, 0, 12)
	for i := range 12 {
		g := streamsGroup()
		g.Group = fmt.Sprintf("app%d", i)
		all, names = append(all, g), append(names, g.Group)
	}
	emulateStreams(t, f, all...)
	c, n := dial(t, f)
	for range 2 {
		groups := slices.Concat(listed(streams.ProtocolStreams, names...), listed(streams.ProtocolClassic, ids...))
		got, err := c.Reader().DescribeGroups(t.Context(), groups)
		if err != nil {
			t.Fatal(err)
		}
		for i, l := range groups {
			if g := got[i]; g.ID != l.ID || !g.Exists || g.Fault != nil || g.Protocol != l.Protocol || g.Coordinator != f.CoordinatorFor(l.ID) {
				t.Errorf("%+v", g)
			}
		}
		if commits, err := c.Reader().CommitsOf(t.Context(), ids); err != nil || commits["g029"].Offsets[tp("in", 0)].Offset != 29 {
			t.Errorf("commits %+v %v", commits["g029"], err)
		}
		f.RehashCoordinators()
		n.take()
	}
}

// TestCrowdAsksAgainOnlyForGroupsThatMoved counts the groups of the second try.
func TestCrowdAsksAgainOnlyForGroupsThatMoved(t *testing.T) {
	f := fake(t, kfake.SeedTopics(1, "in"))
	ids := manyGroups(t, f, 20)
	c, _ := dial(t, f)
	one := f.Fault(kfake.Fault{Keys: []kmsg.Key{kmsg.DescribeGroups}, Observe: true, Count: -1, When: func(req kmsg.Request) bool {
		return slices.Equal(req.(*kmsg.DescribeGroupsRequest).Groups, []string{"g003"})
	}})
	loading := f.Fault(kfake.Fault{Keys: []kmsg.Key{kmsg.DescribeGroups}, Group: "g003", Err: kerr.CoordinatorLoadInProgress, Count: 2})
	got, err := c.Reader().DescribeGroups(t.Context(), listed(streams.ProtocolClassic, ids...))
	if err != nil || got[3].Fault != nil || !got[3].Exists || loading.Hits() != 2 || one.Hits() != 2 {
		t.Errorf("%+v %v: %d refusals, asked alone %d times", got[3], err, loading.Hits(), one.Hits())
	}
}

func TestCrowdOnOldBrokers(t *testing.T) {
	for _, version := range []*kversion.Versions{kversion.V2_4_0(), kversion.V2_8_0(), kversion.V3_7_0()} {
		f := fake(t, kfake.SeedTopics(3, "in"), kfake.MaxVersions(version))
		ids := manyGroups(t, f, 25)
		produce(t, client(t, f), "in", 0, "x")
		join(t, f, "live", kgo.ConsumeTopics("in"))
		c, n := dial(t, f)
		list, err := c.Reader().Groups(t.Context())
		if err != nil || len(list.Groups) != 26 {
			t.Fatalf("list %+v %v", list, err)
		}
		n.take()
		got, err := c.Reader().DescribeGroups(t.Context(), append(list.Groups, listed(streams.ProtocolUnknown, "absent")...))
		if err != nil {
			t.Fatal(err)
		}
		for i, l := range list.Groups {
			if g := got[i]; g.ID != l.ID || !g.Exists || g.Fault != nil || g.Protocol != streams.ProtocolClassic || (len(g.Members) == 1) != (l.ID == "live") {
				t.Errorf("%+v", g)
			}
		}
		if g := got[26]; g.Exists || g.Fault != nil {
			t.Errorf("absent: %+v", g)
		}
		if sent := n.take(); sent[kmsg.DescribeGroups] > 6 {
			t.Errorf("sent %v", sent)
		}
		commits, err := c.Reader().CommitsOf(t.Context(), ids)
		if err != nil {
			t.Fatal(err)
		}
		for i, id := range ids {
			if g := commits[id]; g.Fault != nil || g.Offsets[tp("in", 0)].Offset != int64(i) {
				t.Errorf("%s: %+v", id, g)
			}
		}
	}
}

// TestB17_GroupsWithoutRights: what may not be described is neither empty nor
// absent, and costs no further call of another type.
func TestB17_GroupsWithoutRights(t *testing.T) {
	f, r := principal(t, grant(kmsg.ACLResourceTypeGroup, "mine", kmsg.ACLOperationDescribe))
	asked := f.Fault(kfake.Fault{Keys: []kmsg.Key{kmsg.FindCoordinator, kmsg.DescribeGroups}, Observe: true, Count: -1})
	got, err := r.DescribeGroups(t.Context(), slices.Concat(listed(streams.ProtocolUnknown, "theirs"), listed(streams.ProtocolClassic, "mine", "others")))
	if err != nil {
		t.Fatal(err)
	}
	wantFault(t, got[0].Fault, streams.FaultNotAllowed)
	wantFault(t, got[2].Fault, streams.FaultNotAllowed)
	if got[0].Empty() || got[2].Empty() || got[1].Fault != nil || got[1].Exists {
		t.Errorf("got %+v", got)
	}
	if hint := got[2].Fault.Hint; hint != "this principal needs DESCRIBE on group others" || asked.Hits() > 5 {
		t.Errorf("%q after %d requests", hint, asked.Hits())
	}
	commits, err := r.CommitsOf(t.Context(), []string{"mine", "theirs"})
	if err != nil || commits["mine"].Fault != nil {
		t.Errorf("got %+v %v", commits, err)
	}
	wantFault(t, commits["theirs"].Fault, streams.FaultNotAllowed)
}

func TestCrowdOfNobody(t *testing.T) {
	c, n := dial(t, fake(t))
	groups, err := c.Reader().DescribeGroups(t.Context(), nil)
	commits, err2 := c.Reader().CommitsOf(t.Context(), nil)
	ends, err3 := c.Reader().Ends(t.Context(), nil)
	if err != nil || err2 != nil || err3 != nil || len(groups)+len(commits)+len(ends) != 0 || len(n.take()) != 0 {
		t.Errorf("asking for nothing asks nobody: %v %v %v", err, err2, err3)
	}
}
