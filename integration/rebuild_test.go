//go:build integration

package integration

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// TestRebuild loses the state and one changelog of an application and has resurge bring every count back.
func TestRebuild(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name, protocol, guarantee string
		orders                    int
	}{
		{"classicalo", classic, atLeastOnce, 200_000},
		{"classiceos", classic, exactlyOnce, 20_000},
		{"streamseos", streamsGroup, exactlyOnce, 20_000},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			a := newApp(t, sharedBroker(t), appOptions{
				id: "rebuild" + c.name, protocol: c.protocol, guarantee: c.guarantee, flags: map[string]string{"threads": "2", "commit-interval-ms": "1000"},
			})
			want := a.loadAndStop(c.orders)
			a.loseState(t)
			rebuild(t, a, want)
		})
	}
}

// TestB2_TableSourceNamedLikeAChangelog has an input topic that serves as a changelog (optimised topology) and is even
// named like one: nothing may delete it.
func TestB2_TableSourceNamedLikeAChangelog(t *testing.T) {
	t.Parallel()
	a := newApp(t, sharedBroker(t), appOptions{
		id: "shop", protocol: streamsGroup, customers: "shop-customers-changelog", flags: map[string]string{"optimize": "true"},
	})
	table := func() map[string]topicSnapshot {
		return a.b.snapshotOf(t, func(name string) bool { return name == a.opts.customers }).Topics
	}
	want := a.loadAndStop(5_000)
	before := table()
	a.loseState(t)
	rebuild(t, a, want)
	if d := cmp.Diff(before, table()); d != "" {
		t.Errorf("the table's source topic has changed (-before +after):\n%s", d)
	}
}

// loadAndStop has the application count n orders, stops it, and returns what every store held and has to hold again.
func (a *app) loadAndStop(n int) expectation {
	a.t.Helper()
	want := a.load(n)
	a.stop()
	return want
}

// load has the application count n orders and leaves it running.
func (a *app) load(n int) expectation {
	a.t.Helper()
	o := newOrders(n)
	a.produce(o, 0, n)
	a.start()
	want := o.expect(n)
	a.waitFor(2*time.Minute, want)
	return want
}

// loseState is the disaster: the state directory and one changelog are gone.
func (a *app) loseState(t *testing.T) {
	t.Helper()
	a.wipeState()
	a.b.deleteTopic(t, a.opts.id+"-counts-changelog")
}

// inputs is the value of --input-topics.
func (a *app) inputs() string { return a.opts.orders + "," + a.opts.customers }

// rebuild plans and runs a rebuild with hooks, and requires the state to be right at the moment resurge says so.
func rebuild(t *testing.T, a *app, want expectation) {
	t.Helper()
	op := a.operate(t)
	c := newConsole(t, a.b.addr, op.config(t))
	p := c.plan(t, a.opts.id, "--to-earliest", "--input-topics", a.inputs())
	r := c.execute(t, p).requireCode(t, exitVerified)
	a.requireCounts(t, want)
	requireWholeRun(t, r, p)
	calls := op.called()
	if len(calls) > 0 && calls[0] == "stop" { // skipped when the group was empty already
		calls = calls[1:]
	}
	if d := cmp.Diff([]string{"clear_state", "start"}, calls); d != "" {
		t.Errorf("hooks (-want +got):\n%s", d)
	}
	t.Logf("recovered in %v", r.took.Round(100*time.Millisecond))
}

// requireWholeRun requires numbered events from run_started on, and every step started or skipped.
func requireWholeRun(t *testing.T, r result, p plan) {
	t.Helper()
	events := decodeEvents(t, r)
	if len(events) == 0 || events[0].Type != "run_started" || events[0].Run == "" {
		t.Fatalf("the first event is no run_started with the run's ID: %v", r)
	}
	for _, step := range p.Steps {
		if !slices.ContainsFunc(events, func(e event) bool { return e.Step == step.ID && strings.HasPrefix(e.Type, "step_") }) {
			t.Errorf("no event of step %s (%s)", step.ID, step.Title)
		}
	}
}
