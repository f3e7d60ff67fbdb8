package ui

import (
	"slices"
	"strings"

	tea "charm.land/bubbletea/v2"

	"resurge/plans"
	"resurge/recovery"
)

// resultScreen says whether the state is proven, and what to do next.
type resultScreen struct {
	d    *desk
	body scroller
}

func newResultScreen(d *desk) *resultScreen {
	s := &resultScreen{d: d}
	s.resize()
	return s
}

func (s *resultScreen) resize() {
	w, h := s.d.body()
	s.body.resize(h)
	s.body.set(s.lines(w))
}

func (s *resultScreen) handle(msg tea.Msg) tea.Cmd {
	switch msg.(type) {
	case tea.WindowSizeMsg, relookMsg, runMsg:
		s.resize()
	}
	return nil
}

func (s *resultScreen) view(w, h int) string {
	p := newPage(s.d.th, w, h)
	s.body.draw(p, h)
	return p.String()
}

func (s *resultScreen) head() head {
	status := s.d.rto()
	if place := s.body.place(); place != "" {
		status = append(line{txt(muted, place), gap(2)}, status...)
	}
	return head{name: "result", status: status}
}

func (s *resultScreen) actions() []action {
	d := s.d
	return append([]action{
		{keys: []string{"enter", "t"}, label: "steps", help: "all steps with what was found", do: func() tea.Cmd { d.push(newStepsScreen(d)); return nil }},
		{keys: []string{"l"}, label: "log", help: "the log of the run", do: func() tea.Cmd { d.push(newTextScreen(d, d.logText())); return nil }},
		{keys: []string{"y"}, label: "copy", help: "copy this page as text", do: s.copy},
		{keys: []string{"o"}, label: "open application", help: "read the application again", do: func() tea.Cmd { return d.openApplication(d.run.fold.Header.Plan.Application) }},
	}, moves(&s.body)...)
}

func (s *resultScreen) copy() tea.Cmd {
	var b strings.Builder
	for _, l := range s.lines(100) {
		for _, sp := range l {
			b.WriteString(sp.text)
		}
		b.WriteByte('\n')
	}
	return s.d.copyText("the result", "run "+s.d.run.fold.ID+"\n"+b.String())
}

func outcomeMark(o recovery.Outcome) string {
	switch o {
	case recovery.OutcomeVerified:
		return markGood
	case recovery.OutcomeRTOMissed, recovery.OutcomePartial, recovery.OutcomeInterrupted:
		return markLook
	case recovery.OutcomeFailed, recovery.OutcomeUsage, recovery.OutcomeBlocked, recovery.OutcomeUnauthorised, recovery.OutcomeGroupActive,
		recovery.OutcomeUnverified, recovery.OutcomeStale, recovery.OutcomeUnreachable, recovery.OutcomeLeaseHeld:
		return markBad
	}
	return markUnknown
}

// outcomeTitle is the end of a run in a few words.
func outcomeTitle(r recovery.Run) string {
	undo := r.Header.Plan.Strategy == plans.Undo
	switch r.Outcome {
	case recovery.OutcomeVerified:
		switch {
		case undo:
			return "TAKEN BACK"
		case !r.Proven():
			return "DONE AND VERIFIED, NOT STARTED"
		}
		return "RECOVERED AND PROVEN"
	case recovery.OutcomeRTOMissed:
		return "RECOVERED AND PROVEN, TOO LATE"
	case recovery.OutcomeUnverified:
		return "APPLIED, NOT PROVEN"
	case recovery.OutcomePartial:
		return "STOPPED ON THE WAY"
	case recovery.OutcomeInterrupted:
		return "INTERRUPTED"
	case recovery.OutcomeFailed:
		return "FAILED"
	case recovery.OutcomeUsage, recovery.OutcomeBlocked:
		return "REFUSED"
	case recovery.OutcomeUnauthorised:
		return "NOT ALLOWED"
	case recovery.OutcomeGroupActive:
		return "THE GROUP IS STILL ACTIVE"
	case recovery.OutcomeStale:
		return "THE PLAN IS STALE"
	case recovery.OutcomeUnreachable:
		return "CLUSTER OR STORAGE NOT REACHED"
	case recovery.OutcomeLeaseHeld:
		return "ANOTHER RUN HAS THE APPLICATION"
	}
	return strings.ToUpper(txt(plain, string(r.Outcome)).text)
}

func (s *resultScreen) lines(w int) []line {
	d, r := s.d, s.d.run.fold
	if r.Outcome == "" {
		return []line{{gap(1), d.th.mark(markUnknown), txt(plain, " The run has no end yet.")}}
	}
	var out []line
	mark := outcomeMark(r.Outcome)
	out = append(out, s.title(mark, w)...)
	out = append(out, s.timeLines(w)...)
	if r.Problem != nil {
		out = append(out, line{})
		out = append(out, hang(line{gap(3)}, danger, r.Problem.Message, w)...)
		if r.Problem.Hint != "" {
			out = append(out, hang(line{gap(3), txt(accent, "→ ")}, plain, r.Problem.Hint, w)...)
		}
	}
	if !r.Proven() {
		out = append(out, s.next(w)...)
	}
	out = append(out, line{})
	out = append(out, s.proof(w)...)
	out = append(out, line{})
	out = append(out, s.phaseTimes(w)...)
	if r.Proven() {
		out = append(out, line{})
		out = append(out, s.next(w)...)
	}
	return out
}

// title says how it ended, and how that stands to the target.
func (s *resultScreen) title(mark string, w int) []line {
	d, r := s.d, s.d.run.fold
	t := map[string]tone{markGood: good, markLook: warn, markBad: danger}[mark]
	out := []line{{gap(1), d.th.mark(mark), gap(1), txt(t, outcomeTitle(r))}}
	// add goes on in the same line where there is room, else in the next one.
	add := func(piece line) {
		last := out[len(out)-1]
		if last.width()+piece.width()+3 > w {
			out = append(out, append(line{gap(3)}, piece...))
			return
		}
		out[len(out)-1] = append(append(last, gap(2)), piece...)
	}
	if r.Proven() {
		add(line{txt(strong, long(d.run.clock(d.now))+" after the "+origin(r))})
	}
	var right line
	if target := r.Header.RTO; target > 0 {
		passed := d.run.clock(r.Finished)
		switch {
		case r.Proven() && passed <= target:
			right = line{txt(good, "RTO "+short(target)+" met by "+long(target-passed))}
		case r.Proven():
			right = line{txt(danger, "RTO "+short(target)+" missed by "+long(passed-target))}
		case passed > target:
			right = line{txt(danger, "RTO "+short(target)+" passed "+long(passed-target)+" ago")}
		default:
			right = line{txt(warn, "RTO "+short(target)+": "+long(target-passed)+" were left")}
		}
	}
	if last := len(out) - 1; right != nil && out[last].width()+right.width()+3 <= w {
		out[last] = spread(out[last], append(right, gap(1)), w)
	} else if right != nil {
		add(right)
	}
	return out
}

// origin is what the clock counts from.
func origin(r recovery.Run) string {
	if r.Header.Incident.IsZero() {
		return "begin of the run"
	}
	return "incident"
}

func (s *resultScreen) timeLines(w int) []line {
	d, r := s.d, s.d.run.fold
	human, machine := d.run.split(d.now)
	text := "machine " + long(machine) + " · waited for people " + long(human)
	if before := r.Began.Sub(r.Header.Incident); before > 0 && !r.Header.Incident.IsZero() {
		text += " · before the run began " + long(before)
	}
	if r.Resumed > 0 {
		text += " · resumed " + plural(r.Resumed, "time")
	}
	return hang(line{gap(3)}, plain, text, w)
}

// proof lists the checks: what failed first, then what proves the state, then
// what was done on the way, then what was skipped.
func (s *resultScreen) proof(w int) []line {
	var all []recovery.Evidence
	for _, st := range slices.Backward(s.d.run.fold.Steps) {
		all = append(all, st.Evidence...)
	}
	if len(all) == 0 {
		return []line{{gap(1), s.d.th.mark(markNothing), txt(plain, " No check was made.")}}
	}
	rank := map[recovery.Result]int{recovery.ResultFailed: 0, recovery.ResultOK: 1, recovery.ResultSkipped: 2}
	var out []line
	for _, e := range sorted(all, func(a, b recovery.Evidence) int { return rank[a.Result] - rank[b.Result] }) {
		out = append(out, evidenceLines(s.d.th, e, w)...)
	}
	return out
}

// phaseTimes are the phases with the time since the incident.
func (s *resultScreen) phaseTimes(w int) []line {
	r := s.d.run.fold
	var out []line
	l := line{gap(2)}
	for _, ph := range recovery.Phases() {
		at, ok := r.Phases[ph.ID]
		text := ph.ID + " " + phaseWords[ph.ID] + " "
		switch {
		case !ok || at.IsZero():
			text += "-"
		case ph.ID == recovery.PhaseIncident:
			text += hms(at)
		default:
			text += long(at.Sub(s.d.run.zero()))
		}
		piece := line{gap(1), txt(map[bool]tone{true: plain, false: muted}[ok], text), gap(2)}
		if l.width()+piece.width() > w {
			out = append(out, l)
			l = line{gap(2)}
		}
		l = append(l, piece...)
	}
	return append(out, l)
}

// next is what to do now.
func (s *resultScreen) next(w int) []line {
	d, r := s.d, s.d.run.fold
	var texts []string
	switch r.Outcome {
	case recovery.OutcomeVerified, recovery.OutcomeRTOMissed:
		texts = append(texts, "Nothing is left to do for the state. Watch the lag for a while.")
	case recovery.OutcomeUnverified:
		texts = append(texts, "Do not trust the state before the failed check is understood. enter shows the steps.")
	case recovery.OutcomeStale:
		texts = append(texts, "Nothing was changed. Open the application again (o) and make a new plan.")
	case recovery.OutcomeUsage, recovery.OutcomeBlocked, recovery.OutcomeUnauthorised, recovery.OutcomeGroupActive, recovery.OutcomeLeaseHeld,
		recovery.OutcomeFailed, recovery.OutcomePartial, recovery.OutcomeUnreachable, recovery.OutcomeInterrupted:
	}
	if d.run.resumable() {
		texts = append(texts, d.resumeHint())
	}
	if d.s.UndoCommand != nil && !r.Proven() && r.Outcome != recovery.OutcomeStale {
		texts = append(texts, "Take back what was done with: "+d.s.UndoCommand(r.ID))
	}
	out := make([]line, 0, len(texts))
	for _, t := range texts {
		out = append(out, hang(line{gap(3), txt(accent, "→ ")}, plain, t, w)...)
	}
	return out
}

// resumeHint is how the run is taken up again.
func (d *desk) resumeHint() string {
	id := d.run.id()
	if d.s.ResumeCommand == nil || id == "" {
		return "It can be resumed from its journal."
	}
	return "Resume with: " + d.s.ResumeCommand(id)
}

// everyScreen makes one of each screen, for the table of keys.
func everyScreen(d *desk) []screen {
	data := inspected{as: recovery.Assessment{Options: []recovery.Option{{Strategy: string(plans.Rebuild), Available: true}}}}
	app := newApplicationScreen(d, "")
	app.tab = tabTopics
	plan := newPlanScreen(d, plans.Plan{})
	approval := newApprovalScreen(d, plans.Plan{})
	d.prompt = nil
	return []screen{
		newAppsScreen(d), newGroupsScreen(d), app, newPreflightScreen(d, ""), newStrategiesScreen(d, data), newRequestScreen(d, data, data.as.Options[0]), plan,
		newTextScreen(d, stepText([]plans.Step{{}}, 0)), approval, newRunScreen(d), newStepsScreen(d), newResultScreen(d),
	}
}
