package ui

import (
	"cmp"
	"fmt"
	"strings"

	"resurge/discovery"
	"resurge/streams"
)

// detailHeight is the room for the selected row's details.
func (s *applicationScreen) detailHeight(h int) int {
	if h < 14 {
		return 0
	}
	return min(6, h/3)
}

// overviewLines are the findings, the worst first, then the topics.
func (s *applicationScreen) overviewLines() []line {
	w, _ := s.d.body()
	inv := s.data.inv
	var out []line
	for _, f := range sorted(s.data.as.Findings, func(a, b discovery.Finding) int {
		return cmp.Compare(severity(b.Level), severity(a.Level))
	}) {
		out = append(out, s.finding(f, w)...)
	}
	out = append(out, line{}, s.groupLine(), line{})
	widths := layout(s.topics.cols, w-2)
	row := func(cells []span) line {
		l := line{gap(2)}
		for i, c := range s.topics.cols {
			if widths[i] >= 0 {
				l = append(l, cell(cells[i], c, widths[i]), gap(1))
			}
		}
		return l
	}
	titles := make([]span, 0, len(s.topics.cols))
	for _, c := range s.topics.cols {
		titles = append(titles, txt(muted, c.title))
	}
	out = append(out, row(titles))
	for _, t := range s.topics.rows {
		out = append(out, row(s.topicCells(t)))
	}
	for _, t := range inv.Transactions {
		out = append(out, hang(line{gap(1), s.d.th.mark(markLook), gap(1)}, plain, "transaction "+t.TransactionalID+" is open: "+t.State+", since "+hms(t.Started)+" UTC", w)...)
	}
	for _, g := range inv.Gaps {
		out = append(out, hang(line{gap(1), s.d.th.mark(markUnknown), gap(1)}, plain, "not known: "+g.Error(), w)...)
	}
	return out
}

// finding puts the name in front and the detail beside it, below it where there
// is no room.
func (s *applicationScreen) finding(f discovery.Finding, w int) []line {
	const name = 20
	mark := s.d.th.mark(levelMark(f.Level))
	head := line{gap(1), mark.left(s.d.th.markWidth()), gap(1)}
	t := levelTone(f.Level)
	if t == plain {
		t = strong
	}
	var out []line
	if title := txt(t, f.Name); w >= 60 && title.width <= name {
		out = hang(append(head, title.left(name), gap(1)), plain, f.Detail, w)
	} else {
		out = append(out, append(head, title))
		out = append(out, hang(line{gap(4)}, plain, f.Detail, w)...)
	}
	if f.Advice != "" {
		indent := 4
		if w >= 60 {
			indent = name + 4
		}
		out = append(out, hang(line{gap(indent), txt(accent, "→ ")}, plain, f.Advice, w)...)
	}
	return out
}

func (s *applicationScreen) groupLine() line {
	g := s.data.inv.Group
	l := line{gap(1), txt(muted, "group  ")}
	switch {
	case g.Fault != nil:
		return append(l, s.d.th.mark(markUnknown), txt(plain, " not known: "+brief(g.Fault)))
	case !g.Exists:
		return append(l, txt(plain, "does not exist"))
	}
	parts := []string{groupState(g.State), protocolName(g.Protocol), plural(len(g.Members), "member"), fmt.Sprintf("coordinator %d", g.Coordinator)}
	return append(l, txt(plain, strings.Join(parts, " · ")), txt(muted, " · read "+hms(s.data.inv.TakenAt)+" UTC"))
}

func (s *applicationScreen) topicCells(t discovery.Topic) []span {
	mark, tone := gap(0), plain
	partitions := grouped(int64(len(t.Partitions)))
	switch {
	case streams.IsFault(faultErr(t.Fault), streams.FaultNotFound):
		mark, tone, partitions = s.d.th.mark(markBad), danger, "-"
	case t.Fault != nil:
		mark, partitions = s.d.th.mark(markUnknown), unknown
	case t.Role == streams.RoleLookalike:
		tone = muted
	}
	records, ok := t.Records()
	count := txt(plain, known(records, ok))
	if partitions == "-" {
		count = txt(plain, "-")
	}
	return []span{
		txt(muted, roleName(t.Role)), mark, txt(tone, t.Name), txt(plain, partitions), count,
		txt(plain, committedParts(t)), txt(plain, topicLag(t)),
	}
}

// faultErr keeps a nil fault a nil error.
func faultErr(f *streams.Fault) error {
	if f == nil {
		return nil
	}
	return f
}

// committedParts says how many partitions have a committed offset.
func committedParts(t discovery.Topic) string {
	if !hasPosition(t) {
		return "-"
	}
	n := 0
	for _, p := range t.Partitions {
		if p.Fault != nil {
			return unknown
		}
		if p.Committed != nil {
			n++
		}
	}
	return fmt.Sprintf("%d/%d", n, len(t.Partitions))
}

func topicLag(t discovery.Topic) string {
	if !hasPosition(t) {
		return "-"
	}
	n, ok := t.Lag()
	return known(n, ok)
}

// hasPosition reports whether the group commits offsets on topics of this role.
func hasPosition(t discovery.Topic) bool {
	return t.Role == streams.RoleInput || t.Role == streams.RoleRepartition
}

func (s *applicationScreen) viewTopics(p *page) {
	details := s.detailHeight(p.h)
	s.topics.draw(p, p.room()-details)
	t, ok := s.topics.selected()
	if details == 0 {
		return
	}
	p.add()
	if !ok {
		p.add(gap(1), txt(plain, "Nothing matches "), txt(strong, s.topics.filter), txt(plain, ". esc shows all."))
		return
	}
	for i, part := range wrap(strong, t.Name, p.w-2) {
		if i < 2 {
			p.add(gap(1), part)
		}
	}
	if t.Fault != nil {
		p.addLines(hang(line{gap(1), s.d.th.mark(markUnknown), gap(1)}, plain, brief(t.Fault), p.w)...)
	}
	for _, e := range t.Evidence {
		p.addLines(hang(line{gap(1)}, plain, e, p.w)...)
	}
}

func (s *applicationScreen) offsetCells(r partitionRow) []span {
	committed, lag := positionTexts(r.PartitionState)
	return []span{
		txt(plain, r.topic), txt(plain, grouped(int64(r.Partition))), txt(plain, number(r.Start)),
		txt(plain, committed), txt(plain, number(r.End)), txt(plain, lag),
	}
}

// positionTexts are the committed offset and the lag: "-" where the group has
// none, "?" where it is not known.
func positionTexts(p discovery.PartitionState) (committed, lag string) {
	switch {
	case p.Fault != nil:
		return unknown, unknown
	case p.Committed == nil:
		return "-", "-"
	}
	return grouped(p.Committed.Offset), number(p.Lag)
}

func (s *applicationScreen) viewOffsets(p *page) {
	if len(s.offsets.rows) == 0 {
		p.add(gap(1), s.d.th.mark(markNothing), txt(plain, " No partition is known."))
		return
	}
	s.offsets.draw(p, p.room())
}

func (s *applicationScreen) memberCells(m streams.Member) []span {
	static := m.InstanceID
	if static == "" {
		static = "-"
	}
	active, standby := grouped(int64(len(m.Active))), grouped(int64(len(m.Standby)))
	if m.Fault != nil {
		active, standby = unknown, unknown
	}
	return []span{txt(plain, m.ClientID), txt(plain, m.Host), txt(plain, static), txt(plain, active), txt(plain, standby)}
}

func (s *applicationScreen) viewMembers(p *page) {
	p.add(s.groupLine()...)
	p.add()
	if len(s.members.rows) == 0 {
		text := "No members: no instance is connected."
		if s.data.inv.Group.Fault != nil {
			text = "The members are not known."
		}
		p.add(gap(1), s.d.th.mark(markNothing), txt(plain, " "+text))
		return
	}
	details := s.detailHeight(p.h)
	s.members.draw(p, p.room()-details)
	m, ok := s.members.selected()
	if details == 0 || !ok {
		return
	}
	p.add()
	p.addLines(hang(line{gap(1), txt(muted, "member   ")}, plain, m.ID, p.w)...)
	p.addLines(hang(line{gap(1), txt(muted, "tasks    ")}, plain, tasks(m), p.w)...)
	if m.Endpoint != "" {
		p.addLines(hang(line{gap(1), txt(muted, "endpoint ")}, plain, m.Endpoint, p.w)...)
	}
	if m.Fault != nil {
		p.addLines(hang(line{gap(1), s.d.th.mark(markUnknown), gap(1)}, plain, brief(m.Fault), p.w)...)
	}
}

func tasks(m streams.Member) string {
	list := func(ids []streams.TaskID) string {
		out := make([]string, 0, len(ids))
		for _, id := range ids {
			out = append(out, fmt.Sprint(id))
		}
		if len(out) == 0 {
			return "none"
		}
		return strings.Join(out, " ")
	}
	return "active " + list(m.Active) + " · standby " + list(m.Standby)
}
