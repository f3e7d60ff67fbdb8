//go:build integration

package integration

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestB1_PrefixTwin recovers an application whose ID is the beginning of a running one's. Kafka's tool deletes the
// topics of both.
func TestB1_PrefixTwin(t *testing.T) { //nolint:tparallel // its subtests share what it set up, in order
	t.Parallel()
	b := sharedBroker(t)
	a := newApp(t, b, appOptions{id: "orders"})
	twin := newApp(t, b, appOptions{id: "orders-v2", protocol: streamsGroup})
	wantTwin := twin.load(1_000)
	want := a.loadAndStop(5_000)
	before, members := twin.quietSnapshot(t), b.members(t, twin.opts.id, streamsGroup)
	a.loseState(t)
	t.Run("DescribeTellsThemApart", func(t *testing.T) { requireRoles(t, a, twin) })
	rebuild(t, a, want)
	twin.requireUnchanged(t, before)
	twin.requireCounts(t, wantTwin)
	if d := cmp.Diff(members, b.members(t, twin.opts.id, streamsGroup)); d != "" {
		t.Errorf("members of the twin (-before +after):\n%s", d)
	}
}

// requireRoles compares what resurge says of the application's topics with what they are.
func requireRoles(t *testing.T, a, twin *app) {
	t.Helper()
	got := map[string]string{}
	for _, topic := range newConsole(t, a.b.addr, "").describe(t, a.opts.id).Topics {
		if topic.Owned {
			topic.Role += ", owned"
		}
		got[topic.Name] = topic.Role
		if topic.Owned && strings.HasPrefix(topic.Name, twin.opts.id+"-") {
			t.Errorf("topic %s of the twin is said to be owned", topic.Name)
		}
		if topic.Role != "lookalike" && len(topic.Partitions) == 0 {
			t.Errorf("topic %s has no partitions", topic.Name)
		}
	}
	want := map[string]string{a.opts.orders: "input", a.opts.customers: "input"}
	for _, name := range a.b.internalTopics(t, a.opts.id) {
		switch {
		case twin.owns(name):
			want[name] = "lookalike"
		case strings.HasSuffix(name, "-changelog"):
			want[name] = "changelog, owned"
		default:
			want[name] = "repartition, owned"
		}
	}
	for name, role := range want {
		// Inputs may be owned or not: they are never deleted.
		if have := got[name]; have != role && strings.TrimSuffix(have, ", owned") != role {
			t.Errorf("topic %s is said to be %q, want %q", name, have, role)
		}
	}
}
