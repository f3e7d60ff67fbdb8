package ui

import (
	"fmt"
	"slices"
	"strings"
	"time"

	tea "charm.land/bubbletea/v2"

	"resurge/recovery"
)

// steps draws what was done in one line, what runs in full, and what is to come
// as far as there is room.
func (s *runScreen) steps(p *page) {
	r := s.d.run.fold
	cur := len(r.Steps)
	for i, st := range r.Steps {
		if !st.Status.Done() {
			cur = i
			break
		}
	}
	if cur > 0 {
		p.add(s.doneLine(r.Steps[:cur])...)
	}
	if cur == len(r.Steps) {
		return
	}
	s.current(p, r.Steps[cur])
	rest := r.Steps[cur+1:]
	logRoom := min(len(r.Log), max(p.h/5, 1))
	if p.h < 12 {
		logRoom = 0
	}
	room := p.room() - logRoom - 1
	for i, st := range rest {
		if i == room-1 && len(rest) > room || room <= 0 {
			p.add(gap(1), s.d.th.mark(markNothing), txtf(muted, " and %s to come", plural(len(rest)-i, "more step")))
			break
		}
		p.add(s.stepLine(st)...)
	}
}

// doneLine sums up the steps that are behind.
func (s *runScreen) doneLine(done []recovery.StepState) line {
	span := done[0].Step.ID
	if len(done) > 1 {
		span += "–" + done[len(done)-1].Step.ID
	}
	var verbs []string
	for _, st := range done {
		v := kindWord(st.Step)
		if st.Step.Task != nil {
			v = st.Step.Task.Name
		}
		if !slices.Contains(verbs, v) {
			verbs = append(verbs, v)
		}
	}
	took := time.Duration(0)
	if first, last := done[0].Started, done[len(done)-1].Ended; !first.IsZero() && !last.IsZero() {
		took = last.Sub(first)
	}
	left := line{gap(1), s.d.th.mark(markGood), gap(1), txt(muted, span).left(5), gap(1), txt(plain, plural(len(done), "step")+" done: "+strings.Join(verbs, ", "))}
	return spread(left, line{txt(muted, long(took)), gap(1)}, s.d.w)
}

func (s *runScreen) stepLine(st recovery.StepState) line {
	title := txt(plain, st.Step.Title)
	if isTask(st.Step) {
		title = txt(plain, "you: "+st.Step.Title)
	}
	if st.Status == recovery.StatusPending {
		title = title.in(muted)
	}
	return line{gap(1), s.d.th.mark(statusMark(st.Status)), gap(1), txt(muted, st.Step.ID).left(5), gap(1), title}
}

// current draws the step that runs, with its parts.
func (s *runScreen) current(p *page, st recovery.StepState) {
	d := s.d
	l := s.stepLine(st)
	l[len(l)-1] = l[len(l)-1].in(strong)
	took := line{}
	if !st.Started.IsZero() {
		took = line{txt(muted, long(d.since(st.Started))), gap(1)}
	}
	p.add(spread(l, took, p.w)...)
	indent := gap(9)
	switch {
	case st.Total > 0 || st.Done > 0:
		p.add(append(line{indent}, s.progress(st, p.w-indent.width)...)...)
	case st.Status == recovery.StatusWaiting && d.run.fold.Waiting == nil && st.Step.Deadline > 0:
		p.add(indent, txt(plain, "waits at most "+long(time.Duration(st.Step.Deadline)*time.Second)+", then stops safely"))
	}
	if st.Message != "" && st.Message != st.Step.Title && d.run.fold.Waiting == nil && p.h >= 12 {
		p.addLines(hang(line{indent}, muted, st.Message, p.w)...)
	}
	s.parts(p, st)
}

// progress is done and total, rate and time left.
func (s *runScreen) progress(st recovery.StepState, w int) line {
	unit := st.Unit
	if unit == "" {
		unit = "units"
	}
	var l line
	if pc, ok := percent(st.Done, st.Total); ok {
		l = append(l, txtf(strong, "%d %%", pc), txt(plain, "  "+grouped(st.Done)+" of "+grouped(st.Total)+" "+unit))
	} else {
		l = append(l, txt(plain, grouped(st.Done)+" of ? "+unit))
	}
	if !s.d.run.fresh(st, s.d.now) {
		return l
	}
	if rate := st.Rate(); rate > 0 {
		l = append(l, txt(plain, "  "+grouped(int64(rate))+"/s"))
	}
	if eta, ok := st.ETA(); ok {
		l = append(l, txt(plain, "  eta "+long(eta)))
	}
	room := w - l.width() - 3
	if rates := sampleRates(st); room >= 6 && len(rates) > 2 {
		l = append(l, gap(2), txt(accent, spark(rates[max(len(rates)-room, 0):])))
	}
	return l
}

func sampleRates(st recovery.StepState) []float64 {
	var out []float64
	for i := 1; i < len(st.Samples); i++ {
		a, b := st.Samples[i-1], st.Samples[i]
		if dt := b.Time.Sub(a.Time).Seconds(); dt > 0 {
			out = append(out, float64(b.Done-a.Done)/dt)
		}
	}
	return out
}

// parts draws a bar for each partition or topic, those that still move first.
func (s *runScreen) parts(p *page, st recovery.StepState) {
	room := (p.room() - 2) / 2
	if len(st.Parts) == 0 || room <= 0 || p.h < 12 {
		return
	}
	var open, done []recovery.Part
	for _, part := range st.Parts {
		if part.Total > 0 && part.Done >= part.Total {
			done = append(done, part)
			continue
		}
		open = append(open, part)
	}
	ordered := slices.Concat(open, done)
	name := 12
	for _, part := range ordered {
		name = max(name, width(part.Name))
	}
	name = min(name, p.w/3)
	barWidth := min(max(p.w-name-9-28, 8), 24)
	for i, part := range ordered {
		if i == room-1 && len(ordered) > room {
			p.add(gap(9), txtf(muted, "%s %d more, %d of %d complete", ellipsis, len(ordered)-i, len(done), len(ordered)))
			break
		}
		value := grouped(part.Done) + " of ?"
		if pc, ok := percent(part.Done, part.Total); ok {
			value = fmt.Sprintf("%3d %%  %s of %s", pc, grouped(part.Done), grouped(part.Total))
		}
		p.add(gap(9), txt(plain, part.Name).cutMiddle(name).left(name), gap(1), txt(accent, bar(part.Done, part.Total, barWidth)), gap(1), txt(plain, value))
	}
}

// log fills what is left with the newest lines.
func (s *runScreen) log(p *page) {
	r := s.d.run.fold
	if p.room() < 2 || len(r.Log) == 0 {
		return
	}
	n := min(p.room()-1, len(r.Log))
	p.fill(n + 1)
	p.rule()
	for _, l := range r.Log[len(r.Log)-n:] {
		p.add(gap(1), txt(muted, hms(l.Time)), gap(1), txt(muted, l.Step).left(3), gap(1), txt(plain, l.Text))
	}
}

// logText is the whole log that is kept.
func (d *desk) logText() reading {
	return reading{
		name: "log", title: "log, newest first", what: "the log",
		copy: func() string {
			var b strings.Builder
			for _, l := range d.run.fold.Log {
				fmt.Fprintf(&b, "%s %s %s\n", hms(l.Time), l.Step, l.Text)
			}
			return b.String()
		},
		lines: func(_ *theme, w int) []line {
			var out []line
			for _, l := range slices.Backward(d.run.fold.Log) {
				out = append(out, hang(line{gap(1), txt(muted, hms(l.Time)), gap(1), txt(muted, l.Step).left(3), gap(1)}, plain, l.Text, w)...)
			}
			return out
		},
	}
}

// stepsScreen lists the steps of the run with what happened to each.
type stepsScreen struct {
	d     *desk
	table table[recovery.StepState]
}

func newStepsScreen(d *desk) *stepsScreen {
	s := &stepsScreen{d: d}
	s.table = table[recovery.StepState]{
		key: func(st recovery.StepState) string { return st.Step.ID }, cells: s.cells,
		text: func(st recovery.StepState) string { return st.Step.Title + " " + string(st.Status) },
	}
	s.columns()
	s.table.set(d.run.fold.Steps)
	s.resize()
	if cur, ok := d.run.fold.Current(); ok {
		s.table.choose(slices.IndexFunc(d.run.fold.Steps, func(st recovery.StepState) bool { return st.Step.ID == cur.Step.ID }))
	}
	return s
}

func (s *stepsScreen) columns() {
	s.table.cols = []column{
		{width: s.d.th.markWidth()},
		{title: "#", width: 3, right: true},
		{title: "WHAT", width: 14, flex: 1},
		{title: "STATE", width: 12},
		{title: "TOOK", width: 8, right: true, drop: 1},
	}
}

func (s *stepsScreen) resize() {
	_, h := s.d.body()
	s.table.resize(h - 1)
}

func (s *stepsScreen) handle(msg tea.Msg) tea.Cmd {
	switch msg.(type) {
	case tea.WindowSizeMsg:
		s.resize()
	case relookMsg:
		s.columns()
	case runMsg:
		s.table.set(s.d.run.fold.Steps)
	}
	return nil
}

// statusWord is where a step stands, in words.
func statusWord(s recovery.Status) string {
	switch s {
	case recovery.StatusPending:
		return "to come"
	case recovery.StatusRunning:
		return "runs"
	case recovery.StatusWaiting:
		return "waits"
	case recovery.StatusInDoubt:
		return "in doubt"
	case recovery.StatusVerified:
		return "verified"
	case recovery.StatusSkipped:
		return "already done"
	case recovery.StatusFailed:
		return "failed"
	}
	return string(s)
}

func (s *stepsScreen) cells(st recovery.StepState) []span {
	took := ""
	switch {
	case st.Started.IsZero():
	case st.Ended.IsZero():
		took = long(s.d.since(st.Started))
	default:
		took = long(st.Ended.Sub(st.Started))
	}
	return []span{
		s.d.th.mark(statusMark(st.Status)), txt(muted, st.Step.ID), txt(plain, st.Step.Title), txt(plain, statusWord(st.Status)), txt(muted, took),
	}
}

func (s *stepsScreen) actions() []action {
	st, ok := s.table.selected()
	off := ""
	if !ok {
		off = "no step is selected"
	}
	out := []action{
		{keys: []string{"enter"}, label: "step detail", help: "what the step does, and what was found", off: off, do: func() tea.Cmd {
			s.d.push(newTextScreen(s.d, s.d.stateText(st.Step.ID)))
			return nil
		}},
		{keys: []string{"/"}, label: "filter", help: "filter by text or state, !text leaves out", do: func() tea.Cmd { return s.table.search(s.d) }},
	}
	if s.table.filter != "" {
		out = append(out, action{keys: []string{"esc"}, label: "show all", help: "take the filter away", do: func() tea.Cmd { s.table.clear(); return nil }})
	}
	return append(out, moves(&s.table)...)
}

func (s *stepsScreen) head() head {
	done := 0
	for _, st := range s.d.run.fold.Steps {
		if st.Status.Done() {
			done++
		}
	}
	return head{name: "steps", status: line{txtf(plain, "%d of %d done", done, len(s.d.run.fold.Steps))}}
}

func (s *stepsScreen) view(w, h int) string {
	p := newPage(s.d.th, w, h)
	s.table.draw(p, h)
	return p.String()
}

// stateText is a step of the run with its evidence, as it is when it is read.
func (d *desk) stateText(id string) reading {
	find := func() recovery.StepState {
		for _, st := range d.run.fold.Steps {
			if st.Step.ID == id {
				return st
			}
		}
		return recovery.StepState{}
	}
	r := reading{name: "step", title: "step " + id, what: "the step's commands"}
	r.copy = func() string { return strings.Join(find().Step.CLI, "\n") }
	r.lines = func(th *theme, w int) []line {
		st := find()
		f := &facts{w: w, name: 10}
		f.add("state", statusWord(st.Status))
		if !st.Started.IsZero() {
			f.add("started", moment(st.Started, d.local))
		}
		if !st.Ended.IsZero() {
			f.add("took", long(st.Ended.Sub(st.Started)))
		}
		if st.Problem != nil {
			f.toned("problem", danger, st.Problem.Message)
			f.add("next", st.Problem.Hint)
		}
		if st.Message != st.Step.Title {
			f.add("last", st.Message)
		}
		for _, e := range st.Evidence {
			f.lines = append(f.lines, evidenceLines(th, e, w)...)
		}
		f.blank()
		return append(f.lines, stepLines(st.Step, w)...)
	}
	return r
}

// evidenceLines is one check, with a word for its result.
func evidenceLines(th *theme, e recovery.Evidence, w int) []line {
	const name = 18
	text := e.Detail
	switch e.Result {
	case recovery.ResultFailed:
		text = "FAILED: " + text
	case recovery.ResultSkipped:
		text = "skipped, proves nothing: " + text
	case recovery.ResultOK:
	}
	head := line{gap(1), th.mark(resultMark(e.Result)).left(th.markWidth()), gap(1)}
	if c := txt(strong, e.Check); c.width <= name && w >= 60 {
		return hang(append(head, c.left(name), gap(1)), plain, text, w)
	}
	return append(hang(head, strong, e.Check, w), hang(line{gap(4)}, plain, text, w)...)
}
