package recovery

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"resurge/discovery"
	"resurge/plans"
	"resurge/streams"
)

// commitOffsets moves the group's committed offsets.
type commitOffsets struct{}

func (commitOffsets) check(ctx context.Context, w *work) (readiness, error) {
	if err := w.emptyGroup(ctx); err != nil {
		return ready, err
	}
	if err := reachable(ctx, w); err != nil {
		return ready, err
	}
	wrong, err := differing(ctx, w)
	if err != nil {
		return ready, err
	}
	if len(wrong) == 0 {
		return satisfied, nil
	}
	return ready, nil
}

// reachable refuses offsets that the log no longer holds: the application's
// reset policy would decide instead.
func reachable(ctx context.Context, w *work) error {
	var topics []string
	for _, c := range w.Step.Offsets {
		if !slices.Contains(topics, c.Topic) {
			topics = append(topics, c.Topic)
		}
	}
	marks, err := w.Reader.Watermarks(ctx, topics...)
	if err != nil {
		return fmt.Errorf("read ends: %w", err)
	}
	for _, c := range w.Step.Offsets {
		m, ok := marks[c.TopicPartition()]
		switch {
		case c.After == nil:
		case !ok:
			return refuse(OutcomeStale, "make a new plan", "partition %s is not there any more", streams.Quote(c.TopicPartition().String()))
		case m.Fault != nil:
			return fmt.Errorf("read ends of %s: %w", streams.Quote(c.TopicPartition().String()), m.Fault)
		case *c.After < m.Start || *c.After > m.End:
			return refuse(OutcomeStale, "make a new plan", "offset %d of %s is outside its log, which runs from %d to %d",
				*c.After, streams.Quote(c.TopicPartition().String()), m.Start, m.End)
		}
	}
	return nil
}

// differing lists the partitions whose committed offset is not the planned one.
func differing(ctx context.Context, w *work) ([]string, error) {
	commits, err := w.Reader.Commits(ctx, w.app(), true)
	if err != nil {
		return nil, fmt.Errorf("read committed offsets: %w", err)
	}
	var wrong []string
	for _, c := range w.Step.Offsets {
		tp := c.TopicPartition()
		if f := commits.Faults[tp]; f != nil {
			return nil, fmt.Errorf("read committed offset of %s: %w", streams.Quote(tp.String()), f)
		}
		got, ok := commits.Offsets[tp]
		if same := ok == (c.After != nil) && (!ok || got.Offset == *c.After && got.Metadata == c.Metadata); !same {
			wrong = append(wrong, tp.String())
		}
	}
	return wrong, nil
}

func (commitOffsets) apply(ctx context.Context, w *work) error {
	set := map[streams.TopicPartition]streams.Commit{}
	var drop []streams.TopicPartition
	for _, c := range w.Step.Offsets {
		if c.After == nil {
			drop = append(drop, c.TopicPartition())
			continue
		}
		set[c.TopicPartition()] = streams.Commit{Offset: *c.After, LeaderEpoch: -1, Metadata: c.Metadata}
	}
	if len(drop) > 0 {
		if err := w.Writer.DeleteCommits(ctx, w.app(), drop); err != nil {
			return fmt.Errorf("delete committed offsets: %w", err)
		}
	}
	if len(set) == 0 {
		return nil
	}
	if err := w.Writer.CommitOffsets(ctx, w.app(), set); err != nil {
		return fmt.Errorf("commit offsets: %w", err)
	}
	return nil
}

// verify reads back twice: a commit that timed out may land late
// (franz-go issue 689).
func (commitOffsets) verify(ctx context.Context, w *work) ([]Evidence, error) {
	for range 2 {
		wrong, err := differing(ctx, w)
		if err != nil {
			return nil, err
		}
		if len(wrong) > 0 {
			return nil, refuse(OutcomeUnverified, "something else commits for this group: find it, then resume",
				"%d committed offsets are not as planned, the first is %s", len(wrong), streams.Quote(wrong[0]))
		}
	}
	return []Evidence{{Check: "committed offsets", Result: ResultOK, Detail: fmt.Sprintf("%d of %d as planned, read back twice", len(w.Step.Offsets), len(w.Step.Offsets))}}, nil
}

// deleteTopic deletes one generation of one topic.
type deleteTopic struct{}

func (deleteTopic) check(ctx context.Context, w *work) (readiness, error) {
	if err := w.emptyGroup(ctx); err != nil {
		return ready, err
	}
	t := w.Step.Topics[0]
	now, err := oneTopic(ctx, w, t.Name)
	switch {
	case err != nil:
		return ready, err
	case now == nil:
		gone, err := goneEverywhere(ctx, w, t.Name)
		if err != nil || !gone {
			return ready, err
		}
		left, err := leftoverCommits(ctx, w, t.Name)
		if err == nil && len(left) == 0 {
			return satisfied, nil
		}
		return ready, err
	case !t.ID.IsZero() && now.ID != t.ID:
		return ready, refuse(OutcomeStale, "make a new plan, and find out what created the topic again", "topic %s is another one than the plan names: it has ID %s, not %s",
			streams.Quote(t.Name), now.ID, t.ID)
	case len(now.Partitions) != t.Partitions:
		return ready, refuse(OutcomeStale, "make a new plan", "topic %s has %d partitions, the plan says %d", streams.Quote(t.Name), len(now.Partitions), t.Partitions)
	}
	return ready, w.unread(ctx, t)
}

// oneTopic returns nil when the topic does not exist.
func oneTopic(ctx context.Context, w *work, name string) (*streams.Topic, error) {
	topics, err := w.Reader.Topics(ctx, name)
	if err != nil {
		return nil, fmt.Errorf("look for topic %s: %w", streams.Quote(name), err)
	}
	for _, t := range topics {
		switch {
		case t.Name != name:
		case t.Fault == nil:
			return &t, nil
		case t.Fault.Kind == streams.FaultNotFound:
			return nil, nil //nolint:nilnil // absent is an answer of its own here
		default:
			return nil, t.Fault
		}
	}
	return nil, refuse(OutcomeFailed, "", "the cluster did not answer for topic %s", streams.Quote(name))
}

func goneEverywhere(ctx context.Context, w *work, name string) (bool, error) {
	still, err := w.Reader.BrokersWithTopic(ctx, name)
	if err != nil {
		return false, fmt.Errorf("ask every broker for topic %s: %w", streams.Quote(name), err)
	}
	return len(still) == 0, nil
}

// leftoverCommits are offsets of the group on a topic. The coordinator forgets
// them by itself some time after a deletion; a recreated topic must not meet
// them.
func leftoverCommits(ctx context.Context, w *work, topic string) ([]streams.TopicPartition, error) {
	commits, err := w.Reader.Commits(ctx, w.app(), true)
	if err != nil {
		return nil, fmt.Errorf("read committed offsets: %w", err)
	}
	var left []streams.TopicPartition
	for tp := range commits.Offsets {
		if tp.Topic == topic {
			left = append(left, tp)
		}
	}
	return left, nil
}

func (deleteTopic) apply(ctx context.Context, w *work) error {
	t := w.Step.Topics[0]
	if err := w.Writer.DeleteTopic(ctx, t.Name, t.ID); err != nil {
		return fmt.Errorf("delete topic %s: %w", streams.Quote(t.Name), err)
	}
	err := w.poll(ctx, func() (bool, error) {
		still, err := w.Reader.BrokersWithTopic(ctx, t.Name)
		if err == nil && len(still) > 0 {
			w.progress(Event{Message: fmt.Sprintf("brokers %v still know %s", still, t.Name)})
		}
		return err == nil && len(still) == 0, err
	}, func() error {
		return refuse(OutcomePartial, "a topic operator or auto.create.topics.enable may bring it back; see which client still asks for it, then resume",
			"topic %s is still known to a broker after the deadline", streams.Quote(t.Name))
	})
	if err != nil {
		return err
	}
	left, err := leftoverCommits(ctx, w, t.Name)
	if err != nil || len(left) == 0 {
		return err
	}
	if err := w.Writer.DeleteCommits(ctx, w.app(), left); err != nil {
		return fmt.Errorf("delete the offsets of deleted topic %s: %w", streams.Quote(t.Name), err)
	}
	return nil
}

func (deleteTopic) verify(ctx context.Context, w *work) ([]Evidence, error) {
	name := w.Step.Topics[0].Name
	gone, err := goneEverywhere(ctx, w, name)
	if err != nil {
		return nil, err
	}
	if !gone {
		return nil, refuse(OutcomeUnverified, "something creates it again: a topic operator, or auto.create.topics.enable with a live client", "topic %s exists again", streams.Quote(name))
	}
	left, err := leftoverCommits(ctx, w, name)
	if err != nil {
		return nil, err
	}
	if len(left) > 0 {
		return nil, refuse(OutcomeUnverified, "resume", "the group still has an offset on deleted %s", streams.Quote(left[0].String()))
	}
	return []Evidence{{Check: "topic deleted", Result: ResultOK, Detail: name + " is unknown to every broker and the group has no offset on it"}}, nil
}

// unread refuses to delete a topic that another group reads by now.
func (w *work) unread(ctx context.Context, t plans.Topic) error {
	others, err := discovery.Discoverer{Reader: w.Reader, Now: w.Now}.OtherReaders(ctx, w.app())
	if err != nil {
		return err
	}
	if len(others.Gaps) > 0 {
		f := others.Gaps[0]
		return &Error{Outcome: OutcomeBlocked, Message: "nothing was deleted: whether another group reads topic " + streams.Quote(t.Name) + " cannot be told", Err: f, Hint: "resume when it can: " + f.Hint}
	}
	// Where not every group may be seen, the operator's word has to be in the plan.
	if f := others.Filtered; f != nil && !slices.Contains(w.plan().Hints.Internal, t.Name) {
		return &Error{Outcome: OutcomeUnauthorised, Message: "nothing was deleted: whether another group reads topic " + streams.Quote(t.Name) + " cannot be told", Err: f, Hint: f.Hint}
	}
	if r := others.Readers[t.Name]; len(r) > 0 {
		return refuse(OutcomeStale, "nothing was deleted; make a new plan", "topic %s is read by group %s by now", streams.Quote(t.Name), streams.Quote(r[0]))
	}
	if g, ok := others.Claims[t.Name]; ok {
		return refuse(OutcomeStale, "nothing was deleted; make a new plan", "the topology of group %s names topic %s", streams.Quote(g), streams.Quote(t.Name))
	}
	return nil
}

// createTopic creates one topic with exactly the planned shape.
type createTopic struct{}

func (createTopic) check(ctx context.Context, w *work) (readiness, error) {
	if err := w.emptyGroup(ctx); err != nil {
		return ready, err
	}
	t := w.Step.Topics[0]
	now, err := oneTopic(ctx, w, t.Name)
	switch {
	case err != nil:
		return ready, err
	case now == nil:
		return ready, nil
	case len(now.Partitions) != t.Partitions:
		return ready, refuse(OutcomeBlocked, "make a new plan", "topic %s exists with %d partitions, the plan wants %d", streams.Quote(t.Name), len(now.Partitions), t.Partitions)
	}
	return satisfied, nil
}

func (createTopic) apply(ctx context.Context, w *work) error {
	t := w.Step.Topics[0]
	if _, err := w.Writer.CreateTopic(ctx, t); err != nil {
		return fmt.Errorf("create topic %s: %w", streams.Quote(t.Name), err)
	}
	return nil
}

func (createTopic) verify(ctx context.Context, w *work) ([]Evidence, error) {
	t := w.Step.Topics[0]
	now, err := oneTopic(ctx, w, t.Name)
	if err != nil {
		return nil, err
	}
	if now == nil || len(now.Partitions) != t.Partitions {
		return nil, refuse(OutcomeUnverified, "resume", "topic %s is not there with %d partitions", streams.Quote(t.Name), t.Partitions)
	}
	configs, err := w.Reader.TopicConfigs(ctx, t.Name)
	if err != nil {
		return nil, fmt.Errorf("read configs of %s: %w", streams.Quote(t.Name), err)
	}
	var wrong []error
	for k, want := range t.Configs {
		if got := configs[t.Name].Values[k].Value; got != want {
			wrong = append(wrong, fmt.Errorf("config %s is %q, planned %q", k, got, want))
		}
	}
	if err := errors.Join(wrong...); err != nil {
		return nil, &Error{Outcome: OutcomeUnverified, Message: "topic " + streams.Quote(t.Name), Err: err}
	}
	return []Evidence{{Check: "topic created", Result: ResultOK, Detail: fmt.Sprintf("%s with %d partitions and its configs", t.Name, t.Partitions)}}, nil
}
