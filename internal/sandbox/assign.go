package sandbox

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"net"
	"slices"
	"strconv"

	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kmsg"

	"resurge/streams"
)

// Error codes of a Streams assignment.
const (
	assignOK            = 0
	assignMissingSource = 1
	assignFailed        = 3
)

var errMissingSource = errors.New("source topics are missing")

// assignor is what StreamsPartitionAssignor is in Java: it runs in the group's
// leader, creates the internal topics and shares the tasks out.
type assignor struct {
	top topology
	adm *kadm.Client
}

// client is a member as the leader sees it.
type client struct {
	memberID string
	info     streams.SubscriptionInfo
	tasks    []streams.TaskID
}

// assign implements assignFn.
func (a assignor) assign(ctx context.Context, members []kmsg.JoinGroupResponseMember) ([]kmsg.SyncGroupRequestGroupAssignment, error) {
	clients := make([]*client, 0, len(members))
	for _, m := range members {
		c, err := decodeClient(m)
		if err != nil {
			return nil, err
		}
		clients = append(clients, c)
	}
	tasks, topicErr := a.prepareTopics(ctx)
	code := int32(assignOK)
	switch {
	case errors.Is(topicErr, errMissingSource):
		code = assignMissingSource
	case topicErr != nil:
		code = assignFailed
	}
	share(clients, tasks)
	hosts := a.hosts(clients)
	out := make([]kmsg.SyncGroupRequestGroupAssignment, 0, len(clients))
	for _, c := range clients {
		b, err := a.encode(c, hosts, code)
		if err != nil {
			return nil, err
		}
		g := kmsg.NewSyncGroupRequestGroupAssignment()
		g.MemberID, g.MemberAssignment = c.memberID, b
		out = append(out, g)
	}
	return out, topicErr
}

func decodeClient(m kmsg.JoinGroupResponseMember) (*client, error) {
	var meta kmsg.ConsumerMemberMetadata
	meta.Default()
	if err := meta.ReadFrom(m.ProtocolMetadata); err != nil {
		return nil, fmt.Errorf("decode subscription of member %s: %w", m.MemberID, err)
	}
	info, err := streams.DecodeSubscriptionInfo(meta.UserData)
	if err != nil {
		return nil, fmt.Errorf("decode subscription of member %s: %w", m.MemberID, err)
	}
	return &client{memberID: m.MemberID, info: info}, nil
}

// prepareTopics checks the sources, creates the internal topics that are missing
// and returns the tasks. Like Streams' InternalTopicManager it looks at no more
// than the partition count of those that exist.
func (a assignor) prepareTopics(ctx context.Context) ([]streams.TaskID, error) {
	topics, err := a.adm.ListTopics(ctx)
	if err != nil {
		return nil, fmt.Errorf("list topics: %w", err)
	}
	var inputs int32
	for _, name := range a.top.sources()[0] {
		if !topics.Has(name) {
			return nil, fmt.Errorf("topic %s: %w", name, errMissingSource)
		}
		inputs = max(inputs, int32(len(topics[name].Partitions)))
	}
	for _, it := range a.top.internalTopics(inputs) {
		if !topics.Has(it.name) {
			if err := a.create(ctx, it); err != nil {
				return nil, err
			}
			continue
		}
		if got := len(topics[it.name].Partitions); got != int(it.partitions) {
			return nil, fmt.Errorf("existing internal topic %s has invalid partitions: expected: %d; actual: %d. "+
				"Use 'org.apache.kafka.tools.StreamsResetter' tool to clean up invalid topics before processing", it.name, it.partitions, got)
		}
	}
	var tasks []streams.TaskID
	for sub := range a.top.sources() {
		for p := range inputs {
			tasks = append(tasks, streams.TaskID{Subtopology: int32(sub), Partition: p})
		}
	}
	return tasks, nil
}

func (a assignor) create(ctx context.Context, it internalTopic) error {
	configs := make(map[string]*string, len(it.configs))
	for k, v := range it.configs {
		configs[k] = &v
	}
	_, err := a.adm.CreateTopic(ctx, it.partitions, -1, configs, it.name)
	if err != nil && !errors.Is(err, kerr.TopicAlreadyExists) {
		return fmt.Errorf("create internal topic %s: %w", it.name, err)
	}
	return nil
}

// share spreads the tasks evenly over the clients, and leaves a task where its
// state is if that can be.
func share(clients []*client, tasks []streams.TaskID) {
	if len(clients) == 0 {
		return
	}
	quota, extra := len(tasks)/len(clients), len(tasks)%len(clients)
	give := func(c *client, t streams.TaskID) bool {
		if len(c.tasks) > quota || len(c.tasks) == quota && extra == 0 {
			return false
		}
		if len(c.tasks) == quota {
			extra--
		}
		c.tasks = append(c.tasks, t)
		return true
	}
	var homeless []streams.TaskID
	for _, t := range tasks {
		byState := slices.Clone(clients)
		slices.SortStableFunc(byState, func(a, b *client) int { return cmp.Compare(b.claim(t), a.claim(t)) })
		if best := byState[0]; best.claim(t) < 0 || !give(best, t) {
			homeless = append(homeless, t)
		}
	}
	for _, t := range homeless {
		least := slices.MinFunc(clients, func(a, b *client) int { return cmp.Compare(len(a.tasks), len(b.tasks)) })
		give(least, t)
	}
}

// claim says how much of a task's state a client has: -1 for nothing.
func (c *client) claim(t streams.TaskID) int64 {
	sum, ok := c.info.OffsetSums[t]
	switch {
	case !ok:
		return -1
	case sum == streams.OffsetSumRunning:
		return math.MaxInt64
	default:
		return max(sum, 0)
	}
}

// partitions are the source partitions of the client's tasks, in the order of
// topic and partition, and the task of each.
func (a assignor) partitions(c *client) ([]streams.TopicPartition, []streams.TaskID) {
	owner := map[streams.TopicPartition]streams.TaskID{}
	var tps []streams.TopicPartition
	for _, t := range c.tasks {
		for _, topic := range a.top.sources()[t.Subtopology] {
			tp := streams.TopicPartition{Topic: topic, Partition: t.Partition}
			owner[tp] = t
			tps = append(tps, tp)
		}
	}
	slices.SortFunc(tps, streams.TopicPartition.Compare)
	active := make([]streams.TaskID, 0, len(tps))
	for _, tp := range tps {
		active = append(active, owner[tp])
	}
	return tps, active
}

// hosts says which endpoint serves which partitions: the sources of its tasks and
// their changelogs.
func (a assignor) hosts(clients []*client) map[streams.HostInfo][]streams.TopicPartition {
	out := map[streams.HostInfo][]streams.TopicPartition{}
	for _, c := range clients {
		host, port, err := net.SplitHostPort(c.info.UserEndpoint)
		n, errPort := strconv.ParseInt(port, 10, 32)
		if err != nil || errPort != nil {
			continue // application.server is not set
		}
		tps, _ := a.partitions(c)
		for _, t := range c.tasks {
			for _, s := range a.top.stores(t.Subtopology) {
				if !s.source {
					tps = append(tps, streams.TopicPartition{Topic: s.topic, Partition: t.Partition})
				}
			}
		}
		out[streams.HostInfo{Host: host, Port: int32(n)}] = tps
	}
	return out
}

// encode writes a client's assignment in the consumer protocol.
func (a assignor) encode(c *client, hosts map[streams.HostInfo][]streams.TopicPartition, code int32) ([]byte, error) {
	tps, active := a.partitions(c)
	data, err := streams.AssignmentInfo{
		Version: streams.NewestUserdata, CommonlySupported: streams.NewestUserdata,
		Active: active, Hosts: hosts, ErrorCode: code, NextRebalanceMillis: math.MaxInt64,
	}.Encode()
	if err != nil {
		return nil, fmt.Errorf("encode assignment of member %s: %w", c.memberID, err)
	}
	m := kmsg.NewConsumerMemberAssignment()
	m.Version, m.UserData = 1, data
	for _, tp := range tps {
		last := len(m.Topics) - 1
		if last < 0 || m.Topics[last].Topic != tp.Topic {
			t := kmsg.NewConsumerMemberAssignmentTopic()
			t.Topic = tp.Topic
			m.Topics = append(m.Topics, t)
			last++
		}
		m.Topics[last].Partitions = append(m.Topics[last].Partitions, tp.Partition)
	}
	return m.AppendTo(nil), nil
}

// decodeAssignment returns each assigned task with its source partitions.
func decodeAssignment(b []byte) (map[streams.TaskID][]streams.TopicPartition, error) {
	var m kmsg.ConsumerMemberAssignment
	if err := m.ReadFrom(b); err != nil {
		return nil, fmt.Errorf("decode assignment: %w", err)
	}
	info, err := streams.DecodeAssignmentInfo(m.UserData)
	if err != nil {
		return nil, fmt.Errorf("decode assignment: %w", err)
	}
	if info.ErrorCode != assignOK {
		return nil, fmt.Errorf("assignment carries error code %d: the leader asks to shut down", info.ErrorCode)
	}
	var tps []streams.TopicPartition
	for _, t := range m.Topics {
		for _, p := range t.Partitions {
			tps = append(tps, streams.TopicPartition{Topic: t.Topic, Partition: p})
		}
	}
	return streams.TaskPartitions(tps, info.Active)
}
