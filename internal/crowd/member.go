package crowd

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"time"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"
	"golang.org/x/sync/errgroup"

	"resurge/streams"
)

// rejoinEvery is how long a group's leader waits for the other members before it
// joins again.
const rejoinEvery = time.Millisecond

// member speaks the classic group protocol as far as one that never fails needs
// it. It sends no heartbeats and never leaves.
type member struct {
	cl         *kgo.Client
	group, id  string
	generation int32
	leader     bool
	protocol   string
	said       []byte // the metadata that it joins with
	told       []byte // its assignment
}

// join makes the members of a group: all are in its newest generation.
func (f *filler) join(ctx context.Context, g group) ([]*member, error) {
	members := make([]*member, g.members)
	for i := range members {
		members[i] = &member{cl: f.clients[i], group: g.id}
		if err := members[i].speak(g, i); err != nil {
			return nil, err
		}
	}
	if len(members) > 1 {
		f.joining <- struct{}{} // a mutex would stop the clock of synctest
		defer func() { <-f.joining }()
	}
	if err := together(ctx, members, func(ctx context.Context, m *member) error { return m.join(ctx, g) }); err != nil {
		return nil, fmt.Errorf("join: %w", err)
	}
	if err := together(ctx, members, func(ctx context.Context, m *member) error { return m.sync(ctx, g, members) }); err != nil {
		return nil, fmt.Errorf("sync: %w", err)
	}
	return members, nil
}

func together(ctx context.Context, members []*member, do func(context.Context, *member) error) error {
	work, wctx := errgroup.WithContext(ctx)
	for _, m := range members {
		work.Go(func() error { return do(wctx, m) })
	}
	return work.Wait()
}

// join enters the group. The one that the group made its leader, which was there
// before the others, joins again until they are there.
func (m *member) join(ctx context.Context, g group) error {
	tick := time.NewTicker(rejoinEvery)
	defer tick.Stop()
	for {
		req := kmsg.NewPtrJoinGroupRequest()
		req.Group, req.MemberID, req.ProtocolType = m.group, m.id, g.protocolType
		req.SessionTimeoutMillis, req.RebalanceTimeoutMillis = int32(session.Milliseconds()), int32(time.Minute.Milliseconds())
		p := kmsg.NewJoinGroupRequestProtocol()
		p.Name, p.Metadata = m.protocol, m.said
		req.Protocols = append(req.Protocols, p)
		resp, err := req.RequestWith(ctx, m.cl)
		if err == nil {
			err = kerr.ErrorForCode(resp.ErrorCode)
		}
		switch {
		case errors.Is(err, kerr.MemberIDRequired): // KIP-394
			m.id = resp.MemberID
			continue
		case err != nil:
			return err
		}
		m.id, m.generation, m.leader = resp.MemberID, resp.Generation, resp.LeaderID == resp.MemberID
		if !m.leader || len(resp.Members) == g.members {
			return nil
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

func (m *member) sync(ctx context.Context, g group, members []*member) error {
	req := kmsg.NewPtrSyncGroupRequest()
	req.Group, req.MemberID, req.Generation = m.group, m.id, m.generation
	req.ProtocolType, req.Protocol = &g.protocolType, &m.protocol
	if m.leader {
		for _, other := range members {
			a := kmsg.NewSyncGroupRequestGroupAssignment()
			a.MemberID, a.MemberAssignment = other.id, other.told
			req.GroupAssignment = append(req.GroupAssignment, a)
		}
	}
	resp, err := req.RequestWith(ctx, m.cl)
	if err != nil {
		return err
	}
	return kerr.ErrorForCode(resp.ErrorCode)
}

// commit commits for the whole group.
func (m *member) commit(ctx context.Context, g group) error {
	req := kmsg.NewPtrOffsetCommitRequest()
	req.Group, req.MemberID, req.Generation = m.group, m.id, m.generation
	metadata := g.metadata()
	for _, t := range g.commits() {
		rt := kmsg.NewOffsetCommitRequestTopic()
		rt.Topic = t.name
		for n := range t.partitions {
			p := kmsg.NewOffsetCommitRequestTopicPartition()
			p.Partition, p.Offset, p.LeaderEpoch, p.Metadata = n, g.offset(), -1, &metadata
			rt.Partitions = append(rt.Partitions, p)
		}
		req.Topics = append(req.Topics, rt)
	}
	if len(req.Topics) == 0 {
		return nil
	}
	resp, err := req.RequestWith(ctx, m.cl)
	if err != nil {
		return fmt.Errorf("commit: %w", err)
	}
	for _, t := range resp.Topics {
		for _, p := range t.Partitions {
			if err := kerr.ErrorForCode(p.ErrorCode); err != nil {
				return fmt.Errorf("commit on %s-%d: %w", t.Topic, p.Partition, err)
			}
		}
	}
	return nil
}

// speak sets what the member says when it joins and what it is told then.
func (m *member) speak(g group, instance int) error {
	if g.protocolType != "consumer" {
		m.protocol, m.said, m.told = "compatible", []byte("worker"), []byte("connectors")
		return nil
	}
	var names []string
	for _, t := range g.commits() {
		names = append(names, t.name)
	}
	slices.Sort(names)
	said, told := kmsg.NewConsumerMemberMetadata(), kmsg.NewConsumerMemberAssignment()
	said.Version, said.Topics, told.Version = 1, names, 1
	tps, active := g.share(instance)
	for _, tp := range tps {
		last := len(told.Topics) - 1
		if last < 0 || told.Topics[last].Topic != tp.Topic {
			t := kmsg.NewConsumerMemberAssignmentTopic()
			t.Topic = tp.Topic
			told.Topics = append(told.Topics, t)
			last++
		}
		told.Topics[last].Partitions = append(told.Topics[last].Partitions, tp.Partition)
	}
	m.protocol = "range"
	if g.streams {
		m.protocol = "stream"
		var err error
		if said.UserData, told.UserData, err = userdata(g, instance, active); err != nil {
			return err
		}
	}
	m.said, m.told = said.AppendTo(nil), told.AppendTo(nil)
	return nil
}

// share is what an instance reads, in order, and the task of each.
func (g group) share(instance int) (tps []streams.TopicPartition, active []streams.TaskID) {
	owner := map[streams.TopicPartition]streams.TaskID{}
	for i, t := range g.commits() {
		// The inputs are of one subtopology, each repartition topic of another.
		sub := int32(max(0, i-len(g.reads)+1))
		for p := range t.partitions {
			if int(p)%g.members == instance {
				tp := streams.TopicPartition{Topic: t.name, Partition: p}
				owner[tp] = streams.TaskID{Subtopology: sub, Partition: p}
				tps = append(tps, tp)
			}
		}
	}
	slices.SortFunc(tps, streams.TopicPartition.Compare)
	for _, tp := range tps {
		active = append(active, owner[tp])
	}
	return tps, active
}

// userdata is what a Streams instance says and is told.
func userdata(g group, instance int, active []streams.TaskID) (said, told []byte, err error) {
	sums := map[streams.TaskID]int64{}
	for _, t := range active {
		sums[t] = streams.OffsetSumRunning
	}
	said, err = streams.SubscriptionInfo{
		Version: streams.NewestUserdata, LatestSupported: streams.NewestUserdata,
		ProcessID: process(g.id, instance), UserEndpoint: fmt.Sprintf("%s-%d:8080", g.id, instance), OffsetSums: sums,
	}.Encode()
	if err != nil {
		return nil, nil, fmt.Errorf("encode subscription: %w", err)
	}
	told, err = streams.AssignmentInfo{
		Version: streams.NewestUserdata, CommonlySupported: streams.NewestUserdata, Active: active, NextRebalanceMillis: math.MaxInt64,
	}.Encode()
	if err != nil {
		return nil, nil, fmt.Errorf("encode assignment: %w", err)
	}
	return said, told, nil
}
