package ui

import (
	"context"
	"errors"
	"image/color"
	"slices"
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"

	"resurge/plans"
	"resurge/recovery"
)

func TestPalette(t *testing.T) {
	d := drive(t, 80, 24).settle()
	d.press(":")
	d.write("app fr")
	d.sees("app fraud-scores")
	d.press("tab", "enter")
	d.settle().sees("… › fraud-scores")
	for command, want := range map[string]string{
		"apps": "APPLICATION", "plan": "There is no plan yet", "run": "No run was started", "nonsense": "There is no command nonsense", "help": "this screen", "app": "app wants a name", "app a b": "… › a b", "groups": "applications › groups",
	} {
		d := drive(t, 80, 24).settle()
		d.press(":")
		d.write(command)
		d.press("enter")
		d.settle().sees(want)
	}
	d.press(":")
	d.write("q")
	if msgs := run(t, d.press("enter")); len(msgs) != 1 {
		t.Error(msgs)
	}
}

func TestFilter(t *testing.T) {
	d := drive(t, 80, 24).settle()
	d.press("/")
	d.write("!stable")
	d.sees("3 of 6")
	d.press("enter")
	d.sees("3 of 6 ·", "esc show all").misses("session-builder")
	d.press("r")
	d.settle().sees("3 of 6 ·")
	d.press("/", "ctrl+u")
	d.write("zzz")
	d.sees("0 of 6")
	d.press("enter", "enter", "j", "G", "y")
	d.sees("Nothing matches")
	d.press("esc")
	d.sees("session-builder")
	d.press("/")
	d.write("x")
	d.press("esc")
	d.sees("session-builder")
}

func TestPositions(t *testing.T) {
	d := drive(t, 80, 24).settle()
	d.press("enter")
	d.settle().press("c", "enter")
	d.press("right", "right")
	d.sees("offset: ! needs a value")
	d.press("enter")
	d.sees("Not now: every input: a value is missing")
	d.press("e")
	d.write("-4")
	d.press("enter")
	d.sees("-4 is not an offset")
	d.press("e", "backspace", "backspace")
	d.write("41,204")
	d.press("enter", "j", "right", "right", "right", "right", "right", "e") // orders: this long ago
	d.write("PT15M")
	d.press("enter")
	d.sees("2026-12-01 13:47:31 UTC (14:47:31 CET here), 15m 00s ago")
	d.press("j", "j", "e")
	d.write("returns, refunds")
	d.press("enter", "j", "space", "p")
	d.settle()
	r := d.f.request
	want := []recovery.Position{
		{Mode: recovery.ToOffset, Offset: 41204, Text: "41,204"},
		{Topic: "orders", Mode: recovery.ByDuration, At: now.Add(-15 * time.Minute), Text: "PT15M"},
	}
	if !slices.Equal(r.Positions, want) || !slices.Equal(r.Hints.Inputs, []string{"orders", "customers", "returns", "refunds"}) || !r.RecreateRepartition || r.Strategy != plans.Rebuild {
		t.Errorf("%+v", r)
	}
}

func TestPlanIsRefused(t *testing.T) {
	d := drive(t, 80, 24).settle()
	d.press("enter")
	d.settle().press("c", "enter")
	d.f.err = &recovery.Error{Outcome: recovery.OutcomeUsage, Message: "input topic ordres does not exist", Hint: "did you mean orders? Nothing was changed"}
	d.press("p")
	d.settle().sees("No plan was made. Nothing was changed.", "input topic ordres does not exist", "→ did you mean orders?", "every input")
}

// TestLeavingDropsQuestions: a screen that was left gets no late answer and its
// context ends.
func TestLeavingDropsQuestions(t *testing.T) {
	d := drive(t, 80, 24).settle()
	d.f.delay = make(chan struct{})
	cmd := d.press("enter")
	done := make(chan tea.Msg, 1)
	go func() { done <- cmd() }()
	d.press("esc")
	select {
	case msg := <-done:
		if a, ok := msg.(answer[inspected]); !ok || !errors.Is(a.err, context.Canceled) {
			t.Errorf("%#v", msg)
		}
		d.send(msg)
	case <-time.After(5 * time.Second):
		t.Fatal("the question still waits")
	}
	d.sees("shipment-tracker")
}

// TestOpenAtOnce: an application or a run that main names is there at the start.
func TestOpenAtOnce(t *testing.T) {
	d := drive(t, 80, 24, func(_ *fake, s *Session) { s.Application = "order-processor" }).settle()
	d.sees("… › order-processor", "changelog missing")
	d.press("esc")
	d.sees("shipment-tracker")
	d = drive(t, 80, 24, func(_ *fake, s *Session) { s.RunID = runID })
	d.sees("attaching to run " + runID)
}

// TestHostileIDIsTypedAsSeen: an application whose ID no keyboard can write is
// approved by what the screen shows.
func TestHostileIDIsTypedAsSeen(t *testing.T) {
	d := drive(t, 80, 24, func(f *fake, _ *Session) { f.plan.Application = "shop\u202e\x07" }).settle()
	d.press("enter")
	d.settle().press("c", "enter", "p")
	d.settle().press("a")
	d.sees(`shop\u202e\x07`)
	d.write(`shop\u202e\x07`)
	d.sees("UNLOCKED")
}

// TestBackground: the tones follow the terminal's background, and only a
// terminal that can answer is asked for it.
func TestBackground(t *testing.T) {
	d := drive(t, 80, 24).settle()
	dark := d.m.View().Content
	d.send(tea.BackgroundColorMsg{Color: color.White})
	if d.m.View().Content == dark {
		t.Error("the same colours on white")
	}
	if msgs := run(t, d.send(tea.EnvMsg{"TERM=dumb"})); len(msgs) != 0 {
		t.Errorf("asked a dumb terminal: %v", msgs)
	}
	if msgs := run(t, d.send(tea.EnvMsg{"TERM=xterm"})); len(msgs) != 1 {
		t.Errorf("asked %v", msgs)
	}
}

// TestClockOfWhatIsSeen: the RTO is the open application's, and an ended run
// does not lend its clock to another application.
func TestClockOfWhatIsSeen(t *testing.T) {
	d := drive(t, 80, 24, func(_ *fake, s *Session) {
		s.RTO = 0
		s.TargetOf = func(app string) time.Duration {
			return map[string]time.Duration{"order-processor": 15 * time.Minute}[app]
		}
	}).settle()
	d.sees("+13:00 no RTO set")
	d.press("enter")
	d.settle().sees("+13:00 of RTO 15m")
	d.press("c")
	d.sees("│RTO")
	d, _ = following(t, newScript().toEnd(recovery.OutcomeVerified, goodProof()...))
	d.sees("+23:39 of RTO 30m")
	d.press("esc", "esc")
	d.sees("shipment-tracker").misses("+23:39")
}
