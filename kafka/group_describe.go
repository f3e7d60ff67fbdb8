package kafka

import (
	"context"
	"fmt"
	"net"
	"slices"
	"strconv"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kmsg"

	"resurge/streams"
)

func undecodable(what string, err error) error {
	return fmt.Errorf("decode %s: %w", what, err)
}

// verdict is what a describe call says of the one group that it was asked for.
type verdict struct {
	present bool // the answer has an entry
	code    int16
	detail  *string
}

// describeOne sends one describe call. found is false with a fault when the
// group is not known, and without one when the call's type has no such group.
func describeOne[T kmsg.Response](ctx context.Context, r *Reader, s subject, id string, request func() kmsg.Request, judge func(T) verdict) (resp T, node int32, found bool, f *streams.Fault) {
	resp, node, err := askCoordinator(ctx, r, id, request, func(resp T) int16 { return judge(resp).code })
	if err != nil {
		return resp, node, false, s.fault(err)
	}
	v := judge(resp)
	switch v.code {
	case 0:
		if !v.present {
			return resp, node, false, s.fault(errUnexpected)
		}
		return resp, node, true, nil
	case kerr.GroupIDNotFound.Code:
		return resp, node, false, nil
	case kerr.UnsupportedVersion.Code: // this type of group is switched off
		return resp, node, false, nil
	}
	return resp, node, false, s.code(v.code, v.detail)
}

// describeConsumer asks with ConsumerGroupDescribe (KIP-848).
func (r *Reader) describeConsumer(ctx context.Context, id string) (*streams.Group, *streams.Fault) {
	s := groupSubject(id, "DESCRIBE")
	request := func() kmsg.Request {
		req := kmsg.NewPtrConsumerGroupDescribeRequest()
		req.Groups = []string{id}
		return req
	}
	resp, node, found, f := describeOne(ctx, r, s, id, request, func(resp *kmsg.ConsumerGroupDescribeResponse) verdict {
		d := first(resp.Groups)
		return verdict{len(resp.Groups) == 1, d.ErrorCode, d.ErrorMessage}
	})
	if !found {
		return nil, f
	}
	d := first(resp.Groups)
	g := &streams.Group{
		ID: id, Exists: true, Protocol: streams.ProtocolConsumer, ProtocolType: protocolTypeConsumer, Assignor: d.AssignorName,
		State: stateOf(d.State), Coordinator: node, Epoch: d.Epoch,
	}
	for _, m := range d.Members {
		out := streams.Member{ID: m.MemberID, InstanceID: text(m.InstanceID), ClientID: m.ClientID, Host: m.ClientHost, Subscribed: unique(m.SubscribedTopics)}
		for _, t := range m.Assignment.TopicPartitions {
			for _, p := range t.Partitions {
				out.Assigned = append(out.Assigned, streams.TopicPartition{Topic: t.Topic, Partition: p})
			}
		}
		slices.SortFunc(out.Assigned, streams.TopicPartition.Compare)
		g.Members = append(g.Members, out)
	}
	sortBy(g.Members, func(m streams.Member) string { return m.ID })
	return g, nil
}

// describeShare asks with ShareGroupDescribe (KIP-932).
func (r *Reader) describeShare(ctx context.Context, id string) (*streams.Group, *streams.Fault) {
	s := groupSubject(id, "DESCRIBE")
	request := func() kmsg.Request {
		req := kmsg.NewPtrShareGroupDescribeRequest()
		req.GroupIDs = []string{id}
		return req
	}
	resp, node, found, f := describeOne(ctx, r, s, id, request, func(resp *kmsg.ShareGroupDescribeResponse) verdict {
		d := first(resp.Groups)
		return verdict{len(resp.Groups) == 1, d.ErrorCode, d.ErrorMessage}
	})
	if !found {
		return nil, f
	}
	d := first(resp.Groups)
	g := &streams.Group{
		ID: id, Exists: true, Protocol: streams.ProtocolShare, ProtocolType: protocolTypeShare, Assignor: d.Assignor,
		State: stateOf(d.GroupState), Coordinator: node, Epoch: d.GroupEpoch,
	}
	for _, m := range d.Members {
		g.Members = append(g.Members, streams.Member{ID: m.MemberID, ClientID: m.ClientID, Host: m.ClientHost, Subscribed: unique(m.SubscribedTopicNames)})
	}
	sortBy(g.Members, func(m streams.Member) string { return m.ID })
	return g, nil
}

// describeStreams asks with StreamsGroupDescribe (KIP-1071).
func (r *Reader) describeStreams(ctx context.Context, id string) (*streams.Group, *streams.Fault) {
	s := groupSubject(id, "DESCRIBE")
	s.needs += " and on every topic of its topology"
	request := func() kmsg.Request {
		req := kmsg.NewPtrStreamsGroupDescribeRequest()
		req.Groups = []string{id}
		return req
	}
	resp, node, found, f := describeOne(ctx, r, s, id, request, func(resp *kmsg.StreamsGroupDescribeResponse) verdict {
		d := first(resp.Groups)
		return verdict{len(resp.Groups) == 1, d.ErrorCode, d.ErrorMessage}
	})
	if !found {
		return nil, f
	}
	d := first(resp.Groups)
	g := &streams.Group{
		ID: id, Exists: true, Protocol: streams.ProtocolStreams, ProtocolType: protocolTypeStreams, Assignor: text(d.AssignorName),
		State: stateOf(d.State), Coordinator: node, Epoch: d.Epoch,
	}
	if d.Topology != nil {
		for _, st := range d.Topology.Subtopologies {
			g.Topology = append(g.Topology, subtopologyOf(st))
		}
	}
	for _, m := range d.Members {
		g.Members = append(g.Members, streamsMember(id, m, resp.Version))
	}
	sortBy(g.Members, func(m streams.Member) string { return m.ID })
	return g, nil
}

func subtopologyOf(st kmsg.StreamsGroupDescribeResponseGroupTopologySubtopology) streams.Subtopology {
	out := streams.Subtopology{ID: st.SubtopologyID, SourceTopics: unique(st.SourceTopics), RepartitionSinks: unique(st.RepartitionSinkTopics)}
	for _, t := range st.RepartitionSourceTopics {
		out.RepartitionSources = append(out.RepartitionSources, t.Topic)
	}
	for _, t := range st.StateChangelogTopics {
		out.Changelogs = append(out.Changelogs, t.Topic)
	}
	slices.Sort(out.RepartitionSources)
	slices.Sort(out.Changelogs)
	return out
}

// streamsMember reads one member. Brokers fill in task offsets since describe
// version 1 (Kafka 4.4); before, the list is always empty and says nothing.
func streamsMember(group string, m kmsg.StreamsGroupDescribeResponseGroupMember, version int16) streams.Member {
	out := streams.Member{ID: m.MemberID, InstanceID: text(m.InstanceID), ClientID: m.ClientID, Host: m.ClientHost, ProcessID: m.ProcessID}
	if e := m.UserEndpoint; e != nil && e.Host != "" {
		out.Endpoint = net.JoinHostPort(e.Host, strconv.Itoa(int(e.Port)))
	}
	var bad error
	task := func(subtopology string, partition int32) streams.TaskID {
		n, err := strconv.ParseInt(subtopology, 10, 32)
		if err != nil {
			bad = undecodable("subtopology ID", err)
		}
		return streams.TaskID{Subtopology: int32(n), Partition: partition}
	}
	tasks := func(ids []kmsg.TaskIDs) []streams.TaskID {
		var out []streams.TaskID
		for _, id := range ids {
			for _, p := range id.Partitions {
				out = append(out, task(id.SubtopologyID, p))
			}
		}
		slices.SortFunc(out, streams.TaskID.Compare)
		return out
	}
	out.Active = tasks(m.Assignment.ActiveTasks)
	out.Standby = tasks(m.Assignment.StandbyTasks)
	if version >= 1 {
		out.ReportedTasks = true
		out.OffsetSums = map[streams.TaskID]int64{}
		for _, o := range m.TaskOffsets {
			out.OffsetSums[task(o.SubtopologyID, o.Partition)] = o.Offset
		}
	}
	if bad != nil {
		out.Fault = subject{what: "member " + streams.Quote(m.MemberID) + " of group " + streams.Quote(group)}.fault(bad)
	}
	return out
}
