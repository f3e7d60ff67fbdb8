//go:build integration

package integration

import (
	"fmt"
	"slices"
	"strings"
	"testing"
)

// look is how a description was asked for.
type look struct {
	name     string
	withText bool // the application's own text was imported
	stopped  bool
}

// compare has one subtest for each kind of thing that a description says. Each of them compares both ways: what is true
// has to be said, and nothing else.
func (d *described) compare(t *testing.T, got description, as look) {
	t.Helper()
	truth := d.topicTruths(t, as)
	t.Run("Group", func(t *testing.T) { d.compareGroup(t, got, as) })
	t.Run("Roles", func(t *testing.T) { compareRoles(t, got, truth) })
	t.Run("InternalKinds", func(t *testing.T) { compareTopics(t, got, truth, "kinds", topicTruth.internalKind) })
	t.Run("Stores", func(t *testing.T) { compareTopics(t, got, truth, "stores", topicTruth.store) })
	t.Run("Subtopologies", func(t *testing.T) { compareTopics(t, got, truth, "subtopologies", topicTruth.subtopologies) })
	t.Run("TableSources", func(t *testing.T) { compareTopics(t, got, truth, "table sources", topicTruth.tableSource) })
	t.Run("Evidence", func(t *testing.T) { d.compareEvidence(t, got, truth) })
	t.Run("Unknown", func(t *testing.T) { d.compareUnknown(t, got, as) })
	t.Run("Findings", func(t *testing.T) { d.compareFindings(t, got, as) })
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

// compareRoles is about which topics there are as well: the other comparisons are of those that both sides know.
func compareRoles(t *testing.T, got description, truth []topicTruth) {
	t.Helper()
	want, have := make([]string, 0, len(truth)), make([]string, 0, len(got.Topics))
	for _, topic := range truth {
		want = append(want, topic.name+" "+topic.role())
	}
	for _, topic := range got.Topics {
		have = append(have, topic.Name+" "+topic.asTruth().role())
	}
	requireSame(t, "roles", want, have)
}

// compareTopics compares one property of every topic. Of a doubtful one it may say nothing.
func compareTopics(t *testing.T, got description, truth []topicTruth, what string, property func(topicTruth) string) {
	t.Helper()
	var want, have []string
	for _, topic := range got.Topics {
		i := slices.IndexFunc(truth, func(is topicTruth) bool { return is.name == topic.Name })
		said := property(topic.asTruth())
		if i < 0 || truth[i].doubtful && said == "" {
			continue
		}
		want, have = append(want, topic.Name+" "+property(truth[i])), append(have, topic.Name+" "+said)
	}
	requireSame(t, what, want, have)
}

func (d *described) compareGroup(t *testing.T, got description, as look) {
	t.Helper()
	state := "Stable"
	if as.stopped {
		state = "Empty"
	}
	have := []string{got.Kind, got.Group.Protocol, got.Group.State}
	if want := []string{d.protocol, d.protocol, state}; !slices.Equal(have, want) {
		t.Errorf("kind, protocol and state of the group are %q, want %q", have, want)
	}
	if len(got.Signs) == 0 {
		t.Error("nothing is said of why it is taken for a Kafka Streams application")
	}
	if len(got.LongerIDs)+len(got.Transactions)+len(got.Gaps) > 0 || got.CommitsFault != nil {
		t.Errorf("longer IDs %v, transactions %v, gaps %v, fault of commits %v: want none",
			got.LongerIDs, got.Transactions, got.Gaps, got.CommitsFault)
	}
}

// compareEvidence wants every role to have its reason, and an inference to say what it rests on.
func (d *described) compareEvidence(t *testing.T, got description, truth []topicTruth) {
	t.Helper()
	for _, topic := range got.Topics {
		evidence := strings.Join(topic.Evidence, "; ")
		if evidence == "" {
			t.Errorf("topic %s is said to be %s without evidence", topic.Name, topic.Role)
		}
		if topic.Fault != nil || len(topic.ReadBy) > 0 {
			t.Errorf("topic %s: fault %v, read by %v: want none", topic.Name, topic.Fault, topic.ReadBy)
		}
		d.compareWriters(t, topic)
		i := slices.IndexFunc(truth, func(want topicTruth) bool { return want.name == topic.Name })
		if i < 0 {
			continue // Roles has said so
		}
		for _, text := range truth[i].evidence {
			if !strings.Contains(evidence, text) {
				t.Errorf("topic %s: no evidence contains %q: %s", topic.Name, text, evidence)
			}
		}
		for _, text := range evidenceTexts {
			if !slices.Contains(truth[i].evidence, text) && strings.Contains(evidence, text) {
				t.Errorf("topic %s: %q is not true of it: %s", topic.Name, text, evidence)
			}
		}
	}
}

// compareWriters: an exactly-once application's producers are known by their transactional IDs.
func (d *described) compareWriters(t *testing.T, topic topicDescription) {
	t.Helper()
	written := topic.Role != "input" && topic.Role != "global" && sum(d.now.Topics[topic.Name].Ends) > 0
	if want := d.guarantee == exactlyOnce && written; want != (len(topic.Writers) > 0) {
		t.Errorf("topic %s: writers are %v, want some: %t", topic.Name, topic.Writers, want)
	}
	for _, id := range topic.Writers {
		if !slices.ContainsFunc(d.processes, func(process string) bool { return strings.HasPrefix(id, d.app.opts.id+"-"+process+"-") }) {
			t.Errorf("topic %s: writer %s is of no process of %v", topic.Name, id, d.processes)
		}
	}
}

// compareUnknown wants what cannot be known to be called unknown. Without the text nothing shows global tables, nor
// outputs that nothing was written to lately; with it the topics stay open that code chooses.
func (d *described) compareUnknown(t *testing.T, got description, as look) {
	t.Helper()
	var want []string
	have := make([]string, 0, len(got.Unseen))
	if !as.withText {
		want = append(want, "global tables")
	}
	if !as.withText || len(d.shape.routed) > 0 {
		want = append(want, "outputs")
	}
	for _, unseen := range got.Unseen {
		have = append(have, unseen.What)
		if unseen.Message == "" {
			t.Errorf("%s are unseen without a reason", unseen.What)
		}
	}
	requireSame(t, "what is unseen", want, have)
}

// compareFindings: nothing is wrong with the application.
func (d *described) compareFindings(t *testing.T, got description, as look) {
	t.Helper()
	var want, have []string
	if as.stopped {
		want = append(want, "group empty")
	}
	if d.unproven() {
		want = append(want, "not proven")
	}
	if as.withText && !d.unproven() {
		for _, store := range d.shape.unlogged {
			want = append(want, "changelog missing: "+d.prefixed()+store+"-changelog")
		}
	}
	for _, f := range got.Findings {
		subject, _, _ := strings.Cut(f.Detail, " ")
		switch {
		case f.Level == "ok":
		case f.Name == "input compacted": // as those of tables are
			if _, ok := d.shape.tables[subject]; !ok {
				t.Errorf("%s is no table: %s", subject, f.Detail)
			}
		case f.Level == "look" && (f.Name == "group empty" || f.Name == "not proven"): // the latter by why, not by topic
			have = append(have, f.Name)
		case f.Level == "look":
			have = append(have, f.Name+": "+strings.TrimSuffix(subject, ":"))
		default:
			have = append(have, f.Level+", "+f.Name+": "+f.Detail)
		}
	}
	slices.Sort(have)
	requireSame(t, "findings", want, slices.Compact(have))
}
