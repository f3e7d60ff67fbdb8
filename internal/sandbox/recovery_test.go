package sandbox

import (
	"slices"
	"strings"
	"testing"
	"time"

	"resurge/streams"
)

func TestCountsAreExactAfterRun(t *testing.T) {
	inBubble(t, Options{Scenario: "nothing-wrong"}, func(r *rig) {
		t := r.t
		r.exact()
		r.must(r.Produce(t.Context(), 500))
		r.caughtUp()
		r.exact()
	})
}

func TestGracefulRestart(t *testing.T) {
	inBubble(t, Options{Scenario: "nothing-wrong"}, func(r *rig) {
		t := r.t
		ctx := t.Context()
		r.must(r.Stop(ctx), r.Produce(ctx, 700), r.StartApp(ctx))
		r.caughtUp()
		r.exact()
	})
}

// At-least-once: what was processed and not committed is processed again, on top
// of its own changelog entries. Never is anything missing.
func TestCrashNeverLosesCounts(t *testing.T) {
	inBubble(t, Options{Scenario: "nothing-wrong"}, func(r *rig) {
		t := r.t
		ctx := t.Context()
		for range 3 {
			before := r.cluster.PartitionInfo(streams.ChangelogTopic(r.Application(), storeTotals), 0).HighWatermark
			r.must(r.Produce(ctx, 2000))
			r.must(r.wait(ctx, "wait for some progress", func() (bool, error) {
				return r.cluster.PartitionInfo(streams.ChangelogTopic(r.Application(), storeTotals), 0).HighWatermark > before, nil
			}))
			r.must(r.Kill(), r.StartApp(ctx))
			r.caughtUp()
		}
		want, got := r.Expected(), r.state()
		for store, m := range want.Counts {
			for k, n := range m {
				if got.Counts[store][k] < n {
					t.Errorf("%s of %s: %d, inputs have %d", store, k, got.Counts[store][k], n)
				}
			}
		}
		for k, w := range want.Windows[storePerMinute] {
			for at, n := range w {
				if got.Windows[storePerMinute][k][at] < n {
					t.Errorf("%s of %s at %d: %d, inputs have %d", storePerMinute, k, at, got.Windows[storePerMinute][k][at], n)
				}
			}
		}
	})
}

func TestWipedStateIsRestoredFromChangelogs(t *testing.T) {
	inBubble(t, Options{Scenario: "nothing-wrong"}, func(r *rig) {
		t := r.t
		ctx := t.Context()
		r.must(r.Stop(ctx), r.ClearState(ctx))
		for _, in := range r.Instances() {
			if left := files(t, in.StateDir); len(left) > 0 {
				t.Errorf("%s still has %v", in.Name, left)
			}
		}
		r.must(r.StartApp(ctx))
		r.caughtUp()
		r.exact()
		r.must(r.Produce(ctx, 300))
		r.caughtUp()
		r.exact()
	})
}

// The trap of facts section 5: offsets at 0 and changelogs deleted, but the state
// directories kept. The checkpoint lies beyond the new changelog, the old
// contents count as restored, and everything is counted twice.
func TestResetWithStateKeptDoublesEveryCount(t *testing.T) {
	inBubble(t, Options{Scenario: "nothing-wrong"}, func(r *rig) {
		t := r.t
		ctx := t.Context()
		r.must(r.Stop(ctx))
		r.empty()
		r.reset()
		r.must(r.StartApp(ctx))
		r.caughtUp()
		r.doubled()
	})
}

func TestResetWithStateClearedIsExact(t *testing.T) {
	for _, scenario := range []string{"nothing-wrong", "state-lost", "bad-deploy", "internal-topic-deleted", "still-running", "prefix-twin"} {
		t.Run(scenario, func(t *testing.T) {
			inBubble(t, Options{Scenario: scenario}, func(r *rig) {
				t := r.t
				ctx := t.Context()
				r.must(r.Stop(ctx))
				r.empty()
				r.reset()
				r.must(r.ClearState(ctx), r.StartApp(ctx))
				r.caughtUp()
				r.exact()
			})
		})
	}
}

// A changelog that is deleted while state and offsets stay is not noticed at all.
func TestDeletedChangelogIsSilentWhileLocalStateIsThere(t *testing.T) {
	inBubble(t, Options{Scenario: "nothing-wrong"}, func(r *rig) {
		t := r.t
		ctx := t.Context()
		r.must(r.Stop(ctx))
		r.empty()
		_, err := r.adm.DeleteTopics(ctx, streams.ChangelogTopic(r.Application(), storeTotals))
		r.must(err, r.StartApp(ctx))
		r.caughtUp()
		r.exact()
	})
}

// Without local state the same deletion loses the store.
func TestDeletedChangelogLosesTheStoreWithoutLocalState(t *testing.T) {
	inBubble(t, Options{Scenario: "state-lost"}, func(r *rig) {
		t := r.t
		r.must(r.StartApp(t.Context()))
		r.caughtUp()
		want, got := r.Expected(), r.state()
		lost, kept := got.Sum(storeTotals), got.Sum(storeItems)
		if lost == 0 || lost > want.Sum(storeTotals)/10 {
			t.Errorf("totals add up to %d of %d, want the last orders only", lost, want.Sum(storeTotals))
		}
		if kept < want.Sum(storeItems) {
			t.Errorf("item totals add up to %d, inputs have %d", kept, want.Sum(storeItems))
		}
	})
}

func TestLatestResetSkipsInputWithoutCommits(t *testing.T) {
	inBubble(t, Options{Scenario: "nothing-wrong", OffsetReset: "latest"}, func(r *rig) {
		t := r.t
		ctx := t.Context()
		r.must(r.Stop(ctx))
		r.empty()
		deleted, err := r.adm.DeleteTopics(ctx, r.ownInternal()...)
		r.must(err, deleted.Error())
		_, err = r.adm.DeleteGroups(ctx, r.Application())
		r.must(err, r.ClearState(ctx))
		r.must(r.StartApp(ctx), r.settled(ctx, r.app), r.Produce(ctx, 40))
		r.must(r.wait(ctx, "wait for the new orders to be counted", func() (bool, error) {
			return r.state().Sum(storeTotals) >= 40, r.app.failure()
		}))
		if got := r.state().Sum(storeTotals); got != 40 {
			t.Errorf("counted %d orders, want the 40 after the start only", got)
		}
	})
}

func TestWrongPartitionCountOfInternalTopicStopsTheApplication(t *testing.T) {
	inBubble(t, Options{Scenario: "state-lost"}, func(r *rig) {
		t := r.t
		ctx := t.Context()
		r.must(r.cluster.CreateTopic(streams.ChangelogTopic(r.Application(), storeTotals), 6, nil), r.StartApp(ctx))
		if err := r.WaitCaughtUp(ctx); err == nil {
			t.Error("the application caught up")
		}
		r.must(r.wait(ctx, "wait for all to fail", func() (bool, error) {
			for _, in := range r.Instances() {
				if in.State != stateError {
					return false, nil
				}
			}
			return true, nil
		}))
		// The leader knows why; the others are told to shut down.
		want := "existing internal topic order-processor-totals-changelog has invalid partitions: expected: 3; actual: 6"
		if !slices.ContainsFunc(r.Instances(), func(in Instance) bool { return strings.Contains(in.Err.Error(), want) }) {
			t.Errorf("no instance says %q", want)
		}
	})
}

func TestStoppedApplicationStaysInItsGroupUntilTheSessionTimeout(t *testing.T) {
	inBubble(t, Options{Scenario: "nothing-wrong", SessionTimeout: 45 * time.Second}, func(r *rig) {
		t := r.t
		ctx := t.Context()
		stopped := time.Now()
		r.must(r.Stop(ctx))
		if g := r.cluster.GroupInfo(r.Application()); len(g.Members) != 2 {
			t.Fatalf("%d members right after the close, want 2", len(g.Members))
		}
		r.empty()
		if took := time.Since(stopped); took < 37*time.Second || took > 46*time.Second {
			t.Errorf("group was empty after %s, want the session timeout of 45s", took)
		}
	})
}
