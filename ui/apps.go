package ui

import (
	"cmp"
	"context"
	"strings"
	"time"

	tea "charm.land/bubbletea/v2"

	"resurge/discovery"
	"resurge/streams"
)

// surveyEvery is how often the list asks again by itself.
const surveyEvery = 15 * time.Second

// appsScreen lists the applications: what is broken, at a glance.
type appsScreen struct {
	d       *desk
	request request
	survey  discovery.Survey
	loaded  bool
	err     error
	table   table[discovery.SurveyRow]
	order   int
}

// orders are the ways to sort, each with the name that the screen shows.
var orders = []struct {
	name string
	cmp  func(a, b discovery.SurveyRow) int
}{
	{"worst first", func(a, b discovery.SurveyRow) int {
		return cmp.Or(cmp.Compare(severity(b.Level), severity(a.Level)), cmp.Compare(a.Application, b.Application))
	}},
	{"by name", func(a, b discovery.SurveyRow) int { return cmp.Compare(a.Application, b.Application) }},
	{"by lag", func(a, b discovery.SurveyRow) int {
		return cmp.Or(cmp.Compare(lagOf(b), lagOf(a)), cmp.Compare(a.Application, b.Application))
	}},
}

func severity(l discovery.Level) int {
	switch l {
	case discovery.LevelBad:
		return 4
	case discovery.LevelLook:
		return 3
	case discovery.LevelUnknown:
		return 2
	case discovery.LevelOK:
		return 1
	case discovery.LevelInfo:
	}
	return 0
}

// lagOf puts what is not known before everything: it may be the largest.
func lagOf(r discovery.SurveyRow) int64 {
	if r.Lag == nil {
		return 1<<63 - 1
	}
	return *r.Lag
}

func newAppsScreen(d *desk) *appsScreen {
	s := &appsScreen{d: d}
	s.table = table[discovery.SurveyRow]{
		key:   func(r discovery.SurveyRow) string { return r.Application },
		text:  func(r discovery.SurveyRow) string { return r.Application + " " + r.State + " " + r.Worst },
		cells: s.cells,
	}
	s.columns()
	return s
}

func (s *appsScreen) columns() {
	s.table.cols = []column{
		{width: s.d.th.markWidth()},
		{title: "APPLICATION", width: 18, flex: 4, mid: true},
		{title: "STATE", width: 12, drop: 1},
		{title: "PROTOCOL", width: 8, drop: 5},
		{title: "MEMBERS", width: 7, right: true, drop: 3},
		{title: "STORES", width: 6, right: true, drop: 4},
		{title: "LAG", width: 10, right: true, drop: 2},
		{title: "WORST", width: 17, flex: 1},
	}
}

func (s *appsScreen) cells(r discovery.SurveyRow) []span {
	mark := levelMark(r.Level)
	worst := r.Worst
	if worst == "" {
		worst = "-"
	}
	return []span{
		s.d.th.mark(mark), txt(plain, r.Application), txt(plain, stateName(r)), txt(muted, protocolName(r.Protocol)),
		txt(plain, number(r.Members)), txt(plain, number(r.Stores)), txt(plain, number(r.Lag)), txt(levelTone(r.Level), worst),
	}
}

// stateName is the group's state in the words of the broker, or why it is not
// known.
func stateName(r discovery.SurveyRow) string {
	if r.Fault != nil {
		return strings.ReplaceAll(string(r.Fault.Kind), "_", " ")
	}
	return groupState(r.State)
}

func protocolName(p streams.GroupProtocol) string {
	if p == streams.ProtocolUnknown || p == "" {
		return unknown
	}
	return string(p)
}

// groupState is the broker's word for a group's state, shortened where two words
// mean the same to a person.
func groupState(s string) string {
	switch s {
	case "":
		return unknown
	case "PreparingRebalance", "CompletingRebalance":
		return "rebalancing"
	case "NotReady":
		return "not ready"
	}
	return strings.ToLower(txt(plain, s).text)
}

func levelTone(l discovery.Level) tone {
	switch l {
	case discovery.LevelBad:
		return danger
	case discovery.LevelLook, discovery.LevelUnknown:
		return warn
	case discovery.LevelOK, discovery.LevelInfo:
	}
	return plain
}

func (s *appsScreen) refresh() tea.Cmd {
	ex := s.d.s.Explorer
	return ask(s.d, &s.request, func(ctx context.Context) (discovery.Survey, error) { return ex.Survey(ctx) })
}

func (s *appsScreen) handle(msg tea.Msg) tea.Cmd {
	switch msg := msg.(type) {
	case answer[discovery.Survey]:
		if s.request.is(msg.number) {
			s.take(msg.value, msg.err)
		}
	case tickMsg:
		if s.loaded && !s.request.out && s.d.prompt == nil && s.d.help == nil && s.d.now.Sub(s.request.since) >= surveyEvery {
			return s.refresh()
		}
	case tea.WindowSizeMsg:
		_, h := s.d.body()
		s.table.resize(h - 1 - s.detailHeight(h))
	case relookMsg:
		s.columns()
	}
	return nil
}

func (s *appsScreen) take(v discovery.Survey, err error) {
	s.err, s.request.since = err, s.d.now
	if err != nil {
		return
	}
	s.survey, s.loaded = v, true
	s.d.learn(v.Cluster)
	s.d.apps = s.d.apps[:0]
	for _, r := range v.Rows {
		s.d.apps = append(s.d.apps, r.Application)
	}
	s.table.set(sorted(v.Rows, orders[s.order].cmp))
}

func (s *appsScreen) actions() []action {
	row, ok := s.table.selected()
	none := ""
	if !ok {
		none = "no application is selected"
	}
	if !s.loaded {
		none = "the list is not there yet"
	}
	out := []action{
		{keys: []string{"enter"}, label: "open", help: "open the application", off: none, do: func() tea.Cmd { return s.d.openApplication(row.Application) }},
		{keys: []string{"/"}, label: "filter", help: "filter by text, !text leaves out", off: s.offBeforeLoad(), do: func() tea.Cmd { return s.table.search(s.d) }},
		{keys: []string{"s"}, label: "sort", help: "sort: worst first, by name, by lag", off: s.offBeforeLoad(), do: s.sort},
		{keys: []string{"r"}, label: "refresh", help: "ask the cluster again", do: s.refresh},
		{keys: []string{"y"}, help: "copy the application ID", off: none, do: func() tea.Cmd { return s.d.copyText("the application ID", row.Application) }},
	}
	if s.table.filter != "" {
		out = append(out, action{keys: []string{"esc"}, label: "show all", help: "take the filter away", do: func() tea.Cmd { s.table.clear(); return nil }})
	}
	return append(out, moves(&s.table)...)
}

func (s *appsScreen) offBeforeLoad() string {
	if s.loaded {
		return ""
	}
	return "the list is not there yet"
}

func (s *appsScreen) sort() tea.Cmd {
	s.order = (s.order + 1) % len(orders)
	s.table.set(sorted(s.survey.Rows, orders[s.order].cmp))
	return nil
}

func (s *appsScreen) head() head {
	h := head{name: "applications"}
	if !s.loaded {
		return h
	}
	add := func(t tone, text string) { h.status = append(h.status, txt(t, text)) }
	add(plain, s.table.count())
	add(muted, " · "+orders[s.order].name+" · ")
	old := s.d.since(s.survey.TakenAt)
	switch {
	case s.survey.TakenAt.IsZero():
		add(muted, "age ?")
	case s.err != nil:
		add(warn, "! "+age(old)+" old")
	case s.request.out:
		add(muted, "asking"+ellipsis)
	default:
		add(muted, age(old)+" ago")
	}
	return h
}

// detailHeight is the room for the selected row's details; none on a low screen.
func (s *appsScreen) detailHeight(h int) int {
	if h < 14 {
		return 0
	}
	return min(6, h/3)
}

func (s *appsScreen) view(w, h int) string {
	p := newPage(s.d.th, w, h)
	switch {
	case !s.loaded && s.err != nil:
		p.addLines(s.d.trouble("The applications cannot be listed.", s.err, w)...)
		p.add()
		p.add(gap(3), txt(strong, "r"), txt(plain, " tries again"))
	case !s.loaded:
		p.add(s.d.waiting(s.request, "asking the cluster for its groups")...)
	case len(s.survey.Rows) == 0:
		s.nothing(p)
	default:
		details := s.detailHeight(h)
		s.table.draw(p, h-details)
		if details > 0 {
			s.details(p)
		}
	}
	return p.String()
}

func (s *appsScreen) nothing(p *page) {
	p.addLines(hang(line{gap(1), s.d.th.mark(markNothing), gap(1)}, strong, "No Kafka Streams application was found on this cluster.", p.w)...)
	others := "It has no consumer groups at all."
	if s.survey.Others > 0 {
		others = "It has " + plural(s.survey.Others, "group") + " that " + map[bool]string{true: "is", false: "are"}[s.survey.Others == 1] + " not Kafka Streams."
	}
	p.addLines(hang(line{gap(3)}, plain, others, p.w)...)
	p.add()
	p.addLines(hang(line{gap(3)}, plain, "Is this the right cluster? Its ID stands above. An application whose group is gone can still be opened by its ID, from its topics:", p.w)...)
	p.add(gap(5), txt(strong, ":app order-processor"))
	s.gaps(p)
}

func (s *appsScreen) gaps(p *page) {
	for _, g := range s.survey.Gaps {
		p.addLines(hang(line{gap(1), s.d.th.mark(markLook), gap(1)}, warn, "the list may be short: "+g.Error(), p.w)...)
	}
}

// details are what is known about the selected row, and how complete the list is.
func (s *appsScreen) details(p *page) {
	p.add()
	r, ok := s.table.selected()
	if !ok {
		p.add(gap(1), txt(plain, "Nothing matches "), txt(strong, s.table.filter), txt(plain, ". esc shows all."))
		return
	}
	if s.err != nil {
		p.addLines(hang(line{gap(1), s.d.th.mark(markLook), gap(1)}, warn, "not refreshed: "+brief(s.err), p.w)...)
	}
	p.add(gap(1), txt(muted, "selected "), txt(strong, r.Application).cutMiddle(max(p.w-12, 8)))
	if r.Fault != nil {
		p.addLines(hang(line{gap(1), s.d.th.mark(markUnknown), gap(1)}, plain, brief(r.Fault), p.w)...)
	}
	for _, e := range r.Evidence {
		p.addLines(hang(line{gap(1)}, plain, e, p.w)...)
	}
	s.gaps(p)
	if s.survey.Others > 0 {
		p.add(gap(1), txt(muted, plural(s.survey.Others, "other group")+" on this cluster, not Kafka Streams"))
	}
}
