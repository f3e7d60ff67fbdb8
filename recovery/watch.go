package recovery

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"resurge/plans"
	"resurge/streams"
)

// ackStateProof is the task name with which an operator attests what could not
// be seen: that the state directories were clear when the application started.
const ackStateProof = "state-was-clear"

// watcher sees instances join a group and tells from the first thing that each
// says whether its state directory was cleared. Seen on Streams 4.4.0, both
// protocols and both guarantees (docs/adr/0005): an instance with a cleared
// directory joins with an empty list of task offset sums; one with an old
// directory lists what is on its disk, before it gets any task. The changelogs
// are new and start at 0, so a sum above their ends cannot come from them.
type watcher struct {
	w    *work
	seen map[string]bool
}

func newWatcher(w *work) *watcher {
	o := &watcher{w: w, seen: map[string]bool{}}
	for _, e := range w.x.run.Seen {
		o.seen[e.Check] = true
	}
	return o
}

// look takes one answer about the group and journals what it shows for the
// first time.
func (o *watcher) look(ctx context.Context, g streams.Group) error {
	for _, m := range g.Members {
		name := instanceCheck(m)
		if o.seen[name] || !m.ReportedTasks && len(m.Active) == 0 && m.Fault == nil {
			continue // nothing was said yet: look again
		}
		e := o.judge(ctx, g, m)
		o.seen[name] = true
		if err := o.w.emit(Event{Type: MemberSeen, Evidence: []Evidence{e}, Message: e.Check + ": " + e.Detail}); err != nil {
			return err
		}
	}
	return nil
}

// instanceCheck names the check; one process is judged once, by its first
// thread that is seen.
func instanceCheck(m streams.Member) string {
	id := m.ProcessID
	if id == "" {
		id = m.ID
	}
	return fmt.Sprintf("state directory of %s on %s", streams.Quote(id), streams.Quote(strings.TrimPrefix(m.Host, "/")))
}

func (o *watcher) judge(ctx context.Context, g streams.Group, m streams.Member) Evidence {
	e := Evidence{Check: instanceCheck(m)}
	if !m.ReportedTasks {
		e.Result, e.Detail = ResultSkipped, "the instance does not say what is on its disk (broker older than 4.4, or userdata that cannot be read)"
		return e
	}
	worst, sum := streams.TaskID{}, int64(0)
	for t, s := range m.OffsetSums {
		if s > sum {
			worst, sum = t, s
		}
	}
	if sum == 0 {
		if running(m) {
			e.Result, e.Detail = ResultSkipped, "seen only after its tasks were running: what was on its disk cannot be told any more"
			return e
		}
		e.Result, e.Detail = ResultOK, "joined with no task on its disk"
		return e
	}
	end, err := o.changelogEnds(ctx, g, worst)
	switch {
	case err != nil:
		e.Result, e.Detail = ResultSkipped, "the changelogs' ends could not be read: "+err.Error()
	case sum > end:
		e.Result, e.Detail = ResultFailed, fmt.Sprintf("NOT cleared: it brought task %s up to offset sum %d, its changelogs end at %d", worst, sum, end)
	default:
		e.Result, e.Detail = ResultSkipped, fmt.Sprintf("seen late: task %s at offset sum %d of %d may come from the replay or from before", worst, sum, end)
	}
	return e
}

// running reports whether the member was first seen with running tasks.
func running(m streams.Member) bool {
	for _, s := range m.OffsetSums {
		if s == streams.OffsetSumRunning {
			return true
		}
	}
	return false
}

// changelogEnds adds up the ends of the changelog partitions that the task may
// have. A classic group does not say which are a task's: all that are named after
// the application count, which only makes the judgement milder. Once the
// application makes progress, inputs count too, since a table's source topic may
// be its changelog and a task that moved brings what it replayed.
func (o *watcher) changelogEnds(ctx context.Context, g streams.Group, t streams.TaskID) (int64, error) {
	names, err := o.changelogs(ctx, g, t)
	if err != nil || len(names) == 0 {
		return 0, err
	}
	marks, err := o.w.Topics.Watermarks(ctx, names...)
	if err != nil {
		return 0, err
	}
	var sum int64
	for tp, m := range marks {
		if tp.Partition != t.Partition {
			continue
		}
		if m.Fault != nil {
			return 0, m.Fault
		}
		sum += m.End
	}
	return sum, nil
}

func (o *watcher) changelogs(ctx context.Context, g streams.Group, t streams.TaskID) ([]string, error) {
	if len(g.Topology) > 0 {
		var names []string
		for _, st := range g.Topology {
			if st.ID == fmt.Sprint(t.Subtopology) {
				names = append(names, st.Changelogs...)
			}
		}
		return existingTopics(ctx, o.w, names)
	}
	topics, err := o.w.Topics.Topics(ctx)
	if err != nil {
		return nil, fmt.Errorf("list topics: %w", err)
	}
	_, progress := o.w.x.run.Phases[PhaseFirstCommit]
	inputs := byRole(o.w.plan(), streams.RoleInput)
	var names []string
	for _, topic := range topics {
		n, ok := streams.ParseInternal(o.w.app(), topic.Name)
		if ok && n.Kind == streams.KindChangelog || progress && slices.Contains(inputs, topic.Name) {
			names = append(names, topic.Name)
		}
	}
	return names, nil
}

// byRole are the topics of a role that the plan touches.
func byRole(p plans.Plan, role streams.Role) []string {
	var out []string
	for _, s := range p.Steps {
		for _, t := range s.Topics {
			if t.Role == role && !slices.Contains(out, t.Name) {
				out = append(out, t.Name)
			}
		}
	}
	return out
}

// ownTopics are the application's topics of a role as they are now: an internal
// topic that was lost before the run, and is none of its plan, exists again.
func ownTopics(ctx context.Context, w *work, role streams.Role) ([]string, error) {
	d := Discoverer{Topics: w.Topics, Groups: w.Groups, Now: w.Now}
	inv, err := d.Discover(ctx, w.app(), w.plan().Hints, nil)
	if err != nil {
		return nil, fmt.Errorf("look for the application's topics: %w", err)
	}
	var names []string
	for _, t := range inv.ByRole(role) {
		if t.Fault == nil {
			names = append(names, t.Name)
		}
	}
	return names, nil
}

// existingTopics keeps the names that exist now.
func existingTopics(ctx context.Context, w *work, names []string) ([]string, error) {
	if len(names) == 0 {
		return nil, nil
	}
	topics, err := w.Topics.Topics(ctx, names...)
	if err != nil {
		return nil, fmt.Errorf("look for topics: %w", err)
	}
	var out []string
	for _, t := range topics {
		switch {
		case t.Fault == nil:
			out = append(out, t.Name)
		case t.Fault.Kind != streams.FaultNotFound:
			return nil, t.Fault
		}
	}
	return out, nil
}

// stateClear folds what was seen of the instances into one verdict.
func stateClear(w *work) ([]Evidence, error) {
	seen := w.x.run.Seen
	var unclear []string
	for _, e := range seen {
		switch e.Result {
		case ResultFailed:
			return seen, refuse(OutcomeUnverified,
				"stop the application, clear that directory, and make a new rebuild plan: the state now mixes old and replayed data",
				"%s: %s", e.Check, e.Detail)
		case ResultSkipped:
			unclear = append(unclear, e.Check+": "+e.Detail)
		case ResultOK:
		}
	}
	if len(seen) == 0 {
		unclear = append(unclear, "no instance was seen joining")
	}
	if len(unclear) == 0 {
		return seen, nil
	}
	if by, ok := w.Answers.acknowledged(ackStateProof); ok {
		return append(slices.Clone(seen), Evidence{Check: "state directories were clear", Result: ResultOK, Detail: "attested by " + by + ", not seen from the cluster"}), nil
	}
	return seen, refuse(OutcomeUnverified,
		"if you know that every state directory was cleared before the start, resume with --ack "+ackStateProof+"; if not, clear them and rebuild again",
		"it was not seen that the state directories were clear: %s", strings.Join(unclear, "; "))
}
