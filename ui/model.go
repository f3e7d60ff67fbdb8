package ui

import (
	"context"
	"slices"
	"strings"
	"time"

	tea "charm.land/bubbletea/v2"

	"resurge/streams"
)

// Model is the root of the console and its only tea.Model.
type Model struct {
	// Resume is the command that takes an unfinished run up again, empty when
	// there is none. Read it after the program has ended and print it.
	Resume string

	d *desk
}

// New makes the console for a session. Its commands end with ctx, and when the
// console quits.
func New(ctx context.Context, s Session) *Model {
	d := newDesk(s)
	d.ctx, d.end = context.WithCancel(ctx)
	m := &Model{d: d}
	d.push(newAppsScreen(d))
	return m
}

// tick is how often the clock is drawn anew.
const tick = 500 * time.Millisecond

type tickMsg struct{}

func nextTick() tea.Cmd {
	return tea.Tick(tick, func(time.Time) tea.Msg { return tickMsg{} })
}

// Init implements tea.Model.
func (m *Model) Init() tea.Cmd {
	d := m.d
	cmds := []tea.Cmd{nextTick()}
	if apps, ok := d.stack[0].(*appsScreen); ok {
		cmds = append(cmds, apps.refresh())
	}
	if d.s.Application != "" {
		cmds = append(cmds, d.openApplication(d.s.Application))
		if app, ok := d.top().(*applicationScreen); ok && d.s.Follow > 0 {
			cmds = append(cmds, app.start(d.s.Follow))
		}
	}
	if d.s.RunID != "" {
		cmds = append(cmds, d.follow(d.s.RunID))
		d.openRun()
	}
	return tea.Batch(cmds...)
}

// Update implements tea.Model.
func (m *Model) Update(msg tea.Msg) (tea.Model, tea.Cmd) {
	m.d.now = m.d.s.Now()
	cmd := m.route(msg)
	m.Resume = m.d.resume
	return m, cmd
}

func (m *Model) route(msg tea.Msg) tea.Cmd {
	d := m.d
	switch msg := msg.(type) {
	case tea.KeyPressMsg:
		return m.key(msg)
	case tea.PasteMsg:
		if d.prompt != nil {
			d.prompt.field.insert(msg.Content)
			d.prompt.changed()
		}
		return nil
	case tea.WindowSizeMsg:
		d.w, d.h = msg.Width, msg.Height
		if d.help != nil {
			m.openHelp()
		}
		return d.all(msg)
	case tea.ColorProfileMsg:
		d.look.profile = msg.Profile
		d.retheme()
		return d.all(relookMsg{})
	case tea.BackgroundColorMsg:
		d.look.light = !msg.IsDark()
		d.retheme()
		return d.all(relookMsg{})
	case tea.EnvMsg:
		cmd := d.environment(msg)
		return tea.Batch(cmd, d.all(relookMsg{}))
	case tickMsg:
		return tea.Batch(nextTick(), d.top().handle(msg))
	case answer[happened]:
		return d.fold(msg)
	case copied:
		d.onCopied(msg)
		return nil
	default:
		return d.all(msg)
	}
}

// relookMsg tells the screens that the theme is another one.
type relookMsg struct{}

// all hands a message to every open screen; each knows its own answers.
func (d *desk) all(msg tea.Msg) tea.Cmd {
	cmds := make([]tea.Cmd, 0, len(d.stack))
	for _, s := range d.stack {
		cmds = append(cmds, s.handle(msg))
	}
	return tea.Batch(cmds...)
}

// environment learns what the terminal can draw and what stands between it and
// us, from the terminal's side of an SSH session. A terminal that can answer is
// asked for its background.
func (d *desk) environment(env tea.EnvMsg) tea.Cmd {
	switch {
	case env.Getenv("TMUX") != "":
		d.mux = "tmux"
	case env.Getenv("STY") != "":
		d.mux = "screen"
	}
	locale := env.Getenv("LANG")
	for _, name := range []string{"LC_CTYPE", "LC_ALL"} {
		if v := env.Getenv(name); v != "" {
			locale = v
		}
	}
	utf8 := locale == "" || strings.Contains(strings.ToUpper(strings.ReplaceAll(locale, "-", "")), "UTF8")
	term := env.Getenv("TERM")
	simple := term == "dumb" || term == "linux"
	d.look.ascii = d.s.ASCII || simple || !utf8
	d.retheme()
	if simple {
		return nil
	}
	return tea.RequestBackgroundColor
}

func (m *Model) key(msg tea.KeyPressMsg) tea.Cmd {
	d, key := m.d, msg.String()
	global := m.actions()
	if a, ok := on(global, key); ok && (key == "ctrl+c" || key == "ctrl+z") {
		return a.do()
	}
	if d.tooSmall() {
		return nil
	}
	if d.prompt != nil {
		if cmd, taken := d.prompt.handle(d, msg); taken {
			return cmd
		}
		if slices.Contains([]string{"up", "down", "pgup", "pgdown"}, key) {
			return d.press(d.top().actions(), key)
		}
		return nil
	}
	d.note = note{}
	if d.help != nil {
		return m.helpKey(key)
	}
	if _, ok := d.top().(*resultScreen); ok && !d.run.ready(d.now) {
		d.say(markLook, "The run has just ended. Press the key again.")
		return nil
	}
	if _, ok := on(d.top().actions(), key); ok {
		return d.press(d.top().actions(), key)
	}
	return d.press(global, key)
}

// press does what the key is for, or says why it cannot be done.
func (d *desk) press(actions []action, key string) tea.Cmd {
	a, ok := on(actions, key)
	switch {
	case !ok || a.do == nil && a.off == "":
		return nil
	case a.off != "":
		d.say(markLook, "Not now: "+a.off)
		return nil
	}
	return a.do()
}

// actions are the keys that work on every screen.
func (m *Model) actions() []action {
	d := m.d
	back := "back one level"
	return []action{
		{keys: []string{"esc"}, label: d.backLabel(), help: back, do: func() tea.Cmd { d.pop(); return nil }},
		{keys: []string{"?"}, label: "help", help: "all keys of this screen", do: func() tea.Cmd { m.openHelp(); return nil }},
		{keys: []string{":"}, help: "command: apps, app NAME, groups, plan, run, help, q", do: func() tea.Cmd { d.palette(m); return nil }},
		{keys: []string{"q"}, help: "quit; asks while a run is active", do: m.askQuit},
		{keys: []string{"ctrl+c"}, help: "quit; during a run: first pause after the step, then stop safely and quit", do: m.interrupt},
		{keys: []string{"ctrl+z"}, help: "suspend to the shell", do: func() tea.Cmd { return tea.Suspend }},
	}
}

func (d *desk) backLabel() string {
	if len(d.stack) > 1 {
		return "back"
	}
	return ""
}

// quit ends the console. A run that is not over can be taken up again.
func (m *Model) quit() tea.Cmd {
	d := m.d
	if id := d.run.id(); id != "" && d.run.resumable() && d.s.ResumeCommand != nil {
		d.resume = d.s.ResumeCommand(id)
	}
	d.end()
	return tea.Quit
}

func (m *Model) askQuit() tea.Cmd {
	d := m.d
	if !d.run.active() {
		return m.quit()
	}
	d.prompt = &prompt{
		label: "A run is active. Type yes to stop it safely and quit: ", keys: "enter answer  esc stay",
		accept: func(v string) tea.Cmd {
			if v != "yes" {
				d.say(markNothing, "Nothing was stopped. The run goes on.")
				return nil
			}
			return m.stopAndQuit()
		},
	}
	return nil
}

// interrupt is ctrl-c: it never cuts a step.
func (m *Model) interrupt() tea.Cmd {
	d := m.d
	if !d.run.active() {
		return m.quit()
	}
	d.leave++
	if d.leave > 1 {
		return m.stopAndQuit()
	}
	d.prompt = nil
	what := "Pausing after this step."
	if s, ok := d.run.fold.Current(); ok {
		what = "Pausing after step " + s.Step.ID + "."
	}
	if d.run.fold.Paused {
		what = "The run is paused."
	}
	d.say(markLook, what+" ctrl-c again stops safely and quits; c continues.")
	return d.control(d.s.Controls.PauseAfterStep)
}

func (m *Model) stopAndQuit() tea.Cmd {
	stop := m.d.control(m.d.s.Controls.Stop)
	return tea.Sequence(stop, m.quit())
}

// control calls the engine from a command: it may have to wait for a lock.
func (d *desk) control(f func()) tea.Cmd {
	return func() tea.Msg { f(); return nil }
}

// openApplication shows one application, or a group of another kind.
func (d *desk) openApplication(app string) tea.Cmd {
	s := newApplicationScreen(d, app)
	d.keep(1)
	d.push(s)
	return s.refresh()
}

// learn takes the cluster's identity from an answer of the live connection.
func (d *desk) learn(c streams.Cluster) {
	if c.ID == "" {
		return
	}
	if d.cluster.ID != "" && d.cluster.ID != c.ID {
		d.say(markBad, "Another cluster answers now: "+c.ID+". Before it was "+d.cluster.ID+".")
	}
	d.cluster = c
}
