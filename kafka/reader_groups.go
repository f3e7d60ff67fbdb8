package kafka

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"

	"resurge/streams"
)

// Groups lists all groups of the cluster, of every type. A broker that does not
// answer leaves a Fault, and then the list is short. A principal without rights
// is answered with no groups and no fault: a group missing from the list is
// absent only when [Reader.Group] says so.
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
	return list, nil
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
		if g, _ := r.describe(ctx, id, p); g != nil {
			return *g, nil
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
	unknown := streams.Group{ID: id, Coordinator: -1, Protocol: streams.ProtocolUnknown}
	for _, l := range list.Groups {
		if l.ID != id || l.Protocol == streams.ProtocolUnknown {
			continue
		}
		g, f := r.describe(ctx, id, l.Protocol)
		if g != nil {
			return *g
		}
		if f != nil {
			return streams.Group{ID: id, Exists: true, Coordinator: -1, Protocol: l.Protocol, ProtocolType: l.ProtocolType, Fault: f}
		}
		// Deleted or converted since the list was made: ask for it by name.
	}
	for _, p := range []streams.GroupProtocol{streams.ProtocolStreams, streams.ProtocolConsumer, streams.ProtocolShare, streams.ProtocolClassic} {
		g, f := r.describe(ctx, id, p)
		switch {
		case g != nil:
			return *g
		case f != nil && f.Kind == streams.FaultUnsupported && p != streams.ProtocolClassic:
			// A broker that does not know the call has no group of that type.
		case f != nil && unknown.Fault == nil:
			unknown.Fault = f
		}
	}
	return unknown
}

// describe asks by the call of one type: a group, or why it is not known, or
// neither when that type has no such group.
func (r *Reader) describe(ctx context.Context, id string, p streams.GroupProtocol) (*streams.Group, *streams.Fault) {
	switch p {
	case streams.ProtocolClassic:
		return r.describeClassic(ctx, id)
	case streams.ProtocolConsumer:
		return r.describeConsumer(ctx, id)
	case streams.ProtocolStreams:
		return r.describeStreams(ctx, id)
	case streams.ProtocolShare:
		return r.describeShare(ctx, id)
	case streams.ProtocolUnknown:
	}
	return nil, nil
}

// coordinator finds the broker that keeps a group.
func (r *Reader) coordinator(ctx context.Context, id string) (int32, error) {
	r.mu.Lock()
	node, ok := r.coordinators[id]
	r.mu.Unlock()
	if ok {
		return node, nil
	}
	node, err := findCoordinator(ctx, r.cl, id)
	if err != nil {
		return -1, err
	}
	r.mu.Lock()
	r.coordinators[id] = node
	r.mu.Unlock()
	return node, nil
}

func (r *Reader) forgetCoordinator(id string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	delete(r.coordinators, id)
}

func findCoordinator(ctx context.Context, cl *kgo.Client, group string) (int32, error) {
	req := kmsg.NewPtrFindCoordinatorRequest()
	req.CoordinatorKeys = []string{group}
	resp, err := req.RequestWith(ctx, cl)
	if err != nil {
		return -1, err
	}
	if err := kerr.ErrorForCode(resp.ErrorCode); err != nil {
		return -1, err
	}
	for _, c := range resp.Coordinators {
		if c.Key == group {
			return c.NodeID, kerr.ErrorForCode(c.ErrorCode)
		}
	}
	return -1, errUnexpected
}

// askCoordinator sends a request about one group to its coordinator and follows
// the coordinator when it moves. kgo does not route StreamsGroupDescribe
// (KIP-1071), and for OffsetFetch it asks for metadata as well each time. code
// is the answer's error code for the group; the answer is returned unless the
// code says that the coordinator is another one or not ready.
func askCoordinator[T kmsg.Response](ctx context.Context, r *Reader, id string, request func() kmsg.Request, code func(T) int16) (T, int32, error) {
	var none T
	until := time.Now().Add(retryTimeout)
	for try := 1; ; try++ {
		node, err := r.coordinator(ctx, id)
		if err == nil {
			var kresp kmsg.Response
			if kresp, err = r.cl.Broker(int(node)).Request(ctx, request()); err == nil {
				resp, ok := kresp.(T)
				if !ok {
					return none, node, errUnexpected
				}
				if err = kerr.ErrorForCode(code(resp)); !kerr.IsRetriable(err) {
					return resp, node, nil
				}
			}
		}
		if !worthAnotherTry(err) || !pause(ctx, try, until) {
			return none, node, err
		}
		r.forgetCoordinator(id)
		_, _ = r.metadata(ctx, nil) // brokers may have come and gone; the next try tells
	}
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
