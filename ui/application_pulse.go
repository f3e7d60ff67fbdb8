package ui

import (
	"slices"
	"time"

	"resurge/discovery"
)

// pulseHeight is the room for the lines above every tab.
func (s *applicationScreen) pulseHeight(h int) int {
	n := 1
	if s.follow.on {
		n++
	}
	if h >= 14 {
		n++ // a blank one, or what the list is
	}
	return n
}

// pulse says how the group is and how old that is; while it is followed, how it
// moves.
func (s *applicationScreen) pulse(p *page, h int) {
	p.add(spread(s.groupLine(p.w-s.ageSpan().width-2), line{s.ageSpan(), gap(1)}, p.w)...)
	if s.follow.on {
		p.add(spread(s.paceLine(p.w-10), line{txt(muted, "every "+short(s.follow.every)), gap(1)}, p.w)...)
	}
	if s.err != nil {
		p.add(gap(1), s.d.th.mark(markLook), txt(warn, " not read again: "+brief(s.err)))
	}
	if h >= 14 {
		p.add(s.listLine()...)
	}
}

// listLine says what the list on the tab is, and in which order.
func (s *applicationScreen) listLine() line {
	inv := s.data.inv
	what, n := "", 0
	switch s.tab {
	case tabTopics:
		return s.topicsLine()
	case tabTasks:
		n = len(s.tasks.rows)
		what = plural(n, "task")
	case tabOffsets:
		n = len(s.offsets.rows)
		what = plural(n, "partition")
	case tabMembers:
		n = len(s.members.rows)
		what = plural(n, "member")
		if v := groupVersions(inv.Group); v != "" {
			what += ", " + v
		}
	case tabKeep:
		n = len(s.keep.rows)
		what = "what to keep: " + plural(n, "row")
	}
	l, ok := s.mover().(lister)
	if !ok || n == 0 {
		return nil
	}
	return line{gap(1), txt(plain, what), txt(muted, l.way())}
}

// ageSpan is how old the positions are, and whether newer ones are asked for.
func (s *applicationScreen) ageSpan() span {
	old := age(s.d.since(s.data.inv.TakenAt))
	r := s.request
	if s.follow.on {
		r = s.follow.request
	}
	switch {
	case s.err != nil || s.follow.on && s.follow.err != nil:
		return txt(warn, "! "+old+" old")
	case r.out && s.d.since(r.since) >= 2*time.Second:
		return txt(warn, old+" old, asking"+ellipsis)
	}
	return txt(muted, "read "+old+" ago")
}

// groupLine is the state of the group in as many words as fit.
func (s *applicationScreen) groupLine(w int) line {
	inv := s.data.inv
	g := inv.Group
	if g.Fault != nil {
		return line{gap(1), s.d.th.mark(markUnknown), txt(plain, " group not known: "+brief(g.Fault))}
	}
	state := "no group of this name"
	var parts []string
	if g.Exists {
		state = groupState(g.State)
		parts = []string{plural(len(g.Members), "member"), "lag " + s.lagText(), s.activityText(), s.kindText()}
	} else {
		parts = []string{"lag " + s.lagText(), s.activityText()}
	}
	out := line{gap(1), txt(strong, state)}
	for _, part := range parts {
		if n := txt(plain, " · "+part); part != "" && out.width()+n.width <= w {
			out = append(out, n)
		}
	}
	return out
}

func (s *applicationScreen) kindText() string {
	if k := s.data.inv.Kind; s.group && k != "" {
		return kindName(k)
	}
	return protocolName(s.data.inv.Group.Protocol) + " group"
}

// lagText is the lag of everything that the group reads.
func (s *applicationScreen) lagText() string {
	var total int64
	known, none := false, true
	for _, t := range s.data.inv.Topics {
		if !s.reads(t) {
			continue
		}
		n, ok := t.Lag()
		if !ok || s.data.inv.CommitsFault != nil {
			return unknown
		}
		total, known = total+n, true
		none = none && !slices.ContainsFunc(t.Partitions, func(p discovery.PartitionState) bool { return p.Committed != nil })
	}
	switch {
	case s.data.inv.CommitsFault != nil:
		return unknown
	case !known:
		return "none: it reads nothing"
	case none:
		return grouped(total) + ", nothing committed"
	}
	return grouped(total)
}

// activityText is when the group last committed, or emptied.
func (s *applicationScreen) activityText() string {
	act := s.data.inv.Activity
	switch {
	case act == nil:
		return ""
	case !act.Emptied.IsZero() && len(s.data.inv.Group.Members) == 0:
		return "empty for " + age(s.d.since(act.Emptied))
	case !act.LastCommit.IsZero():
		return "last commit " + age(s.d.since(act.LastCommit)) + " ago"
	case act.Whole:
		return "no commit on record"
	case !act.Since.IsZero():
		return "no commit for " + age(s.d.since(act.Since)) + " at least"
	}
	return ""
}
