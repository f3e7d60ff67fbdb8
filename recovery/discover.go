package recovery

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"golang.org/x/sync/errgroup"

	"resurge/streams"
)

// Discoverer reads what an application left on a cluster. It holds no writer.
type Discoverer struct {
	Topics TopicReader
	Groups GroupReader
	Now    func() time.Time
}

// groupsAtOnce bounds the requests about other groups under way together.
const groupsAtOnce = 8

// Discover reads everything about one application. It fails with [ErrUnknown]
// when nothing on the cluster speaks for such an application. What could not be
// read is a gap of the inventory, and never taken for absent.
func (d Discoverer) Discover(ctx context.Context, app string, hints Hints, times []time.Time) (Inventory, error) {
	inv := Inventory{Application: app, TakenAt: d.Now(), Hints: hints}
	var err error
	if inv.Cluster, err = d.Topics.Cluster(ctx); err != nil {
		return inv, fmt.Errorf("identify cluster: %w", err)
	}
	list, err := d.Groups.Groups(ctx)
	if err != nil {
		return inv, fmt.Errorf("list groups: %w", err)
	}
	inv.Gaps = append(inv.Gaps, list.Faults...)
	if inv.Group, err = d.Groups.Group(ctx, app); err != nil {
		return inv, fmt.Errorf("describe group %s: %w", streams.Quote(app), err)
	}
	s, err := d.sight(ctx, &inv, list)
	if err != nil {
		return inv, err
	}
	inv.Topics = s.classify()
	if unknownApplication(inv) {
		return inv, unknown(app, list, s.topics)
	}
	d.transactions(ctx, &inv)
	if err := d.positions(ctx, &inv, s); err != nil {
		return inv, err
	}
	return inv, d.times(ctx, &inv, times)
}

// unknownApplication reports whether nothing at all speaks for the application.
func unknownApplication(inv Inventory) bool {
	if inv.Group.Exists || inv.Group.Fault != nil {
		return false
	}
	return !slices.ContainsFunc(inv.Topics, func(t Topic) bool { return t.Owned || t.Ambiguous })
}

func (d Discoverer) sight(ctx context.Context, inv *Inventory, list streams.GroupList) (sighting, error) {
	s := sighting{
		app: inv.Application, group: inv.Group, hints: inv.Hints, listed: len(list.Faults) == 0,
		topics: map[string]streams.Topic{}, claims: map[string]string{}, readers: map[string][]string{},
	}
	all, err := d.Topics.Topics(ctx)
	if err != nil {
		return s, fmt.Errorf("list topics: %w", err)
	}
	for _, t := range all {
		s.topics[t.Name] = t
	}
	commits, err := d.Groups.Commits(ctx, inv.Application, false)
	if err != nil {
		inv.CommitsFault = asFault(err, "committed offsets of group "+streams.Quote(inv.Application))
		inv.Gaps = append(inv.Gaps, inv.CommitsFault)
	}
	s.commits, s.commitFaults = commits.Offsets, commits.Faults
	for _, g := range list.Groups {
		if g.ID != inv.Application && strings.HasPrefix(g.ID, inv.Application+"-") {
			s.longer = append(s.longer, g.ID)
		}
	}
	inv.LongerIDs = s.longer
	if err := d.readers(ctx, inv, list, &s); err != nil {
		return s, err
	}
	s.configs, err = d.Topics.TopicConfigs(ctx, s.existing(s.candidates())...)
	if err != nil {
		inv.Gaps = append(inv.Gaps, asFault(err, "topic configs"))
	}
	return s, nil
}

func (s sighting) existing(names []string) []string {
	return slices.DeleteFunc(names, func(n string) bool { _, ok := s.topics[n]; return !ok })
}

// reading is what one group reads, and which internal topics it names its own.
type reading struct {
	topics map[string]bool
	claims []string
	faults []*streams.Fault
}

// readers asks every other group whether it reads one of the topics that might
// be deleted. A group that does not answer is a gap.
func (d Discoverer) readers(ctx context.Context, inv *Inventory, list streams.GroupList, s *sighting) error {
	answers := make([]reading, len(list.Groups))
	work, ctx := errgroup.WithContext(ctx)
	work.SetLimit(groupsAtOnce)
	for i, g := range list.Groups {
		if g.ID == inv.Application {
			continue
		}
		work.Go(func() error {
			answers[i] = d.reading(ctx, g)
			return ctx.Err()
		})
	}
	if err := work.Wait(); err != nil {
		return fmt.Errorf("ask the other groups: %w", err)
	}
	s.asked = true
	for i, a := range answers {
		for t := range a.topics {
			s.readers[t] = append(s.readers[t], list.Groups[i].ID)
		}
		for _, t := range a.claims {
			s.claims[t] = list.Groups[i].ID
		}
		inv.Gaps = append(inv.Gaps, a.faults...)
		s.asked = s.asked && len(a.faults) == 0
	}
	return nil
}

// reading asks one group: by its commits and, while it is alive, by what its
// members subscribe to.
func (d Discoverer) reading(ctx context.Context, g streams.GroupListing) reading {
	a := reading{topics: map[string]bool{}}
	commits, err := d.Groups.Commits(ctx, g.ID, false)
	if err != nil && !streams.IsFault(err, streams.FaultNotFound) { // not found: it went meanwhile
		a.faults = append(a.faults, asFault(err, "committed offsets of group "+streams.Quote(g.ID)))
	}
	for tp := range commits.Faults {
		a.topics[tp.Topic] = true // it has a commit there, whatever it is
	}
	for tp := range commits.Offsets {
		a.topics[tp.Topic] = true
	}
	if g.State == streams.StateEmpty && g.Protocol != streams.ProtocolStreams {
		return a
	}
	described, err := d.Groups.Group(ctx, g.ID)
	switch {
	case err != nil:
		a.faults = append(a.faults, asFault(err, "group "+streams.Quote(g.ID)))
	case described.Fault != nil:
		a.faults = append(a.faults, described.Fault)
	}
	for _, m := range described.Members {
		for _, t := range m.Subscribed {
			a.topics[t] = true
		}
	}
	for _, st := range described.Topology {
		a.claims = append(a.claims, slices.Concat(st.RepartitionSources, st.RepartitionSinks, st.Changelogs)...)
		for _, t := range st.SourceTopics {
			a.topics[t] = true
		}
	}
	return a
}

// transactions lists the application's own open transactions.
func (d Discoverer) transactions(ctx context.Context, inv *Inventory) {
	open, err := d.Groups.OpenTransactions(ctx, inv.Application+"-")
	if err != nil {
		inv.Gaps = append(inv.Gaps, asFault(err, "open transactions"))
		return
	}
	for _, t := range open {
		if ownTransaction(inv.Application, t.TransactionalID) {
			inv.Transactions = append(inv.Transactions, t)
		}
	}
}

// ownTransaction tells the application's transactional IDs from those of an
// application whose ID is longer: <app>-<process UUID>-<thread> since exactly
// once v2 (KIP-447), <app>-<subtopology>_<partition> before.
func ownTransaction(app, id string) bool {
	rest, ok := strings.CutPrefix(id, app+"-")
	if !ok {
		return false
	}
	if len(rest) > 36 && rest[36] == '-' {
		return isUUID(rest[:36]) && allDigits(rest[37:])
	}
	sub, part, ok := strings.Cut(rest, "_")
	return ok && allDigits(sub) && allDigits(part)
}

func isUUID(s string) bool {
	for i, c := range s {
		if dash := i == 8 || i == 13 || i == 18 || i == 23; dash != (c == '-') {
			return false
		} else if !dash && !strings.ContainsRune("0123456789abcdefABCDEF", c) {
			return false
		}
	}
	return true
}

func allDigits(s string) bool {
	return s != "" && strings.Trim(s, "0123456789") == ""
}

// positions fills in watermarks, commits and configs of the topics.
func (d Discoverer) positions(ctx context.Context, inv *Inventory, s sighting) error {
	var names []string
	for _, t := range inv.Topics {
		if t.Fault == nil {
			names = append(names, t.Name)
		}
	}
	if len(names) == 0 {
		return nil
	}
	marks, err := d.Topics.Watermarks(ctx, names...)
	if err != nil {
		return fmt.Errorf("read ends of %d topics: %w", len(names), err)
	}
	configs, err := d.Topics.TopicConfigs(ctx, names...)
	if err != nil {
		inv.Gaps = append(inv.Gaps, asFault(err, "topic configs"))
	}
	for i := range inv.Topics {
		t := &inv.Topics[i]
		if c, ok := configs[t.Name]; ok {
			t.Configs = c.Values
			if c.Fault != nil {
				inv.Gaps = append(inv.Gaps, c.Fault)
			}
		}
		for j := range t.Partitions {
			fillPosition(&t.Partitions[j], t.Name, marks, s)
		}
	}
	return nil
}

func fillPosition(p *PartitionState, topic string, marks map[streams.TopicPartition]streams.Watermarks, s sighting) {
	tp := streams.TopicPartition{Topic: topic, Partition: p.Partition}
	if c, ok := s.commits[tp]; ok {
		p.Committed = &c
	}
	if f := s.commitFaults[tp]; f != nil {
		p.Fault = f
		return
	}
	m, ok := marks[tp]
	switch {
	case !ok:
		return
	case m.Fault != nil:
		p.Fault = m.Fault
		return
	}
	p.Start, p.End, p.Stable = &m.Start, &m.End, &m.Stable
	if p.Committed != nil {
		lag := m.End - p.Committed.Offset
		p.Lag = &lag
	}
}

// times looks up the offsets at the times that a request names.
func (d Discoverer) times(ctx context.Context, inv *Inventory, times []time.Time) error {
	var names []string
	for _, t := range inv.ByRole(streams.RoleInput) {
		if t.Fault == nil {
			names = append(names, t.Name)
		}
	}
	if len(names) == 0 {
		return nil
	}
	for _, at := range times {
		offsets, err := d.Topics.OffsetsAt(ctx, at, names...)
		if err != nil {
			return fmt.Errorf("find offsets at %s: %w", at.UTC().Format(time.RFC3339), err)
		}
		for tp, o := range offsets {
			if o.Fault != nil {
				inv.Gaps = append(inv.Gaps, o.Fault)
				continue
			}
			inv.Times = append(inv.Times, TimeOffset{At: at, Topic: tp.Topic, Partition: tp.Partition, Offset: o.Offset, Found: o.Found})
		}
	}
	slices.SortFunc(inv.Times, func(a, b TimeOffset) int {
		if c := strings.Compare(a.Topic, b.Topic); c != 0 {
			return c
		}
		return int(a.Partition - b.Partition)
	})
	return nil
}

// asFault keeps an error as data beside the answers that could be had.
func asFault(err error, what string) *streams.Fault {
	if f := streams.FaultOf(err); f != nil {
		return f
	}
	kind := streams.FaultOther
	if errors.Is(err, context.DeadlineExceeded) {
		kind = streams.FaultUnreachable
	}
	return &streams.Fault{Kind: kind, What: what, Message: err.Error()}
}
