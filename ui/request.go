package ui

import (
	"context"
	"slices"
	"strings"

	tea "charm.land/bubbletea/v2"

	"resurge/plans"
	"resurge/recovery"
	"resurge/streams"
)

// rowKind is what a row of the form is.
type rowKind int

const (
	rowAll   rowKind = iota // position of every input
	rowInput                // one topic: ticked or not, its own position
	rowMore                 // further topics by name
	rowCheck                // a choice that is on or off
)

// formRow is one row of the form. Its name is its identity.
type formRow struct {
	kind rowKind
	name string
	help string
	on   bool
	own  bool // an input with a position of its own
	mode recovery.PositionMode
	text string
	set  func(*recovery.Request)
}

// requestScreen asks where the inputs are read from again.
type requestScreen struct {
	d       *desk
	data    inspected
	option  recovery.Option
	rows    []*formRow
	table   table[*formRow]
	request request
	err     error
}

func newRequestScreen(d *desk, data inspected, o recovery.Option) *requestScreen {
	s := &requestScreen{d: d, data: data, option: o}
	s.rows = append(s.rows, &formRow{kind: rowAll, name: "every input", on: true, mode: recovery.ToEarliest, help: "where every ticked input is read from again; left and right change it"})
	for _, t := range data.inv.ByRole(streams.RoleInput) {
		s.rows = append(s.rows, &formRow{kind: rowInput, name: t.Name, on: true, mode: recovery.ToEarliest, help: "space ticks; one that is not ticked keeps its committed offsets. left and right give it a position of its own"})
	}
	s.rows = append(s.rows, &formRow{kind: rowMore, name: "more inputs", help: "topics that the group has no commit on, separated by commas"})
	check := func(name, help string, set func(*recovery.Request)) {
		s.rows = append(s.rows, &formRow{kind: rowCheck, name: name, help: help, set: set})
	}
	check("repartition topics again", "create them anew with offset 0 committed: for auto.offset.reset=latest", func(r *recovery.Request) { r.RecreateRepartition = true })
	if len(data.inv.Group.Members) > 0 {
		check("remove the members", "evict those that are in the group, as a step of its own", func(r *recovery.Request) { r.RemoveMembers = true })
	}
	check("I stop it myself", "leave the stop task out of the plan", func(r *recovery.Request) { r.NoStop = true })
	check("I start it later", "leave the start, and with it the proof, out of the plan", func(r *recovery.Request) { r.NoStart = true })
	s.table = table[*formRow]{
		key: func(r *formRow) string { return r.name }, cells: s.cells,
		text: func(r *formRow) string { return r.name },
		cols: []column{{width: 3}, {title: "INPUT OR CHOICE", width: 16, flex: 1, mid: true}, {title: "FROM", width: 18, flex: 1}},
	}
	s.table.set(s.rows)
	s.resize()
	return s
}

func (s *requestScreen) resize() {
	_, h := s.d.body()
	s.table.resize(h - 1 - s.detailHeight(h))
}

func (s *requestScreen) detailHeight(h int) int { return min(5, h/3) }

func (s *requestScreen) handle(msg tea.Msg) tea.Cmd {
	switch msg := msg.(type) {
	case tea.WindowSizeMsg:
		s.resize()
	case answer[plans.Plan]:
		if !s.request.is(msg.number) {
			return nil
		}
		s.err = msg.err
		if msg.err == nil {
			s.d.openPlan(msg.value)
		}
	case leftMsg:
		s.request.drop()
	}
	return nil
}

func (s *requestScreen) cells(r *formRow) []span {
	tick := gap(3)
	if r.kind == rowInput || r.kind == rowCheck {
		tick = txt(plain, map[bool]string{true: "[x]", false: "[ ]"}[r.on])
	}
	from := gap(0)
	switch r.kind {
	case rowAll:
		from = s.positionText(r)
	case rowInput:
		switch {
		case !r.on:
			from = txt(muted, "not read again")
		case r.own:
			from = s.positionText(r)
		default:
			from = txt(muted, "as every input")
		}
	case rowMore:
		from = txt(muted, "none")
		if r.text != "" {
			from = txt(plain, r.text)
		}
	case rowCheck:
		from = txt(muted, map[bool]string{true: "yes", false: "no"}[r.on])
	}
	return []span{tick, txt(plain, r.name), from}
}

func (s *requestScreen) positionText(r *formRow) span {
	name, value := modeText(r.mode)
	switch {
	case value == "":
		return txt(plain, name)
	case r.text == "":
		return txt(warn, name+": ! needs a value")
	}
	return txt(plain, name+": "+r.text)
}

func (s *requestScreen) actions() []action {
	r, _ := s.table.selected()
	if r == nil {
		r = s.rows[0]
	}
	var tickOff, modeOff, editOff string
	if r.kind != rowInput && r.kind != rowCheck {
		tickOff = "only inputs and choices are ticked"
	}
	if r.kind != rowAll && r.kind != rowInput {
		modeOff = "only inputs have a position"
	}
	if _, value := modeText(r.mode); r.kind == rowCheck || r.kind != rowMore && value == "" {
		editOff = "there is nothing to write here; left and right choose the position"
	}
	out := []action{
		{keys: []string{"enter", "p"}, label: "make the plan", help: "make the plan; nothing is changed by it", off: s.problem(), do: s.plan},
		{keys: []string{"space", "x"}, label: "tick", help: "tick or untick", off: tickOff, do: func() tea.Cmd { r.on = !r.on; return nil }},
		{keys: []string{"right", "l"}, label: "position", help: "next position", off: modeOff, do: func() tea.Cmd { s.cycle(r, 1); return nil }},
		{keys: []string{"left", "h"}, help: "position before", off: modeOff, do: func() tea.Cmd { s.cycle(r, -1); return nil }},
		{keys: []string{"e"}, label: "write value", help: "write the value", off: editOff, do: func() tea.Cmd { return s.edit(r) }},
		{keys: []string{"/"}, help: "filter by text; ticks outside the filter stay and are counted", do: func() tea.Cmd { return s.table.search(s.d) }},
	}
	if s.table.filter != "" {
		out = append(out, action{keys: []string{"esc"}, label: "show all", help: "take the filter away", do: func() tea.Cmd { s.table.clear(); return nil }})
	}
	for _, a := range moves(&s.table) {
		if !slices.Contains(a.keys, "space") {
			out = append(out, a)
			continue
		}
		a.keys = []string{"pgdown"}
		out = append(out, a)
	}
	return out
}

// cycle goes through the positions. On an input the first one is "as every
// input".
func (s *requestScreen) cycle(r *formRow, by int) {
	i := slices.Index(positionModes, r.mode)
	n := len(positionModes)
	if r.kind == rowInput {
		n++
		i++
		if !r.own {
			i = 0
		}
		i = (i + by + n) % n
		r.own = i > 0
		r.mode = positionModes[max(i-1, 0)]
	} else {
		r.mode = positionModes[(i+by+n)%n]
	}
	r.text = ""
}

func (s *requestScreen) edit(r *formRow) tea.Cmd {
	label, value := "more inputs: ", "names, separated by commas"
	if r.kind != rowMore {
		name, v := modeText(r.mode)
		label, value = r.name+", "+name+": ", v
	}
	s.d.prompt = &prompt{
		label: txt(plain, label).cutMiddle(40).text, field: newField(r.text), keys: "enter keep  esc leave as it was   " + value,
		accept: func(v string) tea.Cmd {
			if r.kind != rowMore {
				if _, err := position("", r.mode, v, s.d.now); err != nil {
					s.d.say(markBad, err.Error())
				}
			}
			r.text = strings.TrimSpace(v)
			return nil
		},
	}
	return nil
}

// ticked are the names of the inputs that are read again.
func (s *requestScreen) ticked() []string {
	var out []string
	for _, r := range s.rows {
		switch {
		case r.kind == rowInput && r.on:
			out = append(out, r.name)
		case r.kind == rowMore:
			for name := range strings.SplitSeq(r.text, ",") {
				if name = strings.TrimSpace(name); name != "" && !slices.Contains(out, name) {
					out = append(out, name)
				}
			}
		}
	}
	return out
}

// build makes the request, or says what is missing.
func (s *requestScreen) build() (recovery.Request, error) {
	inv := s.data.inv
	req := recovery.Request{Application: inv.Application, Strategy: plans.Strategy(s.option.Strategy), Hints: inv.Hints}
	req.Hints.Inputs = s.ticked()
	for _, r := range s.rows {
		switch {
		case r.kind == rowAll, r.kind == rowInput && r.on && r.own:
			topic := ""
			if r.kind == rowInput {
				topic = r.name
			}
			p, err := position(topic, r.mode, r.text, s.d.now)
			if err != nil {
				return req, &recovery.Error{Outcome: recovery.OutcomeUsage, Message: txt(plain, r.name).text, Err: err}
			}
			req.Positions = append(req.Positions, p)
		case r.kind == rowCheck && r.on:
			r.set(&req)
		}
	}
	return req, nil
}

// problem is why no plan can be asked for yet.
func (s *requestScreen) problem() string {
	if s.request.out {
		return "the plan is being made"
	}
	if len(s.ticked()) == 0 {
		return "no input is ticked"
	}
	if _, err := s.build(); err != nil {
		return err.Error()
	}
	return ""
}

func (s *requestScreen) plan() tea.Cmd {
	req, err := s.build()
	if err != nil {
		s.err = err
		return nil
	}
	s.err = nil
	ex := s.d.s.Explorer
	return ask(s.d, &s.request, func(ctx context.Context) (plans.Plan, error) { return ex.Plan(ctx, req) })
}

func (s *requestScreen) head() head {
	inputs, on, hidden := 0, 0, 0
	for i, r := range s.rows {
		if r.kind != rowInput {
			continue
		}
		inputs++
		if r.on {
			on++
			if !slices.Contains(s.table.shown, i) {
				hidden++
			}
		}
	}
	status := txtf(plain, "%d of %d inputs ticked", on, inputs)
	if hidden > 0 {
		status = txtf(warn, "! %d of %d inputs ticked, %d not seen", on, inputs, hidden)
	}
	return head{name: "position", title: strategyName(s.option.Strategy), status: line{status}}
}

func (s *requestScreen) view(w, h int) string {
	p := newPage(s.d.th, w, h)
	if s.request.out {
		p.add(s.d.waiting(s.request, "reading the cluster and making the plan; nothing is changed")...)
		return p.String()
	}
	if s.err != nil {
		p.addLines(s.d.trouble("No plan was made. Nothing was changed.", s.err, w)...)
		p.add()
	}
	details := s.detailHeight(h)
	s.table.draw(p, p.room()-details)
	r, ok := s.table.selected()
	if !ok {
		return p.String()
	}
	p.add()
	p.addLines(hang(line{gap(1), txt(strong, r.name).cutMiddle(w / 2), gap(2)}, plain, r.help, w)...)
	if m := s.meaning(r); m != "" && (r.kind == rowAll || r.own) {
		p.addLines(hang(line{gap(1)}, plain, m, w)...)
	}
	return p.String()
}

// meaning says what the position comes to, with the local time beside UTC.
func (s *requestScreen) meaning(r *formRow) string {
	_, value := modeText(r.mode)
	if value == "" {
		return ""
	}
	pos, err := position("", r.mode, r.text, s.d.now)
	switch {
	case err != nil && r.text == "":
		return "e writes the value: " + value
	case err != nil:
		return err.Error()
	case !pos.At.IsZero():
		return "that is " + moment(pos.At, s.d.local) + ", " + long(s.d.now.Sub(pos.At)) + " ago"
	}
	return ""
}
