package kafka

import (
	"context"
	"net"
	"reflect"
	"slices"
	"strconv"

	"github.com/twmb/franz-go/pkg/kmsg"

	"resurge/streams"
)

func (r *Reader) sendStreams(ctx context.Context, node int32, ids []string, rights bool) (map[string]groupEntry, error) {
	req := kmsg.NewPtrStreamsGroupDescribeRequest()
	req.Groups, req.IncludeAuthorizedOperations = ids, rights
	resp, err := sendTo[*kmsg.StreamsGroupDescribeResponse](ctx, r, node, req)
	if err != nil {
		return nil, err
	}
	out := make(map[string]groupEntry, len(ids))
	for _, g := range resp.Groups {
		e := groupEntry{code: g.ErrorCode, detail: g.ErrorMessage, rights: g.AuthorizedOperations}
		if e.code == 0 {
			e.group = streamsGroupOf(g, resp.Version)
		}
		out[g.Group] = e
	}
	return out, nil
}

// streamsGroupOf reads a group of the streams protocol (KIP-1071).
func streamsGroupOf(d kmsg.StreamsGroupDescribeResponseGroup, version int16) *streams.Group {
	g := &streams.Group{
		ID: d.Group, Exists: true, Protocol: streams.ProtocolStreams, ProtocolType: protocolTypeStreams, Assignor: text(d.AssignorName),
		State: stateOf(d.State), Epoch: d.Epoch, TargetEpoch: d.AssignmentEpoch,
	}
	if d.Topology != nil {
		g.TopologyEpoch = d.Topology.Epoch
		for _, st := range d.Topology.Subtopologies {
			g.Topology = append(g.Topology, subtopologyOf(st))
		}
	}
	for _, m := range d.Members {
		g.Members = append(g.Members, streamsMember(d.Group, m, version))
	}
	sortBy(g.Members, func(m streams.Member) string { return m.ID })
	return g
}

func subtopologyOf(st kmsg.StreamsGroupDescribeResponseGroupTopologySubtopology) streams.Subtopology {
	out := streams.Subtopology{ID: st.SubtopologyID, SourceTopics: unique(st.SourceTopics), RepartitionSinks: unique(st.RepartitionSinkTopics)}
	internal := func(topics []kmsg.TopicInfo) []string {
		names := make([]string, 0, len(topics))
		for _, t := range topics {
			names = append(names, t.Topic)
			for _, c := range t.Configs {
				if out.Wanted == nil {
					out.Wanted = map[string]map[string]string{}
				}
				if out.Wanted[t.Topic] == nil {
					out.Wanted[t.Topic] = map[string]string{}
				}
				out.Wanted[t.Topic][c.Key] = c.Value
			}
		}
		slices.Sort(names)
		return names
	}
	out.RepartitionSources = internal(st.RepartitionSourceTopics)
	out.Changelogs = internal(st.StateChangelogTopics)
	return out
}

// taskReader reads tasks and keeps the last error.
type taskReader struct{ err error }

func (t *taskReader) task(subtopology string, partition int32) streams.TaskID {
	n, err := strconv.ParseInt(subtopology, 10, 32)
	if err != nil {
		t.err = undecodable("subtopology ID", err)
	}
	return streams.TaskID{Subtopology: int32(n), Partition: partition}
}

func (t *taskReader) tasks(ids []kmsg.TaskIDs) []streams.TaskID {
	var out []streams.TaskID
	for _, id := range ids {
		for _, p := range id.Partitions {
			out = append(out, t.task(id.SubtopologyID, p))
		}
	}
	slices.SortFunc(out, streams.TaskID.Compare)
	return out
}

func (t *taskReader) assignment(a kmsg.StreamsAssignment) streams.Target {
	return streams.Target{Active: t.tasks(a.ActiveTasks), Standby: t.tasks(a.StandbyTasks), Warmup: t.tasks(a.WarmupTasks)}
}

func (t *taskReader) sums(offsets []kmsg.TaskOffset) map[streams.TaskID]int64 {
	out := make(map[streams.TaskID]int64, len(offsets))
	for _, o := range offsets {
		out[t.task(o.SubtopologyID, o.Partition)] = o.Offset
	}
	return out
}

// streamsMember reads one member. Brokers fill in task offsets since describe
// version 1 (Kafka 4.4); before, the list is always empty and says nothing.
func streamsMember(group string, m kmsg.StreamsGroupDescribeResponseGroupMember, version int16) streams.Member {
	out := streams.Member{
		ID: m.MemberID, InstanceID: text(m.InstanceID), ClientID: m.ClientID, Host: m.ClientHost, ProcessID: m.ProcessID, Rack: text(m.RackID),
		Epoch: m.MemberEpoch, TopologyEpoch: m.TopologyEpoch, ClassicInNew: m.IsClassic,
	}
	if e := m.UserEndpoint; e != nil && e.Host != "" {
		out.Endpoint = net.JoinHostPort(e.Host, strconv.Itoa(int(e.Port)))
	}
	for _, tag := range m.ClientTags {
		if out.Tags == nil {
			out.Tags = map[string]string{}
		}
		out.Tags[tag.Key] = tag.Value
	}
	t := &taskReader{}
	has, target := t.assignment(m.Assignment), t.assignment(m.TargetAssignment)
	out.Active, out.Standby, out.Warmup = has.Active, has.Standby, has.Warmup
	if !reflect.DeepEqual(has, target) {
		out.Target = &target
	}
	if version >= 1 {
		out.ReportedTasks, out.OffsetSums = true, t.sums(m.TaskOffsets)
		if len(m.TaskEndOffsets) > 0 {
			out.EndSums = t.sums(m.TaskEndOffsets)
		}
	}
	if t.err != nil {
		out.Fault = subject{what: "member " + streams.Quote(m.MemberID) + " of group " + streams.Quote(group)}.fault(t.err)
	}
	return out
}
