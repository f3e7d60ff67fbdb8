package sandbox

import (
	"context"
	"errors"
	"net"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"resurge/streams"
)

// facts are what an operator sees of a situation.
type facts struct {
	State    string // of the group
	Members  int
	Missing  []string // internal topics
	Lag      bool     // orders wait
	OnDisk   bool     // state directories exist
	Exact    bool     // the application's own state, where it runs, is right
	InFlight bool     // repartition records wait
}

func TestScenariosLeaveTheirSituation(t *testing.T) {
	totals, byItem := streams.ChangelogTopic(applicationID, storeTotals), streams.RepartitionTopic(applicationID, byItem)
	want := map[string]facts{
		"state-lost":             {State: "Empty", Missing: []string{totals}, Lag: true},
		"bad-deploy":             {State: "Empty", Lag: true, OnDisk: true},
		"internal-topic-deleted": {State: "Empty", Missing: []string{byItem}, Lag: true, OnDisk: true},
		"still-running":          {State: "Stable", Members: 2, OnDisk: true},
		"prefix-twin":            {State: "Empty", Missing: []string{totals}, Lag: true},
		"nothing-wrong":          {State: "Stable", Members: 2, OnDisk: true, Exact: true},
	}
	for _, sc := range Scenarios() {
		t.Run(sc.Name, func(t *testing.T) {
			inBubble(t, Options{Scenario: sc.Name}, func(r *rig) {
				t := r.t
				if d := cmp.Diff(want[sc.Name], r.facts()); d != "" {
					t.Errorf("situation (-want +got):\n%s", d)
				}
				if got := r.Expected().Sum(storeTotals); got != testRecords {
					t.Errorf("%d orders were produced, want %d", got, testRecords)
				}
				for _, in := range r.Instances() {
					if in.Addr == "" || in.AppDir == "" {
						t.Errorf("instance without address or directory: %+v", in)
					}
				}
			})
		})
	}
}

func (r *rig) facts() facts {
	g := r.cluster.GroupInfo(r.Application())
	f := facts{State: g.State, Members: len(g.Members)}
	there := r.ownInternal()
	for _, it := range r.app.top.internalTopics(inputPartitions) {
		if !slices.Contains(there, it.name) {
			f.Missing = append(f.Missing, it.name)
		}
	}
	for _, topic := range r.Inputs() {
		for _, p := range r.cluster.PartitionInfos(topic) {
			f.Lag = f.Lag || !passed(g, topic, p)
		}
	}
	for _, p := range r.cluster.PartitionInfos(r.app.top.repartition()) {
		f.InFlight = f.InFlight || !passed(g, r.app.top.repartition(), p)
	}
	for _, in := range r.Instances() {
		f.OnDisk = f.OnDisk || len(files(r.t, in.AppDir)) > 0
	}
	f.Exact = cmp.Equal(r.Expected(), r.state())
	return f
}

func TestBadDeployCountsTwice(t *testing.T) {
	for _, scenario := range []string{"bad-deploy", "still-running"} {
		inBubble(t, Options{Scenario: scenario}, func(r *rig) {
			t := r.t
			r.must(r.StartApp(t.Context())) // the right build, on wrong state
			r.caughtUp()
			want := r.Expected()
			if got, right := r.state().Sum(storeTotals), want.Sum(storeTotals); got != right+right*30/100 {
				t.Errorf("%s: %d orders counted of %d, want 30 %% too many", scenario, got, right)
			}
		})
	}
}

func TestTwinRunsOnUntouched(t *testing.T) {
	inBubble(t, Options{Scenario: "prefix-twin"}, func(r *rig) {
		t := r.t
		g := r.cluster.GroupInfo(r.twin.id)
		if g.State != "Stable" || len(g.Members) != 1 {
			t.Errorf("twin's group is %s with %d members", g.State, len(g.Members))
		}
		if d := cmp.Diff(r.Expected(), stateOf(r.twin)); d != "" {
			t.Errorf("twin's state (-want +got):\n%s", clip(d))
		}
		offsets := r.fetchOffsets(pricingGroup)
		if len(offsets[lookalikeTopic]) != 2 {
			t.Errorf("group %s has commits on %v", pricingGroup, offsets)
		}
		for _, topic := range []string{
			"order-processor-v2-totals-changelog", "order-processor-v2-per-minute-changelog",
			"order-processor-v2-by-item-repartition", "order-processor-v2-item-totals-changelog", lookalikeTopic,
		} {
			if r.cluster.TopicInfo(topic) == nil {
				t.Errorf("topic %s is missing", topic)
			}
		}
	})
}

func TestScenarioNames(t *testing.T) {
	got := make([]string, 0, 6)
	for _, sc := range Scenarios() {
		if sc.Title == "" || sc.Finding == "" || strings.Contains(sc.Title, "\n") {
			t.Errorf("%s: title %q, finding %q", sc.Name, sc.Title, sc.Finding)
		}
		got = append(got, sc.Name)
	}
	want := []string{"state-lost", "bad-deploy", "internal-topic-deleted", "still-running", "prefix-twin", "nothing-wrong"}
	if !slices.Equal(got, want) || got[0] != DefaultScenario {
		t.Errorf("scenarios %v, want %v", got, want)
	}
	if _, err := Start(t.Context(), Options{Scenario: "no-such"}); err == nil || !strings.Contains(err.Error(), "no-such") {
		t.Errorf("unknown scenario: %v", err)
	}
}

func TestOperatorTasksAreIdempotent(t *testing.T) {
	inBubble(t, Options{Scenario: "still-running"}, func(r *rig) {
		t := r.t
		ctx := t.Context()
		if err := r.ClearState(ctx); err == nil || !strings.Contains(err.Error(), "running") {
			t.Errorf("clearing the state of a running application: %v", err)
		}
		r.must(r.Stop(ctx), r.Stop(ctx), r.Kill())
		for _, in := range r.Instances() {
			if in.State != "NOT_RUNNING" {
				t.Errorf("%s is %s after the stop", in.Name, in.State)
			}
			for _, task := range files(t, in.AppDir) {
				if strings.HasSuffix(task, "store.log") && !slices.Contains(files(t, in.AppDir), strings.SplitN(task, "/", 2)[0]+"/.checkpoint") {
					t.Errorf("%s: no checkpoint beside %s", in.Name, task)
				}
			}
		}
		r.must(r.ClearState(ctx), r.ClearState(ctx), r.StartApp(ctx), r.StartApp(ctx))
		r.caughtUp()
		r.must(r.Close(), r.Close())
	})
}

// Start gives up in order when its context ends or the network fails.
func TestStartFails(t *testing.T) {
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
	defer cancel()
	if _, err := Start(ctx, Options{Dir: t.TempDir()}); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("start with an ended context: %v", err)
	}
	refuse := errors.New("no port to be had")
	listen := func(string, string) (net.Listener, error) { return nil, refuse }
	if _, err := Start(t.Context(), Options{Dir: t.TempDir(), Listen: listen}); !errors.Is(err, refuse) {
		t.Errorf("start without a port: %v", err)
	}
}

// The one test on real sockets and the real clock.
func TestStartOnSockets(t *testing.T) {
	logs := t.TempDir()
	s, err := Start(t.Context(), Options{Records: 2000, LogDir: logs})
	if err != nil {
		t.Fatal(err)
	}
	dir := s.tempDir
	if _, err := net.ResolveTCPAddr("tcp", s.Instances()[0].Addr); err != nil {
		t.Error(err)
	}
	if err := s.Close(); err != nil {
		t.Error(err)
	}
	if len(files(t, logs)) == 0 {
		t.Error("the cluster wrote nothing to its log directory")
	}
	if left := files(t, dir); len(left) > 0 {
		t.Errorf("temporary directory keeps %v", left)
	}
}

func BenchmarkStart(b *testing.B) {
	for _, sc := range Scenarios() {
		b.Run(sc.Name, func(b *testing.B) {
			for b.Loop() {
				s, err := Start(b.Context(), Options{Scenario: sc.Name, Dir: b.TempDir()})
				if err != nil {
					b.Fatal(err)
				}
				b.StopTimer()
				if err := s.Close(); err != nil {
					b.Fatal(err)
				}
				b.StartTimer()
			}
		})
	}
}
