//go:build integration

package integration

import (
	"fmt"
	"slices"
	"strings"
	"testing"
)

// topicTruth is all that is true of one topic, as far as it can be known in one look.
type topicTruth struct {
	name, roleName   string
	owned, ambiguous bool
	kind             string // of an internal topic
	storeName        string // of a changelog, or the node of a repartition topic
	storeKind        string
	isTableSource    bool
	parts            []string
	evidence         []string // texts that have to be in its evidence
	// doubtful topics are internal ones that nothing proves to be the application's: beyond that nothing has to be said.
	doubtful bool
}

// What a description has to say of what it infers.
const (
	mayBeTable   = "it may be the source of a table"
	byTopology   = "in the imported topology"
	byTransactor = "written by its transactional ID"
	byProducer   = "a producer that writes repartition topic"
	otherPrefix  = "an overridden topic prefix?"
	neighbour    = "neighbour" // what another application's topics begin with: true of none
)

// evidenceTexts are said where they are true, and nowhere else.
var evidenceTexts = []string{mayBeTable, byTransactor, byProducer, otherPrefix, neighbour}

func (topic topicTruth) role() string {
	line := topic.roleName
	if topic.owned {
		line += ", owned"
	}
	if topic.ambiguous {
		line += ", perhaps"
	}
	return line
}

func (topic topicTruth) internalKind() string { return topic.kind }

func (topic topicTruth) store() string {
	return strings.TrimSpace(topic.storeName + " " + topic.storeKind)
}

func (topic topicTruth) tableSource() string {
	if topic.isTableSource {
		return "is its table's changelog"
	}
	return ""
}

func (topic topicTruth) subtopologies() string {
	if len(topic.parts) == 0 {
		return ""
	}
	return fmt.Sprintf("%q", sorted(topic.parts))
}

func (topic topicDescription) asTruth() topicTruth {
	return topicTruth{
		name: topic.Name, roleName: topic.Role, owned: topic.Owned, ambiguous: topic.Ambiguous, kind: topic.InternalKind,
		storeName: topic.Store, storeKind: topic.StoreKind, isTableSource: topic.TableSource, parts: topic.Subtopologies,
	}
}

// topicTruths are the topics that a look has to find, and no others.
func (d *described) topicTruths(t *testing.T, as look) []topicTruth {
	t.Helper()
	truths := make([]topicTruth, 0, len(d.inputs)+len(d.internal))
	for _, name := range d.inputs {
		truths = append(truths, d.inputTruth(name, as))
	}
	if as.withText {
		for _, name := range d.text.globals {
			truths = append(truths, topicTruth{name: name, roleName: "global", parts: d.text.parts[name], evidence: []string{byTopology}})
		}
	}
	kinds := d.changelogKinds(t)
	for short, name := range d.internal {
		topic := d.internalTruth(short, name, as)
		if topic.kind == "changelog" {
			topic.storeKind = kinds[topic.storeName]
		}
		truths = append(truths, topic)
	}
	return append(truths, d.outputTruths(as)...)
}

func (d *described) internalTruth(short, name string, as look) topicTruth {
	topic := topicTruth{name: name}
	topic.kind, topic.storeName = parseInternal(short)
	switch {
	case d.unproven():
		topic.doubtful, topic.ambiguous, topic.roleName, topic.evidence = true, true, "lookalike", []string{otherPrefix}
	case topic.kind == "changelog":
		topic.roleName, topic.owned = "changelog", true
	default:
		topic.roleName, topic.owned = "repartition", true
	}
	if as.withText || d.protocol == streamsGroup {
		topic.parts = d.text.parts[short]
	}
	if as.withText && d.protocol == classic && !topic.doubtful { // a streams group's own word is better
		topic.evidence = append(topic.evidence, byTopology)
	}
	if d.guarantee == exactlyOnce {
		topic.evidence = append(topic.evidence, byTransactor)
	}
	return topic
}

// inputTruth: a streams group tells which inputs are their tables' changelogs, the text lets them be found. Else a
// compacted input is one that may be.
func (d *described) inputTruth(name string, as look) topicTruth {
	topic := topicTruth{name: name, roleName: "input"}
	switch {
	case as.withText || d.protocol == streamsGroup:
		topic.isTableSource, topic.parts = slices.Contains(d.tableSources(), name), d.text.parts[name]
	case d.now.Topics[name].Configs["cleanup.policy"] == "compact":
		topic.evidence = []string{mayBeTable}
	}
	return topic
}

// outputTruths: the text names those that it can, and the producers that are known to be the application's lead to all
// that they have written.
func (d *described) outputTruths(as look) []topicTruth {
	named, routed := d.outputs()
	truths := make([]topicTruth, 0, len(named)+len(routed))
	for _, name := range slices.Concat(named, routed) {
		topic := topicTruth{name: name, roleName: "output"}
		known, seen := as.withText && slices.Contains(named, name), d.seenOutputs[name]
		switch {
		case !known && !seen:
			continue
		case known:
			topic.parts, topic.evidence = d.text.parts[name], []string{byTopology}
		case d.guarantee != exactlyOnce:
			topic.evidence = []string{byProducer}
		}
		if seen && d.guarantee == exactlyOnce {
			topic.evidence = append(topic.evidence, byTransactor)
		}
		truths = append(truths, topic)
	}
	return truths
}

// parseInternal goes by the forms that Streams gives its topics' names, without the prefix.
func parseInternal(short string) (kind, name string) {
	for _, form := range []struct{ suffix, kind string }{
		{"-changelog", "changelog"},
		{"-repartition", "repartition"},
		{"-subscription-registration-topic", "fk-registration"},
		{"-subscription-response-topic", "fk-response"},
	} {
		if name, ok := strings.CutSuffix(short, form.suffix); ok {
			return form.kind, name
		}
	}
	switch name := strings.TrimSuffix(short, "-topic"); {
	case strings.HasPrefix(short, "KTABLE-FK-JOIN-SUBSCRIPTION-REGISTRATION-"):
		return "fk-registration", name
	case strings.HasPrefix(short, "KTABLE-FK-JOIN-SUBSCRIPTION-RESPONSE-"):
		return "fk-response", name
	}
	return "of no known form", short
}

// unproven says that the internal topics carry a name that nothing ties to the application: a classic group names no
// changelogs, and the prefix is not its own. Such topics are called lookalikes, and that is called a doubt.
func (d *described) unproven() bool { return d.prefix && d.protocol == classic }

// tableSources are the tables' topics that serve as changelogs: their stores have none.
func (d *described) tableSources() []string {
	var found []string
	for topic, store := range d.shape.tables {
		if _, ok := d.internal[store+"-changelog"]; !ok {
			found = append(found, topic)
		}
	}
	return sorted(found)
}

// outputs are the topics outside that the application writes: those that the text names, and those that it cannot.
func (d *described) outputs() (named, routed []string) {
	for _, sink := range d.text.sinks {
		if _, ok := d.internal[sink]; !ok {
			named = append(named, sink)
		}
	}
	return slices.Compact(sorted(named)), d.shape.routed
}

// changelogKinds are the stores that have a changelog on the broker, with their kinds.
func (d *described) changelogKinds(t *testing.T) map[string]string {
	t.Helper()
	kinds := map[string]string{}
	for short := range d.internal {
		if store, ok := strings.CutSuffix(short, "-changelog"); ok {
			if kinds[store] = d.shape.kinds[store]; kinds[store] == "" {
				t.Errorf("no kind is known of store %s: has the Java source changed?", store)
			}
		}
	}
	return kinds
}
