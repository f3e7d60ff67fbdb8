package ui

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	tea "charm.land/bubbletea/v2"

	"resurge/recovery"
)

// purposes are what rights are needed for, with the word that the screen has for
// each.
var purposes = []struct {
	purpose recovery.Purpose
	name    string
	words   string
}{
	{recovery.ForRebuild, "rebuild", "a rebuild from input"},
	{recovery.ForRestore, "restore", "a changelog restore"},
	{recovery.ForPITR, "pitr", "a PITR rebuild"},
	{recovery.ForBackup, "backup", "a backup"},
}

// preflightScreen lists the rights that a purpose takes, the missing ones first.
type preflightScreen struct {
	d       *desk
	app     string
	at      int // in purposes
	request request
	data    map[int]recovery.Preflight // what came back, by purpose
	errs    map[int]error
	table   table[recovery.Need]
}

func newPreflightScreen(d *desk, app string) *preflightScreen {
	s := &preflightScreen{d: d, app: app, data: map[int]recovery.Preflight{}, errs: map[int]error{}}
	s.table = table[recovery.Need]{
		key: needKey, cells: s.cells,
		orders: []ordering[recovery.Need]{{"missing first", byNeed}},
		text: func(n recovery.Need) string {
			return strings.Join([]string{string(n.Operation), n.Resource, n.Name, n.Why, heldText(n)}, " ")
		},
	}
	s.columns()
	s.resize()
	return s
}

func needKey(n recovery.Need) string {
	return string(n.Operation) + "\x00" + n.Resource + "\x00" + n.Name
}

// needRank puts what is refused first, then what is not known, then what can be
// done without.
func needRank(n recovery.Need) int {
	switch {
	case n.Held == recovery.HeldYes:
		return 4
	case n.Optional:
		return 3
	case n.Held == recovery.HeldNo:
		return 1
	}
	return 2
}

func byNeed(a, b recovery.Need) int {
	return cmp.Or(cmp.Compare(needRank(a), needRank(b)), cmp.Compare(a.Resource, b.Resource), cmp.Compare(a.Name, b.Name), cmp.Compare(a.Operation, b.Operation))
}

func (s *preflightScreen) columns() {
	s.table.cols = []column{
		{width: s.d.th.markWidth()},
		{title: "HELD", width: 4},
		{title: "OPERATION", width: 16},
		{title: "ON", width: 9, drop: 2},
		{title: "NAME", width: 16, flex: 2, mid: true},
		{title: "WHY", width: 16, flex: 2, drop: 1},
	}
}

func (s *preflightScreen) resize() {
	_, h := s.d.body()
	s.table.resize(h - 3 - detailHeight(h))
}

func (s *preflightScreen) refresh() tea.Cmd {
	ex, app, purpose := s.d.s.Explorer, s.app, purposes[s.at].purpose
	return ask(s.d, &s.request, func(ctx context.Context) (recovery.Preflight, error) { return ex.Preflight(ctx, app, purpose) })
}

func (s *preflightScreen) handle(msg tea.Msg) tea.Cmd {
	switch msg := msg.(type) {
	case answer[recovery.Preflight]:
		if s.request.is(msg.number) {
			s.take(msg.value, msg.err)
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

func (s *preflightScreen) take(v recovery.Preflight, err error) {
	s.errs[s.at] = err
	if err != nil {
		return
	}
	s.data[s.at] = v
	s.d.learn(v.Cluster)
	s.table.set(v.Needs)
}

// choose goes to another purpose. What was read of it stays; else it is asked.
func (s *preflightScreen) choose(i int) tea.Cmd {
	i = (i + len(purposes)) % len(purposes)
	if i == s.at {
		return nil
	}
	s.request.drop()
	s.at = i
	v, ok := s.data[i]
	s.table.set(v.Needs)
	s.table.choose(0)
	if ok {
		return nil
	}
	return s.refresh()
}

func (s *preflightScreen) actions() []action {
	n, ok := s.table.selected()
	off := ""
	switch {
	case !ok:
		off = "no right is selected"
	case n.Command == "" && n.Held == recovery.HeldYes:
		off = "this right is held: nothing has to be added"
	case n.Command == "":
		off = "there is no command for this right"
	}
	missing := s.commands()
	none := ""
	switch {
	case len(s.data[s.at].Missing()) == 0:
		none = "nothing that is needed is missing"
	case len(missing) == 0:
		none = "there is no command for what is missing"
	}
	out := []action{
		{keys: []string{"tab"}, label: "next way", help: "the next purpose", do: func() tea.Cmd { return s.choose(s.at + 1) }},
		{keys: []string{"shift+tab"}, help: "the purpose before", do: func() tea.Cmd { return s.choose(s.at - 1) }},
	}
	for i, p := range purposes {
		out = append(out, action{keys: []string{string(rune('1' + i))}, help: "the rights for " + p.words, do: func() tea.Cmd { return s.choose(i) }})
	}
	out = append(out,
		action{keys: []string{"y"}, label: "copy command", help: "copy the command that adds the selected right", off: off, do: func() tea.Cmd {
			return s.d.copyText("the command", n.Command)
		}},
		action{keys: []string{"Y"}, label: "copy all", help: "copy the commands that add every missing right", off: none, do: func() tea.Cmd {
			return s.d.copyText(plural(len(missing), "command"), strings.Join(missing, "\n"))
		}},
		action{keys: []string{"enter"}, help: "everything about the selected right", off: map[bool]string{false: "no right is selected"}[ok], do: func() tea.Cmd {
			s.d.push(newTextScreen(s.d, needText(n)))
			return nil
		}},
	)
	out = append(out, s.table.tools(s.d, "")...)
	out = append(out, action{keys: []string{"r"}, label: "refresh", help: "ask the broker again", do: s.refresh})
	return append(out, moves(&s.table)...)
}

// commands add every right that is missing.
func (s *preflightScreen) commands() []string {
	var out []string
	for _, n := range s.data[s.at].Missing() {
		if n.Command != "" && !slices.Contains(out, n.Command) {
			out = append(out, n.Command)
		}
	}
	return out
}

func (s *preflightScreen) head() head {
	var l line
	for i, p := range purposes {
		if i == s.at {
			l = append(l, txt(strong, "["+p.name+"]"), gap(1))
			continue
		}
		l = append(l, txt(muted, " "+p.name+" "), gap(1))
	}
	if l.width() > s.d.w-20 {
		l = line{txt(strong, "["+purposes[s.at].name+"]"), txtf(muted, " %d of %d", s.at+1, len(purposes))}
	}
	return head{name: "rights", status: l}
}

func (s *preflightScreen) view(w, h int) string {
	p := newPage(s.d.th, w, h)
	v, ok := s.data[s.at]
	err := s.errs[s.at]
	switch {
	case !ok && err != nil:
		p.addLines(s.d.trouble("The rights for "+purposes[s.at].words+" are not known.", err, w)...)
		p.add()
		p.add(gap(3), txt(strong, "r"), txt(plain, " asks again"))
		return p.String()
	case !ok:
		p.add(s.d.waiting(s.request, "asking the broker for the rights that "+purposes[s.at].words+" takes")...)
		return p.String()
	}
	p.addLines(s.verdict(v, w)...)
	if err != nil {
		p.addLines(hang(line{gap(1), s.d.th.mark(markLook), gap(1)}, warn, "not asked again: "+brief(err), w)...)
	}
	for _, g := range v.Gaps {
		p.addLines(hang(line{gap(1), s.d.th.mark(markUnknown), gap(1)}, plain, "not known: "+brief(g), w)...)
	}
	if len(v.Needs) == 0 {
		return p.String()
	}
	p.add()
	details := detailHeight(h)
	s.table.draw(p, p.room()-details)
	if details > 0 {
		s.details(p)
	}
	return p.String()
}

// verdict is what the rights mean, in one line.
func (s *preflightScreen) verdict(v recovery.Preflight, w int) []line {
	refused, dark := 0, 0
	for _, n := range v.Missing() {
		if n.Held == recovery.HeldNo {
			refused++
		} else {
			dark++
		}
	}
	needed, without := 0, 0
	for _, n := range v.Needs {
		switch {
		case !n.Optional:
			needed++
		case n.Held != recovery.HeldYes:
			without++
		}
	}
	who := "this principal"
	if v.Cluster.Principal != "" {
		who = v.Cluster.Principal
	}
	words := purposes[s.at].words
	rights := plural(needed, "right")
	switch {
	case w < 60 && refused+dark > 0:
		mark, t := markUnknown, warn
		if refused > 0 {
			mark, t = markBad, danger
		}
		return hang(line{gap(1), s.d.th.mark(mark), gap(1)}, t, fmt.Sprintf("%d of %s missing, %d not known", refused, rights, dark), w)
	case len(v.Needs) == 0:
		return hang(line{gap(1), s.d.th.mark(markUnknown), gap(1)}, warn, "Which rights "+words+" takes is not known. r asks again.", w)
	case refused > 0:
		text := fmt.Sprintf("%s lacks %d of the %s that %s takes", who, refused, rights, words)
		if dark > 0 {
			text += "; not known of " + grouped(int64(dark)) + " more"
		}
		return hang(line{gap(1), s.d.th.mark(markBad), gap(1)}, danger, text+". y copies the command that adds one, Y all.", w)
	case dark > 0:
		return hang(line{gap(1), s.d.th.mark(markUnknown), gap(1)}, warn, fmt.Sprintf("Of the %s that %s takes, %d are not known to be held by %s.", rights, words, dark, who), w)
	}
	text := fmt.Sprintf("%s holds the %s that %s takes.", who, rights, words)
	if without > 0 {
		text += fmt.Sprintf(" %d that can be done without: not held, or not known.", without)
	}
	return hang(line{gap(1), s.d.th.mark(markGood), gap(1)}, plain, text, w)
}

func needMark(n recovery.Need) string {
	switch {
	case n.Held == recovery.HeldYes:
		return markGood
	case n.Optional:
		return markLook
	case n.Held == recovery.HeldNo:
		return markBad
	}
	return markUnknown
}

func heldText(n recovery.Need) string {
	switch n.Held {
	case recovery.HeldYes:
		return "yes"
	case recovery.HeldNo:
		return "no"
	case recovery.HeldUnknown:
	}
	return unknown
}

// resourceName is what the right is on, in a cell.
func resourceName(n recovery.Need) string {
	if n.Resource == "TRANSACTIONAL_ID" {
		return "txn ID"
	}
	return lower(n.Resource)
}

func (s *preflightScreen) cells(n recovery.Need) []span {
	why := n.Why
	if n.Optional {
		why = "optional: " + why
	}
	return []span{
		s.d.th.mark(needMark(n)), txt(plain, heldText(n)), txt(strong, string(n.Operation)), txt(muted, resourceName(n)), txt(plain, n.Name), txt(plain, why),
	}
}

func (s *preflightScreen) details(p *page) {
	p.add()
	n, ok := s.table.selected()
	if !ok {
		s.table.nothing(p)
		return
	}
	p.addLines(needLines(n, p.w)...)
}

func needLines(n recovery.Need, w int) []line {
	f := &facts{w: w, name: 9}
	f.add("right", strings.TrimSpace(string(n.Operation)+" on "+strings.ReplaceAll(lower(n.Resource), "_", " ")+" "+n.Name))
	held := heldText(n)
	if n.Held != recovery.HeldYes && n.Held != recovery.HeldNo {
		held = "not known"
	}
	if n.Fault != nil {
		held += ": " + brief(n.Fault)
	}
	f.add("held", held)
	f.add("command", n.Command)
	if n.Optional {
		f.add("optional", "it can be done without; something is then not shown")
	}
	f.add("why", n.Why)
	return f.lines
}

// needText is everything about one right.
func needText(n recovery.Need) reading {
	r := reading{name: "right", title: string(n.Operation) + " " + n.Name, lines: func(_ *theme, w int) []line { return needLines(n, w) }}
	if n.Command != "" {
		r.what, r.copy = "the command", func() string { return n.Command }
	}
	return r
}
