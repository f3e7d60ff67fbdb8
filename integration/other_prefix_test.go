//go:build integration

package integration

import (
	"os"
	"strings"
	"testing"
)

// TestOtherInternalPrefix has an application whose internal topics do not begin with its ID. Kafka's tool finds none,
// moves the offsets and leaves the state, so that every count doubles.
func TestOtherInternalPrefix(t *testing.T) {
	t.Parallel()
	for _, protocol := range []string{classic, streamsGroup} {
		t.Run(protocol, func(t *testing.T) {
			t.Parallel()
			prefix := "zzz" + protocol
			a := newApp(t, sharedBroker(t), appOptions{
				id: "prefixed" + protocol, protocol: protocol, flags: map[string]string{"internal-prefix": prefix},
			})
			want := a.loadAndStop(3_000)
			a.b.waitEmpty(t, a.opts.id)
			before := a.quietSnapshot(t)
			internal := a.b.internalTopics(t, prefix)
			if len(internal) != 6 {
				t.Fatalf("internal topics: %v", internal)
			}
			op := a.operate(t)
			c := newConsole(t, a.b.addr, op.config(t))
			t.Run("PlanFindsThemOrIsRefused", func(t *testing.T) {
				file := t.TempDir() + "/plan.json"
				r := c.run(t, "plan", a.opts.id, "--strategy", "rebuild", "--to-earliest", "--input-topics", a.inputs(), "--out", file, "--output", "json")
				if r.code == exitVerified {
					requireDeletes(t, file, internal)
				}
				a.requireUnchanged(t, before)
			})
			t.Run("NamedTopicsAreRebuilt", func(t *testing.T) {
				p := c.plan(t, a.opts.id, "--to-earliest", "--input-topics", a.inputs(), "--internal-topics", strings.Join(internal, ","))
				requireDeletes(t, p.file, internal)
				c.execute(t, p).requireCode(t, exitVerified)
				a.requireCounts(t, want)
			})
		})
	}
}

// requireDeletes requires a plan that names every one of the topics.
func requireDeletes(t *testing.T, file string, topics []string) {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	for _, topic := range topics {
		if !strings.Contains(string(text), `"`+topic+`"`) {
			t.Errorf("the plan leaves %s as it is", topic)
		}
	}
}
