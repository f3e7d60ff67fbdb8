package ui

import (
	"cmp"
	"context"
	"math"
	"strings"

	tea "charm.land/bubbletea/v2"

	"resurge/discovery"
	"resurge/streams"
)

// groupsScreen lists every group of the cluster, of every kind.
type groupsScreen struct {
	d       *desk
	request request
	survey  discovery.GroupSurvey
	loaded  bool
	err     error
	table   table[discovery.GroupRow]
}

// groupOrders are the ways to sort.
var groupOrders = []ordering[discovery.GroupRow]{
	{"by name", byGroup},
	{"by lag", func(a, b discovery.GroupRow) int {
		return cmp.Or(cmp.Compare(groupLag(b), groupLag(a)), byGroup(a, b))
	}},
	{"by members", func(a, b discovery.GroupRow) int {
		return cmp.Or(cmp.Compare(memberCount(b), memberCount(a)), byGroup(a, b))
	}},
	{"by state", func(a, b discovery.GroupRow) int {
		return cmp.Or(cmp.Compare(groupRowState(a), groupRowState(b)), byGroup(a, b))
	}},
}

func byGroup(a, b discovery.GroupRow) int { return cmp.Compare(a.Group, b.Group) }

// groupLag puts what is not known first, and groups without a commit last.
func groupLag(r discovery.GroupRow) int64 {
	if nothingCommitted(r) {
		return -1
	}
	return lagOf(r.Lag)
}

func memberCount(r discovery.GroupRow) int {
	if r.Members == nil {
		return math.MaxInt
	}
	return *r.Members
}

// nothingCommitted says that the group is known to have no commit at all: it
// then has no lag, which is not the same as an unknown one.
func nothingCommitted(r discovery.GroupRow) bool {
	return r.Fault == nil && r.Partitions != nil && *r.Partitions == 0
}

func newGroupsScreen(d *desk) *groupsScreen {
	s := &groupsScreen{d: d}
	s.table = table[discovery.GroupRow]{
		key:   func(r discovery.GroupRow) string { return r.Group },
		text:  func(r discovery.GroupRow) string { return r.Group + " " + groupKind(r) + " " + groupRowState(r) },
		cells: s.cells, orders: groupOrders,
	}
	s.columns()
	s.resize()
	return s
}

func (s *groupsScreen) columns() {
	lag := 10
	for _, r := range s.survey.Rows {
		lag = numberWidth(lag, r.Lag)
	}
	s.table.cols = []column{
		{width: s.d.th.markWidth()},
		{title: "GROUP", width: 18, flex: 1, mid: true},
		{title: "KIND", width: 16, drop: 2},
		{title: "STATE", width: 12, drop: 1},
		{title: "MEMBERS", width: 7, right: true, drop: 3},
		{title: "TOPICS", width: 6, right: true, drop: 5},
		{title: "PARTS", width: 6, right: true, drop: 4},
		{title: "LAG", width: lag, right: true},
	}
}

func (s *groupsScreen) resize() {
	_, h := s.d.body()
	s.table.resize(h - 1 - detailHeight(h))
}

func (s *groupsScreen) cells(r discovery.GroupRow) []span {
	topics, parts, lag := number(r.Topics), number(r.Partitions), number(r.Lag)
	switch {
	case r.Kind == streams.KindShare && r.Fault == nil:
		topics, parts, lag = "-", "-", "-" // a share group has no committed offset that could lag
	case nothingCommitted(r):
		lag = "none"
	}
	kind := txt(plain, groupKind(r))
	if r.Streams {
		kind = kind.in(accent)
	}
	return []span{
		s.d.th.mark(groupMark(r)), txt(plain, r.Group), kind, txt(plain, groupRowState(r)),
		txt(plain, number(r.Members)), txt(plain, topics), txt(plain, parts), txt(plain, lag),
	}
}

// groupMark never says good: what a group of another kind should be is not known.
func groupMark(r discovery.GroupRow) string {
	share := r.Kind == streams.KindShare
	switch {
	case r.Fault != nil || r.Members == nil || r.Lag == nil && !share && !nothingCommitted(r):
		return markUnknown
	case *r.Members == 0 && r.Lag != nil && *r.Lag > 0:
		return markLook
	}
	return markNothing
}

// groupKind is the kind in words; applications of Kafka Streams are marked.
func groupKind(r discovery.GroupRow) string {
	switch {
	case r.Streams && r.Kind == streams.KindStreams:
		return "Streams (1071)"
	case r.Streams:
		return "Streams, " + string(r.Kind)
	}
	return kindName(r.Kind)
}

func kindName(k streams.GroupKind) string {
	switch k {
	case "":
		return unknown
	case streams.KindCommits:
		return "commits only"
	case streams.KindStreams, streams.KindConsumer, streams.KindShare, streams.KindClassic, streams.KindConnect, streams.KindOther:
	}
	return string(k)
}

func groupRowState(r discovery.GroupRow) string {
	if r.Fault != nil {
		return strings.ReplaceAll(string(r.Fault.Kind), "_", " ")
	}
	return groupState(r.State)
}

func (s *groupsScreen) refresh() tea.Cmd {
	ex := s.d.s.Explorer
	return ask(s.d, &s.request, func(ctx context.Context) (discovery.GroupSurvey, error) { return ex.Groups(ctx) })
}

func (s *groupsScreen) handle(msg tea.Msg) tea.Cmd {
	switch msg := msg.(type) {
	case answer[discovery.GroupSurvey]:
		if s.request.is(msg.number) {
			s.take(msg.value, msg.err)
		}
	case tickMsg:
		if s.loaded && s.d.due(s.request, surveyEvery) {
			return s.refresh()
		}
	case tea.WindowSizeMsg:
		s.resize()
	case relookMsg:
		s.columns()
	case leftMsg:
		s.request.drop()
	}
	return nil
}

func (s *groupsScreen) take(v discovery.GroupSurvey, err error) {
	s.err = err
	s.request.done(s.d.now)
	if err != nil {
		return
	}
	s.survey, s.loaded = v, true
	s.d.learn(v.Cluster)
	s.columns()
	s.table.set(v.Rows)
}

// openGroups shows all groups, below the list of applications.
func (d *desk) openGroups() tea.Cmd {
	d.keep(1)
	s := newGroupsScreen(d)
	d.push(s)
	return s.refresh()
}

func (s *groupsScreen) actions() []action {
	row, ok := s.table.selected()
	early, none := "", ""
	switch {
	case !s.loaded:
		early, none = "the list is not there yet", "the list is not there yet"
	case !ok:
		none = "no group is selected"
	}
	out := make([]action, 0, 16)
	out = append(out, action{keys: []string{"enter"}, label: "open", help: "open the application, or the group", off: none, do: func() tea.Cmd { return s.open(row) }})
	out = append(out, s.table.tools(s.d, early)...)
	out = append(out,
		action{keys: []string{"r"}, label: "refresh", help: "ask the cluster again", do: s.refresh},
		action{keys: []string{"y"}, help: "copy the group's ID", off: none, do: func() tea.Cmd { return s.d.copyText("the group's ID", row.Group) }},
	)
	return append(out, moves(&s.table)...)
}

func (s *groupsScreen) open(row discovery.GroupRow) tea.Cmd {
	app := newApplicationScreen(s.d, row.Group)
	app.group = !row.Streams
	s.d.push(app)
	return app.refresh()
}

func (s *groupsScreen) head() head {
	h := head{name: "groups"}
	if s.loaded {
		h.status = s.d.listStatus(s.table.status(), s.survey.TakenAt, s.request, s.err, false)
	}
	return h
}

func (s *groupsScreen) view(w, h int) string {
	p := newPage(s.d.th, w, h)
	switch {
	case !s.loaded && s.err != nil:
		p.addLines(s.d.trouble("The groups cannot be listed.", s.err, w)...)
		p.add()
		p.add(gap(3), txt(strong, "r"), txt(plain, " tries again"))
	case !s.loaded:
		p.add(s.d.waiting(s.request, "asking for all groups, their commits and their lag")...)
	case len(s.survey.Rows) == 0:
		p.add(gap(1), s.d.th.mark(markNothing), txt(strong, " No group of any kind was found on this cluster."))
		p.addLines(hang(line{gap(3)}, plain, "Either nobody consumes here, or this principal may not describe groups. Is this the right cluster? Its ID stands above.", w)...)
		s.d.gaps(p, s.survey.Gaps)
	default:
		details := detailHeight(h)
		s.table.draw(p, h-details)
		if details > 0 {
			s.details(p)
		}
	}
	return p.String()
}

// gaps say why a list may be short.
func (d *desk) gaps(p *page, gaps []*streams.Fault) {
	for _, g := range gaps {
		p.addLines(hang(line{gap(1), d.th.mark(markLook), gap(1)}, warn, "the list may be short: "+brief(g), p.w)...)
	}
}

func (s *groupsScreen) details(p *page) {
	p.add()
	r, ok := s.table.selected()
	if !ok {
		s.table.nothing(p)
		return
	}
	if s.err != nil {
		p.addLines(hang(line{gap(1), s.d.th.mark(markLook), gap(1)}, warn, "not refreshed: "+brief(s.err), p.w)...)
	}
	p.add(gap(1), txt(muted, "selected "), txt(strong, r.Group).cutMiddle(max(p.w-12, 8)))
	if r.Fault != nil {
		p.addLines(hang(line{gap(1), s.d.th.mark(markUnknown), gap(1)}, plain, brief(r.Fault), p.w)...)
	}
	s.d.gaps(p, s.survey.Gaps)
	text := "enter shows its members, who reads what, and the lag by topic and partition"
	switch {
	case r.Streams:
		text = "taken for a Kafka Streams application: enter opens it, with its ways back"
	case r.Kind == streams.KindShare:
		text = "a share group keeps no committed offsets (KIP-932): enter shows its members"
	case nothingCommitted(r):
		text = "nothing is committed under this ID, so it has no lag; enter shows its members"
	}
	p.addLines(hang(line{gap(1)}, plain, text, p.w)...)
}
