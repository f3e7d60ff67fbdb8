package ui

import (
	"cmp"
	"slices"
	"strings"

	"resurge/discovery"
)

func taskKey(t discovery.Task) string { return t.ID.String() }

func (s *applicationScreen) taskSearch(t discovery.Task) string {
	return t.ID.String() + " " + taskState(t) + " " + s.memberList(t.Active) + " " + s.memberList(t.Standby) + " " + s.memberList(t.Warmup)
}

// taskOrders are the ways to sort tasks.
var taskOrders = []ordering[discovery.Task]{
	{"by task", byTask},
	{"worst first", func(a, b discovery.Task) int {
		return cmp.Or(cmp.Compare(taskRank(a), taskRank(b)), cmp.Compare(lagOf(b.Lag), lagOf(a.Lag)), byTask(a, b))
	}},
}

func byTask(a, b discovery.Task) int { return a.ID.Compare(b.ID) }

// taskState is what is known of a task in one word.
func taskState(t discovery.Task) string {
	switch {
	case len(t.Active) == 0:
		return "nobody"
	case len(t.Active) > 1:
		return "moving"
	case t.Lag != nil && *t.Lag > 0:
		return "behind"
	case t.Running:
		return "running"
	}
	return "not told"
}

var taskMarks = map[string]string{"nobody": markBad, "moving": markLook, "behind": markLook, "running": markGood, "not told": markUnknown}

var taskWords = map[string]string{
	"nobody": "nobody works on it", "moving": "two members name it as theirs: it is being handed over",
	"behind": "a copy of its state is behind its changelog", "running": "its active copy said that it is caught up",
	"not told": "whether it has caught up was not told since it joined",
}

func taskRank(t discovery.Task) int {
	for i, w := range []string{"nobody", "moving", "behind", "not told"} {
		if taskState(t) == w {
			return i
		}
	}
	return 4
}

func (s *applicationScreen) taskColumns() []column {
	cols := []column{
		{width: s.d.th.markWidth()},
		{title: "TASK", width: 5},
		{title: "ACTIVE ON", width: 18, flex: 3},
		{title: "STANDBY ON", width: 12, flex: 2, drop: 1},
		{title: "WARM-UP ON", width: 11, flex: 1, drop: 4},
		{title: "LAG", width: 9, right: true, drop: 2},
		{title: "STATE", width: 8, drop: 3},
	}
	if !slices.ContainsFunc(s.data.inv.Tasks, func(t discovery.Task) bool { return len(t.Warmup) > 0 }) {
		cols[4] = cols[4].without() // nobody has one: the others take its room
	}
	return cols
}

func (s *applicationScreen) taskCells(t discovery.Task) []span {
	state := taskState(t)
	word := state
	if state == "not told" {
		word = unknown
	}
	lag := number(t.Lag)
	if t.Lag == nil && state == "running" {
		lag = "-"
	}
	active := txt(plain, s.memberList(t.Active))
	if len(t.Active) == 0 {
		active = txt(danger, "nobody")
	}
	return []span{
		s.d.th.mark(taskMarks[state]), txt(plain, t.ID.String()), active, txt(plain, dash(s.memberList(t.Standby))),
		txt(plain, dash(s.memberList(t.Warmup))), txt(plain, lag), txt(plain, word),
	}
}

// memberList are short names of members.
func (s *applicationScreen) memberList(ids []string) string {
	out := make([]string, 0, len(ids))
	for _, id := range ids {
		out = append(out, s.member(id))
	}
	return strings.Join(out, ", ")
}

func (s *applicationScreen) viewTasks(p *page) {
	if len(s.tasks.rows) == 0 {
		s.nobody(p, "task")
		return
	}
	details := detailHeight(p.h)
	s.tasks.draw(p, p.room()-details)
	if details == 0 {
		return
	}
	p.add()
	t, ok := s.tasks.selected()
	if !ok {
		s.tasks.nothing(p)
		return
	}
	p.add(gap(1), txt(strong, "task "+t.ID.String()+" "), txt(plain, taskWords[taskState(t)]))
	f := &facts{w: p.w, name: 8}
	f.add("reads", s.sources(t))
	for _, c := range []struct {
		role string
		ids  []string
	}{{"active", t.Active}, {"standby", t.Standby}, {"warm-up", t.Warmup}} {
		for _, id := range c.ids {
			f.add(c.role, s.memberWords(id))
		}
	}
	p.addLines(f.lines...)
}

func (s *applicationScreen) sources(t discovery.Task) string {
	out := make([]string, 0, len(t.Sources))
	for _, tp := range t.Sources {
		out = append(out, tp.String())
	}
	if len(out) == 0 {
		return unknown
	}
	return strings.Join(out, " ")
}

// memberWords is where a copy of a task is.
func (s *applicationScreen) memberWords(id string) string {
	m, ok := memberNamed(s.data.inv, id)
	if !ok {
		return id + ", which left meanwhile"
	}
	out := []string{m.ClientID + " on " + hostName(m)}
	for _, part := range []struct{ name, value string }{{"rack", m.Rack}, {"process", m.ProcessID}, {"endpoint", m.Endpoint}} {
		if part.value != "" {
			out = append(out, part.name+" "+part.value)
		}
	}
	return strings.Join(out, ", ")
}

// taskText is everything about one task.
func (s *applicationScreen) taskText(t discovery.Task) reading {
	return reading{
		name: "task", title: "task " + t.ID.String(), what: "the task with its members",
		copy: func() string { return s.taskLine(t) },
		lines: func(_ *theme, w int) []line {
			f := &facts{w: w, name: 13}
			f.add("task", t.ID.String()+": "+taskWords[taskState(t)])
			f.add("lag", number(t.Lag))
			f.add("reads", s.sources(t))
			for _, c := range []struct {
				role string
				ids  []string
			}{{"active on", t.Active}, {"standby on", t.Standby}, {"warm-up on", t.Warmup}} {
				if len(c.ids) == 0 {
					f.blank()
					f.add(c.role, "nobody")
				}
				for _, id := range c.ids {
					f.copyOf(s, c.role, id)
				}
			}
			return f.lines
		},
	}
}

func (s *applicationScreen) taskLine(t discovery.Task) string {
	return "task " + t.ID.String() + ": active " + dash(s.memberList(t.Active)) + "; standby " + dash(s.memberList(t.Standby)) + "; warm-up " + dash(s.memberList(t.Warmup)) + "; lag " + number(t.Lag)
}

// copyOf adds the member that has a copy of a task.
func (f *facts) copyOf(s *applicationScreen, role, id string) {
	f.blank()
	m, ok := memberNamed(s.data.inv, id)
	if !ok {
		f.add(role, id+", which left meanwhile")
		return
	}
	f.add(role, hostName(m))
	f.add("client ID", m.ClientID)
	f.add("member", m.ID)
	f.add("rack", m.Rack)
	f.add("process", m.ProcessID)
	f.add("static ID", m.InstanceID)
	f.add("endpoint", m.Endpoint)
	f.add("versions", memberVersions(m))
}
