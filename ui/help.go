package ui

import (
	"slices"
	"strings"

	tea "charm.land/bubbletea/v2"
)

// openHelp lists the keys that work now, from the actions' records.
func (m *Model) openHelp() {
	d := m.d
	w, h := d.body()
	var lines []line
	section := func(title string, actions []action) {
		lines = append(lines, line{gap(1), txt(accent, title)})
		for _, a := range actions {
			text := a.help
			if a.off != "" {
				text += " (not now: " + a.off + ")"
			}
			lines = append(lines, hang(line{gap(3), txt(strong, a.names()).left(16), gap(1)}, plain, text, w)...)
		}
		lines = append(lines, line{})
	}
	s := d.top()
	section("this screen: "+s.head().name, s.actions())
	section("everywhere", m.actions())
	lines = append(lines, line{gap(1), txt(accent, "marks")})
	for _, row := range []struct{ mark, means string }{
		{markGood, "good"},
		{markLook, "look at this"},
		{markBad, "bad"},
		{markNothing, "nothing to say, or not done yet"},
		{markWorking, "working"},
		{markUnknown, "not known; never good, never zero"},
		{markMoved, "moved since the look before, while following"},
	} {
		lines = append(lines, line{gap(3), d.th.mark(row.mark).left(16), gap(1), txt(plain, row.means)})
	}
	lines = append(lines, line{gap(3), txt(plain, "none").left(16), gap(1), txt(plain, "known to have no commit; - is: does not apply")})
	top := 0
	if d.help != nil {
		top = d.help.top
	}
	d.help = &scroller{lines: lines, height: h}
	d.help.to(top)
}

func (m *Model) helpKey(key string) tea.Cmd {
	d := m.d
	if slices.Contains([]string{"esc", "?", "q", "enter"}, key) {
		d.help = nil
		return nil
	}
	return d.press(moves(d.help), key)
}

// commands are what the palette knows.
var commands = []string{"apps", "app ", "groups", "plan", "run", "help", "q"}

// palette opens the command line.
func (d *desk) palette(m *Model) {
	d.prompt = &prompt{
		label: ":", keys: "enter do  tab complete  esc leave",
		note:     func(v string) string { return strings.Join(d.candidates(v), "  ") },
		complete: func(v string) string { return d.finish(v) },
		accept:   func(v string) tea.Cmd { return d.command(m, v) },
	}
}

// candidates are the ways to go on with what was typed, at most five.
func (d *desk) candidates(v string) []string {
	from := commands
	if name, ok := strings.CutPrefix(v, "app "); ok {
		from = nil
		for _, a := range d.apps {
			if strings.HasPrefix(a, name) {
				from = append(from, "app "+a)
			}
		}
	}
	var out []string
	for _, c := range from {
		if strings.HasPrefix(c, v) && len(out) < 5 {
			out = append(out, c)
		}
	}
	return out
}

// finish completes to what all candidates begin with.
func (d *desk) finish(v string) string {
	c := d.candidates(v)
	if len(c) == 0 {
		return v
	}
	common := c[0]
	for _, s := range c[1:] {
		for !strings.HasPrefix(s, common) {
			common = common[:len(common)-1]
		}
	}
	return max(common, v)
}

func (d *desk) command(m *Model, v string) tea.Cmd {
	w := words(v)
	if len(w) == 0 {
		return nil
	}
	switch w[0] {
	case "apps":
		d.keep(1)
	case "groups":
		return d.openGroups()
	case "app":
		name := strings.TrimSpace(strings.TrimPrefix(strings.TrimSpace(v), "app"))
		if name == "" {
			d.say(markLook, "app wants a name: :app order-processor")
			return nil
		}
		return d.openApplication(name)
	case "plan":
		if d.plan.ID == "" {
			d.say(markLook, "There is no plan yet. Open an application and press c.")
			return nil
		}
		d.openPlan(d.plan)
	case "run":
		if !d.run.on {
			d.say(markLook, "No run was started or attached to.")
			return nil
		}
		d.openRun()
	case "help":
		m.openHelp()
	case "q", "quit":
		return m.askQuit()
	default:
		d.say(markLook, "There is no command "+w[0]+". Commands: apps, app NAME, groups, plan, run, help, q")
	}
	return nil
}
