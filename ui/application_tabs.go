package ui

import (
	"cmp"
	"fmt"
	"strings"

	tea "charm.land/bubbletea/v2"

	"resurge/discovery"
	"resurge/streams"
)

// overviewLines are the findings, the worst first, what to do next, what is well,
// then the topics.
func (s *applicationScreen) overviewLines() []line {
	w, _ := s.d.body()
	inv := s.data.inv
	var out []line
	if s.group {
		out = append(s.groupFacts(w), s.groupProblems(w)...)
	} else {
		out = s.findingLines(w)
	}
	out = append(out, s.noteLines(w)...)
	out = append(out, line{})
	out = append(out, listed(&s.topics, w)...)
	if len(s.alike.rows) > 0 {
		out = append(out, line{}, line{gap(1), txt(muted, "looks alike, not ours: left alone by every plan")})
		out = append(out, listed(&s.alike, w)[1:]...)
	}
	for _, t := range inv.Transactions {
		if s.found(t.TransactionalID) {
			continue
		}
		out = append(out, hang(line{gap(1), s.d.th.mark(markLook), gap(1)}, plain, "transaction "+t.TransactionalID+" is open: "+t.State+", since "+hms(t.Started)+" UTC", w)...)
	}
	for _, g := range inv.Gaps {
		if s.found(g.Error()) {
			continue
		}
		out = append(out, hang(line{gap(1), s.d.th.mark(markUnknown), gap(1)}, plain, "not known: "+brief(g), w)...)
	}
	for _, g := range inv.Unseen {
		out = append(out, hang(line{gap(1), s.d.th.mark(markNothing), gap(1)}, muted, "not looked at: "+brief(g), w)...)
	}
	return out
}

// found reports whether a finding tells of something already.
func (s *applicationScreen) found(what string) bool {
	for _, f := range s.data.as.Findings {
		if strings.Contains(f.Detail, streams.Quote(what)) {
			return true
		}
	}
	return false
}

// findingLines are the findings: what is wrong, what to do next, then what is good
// to know and what is well.
func (s *applicationScreen) findingLines(w int) []line {
	var out, rest []line
	switch older := s.data.inv.TakenAt.After(s.full.inv.TakenAt); {
	case older && s.outdated():
		out = append(out, line{gap(1), s.d.th.mark(markLook), txt(warn, " findings of "+hms(s.full.inv.TakenAt)+" UTC; the group is in another state now")})
	case older:
		out = append(out, line{gap(1), txt(muted, "findings and roles of "+hms(s.full.inv.TakenAt)+" UTC")})
	}
	head := len(out)
	for _, f := range sorted(s.data.as.Findings, func(a, b discovery.Finding) int {
		return cmp.Compare(severity(b.Level), severity(a.Level))
	}) {
		l := s.advised(f.Level, f.Name, f.Detail, f.Advice, w)
		if severity(f.Level) <= severity(discovery.LevelInfo) {
			rest = append(rest, l...)
		} else {
			out = append(out, l...)
		}
	}
	if len(out) > head {
		out = append(out, line{})
	}
	out = append(out, s.nextLines(w)...)
	if len(rest) > 0 {
		out = append(append(out, line{}), rest...)
	}
	return out
}

// listed are all rows of a table as lines, the titles first.
func listed[T any](t *table[T], w int) []line {
	widths := layout(t.cols, w-2)
	row := func(cells []span) line {
		l := line{gap(2)}
		for i, c := range t.cols {
			if widths[i] >= 0 {
				l = append(l, cell(cells[i], c, widths[i]), gap(1))
			}
		}
		return l
	}
	titles := make([]span, 0, len(t.cols))
	for _, c := range t.cols {
		titles = append(titles, txt(muted, c.title))
	}
	out := make([]line, 0, 1+len(t.rows))
	out = append(out, row(titles))
	for _, r := range t.rows {
		out = append(out, row(t.cells(r)))
	}
	return out
}

// groupFacts are what is known about a group of any kind.
func (s *applicationScreen) groupFacts(w int) []line {
	inv := s.data.inv
	f := &facts{w: w, name: 12}
	f.add("group", inv.Application)
	f.add("kind", kindName(inv.Kind)+", no sign of Kafka Streams: no ways back are offered for it")
	if inv.Group.Exists {
		f.add("protocol", protocolName(inv.Group.Protocol)+", coordinator is broker "+grouped(int64(inv.Group.Coordinator)))
		f.add("assignor", inv.Group.Assignor)
	}
	if inv.CommitsFault != nil {
		f.toned("not known", warn, brief(inv.CommitsFault))
	}
	f.add("next", "f follows it; 4 shows every partition; 5 who reads it")
	return f.lines
}

// groupProblems are what is wrong with a group of any kind, such as commits on
// records that are gone.
func (s *applicationScreen) groupProblems(w int) []line {
	var out []line
	for _, f := range s.data.as.Findings {
		if severity(f.Level) > severity(discovery.LevelInfo) {
			out = append(out, s.advised(f.Level, f.Name, f.Detail, f.Advice, w)...)
		}
	}
	if len(out) > 0 {
		out = append([]line{{}}, out...)
	}
	return out
}

// nextLines say what to do now, from the worst finding, and what runs out first.
func (s *applicationScreen) nextLines(w int) []line {
	worst, possible := 0, 0
	for _, f := range s.data.as.Findings {
		worst = max(worst, severity(f.Level))
	}
	for _, o := range s.data.as.Options {
		if o.Available {
			possible++
		}
	}
	text := "nothing to do now"
	if !s.follow.on {
		text += "; f follows it"
	}
	switch {
	case len(s.data.as.Findings) == 0:
		text = "nothing was found out about it: r reads it again"
	case worst == severity(discovery.LevelBad) && possible > 0:
		text = fmt.Sprintf("c compares the ways back: %d possible now; p the rights that they take", possible)
	case worst == severity(discovery.LevelBad):
		text = "c says why no way back is possible now; p which rights are missing"
	case worst == severity(discovery.LevelLook):
		text = "look at what is marked !; f shows whether it moves, c compares the ways back"
	case worst == severity(discovery.LevelUnknown):
		text = "what is marked ? is not known: p shows which rights are missing"
	}
	out := hang(line{gap(1), txt(accent, "next"), gap(2)}, plain, text, w)
	for _, c := range s.data.as.Clocks {
		if left, ok := s.left(c); ok {
			tone := levelTone(c.Level)
			out = append(out, hang(line{gap(1), txt(accent, "clock"), gap(1)}, tone, c.Name+" "+leftText(left)+"; 6 shows every clock", w)...)
			break
		}
	}
	return out
}

// advised puts a name in front and the detail beside it, below it where there is
// no room.
func (s *applicationScreen) advised(l discovery.Level, title, detail, advice string, w int) []line {
	const name = 20
	mark := s.d.th.mark(levelMark(l))
	head := line{gap(1), mark.left(s.d.th.markWidth()), gap(1)}
	t := levelTone(l)
	if t == plain {
		t = strong
	}
	var out []line
	if title := txt(t, title); w >= 60 && title.width <= name {
		out = hang(append(head, title.left(name), gap(1)), plain, detail, w)
	} else {
		out = append(out, append(head, title))
		out = append(out, hang(line{gap(4)}, plain, detail, w)...)
	}
	if advice != "" {
		indent := 4
		if w >= 60 {
			indent = name + 4
		}
		out = append(out, hang(line{gap(indent), txt(accent, "→ ")}, plain, advice, w)...)
	}
	return out
}

// openAction opens what is selected.
func (s *applicationScreen) openAction(early string) []action {
	none := func(ok bool, what string) string {
		if early == "" && !ok {
			return "no " + what + " is selected"
		}
		return early
	}
	one := func(what, off string, r func() reading) []action {
		return []action{{keys: []string{"enter"}, label: what, help: "everything about what is selected", off: off, do: func() tea.Cmd {
			page := r()
			page.asOf = hms(s.data.inv.TakenAt) + " UTC"
			s.d.push(newTextScreen(s.d, page))
			return nil
		}}}
	}
	switch s.tab {
	case tabTopics:
		from := &s.topics
		if s.asAlike {
			from = &s.alike
		}
		t, ok := from.selected()
		return one("topic", none(ok, "topic"), func() reading { return s.topicText(t) })
	case tabTasks:
		t, ok := s.tasks.selected()
		return one("task", none(ok, "task"), func() reading { return s.taskText(t) })
	case tabOffsets:
		r, ok := s.offsets.selected()
		return one("partition", none(ok, "partition"), func() reading { return s.partitionText(r) })
	case tabMembers:
		m, ok := s.members.selected()
		return one("member", none(ok, "member"), func() reading { return s.memberText(m) })
	case tabKeep:
		k, ok := s.keep.selected()
		return one("topic", none(ok, "topic"), func() reading { return s.keepText(k) })
	}
	return nil
}
