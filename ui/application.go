package ui

import (
	"cmp"
	"context"
	"slices"
	"strings"
	"time"

	tea "charm.land/bubbletea/v2"

	"resurge/discovery"
	"resurge/recovery"
	"resurge/streams"
)

// inspectEvery is how often an open application is read again by itself.
const inspectEvery = 30 * time.Second

// inspected is everything about one application.
type inspected struct {
	inv discovery.Inventory
	as  recovery.Assessment
}

// The tabs of an application.
const (
	tabOverview = iota
	tabTopics
	tabOffsets
	tabMembers
)

var tabNames = []string{"overview", "topics", "offsets", "members"}

// applicationScreen shows one application, what is wrong with it first.
type applicationScreen struct {
	d        *desk
	app      string
	request  request
	data     inspected
	loaded   bool
	err      error
	tab      int
	overview scroller
	topics   table[discovery.Topic]
	offsets  table[partitionRow]
	members  table[streams.Member]
}

// partitionRow is one partition of one topic.
type partitionRow struct {
	topic string
	role  streams.Role
	discovery.PartitionState
}

func newApplicationScreen(d *desk, app string) *applicationScreen {
	s := &applicationScreen{d: d, app: app}
	s.topics = table[discovery.Topic]{
		key: func(t discovery.Topic) string { return t.Name }, cells: s.topicCells,
		text: func(t discovery.Topic) string { return t.Name + " " + roleName(t.Role) },
	}
	s.offsets = table[partitionRow]{
		key:  func(r partitionRow) string { return r.topic + "/" + grouped(int64(r.Partition)) },
		text: func(r partitionRow) string { return r.topic + " " + roleName(r.role) }, cells: s.offsetCells,
	}
	s.members = table[streams.Member]{
		key:  func(m streams.Member) string { return m.ID },
		text: func(m streams.Member) string { return m.ClientID + " " + m.Host + " " + m.InstanceID }, cells: s.memberCells,
	}
	s.columns()
	s.resize()
	return s
}

func (s *applicationScreen) columns() {
	s.topics.cols = []column{
		{title: "ROLE", width: 11},
		{width: s.d.th.markWidth()},
		{title: "TOPIC", width: 26, flex: 1, mid: true},
		{title: "PARTS", width: 5, right: true, drop: 2},
		{title: "RECORDS", width: 13, right: true, drop: 1},
		{title: "COMMITTED", width: 9, right: true, drop: 4},
		{title: "LAG", width: 9, right: true, drop: 3},
	}
	s.offsets.cols = []column{
		{title: "TOPIC", width: 16, flex: 1, mid: true},
		{title: "PART", width: 4, right: true},
		{title: "START", width: 12, right: true, drop: 4},
		{title: "COMMITTED", width: 12, right: true},
		{title: "END", width: 12, right: true, drop: 1},
		{title: "LAG", width: 9, right: true, drop: 3},
	}
	s.members.cols = []column{
		{title: "CLIENT", width: 12, flex: 3, mid: true},
		{title: "HOST", width: 12, flex: 2, mid: true, drop: 2},
		{title: "STATIC ID", width: 9, flex: 1, mid: true, drop: 3},
		{title: "ACTIVE", width: 6, right: true},
		{title: "STANDBY", width: 7, right: true, drop: 1},
	}
}

func (s *applicationScreen) refresh() tea.Cmd {
	ex, app := s.d.s.Explorer, s.app
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
	case tickMsg:
		if s.loaded && !s.request.out && s.d.prompt == nil && s.d.help == nil && s.d.now.Sub(s.request.since) >= inspectEvery {
			return s.refresh()
		}
	case tea.WindowSizeMsg:
		s.resize()
	case relookMsg:
		s.columns()
		s.resize()
	case leftMsg:
		s.request.drop()
	}
	return nil
}

func (s *applicationScreen) resize() {
	_, h := s.d.body()
	s.overview.resize(h)
	s.topics.resize(h - 1 - s.detailHeight(h))
	s.offsets.resize(h - 1)
	s.members.resize(h - 3 - s.detailHeight(h))
	if s.loaded {
		s.overview.set(s.overviewLines())
	}
}

func (s *applicationScreen) take(v inspected, err error) {
	s.err, s.request.since = err, s.d.now
	if err != nil {
		return
	}
	s.data, s.loaded = v, true
	s.d.learn(v.inv.Cluster)
	topics := sorted(v.inv.Topics, func(a, b discovery.Topic) int {
		return cmp.Or(cmp.Compare(roleOrder(a.Role), roleOrder(b.Role)), cmp.Compare(a.Name, b.Name))
	})
	var parts []partitionRow
	for _, t := range topics {
		for _, p := range t.Partitions {
			parts = append(parts, partitionRow{topic: t.Name, role: t.Role, PartitionState: p})
		}
	}
	s.topics.set(topics)
	s.offsets.set(parts)
	s.members.set(v.inv.Group.Members)
	s.overview.set(s.overviewLines())
}

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

func (s *applicationScreen) mover() mover {
	switch s.tab {
	case tabTopics:
		return &s.topics
	case tabOffsets:
		return &s.offsets
	case tabMembers:
		return &s.members
	}
	return &s.overview
}

func (s *applicationScreen) actions() []action {
	early := ""
	if !s.loaded {
		early = "the application is not read yet"
	}
	out := []action{
		{keys: []string{"c"}, label: "compare ways back", help: "compare the ways back", off: early, do: s.compare},
		{keys: []string{"tab"}, label: "next tab", help: "next tab", do: func() tea.Cmd { s.show(s.tab + 1); return nil }},
		{keys: []string{"shift+tab"}, help: "tab before", do: func() tea.Cmd { s.show(s.tab + len(tabNames) - 1); return nil }},
	}
	for i, name := range tabNames {
		out = append(out, action{keys: []string{string(rune('1' + i))}, help: "tab " + name, do: func() tea.Cmd { s.show(i); return nil }})
	}
	out = append(out, s.tabActions(early)...)
	out = append(out,
		action{keys: []string{"r"}, label: "refresh", help: "read the application again", do: s.refresh},
		action{keys: []string{"y"}, label: "copy", help: "copy what is selected; on the overview, the findings as text", off: early, do: s.copy},
	)
	return append(out, moves(s.mover())...)
}

// tabActions are the keys that only some tabs have.
func (s *applicationScreen) tabActions(early string) []action {
	var out []action
	filter := func(search func(*desk) tea.Cmd, clear func() bool, set bool) {
		out = append(out, action{keys: []string{"/"}, label: "filter", help: "filter by text, !text leaves out", off: early, do: func() tea.Cmd { return search(s.d) }})
		if set {
			out = append(out, action{keys: []string{"esc"}, label: "show all", help: "take the filter away", do: func() tea.Cmd { clear(); return nil }})
		}
	}
	switch s.tab {
	case tabTopics:
		off := early
		t, ok := s.topics.selected()
		if !ok && off == "" {
			off = "no topic is selected"
		}
		out = append(out, action{keys: []string{"enter"}, label: "topic", help: "everything about the selected topic", off: off, do: func() tea.Cmd {
			s.d.push(newTextScreen(s.d, topicText(t)))
			return nil
		}})
		filter(s.topics.search, s.topics.clear, s.topics.filter != "")
	case tabOffsets:
		filter(s.offsets.search, s.offsets.clear, s.offsets.filter != "")
	case tabMembers:
		filter(s.members.search, s.members.clear, s.members.filter != "")
	}
	return out
}

func (s *applicationScreen) show(tab int) { s.tab = tab % len(tabNames) }

func (s *applicationScreen) compare() tea.Cmd {
	s.d.push(newStrategiesScreen(s.d, s.data))
	return nil
}

func (s *applicationScreen) copy() tea.Cmd {
	switch s.tab {
	case tabTopics:
		if t, ok := s.topics.selected(); ok {
			return s.d.copyText("the topic's name", t.Name)
		}
	case tabOffsets:
		if r, ok := s.offsets.selected(); ok {
			return s.d.copyText("the partition", r.topic+"-"+grouped(int64(r.Partition)))
		}
	case tabMembers:
		if m, ok := s.members.selected(); ok {
			return s.d.copyText("the member", strings.Join([]string{m.ID, m.ClientID, m.Host}, "\n"))
		}
	default:
		text := []string{s.app + " on " + s.data.inv.Cluster.ID + ", " + moment(s.data.inv.TakenAt, nil)}
		for _, f := range s.data.as.Findings {
			text = append(text, string(f.Level)+": "+f.Name+": "+f.Detail)
		}
		return s.d.copyText("the findings", strings.Join(text, "\n"))
	}
	return nil
}

func (s *applicationScreen) head() head {
	h := head{name: "application", title: s.app}
	for i, name := range tabNames {
		if i > 0 {
			h.status = append(h.status, gap(1))
		}
		if i == s.tab {
			h.status = append(h.status, txt(strong, "["+name+"]"))
			continue
		}
		h.status = append(h.status, txt(muted, " "+name+" "))
	}
	if h.status.width() > s.d.w-16 {
		h.status = line{txt(strong, "["+tabNames[s.tab]+"]"), txtf(muted, " %d of %d", s.tab+1, len(tabNames))}
	}
	return h
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
	if s.err != nil {
		p.add(gap(1), s.d.th.mark(markLook), txt(warn, " not read again: "+brief(s.err)))
	}
	switch s.tab {
	case tabOverview:
		s.overview.draw(p, p.room())
	case tabTopics:
		s.viewTopics(p)
	case tabOffsets:
		s.viewOffsets(p)
	case tabMembers:
		s.viewMembers(p)
	}
	return p.String()
}
