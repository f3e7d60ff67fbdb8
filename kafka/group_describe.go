package kafka

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kmsg"
	"golang.org/x/sync/errgroup"

	"resurge/streams"
)

// groupTypes are the types of groups in the order in which a group is asked for
// by name. Classic is last: its call answers for groups of other types too, as
// if they were dead.
var groupTypes = []streams.GroupProtocol{streams.ProtocolStreams, streams.ProtocolConsumer, streams.ProtocolShare, streams.ProtocolClassic}

func undecodable(what string, err error) error {
	return fmt.Errorf("decode %s: %w", what, err)
}

// groupEntry is what a describe call of any type says of one group.
type groupEntry struct {
	code   int16
	detail *string
	rights int32          // authorized operations (KIP-430)
	group  *streams.Group // without coordinator; nil: this type has no such group
}

// describeCall is the describe call of one type of group.
func (r *Reader) describeCall(p streams.GroupProtocol, rights bool) groupCall[groupEntry] {
	send := func(ctx context.Context, node int32, ids []string) (map[string]groupEntry, error) {
		switch p {
		case streams.ProtocolClassic:
			return r.sendClassic(ctx, node, ids, rights)
		case streams.ProtocolConsumer:
			return r.sendConsumer(ctx, node, ids, rights)
		case streams.ProtocolStreams:
			return r.sendStreams(ctx, node, ids, rights)
		case streams.ProtocolShare:
			return r.sendShare(ctx, node, ids, rights)
		case streams.ProtocolUnknown:
		}
		return nil, errUnexpected
	}
	return groupCall[groupEntry]{send: send, code: func(e groupEntry) int16 { return e.code }}
}

func describeSubject(id string, p streams.GroupProtocol) subject {
	s := groupSubject(id, "DESCRIBE")
	if p == streams.ProtocolStreams {
		s.needs += " and on every topic of its topology"
	}
	return s
}

// description is what the call of one type says of a group: the group, or why
// it is not known, or neither when that type has no such group.
type description struct {
	group *streams.Group
	fault *streams.Fault
}

func descriptionOf(s subject, a answered[groupEntry]) description {
	switch {
	case a.err != nil:
		return description{fault: s.fault(a.err)}
	case a.entry.code == kerr.GroupIDNotFound.Code:
		return description{}
	case a.entry.code == kerr.UnsupportedVersion.Code: // this type of group is switched off
		return description{}
	case a.entry.code != 0:
		return description{fault: s.code(a.entry.code, a.entry.detail)}
	case a.entry.group != nil:
		a.entry.group.Coordinator = a.node
	}
	return description{group: a.entry.group}
}

// as is the group that was listed: as described, or with what the list says and
// the fault. It is nil when its type has no such group any more.
func (d description) as(l streams.GroupListing) *streams.Group {
	if d.fault != nil {
		return &streams.Group{ID: l.ID, Exists: true, Coordinator: -1, Protocol: l.Protocol, ProtocolType: l.ProtocolType, Fault: d.fault}
	}
	return d.group
}

// describeAll asks for groups by the call of one type.
func (r *Reader) describeAll(ctx context.Context, ids []string, p streams.GroupProtocol) map[string]description {
	out := make(map[string]description, len(ids))
	for id, a := range askGroups(ctx, r, ids, r.describeCall(p, false)) {
		out[id] = descriptionOf(describeSubject(id, p), a)
	}
	return out
}

// describeByName asks for groups whose type is not known with the call of every
// type that the broker knows: only when all of them deny a group, it does not
// exist.
func (r *Reader) describeByName(ctx context.Context, ids []string) map[string]streams.Group {
	out := make(map[string]streams.Group, len(ids))
	faults := map[string]*streams.Fault{}
	open := ids
	for _, p := range groupTypes {
		var rest []string
		for id, d := range r.describeAll(ctx, open, p) {
			switch {
			case d.group != nil:
				out[id] = *d.group
				continue
			case d.fault == nil, d.fault.Kind == streams.FaultUnsupported && p != streams.ProtocolClassic:
				// A broker that does not know the call has no group of that type.
			case d.fault.Kind == streams.FaultUnreachable, d.fault.Kind == streams.FaultNotAllowed:
				// The other calls go to the same coordinator and take the same right.
				out[id] = streams.Group{ID: id, Coordinator: -1, Protocol: streams.ProtocolUnknown, Fault: d.fault}
				continue
			default:
				faults[id] = cmp.Or(faults[id], d.fault)
			}
			rest = append(rest, id)
		}
		if open = rest; len(open) == 0 {
			break
		}
	}
	for _, id := range open {
		out[id] = streams.Group{ID: id, Coordinator: -1, Protocol: streams.ProtocolUnknown, Fault: faults[id]}
	}
	return out
}

// DescribeGroups describes every listed group by its true type, in order and
// with one entry each. The groups of one coordinator and type go together, 200
// in a request. A group whose type does not know it, since it was deleted or
// converted meanwhile or the list comes from a broker too old to say, is asked
// for by name, as [Reader.Group] does. A group that cannot be described has a
// Fault and leaves the others alone (public reports B5, B6, B7).
func (r *Reader) DescribeGroups(ctx context.Context, groups []streams.GroupListing) ([]streams.Group, error) {
	byType := map[streams.GroupProtocol][]string{}
	all := make([]string, 0, len(groups))
	for _, l := range groups {
		byType[l.Protocol] = append(byType[l.Protocol], l.ID)
		all = append(all, l.ID)
	}
	r.coordinatorsOf(ctx, unique(all)) // of all types together; what fails is asked for again
	answers := make([]map[string]description, len(groupTypes))
	var work errgroup.Group
	for i, p := range groupTypes {
		work.Go(func() error {
			answers[i] = r.describeAll(ctx, byType[p], p)
			return nil
		})
	}
	_ = work.Wait() // every error stands with its group
	out := make([]streams.Group, len(groups))
	missing := map[string][]int{}
	for i, l := range groups {
		known := slices.Index(groupTypes, l.Protocol)
		if known >= 0 {
			if g := answers[known][l.ID].as(l); g != nil {
				out[i] = *g
				continue
			}
		}
		missing[l.ID] = append(missing[l.ID], i)
	}
	for id, g := range r.describeByName(ctx, keysOf(missing)) {
		for _, i := range missing[id] {
			out[i] = g
		}
	}
	if err := interrupted(ctx, subject{what: "groups"}); err != nil {
		return nil, err
	}
	return out, nil
}

func (r *Reader) sendConsumer(ctx context.Context, node int32, ids []string, rights bool) (map[string]groupEntry, error) {
	req := kmsg.NewPtrConsumerGroupDescribeRequest()
	req.Groups, req.IncludeAuthorizedOperations = ids, rights
	resp, err := sendTo[*kmsg.ConsumerGroupDescribeResponse](ctx, r, node, req)
	if err != nil {
		return nil, err
	}
	out := make(map[string]groupEntry, len(ids))
	for _, g := range resp.Groups {
		e := groupEntry{code: g.ErrorCode, detail: g.ErrorMessage, rights: g.AuthorizedOperations}
		if e.code == 0 {
			e.group = consumerGroup(g)
		}
		out[g.Group] = e
	}
	return out, nil
}

// consumerGroup reads a group of the consumer protocol (KIP-848).
func consumerGroup(d kmsg.ConsumerGroupDescribeResponseGroup) *streams.Group {
	g := &streams.Group{
		ID: d.Group, Exists: true, Protocol: streams.ProtocolConsumer, ProtocolType: protocolTypeConsumer, Assignor: d.AssignorName,
		State: stateOf(d.State), Epoch: d.Epoch, TargetEpoch: d.AssignmentEpoch,
	}
	for _, m := range d.Members {
		out := streams.Member{
			ID: m.MemberID, InstanceID: text(m.InstanceID), ClientID: m.ClientID, Host: m.ClientHost, Rack: text(m.RackID),
			Epoch: m.MemberEpoch, Subscribed: unique(m.SubscribedTopics), ClassicInNew: m.MemberType == 0, // version 1; -1 before
		}
		for _, t := range m.Assignment.TopicPartitions {
			for _, p := range t.Partitions {
				out.Assigned = append(out.Assigned, streams.TopicPartition{Topic: t.Topic, Partition: p})
			}
		}
		slices.SortFunc(out.Assigned, streams.TopicPartition.Compare)
		g.Members = append(g.Members, out)
	}
	sortBy(g.Members, func(m streams.Member) string { return m.ID })
	return g
}

func (r *Reader) sendShare(ctx context.Context, node int32, ids []string, rights bool) (map[string]groupEntry, error) {
	req := kmsg.NewPtrShareGroupDescribeRequest()
	req.GroupIDs, req.IncludeAuthorizedOperations = ids, rights
	resp, err := sendTo[*kmsg.ShareGroupDescribeResponse](ctx, r, node, req)
	if err != nil {
		return nil, err
	}
	out := make(map[string]groupEntry, len(ids))
	for _, g := range resp.Groups {
		e := groupEntry{code: g.ErrorCode, detail: g.ErrorMessage, rights: g.AuthorizedOperations}
		if e.code == 0 {
			e.group = shareGroup(g)
		}
		out[g.GroupID] = e
	}
	return out, nil
}

// shareGroup reads a share group (KIP-932).
func shareGroup(d kmsg.ShareGroupDescribeResponseGroup) *streams.Group {
	g := &streams.Group{
		ID: d.GroupID, Exists: true, Protocol: streams.ProtocolShare, ProtocolType: protocolTypeShare, Assignor: d.Assignor,
		State: stateOf(d.GroupState), Epoch: d.GroupEpoch, TargetEpoch: d.AssignmentEpoch,
	}
	for _, m := range d.Members {
		g.Members = append(g.Members, streams.Member{
			ID: m.MemberID, ClientID: m.ClientID, Host: m.ClientHost, Rack: text(m.RackID), Epoch: m.MemberEpoch, Subscribed: unique(m.SubscribedTopicNames),
		})
	}
	sortBy(g.Members, func(m streams.Member) string { return m.ID })
	return g
}
