package kafka

import (
	"testing"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kfake"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"
)

// emulateStreams makes kfake serve streams groups (KIP-1071), which it does not
// know: it advertises the requests, lists the groups and describes them at their
// coordinator only.
func emulateStreams(t *testing.T, f *kfake.Cluster, groups ...kmsg.StreamsGroupDescribeResponseGroup) {
	t.Helper()
	advertise(t, f)
	f.ControlKey(kmsg.ListGroups.Int16(), func(kreq kmsg.Request) (kmsg.Response, error, bool) {
		f.KeepControl()
		req := kreq.(*kmsg.ListGroupsRequest)
		resp := req.ResponseKind().(*kmsg.ListGroupsResponse)
		for _, g := range groups {
			if f.CurrentNode() == f.CoordinatorFor(g.Group) {
				lg := kmsg.NewListGroupsResponseGroup()
				lg.Group, lg.ProtocolType, lg.GroupType, lg.GroupState = g.Group, "streams", "Streams", g.State
				resp.Groups = append(resp.Groups, lg)
			}
		}
		return resp, nil, true
	})
	f.ControlKey(kmsg.StreamsGroupDescribe.Int16(), func(kreq kmsg.Request) (kmsg.Response, error, bool) {
		f.KeepControl()
		req := kreq.(*kmsg.StreamsGroupDescribeRequest)
		resp := req.ResponseKind().(*kmsg.StreamsGroupDescribeResponse)
		for _, id := range req.Groups {
			g := kmsg.NewStreamsGroupDescribeResponseGroup()
			g.Group, g.ErrorCode = id, kerr.GroupIDNotFound.Code
			for _, known := range groups {
				if known.Group == id {
					g = known
				}
			}
			if f.CurrentNode() != f.CoordinatorFor(id) {
				g = kmsg.NewStreamsGroupDescribeResponseGroup()
				g.Group, g.ErrorCode = id, kerr.NotCoordinator.Code
			}
			resp.Groups = append(resp.Groups, g)
		}
		return resp, nil, true
	})
}

// advertise adds StreamsGroupHeartbeat and StreamsGroupDescribe to the answer
// of ApiVersions.
func advertise(t *testing.T, f *kfake.Cluster) {
	t.Helper()
	cl, err := kgo.NewClient(kgo.SeedBrokers(f.ListenAddrs()...))
	if err != nil {
		t.Fatal(err)
	}
	defer cl.Close()
	resp, err := kmsg.NewPtrApiVersionsRequest().RequestWith(t.Context(), cl)
	if err != nil {
		t.Fatal(err)
	}
	for _, key := range []kmsg.Key{kmsg.StreamsGroupHeartbeat, kmsg.StreamsGroupDescribe} {
		k := kmsg.NewApiVersionsResponseApiKey()
		k.ApiKey, k.MaxVersion = key.Int16(), 1
		resp.ApiKeys = append(resp.ApiKeys, k)
	}
	f.ControlKey(kmsg.ApiVersions.Int16(), func(kreq kmsg.Request) (kmsg.Response, error, bool) {
		f.KeepControl()
		out := kreq.(*kmsg.ApiVersionsRequest).ResponseKind().(*kmsg.ApiVersionsResponse)
		out.ApiKeys = resp.ApiKeys
		return out, nil, true
	})
}

// streamsGroup is the running streams group shop, of one subtopology.
func streamsGroup() kmsg.StreamsGroupDescribeResponseGroup {
	const id = "shop"
	g := kmsg.NewStreamsGroupDescribeResponseGroup()
	g.Group, g.State, g.Epoch = id, "Stable", 7
	topology := kmsg.NewStreamsGroupDescribeResponseGroupTopology()
	st := kmsg.NewStreamsGroupDescribeResponseGroupTopologySubtopology()
	st.SubtopologyID, st.SourceTopics, st.RepartitionSinkTopics = "1", []string{"in"}, []string{id + "-by-repartition"}
	changelog, repartition := kmsg.NewTopicInfo(), kmsg.NewTopicInfo()
	changelog.Topic, repartition.Topic = id+"-store-changelog", id+"-by-repartition"
	st.StateChangelogTopics = []kmsg.TopicInfo{changelog}
	st.RepartitionSourceTopics = []kmsg.TopicInfo{repartition}
	topology.Subtopologies = append(topology.Subtopologies, st)
	g.Topology = &topology

	m := kmsg.NewStreamsGroupDescribeResponseGroupMember()
	m.MemberID, m.ClientID, m.ClientHost, m.ProcessID = "m1", id+"-client", "/10.0.0.1", "1f2e3d4c-0000-4000-8000-000000000001"
	endpoint := kmsg.NewStreamsGroupDescribeResponseGroupMemberUserEndpoint()
	endpoint.Host, endpoint.Port = "app-1", 7070
	m.UserEndpoint = &endpoint
	m.Assignment.ActiveTasks = []kmsg.TaskIDs{{SubtopologyID: "1", Partitions: []int32{2, 0}}}
	m.Assignment.StandbyTasks = []kmsg.TaskIDs{{SubtopologyID: "1", Partitions: []int32{1}}}
	m.TargetAssignment = m.Assignment
	m.TaskOffsets = []kmsg.TaskOffset{{SubtopologyID: "1", Partition: 1, Offset: 42}}
	g.Members = append(g.Members, m)
	return g
}
