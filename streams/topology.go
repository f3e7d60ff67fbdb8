package streams

import (
	"maps"
	"regexp"
	"slices"
	"strings"
)

// Topology is what the text of Java's Topology#describe() says of an application:
// see [ParseTopology]. Topics of repartitioning stand in it without the prefix
// that they have on the cluster; SourceTopics and SinkTopics put it on.
type Topology struct {
	// Name is the named topology, "" for the usual one.
	Name string `json:"name,omitempty"`
	// Parts are the subtopologies and global stores, in the order of the text.
	Parts []TopologyPart `json:"parts"`
}

// TopologyPart is one subtopology, or one global store, which has a number among
// them and no tasks.
type TopologyPart struct {
	ID int32 `json:"id"`
	// Global marks a global store: every instance reads its topic whole, outside
	// the group.
	Global     bool            `json:"global,omitempty"`
	Sources    []SourceNode    `json:"sources"`
	Processors []ProcessorNode `json:"processors,omitempty"`
	Sinks      []SinkNode      `json:"sinks,omitempty"`
}

// SourceNode reads topics by name, or all that match a pattern: one of Topics and
// Pattern is set.
type SourceNode struct {
	Name   string   `json:"name"`
	Topics []string `json:"topics,omitempty"`
	// Pattern is a Java regular expression.
	Pattern string `json:"pattern,omitempty"`
}

// ProcessorNode is a processor and the state stores that it uses. A store may be
// used by more than one.
type ProcessorNode struct {
	Name   string   `json:"name"`
	Stores []string `json:"stores,omitempty"`
	// After is the node before it, "" when there is none or more than one.
	After string `json:"after,omitempty"`
}

// SinkNode writes to a topic, or to topics that code chooses record by record:
// one of Topic and Extractor is set.
type SinkNode struct {
	Name  string `json:"name"`
	Topic string `json:"topic,omitempty"`
	// Extractor is the text of the TopicNameExtractor (KIP-303): such topics are
	// not known before the records are.
	Extractor string `json:"extractor,omitempty"`
}

// SourceTopics are the topics that the application's group reads by name, inputs
// and repartition topics alike, as the cluster names them, sorted. Topics of
// patterns and of global stores are not among them. A topic counts as internal
// when it is named like one and a sink of the same topology writes it: a topic
// that the user named so, and writes and reads through it, cannot be told apart.
func (t Topology) SourceTopics(app string) []string { return t.decorate(app, t.sources(false)) }

// SinkTopics are the topics that the application writes by name, outputs and
// repartition topics alike, as the cluster names them, sorted. Sinks with an
// Extractor write others besides.
func (t Topology) SinkTopics(app string) []string { return t.decorate(app, t.sinks()) }

// GlobalTopics are the topics of the global stores, sorted. They are in no
// group's subscription and have no committed offsets.
func (t Topology) GlobalTopics() []string { return slices.Sorted(maps.Keys(t.sources(true))) }

// TableSources maps the stores of tables that are read straight from a topic to
// that topic. With topology.optimization such a store has no changelog of its own
// and is restored from the topic (KAFKA-3576, Kafka's TableSourceNode). Only names
// tell: processors KTABLE-SOURCE-n, and name-table-source of Consumed.as(name).
func (t Topology) TableSources() map[string]string {
	out := map[string]string{}
	for _, part := range t.Parts {
		for _, p := range part.Processors {
			if part.Global || !strings.HasPrefix(p.Name, "KTABLE-SOURCE-") && !strings.HasSuffix(p.Name, "-table-source") {
				continue
			}
			for _, s := range part.Sources {
				if s.Name != p.After || len(s.Topics) != 1 {
					continue
				}
				for _, store := range p.Stores {
					out[store] = s.Topics[0]
				}
			}
		}
	}
	return out
}

// PartOf returns the numbers of the subtopologies that read or write the topic,
// as the cluster names it, or that use the store behind a changelog.
func (t Topology) PartOf(app, topic string) []int32 {
	var out []int32
	for _, part := range t.Parts {
		alone := Topology{Name: t.Name, Parts: []TopologyPart{part}}
		touches := part.matches(topic) || slices.Contains(t.decorate(app, alone.sources(part.Global)), topic) || slices.Contains(t.decorate(app, alone.sinks()), topic)
		if internal, ok := ParseInternal(app, topic); ok && internal.Kind == KindChangelog {
			touches = touches || slices.Contains(alone.stores(false), t.StoreName(internal.Name))
		}
		if touches {
			out = append(out, part.ID)
		}
	}
	return out
}

// ReadBy returns the numbers of the subtopologies that read the topic, as the
// cluster names it, into their tasks.
func (t Topology) ReadBy(app, topic string) []int32 {
	var out []int32
	for _, part := range t.Parts {
		alone := Topology{Name: t.Name, Parts: []TopologyPart{part}}
		if !part.Global && (part.matches(topic) || slices.Contains(alone.SourceTopics(app), topic)) {
			out = append(out, part.ID)
		}
	}
	return out
}

// matches reports whether a pattern of the part reads the topic. Java's patterns
// that Go cannot read match nothing.
func (p TopologyPart) matches(topic string) bool {
	for _, n := range p.Sources {
		if n.Pattern == "" {
			continue
		}
		if re, err := regexp.Compile(`^(?:` + n.Pattern + `)$`); err == nil && re.MatchString(topic) {
			return true
		}
	}
	return false
}

// ChoosesSinks reports whether code chooses topics record by record
// (TopicNameExtractor): then the text does not name all that is written.
func (t Topology) ChoosesSinks() bool {
	return slices.ContainsFunc(t.Parts, func(p TopologyPart) bool {
		return slices.ContainsFunc(p.Sinks, func(n SinkNode) bool { return n.Extractor != "" })
	})
}

// Matches reports whether a pattern of the topology reads the topic.
func (t Topology) Matches(topic string) bool {
	return slices.ContainsFunc(t.Parts, func(p TopologyPart) bool { return p.matches(topic) })
}

// StoreName takes the named topology's prefix off what stands between prefix and
// suffix of a changelog.
func (t Topology) StoreName(name string) string {
	if t.Name == "" {
		return name
	}
	return strings.TrimPrefix(name, t.Name+"-")
}

// Stores are the state stores of the tasks, sorted. The text does not say which
// of them have a changelog: those without logging have none, and a table that
// reuses its source topic has none either.
func (t Topology) Stores() []string { return t.stores(false) }

// GlobalStores are the global stores, sorted. They have no changelogs.
func (t Topology) GlobalStores() []string { return t.stores(true) }

func (t Topology) stores(global bool) []string {
	set := map[string]bool{}
	for _, part := range t.Parts {
		if part.Global != global {
			continue
		}
		for _, p := range part.Processors {
			for _, s := range p.Stores {
				set[s] = true
			}
		}
	}
	return slices.Sorted(maps.Keys(set))
}

func (t Topology) sources(global bool) map[string]bool {
	set := map[string]bool{}
	for _, part := range t.Parts {
		if part.Global != global {
			continue
		}
		for _, s := range part.Sources {
			for _, topic := range s.Topics {
				set[topic] = true
			}
		}
	}
	return set
}

func (t Topology) sinks() map[string]bool {
	set := map[string]bool{}
	for _, part := range t.Parts {
		for _, s := range part.Sinks {
			if s.Topic != "" {
				set[s.Topic] = true
			}
		}
	}
	return set
}

// decorate puts the prefix on the internal topics (Kafka's
// InternalTopologyBuilder.decorateTopic).
func (t Topology) decorate(app string, set map[string]bool) []string {
	sources, sinks := t.sources(false), t.sinks()
	prefix := app + "-"
	if t.Name != "" {
		prefix += t.Name + "-"
	}
	out := make([]string, 0, len(set))
	for topic := range set {
		kind, _ := internalSuffix(topic)
		if sources[topic] && sinks[topic] && kind != "" && kind != KindChangelog {
			topic = prefix + topic
		}
		out = append(out, topic)
	}
	slices.Sort(out)
	return slices.Compact(out)
}
