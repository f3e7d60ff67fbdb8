//go:build integration

package integration

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

// Whatever an operator asks for, an application that runs loses nothing. Kafka's own tool, on the same broker, evicts
// members in a dry run and deletes the topics of a running streams group.
func TestRunning(t *testing.T) {
	t.Parallel()
	for _, protocol := range []string{classic, streamsGroup} {
		t.Run(protocol, func(t *testing.T) {
			t.Parallel()
			a := newApp(t, sharedBroker(t), appOptions{id: "running" + protocol, protocol: protocol})
			want := a.load(2_000)
			c := newConsole(t, a.b.addr, "")
			before, members := a.quietSnapshot(t), a.b.members(t, a.opts.id, protocol)
			untouched := func(t *testing.T) {
				t.Helper()
				a.requireUnchanged(t, before)
				if d := cmp.Diff(members, a.b.members(t, a.opts.id, protocol)); d != "" {
					t.Errorf("members (-before +after):\n%s", d)
				}
				a.requireCounts(t, want)
			}
			options := []string{"--to-earliest", "--input-topics", a.inputs(), "--no-stop", "--empty-within", "2s"}
			p := c.plan(t, a.opts.id, options...)
			t.Run("B22_B23_PlanWorksAndChangesNothing", func(t *testing.T) {
				c.plan(t, a.opts.id, append(options, "--remove-members")...)
				untouched(t)
			})
			t.Run("B4_B42_RunIsRefusedAndNamesTheMembers", func(t *testing.T) {
				r := c.execute(t, p, "--ack", "all").requireCode(t, exitActive)
				for _, m := range members {
					r.requireSays(t, m.ClientID)
				}
				untouched(t)
			})
			t.Run("WithoutInputTopics", func(t *testing.T) {
				// The tool deletes all internal topics of a running streams group here, and exits 0.
				file := t.TempDir() + "/plan.json"
				r := c.run(t, "plan", a.opts.id, "--strategy", "rebuild", "--no-stop", "--empty-within", "2s", "--out", file, "--output", "json")
				if r.code == exitVerified {
					p := decodePlan(t, r, file)
					c.execute(t, p, "--ack", "all").requireCode(t, exitActive)
				}
				untouched(t)
			})
		})
	}
}

// TestRunning_RemovedMembersComeBack removes the members of an application that nobody stopped: it joins again at once.
// The tool goes on, and queries answer partial sums while outputs are written twice.
func TestRunning_RemovedMembersComeBack(t *testing.T) {
	t.Parallel()
	a := newApp(t, sharedBroker(t), appOptions{id: "comesback", guarantee: exactlyOnce})
	want := a.load(2_000)
	c := newConsole(t, a.b.addr, "")
	before := a.quietSnapshot(t)
	p := c.plan(t, a.opts.id, "--to-earliest", "--input-topics", a.inputs(), "--no-stop", "--remove-members", "--empty-within", "10s")
	c.execute(t, p, "--ack", "all").requireCode(t, exitActive)
	a.waitRunning()
	a.requireUnchanged(t, before)
	a.requireCounts(t, want)
}
