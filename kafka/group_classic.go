package kafka

import (
	"context"
	"maps"
	"slices"

	"github.com/twmb/franz-go/pkg/kmsg"

	"resurge/streams"
)

const (
	protocolTypeConsumer = "consumer"
	protocolTypeStreams  = "streams"
	protocolTypeShare    = "share"
	streamsAssignor      = "stream" // of classic Kafka Streams
)

// describeClassic asks with DescribeGroups. A group of another type is Dead
// without an error before version 6, and not found since.
func (r *Reader) describeClassic(ctx context.Context, id string) (*streams.Group, *streams.Fault) {
	s := groupSubject(id, "DESCRIBE")
	request := func() kmsg.Request {
		req := kmsg.NewPtrDescribeGroupsRequest()
		req.Groups = []string{id}
		return req
	}
	resp, node, found, f := describeOne(ctx, r, s, id, request, func(resp *kmsg.DescribeGroupsResponse) verdict {
		d := first(resp.Groups)
		return verdict{len(resp.Groups) == 1, d.ErrorCode, d.ErrorMessage}
	})
	if !found {
		return nil, f
	}
	d := first(resp.Groups)
	if stateOf(d.State) == streams.StateDead && len(d.Members) == 0 {
		return nil, nil
	}
	g := &streams.Group{
		ID: id, Exists: true, Protocol: streams.ProtocolClassic, ProtocolType: d.ProtocolType, Assignor: d.Protocol,
		State: stateOf(d.State), Coordinator: node,
	}
	for _, m := range d.Members {
		g.Members = append(g.Members, classicMember(d, m))
	}
	sortBy(g.Members, func(m streams.Member) string { return m.ID })
	return g, nil
}

// first is the only element that was asked for, or an empty one.
func first[T any](s []T) T {
	if len(s) > 0 {
		return s[0]
	}
	var none T
	return none
}

// classicMember decodes what a member said and was told. Both are empty outside
// state Stable, and opaque to any protocol but the consumer's: what cannot be
// decoded marks this member only (public reports B7, B8).
func classicMember(g kmsg.DescribeGroupsResponseGroup, m kmsg.DescribeGroupsResponseGroupMember) streams.Member {
	out := streams.Member{ID: m.MemberID, InstanceID: text(m.InstanceID), ClientID: m.ClientID, Host: m.ClientHost}
	if g.ProtocolType != protocolTypeConsumer {
		return out
	}
	s := subject{what: "member " + streams.Quote(m.MemberID) + " of group " + streams.Quote(g.Group)}
	isStreams := g.Protocol == streamsAssignor
	if err := takeSubscription(&out, m.ProtocolMetadata, isStreams); err != nil {
		out.Fault = s.fault(err)
	}
	if err := takeAssignment(&out, m.MemberAssignment, isStreams); err != nil && out.Fault == nil {
		out.Fault = s.fault(err)
	}
	return out
}

func text(s *string) string {
	if s == nil {
		return ""
	}
	return *s
}

func takeSubscription(m *streams.Member, b []byte, isStreams bool) error {
	if len(b) == 0 {
		return nil
	}
	var meta kmsg.ConsumerMemberMetadata
	meta.Default()
	if err := meta.ReadFrom(b); err != nil {
		return undecodable("subscription", err)
	}
	m.Subscribed = unique(meta.Topics)
	if !isStreams || len(meta.UserData) == 0 {
		return nil
	}
	info, err := streams.DecodeSubscriptionInfo(meta.UserData)
	if err != nil {
		return err
	}
	m.ProcessID, m.Endpoint = info.ProcessID.String(), info.UserEndpoint
	m.OffsetSums, m.ReportedTasks = info.OffsetSums, true
	if info.Version < 7 { // says which tasks are on disk, and not how far they are
		m.OffsetSums = map[streams.TaskID]int64{}
		for _, t := range slices.Concat(info.Active, info.Standby) {
			m.OffsetSums[t] = streams.OffsetSumUnknown
		}
	}
	return nil
}

func takeAssignment(m *streams.Member, b []byte, isStreams bool) error {
	if len(b) == 0 {
		return nil
	}
	var assigned kmsg.ConsumerMemberAssignment
	assigned.Default()
	if err := assigned.ReadFrom(b); err != nil {
		return undecodable("assignment", err)
	}
	for _, t := range assigned.Topics {
		for _, p := range t.Partitions {
			m.Assigned = append(m.Assigned, streams.TopicPartition{Topic: t.Topic, Partition: p})
		}
	}
	slices.SortFunc(m.Assigned, streams.TopicPartition.Compare)
	if !isStreams || len(assigned.UserData) == 0 {
		return nil
	}
	info, err := streams.DecodeAssignmentInfo(assigned.UserData)
	if err != nil {
		return err
	}
	tasks, err := streams.TaskPartitions(m.Assigned, info.Active)
	if err != nil {
		return err
	}
	m.Active = slices.SortedFunc(maps.Keys(tasks), streams.TaskID.Compare)
	m.Standby = slices.SortedFunc(maps.Keys(info.Standby), streams.TaskID.Compare)
	return nil
}
