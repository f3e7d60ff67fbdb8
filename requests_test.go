package main

import (
	"maps"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/twmb/franz-go/pkg/kmsg"

	"resurge/discovery"
	"resurge/internal/crowd"
	"resurge/kafka"
	"resurge/recovery"
)

// requests counts what is sent, by the name of the request.
type requests struct {
	mu sync.Mutex
	n  map[string]int // guarded by mu
}

func (r *requests) sent(key int16) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.n[kmsg.NameForKey(key)]++
}

// take returns what was sent since the last time.
func (r *requests) take() map[string]int {
	r.mu.Lock()
	defer r.mu.Unlock()
	out := maps.Clone(r.n)
	clear(r.n)
	return out
}

// looks sends what each view sends, on a cluster of the given size.
func looks(t *testing.T, size crowd.Size) map[string]map[string]int {
	t.Helper()
	c, err := crowd.Start(t.Context(), crowd.Options{Size: size})
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	r := requests{n: map[string]int{}}
	cluster, err := kafka.Dial(t.Context(), kafka.ClientConfig{Bootstrap: c.Bootstrap()}, kafka.Options{OnRequest: r.sent})
	if err != nil {
		t.Fatal(err)
	}
	defer cluster.Close()
	d := discovery.Discoverer{Reader: cluster.Reader(), Now: now}
	out := map[string]map[string]int{}
	for _, view := range []struct {
		name string
		look func() error
	}{
		{"warm up", func() error { _, err := d.Discover(t.Context(), c.Application(), discovery.Hints{}, nil); return err }}, // finds coordinators
		{"first rows", func() error { _, err := d.Glance(t.Context()); return err }},
		{"applications", func() error { _, err := d.Survey(t.Context()); return err }},
		{"groups", func() error { _, err := d.CrowdSurvey(t.Context()); return err }},
		{"page", func() error {
			inv, err := d.Discover(t.Context(), c.Application(), discovery.Hints{}, nil)
			recovery.Assess(inv)
			return err
		}},
		{"followed", func() error { _, err := d.Explore(t.Context(), c.Application()); return err }},
	} {
		r.take()
		if err := view.look(); err != nil {
			t.Fatalf("%s: %v", view.name, err)
		}
		out[view.name] = r.take()
	}
	return out
}

// TestB12B14_TopicsThatAreNotLookedAtCostNoRequest: the same views send the same
// requests on a cluster with four times as many topics that nobody looks at.
func TestB12B14_TopicsThatAreNotLookedAtCostNoRequest(t *testing.T) {
	few := crowd.Size{Brokers: 3, Topics: 160, Partitions: 900, Groups: 30, Applications: 8, Orphans: 2}
	many := few
	many.Topics, many.Partitions = 640, 2_900
	a, b := looks(t, few), looks(t, many)
	delete(a, "warm up")
	delete(b, "warm up")
	if d := cmp.Diff(a, b); d != "" {
		t.Errorf("requests (-few topics +many):\n%s", d)
	}
	for view, limit := range map[string]int{"first rows": 16, "applications": 40, "groups": 40, "page": 80, "followed": 40} {
		total := 0
		for _, n := range a[view] {
			total += n
		}
		if total == 0 || total > limit {
			t.Errorf("%s: %d requests, at most %d: %v", view, total, limit, a[view])
		}
	}
}
