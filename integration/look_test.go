//go:build integration

package integration

import (
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kgo"
)

// TestHangingTransaction leaves a transaction of the application open, as an instance does that dies in one.
func TestHangingTransaction(t *testing.T) {
	t.Parallel()
	b := sharedBroker(t)
	const app, input, store = "hanging", "is.hanging", "hanging-KSTREAM-AGGREGATE-STATE-STORE-0000000001-changelog"
	b.createTopics(t, 1, nil, input)
	b.createTopics(t, 1, map[string]*string{"cleanup.policy": new("compact"), "message.timestamp.type": new("CreateTime")}, store)
	b.fill(t, input, 3)
	b.commit(t, app, input, 3)
	id := app + "-6f1b7f9e-3d1e-4a2b-9c57-0123456789ab-1"
	cl, err := kgo.NewClient(kgo.SeedBrokers(b.addr), kgo.TransactionalID(id), kgo.TransactionTimeout(2*time.Minute), kgo.DisableClientMetrics())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(cl.Close)
	if err := cl.BeginTransaction(); err != nil {
		t.Fatal(err)
	}
	if err := cl.ProduceSync(t.Context(), &kgo.Record{Topic: store, Key: []byte("k"), Value: []byte("v")}).FirstErr(); err != nil {
		t.Fatal(err)
	}
	c := newConsole(t, b.addr, "")
	open := c.explore(t, app)
	f, ok := open.finding("open transaction")
	if !ok || !strings.Contains(f.Detail, id) {
		t.Errorf("no finding about %s: %+v", id, open.Findings)
	}
	if f.Advice == "" {
		t.Errorf("the finding does not say what to do: %+v", f)
	}
	for _, topic := range open.Topics {
		if p := topic.Partitions[0]; topic.Name == store && (p.Stable == nil || p.End == nil || *p.Stable != 0 || *p.End != 1) {
			t.Errorf("last stable offset %v, end %v; want 0 and 1", p.Stable, p.End)
		}
	}
	if err := cl.EndTransaction(t.Context(), kgo.TryAbort); err != nil {
		t.Fatal(err)
	}
	eventually(t, 20*time.Second, "the transaction is over", func() (bool, string) {
		f, ok := c.explore(t, app).finding("open transaction")
		return !ok, f.Detail
	})
}

// TestSnapshots compares a group before and after: commits that moved, records that came, a topic made anew.
func TestSnapshots(t *testing.T) { //nolint:tparallel // its subtests share what it set up, in order
	t.Parallel()
	b := sharedBroker(t)
	const app, input, other, store = "snapped", "is.snapped", "is.also.snapped", "snapped-counts-changelog"
	b.createTopics(t, 2, nil, input, other)
	b.createTopics(t, 2, map[string]*string{"cleanup.policy": new("compact")}, store)
	b.fill(t, input, 30)
	b.commit(t, app, input, 4, 9)
	b.commit(t, app, other, 0, 0)
	c := newConsole(t, b.addr, "")
	dir := t.TempDir()
	before, after := filepath.Join(dir, "before.json"), filepath.Join(dir, "after.json")
	c.run(t, "snapshot", app, "-o", before).requireCode(t, exitVerified)
	t.Run("NothingMoved", func(t *testing.T) {
		c.run(t, "snapshot", app, "-o", after).requireCode(t, exitVerified)
		r := c.run(t, "diff", before, after).requireCode(t, exitVerified)
		if strings.Contains(r.stdout, input) {
			t.Errorf("nothing moved, and yet: %v", r)
		}
	})
	t.Run("NeverOverwritten", func(t *testing.T) {
		c.run(t, "snapshot", app, "-o", after).requireCode(t, exitUsage).requireSays(t, after)
	})
	t.Run("B72_Moved", func(t *testing.T) {
		b.commit(t, app, input, 5, 7)
		b.fill(t, input, 10)
		b.deleteTopic(t, other)
		b.createTopics(t, 2, nil, other)
		b.commit(t, app, other, 0, 0) // those on the deleted topic went with it
		c.run(t, "snapshot", app, "-o", after, "--force").requireCode(t, exitVerified)
		r := c.run(t, "diff", before, after).requireCode(t, exitVerified)
		r.requireSays(t, input, other, "generation")
		for _, moved := range []string{"4", "5", "9", "7"} {
			if !strings.Contains(r.stdout, moved) {
				t.Errorf("offset %s is not shown: %v", moved, r)
			}
		}
	})
	t.Run("Broken", func(t *testing.T) {
		c.run(t, "diff", before, filepath.Join(dir, "missing.json")).requireCode(t, exitUsage).requireSays(t, "missing.json")
	})
}

// TestWatch follows a group that reads.
func TestWatch(t *testing.T) {
	t.Parallel()
	b := sharedBroker(t)
	const group, input = "watched", "is.watched"
	b.createTopics(t, 1, nil, input)
	b.fill(t, input, 200)
	b.commit(t, group, input, 10)
	moved := make(chan struct{})
	go func() {
		defer close(moved)
		for at := int64(20); at <= 200 && t.Context().Err() == nil; at += 10 {
			offsets := kadm.Offsets{}
			offsets.Add(kadm.Offset{Topic: input, At: at, LeaderEpoch: -1})
			if err := b.admin.CommitAllOffsets(t.Context(), group, offsets); err != nil && t.Context().Err() == nil {
				t.Errorf("commit %d: %v", at, err)
			}
			select {
			case <-t.Context().Done():
			case <-time.After(200 * time.Millisecond):
			}
		}
	}()
	r := newConsole(t, b.addr, "").run(t, "watch", group, "--interval", "1s", "--count", "3", "--output", "json").requireCode(t, exitVerified)
	<-moved
	lines := strings.Split(strings.TrimSpace(r.stdout), "\n")
	if len(lines) != 3 {
		t.Fatalf("%d looks, want 3: %v", len(lines), r)
	}
	if !strings.Contains(lines[2], `"consumed_per_second":`) || strings.Contains(lines[2], `"consumed_per_second":null`) {
		t.Errorf("no pace in the third look: %s", lines[2])
	}
}
