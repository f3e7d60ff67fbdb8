//go:build integration

package integration

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kmsg"
)

// rightsDocument is the part of "preflight --output json" that tests look at.
type rightsDocument struct {
	For   string     `json:"for"`
	Needs []needLine `json:"needs"`
}

type needLine struct {
	Operation string `json:"operation"`
	Resource  string `json:"resource"`
	Name      string `json:"name"`
	Held      string `json:"held"`
	Optional  bool   `json:"optional"`
	Command   string `json:"command"`
}

func (d rightsDocument) held(resource, name, operation string) string {
	for _, n := range d.Needs {
		if n.Resource == resource && n.Name == name && n.Operation == operation {
			return n.Held
		}
	}
	return "not listed"
}

// TestRights lets a principal look with as little as DESCRIBE, and asks what it may do before it does it. Every command
// that the answer gives is pasted, and then everything is allowed.
func TestRights(t *testing.T) { //nolint:tparallel // its subtests share what it set up, in order
	t.Parallel()
	b := startBroker(t, brokerOptions{sasl: true})
	b.billing(t)
	b.fill(t, "invoices", 20)
	const changelog = "billing-KSTREAM-AGGREGATE-STATE-STORE-0000000001-changelog"
	ops := b.consoleAs(t, "ops", "ops-secret")
	before := b.snapshot(t)

	t.Run("B110_NothingAllowed", func(t *testing.T) {
		r := ops.run(t, "describe", "billing").requireCode(t, exitAuth)
		r.requireSays(t, "billing")
	})
	b.allow(t, "ops", kadm.ACLPatternLiteral, kmsg.ACLOperationDescribe, []string{"invoices", changelog}, []string{"billing"})
	t.Run("B17_DescribeIsEnoughToLook", func(t *testing.T) {
		d := ops.explore(t, "billing")
		roles := map[string]string{}
		for _, topic := range d.Topics {
			roles[topic.Name] = topic.Role
			for _, p := range topic.Partitions {
				if p.End == nil {
					t.Errorf("%s/%d: the end is not known with DESCRIBE", topic.Name, p.Partition)
				}
			}
		}
		if d.Group.State != "Empty" || roles["invoices"] != "input" || roles[changelog] == "" {
			t.Errorf("state %s, roles %v", d.Group.State, roles)
		}
	})
	t.Run("B15_NamesTheMissingRight", func(t *testing.T) {
		r := ops.run(t, "describe", "billing").requireCode(t, exitVerified)
		r.requireSays(t, "DESCRIBE_CONFIGS")
	})
	t.Run("B15_AppsLists", func(t *testing.T) {
		ops.run(t, "apps").requireCode(t, exitVerified).requireSays(t, "billing")
	})
	t.Run("PreflightRefused", func(t *testing.T) {
		r := ops.run(t, "preflight", "billing", "--for", "rebuild").requireCode(t, exitAuth)
		r.requireSays(t, "DELETE", changelog, "READ", "billing")
	})
	t.Run("PreflightSaysWhich", func(t *testing.T) {
		d := ops.rights(t, "billing", "rebuild")
		for right, want := range map[[3]string]string{
			{"TOPIC", changelog, "DELETE"}: "no", {"TOPIC", changelog, "DESCRIBE"}: "yes",
			{"GROUP", "billing", "READ"}: "no", {"GROUP", "billing", "DESCRIBE"}: "yes", {"TOPIC", "invoices", "READ"}: "no",
		} {
			if got := d.held(right[0], right[1], right[2]); got != want {
				t.Errorf("%v: held %s, want %s", right, got, want)
			}
		}
	})
	if d := cmp.Diff(before, b.snapshot(t)); d != "" {
		t.Errorf("asking has changed the cluster (-before +after):\n%s", d)
	}
	t.Run("CommandsAllowIt", func(t *testing.T) {
		client := b.clientFile(t, "admin", "admin-secret")
		for _, n := range ops.rights(t, "billing", "rebuild").Needs {
			if n.Command == "" {
				continue
			}
			line := strings.Replace(n.Command, "kafka-acls.sh", "kafka-acls.sh --command-config '"+client+"'", 1)
			if r := b.shell(t, line); r.code != 0 {
				t.Errorf("%s: %v", line, r)
			}
		}
		d := ops.rights(t, "billing", "rebuild")
		if i := slices.IndexFunc(d.Needs, func(n needLine) bool { return n.Held == "no" }); i >= 0 {
			t.Errorf("still refused: %+v", d.Needs[i])
		}
		// What the answer calls enough is enough.
		p := ops.plan(t, "billing", "--to-earliest", "--input-topics", "invoices", "--no-start")
		ops.execute(t, p, "--ack", "all").requireCode(t, exitVerified)
	})
}

func (c *console) rights(t *testing.T, app, purpose string) rightsDocument {
	t.Helper()
	var d rightsDocument
	r := c.run(t, "preflight", app, "--for", purpose, "--output", "json") // the exit code says whether all is held
	if err := json.Unmarshal([]byte(r.stdout), &d); err != nil {
		t.Fatalf("decode: %v in %v", err, r)
	}
	if len(d.Needs) == 0 {
		t.Fatalf("preflight lists no right")
	}
	return d
}

// allow gives a user one operation on topics and groups.
func (b *broker) allow(t *testing.T, user string, pattern kadm.ACLPattern, op kmsg.ACLOperation, topics, groups []string) {
	t.Helper()
	acls := kadm.NewACLs().Allow("User:" + user).AllowHosts().ResourcePatternType(pattern).Operations(op).Topics(topics...).Groups(groups...)
	made, err := b.admin.CreateACLs(t.Context(), acls)
	if err != nil {
		t.Fatalf("create ACLs: %v", err)
	}
	for _, m := range made {
		if m.Err != nil {
			t.Fatalf("create ACL %s: %v", m.Name, m.Err)
		}
	}
	// The broker takes an ACL up when the controller's log reaches it.
	eventually(t, 20*time.Second, "the ACLs are there", func() (bool, string) {
		found, err := b.admin.DescribeACLs(t.Context(), acls)
		if err != nil {
			return false, err.Error()
		}
		n := 0
		for _, f := range found {
			n += len(f.Described)
		}
		return n >= len(topics)+len(groups), "not all of them"
	})
}
