package recovery

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"resurge/discovery"
	"resurge/plans"
	"resurge/streams"
)

// Saved is what a save-state step writes next to the journal: what it takes to
// put offsets back and to create deleted topics again.
type Saved struct {
	Schema      string                `json:"schema"` // "resurge/saved/v1"
	Application string                `json:"application"`
	ClusterID   string                `json:"cluster_id"`
	TakenAt     time.Time             `json:"taken_at"`
	Protocol    streams.GroupProtocol `json:"protocol"`
	State       string                `json:"state"`
	Members     []SavedMember         `json:"members,omitempty"`
	Commits     []SavedCommit         `json:"commits"`
	Topics      []SavedTopic          `json:"topics"`
}

// SavedMember is who was in the group.
type SavedMember struct {
	ID        string `json:"id"`
	ClientID  string `json:"client_id"`
	Host      string `json:"host"`
	ProcessID string `json:"process_id,omitempty"`
}

// SavedCommit is one committed offset with its metadata, byte for byte.
type SavedCommit struct {
	Topic       string `json:"topic"`
	Partition   int32  `json:"partition"`
	Offset      int64  `json:"offset"`
	LeaderEpoch int32  `json:"leader_epoch"`
	Metadata    string `json:"metadata"`
}

// SavedTopic is one topic generation with all of its settings.
type SavedTopic struct {
	plans.Topic

	// AllConfigs are the effective settings; Configs only those set on the topic.
	AllConfigs map[string]string `json:"all_configs"`
	Start      []int64           `json:"log_start"`
	End        []int64           `json:"end"`
}

// savedName is the run file that a save-state step writes.
func savedName(step string) string { return "saved-" + step + ".json" }

// saveState records offsets and topics before anything changes.
type saveState struct{}

func (saveState) check(context.Context, *work) (readiness, error) { return ready, nil }

func (saveState) apply(ctx context.Context, w *work) error {
	saved, err := take(ctx, w)
	if err != nil {
		return err
	}
	b, err := json.MarshalIndent(saved, "", "  ")
	if err != nil {
		return fmt.Errorf("encode saved state: %w", err)
	}
	if err := w.Store.Save(savedName(w.Step.ID), append(b, '\n')); err != nil {
		return &Error{Outcome: OutcomePartial, Err: err, Hint: "nothing was changed; free space in the state directory, then resume"}
	}
	return nil
}

func take(ctx context.Context, w *work) (Saved, error) {
	s := Saved{Schema: "resurge/saved/v1", Application: w.app(), ClusterID: w.plan().ClusterID, TakenAt: w.Now().UTC()}
	g, err := w.Reader.Group(ctx, w.app())
	if err != nil {
		return s, fmt.Errorf("describe group %s: %w", streams.Quote(w.app()), err)
	}
	s.Protocol, s.State = g.Protocol, g.State
	for _, m := range g.Members {
		s.Members = append(s.Members, SavedMember{ID: m.ID, ClientID: m.ClientID, Host: m.Host, ProcessID: m.ProcessID})
	}
	commits, err := w.Reader.Commits(ctx, w.app(), true)
	if err != nil {
		return s, fmt.Errorf("read committed offsets: %w", err)
	}
	for tp, f := range commits.Faults {
		return s, fmt.Errorf("read committed offset of %s: %w", streams.Quote(tp.String()), f)
	}
	for tp, c := range commits.Offsets {
		s.Commits = append(s.Commits, SavedCommit{Topic: tp.Topic, Partition: tp.Partition, Offset: c.Offset, LeaderEpoch: c.LeaderEpoch, Metadata: c.Metadata})
	}
	slices.SortFunc(s.Commits, func(a, b SavedCommit) int {
		if c := strings.Compare(a.Topic, b.Topic); c != 0 {
			return c
		}
		return int(a.Partition - b.Partition)
	})
	return s, takeTopics(ctx, w, &s)
}

func takeTopics(ctx context.Context, w *work, s *Saved) error {
	names := make([]string, 0, len(w.Step.Topics))
	for _, t := range w.Step.Topics {
		names = append(names, t.Name)
	}
	existing, err := existingTopics(ctx, w, names)
	if err != nil || len(existing) == 0 {
		return err
	}
	topics, err := w.Reader.Topics(ctx, existing...)
	if err != nil {
		return fmt.Errorf("describe topics: %w", err)
	}
	configs, err := w.Reader.TopicConfigs(ctx, existing...)
	if err != nil {
		return fmt.Errorf("read topic configs: %w", err)
	}
	marks, err := w.Reader.Watermarks(ctx, existing...)
	if err != nil {
		return fmt.Errorf("read ends: %w", err)
	}
	for _, t := range topics {
		c := configs[t.Name]
		if c.Fault != nil {
			return fmt.Errorf("read configs of %s: %w", streams.Quote(t.Name), c.Fault)
		}
		s.Topics = append(s.Topics, savedTopic(w, t, c, marks))
	}
	return nil
}

func savedTopic(w *work, t streams.Topic, c streams.TopicConfigs, marks map[streams.TopicPartition]streams.Watermarks) SavedTopic {
	out := SavedTopic{AllConfigs: c.Plain(), Topic: plans.Topic{Name: t.Name, ID: t.ID, Partitions: len(t.Partitions), Records: -1}}
	for _, p := range w.Step.Topics {
		if p.Name == t.Name {
			out.Role, out.Why = p.Role, p.Why
		}
	}
	for k, v := range c.Values {
		if v.Dynamic {
			if out.Configs == nil {
				out.Configs = map[string]string{}
			}
			out.Configs[k] = v.Value
		}
	}
	for _, p := range t.Partitions {
		out.ReplicationFactor = max(out.ReplicationFactor, len(p.Replicas))
		m := marks[streams.TopicPartition{Topic: t.Name, Partition: p.Partition}]
		out.Start, out.End = append(out.Start, m.Start), append(out.End, m.End)
	}
	return out
}

func (saveState) verify(_ context.Context, w *work) ([]Evidence, error) {
	saved, err := loadSaved(w.Store, w.Step.ID)
	if err != nil {
		return nil, err
	}
	if saved.ClusterID != w.plan().ClusterID || saved.Application != w.app() {
		return nil, refuse(OutcomeUnverified, "", "the saved state is of another application or cluster")
	}
	return []Evidence{{Check: "saved", Result: ResultOK, Detail: fmt.Sprintf("%d committed offsets and %d topics in %s", len(saved.Commits), len(saved.Topics), savedName(w.Step.ID))}}, nil
}

func loadSaved(store Store, step string) (Saved, error) {
	var s Saved
	b, err := store.Load(savedName(step))
	if err != nil {
		return s, fmt.Errorf("read saved state: %w", err)
	}
	if err := json.Unmarshal(b, &s); err != nil {
		return s, fmt.Errorf("read saved state %s: %w", savedName(step), err)
	}
	return s, nil
}

// LatestSaved returns what the run saved last: the state to go back to.
func LatestSaved(r Run, store Store) (Saved, error) {
	for _, s := range slices.Backward(r.Steps) {
		if s.Step.Kind == plans.SaveState && s.Status.Done() {
			return loadSaved(store, s.Step.ID)
		}
	}
	return Saved{}, refuse(OutcomeBlocked, "nothing was changed by it, so there is nothing to take back", "run %s saved no state", r.ID)
}

// MakeUndo plans the way back from a run: offsets as they were saved, deleted
// topics created again, empty. What cannot be put back is said in warnings.
func MakeUndo(inv discovery.Inventory, r Run, saved Saved, req Request, now time.Time, program string) (plans.Plan, error) {
	if inv.Group.Fault != nil {
		return plans.Plan{}, fmt.Errorf("the state of the group is not known: %w", inv.Group.Fault)
	}
	if inv.Cluster.ID != saved.ClusterID {
		return plans.Plan{}, refuse(OutcomeStale, "connect to that cluster", "run %s was on cluster %s, this is %s", r.ID, saved.ClusterID, inv.Cluster.ID)
	}
	b := builder{inv: inv, req: req}
	offsets, err := putBack(r, saved, &b)
	if err != nil {
		return plans.Plan{}, err
	}
	missing := b.missing(r, saved)
	if len(offsets) == 0 && len(missing) == 0 {
		return plans.Plan{}, refuse(OutcomeBlocked, "", "run %s changed nothing that is not already as it was", r.ID)
	}
	b.undo(offsets, missing)
	p := plans.Plan{
		Format: plans.FormatVersion, Strategy: plans.Undo, Application: inv.Application, ClusterID: inv.Cluster.ID,
		Created: now.UTC().Truncate(time.Millisecond), Program: program, Undoes: r.ID, Warnings: b.warnings, Steps: b.steps,
		Hints:   inv.Hints,
		Summary: fmt.Sprintf("put %d committed %s back, create %d deleted %s again", len(offsets), plural(len(offsets), "offset"), len(missing), plural(len(missing), "topic")),
	}
	p.Basis = Basis(inv, p)
	return p.Seal(), nil
}

// putBack lists the offsets that the run moved and what they were.
func putBack(r Run, saved Saved, b *builder) ([]plans.OffsetChange, error) {
	was := map[streams.TopicPartition]SavedCommit{}
	for _, c := range saved.Commits {
		was[streams.TopicPartition{Topic: c.Topic, Partition: c.Partition}] = c
	}
	var out []plans.OffsetChange
	for _, s := range r.Steps {
		if s.Step.Kind != plans.CommitOffsets || s.Status == StatusPending {
			continue
		}
		for _, moved := range s.Step.Offsets {
			c, ok, err := b.back(r, moved.TopicPartition(), was)
			if err != nil {
				return nil, err
			}
			if ok {
				out = append(out, c)
			}
		}
	}
	return out, nil
}

// back is the way back for one partition; ok is false where there is none.
func (b *builder) back(r Run, tp streams.TopicPartition, was map[streams.TopicPartition]SavedCommit) (plans.OffsetChange, bool, error) {
	c := plans.OffsetChange{Topic: tp.Topic, Partition: tp.Partition}
	t, known := b.inv.Topic(tp.Topic)
	there := known && t.Fault == nil && int(tp.Partition) < len(t.Partitions)
	if !there || deletes(r.Header.Plan, tp.Topic) {
		return c, false, nil
	}
	p := t.Partitions[tp.Partition]
	if p.Start == nil || p.End == nil {
		return c, false, partitionUnknown(tp.Topic, p)
	}
	c.Start, c.End = *p.Start, *p.End
	if p.Committed != nil {
		before := p.Committed.Offset
		c.Before = &before
	}
	old, had := was[tp]
	if !had {
		return c, true, nil
	}
	offset := old.Offset
	if offset < c.Start {
		b.warnf("offset %d of %s is below the log start %d by now: it cannot be put back", offset, streams.Quote(tp.String()), c.Start)
		return c, false, nil
	}
	c.After, c.Metadata = &offset, old.Metadata
	return c, true, nil
}

// missing are the topics that the run deleted and that are not there now.
func (b *builder) missing(r Run, saved Saved) []plans.Topic {
	var out []plans.Topic
	for _, s := range r.Steps {
		if s.Step.Kind != plans.DeleteTopic || s.Status == StatusPending {
			continue
		}
		name := s.Step.Topics[0].Name
		t, there := b.inv.Topic(name)
		if there && t.Fault == nil {
			if t.ID != s.Step.Topics[0].ID {
				b.warnf("topic %s was deleted and exists again with another content: it is left alone", streams.Quote(name))
			}
			continue
		}
		i := slices.IndexFunc(saved.Topics, func(t SavedTopic) bool { return t.Name == name })
		if i < 0 {
			continue
		}
		again := saved.Topics[i].Topic
		again.ID, again.Records = streams.TopicID{}, 0
		out = append(out, again)
		b.warnf("the records of %s are gone: it is created empty, so that state cannot be restored from it", streams.Quote(name))
	}
	return out
}

func (b *builder) undo(offsets []plans.OffsetChange, missing []plans.Topic) {
	touched := map[string]plans.Topic{}
	for _, c := range offsets {
		if t, ok := b.inv.Topic(c.Topic); ok {
			touched[c.Topic] = planTopic(t)
		}
	}
	list := make([]plans.Topic, 0, len(touched))
	for _, n := range slices.Sorted(maps.Keys(touched)) {
		list = append(list, touched[n])
	}
	b.save("save offsets, configs and topic IDs as they are now", list)
	if !b.req.NoStop {
		b.task(plans.TaskStop, "stop every instance of "+b.inv.Application, "a running instance would overwrite the offsets", b.stopDetails())
	}
	b.awaits()
	for _, t := range missing {
		b.add(plans.Step{
			Kind: plans.CreateTopic, Risk: plans.Reversible, Title: "create " + string(t.Role) + " topic " + t.Name + " again, empty",
			Topics: []plans.Topic{t}, Undo: "delete it", CLI: []string{createCLI(t)},
		})
	}
	if len(offsets) > 0 {
		b.add(plans.Step{
			Kind: plans.CommitOffsets, Risk: plans.Reversible, Undo: undoBySaved, Offsets: offsets,
			Title: fmt.Sprintf("put the committed offsets of %d %s back", len(offsets), plural(len(offsets), "partition")),
			CLI:   resetCLI(b.inv, offsets),
		})
	}
}
