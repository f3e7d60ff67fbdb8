package ui

import (
	"context"
	"reflect"
	"strings"
	"testing"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/colorprofile"
	"github.com/charmbracelet/x/ansi"

	"resurge/discovery"
	"resurge/plans"
	"resurge/recovery"
)

// driver feeds a model without a program: keys in, answers of the fake in, the
// view out. Commands are returned and never run, unless a test runs them.
type driver struct {
	t testing.TB
	f *fake
	m *Model
}

func drive(tb testing.TB, w, h int, change ...func(*fake, *Session)) *driver {
	tb.Helper()
	f := newFake()
	s := f.session()
	for _, c := range change {
		c(f, &s)
	}
	ctx, cancel := context.WithCancel(context.Background())
	tb.Cleanup(cancel)
	d := &driver{t: tb, f: f, m: New(ctx, s)}
	d.m.Init()
	d.send(tea.ColorProfileMsg{Profile: colorprofile.ANSI256})
	d.send(tea.WindowSizeMsg{Width: w, Height: h})
	return d
}

func (d *driver) send(msg tea.Msg) tea.Cmd {
	_, cmd := d.m.Update(msg)
	return cmd
}

// press presses keys by name; a single character is typed.
func (d *driver) press(keys ...string) tea.Cmd {
	var cmd tea.Cmd
	for _, k := range keys {
		cmd = d.send(keyMsg(k))
	}
	return cmd
}

func (d *driver) write(text string) {
	for _, r := range text {
		d.send(tea.KeyPressMsg{Code: r, Text: string(r)})
	}
}

func keyMsg(name string) tea.KeyPressMsg {
	special := map[string]rune{
		"enter": tea.KeyEnter, "esc": tea.KeyEscape, "up": tea.KeyUp, "down": tea.KeyDown, "left": tea.KeyLeft, "right": tea.KeyRight,
		"tab": tea.KeyTab, "pgup": tea.KeyPgUp, "pgdown": tea.KeyPgDown, "home": tea.KeyHome, "end": tea.KeyEnd, "backspace": tea.KeyBackspace,
	}
	if name == "space" {
		return tea.KeyPressMsg{Code: ' ', Text: " "}
	}
	if rest, ok := strings.CutPrefix(name, "ctrl+"); ok {
		return tea.KeyPressMsg{Code: rune(rest[0]), Mod: tea.ModCtrl}
	}
	if name == "shift+tab" {
		return tea.KeyPressMsg{Code: tea.KeyTab, Mod: tea.ModShift}
	}
	if code, ok := special[name]; ok {
		return tea.KeyPressMsg{Code: code}
	}
	return tea.KeyPressMsg{Code: []rune(name)[0], Text: name}
}

// settle answers the questions that are out, from the fake.
func (d *driver) settle() *driver {
	ctx := context.Background()
	for range 4 {
		for _, s := range append([]screen(nil), d.m.d.stack...) {
			switch s := s.(type) {
			case *appsScreen:
				if s.names.out {
					v, err := d.f.Glance(ctx)
					d.send(answer[discovery.Survey]{number: s.names.number, value: v, err: err})
				}
				if s.request.out {
					v, err := d.f.Survey(ctx)
					d.send(answer[discovery.Survey]{number: s.request.number, value: v, err: err})
				}
			case *applicationScreen:
				d.settleApplication(s)
			case *groupsScreen:
				if s.request.out {
					v, err := d.f.Groups(ctx)
					d.send(answer[discovery.GroupSurvey]{number: s.request.number, value: v, err: err})
				}
			case *preflightScreen:
				if s.request.out {
					v, err := d.f.Preflight(ctx, s.app, purposes[s.at].purpose)
					d.send(answer[recovery.Preflight]{number: s.request.number, value: v, err: err})
				}
			case *requestScreen:
				if s.request.out {
					req, _ := s.build()
					p, err := d.f.Plan(ctx, req)
					d.send(answer[plans.Plan]{number: s.request.number, value: p, err: err})
				}
			case *approvalScreen:
				if s.request.out {
					err := d.f.Start(s.plan, recovery.Approval{PlanID: s.plan.ID, By: "mira", How: "typed application id"})
					d.send(answer[started]{number: s.request.number, err: err})
				}
			}
		}
	}
	return d
}

func (d *driver) settleApplication(s *applicationScreen) {
	ctx := context.Background()
	if s.request.out {
		var v inspected
		var err error
		if s.group {
			v.inv, err = d.f.Explore(ctx, s.app)
		} else {
			v.inv, v.as, err = d.f.Inspect(ctx, s.app)
		}
		d.send(answer[inspected]{number: s.request.number, value: v, err: err})
	}
	if s.follow.request.out {
		inv, err := d.f.Explore(ctx, s.app)
		d.send(answer[discovery.Inventory]{number: s.follow.request.number, value: inv, err: err})
	}
}

// events folds events as if they had come from the session.
func (d *driver) events(es ...recovery.Event) {
	d.send(answer[happened]{number: d.m.d.run.request.number, value: happened{events: es}})
}

func (d *driver) text() string { return ansi.Strip(d.m.View().Content) }

func (d *driver) sees(want ...string) *driver {
	d.t.Helper()
	text := d.text()
	for _, w := range want {
		if !strings.Contains(text, w) {
			d.t.Fatalf("want %q on:\n%s", w, text)
		}
	}
	return d
}

func (d *driver) misses(not ...string) {
	d.t.Helper()
	text := d.text()
	for _, w := range not {
		if strings.Contains(text, w) {
			d.t.Fatalf("do not want %q on:\n%s", w, text)
		}
	}
}

// sequence opens the message of tea.Sequence.
func sequence(msg tea.Msg) ([]tea.Cmd, bool) {
	v := reflect.ValueOf(msg)
	if v.Kind() != reflect.Slice || v.Type().Elem() != reflect.TypeFor[tea.Cmd]() {
		return nil, false
	}
	var out []tea.Cmd
	for i := range v.Len() {
		out = append(out, v.Index(i).Interface().(tea.Cmd))
	}
	return out, true
}
