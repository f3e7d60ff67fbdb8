package discovery

import (
	"context"
	"fmt"
	"slices"

	"golang.org/x/sync/errgroup"

	"resurge/streams"
)

// reading is what one other group reads, and which internal topics it names its
// own.
type reading struct {
	group  string
	topics map[string]bool
	claims []string
	faults []*streams.Fault
}

// others asks every other group what it reads: by its commits and, while it is
// alive, by what its members subscribe to.
func (d Discoverer) others(ctx context.Context, app string, list streams.GroupList) ([]reading, error) {
	var ids []string
	var alive []streams.GroupListing
	for _, g := range list.Groups {
		if g.ID == app {
			continue
		}
		ids = append(ids, g.ID)
		if g.State != streams.StateEmpty || g.Protocol == streams.ProtocolStreams {
			alive = append(alive, g)
		}
	}
	var commits map[string]streams.GroupCommits
	var described []streams.Group
	work, wctx := errgroup.WithContext(ctx)
	work.Go(func() (err error) {
		commits, err = d.Reader.CommitsOf(wctx, ids)
		return err
	})
	work.Go(func() (err error) {
		described, err = d.Reader.DescribeGroups(wctx, alive)
		return err
	})
	if err := work.Wait(); err != nil {
		return nil, fmt.Errorf("ask the other groups: %w", err)
	}
	byGroup := make(map[string]int, len(ids))
	out := make([]reading, len(ids))
	for i, id := range ids {
		byGroup[id] = i
		out[i] = readingOf(id, commits)
	}
	for _, g := range described {
		if i, ok := byGroup[g.ID]; ok {
			out[i].describe(g)
		}
	}
	return out, nil
}

func readingOf(id string, commits map[string]streams.GroupCommits) reading {
	r := reading{group: id, topics: map[string]bool{}}
	c, ok := commits[id]
	switch {
	case !ok:
		r.faults = append(r.faults, &streams.Fault{Kind: streams.FaultOther, What: "committed offsets of group " + streams.Quote(id), Message: "there was no answer"})
	case c.Fault != nil && c.Fault.Kind != streams.FaultNotFound: // not found: it went meanwhile
		r.faults = append(r.faults, c.Fault)
	}
	for tp := range c.Faults {
		r.topics[tp.Topic] = true // it has a commit there, whatever it is
	}
	for tp := range c.Offsets {
		r.topics[tp.Topic] = true
	}
	return r
}

func (r *reading) describe(g streams.Group) {
	if g.Fault != nil {
		r.faults = append(r.faults, g.Fault)
	}
	for _, m := range g.Members {
		for _, t := range m.Subscribed {
			r.topics[t] = true
		}
		for _, tp := range m.Assigned {
			r.topics[tp.Topic] = true
		}
	}
	for _, st := range g.Topology {
		r.claims = append(r.claims, slices.Concat(st.RepartitionSources, st.RepartitionSinks, st.Changelogs)...)
		for _, t := range st.SourceTopics {
			r.topics[t] = true
		}
	}
}

// take folds what the other groups read. A group that did not answer is a gap.
func (s *sighting) take(others []reading) (gaps []*streams.Fault) {
	s.asked = true
	for _, a := range others {
		for t := range a.topics {
			s.readers[t] = append(s.readers[t], a.group)
		}
		for _, t := range a.claims {
			s.claims[t] = a.group
		}
		gaps = append(gaps, a.faults...)
		s.asked = s.asked && len(a.faults) == 0
	}
	return gaps
}

// OtherReaders is what the groups beside one application read and claim.
type OtherReaders struct {
	// Readers are the groups that have commits on a topic or subscribe to it.
	Readers map[string][]string
	// Claims are the groups whose topology names an internal topic.
	Claims map[string]string
	// Gaps are groups that did not answer, or could not be listed: with one of
	// them a topic without a reader may have one all the same.
	Gaps []*streams.Fault
	// Filtered says that groups may exist that this principal may not see.
	Filtered *streams.Fault
}

// OtherReaders asks every group beside the application what it reads.
func (d Discoverer) OtherReaders(ctx context.Context, app string) (OtherReaders, error) {
	list, err := d.Reader.Groups(ctx)
	if err != nil {
		return OtherReaders{}, fmt.Errorf("list groups: %w", err)
	}
	others, err := d.others(ctx, app, list)
	if err != nil {
		return OtherReaders{}, err
	}
	s := sighting{readers: map[string][]string{}, claims: map[string]string{}}
	gaps := slices.Concat(s.take(others), list.Faults)
	return OtherReaders{Readers: s.readers, Claims: s.claims, Gaps: gaps, Filtered: list.Filtered}, nil
}
