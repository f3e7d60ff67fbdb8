package discovery

import (
	"context"
	"fmt"
	"maps"
	"slices"

	"golang.org/x/sync/errgroup"

	"resurge/streams"
)

// Explore reads one group of any kind: its members, what it reads and how far it
// is. It asks nobody else, so it says nothing of who owns what, and costs a few
// requests: what follows a group looks with it again and again. A group that
// nothing speaks for is an [UnknownError].
func (d Discoverer) Explore(ctx context.Context, group string) (Inventory, error) {
	inv := Inventory{Application: group, TakenAt: d.Now()}
	s := sighting{app: group, topics: map[string]streams.Topic{}}
	var mine ownAnswers
	work, wctx := errgroup.WithContext(ctx)
	work.Go(func() error { return d.cluster(wctx, &inv) })
	work.Go(func() (err error) {
		if s.group, err = d.Reader.Group(wctx, group); err != nil {
			return fmt.Errorf("describe group %s: %w", streams.Quote(group), err)
		}
		return nil
	})
	work.Go(func() error { mine.commits, mine.commitsErr = d.Reader.Commits(wctx, group, false); return nil })
	work.Go(func() error { mine.activity, mine.activityErr = d.Reader.Activity(wctx, group); return nil })
	work.Go(func() error { mine.broker, mine.brokerErr = d.Reader.BrokerConfigs(wctx); return nil })
	if err := work.Wait(); err != nil {
		return inv, err
	}
	inv.Group, inv.Kind = s.group, kindOf(s.group, streams.GroupList{})
	mine.into(&inv, &s)
	if !inv.Group.Exists && inv.Group.Fault == nil && len(s.commits) == 0 {
		return inv, d.noGroup(ctx, group)
	}
	names := slices.Sorted(maps.Keys(s.read()))
	if len(names) > 0 {
		topics, err := d.Reader.Topics(ctx, names...)
		if err != nil {
			return inv, fmt.Errorf("look at %d topics: %w", len(names), err)
		}
		for _, t := range topics {
			s.topics[t.Name] = t
		}
	}
	for _, name := range names {
		t := s.shape(name)
		t.Role, t.Evidence = streams.RoleInput, []string{s.reads(name)}
		if t.Internal != "" && t.Internal != streams.KindChangelog {
			t.Role = streams.RoleRepartition
		}
		inv.Topics = append(inv.Topics, t)
	}
	inv.Signs = s.signs(nil)
	inv.Tasks = tasksOf(inv.Group, s.topics)
	return inv, d.positions(ctx, &inv, s)
}

func (d Discoverer) noGroup(ctx context.Context, group string) error {
	list, err := d.Reader.Groups(ctx)
	if err != nil {
		return fmt.Errorf("list groups: %w", err)
	}
	return unknown(group, list, len(list.Groups) > 0)
}

// read are the topics that the group has commits on, subscribes to or is
// assigned.
func (s *sighting) read() map[string]bool {
	out := map[string]bool{}
	for tp := range s.commits {
		out[tp.Topic] = true
	}
	for tp := range s.commitFaults {
		out[tp.Topic] = true
	}
	for _, m := range s.group.Members {
		for _, n := range m.Subscribed {
			out[n] = true
		}
		for _, tp := range m.Assigned {
			out[tp.Topic] = true
		}
	}
	for _, st := range s.group.Topology {
		for _, n := range slices.Concat(st.SourceTopics, st.RepartitionSources) {
			out[n] = true
		}
	}
	return out
}
