package recovery

import (
	"context"
	"fmt"
	"slices"
	"time"

	"resurge/plans"
	"resurge/streams"
)

// tailProbe is how long a partition stands still before its tail is read, to
// tell a transaction marker from a record.
const tailProbe = 5 * time.Second

// awaitCaughtUp watches the started application until its inputs passed the
// target vector and its repartition topics are drained.
type awaitCaughtUp struct{}

func (awaitCaughtUp) check(context.Context, *work) (readiness, error) { return ready, nil }

// catchUp is the state of one watch.
type catchUp struct {
	w       *work
	o       *watcher
	planned map[streams.TopicPartition]int64 // committed by the plan
	// drain is the vector of the repartition topics; rounds counts how often a
	// new one was passed: a chain of them drains one after the other.
	drain    []TargetOffset
	internal []string // the repartition topics
	rounds   int
	still    map[streams.TopicPartition]standing
}

type standing struct {
	offset int64
	since  time.Time
}

func (awaitCaughtUp) apply(ctx context.Context, w *work) error {
	c := &catchUp{w: w, o: newWatcher(w), planned: map[streams.TopicPartition]int64{}, still: map[streams.TopicPartition]standing{}}
	for _, s := range w.plan().Steps {
		if s.Kind == plans.CommitOffsets {
			for _, o := range s.Offsets {
				if o.After != nil && !deletes(w.plan(), o.Topic) {
					c.planned[o.TopicPartition()] = *o.After
				}
			}
		}
	}
	if len(w.x.run.Target) == 0 {
		target, err := c.target(ctx)
		if err != nil {
			return err
		}
		if err := w.emit(Event{Type: TargetSet, Target: target, Message: fmt.Sprintf("target vector of %d partitions", len(target))}); err != nil {
			return err
		}
	}
	return w.poll(ctx, func() (bool, error) { return c.look(ctx) }, func() error {
		return refuse(OutcomeUnverified, "look at the application's own log; resurge resume goes on watching",
			"the application did not catch up within %s", time.Duration(w.Step.Deadline)*time.Second)
	})
}

// target is the vector that means caught up: the last stable offsets of the
// inputs as they are now.
func (c *catchUp) target(ctx context.Context) ([]TargetOffset, error) {
	seen := map[string]bool{}
	var names []string
	for tp := range c.planned {
		if !seen[tp.Topic] {
			seen[tp.Topic] = true
			names = append(names, tp.Topic)
		}
	}
	marks, err := c.w.Reader.Watermarks(ctx, names...)
	if err != nil {
		return nil, fmt.Errorf("read ends of the inputs: %w", err)
	}
	var out []TargetOffset
	for tp := range c.planned {
		m, ok := marks[tp]
		if !ok || m.Fault != nil {
			return nil, fmt.Errorf("read the end of %s: %w", streams.Quote(tp.String()), faultErr(m.Fault))
		}
		out = append(out, TargetOffset{Topic: tp.Topic, Partition: tp.Partition, Offset: m.Stable})
	}
	sortTargets(out)
	return out, nil
}

// look is one round: group, instances, commits, then the phases that follow.
func (c *catchUp) look(ctx context.Context) (bool, error) {
	g, err := c.w.Reader.Group(ctx, c.w.app())
	if err != nil {
		return false, fmt.Errorf("describe group %s: %w", streams.Quote(c.w.app()), err)
	}
	if g.Fault != nil {
		return false, fmt.Errorf("the state of the group is not known: %w", g.Fault)
	}
	if err := c.o.look(ctx, g); err != nil {
		return false, err
	}
	for _, e := range c.w.x.run.Seen {
		if e.Result == ResultFailed {
			_, err := stateClear(c.w)
			return false, err
		}
	}
	if err := c.membership(g); err != nil || c.w.hurry {
		return false, err
	}
	commits, err := c.w.Reader.Commits(ctx, c.w.app(), false)
	if err != nil {
		return false, fmt.Errorf("read committed offsets: %w", err)
	}
	if err := c.firstCommits(commits); err != nil {
		return false, err
	}
	passed, err := c.passed(ctx, c.w.x.run.Target, commits, c.planned, "inputs")
	if err != nil || !passed {
		return false, err
	}
	if _, joined := c.w.x.run.Phases[PhaseFirstMember]; !joined {
		return false, nil // nothing to replay, but the application has to be there
	}
	if err := c.w.phase(PhaseCaughtUp); err != nil {
		return false, err
	}
	return c.drained(ctx, commits)
}

func (c *catchUp) membership(g streams.Group) error {
	if len(g.Members) == 0 {
		return nil
	}
	if err := c.w.phase(PhaseFirstMember); err != nil {
		return err
	}
	if g.State == "Stable" {
		return c.w.phase(PhaseStable)
	}
	return nil
}

// firstCommits marks T5: a task commits no progress before its restore is done,
// so the first commit of each of its inputs says that it runs.
func (c *catchUp) firstCommits(commits streams.Commits) error {
	for _, t := range c.w.x.run.Target {
		tp := t.TopicPartition()
		start := c.planned[tp]
		if got := commits.Offsets[tp]; t.Offset > start && got.Offset <= start {
			return nil
		}
	}
	if _, joined := c.w.x.run.Phases[PhaseFirstMember]; !joined {
		return nil
	}
	return c.w.phase(PhaseFirstCommit)
}

// passed reports whether every partition reached its target, and shows how far
// each is.
func (c *catchUp) passed(ctx context.Context, target []TargetOffset, commits streams.Commits, from map[streams.TopicPartition]int64, what string) (bool, error) {
	e := Event{Unit: "offsets", Message: what}
	all := true
	for _, t := range target {
		tp := t.TopicPartition()
		start := from[tp]
		at := start
		if got, ok := commits.Offsets[tp]; ok {
			at = max(start, got.Offset)
		}
		if at < t.Offset {
			done, err := c.tailIsEmpty(ctx, tp, at, t.Offset)
			if err != nil {
				return false, err
			}
			if done {
				at = t.Offset
			} else {
				all = false
			}
		}
		p := Part{Name: tp.String(), Done: min(at, t.Offset) - start, Total: t.Offset - start}
		e.Done, e.Total = e.Done+max(0, p.Done), e.Total+max(0, p.Total)
		if p.Total > 0 {
			e.Parts = append(e.Parts, p)
		}
	}
	c.w.progress(e)
	return all, nil
}

// tailIsEmpty tells whether only markers are left between a commit that stands
// still and its target: then no record will ever move it (KAFKA-6607).
func (c *catchUp) tailIsEmpty(ctx context.Context, tp streams.TopicPartition, at, target int64) (bool, error) {
	s, known := c.still[tp]
	if !known || s.offset != at {
		c.still[tp] = standing{offset: at, since: c.w.Now()}
		return false, nil
	}
	const few = 50
	if c.w.Now().Sub(s.since) < tailProbe || target-at > few {
		return false, nil
	}
	records, err := c.w.Reader.Latest(ctx, tp.Topic, few)
	if err != nil {
		return false, fmt.Errorf("read the tail of %s: %w", streams.Quote(tp.String()), err)
	}
	for _, r := range records {
		if r.Partition == tp.Partition && r.Offset >= at {
			return false, nil
		}
	}
	return true, nil
}

// drained takes the ends of the repartition topics after the inputs were read
// and waits until they are passed, as often as topics can follow one another.
func (c *catchUp) drained(ctx context.Context, commits streams.Commits) (bool, error) {
	if c.drain == nil {
		var err error
		if c.internal, err = ownTopics(ctx, c.w, streams.RoleRepartition); err != nil {
			return false, err
		}
	}
	names := c.internal
	if len(names) == 0 {
		return true, c.w.phase(PhaseDrained)
	}
	if c.drain == nil {
		marks, err := c.w.Reader.Watermarks(ctx, names...)
		if err != nil {
			return false, fmt.Errorf("read ends of the repartition topics: %w", err)
		}
		c.drain = []TargetOffset{}
		for tp, m := range marks {
			if m.Fault != nil {
				return false, fmt.Errorf("read the end of %s: %w", streams.Quote(tp.String()), m.Fault)
			}
			if m.Stable > m.Start || m.Stable > 0 {
				c.drain = append(c.drain, TargetOffset{Topic: tp.Topic, Partition: tp.Partition, Offset: m.Stable})
			}
		}
		sortTargets(c.drain)
	}
	passed, err := c.passed(ctx, c.drain, commits, nil, "repartition topics")
	if err != nil || !passed {
		return false, err
	}
	if c.rounds++; c.rounds <= len(names) {
		c.drain = nil
		return false, nil
	}
	return true, c.w.phase(PhaseDrained)
}

func (awaitCaughtUp) verify(ctx context.Context, w *work) ([]Evidence, error) {
	commits, err := w.Reader.Commits(ctx, w.app(), false)
	if err != nil {
		return nil, fmt.Errorf("read committed offsets: %w", err)
	}
	repartition, err := ownTopics(ctx, w, streams.RoleRepartition)
	if err != nil {
		return nil, err
	}
	passed := 0
	for _, t := range w.x.run.Target {
		if got, ok := commits.Offsets[t.TopicPartition()]; ok && got.Offset >= t.Offset {
			passed++
		}
	}
	out := []Evidence{
		{Check: "inputs", Result: ResultOK, Detail: fmt.Sprintf("%d of %d partitions at or beyond the target vector, the others hold only markers", passed, len(w.x.run.Target))},
		{Check: "repartition topics", Result: ResultOK, Detail: fmt.Sprintf("%d drained after the inputs were read", len(repartition))},
	}
	if passed == len(w.x.run.Target) {
		out[0].Detail = fmt.Sprintf("%d of %d partitions at or beyond the target vector", passed, passed)
	}
	seen, err := stateClear(w)
	return slices.Concat(out, seen), err
}
