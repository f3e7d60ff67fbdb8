package ui

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	tea "charm.land/bubbletea/v2"

	"resurge/discovery"
	"resurge/streams"
)

var roles = []streams.Role{streams.RoleInput, streams.RoleGlobal, streams.RoleChangelog, streams.RoleRepartition, streams.RoleOutput, streams.RoleLookalike}

func roleOrder(r streams.Role) int {
	if i := slices.Index(roles, r); i >= 0 {
		return i
	}
	return len(roles)
}

func roleName(r streams.Role) string {
	if r == streams.RoleLookalike {
		return "not ours"
	}
	return string(r)
}

func topicKey(t discovery.Topic) string { return t.Name }

func topicSearch(t discovery.Topic) string {
	return t.Name + " " + roleName(t.Role) + " " + t.StoreKind
}

// topicOrders are the ways to sort topics.
var topicOrders = []ordering[discovery.Topic]{
	{"by role", func(a, b discovery.Topic) int {
		return cmp.Or(cmp.Compare(roleOrder(a.Role), roleOrder(b.Role)), cmp.Compare(a.Name, b.Name))
	}},
	{"by name", func(a, b discovery.Topic) int { return cmp.Compare(a.Name, b.Name) }},
	{"by lag", func(a, b discovery.Topic) int {
		return cmp.Or(cmp.Compare(topicOrder(b), topicOrder(a)), cmp.Compare(a.Name, b.Name))
	}},
}

// topicOrder is the lag; what is not known is first, what has none last.
func topicOrder(t discovery.Topic) int64 {
	if t.Role != streams.RoleInput && t.Role != streams.RoleRepartition {
		return -1
	}
	if n, ok := t.Lag(); ok {
		return n
	}
	return lagOf(nil)
}

func (s *applicationScreen) topicColumns() []column {
	records, lag, name := 7, 6, 20
	for _, t := range s.data.inv.Topics {
		name = min(max(name, txt(plain, t.Name).width), 40)
		if n, ok := t.Records(); ok {
			records = numberWidth(records, &n)
		}
		lag = max(lag, len(s.topicLag(t)))
	}
	if s.d.w < 60 {
		name = min(name, 20)
	}
	cols := []column{
		{title: "ROLE", width: 11},
		{width: s.d.th.markWidth()},
		{title: "TOPIC", width: name, flex: 1, mid: true},
		{width: 1},
		{title: "STORE", width: 12, drop: 6},
		{title: "PARTS", width: 5, right: true, drop: 3},
		{title: "RECORDS", width: records, right: true, drop: 2},
		{title: "COMMITTED", width: 9, right: true, drop: 5},
		{title: "LAG", width: lag, right: true, drop: 1},
		{title: "READS", width: 8, right: true, drop: 4},
		{title: "WRITTEN", width: 8, right: true, drop: 7},
	}
	if !s.follow.on {
		cols = cols[:9]
	}
	if s.group {
		cols[0], cols[4] = cols[0].without(), cols[4].without()
	}
	return cols
}

func (s *applicationScreen) topicCells(t discovery.Topic) []span {
	mark, tone := gap(0), plain
	partitions := grouped(int64(len(t.Partitions)))
	switch {
	case streams.IsFault(faultErr(t.Fault), streams.FaultNotFound):
		mark, tone, partitions = s.d.th.mark(markBad), danger, "-"
	case t.Fault != nil:
		mark, partitions = s.d.th.mark(markUnknown), unknown
	}
	records, ok := t.Records()
	count := txt(plain, known(records, ok))
	if partitions == "-" {
		count = txt(plain, "-")
	}
	kind := t.StoreKind
	if t.TableSource {
		kind = "table source"
	}
	out := []span{
		txt(muted, roleName(t.Role)), mark, txt(tone, t.Name), s.topicMoved(t), txt(muted, kind), txt(plain, partitions), count,
		txt(plain, s.committedParts(t)), txt(plain, s.topicLag(t)),
	}
	if s.follow.on {
		reads, written := txt(plain, "-"), txt(plain, "-")
		if s.reads(t) {
			p := s.follow.moves.Topics[t.Name]
			reads, written = txt(plain, rate(p.Consumed)), txt(plain, rate(p.Produced))
		}
		out = append(out, reads, written)
	}
	return out
}

func (s *applicationScreen) alikeColumns() []column {
	return []column{
		{width: s.d.th.markWidth()},
		{title: "TOPIC", width: 26, flex: 1, mid: true},
		{title: "PARTS", width: 5, right: true, drop: 2},
		{title: "RECORDS", width: 13, right: true, drop: 3},
		{title: "WHY IT IS LEFT ALONE", width: 20, flex: 1, drop: 1},
	}
}

func (s *applicationScreen) alikeCells(t discovery.Topic) []span {
	mark := markNothing
	switch {
	case t.Fault != nil:
		mark = markUnknown
	case t.Ambiguous:
		mark = markLook
	}
	records, ok := t.Records()
	return []span{
		s.d.th.mark(mark), txt(muted, t.Name), txt(plain, grouped(int64(len(t.Partitions)))), txt(plain, known(records, ok)),
		txt(muted, strings.Join(t.Evidence, "; ")),
	}
}

// alikeAction changes between the application's topics and those that look alike.
func (s *applicationScreen) alikeAction(off string) action {
	help, label := "topics that look alike and are not ours; again: back", "not ours: "+grouped(int64(len(s.alike.rows)))
	if s.asAlike {
		label = "our topics"
	}
	if off == "" && len(s.alike.rows) == 0 && !s.asAlike {
		off = "no other topic looks alike"
		label = ""
	}
	if off != "" {
		label = ""
	}
	return action{keys: []string{"l"}, label: label, help: help, off: off, do: func() tea.Cmd { s.asAlike = !s.asAlike; return nil }}
}

// faultErr keeps a nil fault a nil error.
func faultErr(f *streams.Fault) error {
	if f == nil {
		return nil
	}
	return f
}

// reads reports whether the group commits offsets on topics like this one.
func (s *applicationScreen) reads(t discovery.Topic) bool {
	return t.Role == streams.RoleInput || t.Role == streams.RoleRepartition
}

// committedParts says how many partitions have a committed offset.
func (s *applicationScreen) committedParts(t discovery.Topic) string {
	if !s.reads(t) {
		return "-"
	}
	if s.data.inv.CommitsFault != nil || t.Fault != nil {
		return unknown
	}
	n := 0
	for _, p := range t.Partitions {
		if p.Fault != nil && p.Committed == nil {
			return unknown
		}
		if p.Committed != nil {
			n++
		}
	}
	if n == 0 && len(t.Partitions) > 0 {
		return "none"
	}
	return fmt.Sprintf("%d/%d", n, len(t.Partitions))
}

func (s *applicationScreen) topicLag(t discovery.Topic) string {
	if !s.reads(t) {
		return "-"
	}
	n, ok := t.Lag()
	return known(n, ok && s.data.inv.CommitsFault == nil)
}

func (s *applicationScreen) topicsLine() line {
	if s.asAlike {
		return line{gap(1), txt(plain, plural(len(s.alike.rows), "topic")+" that look alike and are not ours: no plan touches them"), txt(muted, s.alike.way())}
	}
	l := line{gap(1), txt(plain, plural(len(s.topics.rows), "topic")), txt(muted, s.topics.way())}
	if n := len(s.alike.rows); n > 0 {
		l = append(l, txt(plain, " · "+grouped(int64(n))+" more look alike, not ours: "), txt(strong, "l"))
	}
	return l
}

func (s *applicationScreen) viewTopics(p *page) {
	details := detailHeight(p.h)
	if s.asAlike {
		if len(s.alike.rows) == 0 {
			p.add(gap(1), s.d.th.mark(markNothing), txt(plain, " There is none."))
			return
		}
		s.alike.draw(p, p.room()-details)
		s.topicDetails(p, &s.alike, details)
		return
	}
	if len(s.topics.rows) == 0 {
		p.add(gap(1), s.d.th.mark(markNothing), txt(plain, " No topic: it has no commit, no subscription and no internal topic."))
		return
	}
	s.topics.draw(p, p.room()-details)
	s.topicDetails(p, &s.topics, details)
}

func (s *applicationScreen) topicDetails(p *page, from *table[discovery.Topic], room int) {
	if room == 0 {
		return
	}
	p.add()
	t, ok := from.selected()
	if !ok {
		from.nothing(p)
		return
	}
	for i, part := range wrap(strong, t.Name, p.w-2) {
		if i < 2 {
			p.add(gap(1), part)
		}
	}
	if t.Fault != nil {
		mark := markUnknown
		if t.Fault.Kind == streams.FaultNotFound {
			mark = markBad
		}
		p.addLines(hang(line{gap(1), s.d.th.mark(mark), gap(1)}, plain, brief(t.Fault), p.w)...)
	}
	for _, e := range t.Evidence {
		p.addLines(hang(line{gap(1)}, plain, e, p.w)...)
	}
}
