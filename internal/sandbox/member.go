package sandbox

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"

	"resurge/streams"
)

const (
	// protocolType and protocolName are how a broker tells a classic Streams
	// group from others.
	protocolType = "consumer"
	protocolName = "stream"
)

// errRebalance says that the group rebalances and the member has to join again;
// errMembershipLost that the group goes on without it.
var (
	errRebalance      = errors.New("group rebalances")
	errMembershipLost = errors.New("membership lost")
)

// member speaks the classic group protocol. It sends the requests itself: kgo's
// group consumer leaves the group when it closes, which a Streams application
// does not, and it joins only once all its topics exist, while in a Streams group
// it is the leader's assignment that creates the internal ones.
//
// It is owned by the stream thread; heartbeat alone runs beside it, between a
// join and the next.
type member struct {
	cl         *kgo.Client
	group      string
	session    time.Duration
	rebalance  time.Duration
	id         string
	generation int32
	// expect is the number of instances that start together; see gather.
	expect int
}

// assignFn is what the group's leader does: from the members' subscriptions to
// their assignments.
type assignFn func(context.Context, []kmsg.JoinGroupResponseMember) ([]kmsg.SyncGroupRequestGroupAssignment, error)

// join enters the group or its next generation and returns the assignment.
func (m *member) join(ctx context.Context, metadata []byte, assign assignFn) ([]byte, error) {
	for {
		joined, err := m.sendJoin(ctx, metadata)
		if err == nil {
			var assignment []byte
			if assignment, err = m.sync(ctx, joined, assign); err == nil {
				m.expect = 0
				return assignment, nil
			}
		}
		switch {
		case ctx.Err() != nil:
			return nil, context.Cause(ctx)
		case errors.Is(err, kerr.MemberIDRequired):
			m.id = joined.MemberID // KIP-394
		case errors.Is(err, kerr.UnknownMemberID):
			m.id = ""
		case errors.Is(err, kerr.RebalanceInProgress), errors.Is(err, kerr.IllegalGeneration):
		default:
			return nil, fmt.Errorf("join group %s: %w", m.group, err)
		}
	}
}

func (m *member) sendJoin(ctx context.Context, metadata []byte) (*kmsg.JoinGroupResponse, error) {
	req := kmsg.NewPtrJoinGroupRequest()
	req.Group, req.MemberID = m.group, m.id
	req.SessionTimeoutMillis = int32(m.session.Milliseconds())
	req.RebalanceTimeoutMillis = int32(m.rebalance.Milliseconds())
	req.ProtocolType = protocolType
	p := kmsg.NewJoinGroupRequestProtocol()
	p.Name, p.Metadata = protocolName, metadata
	req.Protocols = append(req.Protocols, p)
	resp, err := req.RequestWith(ctx, m.cl)
	if err != nil {
		return nil, err
	}
	if err := kerr.ErrorForCode(resp.ErrorCode); err != nil {
		return resp, err
	}
	m.id, m.generation = resp.MemberID, resp.Generation
	return resp, nil
}

func (m *member) sync(ctx context.Context, joined *kmsg.JoinGroupResponse, assign assignFn) ([]byte, error) {
	req := kmsg.NewPtrSyncGroupRequest()
	req.Group, req.MemberID, req.Generation = m.group, m.id, m.generation
	req.ProtocolType, req.Protocol = new(protocolType), new(protocolName)
	var assignErr error
	if joined.LeaderID == m.id {
		if err := m.gather(ctx, len(joined.Members)); err != nil {
			return nil, err
		}
		// A leader that cannot assign still tells the others so.
		req.GroupAssignment, assignErr = assign(ctx, joined.Members)
	}
	resp, err := req.RequestWith(ctx, m.cl)
	if assignErr != nil {
		return nil, assignErr
	}
	if err != nil {
		return nil, err
	}
	return resp.MemberAssignment, kerr.ErrorForCode(resp.ErrorCode)
}

// gather stands in for group.initial.rebalance.delay.ms, which kfake has not: the
// leader of a group that begins waits for the other instances of the same start.
// Without it the first one would take all tasks, and tasks would be opened on
// hosts that have no state of them.
func (m *member) gather(ctx context.Context, members int) error {
	if members >= m.expect {
		return nil
	}
	deadline := time.NewTimer(gatherTime)
	defer deadline.Stop()
	tick := time.NewTicker(gatherTime / 50)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-deadline.C:
			return nil
		case <-tick.C:
		}
		if err := m.beat(ctx); err != nil {
			return err
		}
	}
}

const gatherTime = 250 * time.Millisecond

// heartbeat keeps the membership until the context ends or the group says
// otherwise, which it returns.
func (m *member) heartbeat(ctx context.Context) error {
	tick := time.NewTicker(max(m.session/6, 10*time.Millisecond))
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-tick.C:
		}
		if err := m.beat(ctx); err != nil {
			return membership(err)
		}
	}
}

func (m *member) beat(ctx context.Context) error {
	req := kmsg.NewPtrHeartbeatRequest()
	req.Group, req.MemberID, req.Generation = m.group, m.id, m.generation
	resp, err := req.RequestWith(ctx, m.cl)
	if err == nil {
		return kerr.ErrorForCode(resp.ErrorCode)
	}
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	return fmt.Errorf("heartbeat in group %s: %w", m.group, err)
}

// commit commits offsets as a member, with their metadata.
func (m *member) commit(ctx context.Context, offsets map[streams.TopicPartition]kadm.Offset) error {
	req := kmsg.NewPtrOffsetCommitRequest()
	req.Group, req.MemberID, req.Generation = m.group, m.id, m.generation
	topics := map[string][]kmsg.OffsetCommitRequestTopicPartition{}
	for tp, o := range offsets {
		p := kmsg.NewOffsetCommitRequestTopicPartition()
		p.Partition, p.Offset, p.LeaderEpoch, p.Metadata = tp.Partition, o.At, -1, &o.Metadata
		topics[tp.Topic] = append(topics[tp.Topic], p)
	}
	for topic, partitions := range topics {
		t := kmsg.NewOffsetCommitRequestTopic()
		t.Topic, t.Partitions = topic, partitions
		req.Topics = append(req.Topics, t)
	}
	resp, err := req.RequestWith(ctx, m.cl)
	if err != nil {
		return fmt.Errorf("commit offsets of %s: %w", m.group, err)
	}
	for _, t := range resp.Topics {
		for _, p := range t.Partitions {
			if err := membership(kerr.ErrorForCode(p.ErrorCode)); err != nil {
				return fmt.Errorf("commit offset of %s-%d for %s: %w", t.Topic, p.Partition, m.group, err)
			}
		}
	}
	return nil
}

// membership folds the broker's errors about a member into the two that a stream
// thread acts on.
func membership(err error) error {
	switch {
	case errors.Is(err, kerr.RebalanceInProgress):
		return errRebalance
	case errors.Is(err, kerr.UnknownMemberID), errors.Is(err, kerr.IllegalGeneration), errors.Is(err, kerr.FencedInstanceID):
		return errMembershipLost
	}
	return err
}
