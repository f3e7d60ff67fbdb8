package ui

import (
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"

	"resurge/discovery"
	"resurge/recovery"
	"resurge/streams"
)

// run executes the commands of one message that end by themselves: the calls to
// the engine. Sequences and batches are opened.
func run(tb testing.TB, cmd tea.Cmd) []tea.Msg {
	tb.Helper()
	if cmd == nil {
		return nil
	}
	switch msg := cmd().(type) {
	case nil:
		return nil
	case tea.BatchMsg:
		var out []tea.Msg
		for _, c := range msg {
			out = append(out, run(tb, c)...)
		}
		return out
	default:
		// A sequence is a slice of commands of a type that is not exported.
		if v, ok := sequence(msg); ok {
			var out []tea.Msg
			for _, c := range v {
				out = append(out, run(tb, c)...)
			}
			return out
		}
		return []tea.Msg{msg}
	}
}

func selectedApp(d *driver) string {
	apps := d.m.d.stack[0].(*appsScreen)
	r, _ := apps.table.selected()
	return r.Application
}

// following drives a model that is attached to a run.
func following(t *testing.T, s *script) (*driver, *time.Time) {
	t.Helper()
	clock := now
	d := drive(t, 80, 24, func(_ *fake, se *Session) {
		se.RunID = runID
		se.Now = func() time.Time { return clock.In(cet) }
	}).settle()
	clock = s.events[len(s.events)-1].Time
	d.events(s.events...)
	clock = clock.Add(2 * time.Second)
	d.send(tickMsg{})
	return d, &clock
}

// TestB83_TicksAndFilters: ticks are kept by name, those that the filter hides
// are counted on screen, and the request names exactly the ticked ones.
func TestB83_TicksAndFilters(t *testing.T) {
	d := drive(t, 80, 24, func(f *fake, _ *Session) {
		for i := range 12 {
			f.inv.Topics = append(f.inv.Topics, discovery.Topic{Name: fmt.Sprintf("clicks-%02d", i), Role: streams.RoleInput, Partitions: partitions(1, 0, 5, 9)})
		}
	}).settle()
	d.press("enter")
	d.settle()
	d.press("c", "enter", "/")
	d.write("clicks-0")
	d.press("enter", "g", "space", "j", "space") // untick clicks-00 and -01
	d.press("esc", "/")
	d.write("orders")
	d.press("enter")
	d.sees("! 12 of 14 inputs ticked, 11 not seen")
	d.press("p")
	d.settle()
	got := d.f.request.Hints.Inputs
	if slices.Contains(got, "clicks-00") || slices.Contains(got, "clicks-01") || len(got) != 12 {
		t.Fatalf("inputs = %v", got)
	}
}

// TestB85_CtrlDNeverActs: ctrl-d pages; no single key of any screen starts,
// deletes or acknowledges anything.
func TestB85_CtrlDNeverActs(t *testing.T) {
	for name, open := range golden() {
		d := open(t, 80, 24)
		d.m.d.prompt = nil
		before, depth := d.f.heard(), len(d.m.d.stack)
		run(t, d.press("ctrl+d"))
		if got := d.f.heard(); len(got) != len(before) || len(d.m.d.stack) != depth {
			t.Errorf("%s: ctrl-d did %v", name, got[len(before):])
		}
		for k := range strings.SplitSeq("abdefghijklmnostuvwxyzADGNRSXY", "") {
			d := open(t, 80, 24)
			before := len(d.f.heard())
			run(t, d.press(k))
			for _, call := range d.f.heard()[before:] {
				if verb, _, _ := strings.Cut(call, " "); !slices.Contains([]string{"inspect", "explore", "groups", "preflight", "plan", "pause", "continue"}, verb) {
					t.Errorf("%s: key %s did %s", name, k, call)
				}
			}
		}
	}
}

// TestB86_ListIsStillWhileAsked: nothing slides under an open question.
func TestB86_ListIsStillWhileAsked(t *testing.T) {
	clock := now
	d := drive(t, 80, 24, func(_ *fake, s *Session) { s.Now = func() time.Time { return clock } }).settle()
	clock = now.Add(time.Minute)
	d.press("/")
	d.send(tickMsg{})
	if d.m.d.stack[0].(*appsScreen).request.out {
		t.Error("the list asks again while the filter is being typed")
	}
	d.press("enter")
	d.send(tickMsg{})
	if !d.m.d.stack[0].(*appsScreen).request.out {
		t.Error("the list does not ask again afterwards")
	}
}

// TestB87_LiveCluster: the header shows the cluster that answered, not what the
// configuration calls it, and another cluster's plan cannot be approved.
func TestB87_LiveCluster(t *testing.T) {
	d := drive(t, 120, 40, func(f *fake, s *Session) {
		s.Context = "prod-us"
		f.survey.Cluster.ID = "AAAAAAAAAAAAAAAAAAAAAA"
		f.inv.Cluster.ID = "AAAAAAAAAAAAAAAAAAAAAA"
	})
	d.sees("prod-us · cluster ?")
	d.settle().sees("prod-us · AAAAAAAAAAAAAAAAAAAAAA")
	d.press("enter")
	d.settle().press("c", "enter", "p")
	d.settle().press("a")
	d.sees("the plan is for cluster " + clusterID + ", connected is AAAAAAAAAAAAAAAAAAAAAA")
	d.f.inv.Cluster.ID = "BBBBBBBBBBBBBBBBBBBBBB"
	d.press("esc", "esc", "esc", "r")
	d.settle().sees("✗ Another cluster answers now: BBBBBBBBBBBBBBBBBBBBBB")
}

// TestB103_KeysBeforeTheFirstLoad: every key on every screen that still waits
// for its data, and the first resize counts.
func TestB103_KeysBeforeTheFirstLoad(t *testing.T) {
	keys := append(strings.Split("abcdefghijklmnoprstuvwxyzGNY12345679/+- ", ""), "enter", "esc", "tab", "shift+tab", "up", "down", "left", "right", "pgup", "pgdown", "home", "end", "ctrl+d", "ctrl+u", "backspace", "space")
	starts := map[string]func(*fake, *Session){
		"list":        func(*fake, *Session) {},
		"application": func(_ *fake, s *Session) { s.Application = "order-processor" },
		"run":         func(_ *fake, s *Session) { s.RunID = runID },
	}
	for name, start := range starts {
		t.Run(name, func(t *testing.T) {
			for _, a := range keys {
				for _, b := range []string{"enter", "esc", "j", "tab", "/", "?", ":", "y", "c", "space", "d"} {
					d := drive(t, 80, 24, start)
					d.press(a, b)
					fits(t, d.text(), 80, 24)
				}
			}
			d := drive(t, 80, 24, start)
			d.press(keys...)
			d.settle()
			fits(t, d.text(), 80, 24)
		})
	}
	f := newFake()
	m := New(t.Context(), f.session())
	for _, k := range keys {
		m.Update(keyMsg(k)) // before the size is known
	}
	_ = m.View()
	m.Update(tea.WindowSizeMsg{Width: 100, Height: 30})
	fits(t, m.View().Content, 100*20, 30)
}

// TestB105_JIsDown on every list.
func TestB105_JIsDown(t *testing.T) {
	d := drive(t, 80, 24).settle()
	first := selectedApp(d)
	d.press("j")
	if selectedApp(d) == first {
		t.Error("j does not go down")
	}
	d.press("k")
	if selectedApp(d) != first {
		t.Error("k does not go up")
	}
	d.press("G")
	last := selectedApp(d)
	d.press("j")
	if selectedApp(d) != last {
		t.Error("j goes beyond the end")
	}
	d.press("home", "pgdown")
	if selectedApp(d) != last {
		t.Error("PgDn does not page down")
	}
	for _, a := range moves(&scroller{}) {
		if a.keys[0] == "j" && a.help != "down" || a.keys[0] == "k" && a.help != "up" {
			t.Errorf("%v: %s", a.keys, a.help)
		}
	}
}

// TestB30_BeforeAndAfter: the plan shows both, per partition.
func TestB30_BeforeAndAfter(t *testing.T) {
	d := golden()["05-plan-offsets"](t, 80, 24)
	d.sees("orders        2   6,054,116 →            0  -6,054,116", "customers     0      68,039 →            0")
}

func TestSelectionIsByIdentity(t *testing.T) {
	d := drive(t, 80, 24).settle()
	d.press("j", "j")
	want := selectedApp(d)
	d.f.survey.Rows = append([]discovery.SurveyRow{{Application: "a-new-one", Level: discovery.LevelBad, Worst: "gone"}}, d.f.survey.Rows...)
	slices.Reverse(d.f.survey.Rows)
	d.press("r")
	d.settle()
	if got := selectedApp(d); got != want {
		t.Errorf("selected %s after the refresh, before %s", got, want)
	}
	d.press("s")
	if got := selectedApp(d); got != want {
		t.Errorf("selected %s after sorting, before %s", got, want)
	}
	d.f.survey.Rows = slices.DeleteFunc(d.f.survey.Rows, func(r discovery.SurveyRow) bool { return r.Application == want })
	d.press("r")
	d.settle()
	d.misses(want)
}

func TestStaleAnswersAreDropped(t *testing.T) {
	d := drive(t, 80, 24)
	apps := d.m.d.stack[0].(*appsScreen)
	old := apps.request.number
	d.press("r")
	late := sampleSurvey()
	late.Rows = late.Rows[:1]
	d.send(answer[discovery.Survey]{number: old, value: late})
	d.sees("asking the cluster")
	d.settle().sees("order-processor")
	d.send(answer[discovery.Survey]{number: apps.request.number, value: late}) // a second time
	d.sees("order-processor")
}

func TestRefreshErrorKeepsWhatIsKnown(t *testing.T) {
	d := drive(t, 80, 24).settle()
	d.f.err = errors.New("connection reset")
	d.press("r")
	d.settle().sees("order-processor", "! 4s old", "not refreshed: connection reset")
}

func TestDisabledKeySaysWhy(t *testing.T) {
	d := drive(t, 80, 24)
	d.press("enter")
	d.sees("Not now: the list is not there yet")
	d.settle().press("enter")
	d.settle().press("c", "j", "enter")
	d.sees("there is no backup set for this application")
	d.press("?")
	d.sees("(not now: there is no")
}

func TestApproval(t *testing.T) {
	open := func(change ...func(*fake, *Session)) *driver {
		d := drive(t, 80, 24, change...).settle()
		d.press("enter")
		d.settle().press("c", "enter", "p")
		d.settle().press("a")
		return d
	}
	t.Run("the default is no", func(t *testing.T) {
		d := open()
		d.press("enter")
		d.sees("Not started.", "order-processor was asked for; nothing was started", "READ-ONLY")
		d.write("order-process")
		d.sees("so far")
		d.press("enter")
		d.write("yes")
		d.sees("not order-processor")
		d.press("esc")
		d.sees("Nothing was done.")
		if h := d.f.heard(); slices.ContainsFunc(h, func(s string) bool { return strings.HasPrefix(s, "start") }) {
			t.Error(h)
		}
	})
	t.Run("typed", func(t *testing.T) {
		d := open()
		d.write("order-processor")
		d.sees("UNLOCKED")
		d.press("enter", "enter", "enter")
		d.settle().sees("RECOVERY order-processor", "starting the run")
		if h := d.f.heard(); h[len(h)-1] != "start sha256:4be1 by mira: typed application id" || strings.HasPrefix(h[len(h)-2], "start") {
			t.Error(h)
		}
	})
	t.Run("pasted", func(*testing.T) {
		d := open()
		d.send(tea.PasteMsg{Content: "order-processor\n"})
		d.sees("matches")
	})
	t.Run("production asks for the context too", func(*testing.T) {
		d := open(func(_ *fake, s *Session) { s.Production = true })
		d.write("order-processor")
		d.press("enter")
		d.sees("prod-eu was asked for")
		d.write("prod-eu")
		d.misses("UNLOCKED")
		d.press("enter")
		d.sees("Type the application ID")
	})
	t.Run("refused at the start", func(*testing.T) {
		d := open()
		d.write("order-processor")
		d.press("enter")
		ap := d.m.d.top().(*approvalScreen)
		d.send(answer[started]{number: ap.request.number, err: &recovery.Error{Outcome: recovery.OutcomeStale, Message: "the group has 2 members now", Hint: "make a new plan"}})
		d.sees("Not started.", "the group has 2 members now", "→ make a new plan", "READ-ONLY")
	})
}

func TestCtrlC(t *testing.T) {
	t.Run("idle quits", func(t *testing.T) {
		d := drive(t, 80, 24).settle()
		if msgs := run(t, d.press("ctrl+c")); len(msgs) != 1 || msgs[0] != tea.Quit() {
			t.Error(msgs)
		}
		if d.m.Resume != "" {
			t.Error("a resume command without a run")
		}
	})
	t.Run("running pauses, then stops and quits", func(t *testing.T) {
		d, _ := following(t, newScript().toWatch())
		run(t, d.press("ctrl+c"))
		d.sees("Pausing after step 10. ctrl-c again stops safely and quits; c continues.")
		msgs := run(t, d.press("ctrl+c"))
		if got := d.f.heard(); !slices.Equal(got, []string{"pause", "stop"}) {
			t.Errorf("calls %v", got)
		}
		if len(msgs) != 1 || msgs[0] != tea.Quit() || d.m.Resume != "resurge resume "+runID {
			t.Errorf("%v, resume %q", msgs, d.m.Resume)
		}
	})
	t.Run("continuing starts over", func(t *testing.T) {
		s := newScript().toWatch()
		d, _ := following(t, s)
		run(t, d.press("ctrl+c"))
		s.at(251, recovery.Event{Type: recovery.RunPaused, Message: "paused"})
		d.events(s.events...)
		d.sees("PAUSED")
		run(t, d.press("c"))
		s.at(260, recovery.Event{Type: recovery.RunContinued, Message: "continued"})
		d.events(s.events...)
		run(t, d.press("ctrl+c"))
		if got := d.f.heard(); !slices.Equal(got, []string{"pause", "continue", "pause"}) {
			t.Errorf("calls %v", got)
		}
	})
	t.Run("in a prompt and when too small", func(t *testing.T) {
		d := drive(t, 80, 24).settle()
		d.press("/")
		if msgs := run(t, d.press("ctrl+c")); len(msgs) != 1 {
			t.Error(msgs)
		}
		d = drive(t, 10, 5).settle()
		if msgs := run(t, d.press("ctrl+c")); len(msgs) != 1 {
			t.Error(msgs)
		}
	})
}

func TestQuitAsksDuringARun(t *testing.T) {
	d, _ := following(t, newScript().toWatch())
	d.press("q")
	d.sees("A run is active. Type yes to stop it safely and quit")
	d.press("enter")
	d.sees("Nothing was stopped. The run goes on.")
	d.press("q")
	d.write("yes")
	msgs := run(t, d.press("enter"))
	if got := d.f.heard(); !slices.Equal(got, []string{"stop"}) || len(msgs) != 1 || d.m.Resume == "" {
		t.Errorf("calls %v, %v, resume %q", got, msgs, d.m.Resume)
	}
	d, _ = following(t, newScript().toEnd(recovery.OutcomeVerified, goodProof()...))
	if msgs := run(t, d.press("q")); len(msgs) != 1 || d.m.Resume != "" {
		t.Errorf("%v, resume %q", msgs, d.m.Resume)
	}
	d, _ = following(t, partial())
	if run(t, d.press("q")); d.m.Resume != "resurge resume "+runID {
		t.Errorf("resume %q", d.m.Resume)
	}
}

func TestSuspend(t *testing.T) {
	d := drive(t, 80, 24).settle()
	if msgs := run(t, d.press("ctrl+z")); len(msgs) != 1 || msgs[0] != tea.Suspend() {
		t.Error(msgs)
	}
	d.send(tea.ResumeMsg{})
	d.sees("order-processor")
}

func TestYourTurn(t *testing.T) {
	clock := now
	s := newScript().toStop()
	d := drive(t, 80, 24, func(_ *fake, se *Session) {
		se.RunID = runID
		se.Now = func() time.Time { return clock }
	}).settle()
	d.events(s.events...)
	d.press("d") // meant for what was there before
	d.sees("the question has just appeared").misses("Done?")
	clock = clock.Add(2 * time.Second)
	d.press("d")
	d.sees("Done? Stop every instance of order-processor.", "enter yes, it is done")
	d.press("esc")
	if h := d.f.heard(); len(h) != 0 {
		t.Error(h)
	}
	d.press("d")
	run(t, d.press("enter"))
	d.press("n")
	d.press("enter")
	d.sees("A reason is needed")
	d.press("n")
	d.write("host 3 is down")
	run(t, d.press("enter"))
	if h := d.f.heard(); !slices.Equal(h, []string{"acknowledge stop by mira", "decline stop: host 3 is down"}) {
		t.Error(h)
	}
	d.press("esc")
	d.sees("▶ YOUR TURN", ":run")
	d.press("d")
	d.misses("Done?")
}

// TestResultOpensByItself, and a key that was meant for the run does nothing.
func TestResultOpensByItself(t *testing.T) {
	clock := now
	s := newScript().toEnd(recovery.OutcomeVerified, goodProof()...)
	d := drive(t, 80, 24, func(_ *fake, se *Session) {
		se.RunID = runID
		se.Now = func() time.Time { return clock }
	}).settle()
	d.events(s.events...)
	d.sees("RECOVERED AND PROVEN", "DONE order-processor")
	d.press("esc")
	d.sees("The run has just ended. Press the key again.", "RECOVERED")
	clock = clock.Add(2 * time.Second)
	d.press("esc")
	d.misses("› result")
	d.send(answer[happened]{number: d.m.d.run.request.number, err: io.EOF})
	d.press("esc", ":")
	d.write("run")
	d.press("enter")
	d.sees("› result")
}

func TestRunThatGoesSilent(t *testing.T) {
	d, clock := following(t, newScript().toWatch())
	d.misses("NO PROGRESS")
	*clock = clock.Add(57 * time.Second)
	d.send(tickMsg{})
	d.misses("NO PROGRESS")
	*clock = clock.Add(3 * time.Second)
	d.send(tickMsg{})
	d.sees("NO PROGRESS for 1m 02s")
	d.send(answer[happened]{number: d.m.d.run.request.number, err: errors.New("log closed")})
	d.sees("NOT HEARD", "r listens again")
	d.press("r")
	d.send(answer[happened]{number: d.m.d.run.request.number, err: io.EOF})
	d.sees("NO END SEEN", "resurge resume "+runID)
	if d.m.d.run.active() {
		t.Error("a run whose log is closed is not active")
	}
}

func TestSecondRunStartsAnew(t *testing.T) {
	d, clock := following(t, partial())
	*clock = clock.Add(time.Minute)
	d.press("o")
	d.settle().press("c", "enter", "p")
	d.settle().press("a")
	d.write("order-processor")
	d.press("enter")
	d.settle()
	d.sees("starting the run")
	d.events(newScript().toStop().events...)
	d.sees("YOUR TURN")
}
