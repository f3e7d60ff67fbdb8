package ui

import (
	"strings"
	"time"

	tea "charm.land/bubbletea/v2"

	"resurge/plans"
	"resurge/recovery"
)

// runScreen shows the run against the clock. What it draws is the fold that the
// desk keeps; it has no state of its own.
type runScreen struct {
	d *desk
}

func newRunScreen(d *desk) *runScreen { return &runScreen{d: d} }

func (s *runScreen) handle(tea.Msg) tea.Cmd { return nil }

func (s *runScreen) head() head {
	h := head{name: "run", status: s.d.rto()}
	if id := s.d.run.id(); id != "" {
		h.title = "run " + id
	}
	return h
}

func (s *runScreen) actions() []action {
	d, r := s.d, s.d.run.fold
	ask, over := "", ""
	switch {
	case r.Waiting == nil:
		ask = "nothing waits for you now"
	case !d.run.ready(d.now):
		ask = "the question has just appeared; read it and press again"
	}
	if !d.run.active() {
		over = "the run is not active"
		ask = over
	}
	pause, carry := over, over
	if r.Paused && over == "" {
		pause = "it is paused; c continues"
	} else if over == "" {
		carry = "it is not paused"
	}
	out := []action{
		{keys: []string{"d"}, label: "done", help: "say that the task was done", off: ask, do: s.done},
		{keys: []string{"n"}, label: "cannot", help: "say that the task cannot be done: the run stops where it is safe", off: ask, do: s.cannot},
		{keys: []string{"p"}, label: "pause", help: "pause after the step that runs", off: pause, do: s.pause},
		{keys: []string{"c"}, label: "continue", help: "continue after a pause", off: carry, do: s.carryOn},
		{keys: []string{"s"}, label: "stop", help: "stop at the next safe point; it can be resumed", off: over, do: s.stop},
		{keys: []string{"enter", "t"}, label: "steps", help: "all steps with what happened to them", off: s.offBeforeStart(), do: func() tea.Cmd { d.push(newStepsScreen(d)); return nil }},
		{keys: []string{"l"}, label: "log", help: "the log of the run", off: s.offBeforeStart(), do: func() tea.Cmd { d.push(newTextScreen(d, d.logText())); return nil }},
		{keys: []string{"y"}, label: "copy", help: "copy what you are asked to do, else the run's ID", off: s.offBeforeStart(), do: s.copy},
	}
	if d.run.err != nil {
		out = append(out, action{keys: []string{"r"}, label: "listen again", help: "listen to the run again", do: func() tea.Cmd { return d.waitForEvents(0) }})
	}
	// What can be done now comes first in the line of keys.
	for i := range out {
		if out[i].off != "" && i < 4 {
			out[i].label = ""
		}
	}
	return out
}

func (s *runScreen) offBeforeStart() string {
	if s.d.run.fold.ID == "" {
		return "nothing is known about the run yet"
	}
	return ""
}

func (s *runScreen) done() tea.Cmd {
	d, task := s.d, *s.d.run.fold.Waiting
	d.prompt = &prompt{
		label: "Done? " + task.Ask, bare: true, keys: "enter yes, it is done  esc not yet",
		accept: func(string) tea.Cmd {
			if w := d.run.fold.Waiting; w == nil || w.Name != task.Name {
				d.say(markLook, "The run does not wait for that any more.")
				return nil
			}
			d.say(markGood, "Said to be done by "+d.s.Operator+". The run checks what it can.")
			return d.control(func() { d.s.Controls.Acknowledge(task.Name, d.s.Operator) })
		},
	}
	return nil
}

func (s *runScreen) cannot() tea.Cmd {
	d, task := s.d, *s.d.run.fold.Waiting
	d.prompt = &prompt{
		label: "Why can it not be done? ", keys: "enter stop the run here safely  esc back, nothing is stopped",
		accept: func(reason string) tea.Cmd {
			if strings.TrimSpace(reason) == "" {
				d.say(markLook, "A reason is needed; the run goes on waiting.")
				return nil
			}
			d.say(markLook, "Stopping here safely: "+reason)
			return d.control(func() { d.s.Controls.Decline(task.Name, reason) })
		},
	}
	return nil
}

func (s *runScreen) pause() tea.Cmd {
	s.d.say(markLook, "Pausing after this step. c continues.")
	return s.d.control(s.d.s.Controls.PauseAfterStep)
}

func (s *runScreen) carryOn() tea.Cmd {
	s.d.leave = 0
	return s.d.control(s.d.s.Controls.Continue)
}

func (s *runScreen) stop() tea.Cmd {
	d := s.d
	d.prompt = &prompt{
		label: "Stop at the next safe point? Type stop: ", keys: "enter answer  esc go on",
		accept: func(v string) tea.Cmd {
			if v != "stop" {
				d.say(markNothing, "Nothing was stopped. The run goes on.")
				return nil
			}
			d.say(markLook, "Stopping at the next safe point.")
			return d.control(d.s.Controls.Stop)
		},
	}
	return nil
}

func (s *runScreen) copy() tea.Cmd {
	r := s.d.run.fold
	if t := r.Waiting; t != nil {
		text := strings.Join(t.Details, "\n")
		if text == "" {
			text = t.Ask
		}
		return s.d.copyText("what is to be done", text)
	}
	return s.d.copyText("the run's ID", r.ID)
}

func (s *runScreen) view(w, h int) string {
	d := s.d
	p := newPage(d.th, w, h)
	if d.run.fold.ID == "" {
		s.beforeStart(p)
		return p.String()
	}
	s.turn(p)
	s.trouble(p)
	s.clock(p)
	if p.h >= 12 {
		p.add(d.phases(w)...)
		p.add(s.times()...)
		p.add()
	}
	s.steps(p)
	s.log(p)
	return p.String()
}

func (s *runScreen) beforeStart(p *page) {
	d := s.d
	switch {
	case d.run.err != nil:
		p.addLines(d.trouble("The run cannot be followed.", d.run.err, p.w)...)
		p.add()
		p.add(gap(3), txt(strong, "r"), txt(plain, " listens again"))
	case d.run.over:
		p.addLines(hang(line{gap(1), d.th.mark(markUnknown), gap(1)}, plain, "The run told nothing. Its journal says what was done.", p.w)...)
	default:
		what := "starting the run"
		if d.run.attached != "" {
			what = "attaching to run " + d.run.attached
		}
		p.add(d.waiting(d.run.request, what)...)
	}
}

// turn is the ask, large and first.
func (s *runScreen) turn(p *page) {
	d, r := s.d, s.d.run.fold
	if r.Waiting == nil {
		return
	}
	title := "▶ YOUR TURN"
	cur, ok := r.Current()
	left := line{gap(1), txt(shout, " "+title+" ")}
	waits := "waiting "
	if p.w < 60 {
		waits = ""
	}
	if ok {
		left = append(left, txtf(plain, "  step %s of %d", cur.Step.ID, len(r.Steps)))
	}
	p.add(spread(left, line{txt(strong, waits+long(d.since(r.WaitingSince))), gap(1)}, p.w)...)
	p.addLines(hang(line{gap(3)}, strong, r.Waiting.Ask, p.w)...)
	limit := max(p.h/3, 2)
	for i, detail := range r.Waiting.Details {
		if i == limit && len(r.Waiting.Details) > limit+1 {
			p.add(gap(5), txtf(warn, "%s %d more: ", ellipsis, len(r.Waiting.Details)-limit), txt(strong, "y"), txt(plain, " copies all, "), txt(strong, "enter"), txt(plain, " shows the steps"))
			break
		}
		p.addLines(hang(line{gap(5)}, plain, detail, p.w)...)
	}
	if r.Waiting.Why != "" && p.h >= 12 {
		p.addLines(hang(line{gap(3), txt(muted, "Why: ")}, plain, r.Waiting.Why, p.w)...)
	}
	cannot := " cannot: stop here safely   "
	if p.w < 60 {
		cannot = " cannot   "
	}
	p.add(gap(3), txt(strong, "d"), txt(plain, " done   "), txt(strong, "n"), txt(plain, cannot), txt(strong, "y"), txt(plain, " copy"))
	if p.h >= 12 {
		p.add()
	}
}

// trouble are the states of a run that are not progress.
func (s *runScreen) trouble(p *page) {
	d, r := s.d, s.d.run.fold
	say := func(mark string, t tone, title, text string) {
		head := line{gap(1), d.th.mark(mark), gap(1), txt(t, title)}
		if body := txt(plain, text); head.width()+2+body.width <= p.w {
			p.add(append(head, gap(2), body)...)
			return
		}
		p.add(head...)
		if p.h >= 12 || t == danger {
			p.addLines(hang(line{gap(3)}, plain, text, p.w)...)
		}
	}
	cur, _ := r.Current()
	switch {
	case d.run.err != nil:
		say(markUnknown, warn, "NOT HEARD", "the run goes on, but it cannot be followed: "+brief(d.run.err)+"; r listens again")
	case d.run.over && r.Outcome == "":
		say(markUnknown, warn, "NO END SEEN", "the run stopped telling. "+d.resumeHint())
	case r.Outcome != "":
		say(outcomeMark(r.Outcome), strong, outcomeTitle(r), "esc and :run show the result")
	case r.Paused:
		say(markLook, warn, "PAUSED", "nothing runs; c continues, s stops safely")
	case d.run.still(d.now) > 0:
		say(markLook, warn, "NO PROGRESS for "+long(d.run.still(d.now)), "step "+cur.Step.ID+" still runs and nothing moves. Look at the brokers and at the log (l). p pauses after it, s stops safely.")
	case cur.Status == recovery.StatusInDoubt:
		say(markUnknown, warn, "IN DOUBT", "step "+cur.Step.ID+" was begun by a process that is gone; it is checked before anything is done")
	}
	if cur.Problem != nil && r.Outcome == "" {
		say(markBad, danger, "FAILED", cur.Problem.Message)
		if cur.Problem.Hint != "" {
			p.addLines(hang(line{gap(3), txt(accent, "→ ")}, plain, cur.Problem.Hint, p.w)...)
		}
	}
}

// clock is the RTO bar: what has passed, what the running step still needs, and
// the target.
func (s *runScreen) clock(p *page) {
	d, r := s.d, s.d.run.fold
	passed, target := d.run.clock(d.now), r.Header.RTO
	if target <= 0 {
		since := "since the incident"
		if r.Header.Incident.IsZero() {
			since = "since the run began; no incident was declared"
		}
		p.add(gap(1), txt(plain, "no RTO set · "+long(passed)+" "+since))
		return
	}
	text := txt(plain, long(target-passed)+" left")
	if passed > target {
		text = txt(danger, markBad+" "+long(passed-target)+" over")
	}
	width := p.w - 18
	if width < 16 {
		p.add(gap(1), text)
		return
	}
	ahead := time.Duration(0)
	if cur, ok := r.Current(); ok && d.run.fresh(cur, d.now) {
		ahead, _ = cur.ETA()
	}
	scale := max(target*5/4, passed+ahead)
	at := func(x time.Duration) int { return min(int(float64(x)/float64(scale)*float64(width)), width) }
	cells := []rune(strings.Repeat("█", at(passed)) + strings.Repeat("▒", at(passed+ahead)-at(passed)) + strings.Repeat("░", width-at(passed+ahead)))
	mark := min(at(target), width-1)
	cells[mark] = '│'
	t := accent
	if passed > target {
		t = danger
	}
	p.add(gap(1), txt(t, string(cells[:mark])), txt(strong, "│"), txt(t, string(cells[mark+1:])), gap(2), text)
}

// phaseWords are the phases as they fit into a line.
var phaseWords = map[string]string{
	recovery.PhaseIncident: "incident", recovery.PhaseEmpty: "empty", recovery.PhaseWritten: "written", recovery.PhaseFirstMember: "joined",
	recovery.PhaseStable: "stable", recovery.PhaseFirstCommit: "committed", recovery.PhaseCaughtUp: "caught up", recovery.PhaseDrained: "drained", recovery.PhaseProven: "proven",
}

// phases draws T0 to T8; the next one is named, all are where there is room.
func (d *desk) phases(w int) line {
	build := func(all bool) line {
		l, next := make(line, 1, 40), true
		l[0] = gap(1)
		for _, ph := range recovery.Phases() {
			_, reached := d.run.fold.Phases[ph.ID]
			mark, t := markNothing, muted
			switch {
			case reached:
				mark, t = markGood, plain
			case next && d.run.active():
				mark, t = markWorking, strong
			}
			name := ph.ID
			if all || !reached && next || ph.ID == recovery.PhaseProven {
				name += " " + phaseWords[ph.ID]
			}
			if !reached {
				next = false
			}
			l = append(l, d.th.mark(mark), gap(1), txt(t, name), gap(map[bool]int{true: 1, false: 2}[all]))
		}
		return l
	}
	if l := build(true); l.width() <= w {
		return l
	}
	return build(false)
}

// times splits the run's time between people and the machine.
func (s *runScreen) times() line {
	d, r := s.d, s.d.run.fold
	human, machine := d.run.split(d.now)
	l := line{gap(1), txt(muted, "machine "), txt(plain, long(machine)), txt(muted, " · waited for people "), txt(plain, long(human))}
	if r.Resumed > 0 {
		l = append(l, txt(muted, " · "), txt(plain, "resumed "+plural(r.Resumed, "time")))
	}
	return l
}

// split is the run's time so far, spent by people and by the machine.
func (f *follower) split(now time.Time) (human, machine time.Duration) {
	r := f.fold
	if !r.Finished.IsZero() {
		now = r.Finished
	}
	human = r.HumanWait
	if r.Waiting != nil {
		human += max(now.Sub(r.WaitingSince), 0)
	}
	return max(human, 0), max(now.Sub(r.Began)-human, 0)
}

// isTask reports whether a step is done by a person.
func isTask(st plans.Step) bool {
	return st.Kind == plans.OperatorTask && (st.Task == nil || !st.Task.Hook)
}
