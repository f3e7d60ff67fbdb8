//go:build integration

package integration

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"
)

// compare has one subtest for each kind of thing that a description says.
func (d *described) compare(t *testing.T, got description, withText bool) {
	t.Helper()
	t.Run("Topics", func(t *testing.T) { d.compareTopics(t, got, withText) })
	t.Run("InternalKinds", func(t *testing.T) { d.compareInternalKinds(t, got) })
	t.Run("Outputs", func(t *testing.T) { d.compareOutputs(t, got, withText) })
	t.Run("Stores", func(t *testing.T) { d.compareStores(t, got) })
	t.Run("Subtopologies", func(t *testing.T) { d.compareSubtopologies(t, got, withText) })
	t.Run("TableSources", func(t *testing.T) { d.compareTableSources(t, got, withText) })
	t.Run("Offsets", func(t *testing.T) { d.compareOffsets(t, got) })
	t.Run("Tasks", func(t *testing.T) { d.compareTasks(t, got) })
	t.Run("Members", func(t *testing.T) { d.compareMembers(t, got) })
}

// requireSame compares two sets of lines and names those that only one has.
func requireSame(t *testing.T, what string, truth, described []string) {
	t.Helper()
	type line struct{ text, mark string }
	var diff []line
	for _, text := range truth {
		if !slices.Contains(described, text) {
			diff = append(diff, line{text, "-"})
		}
	}
	for _, text := range described {
		if !slices.Contains(truth, text) {
			diff = append(diff, line{text, "+"})
		}
	}
	slices.SortFunc(diff, func(a, b line) int { return strings.Compare(a.text+a.mark, b.text+b.mark) })
	if len(diff) > 0 {
		var lines strings.Builder
		for _, l := range diff {
			fmt.Fprintf(&lines, "\n\t%s %s", l.mark, l.text)
		}
		t.Errorf("%s: %d true, %d described (-true +described):%s", what, len(truth), len(described), lines.String())
	}
	if once := slices.Compact(sorted(described)); len(once) != len(described) {
		t.Errorf("%s: %d described, of which %d are the same twice", what, len(described), len(described)-len(once))
	}
}

// requireSaid is requireSame, but for internal topics that nothing ties to the application: of those nothing has to be said.
func (d *described) requireSaid(t *testing.T, what string, truth, described []string) {
	t.Helper()
	if d.unproven() {
		truth = slices.DeleteFunc(slices.Clone(truth), func(line string) bool { return !slices.Contains(described, line) })
		described = slices.DeleteFunc(slices.Clone(described), func(line string) bool { return strings.HasSuffix(line, " ") })
	}
	requireSame(t, what, truth, described)
}

func (d *described) compareTopics(t *testing.T, got description, withText bool) {
	t.Helper()
	want, have := make([]string, 0, len(d.inputs)+len(d.internal)), make([]string, 0, len(got.Topics))
	for _, name := range d.inputs {
		want = append(want, name+" input")
	}
	for short, name := range d.internal {
		role := "repartition"
		if strings.HasSuffix(short, "-changelog") {
			role = "changelog"
		}
		want = append(want, name+" "+role+", owned")
	}
	if withText {
		for _, name := range d.text.globals {
			want = append(want, name+" global")
		}
	}
	named := map[string]bool{}
	for _, topic := range got.Topics {
		named[topic.Name] = true
		line := topic.Name + " " + topic.Role
		switch topic.Role {
		case "output":
			continue // compareOutputs
		case "input", "global": // whether these are owned makes no difference
		case "lookalike":
			if topic.Ambiguous {
				line += ", perhaps"
			}
		default:
			if topic.Owned {
				line += ", owned"
			}
		}
		have = append(have, line)
		if len(topic.Evidence) == 0 {
			t.Errorf("topic %s is said to be %s without evidence", topic.Name, topic.Role)
		}
	}
	if d.unproven() {
		have = d.takeDoubts(t, have, want, named)
	}
	requireSame(t, "topics", want, have)
}

// takeDoubts takes doubts about internal topics for the truth. What the group reads has to be named at least, and
// changelogs need not be.
func (d *described) takeDoubts(t *testing.T, have, want []string, named map[string]bool) []string {
	t.Helper()
	for short, name := range d.internal {
		is := slices.IndexFunc(want, func(line string) bool { return strings.HasPrefix(line, name+" ") })
		doubt := slices.Index(have, name+" lookalike, perhaps")
		switch {
		case doubt >= 0:
			have[doubt] = want[is]
		case named[name]:
		case strings.HasSuffix(short, "-changelog"):
			have = append(have, want[is])
		default:
			t.Errorf("the group reads %s, and nothing is said of it", name)
			have = append(have, want[is])
		}
	}
	return have
}

func (d *described) compareInternalKinds(t *testing.T, got description) {
	t.Helper()
	want, have := make([]string, 0, len(d.internal)), make([]string, 0, len(got.Topics))
	for short, name := range d.internal {
		want = append(want, name+" "+internalKind(short))
	}
	for _, topic := range got.Topics {
		if topic.InternalKind != "" {
			have = append(have, topic.Name+" "+topic.InternalKind)
		}
	}
	d.requireSaid(t, "internal kinds", want, have)
}

// internalKind goes by the forms that Streams gives its topics' names.
func internalKind(short string) string {
	switch {
	case strings.HasSuffix(short, "-changelog"):
		return "changelog"
	case strings.HasSuffix(short, "-repartition"):
		return "repartition"
	case strings.Contains(short, "SUBSCRIPTION-REGISTRATION-"), strings.HasSuffix(short, "-subscription-registration-topic"):
		return "fk-registration"
	case strings.Contains(short, "SUBSCRIPTION-RESPONSE-"), strings.HasSuffix(short, "-subscription-response-topic"):
		return "fk-response"
	}
	return "unknown"
}

// compareOutputs: the text names those that it can, the producers of an exactly-once application lead to all.
func (d *described) compareOutputs(t *testing.T, got description, withText bool) {
	t.Helper()
	named, routed := d.outputs()
	possible := append(slices.Clone(named), routed...)
	var required, have []string
	if withText {
		required = named
	}
	if d.guarantee == exactlyOnce { // nobody has produced to an empty one
		required = append(slices.Clone(required), possible...)
		required = slices.DeleteFunc(required, func(name string) bool {
			return sum(d.now.Topics[name].Ends) == 0 && (!withText || !slices.Contains(named, name))
		})
	}
	for _, topic := range got.Topics {
		if topic.Role == "output" {
			have = append(have, topic.Name)
		}
	}
	for _, name := range required {
		if !slices.Contains(have, name) {
			t.Errorf("output %s is not among %v", name, have)
		}
	}
	for _, name := range have {
		if !slices.Contains(possible, name) {
			t.Errorf("%s is said to be an output, which it is not", name)
		}
	}
}

func (d *described) compareStores(t *testing.T, got description) {
	t.Helper()
	want, have := make([]string, 0, len(d.shape.kinds)), make([]string, 0, len(got.Topics))
	for store, kind := range d.changelogKinds(t) {
		want = append(want, store+" "+kind)
	}
	for _, topic := range got.Topics {
		if topic.Role == "changelog" {
			have = append(have, topic.Store+" "+topic.StoreKind)
		}
	}
	d.requireSaid(t, "stores", want, have)
}

// compareSubtopologies: a streams group knows them, and the text has them; a global topic's is no group's.
func (d *described) compareSubtopologies(t *testing.T, got description, withText bool) {
	t.Helper()
	want, have := make([]string, 0, len(d.inputs)+len(d.internal)), make([]string, 0, len(got.Topics))
	mine := map[string]bool{}
	add := func(name, short string) {
		mine[name] = true
		want = append(want, fmt.Sprintf("%s %q", name, sorted(d.text.parts[short])))
	}
	if withText || d.protocol == streamsGroup {
		for _, name := range d.inputs {
			add(name, name)
		}
		for short, name := range d.internal {
			add(name, short)
		}
	}
	for _, topic := range got.Topics {
		if mine[topic.Name] || (topic.Role != "output" && topic.Role != "global" && len(topic.Subtopologies) > 0) {
			have = append(have, fmt.Sprintf("%s %q", topic.Name, sorted(topic.Subtopologies)))
		}
	}
	if !d.unproven() {
		requireSame(t, "subtopologies", want, have)
	}
}

// compareTableSources: a streams group says which they are, the text lets them be found; else nothing may be claimed
// that is wrong.
func (d *described) compareTableSources(t *testing.T, got description, withText bool) {
	t.Helper()
	want := d.tableSources()
	if d.optimize != (len(want) > 0) {
		t.Fatalf("optimised is %t, tables without changelogs: %v", d.optimize, want)
	}
	var have []string
	for _, topic := range got.Topics {
		if topic.TableSource {
			have = append(have, topic.Name)
		}
	}
	slices.Sort(have)
	if d.protocol == streamsGroup || (withText && !d.unproven()) {
		requireSame(t, "table sources", want, have)
		return
	}
	for _, name := range have {
		if !slices.Contains(want, name) {
			t.Errorf("%s is said to be its table's changelog, which it is not", name)
		}
	}
}

// compareOffsets compares the numbers with the cluster's, the partition times with what was produced, and who reads a
// partition with who has its task.
func (d *described) compareOffsets(t *testing.T, got description) {
	t.Helper()
	clients, readers := got.clients(), d.assigned.readers()
	for _, topic := range got.Topics {
		want, ok := d.now.Topics[topic.Name]
		if !ok || len(topic.Partitions) != len(want.Ends) {
			t.Errorf("topic %s has %d partitions, want %d", topic.Name, len(topic.Partitions), len(want.Ends))
			continue
		}
		var newest time.Time
		for _, p := range topic.Partitions {
			d.compareOffset(t, topic.Name, p, want)
			if at := p.Streams.PartitionTime; at.After(newest) {
				newest = at
			}
			if reader := readers[fmt.Sprintf("%s-%d", topic.Name, p.Partition)]; clients[p.Owner] != reader {
				t.Errorf("%s-%d: read by %q, want %q", topic.Name, p.Partition, clients[p.Owner], reader)
			}
		}
		if at, ok := d.newest[topic.Name]; ok && topic.Role == "input" && !newest.Equal(at) {
			t.Errorf("%s: newest partition time %v, want %v", topic.Name, newest, at)
		}
	}
}

func (d *described) compareOffset(t *testing.T, topic string, p partitionDescription, want topicSnapshot) {
	t.Helper()
	end := want.Ends[p.Partition]
	for _, c := range []struct {
		what string
		have *int64
		want int64
	}{{"start", p.Start, want.Starts[p.Partition]}, {"end", p.End, end}, {"stable", p.Stable, end}} {
		if c.have == nil || *c.have != c.want {
			t.Errorf("%s-%d: %s is %s, want %d", topic, p.Partition, c.what, number(c.have), c.want)
		}
	}
	commit, committed := d.now.Groups[d.app.opts.id].Offsets[topic][p.Partition]
	switch {
	case !committed && p.Committed != nil, committed && p.Committed == nil:
		t.Errorf("%s-%d: committed is %v, want %v", topic, p.Partition, p.Committed, commit)
	case !committed:
	case p.Committed.Offset != commit.At, p.Committed.Metadata != commit.Metadata, p.Lag == nil || *p.Lag != end-commit.At:
		t.Errorf("%s-%d: committed %+v, lag %s, want %+v of %d", topic, p.Partition, *p.Committed, number(p.Lag), commit, end)
	}
}

func number(n *int64) string {
	if n == nil {
		return "null"
	}
	return strconv.FormatInt(*n, 10)
}

// clients maps the members' IDs to their client IDs, which the application knows.
func (got description) clients() map[string]string {
	found := map[string]string{}
	for _, m := range got.Group.Members {
		found[m.ID] = m.ClientID
	}
	return found
}

func (d *described) compareTasks(t *testing.T, got description) {
	t.Helper()
	clients := got.clients()
	named := func(members []string) []string {
		found := make([]string, 0, len(members))
		for _, id := range members {
			found = append(found, clients[id])
		}
		return found
	}
	want, have := make([]string, 0, len(d.assigned.Tasks)), make([]string, 0, len(got.Tasks))
	for id, task := range d.assigned.Tasks {
		want = append(want, id+" "+task.String())
	}
	for _, task := range got.Tasks {
		if len(task.Warmup) > 0 {
			t.Errorf("task %s has warm-ups %v", task.Task, task.Warmup)
		}
		sources := make([]string, 0, len(task.Sources))
		for _, s := range task.Sources {
			sources = append(sources, fmt.Sprintf("%s-%d", s.Topic, s.Partition))
		}
		have = append(have, task.Task+" "+taskTruth{sources, named(task.Active), named(task.Standby)}.String())
	}
	requireSame(t, "tasks", want, have)
}

func (d *described) compareMembers(t *testing.T, got description) {
	t.Helper()
	want, have := make([]string, 0, len(d.assigned.Members)), make([]string, 0, len(got.Group.Members))
	for client, m := range d.assigned.Members {
		want = append(want, client+" "+m.String())
	}
	for _, m := range got.Group.Members {
		have = append(have, m.ClientID+" "+memberTruth{m.ProcessID, m.Endpoint, m.Active, m.Standby}.String())
		if !strings.Contains(m.Host, "127.0.0.1") {
			t.Errorf("member %s is on host %q", m.ClientID, m.Host)
		}
	}
	requireSame(t, "members", want, have)
}
