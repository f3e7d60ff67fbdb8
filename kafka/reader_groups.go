package kafka

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"

	"resurge/streams"
)

// Groups lists all groups of the cluster, of every type. A broker that does not
// answer leaves a Fault, and then the list is short. A principal without rights
// is answered with no groups and no fault, one with rights on some groups with
// those; DESCRIBE on the cluster shows all (KafkaApis.handleListGroupsRequest).
// Without it the list is Filtered. A group missing from the list is absent only
// when [Reader.Group] says so.
func (r *Reader) Groups(ctx context.Context) (streams.GroupList, error) {
	s := clusterSubject("list of groups")
	var list streams.GroupList
	shards := r.cl.RequestSharded(ctx, kmsg.NewPtrListGroupsRequest())
	if err := interrupted(ctx, s); err != nil {
		return list, err
	}
	seen := map[string]bool{}
	for _, shard := range shards {
		resp, err := listedGroups(shard)
		if err != nil {
			list.Faults = append(list.Faults, subject{what: "groups of " + brokerName(shard.Meta), needs: s.needs}.fault(err))
			continue
		}
		for _, g := range resp.Groups {
			if !seen[g.Group] { // twice while its coordinator moves
				seen[g.Group] = true
				list.Groups = append(list.Groups, listing(g))
			}
		}
	}
	if len(list.Faults) == len(shards) && len(shards) > 0 {
		return streams.GroupList{}, asError(list.Faults[0])
	}
	sortBy(list.Groups, func(g streams.GroupListing) string { return g.ID })
	r.remember(list.Groups)
	var err error
	list.Filtered, err = r.filtered(ctx)
	return list, err
}

// filtered says why a list of groups may lack groups that this principal may not
// describe; nil: it lacks none.
func (r *Reader) filtered(ctx context.Context) (*streams.Fault, error) {
	s := clusterSubject("list of groups")
	rights, err := r.ClusterRights(ctx)
	switch {
	case err != nil:
		return nil, err
	case rights.Fault == nil && slices.Contains(rights.Allowed, streams.OpDescribe):
		return nil, nil //nolint:nilnil // no fault is the good answer
	case rights.Fault == nil || rights.Fault.Kind == streams.FaultNotAllowed:
		f := s.fault(kerr.ClusterAuthorizationFailed)
		f.Message = "it shows only the groups that this principal may describe; others may exist"
		return f, nil
	}
	f := *rights.Fault
	f.What = s.what
	return &f, nil
}

func listedGroups(shard kgo.ResponseShard) (*kmsg.ListGroupsResponse, error) {
	if shard.Err != nil {
		return nil, shard.Err
	}
	resp, ok := shard.Resp.(*kmsg.ListGroupsResponse)
	if !ok {
		return nil, errUnexpected
	}
	return resp, kerr.ErrorForCode(resp.ErrorCode)
}

var errUnexpected = errors.New("unexpected answer")

func brokerName(m kgo.BrokerMetadata) string {
	if m.Host == "" {
		return fmt.Sprintf("broker %d", m.NodeID)
	}
	return streams.Quote(fmt.Sprintf("broker %d at %s", m.NodeID, addressOf(m.Host, m.Port)))
}

func listing(g kmsg.ListGroupsResponseGroup) streams.GroupListing {
	return streams.GroupListing{ID: g.Group, Protocol: protocolOf(g.GroupType), ProtocolType: g.ProtocolType, State: stateOf(g.GroupState)}
}

// protocolOf reads the type of a group; brokers write it with a capital.
func protocolOf(groupType string) streams.GroupProtocol {
	switch p := streams.GroupProtocol(strings.ToLower(groupType)); p {
	case streams.ProtocolClassic, streams.ProtocolConsumer, streams.ProtocolStreams, streams.ProtocolShare:
		return p
	case streams.ProtocolUnknown:
	}
	return streams.ProtocolUnknown
}

func stateOf(state string) string {
	for _, known := range []string{streams.StateEmpty, streams.StateDead} {
		if strings.EqualFold(state, known) {
			return known
		}
	}
	return state
}

func (r *Reader) remember(groups []streams.GroupListing) {
	r.mu.Lock()
	defer r.mu.Unlock()
	clear(r.protocols)
	for _, g := range groups {
		if g.Protocol != streams.ProtocolUnknown {
			r.protocols[g.ID] = g.Protocol
		}
	}
}

func (r *Reader) protocol(id string) (streams.GroupProtocol, bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	p, ok := r.protocols[id]
	return p, ok
}

// Group describes one group by its true type. The type is taken from the list
// of groups, and read again when the describe call of that type does not know
// the group. A group that is in no list is asked for by name, with the call of
// every type that the broker knows: only when all of them deny it, it does not
// exist. A principal without rights gets a Fault and not "absent".
func (r *Reader) Group(ctx context.Context, id string) (streams.Group, error) {
	s := groupSubject(id, "DESCRIBE")
	if p, ok := r.protocol(id); ok {
		if d := r.describe(ctx, id, p); d.group != nil {
			return *d.group, nil
		}
	}
	list, err := r.Groups(ctx)
	if err := interrupted(ctx, s); err != nil {
		return streams.Group{}, err
	}
	if err != nil {
		return streams.Group{ID: id, Coordinator: -1, Protocol: streams.ProtocolUnknown, Fault: s.fault(err)}, nil
	}
	g := r.resolve(ctx, id, list)
	if err := interrupted(ctx, s); err != nil {
		return streams.Group{}, err
	}
	return g, nil
}

func (r *Reader) resolve(ctx context.Context, id string, list streams.GroupList) streams.Group {
	for _, l := range list.Groups {
		if l.ID != id || l.Protocol == streams.ProtocolUnknown {
			continue
		}
		if g := r.describe(ctx, id, l.Protocol).as(l); g != nil {
			return *g
		}
		// Deleted or converted since the list was made: ask for it by name.
	}
	return r.describeByName(ctx, []string{id})[id]
}

// describe asks for one group by the call of one type.
func (r *Reader) describe(ctx context.Context, id string, p streams.GroupProtocol) description {
	return r.describeAll(ctx, []string{id}, p)[id]
}

// worthAnotherTry is for requests to one broker by ID, for which kgo does not
// retry a failed dial.
func worthAnotherTry(err error) bool {
	if isTooOld(err) || errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) || errors.Is(err, kgo.ErrClientClosed) {
		return false
	}
	if ke, ok := errors.AsType[*kerr.Error](err); ok {
		return ke.Retriable
	}
	kind, _ := classify(err)
	return kind == streams.FaultUnreachable || kind == streams.FaultOther && !errors.Is(err, errUnexpected)
}
