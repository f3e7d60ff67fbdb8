package discovery

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"golang.org/x/sync/errgroup"

	"resurge/streams"
)

// positions fills in watermarks, commits, configs and the ages of the topics.
func (d Discoverer) positions(ctx context.Context, inv *Inventory, s sighting) error {
	var names, inputs []string
	for _, t := range inv.Topics {
		if t.Fault == nil {
			names = append(names, t.Name)
			if t.Role == streams.RoleInput || t.Role == streams.RoleGlobal || t.Role == streams.RoleRepartition {
				inputs = append(inputs, t.Name)
			}
		}
	}
	if len(names) == 0 {
		return nil
	}
	var p placer
	work, wctx := errgroup.WithContext(ctx)
	work.Go(func() (err error) {
		p.marks, err = d.Reader.Watermarks(wctx, names...)
		return err
	})
	work.Go(func() error {
		// The first record at or after 1970 is the oldest. Without an answer the
		// age is not known, and the rest still holds.
		p.oldest, _ = d.Reader.OffsetsAt(wctx, time.UnixMilli(0), inputs...)
		return nil
	})
	if err := work.Wait(); err != nil {
		return fmt.Errorf("read ends of %d topics: %w", len(names), err)
	}
	configs, err := d.missingConfigs(ctx, s, names)
	if err != nil {
		inv.Gaps = append(inv.Gaps, asFault(err, "topic configs"))
	}
	p.s, p.owners, p.activity = s, owners(inv.Group, inv.Tasks), inv.Activity
	for i := range inv.Topics {
		t := &inv.Topics[i]
		if c, ok := configs[t.Name]; ok {
			t.Configs = c.Values
			if c.Fault != nil {
				inv.Gaps = append(inv.Gaps, c.Fault)
			}
		}
		for j := range t.Partitions {
			p.place(&t.Partitions[j], t.Name)
		}
	}
	return nil
}

// missingConfigs asks for the settings that the look at the candidates did not
// bring.
func (d Discoverer) missingConfigs(ctx context.Context, s sighting, names []string) (map[string]streams.TopicConfigs, error) {
	out := map[string]streams.TopicConfigs{}
	var missing []string
	for _, n := range names {
		if c, ok := s.configs[n]; ok {
			out[n] = c
		} else {
			missing = append(missing, n)
		}
	}
	if len(missing) == 0 {
		return out, nil
	}
	more, err := d.Reader.TopicConfigs(ctx, missing...)
	maps.Copy(out, more)
	return out, err
}

// owners maps each partition to the member that reads it: as its assignment says,
// or as the source of a task that is active there.
func owners(g streams.Group, tasks []Task) map[streams.TopicPartition]string {
	out := map[streams.TopicPartition]string{}
	for _, t := range tasks {
		for _, tp := range t.Sources {
			if len(t.Active) == 1 {
				out[tp] = t.Active[0]
			}
		}
	}
	for _, m := range g.Members {
		for _, tp := range m.Assigned {
			out[tp] = m.ID
		}
	}
	return out
}

// placer puts what is known of a partition into it.
type placer struct {
	s        sighting
	marks    map[streams.TopicPartition]streams.Watermarks
	oldest   map[streams.TopicPartition]streams.OffsetAt
	owners   map[streams.TopicPartition]string
	activity *streams.Activity
}

func (a placer) place(p *PartitionState, topic string) {
	tp := streams.TopicPartition{Topic: topic, Partition: p.Partition}
	p.Owner = a.owners[tp]
	if o, ok := a.oldest[tp]; ok && o.Fault == nil && o.Found {
		p.Oldest = o.Time
	}
	if c, ok := a.s.commits[tp]; ok {
		p.Committed, p.Streams = &c, streamsCommit(c.Metadata)
		if a.activity != nil {
			p.CommittedAt = a.activity.Commits[tp]
		}
	}
	if f := a.s.commitFaults[tp]; f != nil {
		p.Fault = f
		return
	}
	m, ok := a.marks[tp]
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

// streamsCommit decodes a commit's metadata; nil when it is not of Streams.
func streamsCommit(metadata string) *StreamsCommit {
	m, err := streams.DecodeOffsetMetadata(metadata)
	if err != nil || m.Magic == 0 {
		return nil
	}
	var out StreamsCommit
	if m.PartitionTime >= 0 {
		out.PartitionTime = time.UnixMilli(m.PartitionTime).UTC()
	}
	for store, at := range m.Processors {
		if out.Emitted == nil {
			out.Emitted = map[string]time.Time{}
		}
		out.Emitted[store] = time.UnixMilli(at).UTC()
	}
	return &out
}

// kindSample is how many records a partition a store's kind is told by.
const kindSample = 4

// storeKinds looks at records where name and settings leave a store's kind open:
// window against session, key-value against suppress.
func (d Discoverer) storeKinds(ctx context.Context, inv *Inventory, s *sighting) error {
	var open []string
	guess := map[string]streams.StoreKind{}
	for _, t := range s.look() {
		if t.Role != streams.RoleChangelog || !t.Owned && !t.Ambiguous || t.Fault != nil {
			continue
		}
		if kind := streams.StoreKind(t.StoreKind); streams.TellsByRecords(t.Store, kind) {
			guess[t.Name] = kind
			open = append(open, t.Name)
		}
	}
	if len(open) == 0 {
		return nil
	}
	records, err := d.Reader.Newest(ctx, kindSample, open...)
	if err != nil {
		if ctx.Err() != nil {
			return fmt.Errorf("look at records of changelogs: %w", err)
		}
		inv.Unseen = append(inv.Unseen, asFault(err, "records of changelogs"))
		return nil
	}
	s.kinds = map[string]kindSeen{}
	for name, sample := range records {
		if kind, why := streams.GuessByRecords(guess[name], sample, d.Now()); why != "" {
			s.kinds[name] = kindSeen{kind, why}
		}
	}
	return nil
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
		offsets, err := d.Reader.OffsetsAt(ctx, at, names...)
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
