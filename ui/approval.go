package ui

import (
	"fmt"
	"strings"

	tea "charm.land/bubbletea/v2"

	"resurge/plans"
)

// approvalScreen asks for the word that starts a run. The default is no.
type approvalScreen struct {
	d       *desk
	plan    plans.Plan
	body    scroller
	request request
	err     error
	named   bool // the context was named, where that is asked for
	typed   string
}

func newApprovalScreen(d *desk, p plans.Plan) *approvalScreen {
	s := &approvalScreen{d: d, plan: p, named: !d.s.Production || d.s.Context == ""}
	s.resize()
	s.ask()
	return s
}

func (s *approvalScreen) resize() {
	w, h := s.d.body()
	s.body.resize(h)
	s.body.set(s.lines(w))
}

// ask opens the prompt for what is still to be typed. It takes the place of the
// body's keys, so that no key does anything but type.
func (s *approvalScreen) ask() {
	s.typed = ""
	want := s.wanted()
	label := "Type the application ID: "
	if !s.named {
		label = "Type the context's name: "
	}
	s.d.prompt = &prompt{
		label: label, keys: map[bool]string{true: "enter approve and start  ", false: "enter next  "}[s.named] + "esc leave, nothing was done", stays: true,
		note:   func(v string) string { return s.progress(v, want) },
		change: func(v string) { s.typed = v },
		accept: s.accept,
		cancel: func() tea.Cmd {
			s.d.pop()
			s.d.say(markNothing, "Nothing was done.")
			return nil
		},
	}
}

// wanted is what is to be typed, as it is seen: an ID with characters that no
// keyboard has is typed with their escapes.
func (s *approvalScreen) wanted() string {
	if !s.named {
		return txt(plain, s.d.s.Context).text
	}
	return txt(plain, s.plan.Application).text
}

func (s *approvalScreen) progress(v, want string) string {
	switch {
	case v == "":
		return ""
	case v == want:
		return "matches"
	case strings.HasPrefix(want, v):
		return "so far"
	}
	return "not " + want
}

func (s *approvalScreen) accept(v string) tea.Cmd {
	switch {
	case s.request.out:
		return nil
	case v != s.wanted():
		s.err = fmt.Errorf("%s was asked for; nothing was started", s.wanted())
		s.ask()
		s.resize()
		return nil
	case !s.named:
		s.named, s.err = true, nil
		s.ask()
		s.resize()
		return nil
	}
	s.d.prompt, s.err, s.typed = nil, nil, ""
	return s.d.start(&s.request, s.plan, "typed application id")
}

func (s *approvalScreen) handle(msg tea.Msg) tea.Cmd {
	switch msg := msg.(type) {
	case tea.WindowSizeMsg, relookMsg, tickMsg:
		s.resize()
	case answer[started]:
		if !s.request.is(msg.number) {
			return nil
		}
		if msg.err != nil {
			s.err = msg.err
			s.resize()
			return nil
		}
		cmd := s.d.follow("")
		s.d.openRun()
		return cmd
	}
	return nil
}

func (s *approvalScreen) actions() []action {
	again := ""
	if s.request.out {
		again = "the run is being started"
	}
	return append([]action{
		{keys: []string{"enter"}, label: "type it", help: "type what is asked for", off: again, do: func() tea.Cmd { s.ask(); return nil }},
	}, moves(&s.body)...)
}

func (s *approvalScreen) head() head {
	return head{
		name: "approve", title: "approve", status: line{txt(plain, s.body.place())},
		unlocked: s.named && s.typed == s.wanted() || s.request.out,
	}
}

func (s *approvalScreen) view(w, h int) string {
	p := newPage(s.d.th, w, h)
	if s.request.out {
		p.add(s.d.waiting(s.request, "reading the plan's facts again, then starting")...)
		return p.String()
	}
	s.body.draw(p, h)
	return p.String()
}

func (s *approvalScreen) lines(w int) []line {
	p := s.plan
	f := &facts{w: w, name: 12}
	if s.err != nil {
		f.lines = append(f.lines, s.d.trouble("Not started.", s.err, w)...)
		f.blank()
	}
	cluster := s.d.cluster.ID
	context := s.d.s.Context
	if s.d.s.Production {
		context += " (production)"
	}
	f.add("cluster", p.ClusterID)
	if cluster != "" && cluster != p.ClusterID {
		f.toned("", danger, markBad+" connected is another cluster: "+cluster)
	}
	f.add("context", context)
	f.toned("application", strong, p.Application)
	f.add("plan", planStart(p.ID)+"  "+strategyName(string(p.Strategy))+", "+plural(len(p.Steps), "step"))
	f.add("made", moment(p.Created, s.d.local)+", "+age(s.d.since(p.Created))+" ago")
	f.blank()
	s.destructive(f)
	back := 0
	for _, st := range p.Steps {
		if st.Risk == plans.Reversible {
			back++
		}
	}
	if back > 0 {
		f.lines = append(f.lines, hang(line{gap(1), s.d.th.mark(markGood), gap(1)}, plain, plural(back, "step")+" can be undone from what is saved before", w)...)
	}
	for _, warning := range p.Warnings {
		f.lines = append(f.lines, hang(line{gap(1), s.d.th.mark(markLook), gap(1)}, plain, warning, w)...)
	}
	return f.lines
}

// destructive names everything that cannot be taken back.
func (s *approvalScreen) destructive(f *facts) {
	steps := s.plan.Destructive()
	if len(steps) == 0 {
		f.lines = append(f.lines, line{gap(1), s.d.th.mark(markGood), txt(strong, " No step is beyond undoing.")})
		return
	}
	f.lines = append(f.lines, line{gap(1), s.d.th.mark(markBad), txt(danger, " "+plural(len(steps), "step")+" cannot be undone:")})
	for _, st := range steps {
		what, rest := st.Title, destroyed(st)
		if len(rest) == 1 && strings.Contains(st.Title, rest[0].name) {
			what, rest = st.Title+"  "+rest[0].what, nil
		}
		f.lines = append(f.lines, hang(line{gap(3), txt(muted, st.ID).right(2), gap(1)}, plain, what, f.w)...)
		for _, o := range rest {
			f.lines = append(f.lines, hang(line{gap(6)}, plain, o.name+"  "+o.what, f.w)...)
		}
	}
}

// object is one thing that a step acts on.
type object struct{ name, what string }

// destroyed names what a destructive step takes away.
func destroyed(st plans.Step) []object {
	var out []object
	if st.Kind == plans.DeleteTopic {
		for _, t := range st.Topics {
			out = append(out, object{t.Name, plural(t.Partitions, "partition") + ", " + known(t.Records, t.Records >= 0) + " records"})
		}
	}
	for _, m := range st.Members {
		out = append(out, object{m.ClientID, "on " + m.Host})
	}
	return out
}
