package ui

import (
	"fmt"
	"strings"
	"time"

	tea "charm.land/bubbletea/v2"

	"resurge/plans"
)

// planScreen shows a plan: exact things, in order.
type planScreen struct {
	d     *desk
	plan  plans.Plan
	table table[plans.Step]
	notes []line // summary and warnings, for the width
}

// openPlan shows a plan on top of what it was made from.
func (d *desk) openPlan(p plans.Plan) {
	d.plan = p
	for i, s := range d.stack {
		if _, ok := s.(*planScreen); ok {
			d.keep(i)
			break
		}
	}
	d.push(newPlanScreen(d, p))
}

func newPlanScreen(d *desk, p plans.Plan) *planScreen {
	s := &planScreen{d: d, plan: p}
	s.table = table[plans.Step]{
		key: func(st plans.Step) string { return st.ID }, cells: s.cells,
		text: func(st plans.Step) string { return st.Title + " " + string(st.Kind) + " " + string(st.Risk) },
		cols: []column{
			{width: d.th.markWidth()},
			{title: "#", width: 3, right: true},
			{title: "STEP", width: 30, flex: 3},
			{title: "EXACTLY", width: 36, flex: 1, drop: 2},
			{title: "RISK", width: 18, drop: 1},
		},
	}
	s.table.set(p.Steps)
	s.resize()
	return s
}

// kindWord is what a step does in one word.
func kindWord(st plans.Step) string {
	switch st.Kind {
	case plans.SaveState:
		return "save"
	case plans.OperatorTask:
		if st.Task != nil && st.Task.Hook {
			return "hook"
		}
		return "you"
	case plans.AwaitEmpty, plans.AwaitTransactions:
		return "wait"
	case plans.RemoveMembers:
		return "evict"
	case plans.CommitOffsets:
		return "commit"
	case plans.DeleteTopic:
		return "delete"
	case plans.CreateTopic:
		return "create"
	case plans.AwaitCaughtUp:
		return "watch"
	case plans.ProveState:
		return "prove"
	}
	return string(st.Kind)
}

func (s *planScreen) cells(st plans.Step) []span {
	mark := gap(0)
	if st.Risk == plans.Destructive {
		mark = s.d.th.mark(markBad)
	}
	return []span{mark, txt(muted, st.ID), txt(plain, st.Title), txt(muted, exactly(st)), riskText(st)}
}

// exactly is a step's object in a few words.
func exactly(st plans.Step) string {
	switch {
	case len(st.Offsets) > 0:
		c := st.Offsets[0]
		text := fmt.Sprintf("%s/%d %s → %s", c.Topic, c.Partition, commitText(c.Before, "none"), commitText(c.After, "removed"))
		if n := len(st.Offsets) - 1; n > 0 {
			text += fmt.Sprintf(" and %d more", n)
		}
		return text
	case len(st.Topics) > 0 && (st.Kind == plans.DeleteTopic || st.Kind == plans.CreateTopic):
		partitions, records := 0, int64(0)
		for _, t := range st.Topics {
			partitions += t.Partitions
			if records < 0 || t.Records < 0 {
				records = -1
				continue
			}
			records += t.Records
		}
		return plural(partitions, "partition") + ", " + known(records, records >= 0) + " records"
	case len(st.Members) > 0:
		return plural(len(st.Members), "member")
	case st.Task != nil && len(st.Task.Details) > 0:
		return st.Task.Details[0]
	case st.Deadline > 0:
		return "at most " + short(time.Duration(st.Deadline)*time.Second)
	case len(st.Topics) > 0:
		return plural(len(st.Topics), "topic")
	}
	return ""
}

func commitText(offset *int64, none string) string {
	if offset == nil {
		return none
	}
	return grouped(*offset)
}

// riskText says what a step can cost.
func riskText(st plans.Step) span {
	switch st.Risk {
	case plans.ReadOnly:
		return txt(muted, "read-only")
	case plans.Reversible:
		return txt(plain, "can be undone")
	case plans.Destructive:
		return txt(danger, "cannot be undone")
	case plans.ByOperator:
		if st.Task != nil && st.Task.Hook {
			return txt(accent, "by your hook")
		}
		return txt(accent, "by you")
	}
	return txt(warn, "? "+string(st.Risk))
}

func (s *planScreen) resize() {
	w, h := s.d.body()
	s.notes = s.noteLines(w)
	s.table.resize(h - 1 - s.noteHeight(h))
}

// noteHeight is the room for the summary and warnings under the steps, with the
// rule above them.
func (s *planScreen) noteHeight(h int) int {
	if h < 9 {
		return 0
	}
	return min(len(s.notes)+2, max(h/2, h-len(s.plan.Steps)-1))
}

func (s *planScreen) noteLines(w int) []line {
	var out []line
	if s.plan.Summary != "" {
		out = append(out, hang(line{gap(1)}, strong, s.plan.Summary, w)...)
	}
	for _, warning := range s.plan.Warnings {
		out = append(out, hang(line{gap(1), s.d.th.mark(markLook), gap(1)}, plain, warning, w)...)
	}
	return out
}

func (s *planScreen) handle(msg tea.Msg) tea.Cmd {
	switch msg.(type) {
	case tea.WindowSizeMsg, relookMsg:
		s.resize()
	}
	return nil
}

func (s *planScreen) actions() []action {
	st, ok := s.table.selected()
	none := ""
	if !ok {
		none = "no step is selected"
	}
	out := []action{
		{keys: []string{"enter"}, label: "step detail", help: "exact topics, offsets and commands of the step", off: none, do: func() tea.Cmd { s.open(st.ID); return nil }},
		{keys: []string{"a"}, label: "approve", help: "approve the plan and run it: asks for the application ID", off: s.notApprovable(), do: func() tea.Cmd {
			s.d.push(newApprovalScreen(s.d, s.plan))
			return nil
		}},
		{keys: []string{"y"}, label: "copy CLI", help: "copy the plan as commands of Kafka's own tools", do: func() tea.Cmd { return s.d.copyText("the commands of the plan", planCLI(s.plan)) }},
		{keys: []string{"w"}, label: "warnings", help: "all warnings, and the facts that the plan rests on", do: func() tea.Cmd { s.d.push(newTextScreen(s.d, s.basis())); return nil }},
		{keys: []string{"/"}, help: "filter the steps by text", do: func() tea.Cmd { return s.table.search(s.d) }},
	}
	if s.table.filter != "" {
		out = append(out, action{keys: []string{"esc"}, label: "show all", help: "take the filter away", do: func() tea.Cmd { s.table.clear(); return nil }})
	}
	return append(out, moves(&s.table)...)
}

func (s *planScreen) notApprovable() string {
	switch {
	case s.d.run.active():
		return "a run is active, :run shows it"
	case s.d.s.Controls == nil:
		return "this session cannot run plans"
	case s.plan.ID == "":
		return "the plan has no ID"
	case s.d.cluster.ID != "" && s.d.cluster.ID != s.plan.ClusterID:
		return "the plan is for cluster " + s.plan.ClusterID + ", connected is " + s.d.cluster.ID
	case len(s.plan.Steps) == 0:
		return "the plan has no steps"
	}
	return ""
}

func (s *planScreen) open(id string) {
	i := 0
	for n, st := range s.plan.Steps {
		if st.ID == id {
			i = n
		}
	}
	t := newTextScreen(s.d, stepText(s.plan.Steps, i))
	t.turn = func(by int) (reading, bool) {
		if i+by < 0 || i+by >= len(s.plan.Steps) {
			return reading{}, false
		}
		i += by
		return stepText(s.plan.Steps, i), true
	}
	s.d.push(t)
}

// planCLI is the plan as a commented list of commands.
func planCLI(p plans.Plan) string {
	var b strings.Builder
	fmt.Fprintf(&b, "# plan %s for %s on cluster %s\n", p.ID, p.Application, p.ClusterID)
	for _, st := range p.Steps {
		fmt.Fprintf(&b, "# %s %s\n", st.ID, st.Title)
		for _, c := range st.CLI {
			b.WriteString(c + "\n")
		}
	}
	return b.String()
}

func (s *planScreen) basis() reading {
	p := s.plan
	return reading{
		name: "basis", title: "warnings and facts", what: "the plan's ID", copy: func() string { return p.ID },
		lines: func(_ *theme, w int) []line {
			f := &facts{w: w, name: 12}
			f.add("plan", p.ID)
			f.add("application", p.Application)
			f.add("cluster", p.ClusterID)
			f.add("made", moment(p.Created, s.d.local)+" by "+p.Program)
			f.add("undoes", p.Undoes)
			f.blank()
			f.lines = append(f.lines, s.noteLines(w)...)
			f.blank()
			f.lines = append(f.lines, hang(line{gap(1)}, accent, "It rests on these facts. They are read again before it runs; if one differs, it does not run.", w)...)
			f.name = min(max(w/2-2, 12), 44)
			for _, fact := range p.Basis {
				if name := txt(muted, fact.Name); name.width > f.name {
					f.lines = append(f.lines, hang(line{gap(1)}, muted, fact.Name, w)...)
					f.add("", fact.Value)
					continue
				}
				f.add(fact.Name, fact.Value)
			}
			return f.lines
		},
	}
}

func (s *planScreen) head() head {
	need, destructive := 0, len(s.plan.Destructive())
	for _, st := range s.plan.Steps {
		if st.Risk == plans.ByOperator && (st.Task == nil || !st.Task.Hook) {
			need++
		}
	}
	status := line{txt(plain, plural(len(s.plan.Steps), "step"))}
	if s.table.filter != "" {
		status = line{txt(plain, s.table.count()+" steps")}
	}
	if s.d.w < 60 {
		return head{name: "plan", title: "plan", status: line{status[0], txtf(danger, " · %s %d final", markBad, destructive)}}
	}
	if need > 0 {
		status = append(status, txt(muted, " · "), txtf(accent, "%d by you", need))
	}
	if destructive > 0 {
		status = append(status, txt(muted, " · "), txtf(danger, "%d cannot be undone", destructive))
	}
	return head{name: "plan", title: "plan " + planStart(s.plan.ID), status: status}
}

func (s *planScreen) view(w, h int) string {
	p := newPage(s.d.th, w, h)
	n := s.noteHeight(h)
	s.table.draw(p, min(h-n, len(s.table.shown)+1))
	if n == 0 {
		return p.String()
	}
	p.rule()
	if st, ok := s.table.selected(); ok && p.room() > 2 && exactly(st) != "" {
		p.add(gap(1), txtf(muted, "step %s  ", st.ID), txt(plain, exactly(st)))
	}
	room := p.room()
	if len(s.notes) <= room {
		p.addLines(s.notes...)
		return p.String()
	}
	p.addLines(s.notes[:max(room-1, 0)]...)
	p.add(gap(1), txtf(warn, "! %d more lines: ", len(s.notes)-room+1), txt(strong, "w"), txt(plain, " shows all warnings"))
	return p.String()
}
