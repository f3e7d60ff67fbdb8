package recovery_test

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"go.uber.org/goleak"

	"resurge/discovery"
	"resurge/internal/sandbox"
	"resurge/kafka"
	"resurge/plans"
	"resurge/recovery"
	"resurge/streams"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// rig is a broken application on an embedded cluster, with an engine on it.
type rig struct {
	t       *testing.T
	box     *sandbox.Sandbox
	cluster *kafka.Cluster
	reader  *kafka.Reader
	dir     string
	// internal are the internal topics that the operator names.
	internal []string

	mu       sync.Mutex
	requests map[int16]int
}

func newRig(t *testing.T, scenario string) *rig {
	t.Helper()
	r := &rig{t: t, dir: t.TempDir(), requests: map[int16]int{}}
	var err error
	r.box, err = sandbox.Start(t.Context(), sandbox.Options{Scenario: scenario, Records: 300, SessionTimeout: 500 * time.Millisecond, Dir: t.TempDir(), Instances: 1})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := r.box.Close(); err != nil {
			t.Errorf("close sandbox: %v", err)
		}
	})
	r.cluster, err = kafka.Dial(t.Context(), kafka.ClientConfig{Bootstrap: r.box.Bootstrap()}, kafka.Options{OnRequest: func(key int16) {
		r.mu.Lock()
		defer r.mu.Unlock()
		r.requests[key]++
	}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(r.cluster.Close)
	r.reader = r.cluster.Reader()
	return r
}

func (r *rig) hints() discovery.Hints {
	return discovery.Hints{Inputs: r.box.Inputs(), Internal: r.internal}
}

func (r *rig) discover() discovery.Inventory {
	r.t.Helper()
	d := discovery.Discoverer{Reader: r.reader, Now: time.Now}
	inv, err := d.Discover(r.t.Context(), r.box.Application(), r.hints(), nil)
	if err != nil {
		r.t.Fatal(err)
	}
	return inv
}

func (r *rig) plan(change func(*recovery.Request)) plans.Plan {
	r.t.Helper()
	req := recovery.Request{Application: r.box.Application(), Strategy: plans.Rebuild, Hints: r.hints(), EmptyWithin: 10 * time.Second, CaughtUpWithin: time.Minute}
	if change != nil {
		change(&req)
	}
	p, err := recovery.MakePlan(r.discover(), req, time.Now(), "test")
	if err != nil {
		r.t.Fatal(err)
	}
	return p
}

// Save and Load make the rig a recovery.Store.
func (r *rig) Save(name string, b []byte) error {
	return os.WriteFile(filepath.Join(r.dir, name), b, 0o600)
}

func (r *rig) Load(name string) ([]byte, error) { return os.ReadFile(filepath.Join(r.dir, name)) }

// HasHook and Perform make it a recovery.Operator.
func (*rig) HasHook(string) bool { return true }

func (r *rig) Perform(ctx context.Context, task string) (string, error) {
	switch task {
	case plans.TaskStop:
		return "", r.box.Stop(ctx)
	case plans.TaskClearState:
		return "", r.box.ClearState(ctx)
	default:
		return "", r.box.StartApp(ctx)
	}
}

// writer is the adapter as main wires it.
type writer struct{ *kafka.Writer }

func (w writer) CreateTopic(ctx context.Context, t plans.Topic) (streams.TopicID, error) {
	return w.Writer.CreateTopic(ctx, kafka.NewTopic{Name: t.Name, Partitions: t.Partitions, ReplicationFactor: t.ReplicationFactor, Configs: t.Configs})
}

func (w writer) RemoveMembers(ctx context.Context, group string, members []plans.Member) error {
	refs := make([]kafka.MemberRef, 0, len(members))
	for _, m := range members {
		refs = append(refs, kafka.MemberRef{ID: m.ID, InstanceID: m.InstanceID})
	}
	return w.Writer.RemoveMembers(ctx, group, refs)
}

// silent is an application without endpoints.
type silent struct{}

func (silent) CanQuery(bool) bool           { return false }
func (silent) HasHealth() bool              { return false }
func (silent) Health(context.Context) error { return nil }
func (silent) Query(context.Context, string, string, *int64) (recovery.Answer, error) {
	return recovery.Answer{}, nil
}

func (r *rig) ports() recovery.Ports {
	return recovery.Ports{
		Reader: r.reader, Writer: writer{r.cluster.Writer()}, Operator: r, Application: silent{},
		Store: r, Answers: recovery.NewAnswers(nil, "test", false), Now: time.Now, Poll: 20 * time.Millisecond,
	}
}

func header(p plans.Plan) recovery.Header {
	return recovery.Header{Plan: p, Approval: recovery.Approval{PlanID: p.ID}, Incident: time.Now()}
}

// crashing is a journal that keeps what it is given until the machine dies:
// after n events nothing is written and nothing is answered but an error.
type crashing struct {
	left   int
	events []recovery.Event
}

var errCrash = errors.New("the machine is gone")

func (c *crashing) Append(e recovery.Event) (recovery.Event, error) {
	if c.left == 0 {
		return e, errCrash
	}
	c.left--
	e.Seq = uint64(len(c.events) + 1)
	c.events = append(c.events, e)
	return e, nil
}

// sum is what the application's own endpoint says over all keys of a store.
func (r *rig) sum(store string) int64 {
	r.t.Helper()
	var total int64
	for _, i := range r.box.Instances() {
		var s struct {
			Sum int64 `json:"sum"`
		}
		getJSON(r.t, "http://"+i.Addr+"/sum/"+store, &s)
		total += s.Sum
	}
	return total
}

func getJSON(t *testing.T, url string, v any) {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, url, nil)
	if err != nil {
		t.Fatal(err)
	}
	client := &http.Client{Transport: &http.Transport{DisableKeepAlives: true, DialContext: (&net.Dialer{}).DialContext}}
	resp, err := client.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	if err := decode(resp.Body, v); err != nil {
		t.Fatal(err)
	}
}

func (r *rig) countsAreRight() {
	r.t.Helper()
	for _, store := range []string{"totals", "item-totals"} {
		if got, want := r.sum(store), r.box.Expected().Sum(store); got != want {
			r.t.Errorf("store %s sums to %d, the inputs hold %d", store, got, want)
		}
	}
}

func TestRebuildOnTheEmbeddedCluster(t *testing.T) {
	t.Parallel()
	for _, s := range sandbox.Scenarios() {
		t.Run(s.Name, func(t *testing.T) {
			t.Parallel()
			r := newRig(t, s.Name)
			p := r.plan(nil)
			j := &crashing{left: -1}
			x := recovery.NewExecutor(r.ports(), j, recovery.NewEventLog(), nil)
			if err := x.Begin("run", header(p)); err != nil {
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

// A machine may die after any line of its journal. Whatever was done by then,
// the run goes on from what was written and ends in the same state.
func TestCrashAtEveryJournalRecord(t *testing.T) {
	const longest = 60
	ended := false
	for n := 1; n < longest && !ended; n++ {
		t.Run(fmt.Sprintf("after %d", n), func(t *testing.T) {
			r := newRig(t, "state-lost")
			p := r.plan(func(q *recovery.Request) { q.NoStart = true })
			j := &crashing{left: n}
			x := recovery.NewExecutor(r.ports(), j, recovery.NewEventLog(), nil)
			if err := x.Begin("run", header(p)); err == nil {
				_, err = x.Execute(t.Context())
				ended = err == nil
				if err != nil && !errors.Is(err, errCrash) {
					t.Fatal(err)
				}
			}
			j.left = -1
			x = recovery.NewExecutor(r.ports(), j, recovery.NewEventLog(), j.events)
			if err := x.Resume("test"); err != nil {
				t.Fatal(err)
			}
			outcome, err := x.Execute(t.Context())
			if err != nil || outcome != recovery.OutcomeVerified {
				t.Fatalf("%s, %v: %+v", outcome, err, x.Run().Problem)
			}
			r.isReset(p)
		})
	}
	if !ended {
		t.Errorf("a run has more than %d events: the test did not reach its end", longest)
	}
}

// isReset checks the cluster against the plan.
func (r *rig) isReset(p plans.Plan) {
	r.t.Helper()
	commits, err := r.reader.Commits(r.t.Context(), r.box.Application(), true)
	if err != nil {
		r.t.Fatal(err)
	}
	got := map[string]int64{}
	for tp, c := range commits.Offsets {
		got[tp.String()] = c.Offset
	}
	want := map[string]int64{}
	for _, s := range p.Steps {
		for _, c := range s.Offsets {
			want[c.TopicPartition().String()] = *c.After
		}
	}
	if diff := cmp.Diff(want, got); diff != "" {
		r.t.Errorf("committed offsets: %s", diff)
	}
	topics, err := r.reader.Topics(r.t.Context())
	if err != nil {
		r.t.Fatal(err)
	}
	for _, t := range topics {
		if _, internal := streams.ParseInternal(r.box.Application(), t.Name); internal {
			r.t.Errorf("%s is still there", t.Name)
		}
	}
}
