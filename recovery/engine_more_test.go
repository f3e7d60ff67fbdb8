package recovery_test

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kfake"
	"github.com/twmb/franz-go/pkg/kmsg"

	"resurge/discovery"
	"resurge/plans"
	"resurge/recovery"
	"resurge/streams"
)

func decode(r io.Reader, v any) error { return json.NewDecoder(r).Decode(v) }

// run executes a plan and returns its outcome and fold.
func (r *rig) run(ports recovery.Ports, p plans.Plan) (recovery.Outcome, recovery.Run) {
	r.t.Helper()
	j := &crashing{left: -1}
	x := recovery.NewExecutor(ports, j, recovery.NewEventLog(), nil)
	if err := x.Begin("run", header(p)); err != nil {
		r.t.Fatal(err)
	}
	outcome, err := x.Execute(r.t.Context())
	if err != nil {
		r.t.Fatal(err)
	}
	return outcome, x.Run()
}

// state is what a refused run must leave as it is.
type state struct {
	Topics  map[string]string
	Commits map[string]streams.Commit
}

func (r *rig) state() state {
	r.t.Helper()
	s := state{map[string]string{}, map[string]streams.Commit{}}
	topics, err := r.reader.Topics(r.t.Context())
	if err != nil {
		r.t.Fatal(err)
	}
	for _, t := range topics {
		s.Topics[t.Name] = t.ID.String()
	}
	commits, err := r.reader.Commits(r.t.Context(), r.box.Application(), true)
	if err != nil {
		r.t.Fatal(err)
	}
	for tp, c := range commits.Offsets {
		s.Commits[tp.String()] = c
	}
	return s
}

// readOnlyKeys are the requests that change nothing.
var readOnlyKeys = map[int16]bool{
	int16(kmsg.ApiVersions): true, int16(kmsg.Metadata): true, int16(kmsg.ListOffsets): true, int16(kmsg.FindCoordinator): true,
	int16(kmsg.DescribeGroups): true, int16(kmsg.ListGroups): true, int16(kmsg.OffsetFetch): true, int16(kmsg.DescribeConfigs): true,
	int16(kmsg.ListTransactions): true, int16(kmsg.DescribeTransactions): true, int16(kmsg.ConsumerGroupDescribe): true,
	int16(kmsg.StreamsGroupDescribe): true, int16(kmsg.DescribeCluster): true, int16(kmsg.DescribeTopicPartitions): true,
	int16(kmsg.ShareGroupDescribe): true, int16(kmsg.Fetch): true, int16(kmsg.DescribeProducers): true, int16(kmsg.SASLHandshake): true, int16(kmsg.SASLAuthenticate): true,
}

// B22, B23: a preview works on a running application and sends no request that
// could change anything, eviction included.
func TestB22_PlanOfARunningApplicationSendsNoWrites(t *testing.T) {
	r := newRig(t, "still-running")
	before := r.state()
	p := r.plan(func(q *recovery.Request) { q.RemoveMembers = true })
	if len(p.Steps) == 0 {
		t.Fatal("no plan")
	}
	d := discovery.Discoverer{Reader: r.reader, Now: time.Now}
	if _, err := d.Survey(t.Context()); err != nil {
		t.Fatal(err)
	}
	for key, n := range r.requests {
		if !readOnlyKeys[key] {
			t.Errorf("%d requests of %s were sent", n, kmsg.NameForKey(key))
		}
	}
	if len(r.requests) < 5 {
		t.Errorf("only %v was observed: the counting does not work", r.requests)
	}
	if diff := cmp.Diff(before.Topics, r.state().Topics); diff != "" {
		t.Error(diff)
	}
}

// A group that stays active is left alone: the run waits for the deadline, names
// who is there, and has changed nothing.
func TestStillRunningIsRefused(t *testing.T) {
	r := newRig(t, "still-running")
	p := r.plan(func(q *recovery.Request) { q.NoStop, q.EmptyWithin = true, time.Second })
	before := r.state()
	outcome, run := r.run(r.ports(), p)
	if outcome != recovery.OutcomeGroupActive {
		t.Errorf("outcome %s", outcome)
	}
	if !strings.Contains(run.Problem.Message, "StreamThread-1-consumer") {
		t.Errorf("no member is named: %s", run.Problem.Message)
	}
	if diff := cmp.Diff(before, r.state()); diff != "" {
		t.Error(diff)
	}
}

// nobody is an operator without hooks.
type nobody struct{}

func (nobody) HasHook(string) bool                             { return false }
func (nobody) Perform(context.Context, string) (string, error) { return "", errors.New("no hook") }

// Nobody is there to stop it: the run says at once who still runs.
func TestStopWithoutOperatorNamesTheMembers(t *testing.T) {
	r := newRig(t, "still-running")
	ports := r.ports()
	ports.Operator = nobody{}
	outcome, run := r.run(ports, r.plan(nil))
	if outcome != recovery.OutcomeGroupActive || !strings.Contains(run.Problem.Message, "StreamThread-1-consumer") {
		t.Errorf("%s: %+v", outcome, run.Problem)
	}
}

// forgetful says that it cleared the state directories, and does not.
type forgetful struct{ *rig }

func (f forgetful) Perform(ctx context.Context, task string) (string, error) {
	if task == plans.TaskClearState {
		return "done, believe me", nil
	}
	return f.rig.Perform(ctx, task)
}

// B29: with an old state directory everything is counted twice. Nothing fails in
// the application; the run must not end verified.
func TestB29_UnclearedStateIsNeverVerified(t *testing.T) {
	r := newRig(t, "bad-deploy")
	ports := r.ports()
	ports.Operator = forgetful{r}
	outcome, run := r.run(ports, r.plan(nil))
	if outcome != recovery.OutcomeUnverified {
		t.Fatalf("outcome %s: %+v", outcome, run.Problem)
	}
	if !strings.Contains(run.Problem.Message, "NOT cleared") {
		t.Errorf("problem: %s", run.Problem.Message)
	}
	if _, proven := run.Phases[recovery.PhaseProven]; proven {
		t.Error("the clock stopped")
	}
}

// The same plan again finds everything done.
func TestDoneStepsAreSkipped(t *testing.T) {
	r := newRig(t, "state-lost")
	p := r.plan(func(q *recovery.Request) { q.NoStart = true })
	if outcome, run := r.run(r.ports(), p); outcome != recovery.OutcomeVerified {
		t.Fatalf("%s: %+v", outcome, run.Problem)
	}
	before := r.state()
	clear(r.requests)
	outcome, run := r.run(r.ports(), p)
	if outcome != recovery.OutcomeVerified {
		t.Fatalf("%s: %+v", outcome, run.Problem)
	}
	for _, s := range run.Steps {
		if k := s.Step.Kind; (k == plans.CommitOffsets || k == plans.DeleteTopic) && s.Status != recovery.StatusSkipped {
			t.Errorf("step %s is %s the second time", s.Step.ID, s.Status)
		}
	}
	for key, n := range r.requests {
		if !readOnlyKeys[key] {
			t.Errorf("%d requests of %s the second time", n, kmsg.NameForKey(key))
		}
	}
	if diff := cmp.Diff(before, r.state()); diff != "" {
		t.Error(diff)
	}
}

// The broker does the work and its answer is lost.
func TestLostAnswers(t *testing.T) {
	for _, key := range []kmsg.Key{kmsg.OffsetCommit, kmsg.DeleteTopics} {
		t.Run(key.Name(), func(t *testing.T) {
			r := newRig(t, "state-lost")
			p := r.plan(func(q *recovery.Request) { q.NoStart = true })
			h := r.box.Cluster().Fault(kfake.Fault{Keys: []kmsg.Key{key}, Err: kerr.RequestTimedOut, Count: 1})
			j := &crashing{left: -1}
			x := recovery.NewExecutor(r.ports(), j, recovery.NewEventLog(), nil)
			if err := x.Begin("run", header(p)); err != nil {
				t.Fatal(err)
			}
			outcome, err := x.Execute(t.Context())
			for try := 0; err == nil && outcome != recovery.OutcomeVerified && try < 3; try++ {
				x = recovery.NewExecutor(r.ports(), j, recovery.NewEventLog(), j.events)
				if err = x.Resume("test"); err == nil {
					outcome, err = x.Execute(t.Context())
				}
			}
			if err != nil || outcome != recovery.OutcomeVerified {
				t.Fatalf("%s, %v: %+v", outcome, err, x.Run().Problem)
			}
			if h.Hits() == 0 {
				t.Error("the fault was never met")
			}
			r.isReset(p)
		})
	}
}

// A topic of the plan's name but another generation is not the plan's topic.
func TestRecreatedTopicIsNotDeleted(t *testing.T) {
	r := newRig(t, "state-lost")
	p := r.plan(func(q *recovery.Request) { q.NoStart = true })
	var victim plans.Topic
	for _, s := range p.Steps {
		if s.Kind == plans.DeleteTopic {
			victim = s.Topics[0]
		}
	}
	w := writer{r.cluster.Writer()}
	if err := w.DeleteTopic(t.Context(), victim.Name, victim.ID); err != nil {
		t.Fatal(err)
	}
	if _, err := w.CreateTopic(t.Context(), victim); err != nil {
		t.Fatal(err)
	}
	outcome, run := r.run(r.ports(), p)
	if outcome != recovery.OutcomeStale || !strings.Contains(run.Problem.Message, victim.Name) {
		t.Errorf("%s: %+v", outcome, run.Problem)
	}
	if _, there := r.state().Topics[victim.Name]; !there {
		t.Error("it was deleted all the same")
	}
}

// A person pauses, goes on, and stops; the run is resumed and ends well.
func TestPauseContinueStopResume(t *testing.T) {
	r := newRig(t, "state-lost")
	p := r.plan(nil)
	ports := r.ports()
	ports.Operator, ports.Answers = nobody{}, recovery.NewAnswers(nil, "", true)
	ports.Answers.PauseAfterStep()
	j := &crashing{left: -1}
	log := recovery.NewEventLog()
	x := recovery.NewExecutor(ports, j, log, nil)
	if err := x.Begin("run", header(p)); err != nil {
		t.Fatal(err)
	}
	ended := make(chan recovery.Outcome, 1)
	go func() {
		outcome, err := x.Execute(t.Context())
		if err != nil {
			t.Error(err)
		}
		log.Close()
		ended <- outcome
	}()
	var cursor recovery.Cursor
	until := func(typ recovery.EventType) {
		for {
			events, next, err := log.Next(t.Context(), cursor)
			if err != nil {
				t.Fatalf("waiting for %s: %v", typ, err)
			}
			cursor = next
			for _, e := range events {
				if e.Type == typ {
					return
				}
			}
		}
	}
	until(recovery.RunPaused)
	ports.Answers.Continue()
	until(recovery.StepWaiting) // the clear-state task: nobody has a hook for it
	ports.Answers.Stop()
	if outcome := <-ended; outcome != recovery.OutcomeInterrupted {
		t.Fatalf("stopped with %s", outcome)
	}
	x = recovery.NewExecutor(r.ports(), j, recovery.NewEventLog(), j.events)
	if err := x.Resume("test"); err != nil {
		t.Fatal(err)
	}
	outcome, err := x.Execute(t.Context())
	if err != nil || outcome != recovery.OutcomeVerified {
		t.Fatalf("%s, %v: %+v", outcome, err, x.Run().Problem)
	}
	r.countsAreRight()
}

func TestUndoPutsOffsetsBack(t *testing.T) {
	r := newRig(t, "state-lost")
	before := r.state()
	p := r.plan(func(q *recovery.Request) { q.NoStart = true })
	_, run := r.run(r.ports(), p)
	saved, err := recovery.LatestSaved(run, r)
	if err != nil {
		t.Fatal(err)
	}
	undo, err := recovery.MakeUndo(r.discover(), run, saved, recovery.Request{Application: r.box.Application()}, time.Now(), "test")
	if err != nil {
		t.Fatal(err)
	}
	if err := undo.Validate(); err != nil {
		t.Fatal(err)
	}
	if outcome, run := r.run(r.ports(), undo); outcome != recovery.OutcomeVerified {
		t.Fatalf("%s: %+v", outcome, run.Problem)
	}
	after := r.state()
	for tp, c := range before.Commits {
		if !strings.Contains(tp, "repartition") && after.Commits[tp] != c {
			t.Errorf("%s: was %+v, is %+v", tp, c, after.Commits[tp])
		}
	}
	for name := range before.Topics {
		if _, there := after.Topics[name]; !there {
			t.Errorf("%s was not created again", name)
		}
	}
	if !strings.Contains(strings.Join(undo.Warnings, "\n"), "records of") {
		t.Errorf("the undo does not say what cannot be put back: %q", undo.Warnings)
	}
}

// Crashes while the application starts and is watched.
func TestCrashWhileTheApplicationStarts(t *testing.T) {
	t.Parallel()
	for _, before := range []recovery.EventType{recovery.TaskDone, recovery.TargetSet, recovery.MemberSeen, recovery.PhaseReached, recovery.StepVerified} {
		t.Run(string(before), func(t *testing.T) {
			t.Parallel()
			r := newRig(t, "state-lost")
			p := r.plan(nil)
			j := &crashing{left: -1}
			x := recovery.NewExecutor(r.ports(), &diesAt{j, before, false}, recovery.NewEventLog(), nil)
			if err := x.Begin("run", header(p)); err != nil {
				t.Fatal(err)
			}
			if _, err := x.Execute(t.Context()); !errors.Is(err, errCrash) {
				t.Fatalf("did not crash: %v", err)
			}
			j.left = -1
			ports := r.ports()
			ports.Answers = recovery.NewAnswers([]string{"state-was-clear"}, "test", false)
			x = recovery.NewExecutor(ports, j, recovery.NewEventLog(), j.events)
			if err := x.Resume("test"); err != nil {
				t.Fatal(err)
			}
			outcome, err := x.Execute(t.Context())
			if err != nil || outcome != recovery.OutcomeVerified {
				t.Fatalf("%s, %v: %+v", outcome, err, x.Run().Problem)
			}
			r.countsAreRight()
		})
	}
}

// diesAt lets the machine die instead of writing an event of the given type
// once the application was asked to start.
type diesAt struct {
	*crashing

	at       recovery.EventType
	starting bool
}

func (d *diesAt) Append(e recovery.Event) (recovery.Event, error) {
	d.starting = d.starting || e.Type == recovery.StepStarted && e.Kind == plans.OperatorTask && strings.HasPrefix(e.Message, "start ")
	if d.starting && e.Type == d.at {
		d.left = 0
	}
	return d.crashing.Append(e)
}
