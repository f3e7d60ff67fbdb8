package ui

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"

	"resurge/discovery"
	"resurge/recovery"
	"resurge/streams"
)

// ticking drives a model on a clock that the test moves.
func ticking(t *testing.T, change ...func(*fake, *Session)) (*driver, func(time.Duration)) {
	t.Helper()
	clock := now
	d := drive(t, 80, 24, append([]func(*fake, *Session){func(_ *fake, s *Session) { s.Now = func() time.Time { return clock.In(cet) } }}, change...)...)
	return d, func(by time.Duration) {
		clock = clock.Add(by)
		d.send(tickMsg{})
	}
}

func openApp(d *driver) *applicationScreen { return d.m.d.top().(*applicationScreen) }

// count says how often a question was asked.
func count(f *fake, call string) int {
	n := 0
	for _, c := range f.heard() {
		if strings.HasPrefix(c, call) {
			n++
		}
	}
	return n
}

// TestNamesFirst: names are there before the numbers, and the numbers take their
// place: under a cursor that nobody has moved comes the worst, a chosen row stays
// chosen.
func TestNamesFirst(t *testing.T) {
	for _, moved := range []bool{false, true} {
		d := drive(t, 80, 24)
		apps := d.m.d.stack[0].(*appsScreen)
		d.send(answer[discovery.Survey]{number: apps.names.number, value: glanced(sampleSurvey())})
		d.sees("order-processor", "names only, asking…").misses("41,204", "✓")
		want := "order-processor"
		if moved {
			d.press("j", "k", "G")
			want = selectedApp(d)
		}
		d.send(answer[discovery.Survey]{number: apps.request.number, value: sampleSurvey()})
		d.sees("41,204", "changelog missing").misses("names only")
		if got := selectedApp(d); got != want {
			t.Errorf("moved %v: selected %s, want %s", moved, got, want)
		}
	}
	d := drive(t, 80, 24)
	apps := d.m.d.stack[0].(*appsScreen)
	late := apps.names.number
	d.send(answer[discovery.Survey]{number: apps.request.number, value: sampleSurvey()})
	d.send(answer[discovery.Survey]{number: late, value: glanced(sampleSurvey())})
	d.sees("41,204").misses("names only")
}

// TestNamesAloneAreNoAnswer: when the numbers cannot be had, none is made up, and
// an empty list of names is not said to be all there is.
func TestNamesAloneAreNoAnswer(t *testing.T) {
	d := drive(t, 80, 24)
	apps := d.m.d.stack[0].(*appsScreen)
	d.send(answer[discovery.Survey]{number: apps.names.number, value: discovery.Survey{Cluster: sampleCluster(), TakenAt: now, Partial: true, Others: 3}})
	d.sees("no application by its name; looking at every group").misses("No Kafka Streams application was found")
	d.send(answer[discovery.Survey]{number: apps.request.number, err: errors.New("connection reset")})
	d.sees("The applications cannot be listed.", "connection reset", "r tries again").misses("No Kafka Streams application was found")
}

// TestB20_NothingIsHiddenByName: names that begin with _ are rows like others, and
// what a filter hides is counted.
func TestB20_NothingIsHiddenByName(t *testing.T) {
	d := drive(t, 80, 24, func(f *fake, _ *Session) {
		f.survey.Rows = append(f.survey.Rows, discovery.SurveyRow{Application: "_billing", State: "Stable", Members: new(1), Level: discovery.LevelOK})
		f.groups.Rows = append(f.groups.Rows, discovery.GroupRow{Group: "_audit", Kind: streams.KindClassic, State: "Stable", Members: new(1), Lag: new(int64(0))})
		f.inv.Topics = append(f.inv.Topics, discovery.Topic{Name: "_invoices", Role: streams.RoleInput, Partitions: partitions(1, 0, 5, 9)})
	}).settle()
	d.sees("_billing")
	d.press("/")
	d.write("billing")
	d.press("enter")
	d.sees("1 of 7 · 6 hidden")
	d.press("esc", "enter")
	d.settle().press("2")
	d.sees("_invoices")
	d.press("esc", "g")
	d.settle().sees("_audit", "9 · by name")
	d.press("/")
	d.write("!_audit")
	d.press("enter")
	d.sees("8 of 9 · 1 hidden").misses("_audit  ")
}

// TestB12_NoAnswerStopsNothing: while a question never comes back, every key
// works, what is shown stays and its age is told, and no second one is asked.
func TestB12_NoAnswerStopsNothing(t *testing.T) {
	d, pass := ticking(t)
	d.settle().press("enter")
	d.settle()
	d.f.delay = make(chan struct{}) // from now on, nothing answers
	t.Cleanup(func() { close(d.f.delay) })
	cmds := make(chan tea.Msg, 8)
	ask := func(cmd tea.Cmd) {
		if cmd != nil {
			go func() { cmds <- cmd() }()
		}
	}
	ask(d.press("r"))
	pass(12 * time.Second)
	d.sees("changelog missing", "12s old, asking…")
	for _, tab := range []string{"2", "3", "4", "5", "6", "7", "1"} {
		d.press(tab, "j", "G", "k")
		d.sees("12s old, asking…")
	}
	pass(10 * time.Minute)
	d.sees("10m old, asking…")
	if n := count(d.f, "inspect"); n > 2 {
		t.Errorf("%d questions", n)
	}
	ask(d.press("f"))
	pass(time.Minute)
	pass(time.Minute)
	if n := count(d.f, "explore"); n > 1 {
		t.Errorf("%d looks are out at once", n)
	}
	d.press("esc")
	d.sees("APPLICATION")
	for range 2 { // both questions end with their screen
		select {
		case <-cmds:
		case <-time.After(5 * time.Second):
			t.Fatal("a question outlives its screen")
		}
	}
	d.press("g")
	pass(3 * time.Second)
	d.sees("asking for all groups, their commits and their lag", "3s")
	d.press("j", "G", "s", "/", "esc", "esc")
	d.sees("APPLICATION")
}

// TestB12_SlowAnswersAreAskedForLess: what took long is not asked again at once.
func TestB12_SlowAnswersAreAskedForLess(t *testing.T) {
	d, pass := ticking(t)
	d.settle().press("g")
	pass(20 * time.Second)
	d.settle()
	pass(surveyEvery)
	pass(surveyEvery)
	if n := count(d.f, "groups"); n != 1 {
		t.Errorf("asked %d times within 30 s of an answer that took 20 s", n)
	}
	groups := d.m.d.top().(*groupsScreen)
	pass(time.Minute)
	if !groups.request.out {
		t.Error("not asked again at all")
	}
}

// TestGroups: every kind is there, sorted and filtered; an application opens with
// its ways back, another group without.
func TestGroups(t *testing.T) {
	d := drive(t, 80, 24).settle()
	d.press(":")
	d.write("gr")
	d.press("tab", "enter")
	d.settle().sees("applications › groups", "Streams, classic", "Streams (1071)", "commits only", "share", "connect", "not allowed", "the list may be short: broker 3")
	groups := d.m.d.top().(*groupsScreen)
	first := func() string { return groups.table.rows[groups.table.shown[0]].Group }
	for _, want := range []string{"payroll", "payroll", "mirror-offsets", "billing"} {
		d.press("s")
		if got := first(); got != want {
			t.Errorf("%s: first is %s, want %s", groups.table.status(), got, want)
		}
	}
	d.press("/")
	d.write("streams")
	d.press("enter")
	d.sees("2 of 8 · 6 hidden", "order-processor", "session-builder").misses("billing  ")
	d.press("enter")
	d.settle().sees("changelog missing", "[overview]")
	if count(d.f, "inspect order-processor") != 1 || count(d.f, "explore") != 0 {
		t.Errorf("asked %v", d.f.heard())
	}
	d.press("esc")
	d.sees("applications › groups", "2 of 8")
	d.press("esc", "/", "ctrl+u")
	d.write("billing")
	d.press("enter")
	d.f.inv = sampleGroup()
	d.press("enter")
	d.settle().sees("groups › billing", "no sign of Kafka Streams")
	if count(d.f, "explore billing") != 1 {
		t.Errorf("asked %v", d.f.heard())
	}
}

// TestGroupPage: a group that is no application is offered no way back, whichever
// way it was opened, and says why a tab is missing.
func TestGroupPage(t *testing.T) {
	d := drive(t, 80, 24, func(f *fake, s *Session) { f.inv, s.Application = sampleGroup(), "billing" }).settle()
	d.sees("› billing", "no sign of Kafka Streams", "lag 347", "orders", "refunds").misses("compare ways back", "tasks", "clocks")
	for key, want := range map[string]string{"3": "no sign of Kafka Streams", "7": "no sign of Kafka Streams", "p": "no sign of Kafka Streams"} {
		d.press(key)
		d.sees("Not now: this group shows " + want)
	}
	if d.press("c") != nil {
		t.Error("c does something")
	}
	d.sees("[overview]")
	d.press("tab", "tab")
	d.sees("[offsets]", "none")
	d.press("tab")
	d.sees("[members]", "billing-consumer", "eu-1a")
	d.press("tab", "shift+tab", "r")
	d.settle()
	if count(d.f, "inspect billing") != 1 || count(d.f, "explore billing") != 1 {
		t.Errorf("asked %v", d.f.heard())
	}
}

// TestUnknownIsNeverGood: an application that may not be looked at has no ✓, no
// zero and no "none"; every tab says what is missing.
func TestUnknownIsNeverGood(t *testing.T) {
	d := drive(t, 120, 40, darkened).settle()
	d.press("enter")
	d.settle()
	for tab, want := range map[string]string{"1": "group unknown", "3": "The tasks are not known", "4": "?", "5": "The members are not known", "6": "No clock was read", "7": "What to keep was not worked out"} {
		d.press(tab)
		d.sees(want).misses("✓", "none", "nobody", "No member:", "No task:")
	}
	d.press("p")
	d.f.rights = recovery.Preflight{}
	d.settle().sees("Which rights a rebuild from input takes is not known").misses("✓")
}

// TestNoCommitIsAValue: none, not known and does not apply are three things.
func TestNoCommitIsAValue(t *testing.T) {
	d := drive(t, 120, 40, func(f *fake, _ *Session) {
		f.inv.Topics[3].Partitions[1].Committed, f.inv.Topics[3].Partitions[1].Lag = nil, nil
		f.inv.Topics[3].Partitions[2].Committed, f.inv.Topics[3].Partitions[2].Lag = nil, nil
		f.inv.Topics[3].Partitions[2].Fault = fault(streams.FaultOther, "commit", "not readable", "")
	}).settle()
	d.press("enter")
	d.settle().press("4")
	app := openApp(d)
	got := map[string]string{}
	for _, r := range app.offsets.rows {
		committed, lag := r.position()
		got[r.topic+fmt.Sprint(r.Partition)] = committed + "/" + lag + "/" + r.mark()
	}
	for key, want := range map[string]string{"orders0": "6,054,116/13,734/", "orders1": "none/-/!", "orders2": "?/?/?", "order-totals0": "-/-/"} {
		if got[key] != want {
			t.Errorf("%s: %s, want %s", key, got[key], want)
		}
	}
	d.press("s")
	if first := app.offsets.rows[app.offsets.shown[0]]; first.topic != "orders" || first.Partition != 2 {
		t.Errorf("by lag, what is not known is first: %s-%d", first.topic, first.Partition)
	}
}

// TestClocksRun: the time left is of now, not of when it was read.
func TestClocksRun(t *testing.T) {
	d, pass := ticking(t, told)
	d.settle().press("enter")
	d.settle().press("6")
	d.sees("in 5h 12m", "in 6d 23h", "not known when", "does not run")
	app := openApp(d)
	app.request.since = now.Add(24 * time.Hour) // no new answer meanwhile
	pass(6 * time.Hour)
	d.sees("ran out 48m ago", "6d 17h")
}

// TestPreflight: purposes change by key, what was read is kept, and the command of
// what is missing is copied.
func TestPreflight(t *testing.T) {
	var copied string
	d := drive(t, 120, 40, func(_ *fake, s *Session) {
		s.Copy = func(text string) (string, error) { copied = text; return "/tmp/x", nil }
	}).settle()
	d.press("enter")
	d.settle().press("p")
	d.sees("asking the broker for the rights that a rebuild from input takes")
	d.settle().sees("User:ops lacks 2 of the 5 rights", "READ on group order-processor")
	run(t, d.press("y"))
	if !strings.Contains(copied, "--operation READ --group order-processor") {
		t.Errorf("copied %q", copied)
	}
	run(t, d.press("Y"))
	if strings.Count(copied, "kafka-acls.sh") != 3 || strings.Contains(copied, "DESCRIBE_CONFIGS") {
		t.Errorf("copied %q", copied)
	}
	d.press("G", "y")
	d.sees("Not now: this right is held")
	d.press("2")
	d.settle()
	d.press("tab")
	d.settle()
	d.press("4")
	d.settle()
	d.press("tab", "shift+tab")
	d.sees("[backup]")
	var asked []string
	for _, c := range d.f.heard() {
		if strings.HasPrefix(c, "preflight") {
			asked = append(asked, strings.TrimPrefix(c, "preflight order-processor for "))
		}
	}
	if want := []string{string(recovery.ForRebuild), string(recovery.ForRestore), string(recovery.ForPITR), string(recovery.ForBackup)}; !slices.Equal(asked, want) {
		t.Errorf("asked %v, want %v", asked, want)
	}
	d.f.err = errors.New("connection reset")
	d.press("r")
	d.settle().sees("not asked again: connection reset", "User:ops lacks")
}

// TestB77_AGroupOfAnyKindShowsWhatIsWrong: what is wrong with a plain consumer
// group is on its page as well, without ways back.
func TestB77_AGroupOfAnyKindShowsWhatIsWrong(t *testing.T) {
	d := drive(t, 80, 24, func(f *fake, s *Session) {
		f.inv = sampleGroup()
		f.as = recovery.Assessment{Diagnosis: discovery.Diagnosis{Findings: []discovery.Finding{
			{Level: discovery.LevelBad, Name: "commit below start", Detail: "refunds: 12 unread records are gone", Advice: "commit exact offsets"},
			{Level: discovery.LevelOK, Name: "replicas in sync", Detail: "all"},
		}}}
		s.Application = f.inv.Application
	})
	d.settle().sees("commit below start", "12 unread records are gone", "commit exact offsets").misses("compare ways back", "replicas in sync")
}
