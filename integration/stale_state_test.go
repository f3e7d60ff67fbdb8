//go:build integration

package integration

import (
	"testing"
	"time"
)

// TestB29_StateDirectoryNotCleared lets the operator say that the state directory is cleared when it is not. An
// at-least-once application then counts every order twice, and nothing in its log says so: the run must not end verified.
func TestB29_StateDirectoryNotCleared(t *testing.T) {
	t.Parallel()
	for _, protocol := range []string{classic, streamsGroup} {
		t.Run(protocol, func(t *testing.T) {
			t.Parallel()
			const n = 10_000
			a := newApp(t, sharedBroker(t), appOptions{id: "stale" + protocol, protocol: protocol})
			a.loadAndStop(n)
			op := a.operate(t)
			op.leaveState = true
			c := newConsole(t, a.b.addr, op.config(t))
			p := c.plan(t, a.opts.id, "--to-earliest", "--input-topics", a.inputs())
			r := c.execute(t, p).requireCode(t, exitUnverified)
			events := decodeEvents(t, r)
			t.Logf("after %v: %s", r.took.Round(100*time.Millisecond), events[len(events)-1].Message)
			requireDoubled(t, a, n)
		})
	}
}

// requireDoubled proves that the danger was real.
func requireDoubled(t *testing.T, a *app, n int64) {
	t.Helper()
	if a.proc == nil || a.proc.exited() {
		a.start() // resurge may have stopped before the start task
	}
	a.waitRunning()
	a.eventually(time.Minute, "has counted every order twice", func() (bool, string) {
		found, err := a.queryAll("counts")
		if err != nil {
			return false, err.Error()
		}
		return found.sum() == 2*n, found.String()
	})
}
