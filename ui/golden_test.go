package ui

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"
	"github.com/google/go-cmp/cmp"

	"resurge/recovery"
	"resurge/streams"
)

var update = flag.Bool("update", false, "write the golden screens anew")

// sizes are the ones that every screen is looked at.
var sizes = [][2]int{{80, 24}, {120, 40}, {40, 12}}

// atEnd drives to the end of a script, some time after its last event.
func atEnd(s *script, after time.Duration) func(*testing.T, int, int) *driver {
	return func(t *testing.T, w, h int) *driver {
		t.Helper()
		clock := now
		d := drive(t, w, h, func(_ *fake, s *Session) {
			s.RunID = runID
			s.Now = func() time.Time { return clock.In(cet) }
		})
		d.settle()
		last := s.events[len(s.events)-1].Time
		clock = last
		d.events(s.events...)
		clock = last.Add(after)
		d.send(tickMsg{})
		return d
	}
}

// golden are the screens and how to come to them.
func golden() map[string]func(*testing.T, int, int) *driver {
	open := func(keys ...string) func(*testing.T, int, int) *driver {
		return func(t *testing.T, w, h int) *driver {
			t.Helper()
			d := drive(t, w, h).settle()
			for _, k := range keys {
				d.press(k)
				d.settle()
			}
			return d
		}
	}
	with := func(change func(*fake, *Session), keys ...string) func(*testing.T, int, int) *driver {
		return func(t *testing.T, w, h int) *driver {
			t.Helper()
			d := drive(t, w, h, change).settle()
			for _, k := range keys {
				d.press(k)
				d.settle()
			}
			return d
		}
	}
	out := map[string]func(*testing.T, int, int) *driver{
		"01-apps":         open(),
		"01-apps-loading": func(t *testing.T, w, h int) *driver { t.Helper(); return drive(t, w, h) },
		"01-apps-error": with(func(f *fake, _ *Session) {
			f.err = fault(streams.FaultUnreachable, "kafka-1:9092", "connection refused", "check the address and that the broker runs; resurge info shows where it is configured")
		}),
		"01-apps-empty": with(func(f *fake, _ *Session) { f.survey.Rows = nil }),
		"01-apps-filter": func(t *testing.T, w, h int) *driver {
			t.Helper()
			d := open()(t, w, h)
			d.press("/")
			d.write("or")
			return d
		},
		"01-apps-drill":          with(func(_ *fake, s *Session) { s.Drill, s.Incident = true, time.Time{} }),
		"02-application":         open("enter"),
		"02-application-topics":  open("enter", "2", "j", "j", "j"),
		"02-application-offsets": open("enter", "4"),
		"02-application-members": with(func(f *fake, _ *Session) { f.inv.Group = busyGroup() }, "enter", "5"),
		"02-topic":               open("enter", "2", "j", "j", "enter"),
		"03-compare":             open("enter", "c"),
		"03-compare-not-now":     open("enter", "c", "j"),
		"04-position":            open("enter", "c", "enter"),
		"04-position-own": func(t *testing.T, w, h int) *driver {
			t.Helper()
			d := open("enter", "c", "enter", "j", "right", "right", "right", "right", "e")(t, w, h)
			d.write("2026-12-01T12:00:00Z")
			d.press("enter", "j", "space")
			d.press("k")
			return d
		},
		"05-plan":          open("enter", "c", "enter", "p"),
		"05-plan-offsets":  open("enter", "c", "enter", "p", "j", "j", "j", "j", "enter"),
		"05-plan-delete":   open("enter", "c", "enter", "p", "j", "j", "j", "j", "j", "enter"),
		"05-plan-task":     open("enter", "c", "enter", "p", "j", "enter"),
		"05-plan-warnings": open("enter", "c", "enter", "p", "w"),
		"06-approve":       open("enter", "c", "enter", "p", "a"),
		"06-approve-typed": func(t *testing.T, w, h int) *driver {
			t.Helper()
			d := open("enter", "c", "enter", "p", "a")(t, w, h)
			d.write("order-processor")
			return d
		},
		"06-approve-production": with(func(_ *fake, s *Session) { s.Production = true }, "enter", "c", "enter", "p", "a"),
		"07-run-your-turn":      atEnd(newScript().toClear(), 34*time.Second),
		"07-run-watch":          atEnd(newScript().toWatch(), time.Second),
		"07-run-no-progress":    atEnd(newScript().toWatch(), 72*time.Second),
		"07-run-paused":         atEnd(newScript().toWatch().at(251, recovery.Event{Type: recovery.RunPaused, Message: "paused"}), time.Second),
		"07-run-resumed":        atEnd(newScript().toWatch().at(300, recovery.Event{Type: recovery.RunResumed, Run: runID, Message: "resumed by mira"}), time.Second),
		"07-run-late":           atEnd(newScript().toWatch(), 15*time.Minute),
		"08-result-proven":      atEnd(newScript().toEnd(recovery.OutcomeVerified, goodProof()...), 2*time.Second),
		"08-result-unproven":    atEnd(newScript().toEnd(recovery.OutcomeUnverified, badProof()...), 2*time.Second),
		"07-run-failed": atEnd(newScript().toClear().at(100, recovery.Event{
			Type: recovery.StepFailed, Step: "8", Message: "the broker refused", Error: &recovery.Problem{Code: recovery.OutcomeFailed, Message: "commit offsets of order-processor: broker 2 does not answer", Hint: "check broker 2; the step is safe to run again"},
		}), time.Second),
		"07-run-waits": atEnd(newScript().toStop().
			at(30, recovery.Event{Type: recovery.TaskDone, Step: "2", By: "mira", Message: "stop: acknowledged by mira"}).verified(30, "2").step(30, "3").
			at(31, recovery.Event{Type: recovery.StepWaiting, Step: "3", Message: "3 members are left: order-processor-3f0c on /10.0.3.11, last seen 4s ago"}), 20*time.Second),
		"08-result-late": func(t *testing.T, w, h int) *driver {
			t.Helper()
			s := newScript().toEnd(recovery.OutcomeRTOMissed, goodProof()...)
			s.events[0].Header.RTO = 20 * time.Minute
			return atEnd(s, 2*time.Second)(t, w, h)
		},
		"08-result-partial": atEnd(partial(), 2*time.Second),
		"09-help":           open("enter", "2", "?"),
	}
	discoveryScreens(out, open, with)
	for name, keys := range map[string][]string{"07-run-steps": {"t"}, "07-run-step": {"t", "enter"}, "07-run-log": {"l"}} {
		out[name] = func(t *testing.T, w, h int) *driver {
			t.Helper()
			d := atEnd(newScript().toWatch(), 2*time.Second)(t, w, h)
			d.press(keys...)
			return d
		}
	}
	return out
}

// partial is a run that a person stopped.
func partial() *script {
	problem := &recovery.Problem{Code: recovery.OutcomePartial, Message: "step 8 was declined by mira: one host is down", Hint: "bring the host back or clear its disk, then resume"}
	return newScript().toClear().
		at(100, recovery.Event{Type: recovery.StepFailed, Step: "8", Error: problem, Message: "declined by mira: one host is down"}).
		at(101, recovery.Event{Type: recovery.RunFinished, Run: runID, Outcome: recovery.OutcomePartial, Error: problem, Message: "run finished: partial"})
}

func busyGroup() streams.Group {
	g := streams.Group{ID: "order-processor", Exists: true, Protocol: streams.ProtocolClassic, State: "Stable", Coordinator: 2, Assignor: "stream"}
	for i := range 3 {
		g.Members = append(g.Members, streams.Member{
			ID: fmt.Sprintf("order-processor-3f0c-StreamThread-1-consumer-%d", i), ClientID: fmt.Sprintf("order-processor-3f0c-StreamThread-%d-consumer", i+1),
			Host: fmt.Sprintf("/10.0.3.%d", 11+i), Endpoint: fmt.Sprintf("10.0.3.%d:7070", 11+i), ProcessID: "3f0c",
			Active: []streams.TaskID{{Subtopology: 0, Partition: int32(i)}, {Subtopology: 1, Partition: int32(i)}}, Standby: []streams.TaskID{{Subtopology: 0, Partition: int32((i + 1) % 3)}},
		})
	}
	return g
}

// TestGolden compares every screen at every size with the text in testdata.
func TestGolden(t *testing.T) {
	for name, open := range golden() {
		for _, sz := range sizes {
			t.Run(fmt.Sprintf("%s/%dx%d", name, sz[0], sz[1]), func(t *testing.T) {
				d := open(t, sz[0], sz[1])
				fits(t, d.text(), sz[0], sz[1])
				compare(t, fmt.Sprintf("%s-%dx%d.txt", name, sz[0], sz[1]), d.text())
			})
		}
	}
}

func compare(t *testing.T, name, got string) {
	t.Helper()
	var b strings.Builder
	for l := range strings.SplitSeq(got, "\n") {
		b.WriteString(strings.TrimRight(l, " ") + "\n")
	}
	path := filepath.Join("testdata", name)
	if *update {
		if err := os.MkdirAll("testdata", 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(b.String()), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), b.String()); diff != "" {
		t.Errorf("screen differs (-want +got); go test ./ui -update writes it anew:\n%s", diff)
	}
}

// fits checks that a frame is no larger than its terminal.
func fits(tb testing.TB, text string, w, h int) {
	tb.Helper()
	lines := strings.Split(text, "\n")
	if len(lines) > h {
		tb.Errorf("%d lines on a terminal of %d:\n%s", len(lines), h, text)
	}
	for i, l := range lines {
		if width(l) > w {
			tb.Errorf("line %d is %d cells wide on a terminal of %d: %q", i, width(l), w, l)
		}
	}
}

// TestTooSmall: below the floor there is one plain line, and nothing breaks.
func TestTooSmall(t *testing.T) {
	for _, sz := range [][2]int{{39, 24}, {80, 11}, {10, 3}, {1, 1}} {
		d := drive(t, sz[0], sz[1]).settle()
		fits(t, d.text(), sz[0], sz[1])
		if sz[0] > 31 {
			d.sees("terminal too small (need 40×12)")
		}
		d.press("enter", "j", "c", "esc")
		d.send(tea.WindowSizeMsg{Width: 80, Height: 24})
		d.sees("order-processor")
	}
}
