package ui

import (
	"cmp"
	"context"
	"math"
	"strings"
	"time"

	tea "charm.land/bubbletea/v2"

	"resurge/discovery"
	"resurge/streams"
)

// surveyEvery is how often the list asks again by itself.
const surveyEvery = 15 * time.Second

// appsScreen lists the applications: what is broken, at a glance. Names come
// first, by a question of their own; the numbers follow.
type appsScreen struct {
	d       *desk
	request request
	names   request // the glance before the first survey
	survey  discovery.Survey
	loaded  bool
	err     error
	table   table[discovery.SurveyRow]
}

// appOrders are the ways to sort.
var appOrders = []ordering[discovery.SurveyRow]{
	{"worst first", func(a, b discovery.SurveyRow) int {
		return cmp.Or(cmp.Compare(severity(b.Level), severity(a.Level)), cmp.Compare(a.Application, b.Application))
	}},
	{"by name", func(a, b discovery.SurveyRow) int { return cmp.Compare(a.Application, b.Application) }},
	{"by lag", func(a, b discovery.SurveyRow) int {
		return cmp.Or(cmp.Compare(lagOf(b.Lag), lagOf(a.Lag)), cmp.Compare(a.Application, b.Application))
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
	case discovery.LevelInfo:
		return 1
	case discovery.LevelOK:
	}
	return 0
}

// lagOf puts what is not known before everything: it may be the largest.
func lagOf(n *int64) int64 {
	if n == nil {
		return math.MaxInt64
	}
	return *n
}

func newAppsScreen(d *desk) *appsScreen {
	s := &appsScreen{d: d}
	s.table = table[discovery.SurveyRow]{
		key: func(r discovery.SurveyRow) string { return r.Application },
		text: func(r discovery.SurveyRow) string {
			return r.Application + " " + stateName(r) + " " + r.State + " " + r.Worst
		},
		cells: s.cells, orders: appOrders,
	}
	s.columns()
	return s
}

func (s *appsScreen) columns() {
	lag := 10
	for _, r := range s.survey.Rows {
		lag = numberWidth(lag, r.Lag)
	}
	s.table.cols = []column{
		{width: s.d.th.markWidth()},
		{title: "APPLICATION", width: 18, flex: 4, mid: true},
		{title: "STATE", width: 12, drop: 1},
		{title: "PROTOCOL", width: 8, drop: 5},
		{title: "MEMBERS", width: 7, right: true, drop: 3},
		{title: "STORES", width: 6, right: true, drop: 4},
		{title: "LAG", width: lag, right: true, drop: 2},
		{title: "WORST", width: 17, flex: 1},
	}
}

// coming reports whether the numbers are still being asked for.
func (s *appsScreen) coming() bool { return s.survey.Partial && s.request.out }

func (s *appsScreen) cells(r discovery.SurveyRow) []span {
	mark, worst, none := levelMark(r.Level), r.Worst, unknown
	if s.coming() {
		none = ellipsis
	}
	switch {
	case worst == "" && s.survey.Partial:
		worst = none
	case worst == "":
		worst = "-"
	}
	if s.coming() && r.Level == discovery.LevelUnknown && r.Fault == nil {
		mark = markWorking
	}
	count := func(text string) span {
		if text == unknown {
			text = none
		}
		return txt(plain, text)
	}
	return []span{
		s.d.th.mark(mark), txt(plain, r.Application), count(stateName(r)), txt(muted, protocolName(r.Protocol)),
		count(number(r.Members)), count(number(r.Stores)), count(number(r.Lag)), txt(levelTone(r.Level), worst),
	}
}

// stateName is the group's state in the words of the broker, or why it is not
// known.
func stateName(r discovery.SurveyRow) string {
	switch {
	case r.Fault != nil:
		return strings.ReplaceAll(string(r.Fault.Kind), "_", " ")
	case r.Orphan:
		return "no group"
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
	return lower(s)
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

// refresh asks for the list. Before there is one, names alone are asked for too:
// they are there sooner.
func (s *appsScreen) refresh() tea.Cmd {
	ex := s.d.s.Explorer
	full := ask(s.d, &s.request, func(ctx context.Context) (discovery.Survey, error) { return ex.Survey(ctx) })
	if s.loaded {
		return full
	}
	return tea.Batch(ask(s.d, &s.names, func(ctx context.Context) (discovery.Survey, error) { return ex.Glance(ctx) }), full)
}

func (s *appsScreen) handle(msg tea.Msg) tea.Cmd {
	switch msg := msg.(type) {
	case answer[discovery.Survey]:
		switch {
		case s.request.is(msg.number):
			s.take(msg.value, msg.err)
		case s.names.is(msg.number):
			s.takeNames(msg.value, msg.err)
		}
	case tickMsg:
		if s.loaded && s.d.due(s.request, surveyEvery) {
			return s.refresh()
		}
	case tea.WindowSizeMsg:
		_, h := s.d.body()
		s.table.resize(h - 1 - detailHeight(h))
	case relookMsg:
		s.columns()
	}
	return nil
}

// takeNames shows names until the numbers come. Its error is left to the survey,
// which asks the same.
func (s *appsScreen) takeNames(v discovery.Survey, err error) {
	if err == nil && !s.loaded {
		s.show(v)
	}
}

func (s *appsScreen) take(v discovery.Survey, err error) {
	s.err = err
	s.request.done(s.d.now)
	if err != nil {
		return
	}
	s.names.drop()
	first := s.survey.Partial && !s.table.moved
	s.show(v)
	if first { // nobody has chosen yet: the worst is what to look at
		s.table.choose(0)
	}
}

func (s *appsScreen) show(v discovery.Survey) {
	s.survey, s.loaded = v, true
	s.d.learn(v.Cluster)
	s.d.apps = s.d.apps[:0]
	for _, r := range v.Rows {
		s.d.apps = append(s.d.apps, r.Application)
	}
	s.columns()
	s.table.set(v.Rows)
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
	out := make([]action, 0, 16)
	out = append(out, action{keys: []string{"enter"}, label: "open", help: "open the application", off: none, do: func() tea.Cmd { return s.d.openApplication(row.Application) }})
	out = append(out, s.table.tools(s.d, s.offBeforeLoad())...)
	out = append(out,
		action{keys: []string{"g"}, label: "all groups", help: "all groups of the cluster, of every kind", do: s.d.openGroups},
		action{keys: []string{"r"}, label: "refresh", help: "ask the cluster again", do: s.refresh},
		action{keys: []string{"y"}, help: "copy the application ID", off: none, do: func() tea.Cmd { return s.d.copyText("the application ID", row.Application) }},
	)
	return append(out, movesBesides(&s.table, "g")...)
}

func (s *appsScreen) offBeforeLoad() string {
	if s.loaded {
		return ""
	}
	return "the list is not there yet"
}

func (s *appsScreen) head() head {
	h := head{name: "applications"}
	if s.loaded {
		h.status = s.d.listStatus(s.table.status(), s.survey.TakenAt, s.request, s.err, s.survey.Partial)
	}
	return h
}

// listStatus is how many rows are seen of how many, in which order, and how old
// they are; on a narrow screen, the beginning of that and the age.
func (d *desk) listStatus(rows string, taken time.Time, r request, err error, partial bool) line {
	var old span
	t := age(d.since(taken))
	switch {
	case partial && r.out:
		old = txt(accent, "names only, asking"+ellipsis)
	case partial:
		old = txt(warn, "! names only")
	case taken.IsZero():
		old = txt(muted, "age ?")
	case err != nil:
		old = txt(warn, "! "+t+" old")
	case r.out && d.since(r.since) >= 2*time.Second:
		old = txt(warn, t+" old, asking"+ellipsis)
	default:
		old = txt(muted, t+" ago")
	}
	parts := strings.Split(rows, " · ")
	for len(parts) > 1 && width(strings.Join(parts, " · "))+old.width+3 > d.w-18 {
		parts = parts[:len(parts)-1]
	}
	return line{txt(plain, parts[0]), txt(muted, strings.TrimPrefix(strings.Join(parts, " · "), parts[0])), txt(muted, " · "), old}
}

// detailHeight is the room for the selected row's details; none on a low screen.
func detailHeight(h int) int {
	if h < 14 {
		return 0
	}
	return min(6, h/3)
}

func (s *appsScreen) view(w, h int) string {
	p := newPage(s.d.th, w, h)
	switch {
	case s.err != nil && (!s.loaded || s.survey.Partial && len(s.survey.Rows) == 0):
		p.addLines(s.d.trouble("The applications cannot be listed.", s.err, w)...)
		p.add()
		p.add(gap(3), txt(strong, "r"), txt(plain, " tries again"))
	case !s.loaded:
		p.add(s.d.waiting(s.request, "asking the cluster for its groups")...)
	case len(s.survey.Rows) == 0 && s.coming():
		p.add(s.d.waiting(s.request, "no application by its name; looking at every group")...)
	case len(s.survey.Rows) == 0:
		s.nothing(p)
	default:
		details := detailHeight(h)
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
	p.add(gap(3), txt(strong, "g"), txt(plain, " lists every group of the cluster"))
	s.d.gaps(p, s.survey.Gaps)
}

// details are what is known about the selected row, and how complete the list is.
func (s *appsScreen) details(p *page) {
	p.add()
	r, ok := s.table.selected()
	if !ok {
		s.table.nothing(p)
		return
	}
	if s.err != nil {
		p.addLines(hang(line{gap(1), s.d.th.mark(markLook), gap(1)}, warn, "not refreshed: "+brief(s.err), p.w)...)
	}
	p.add(gap(1), txt(muted, "selected "), txt(strong, r.Application).cutMiddle(max(p.w-12, 8)))
	if r.Fault != nil {
		p.addLines(hang(line{gap(1), s.d.th.mark(markUnknown), gap(1)}, plain, brief(r.Fault), p.w)...)
	}
	s.d.gaps(p, s.survey.Gaps)
	for _, e := range r.Evidence {
		p.addLines(hang(line{gap(1)}, plain, e, p.w)...)
	}
	if r.Orphan {
		p.addLines(hang(line{gap(1), txt(accent, "→ ")}, plain, "enter shows what is left of it; p there, whether you may see its group", p.w)...)
	}
	if s.survey.Others > 0 {
		p.add(gap(1), txt(muted, plural(s.survey.Others, "other group")+" on this cluster, not Kafka Streams: "), txt(strong, "g"))
	}
}
