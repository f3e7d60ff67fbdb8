package headless_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"go.uber.org/goleak"

	"resurge/discovery"
	"resurge/internal/headless"
	"resurge/plans"
	"resurge/recovery"
	"resurge/streams"
)

var update = flag.Bool("update", false, "rewrite the golden files")

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func golden(t *testing.T, name string, got []byte) {
	t.Helper()
	path := filepath.Join("testdata", name)
	if *update {
		if err := os.WriteFile(path, got, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), string(got)); diff != "" {
		t.Errorf("%s: %s", name, diff)
	}
}

const hostile = "evil\x1b[2J\u202etopic"

func planned() plans.Plan {
	zero, nine := int64(0), int64(1_204_118)
	return plans.Plan{
		ID: "sha256:4be190c2", Strategy: plans.Rebuild, Application: "orders", ClusterID: "MkU3OEVBNTcw", Summary: "replay 9 records", Warnings: []string{"input " + hostile},
		Steps: []plans.Step{
			{ID: "1", Kind: plans.CommitOffsets, Title: "commit offsets", Risk: plans.Reversible, CLI: []string{"kafka-consumer-groups.sh --topic " + hostile}, Offsets: []plans.OffsetChange{
				{Topic: hostile, Partition: 0, Before: &nine, After: &zero, Note: "clamped"}, {Topic: "in", Partition: 1, After: &zero},
			}},
			{ID: "2", Kind: plans.DeleteTopic, Title: "delete changelog topic x", Risk: plans.Destructive, Topics: []plans.Topic{{Name: "x", Partitions: 3, Records: -1, Why: "the group has commits on it"}}},
			{ID: "3", Kind: plans.OperatorTask, Title: "clear", Risk: plans.ByOperator, Task: &plans.Task{Name: plans.TaskClearState, Ask: "clear the state directories", Why: "old state mixes", Details: []string{"rm -rf /x"}}},
		},
	}
}

func events() []recovery.Event {
	at := time.Date(2026, 12, 1, 14, 0, 0, 0, time.UTC)
	p := planned()
	all := []recovery.Event{
		{Type: recovery.RunStarted, Run: "20261201-1400-4be190", Message: "run of plan", Header: &recovery.Header{Plan: p, Incident: at.Add(-10 * time.Minute), RTO: 12 * time.Minute, Approval: recovery.Approval{By: "ada", How: "--approve"}}},
		{Type: recovery.StepStarted, Step: "1", Message: "commit offsets"},
		{Type: recovery.StepProgress, Step: "1", Message: "partitions", Done: 1, Total: 2, Unit: "partitions"},
		{Type: recovery.StepVerified, Step: "1", Message: "done: commit offsets", Evidence: []recovery.Evidence{{Check: "committed offsets", Result: recovery.ResultOK, Detail: "2 of 2 on " + hostile}}},
		{Type: recovery.StepFailed, Step: "2", Message: "topic " + hostile, Error: &recovery.Problem{Code: recovery.OutcomeStale, Hint: "make a new plan"}},
		{Type: recovery.RunResumed, Run: "20261201-1400-4be190", Message: "run taken up again"},
		{Type: recovery.StepWaiting, Step: "3", Message: "your turn: clear", Task: p.Steps[2].Task},
		{Type: recovery.TaskDone, Step: "3", Message: "clear-state: done, says ada"},
		{Type: recovery.StepVerified, Step: "3", Message: "done: clear", Evidence: []recovery.Evidence{{Check: "health", Result: recovery.ResultSkipped, Detail: "none configured"}, {Check: "state", Result: recovery.ResultFailed, Detail: "differs"}}},
		{Type: recovery.PhaseReached, Phase: recovery.PhaseProven, At: at.Add(3 * time.Minute), Message: "T8 state proven"},
		{Type: recovery.RunFinished, Outcome: recovery.OutcomeRTOMissed, Message: "recovered and proven, later than the RTO allows"},
	}
	for i := range all {
		all[i].Time = at.Add(time.Duration(i) * 20 * time.Second)
		if !all[i].Ephemeral() {
			all[i].Seq = uint64(i + 1)
		}
	}
	return all
}

func followed(t *testing.T, asJSON bool) []byte {
	t.Helper()
	log := recovery.NewEventLog()
	var b bytes.Buffer
	done := make(chan error, 1)
	for _, e := range events() {
		log.Publish(e)
	}
	log.Close()
	go func() { done <- headless.Follow(t.Context(), log, &b, asJSON) }()
	if err := <-done; err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func TestFollowAsText(t *testing.T) { golden(t, "follow.txt", followed(t, false)) }

func TestFollowAsJSON(t *testing.T) {
	lines := bytes.Split(bytes.TrimSpace(followed(t, true)), []byte("\n"))
	for i, line := range lines {
		var e recovery.Event
		if err := json.Unmarshal(line, &e); err != nil || e.Type == "" {
			t.Errorf("line %d: %v: %s", i+1, err, line)
		}
	}
	var first recovery.Event
	if err := json.Unmarshal(lines[0], &first); err != nil || first.Type != recovery.RunStarted || first.Run == "" {
		t.Errorf("the first event does not name the run: %s", lines[0])
	}
}

// A writer that fails ends the printing, and says so.
func TestFollowWithABrokenPipe(t *testing.T) {
	log := recovery.NewEventLog()
	log.Publish(recovery.Event{Type: recovery.RunPaused, Message: "x", Seq: 1})
	if err := headless.Follow(t.Context(), log, broken{}, false); !errors.Is(err, os.ErrClosed) {
		t.Errorf("got %v", err)
	}
}

type broken struct{}

func (broken) Write([]byte) (int, error) { return 0, os.ErrClosed }

func TestTables(t *testing.T) {
	five, end, lag := int64(5), int64(41_204), int64(41_199)
	members := 2
	inv := discovery.Inventory{
		Application: "orders", Cluster: streams.Cluster{ID: "MkU3OEVBNTcw", Brokers: []streams.Broker{{ID: 1}}},
		Group: streams.Group{ID: "orders", Exists: true, Protocol: streams.ProtocolClassic, State: "Stable", Members: []streams.Member{{ClientID: hostile, Host: "/10.0.0.7", Active: []streams.TaskID{{}, {Partition: 1}, {}}}}},
		Topics: []discovery.Topic{
			{Name: "in", Role: streams.RoleInput, Evidence: []string{"the group has commits on it"}, Partitions: []discovery.PartitionState{{Start: &five, End: &end, Committed: &streams.Commit{Offset: 5}, Lag: &lag}}},
			{Name: hostile, Role: streams.RoleLookalike, Ambiguous: true, Evidence: []string{"no group"}, Partitions: []discovery.PartitionState{{}}},
		},
	}
	var b bytes.Buffer
	err := errors.Join(
		headless.Describe(&b, inv, recovery.Assess(inv)),
		headless.Plan(&b, planned()),
		headless.Apps(&b, discovery.Survey{Cluster: inv.Cluster, Rows: []discovery.SurveyRow{
			{Application: "orders", State: "Stable", Protocol: streams.ProtocolClassic, Members: &members, Lag: &lag, Level: discovery.LevelOK},
			{Application: hostile, Level: discovery.LevelUnknown, Worst: "not allowed"},
		}, Gaps: []*streams.Fault{{What: "broker 3", Message: "unreachable"}}}),
		headless.Runs(&b, nil),
		headless.Runs(&b, []headless.RunRow{
			{ID: "20261201-1400-4be190", Application: "orders", Strategy: "rebuild", Outcome: "rto_missed", Steps: 13, StepsDone: 13, Began: time.Date(2026, 12, 1, 14, 0, 0, 0, time.UTC), Clock: 13 * time.Minute},
			{ID: "20261201-1500-4be190", Problem: "journal is damaged"},
		}),
	)
	if err != nil {
		t.Fatal(err)
	}
	golden(t, "tables.txt", b.Bytes())
	if strings.ContainsAny(b.String(), "\x1b\u202e") {
		t.Error("a name reached the output as it is")
	}
}

func TestUnits(t *testing.T) {
	for n, want := range map[int64]string{0: "0", 999: "999", 1000: "1,000", -41204: "-41,204", 1_000_000: "1,000,000"} {
		if got := headless.Group(n); got != want {
			t.Errorf("%d: %s", n, got)
		}
	}
	for d, want := range map[time.Duration]string{
		400 * time.Millisecond: "0.4s", 12 * time.Second: "12s", 185 * time.Second: "3m 05s", 130 * time.Minute: "2h 10m", -5 * time.Second: "-5.0s",
	} {
		if got := headless.Short(d); got != want {
			t.Errorf("%s: %s", d, got)
		}
	}
}
