package kafka

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"math"
	"slices"
	"time"

	"github.com/twmb/franz-go/pkg/kmsg"

	"resurge/streams"
)

const (
	protocolTypeConsumer = "consumer"
	protocolTypeStreams  = "streams"
	protocolTypeShare    = "share"
	streamsAssignor      = "stream" // of classic Kafka Streams
)

// sendClassic asks with DescribeGroups. A group of another type, and one that
// does not exist, is Dead without an error: see [versions].
func (r *Reader) sendClassic(ctx context.Context, node int32, ids []string, rights bool) (map[string]groupEntry, error) {
	req := kmsg.NewPtrDescribeGroupsRequest()
	req.Groups, req.IncludeAuthorizedOperations = ids, rights
	resp, err := sendTo[*kmsg.DescribeGroupsResponse](ctx, r, node, req)
	if err != nil {
		return nil, err
	}
	out := make(map[string]groupEntry, len(ids))
	for _, g := range resp.Groups {
		e := groupEntry{code: g.ErrorCode, detail: g.ErrorMessage, rights: g.AuthorizedOperations}
		if e.code == 0 && (stateOf(g.State) != streams.StateDead || len(g.Members) > 0) {
			e.group = classicGroup(g)
		}
		out[g.Group] = e
	}
	return out, nil
}

func classicGroup(d kmsg.DescribeGroupsResponseGroup) *streams.Group {
	g := &streams.Group{
		ID: d.Group, Exists: true, Protocol: streams.ProtocolClassic, ProtocolType: d.ProtocolType, Assignor: d.Protocol, State: stateOf(d.State),
	}
	for _, m := range d.Members {
		g.Members = append(g.Members, classicMember(d, m))
	}
	sortBy(g.Members, func(m streams.Member) string { return m.ID })
	return g
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

// troubles are what a member may report when it joins, or be told by the group's
// leader (Kafka's AssignorError).
var troubles = map[int32]string{
	1: "incomplete source topic metadata", 2: "version probing", 3: "assignment error", 4: "shutdown requested",
}

func troubleOf(code int32) string {
	if s, ok := troubles[code]; ok || code == 0 {
		return s
	}
	return fmt.Sprintf("error code %d", code)
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
	m.Subscribed, m.Rack = unique(meta.Topics), text(meta.Rack)
	if !isStreams || len(meta.UserData) == 0 {
		return nil
	}
	info, err := streams.DecodeSubscriptionInfo(meta.UserData)
	m.Userdata, m.UserdataLatest = max(info.Version, 0), max(info.LatestSupported, 0)
	if err != nil {
		return err
	}
	m.ProcessID, m.Endpoint, m.Tags, m.Trouble = info.ProcessID.String(), info.UserEndpoint, info.ClientTags, troubleOf(info.ErrorCode)
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
	// Only the leader knows most troubles, and says them with the assignment.
	m.Trouble = cmp.Or(m.Trouble, troubleOf(info.ErrorCode))
	if at := info.NextRebalanceMillis; at > 0 && at != math.MaxInt64 { // 0: at once, which is over
		m.NextRebalance = time.UnixMilli(at).UTC()
	}
	tasks, err := streams.TaskPartitions(m.Assigned, info.Active)
	if err != nil {
		return err
	}
	m.Active = slices.SortedFunc(maps.Keys(tasks), streams.TaskID.Compare)
	m.Sources = map[streams.TopicPartition]streams.TaskID{}
	for id, sources := range tasks {
		for _, tp := range sources {
			m.Sources[tp] = id
		}
	}
	m.Standby = slices.SortedFunc(maps.Keys(info.Standby), streams.TaskID.Compare)
	return nil
}
