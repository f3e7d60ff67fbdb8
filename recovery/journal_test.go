package recovery

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"resurge/plans"
)

// story is a journal of a run with every durable event.
func story() []Event {
	at := time.Date(2026, 12, 1, 10, 40, 0, 0, time.UTC)
	p := plans.Plan{Format: 1, ID: "sha256:x", Application: "orders", ClusterID: "c", Steps: []plans.Step{
		{ID: "1", Kind: plans.SaveState, Title: "save"},
		{ID: "2", Kind: plans.OperatorTask, Title: "stop", Task: &plans.Task{Name: plans.TaskStop}},
		{ID: "3", Kind: plans.ProveState, Title: "prove"},
	}}
	events := []Event{
		{Type: RunStarted, Run: "r", Header: &Header{Plan: p, Incident: at}, Message: "begun"},
		{Type: StepStarted, Step: "1"},
		{Type: StepApplied, Step: "1"},
		{Type: StepVerified, Step: "1", Evidence: []Evidence{{Check: "saved", Result: ResultOK}}},
		{Type: StepStarted, Step: "2"},
		{Type: StepWaiting, Step: "2", Task: p.Steps[1].Task, Message: "your turn"},
		{Type: TaskDone, Step: "2", By: "ada"},
		{Type: StepApplied, Step: "2"},
		{Type: StepVerified, Step: "2"},
		{Type: RunPaused},
		{Type: RunContinued},
		{Type: PhaseReached, Phase: PhaseEmpty, At: at.Add(time.Minute)},
		{Type: TargetSet, Target: []TargetOffset{{Topic: "in", Offset: 9}}},
		{Type: MemberSeen, Step: "3", Evidence: []Evidence{{Check: "state", Result: ResultOK}}},
		{Type: StepStarted, Step: "3"},
		{Type: StepFailed, Step: "3", Error: &Problem{Code: OutcomeUnverified, Message: "no"}},
		{Type: RunFinished, Run: "r", Outcome: OutcomeUnverified},
		{Type: RunResumed, Run: "r"},
		{Type: StepVerified, Step: "3"},
		{Type: PhaseReached, Phase: PhaseProven, At: at.Add(3 * time.Minute)},
		{Type: RunFinished, Run: "r", Outcome: OutcomeVerified},
	}
	for i := range events {
		events[i].Time = at.Add(time.Duration(i) * time.Second)
	}
	return events
}

func written(t *testing.T) (path string, events []Event) {
	t.Helper()
	path = filepath.Join(t.TempDir(), "journal.jsonl")
	j, err := CreateJournal(path)
	if err != nil {
		t.Fatal(err)
	}
	defer j.Close()
	for _, e := range story() {
		e, err = j.Append(e)
		if err != nil {
			t.Fatal(err)
		}
		events = append(events, e)
	}
	return path, events
}

// A crash leaves the file cut anywhere: what is whole is kept, the rest is cut
// off, and the journal goes on from there.
func TestJournalCutAtEveryByte(t *testing.T) {
	path, events := written(t)
	whole, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	for cut := range len(whole) + 1 {
		lines := bytes.Count(whole[:cut], []byte("\n"))
		got, err := ReadJournal(bytes.NewReader(whole[:cut]))
		if err != nil || len(got) != lines {
			t.Fatalf("cut at %d: %d events, want %d; %v", cut, len(got), lines, err)
		}
		if cut%41 == 0 || cut > 0 && whole[cut-1] == '\n' {
			goOn(t, whole[:cut], lines)
		}
	}
	if diff := cmp.Diff(Fold(events), Fold(func() []Event { _, e, _ := OpenJournal(path); return e }())); diff != "" {
		t.Error(diff)
	}
}

// goOn opens a torn journal, appends to it and reads it again.
func goOn(t *testing.T, torn []byte, lines int) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "torn")
	if err := os.WriteFile(path, torn, 0o600); err != nil {
		t.Fatal(err)
	}
	j, got, err := OpenJournal(path)
	if err != nil || len(got) != lines {
		t.Fatalf("cut at %d: %d events, want %d; %v", len(torn), len(got), lines, err)
	}
	if _, err := j.Append(Event{Type: RunPaused}); err != nil {
		t.Fatal(err)
	}
	if err := j.Close(); err != nil {
		t.Fatal(err)
	}
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if again, err := ReadJournal(f); err != nil || len(again) != lines+1 {
		t.Fatalf("cut at %d, after going on: %d events, %v", len(torn), len(again), err)
	}
}

func TestDamagedJournalIsRefused(t *testing.T) {
	path, _ := written(t)
	whole, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	lines := bytes.SplitAfter(whole, []byte("\n"))
	damaged := map[string][]byte{
		"a line is gone":    slicesConcat(lines[:3], lines[4:]),
		"a line is doubled": slicesConcat(lines[:4], lines[3:]),
		"two are swapped":   slicesConcat(lines[:3], [][]byte{lines[4], lines[3]}, lines[5:]),
		"a byte is changed": bytes.Replace(whole, []byte(`"saved"`), []byte(`"saveD"`), 1),
		"a line is noise":   slicesConcat(lines[:3], [][]byte{[]byte("noise\n")}, lines[3:]),
	}
	for name, content := range damaged {
		if err := os.WriteFile(path, content, 0o600); err != nil {
			t.Fatal(err)
		}
		if _, _, err := OpenJournal(path); !errors.Is(err, ErrCorrupt) {
			t.Errorf("%s: got %v, want ErrCorrupt", name, err)
		}
		after, err := os.ReadFile(path)
		if err != nil || !bytes.Equal(after, content) {
			t.Errorf("%s: the damaged file was touched", name)
		}
	}
}

func slicesConcat(parts ...[][]byte) []byte {
	return bytes.Join(slices.Concat(parts...), nil)
}

func TestJournalIsNeverOverwritten(t *testing.T) {
	path, _ := written(t)
	if _, err := CreateJournal(path); !errors.Is(err, os.ErrExist) {
		t.Errorf("got %v", err)
	}
}

// After a failed write the end of the file is not known: nothing more is taken.
func TestJournalTakesNothingAfterAFailure(t *testing.T) {
	path, _ := written(t)
	j, _, err := OpenJournal(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := j.Close(); err != nil {
		t.Fatal(err)
	}
	_, first := j.Append(Event{Type: RunPaused})
	_, second := j.Append(Event{Type: RunPaused})
	if first == nil || !errors.Is(second, first) {
		t.Errorf("got %v, then %v", first, second)
	}
}

func TestFoldOfAnyPrefixCanGoOn(t *testing.T) {
	_, events := written(t)
	for n := 1; n <= len(events); n++ {
		r := Fold(events[:n])
		if r.ID != "r" || len(r.Steps) != 3 {
			t.Fatalf("prefix %d: %+v", n, r)
		}
		resumed := r.Apply(Event{Seq: uint64(n + 1), Type: RunResumed, Run: "r", Time: time.Now()})
		for _, s := range resumed.Steps {
			if s.Status == StatusRunning || s.Status == StatusWaiting || s.Status == StatusFailed {
				t.Errorf("prefix %d: step %s is %s after a resume", n, s.Step.ID, s.Status)
			}
		}
		if resumed.Waiting != nil || resumed.Outcome != "" {
			t.Errorf("prefix %d: still waiting or ended after a resume", n)
		}
		if again := r.Apply(events[n-1]); !cmp.Equal(again, r) {
			t.Errorf("prefix %d: an event twice changes the run", n)
		}
	}
}

func TestFoldTellsTheStory(t *testing.T) {
	_, events := written(t)
	r := Fold(events)
	if r.Outcome != OutcomeVerified || !r.Proven() || r.Resumed != 1 || r.HumanWait != time.Second {
		t.Errorf("outcome %s, resumed %d, waited %s", r.Outcome, r.Resumed, r.HumanWait)
	}
	if got := r.Clock(r.Header.Incident.Add(time.Hour)); got != 3*time.Minute {
		t.Errorf("the clock did not stop at proof: %s", got)
	}
	unknown := r.Apply(Event{Seq: r.LastSeq + 1, Type: "something_new"})
	unknown.LastSeq = r.LastSeq
	if !cmp.Equal(unknown, r) {
		t.Error("an unknown event changes the run")
	}
}

func TestEventLogKeepsDurableAndNewestProgress(t *testing.T) {
	l := NewEventLog()
	durable := 0
	for i := range 20_000 {
		l.Publish(Event{Type: StepProgress, Step: "1", Done: int64(i)})
		if i%4000 == 0 {
			durable++
			l.Publish(Event{Type: StepStarted, Step: fmt.Sprint(i), Seq: uint64(durable)})
		}
	}
	l.Close()
	events, c, err := l.Next(t.Context(), Cursor{})
	if err != nil {
		t.Fatal(err)
	}
	var seen, progress int
	for _, e := range events {
		if e.Ephemeral() {
			progress++
			if e.Done != 19_999 {
				t.Errorf("old progress %d", e.Done)
			}
			continue
		}
		seen++
	}
	if seen != durable || progress != 1 {
		t.Errorf("%d durable of %d, %d progress", seen, durable, progress)
	}
	if _, _, err := l.Next(t.Context(), c); err == nil || !strings.Contains(err.Error(), "EOF") {
		t.Errorf("after the end: %v", err)
	}
}

func FuzzJournal(f *testing.F) {
	f.Add([]byte("{\"seq\":1}\n"))
	f.Fuzz(func(_ *testing.T, b []byte) { _, _ = ReadJournal(bytes.NewReader(b)) })
}
