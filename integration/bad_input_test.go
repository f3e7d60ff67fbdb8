//go:build integration

package integration

import (
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/twmb/franz-go/pkg/kadm"
)

// TestBadInput gives resurge what operators get wrong at night. Each is refused, says what to do, and changes nothing.
func TestBadInput(t *testing.T) { //nolint:tparallel // its subtests share what it set up, in order
	t.Parallel()
	a := newApp(t, sharedBroker(t), appOptions{id: "checkout"})
	a.loadAndStop(1_000)
	a.b.waitEmpty(t, a.opts.id)
	c := newConsole(t, a.b.addr, "")
	before := a.quietSnapshot(t)
	earliest := []string{"--to-earliest", "--input-topics", a.inputs()}
	good := c.plan(t, a.opts.id, earliest...)

	// refused runs plan and requires that there is none.
	refused := func(t *testing.T, app string, args ...string) result {
		t.Helper()
		file := filepath.Join(t.TempDir(), "plan.json")
		r := c.run(t, append([]string{"plan", app, "--strategy", "rebuild", "--out", file}, args...)...)
		if r.code != exitUsage && r.code != exitBlocked {
			t.Errorf("exit code %d, want %d or %d: %v", r.code, exitUsage, exitBlocked, r)
		}
		if _, err := os.Stat(file); err == nil {
			t.Errorf("a plan was written: %v", r)
		}
		return r
	}
	t.Run("UnknownApplicationSuggestsNearName", func(t *testing.T) {
		refused(t, "chekout", earliest...).requireSays(t, "checkout")
	})
	t.Run("B24_TypoInInputTopicRefusesAll", func(t *testing.T) {
		typo := strings.Replace(a.opts.orders, "orders", "ordres", 1)
		refused(t, a.opts.id, "--to-earliest", "--input-topics", typo+","+a.opts.customers).requireSays(t, typo, a.opts.orders)
	})
	t.Run("B32_TimeWithoutZone", func(t *testing.T) {
		refused(t, a.opts.id, "--to-datetime", "10:00", "--input-topics", a.inputs())
	})
	t.Run("TwoPositions", func(t *testing.T) { refused(t, a.opts.id, append(earliest, "--to-latest")...) })
	t.Run("WrongApproval", func(t *testing.T) {
		r := c.run(t, "run", good.file, "--approve", "sha256:"+strings.Repeat("0", 64), "--ack", "all")
		if r.code == exitVerified {
			t.Errorf("ran without the right approval: %v", r)
		}
	})
	t.Run("PlanEditedByHand", func(t *testing.T) {
		text, err := os.ReadFile(good.file)
		if err != nil {
			t.Fatal(err)
		}
		edited := filepath.Join(t.TempDir(), "edited.json")
		if err := os.WriteFile(edited, []byte(strings.ReplaceAll(string(text), a.opts.customers, a.opts.totals)), 0o600); err != nil {
			t.Fatal(err)
		}
		if r := c.run(t, "run", edited, "--approve", good.ID, "--ack", "all"); r.code == exitVerified {
			t.Errorf("ran a plan that was edited: %v", r)
		}
	})
	a.requireUnchanged(t, before)
}

// TestStalePlan changes the cluster between plan and run.
func TestStalePlan(t *testing.T) {
	t.Parallel()
	a := newApp(t, sharedBroker(t), appOptions{id: "staleplan", protocol: streamsGroup})
	a.loadAndStop(1_000)
	a.b.waitEmpty(t, a.opts.id)
	c := newConsole(t, a.b.addr, "")
	p := c.plan(t, a.opts.id, "--to-earliest", "--input-topics", a.inputs())
	moved := kadm.Offsets{}
	moved.Add(kadm.Offset{Topic: a.opts.orders, Partition: 0, At: 3, LeaderEpoch: -1})
	if err := a.b.admin.CommitAllOffsets(t.Context(), a.opts.id, moved); err != nil {
		t.Fatal(err)
	}
	before := a.quietSnapshot(t)
	c.execute(t, p, "--ack", "all").requireCode(t, exitStale)
	a.requireUnchanged(t, before)
}

// TestUnreachable names the broker that does not answer, in time.
func TestUnreachable(t *testing.T) {
	t.Parallel()
	ports, err := freePorts(1)
	if err != nil {
		t.Fatal(err)
	}
	silent, err := net.Listen("tcp4", "127.0.0.1:0") //nolint:noctx // a listener that accepts and never answers
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { silent.Close() })
	for name, addr := range map[string]string{"Refused": loopback(ports[0]), "Silent": silent.Addr().String()} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := newConsole(t, addr, "").run(t, "apps").requireCode(t, exitUnreachable).requireSays(t, addr)
			if r.took > 11*time.Second { // ten for the broker, one for a busy machine
				t.Errorf("took %v", r.took)
			}
		})
	}
}

// TestSecured uses a broker with SASL and ACLs: wrong and powerless credentials are told apart from an empty cluster.
func TestSecured(t *testing.T) { //nolint:tparallel // its subtests share what it set up, in order
	t.Parallel()
	b := startBroker(t, brokerOptions{sasl: true})
	t.Run("B19_EmptyCluster", func(t *testing.T) {
		b.consoleAs(t, "admin", "admin-secret").run(t, "apps").requireCode(t, exitVerified)
	})
	b.billing(t)
	before := b.snapshot(t)
	t.Run("Right", func(t *testing.T) {
		b.consoleAs(t, "admin", "admin-secret").run(t, "apps").requireCode(t, exitVerified).requireSays(t, "billing")
	})
	t.Run("WrongPassword", func(t *testing.T) {
		r := b.consoleAs(t, "admin", "guessed").run(t, "apps").requireCode(t, exitAuth)
		if strings.Contains(r.all(), "guessed") {
			t.Errorf("the password is in the output: %v", r)
		}
	})
	t.Run("B110_WithoutRights", func(t *testing.T) {
		// The broker answers "no groups, no topics" and no error: not allowed is not empty.
		b.consoleAs(t, "ops", "ops-secret").run(t, "plan", "billing", "--strategy", "rebuild", "--to-earliest", "--input-topics", "invoices").
			requireCode(t, exitAuth)
	})
	t.Run("PlanForAnotherCluster", func(t *testing.T) {
		other := sharedBroker(t)
		other.billing(t)
		p := newConsole(t, other.addr, "").plan(t, "billing", "--to-earliest", "--input-topics", "invoices")
		b.consoleAs(t, "admin", "admin-secret").execute(t, p, "--ack", "all").requireCode(t, exitStale)
	})
	if d := cmp.Diff(before, b.snapshot(t)); d != "" {
		t.Errorf("the cluster has changed (-before +after):\n%s", d)
	}
}

// clientFile is a Java client's configuration for a user of a broker with SASL.
func (b *broker) clientFile(t *testing.T, user, password string) string {
	t.Helper()
	file := filepath.Join(t.TempDir(), "client.properties")
	text := "security.protocol=SASL_PLAINTEXT\nsasl.mechanism=PLAIN\nsasl.jaas.config=" +
		`org.apache.kafka.common.security.plain.PlainLoginModule required username="` + user + `" password="` + password + "\";\n"
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return file
}

// consoleAs is resurge as a user of a broker with SASL.
func (b *broker) consoleAs(t *testing.T, user, password string) *console {
	t.Helper()
	c := newConsole(t, b.addr, "")
	c.flags = append(c.flags, "--command-config", b.clientFile(t, user, password))
	return c
}

// billing leaves what an application leaves, without the application.
func (b *broker) billing(t *testing.T) {
	t.Helper()
	compacted := map[string]*string{"cleanup.policy": new("compact")}
	b.createTopics(t, 2, nil, "invoices")
	b.createTopics(t, 2, compacted, "billing-KSTREAM-AGGREGATE-STATE-STORE-0000000001-changelog")
	offsets := kadm.Offsets{}
	for partition := range int32(2) {
		offsets.Add(kadm.Offset{Topic: "invoices", Partition: partition, LeaderEpoch: -1})
	}
	if err := b.admin.CommitAllOffsets(t.Context(), "billing", offsets); err != nil {
		t.Fatal(err)
	}
}
