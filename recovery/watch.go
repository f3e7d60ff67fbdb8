package recovery

import (
	"context"
	"fmt"
	"maps"
	"net"
	"slices"
	"strings"
	"time"

	"resurge/discovery"
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
	w *work
	// judged are the processes that were judged, members the threads seen.
	judged, members map[string]bool
	// before are the processes that were in the group before it was stopped.
	before map[string]bool
	// unsettled is since when the group was seen settling.
	unsettled time.Time
}

// longestHurry bounds the quick looks at one settling of the group.
const longestHurry = 20 * time.Second

func newWatcher(w *work) *watcher {
	o := &watcher{w: w, judged: map[string]bool{}, members: map[string]bool{}, before: map[string]bool{}}
	for _, s := range w.plan().Steps {
		if s.Kind != plans.SaveState {
			continue
		}
		// Without the file nothing is known of earlier processes, as when none ran.
		if saved, err := loadSaved(w.Store, s.ID); err == nil {
			for _, m := range saved.Members {
				o.before[m.ProcessID] = m.ProcessID != ""
			}
		}
	}
	for _, e := range w.x.run.Seen {
		o.judged[e.Check] = true
	}
	return o
}

// hurry lets the next look come soon while members are there that have not been
// seen: between two rebalances their first word shows for some 20 ms only.
func (o *watcher) hurry(g streams.Group) {
	settled := g.State == "Stable" || len(g.Members) == 0
	for _, m := range g.Members {
		settled = settled && (o.members[m.ID] || m.ReportedTasks || len(m.Active) > 0)
	}
	switch {
	case settled:
		o.unsettled, o.w.hurry = time.Time{}, false
	case o.unsettled.IsZero():
		o.unsettled, o.w.hurry = o.w.Now(), true
	default:
		o.w.hurry = o.w.Now().Sub(o.unsettled) < longestHurry
	}
}

// instance is one process: what its threads said, each task at its highest.
type instance struct {
	check    string
	process  string
	reported bool
	running  bool // a task of it was running when it was first seen
	sums     map[streams.TaskID]int64
}

// look takes one answer about the group and journals what it shows for the
// first time. Threads of a process share its state directory, and with the
// classic protocol only one of them tells of it: a process is judged by all of
// its threads that an answer shows, and a thread seen later can still convict
// it, because a sum above the ends of new changelogs is proof at any time.
func (o *watcher) look(ctx context.Context, g streams.Group) error {
	o.hurry(g)
	byProcess := map[string]*instance{}
	for _, m := range g.Members {
		if o.members[m.ID] || !m.ReportedTasks && len(m.Active) == 0 && m.Fault == nil {
			continue // known, or nothing was said yet: look again
		}
		o.members[m.ID] = true
		check := instanceCheck(m)
		if byProcess[check] == nil {
			byProcess[check] = &instance{check: check, process: m.ProcessID, reported: true, sums: map[streams.TaskID]int64{}}
		}
		byProcess[check].add(m)
	}
	for _, check := range slices.Sorted(maps.Keys(byProcess)) {
		e, err := o.judge(ctx, g, byProcess[check])
		if err != nil {
			return err
		}
		if o.judged[check] && e.Result != ResultFailed {
			continue
		}
		o.judged[check] = true
		if err := o.w.emit(Event{Type: MemberSeen, Evidence: []Evidence{e}, Message: e.Check + ": " + e.Detail}); err != nil {
			return err
		}
	}
	return nil
}

func (i *instance) add(m streams.Member) {
	i.reported = i.reported && m.ReportedTasks
	for t, s := range m.OffsetSums {
		i.sums[t] = max(i.sums[t], s)
		i.running = i.running || s == streams.OffsetSumRunning
	}
}

// instanceCheck names the check by the process, which outlives its threads.
func instanceCheck(m streams.Member) string {
	id := m.ProcessID
	if id == "" {
		id = m.ID
	}
	host, _, err := net.SplitHostPort(m.Host)
	if err != nil {
		host = strings.TrimPrefix(m.Host, "/")
	}
	return fmt.Sprintf("state directory of process %s on %s", streams.Quote(id), streams.Quote(host))
}

// judge says what an instance's first word proves. Its error is the context's:
// what cannot be read is no verdict.
func (o *watcher) judge(ctx context.Context, g streams.Group, i *instance) (Evidence, error) {
	e := Evidence{Check: i.check, Result: ResultSkipped}
	positive := slices.SortedFunc(maps.Keys(i.sums), streams.TaskID.Compare)
	positive = slices.DeleteFunc(positive, func(t streams.TaskID) bool { return i.sums[t] <= 0 })
	switch {
	case len(positive) > 0:
	case !i.reported:
		e.Detail = "the instance does not say what is on its disk (broker older than 4.4, or userdata that cannot be read)"
		return e, nil
	case i.running:
		e.Detail = "seen only after its tasks were running: what was on its disk cannot be told any more"
		return e, nil
	case g.Protocol == streams.ProtocolStreams && o.before[i.process]:
		// A streams-protocol client older than 4.4 reports nothing at all; that the
		// process ID was kept says that its directory was not removed whole.
		e.Detail = "the same process as before reports no task: cleared by cleanUp(), or a client older than 4.4 with its old directory"
		return e, nil
	default:
		e.Result, e.Detail = ResultOK, "joined with no task on its disk"
		return e, nil
	}
	ends, err := o.changelogEnds(ctx, g, positive)
	if err != nil {
		e.Detail = "the changelogs' ends could not be read: " + err.Error()
		return e, ctx.Err()
	}
	for _, t := range positive {
		if sum := i.sums[t]; sum > ends[t] {
			e.Result, e.Detail = ResultFailed, fmt.Sprintf("NOT cleared: it brought task %s up to offset sum %d, its changelogs end at %d", t, sum, ends[t])
			return e, nil
		}
	}
	t := positive[0]
	e.Detail = fmt.Sprintf("seen late: task %s at offset sum %d of %d may come from the replay or from before", t, i.sums[t], ends[t])
	return e, nil
}

// changelogEnds adds up, per task, the ends of the changelog partitions that it
// may have; a changelog that does not exist yet ends at 0. A classic group does
// not say which are a task's: all that are named after the application count,
// which only makes the judgement milder. Once the application makes progress,
// inputs count too, since a table's source topic may be its changelog and a task
// that moved brings what it replayed.
func (o *watcher) changelogEnds(ctx context.Context, g streams.Group, tasks []streams.TaskID) (map[streams.TaskID]int64, error) {
	names, err := o.changelogs(ctx, g)
	if err != nil {
		return nil, err
	}
	var all []string
	for _, n := range names {
		all = append(all, n...)
	}
	slices.Sort(all)
	marks := map[streams.TopicPartition]streams.Watermarks{}
	if all = slices.Compact(all); len(all) > 0 {
		if marks, err = o.w.Reader.Watermarks(ctx, all...); err != nil {
			return nil, err
		}
	}
	ends := map[streams.TaskID]int64{}
	for _, t := range tasks {
		of, known := names[fmt.Sprint(t.Subtopology)]
		if !known {
			of = names[""]
		}
		for _, n := range of {
			m := marks[streams.TopicPartition{Topic: n, Partition: t.Partition}]
			if m.Fault != nil {
				return nil, m.Fault
			}
			ends[t] += m.End
		}
	}
	return ends, nil
}

// changelogs maps a subtopology to its changelogs, "" to those of any.
func (o *watcher) changelogs(ctx context.Context, g streams.Group) (map[string][]string, error) {
	out := map[string][]string{}
	for _, st := range g.Topology {
		names, err := existingTopics(ctx, o.w, st.Changelogs)
		if err != nil {
			return nil, err
		}
		out[st.ID] = names
	}
	if len(g.Topology) > 0 {
		return out, nil
	}
	topics, err := o.w.Reader.Topics(ctx)
	if err != nil {
		return nil, fmt.Errorf("list topics: %w", err)
	}
	_, progress := o.w.x.run.Phases[PhaseFirstCommit]
	inputs, planned := byRole(o.w.plan(), streams.RoleInput), byRole(o.w.plan(), streams.RoleChangelog)
	for _, topic := range topics {
		n, ok := streams.ParseInternal(o.w.app(), topic.Name)
		named := ok && n.Kind == streams.KindChangelog || slices.Contains(planned, topic.Name)
		if named || progress && slices.Contains(inputs, topic.Name) {
			out[""] = append(out[""], topic.Name)
		}
	}
	return out, nil
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

// ownTopics are the application's topics of a role as they are now. An internal
// topic that was lost before the run is in no plan and exists again; one under
// another prefix is known from the plan alone.
func ownTopics(ctx context.Context, w *work, role streams.Role) ([]string, error) {
	d := discovery.Discoverer{Reader: w.Reader, Now: w.Now}
	inv, err := d.Discover(ctx, w.app(), w.plan().Hints, nil)
	if err != nil {
		return nil, fmt.Errorf("look for the application's topics: %w", err)
	}
	names, err := existingTopics(ctx, w, byRole(w.plan(), role))
	if err != nil {
		return nil, err
	}
	for _, t := range inv.ByRole(role) {
		if t.Fault == nil && !slices.Contains(names, t.Name) {
			names = append(names, t.Name)
		}
	}
	slices.Sort(names)
	return names, nil
}

// existingTopics keeps the names that exist now.
func existingTopics(ctx context.Context, w *work, names []string) ([]string, error) {
	if len(names) == 0 {
		return nil, nil
	}
	topics, err := w.Reader.Topics(ctx, names...)
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
