package ui

import (
	"cmp"
	"context"
	"slices"
	"time"

	tea "charm.land/bubbletea/v2"

	"resurge/discovery"
	"resurge/recovery"
	"resurge/streams"
)

// inspectEvery is how often an open application is read again by itself.
const inspectEvery = 30 * time.Second

// inspectAtMost bounds how often a look that saw another state has everything read
// again.
const inspectAtMost = 10 * time.Second

// inspected is everything about one application.
type inspected struct {
	inv discovery.Inventory
	as  recovery.Assessment
}

// The tabs of an application. A group of another kind has some of them.
const (
	tabOverview = iota
	tabTopics
	tabTasks
	tabOffsets
	tabMembers
	tabClocks
	tabKeep
)

var tabNames = []string{"overview", "topics", "tasks", "offsets", "members", "clocks", "keep"}

// applicationScreen shows one application, what is wrong with it first. A group
// that shows no sign of Kafka Streams is shown without roles, tasks and ways back.
type applicationScreen struct {
	d       *desk
	app     string
	group   bool // a group of any kind
	request request
	full    inspected // the last full look
	data    inspected // what is shown: the full look, with the newest light one in it
	loaded  bool
	err     error
	follow  watch
	tab     int
	names   map[string]string // short names of members, by their IDs

	overview scroller
	clocks   scroller
	topics   table[discovery.Topic]
	alike    table[discovery.Topic] // looks alike, not ours
	asAlike  bool                   // the tab of topics shows those
	tasks    table[discovery.Task]
	offsets  table[partitionRow]
	members  table[streams.Member]
	keep     table[discovery.Keeping]
}

func newApplicationScreen(d *desk, app string) *applicationScreen {
	s := &applicationScreen{d: d, app: app, follow: watch{every: followEvery}}
	s.topics = table[discovery.Topic]{key: topicKey, cells: s.topicCells, orders: topicOrders, text: topicSearch}
	s.alike = table[discovery.Topic]{key: topicKey, cells: s.alikeCells, text: topicSearch}
	s.tasks = table[discovery.Task]{key: taskKey, cells: s.taskCells, orders: taskOrders, text: s.taskSearch}
	s.offsets = table[partitionRow]{key: partitionRow.key, cells: s.offsetCells, orders: offsetOrders, text: s.offsetSearch}
	s.members = table[streams.Member]{key: func(m streams.Member) string { return m.ID }, cells: s.memberCells, orders: memberOrders, text: memberSearch}
	s.keep = table[discovery.Keeping]{key: func(k discovery.Keeping) string { return k.Topic }, cells: s.keepCells, text: keepSearch}
	s.columns()
	s.resize()
	return s
}

func (s *applicationScreen) columns() {
	s.topics.cols = s.topicColumns()
	s.alike.cols = s.alikeColumns()
	s.tasks.cols = s.taskColumns()
	s.offsets.cols = s.offsetColumns()
	s.members.cols = s.memberColumns()
	s.keep.cols = keepColumns
}

// refresh reads everything again; of a group that is no application, what there
// is to read.
func (s *applicationScreen) refresh() tea.Cmd {
	ex, app := s.d.s.Explorer, s.app
	if s.group {
		return ask(s.d, &s.request, func(ctx context.Context) (inspected, error) {
			inv, err := ex.Explore(ctx, app)
			return inspected{inv: inv}, err
		})
	}
	return ask(s.d, &s.request, func(ctx context.Context) (inspected, error) {
		inv, as, err := ex.Inspect(ctx, app)
		return inspected{inv: inv, as: as}, err
	})
}

func (s *applicationScreen) handle(msg tea.Msg) tea.Cmd {
	switch msg := msg.(type) {
	case answer[inspected]:
		if s.request.is(msg.number) {
			s.take(msg.value, msg.err)
		}
	case answer[discovery.Inventory]:
		if s.follow.request.is(msg.number) {
			return s.takeLook(msg.value, msg.err)
		}
	case tickMsg:
		return s.tick()
	case tea.WindowSizeMsg:
		s.columns()
		s.resize()
	case relookMsg:
		s.columns()
		s.resize()
	case leftMsg:
		s.request.drop()
		s.follow.request.drop()
	}
	return nil
}

// tick asks again when it is time, never while a question is out or the operator
// types. What is drawn from the clock is drawn anew.
func (s *applicationScreen) tick() tea.Cmd {
	if s.loaded && s.tab == tabClocks {
		s.clocks.set(s.clockLines())
	}
	if s.d.prompt != nil || s.d.help != nil {
		return nil
	}
	var full tea.Cmd
	following := s.group && s.follow.on // its looks are all that there is to read
	if s.loaded && !following && s.d.due(s.request, inspectEvery) {
		full = s.refresh()
	}
	return tea.Batch(full, s.nextLook())
}

func (s *applicationScreen) resize() {
	_, h := s.d.body()
	room := h - s.pulseHeight(h)
	details := detailHeight(h)
	s.overview.resize(room)
	s.clocks.resize(room)
	for _, t := range []interface{ resize(int) }{&s.topics, &s.alike, &s.tasks, &s.offsets, &s.members, &s.keep} {
		t.resize(room - 1 - details)
	}
	if s.loaded {
		s.overview.set(s.overviewLines())
		s.clocks.set(s.clockLines())
	}
}

func (s *applicationScreen) take(v inspected, err error) {
	s.err = err
	s.request.done(s.d.now)
	if err != nil {
		return
	}
	if !s.loaded && len(v.inv.Signs) == 0 {
		s.group = true
	}
	s.full, s.loaded = v, true
	s.d.learn(v.inv.Cluster)
	s.show()
}

// show lays out what is known: the full look, and the newer of the positions.
func (s *applicationScreen) show() {
	s.data = s.full
	if s.follow.look.TakenAt.After(s.full.inv.TakenAt) {
		s.data.inv = merged(s.full.inv, s.follow.look)
	}
	inv := s.data.inv
	s.columns()
	s.names = memberNames(s.app, inv.Group.Members)
	var ours, alike []discovery.Topic
	parts := make([]partitionRow, 0, len(s.offsets.rows))
	for _, t := range inv.Topics {
		if t.Role == streams.RoleLookalike {
			alike = append(alike, t)
		} else {
			ours = append(ours, t)
		}
		parts = append(parts, s.partitionRows(t)...)
	}
	s.topics.set(ours)
	s.alike.set(sorted(alike, func(a, b discovery.Topic) int { return cmp.Compare(a.Name, b.Name) }))
	s.tasks.set(inv.Tasks)
	s.offsets.set(parts)
	s.members.set(inv.Group.Members)
	s.keep.set(s.data.as.Keeping)
	s.resize()
}

// tabs are those that there are for what is shown.
func (s *applicationScreen) tabs() []int {
	if s.group {
		return []int{tabOverview, tabTopics, tabOffsets, tabMembers}
	}
	return []int{tabOverview, tabTopics, tabTasks, tabOffsets, tabMembers, tabClocks, tabKeep}
}

func (s *applicationScreen) mover() mover {
	switch s.tab {
	case tabTopics:
		if s.asAlike {
			return &s.alike
		}
		return &s.topics
	case tabTasks:
		return &s.tasks
	case tabOffsets:
		return &s.offsets
	case tabMembers:
		return &s.members
	case tabClocks:
		return &s.clocks
	case tabKeep:
		return &s.keep
	}
	return &s.overview
}

// notStreams is why something is not there for a group of another kind.
const notStreams = "this group shows no sign of Kafka Streams"

func (s *applicationScreen) actions() []action {
	early := ""
	if !s.loaded {
		early = "it is not read yet"
	}
	streamsOnly := early
	if early == "" && s.group {
		streamsOnly = notStreams
	}
	out := make([]action, 0, 32)
	if !s.group {
		out = append(out, action{keys: []string{"c"}, label: "compare ways back", help: "compare the ways back", off: early, do: s.compare})
	}
	out = append(out, s.openAction(early)...)
	out = append(out,
		action{keys: []string{"tab"}, label: "next tab", help: "next tab", do: func() tea.Cmd { s.turn(1); return nil }},
		action{keys: []string{"shift+tab"}, help: "tab before", do: func() tea.Cmd { s.turn(-1); return nil }},
	)
	for i, name := range tabNames {
		off := ""
		if !slices.Contains(s.tabs(), i) {
			off = notStreams
		}
		out = append(out, action{keys: []string{string(rune('1' + i))}, help: "tab " + name, off: off, do: func() tea.Cmd { s.goTo(i); return nil }})
	}
	if l, ok := s.mover().(lister); ok {
		out = append(out, l.tools(s.d, early)...)
	}
	out = append(out, s.followActions()...)
	if s.tab == tabTopics {
		out = append(out, s.alikeAction(streamsOnly))
	}
	out = append(out,
		action{keys: []string{"p"}, label: map[bool]string{false: "rights"}[s.group], help: "the rights that each way back takes, and which are missing", off: streamsOnly, do: s.preflight},
		action{keys: []string{"r"}, label: "refresh", help: "read it again", do: s.refresh},
		action{keys: []string{"y"}, label: "copy", help: "copy what is selected; on the overview, the findings as text", off: early, do: s.copy},
	)
	return append(out, moves(s.mover())...)
}

func (s *applicationScreen) goTo(tab int) {
	s.tab = tab
	if s.loaded && tab == tabClocks {
		s.clocks.set(s.clockLines())
	}
}

// turn goes to a tab beside the one that is seen.
func (s *applicationScreen) turn(by int) {
	tabs := s.tabs()
	s.goTo(tabs[(slices.Index(tabs, s.tab)+by+len(tabs))%len(tabs)])
}

func (s *applicationScreen) compare() tea.Cmd {
	s.d.push(newStrategiesScreen(s.d, s.data))
	return nil
}

func (s *applicationScreen) preflight() tea.Cmd {
	p := newPreflightScreen(s.d, s.app)
	s.d.push(p)
	return p.refresh()
}

func (s *applicationScreen) head() head {
	return head{name: "application", title: s.app, status: s.tabLine()}
}

// tabLine names the tabs: wide where the path has room beside it, else without
// gaps, and on a narrow screen only the one that is seen. No name moves when
// another one is chosen.
func (s *applicationScreen) tabLine() line {
	tabs := s.tabs()
	bracket := func(t int, b string) span {
		if t == s.tab {
			return txt(strong, b)
		}
		return gap(1)
	}
	name := func(t int) span {
		if t == s.tab {
			return txt(strong, tabNames[t])
		}
		return txt(muted, tabNames[t])
	}
	wide, tight := make(line, 0, 4*len(tabs)), make(line, 0, 2*len(tabs)+1)
	for i, t := range tabs {
		wide = append(wide, bracket(t, "["), name(t), bracket(t, "]"), gap(1))
		between := bracket(t, "[")
		if i > 0 && tabs[i-1] == s.tab {
			between = bracket(s.tab, "]")
		}
		tight = append(tight, between, name(t))
	}
	tight = append(tight, bracket(tabs[len(tabs)-1], "]"))
	path := width("… › ") + txt(plain, s.app).width
	switch {
	case wide.width() <= s.d.w-path-3:
		return wide
	case tight.width() <= s.d.w-16:
		return tight
	}
	return line{txt(strong, "["+tabNames[s.tab]+"]"), txtf(muted, " %d of %d", slices.Index(tabs, s.tab)+1, len(tabs))}
}

func (s *applicationScreen) view(w, h int) string {
	p := newPage(s.d.th, w, h)
	switch {
	case !s.loaded && s.err != nil:
		p.addLines(s.d.trouble(s.app+" cannot be read.", s.err, w)...)
		p.add()
		p.add(gap(3), txt(strong, "r"), txt(plain, " tries again"))
		return p.String()
	case !s.loaded:
		p.add(s.d.waiting(s.request, "reading topics, offsets and members of "+s.app)...)
		return p.String()
	}
	s.pulse(p, h)
	switch s.tab {
	case tabTopics:
		s.viewTopics(p)
	case tabTasks:
		s.viewTasks(p)
	case tabOffsets:
		s.viewOffsets(p)
	case tabMembers:
		s.viewMembers(p)
	case tabClocks:
		s.clocks.draw(p, p.room())
	case tabKeep:
		s.viewKeep(p)
	default:
		s.overview.draw(p, p.room())
	}
	return p.String()
}
