package headless

import (
	"fmt"
	"io"
	"strings"

	"resurge/discovery"
	"resurge/streams"
)

// Look prints one look at a group that is followed: what it is, what moved.
func Look(w io.Writer, inv discovery.Inventory, m discovery.Moves) error {
	p := &printer{w: w}
	var lag int64
	known := len(inv.Topics) > 0 && inv.CommitsFault == nil
	for _, t := range inv.Topics {
		n, ok := t.Lag()
		lag, known = lag+n, known && ok
	}
	total := "?"
	if known {
		total = Group(lag)
	}
	p.f("%s  %s  %d %s  lag %s  %s\n", m.At.UTC().Format("15:04:05Z"), groupState(inv.Group), len(inv.Group.Members), plural(len(inv.Group.Members), "member"), total, Pace(m.Whole))
	for _, n := range m.Notes {
		p.f("  ! %s\n", streams.Quote(n))
	}
	for _, t := range inv.Topics {
		for _, s := range t.Partitions {
			tp := streams.TopicPartition{Topic: t.Name, Partition: s.Partition}
			if !m.Changed[tp] {
				continue
			}
			committed := "none"
			if s.Committed != nil {
				committed = Group(s.Committed.Offset)
			}
			p.f("  * %s  committed %s  end %s  lag %s  %s\n", streams.Quote(tp.String()), committed, number(s.End), number(s.Lag), Pace(m.Partitions[tp]))
		}
	}
	return p.err
}

// Pace writes rates, and how long it takes to catch up.
func Pace(p discovery.Pace) string {
	var parts []string
	if p.Consumed != nil {
		parts = append(parts, fmt.Sprintf("consumes %.1f/s", *p.Consumed))
	}
	if p.Produced != nil {
		parts = append(parts, fmt.Sprintf("grows %.1f/s", *p.Produced))
	}
	switch {
	case p.CatchUp != nil && *p.CatchUp > 0:
		parts = append(parts, "caught up in "+Short(*p.CatchUp))
	case p.Falling:
		parts = append(parts, "not catching up")
	}
	if len(parts) == 0 {
		return "pace not known yet"
	}
	return strings.Join(parts, ", ")
}
