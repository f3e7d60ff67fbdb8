package discovery

import (
	"slices"
	"strconv"
	"strings"

	"resurge/streams"
)

// byImport adds what the imported topology says. It is the operator's word of
// the deployed code: it settles doubts that rest on names alone, and raises one
// where it does not know a store.
func (s *sighting) byImport(t *Topic) {
	top := s.hints.Topology
	if top == nil {
		return
	}
	switch {
	case t.Role == streams.RoleChangelog && t.Owned, t.Role == streams.RoleLookalike && t.Ambiguous && t.Internal == streams.KindChangelog:
		s.importedChangelog(t)
	case slices.Contains(top.SourceTopics(s.app), t.Name):
		s.importedSource(t)
	case t.Role == streams.RoleInput && top.Matches(t.Name):
		t.Evidence = append(t.Evidence, "matched by a source pattern of the imported topology")
	case t.Role == streams.RoleInput && len(s.group.Topology) == 0 && !slices.Contains(s.hints.Inputs, t.Name) && !top.Matches(t.Name):
		t.Evidence = append(t.Evidence, "the imported topology does not read it")
	}
}

func (s *sighting) importedChangelog(t *Topic) {
	switch {
	case s.importedStore(t.Store):
		t.Evidence = append(t.Evidence, "its store is in the imported topology")
	case t.Owned && len(s.group.Topology) == 0:
		s.doubt(t, "the imported topology has no store "+streams.Quote(t.Store)+": an older topology's, or the import is not of the deployed code")
	}
}

func (s *sighting) importedSource(t *Topic) {
	const why = "source topic in the imported topology"
	switch {
	case t.Role == "":
		t.Role, t.Evidence = streams.RoleInput, append(t.Evidence, why)
	case t.Role == streams.RoleLookalike && t.Ambiguous && t.Internal != "" && t.Internal != streams.KindChangelog:
		t.Role, t.Owned, t.Ambiguous = streams.RoleRepartition, true, false
		t.Evidence = append(t.Evidence, "repartition topic in the imported topology")
		s.protect(t)
	default:
		t.Evidence = append(t.Evidence, why)
	}
}

// written are the topics that a topology says are the application's to write, and
// what an imported one reads.
func (s *sighting) written() []string {
	var out []string
	for _, st := range s.group.Topology {
		out = slices.Concat(out, st.RepartitionSinks, st.Changelogs)
	}
	if t := s.hints.Topology; t != nil {
		for _, n := range slices.Concat(t.SourceTopics(s.app), t.SinkTopics(s.app), t.GlobalTopics()) {
			// An internal topic that does not exist may be there under another prefix.
			if _, exists := s.topics[n]; exists || !streams.LooksInternal(n) {
				out = append(out, n)
			}
		}
	}
	return out
}

func (s *sighting) importedStore(store string) bool {
	top := s.hints.Topology
	return top != nil && store != "" && slices.Contains(top.Stores(), top.StoreName(store))
}

func (s *sighting) importedGlobal(name string) bool {
	return s.hints.Topology != nil && slices.Contains(s.hints.Topology.GlobalTopics(), name)
}

// asOutput takes a topic that the application is said, or seen, to write.
func (s *sighting) asOutput(t *Topic) {
	imported := s.hints.Topology != nil && slices.Contains(s.hints.Topology.SinkTopics(s.app), t.Name)
	switch from := s.traces.hintedBy(t.Name); {
	case imported && t.Internal == "":
		t.Role, t.Evidence = streams.RoleOutput, []string{"sink topic in the imported topology"}
	case slices.Contains(s.hints.Outputs, t.Name):
		t.Role, t.Evidence = streams.RoleOutput, []string{"named as an output by the operator"}
	case len(t.Writers) == 0 && from == "":
	case streams.LooksInternal(t.Name):
		s.doubt(t, "named like an internal topic of another application ID, and a producer of this one writes it (an overridden topic prefix?)")
	case len(t.Writers) > 0:
		t.Role = streams.RoleOutput
	default:
		t.Role, t.Evidence = streams.RoleOutput, []string{"a producer that writes repartition topic " + streams.Quote(from) + " writes it too"}
	}
}

// guessStore says what kind of store a changelog belongs to: by its name, its
// settings, and last by its records.
func (s *sighting) guessStore(t *Topic) {
	internal := streams.InternalName{Kind: streams.KindChangelog, Name: t.Store, Topic: t.Name}
	if t.Store == "" { // under another prefix: the end of the name may still tell
		internal.Name = t.Name[:max(len(t.Name)-len("-changelog"), 0)]
	}
	kind, why := streams.GuessStoreKind(internal, s.configs[t.Name].Plain())
	if seen, ok := s.kinds[t.Name]; ok {
		kind, why = seen.kind, seen.why
	}
	t.StoreKind = string(kind)
	if why != "" {
		t.Evidence = append(t.Evidence, "store kind: "+why)
	}
}

// tableSource marks an input that is the only changelog of its table. From
// outside nothing shows it in a classic group (streams-internals 2.3).
func (s *sighting) tableSource(t *Topic) {
	if t.TableSource || len(s.group.Topology) > 0 {
		return
	}
	if s.hints.Topology != nil {
		for store, topic := range s.hints.Topology.TableSources() {
			if topic != t.Name {
				continue
			}
			if other := s.changelogElsewhere(store); other == "" {
				t.TableSource = true
				t.Evidence = append(t.Evidence, "source of table "+streams.Quote(store)+", which has no changelog of its own")
			} else if other != streams.ChangelogTopic(s.app, store) {
				t.Evidence = append(t.Evidence, "source of table "+streams.Quote(store)+", whose changelog may be "+streams.Quote(other))
			}
		}
		return
	}
	if c := s.configs[t.Name]; c.Values["cleanup.policy"].Value == "compact" {
		t.Evidence = append(t.Evidence, "compacted: it may be the source of a table, and then its only changelog")
	}
}

// changelogElsewhere is the changelog of a store that the imported topology names:
// under the application's own prefix, or else under one that the repartition
// topics have that the group reads (an overridden prefix); empty for none.
func (s *sighting) changelogElsewhere(store string) string {
	for _, prefix := range append([]string{s.app}, s.otherPrefixes()...) {
		if name := streams.ChangelogTopic(prefix, store); s.exists(name) {
			return name
		}
	}
	return ""
}

func (s *sighting) exists(topic string) bool {
	_, ok := s.topics[topic]
	return ok
}

// otherPrefixes are what the repartition topics of the imported topology begin
// with where the group reads them and they are not named after it.
func (s *sighting) otherPrefixes() []string {
	var out []string
	for _, source := range s.hints.Topology.SourceTopics(s.app) {
		internal, ok := streams.ParseInternal(s.app, source)
		if !ok || internal.Kind == streams.KindChangelog {
			continue
		}
		suffix := strings.TrimPrefix(source, s.app)
		for name := range s.read() {
			if prefix, ok := strings.CutSuffix(name, suffix); ok && prefix != s.app && prefix != "" && !slices.Contains(out, prefix) {
				out = append(out, prefix)
			}
		}
	}
	slices.Sort(out)
	return out
}

// subtopologies are the parts of the topology that name the topic.
func (s *sighting) subtopologies(name string) []string {
	var out []string
	for _, st := range s.group.Topology {
		if slices.Contains(st.SourceTopics, name) || slices.Contains(st.RepartitionSources, name) || slices.Contains(st.RepartitionSinks, name) || slices.Contains(st.Changelogs, name) {
			out = append(out, st.ID)
		}
	}
	if len(out) > 0 || s.hints.Topology == nil {
		return out
	}
	for _, id := range s.hints.Topology.PartOf(s.app, name) {
		out = append(out, strconv.Itoa(int(id)))
	}
	return out
}

// tasksOf folds what the members say of their tasks, and what the topology says
// where they do not: task s_p reads partition p of every source of subtopology s.
func tasksOf(g streams.Group, topics map[string]streams.Topic) []Task {
	byID := taskIndex{}
	for _, m := range g.Members {
		byID.placed(m)
	}
	for _, m := range g.Members {
		byID.lags(m)
	}
	for _, st := range g.Topology {
		byID.sources(st, topics)
	}
	out := make([]Task, 0, len(byID))
	for _, t := range byID {
		slices.SortFunc(t.Sources, streams.TopicPartition.Compare)
		out = append(out, *t)
	}
	slices.SortFunc(out, func(a, b Task) int { return a.ID.Compare(b.ID) })
	return out
}

// taskIndex are tasks by their IDs.
type taskIndex map[streams.TaskID]*Task

func (x taskIndex) at(id streams.TaskID) *Task {
	if x[id] == nil {
		x[id] = &Task{ID: id}
	}
	return x[id]
}

// placed adds what a member has.
func (x taskIndex) placed(m streams.Member) {
	for _, id := range m.Active {
		t := x.at(id)
		t.Active = append(t.Active, m.ID)
		t.Running = t.Running || m.OffsetSums[id] == streams.OffsetSumRunning
	}
	for _, id := range m.Standby {
		x.at(id).Standby = append(x.at(id).Standby, m.ID)
	}
	for _, id := range m.Warmup {
		x.at(id).Warmup = append(x.at(id).Warmup, m.ID)
	}
	for tp, id := range m.Sources {
		if t := x.at(id); !slices.Contains(t.Sources, tp) {
			t.Sources = append(t.Sources, tp)
		}
	}
}

// lags adds how far a member's copies are behind, where it told.
func (x taskIndex) lags(m streams.Member) {
	for id, end := range m.EndSums {
		t, sum := x[id], m.OffsetSums[id]
		if t == nil || sum < 0 || end < sum {
			continue
		}
		if lag := end - sum; t.Lag == nil || lag > *t.Lag {
			t.Lag = &lag
		}
	}
}

// sources adds what the tasks of a subtopology read, where no member told.
func (x taskIndex) sources(st streams.Subtopology, topics map[string]streams.Topic) {
	read := slices.Concat(st.SourceTopics, st.RepartitionSources)
	for id, t := range x {
		if strconv.Itoa(int(id.Subtopology)) != st.ID || len(t.Sources) > 0 {
			continue
		}
		for _, n := range read {
			if int(id.Partition) < len(topics[n].Partitions) {
				t.Sources = append(t.Sources, streams.TopicPartition{Topic: n, Partition: id.Partition})
			}
		}
	}
}

// kindSeen is a store kind that records showed.
type kindSeen struct {
	kind streams.StoreKind
	why  string
}

// prefix is what the name of an internal topic begins with: the application ID,
// or what the internal topics of the group's topology have in common
// (StreamsConfig.InternalConfig.TOPIC_PREFIX_ALTERNATIVE).
func (s *sighting) prefix(name string) string {
	var internal []string
	for _, st := range s.group.Topology {
		for _, n := range slices.Concat(st.RepartitionSources, st.RepartitionSinks, st.Changelogs) {
			if !slices.Contains(st.SourceTopics, n) {
				internal = append(internal, n)
			}
		}
	}
	if !slices.Contains(internal, name) || slices.ContainsFunc(internal, func(n string) bool { return strings.HasPrefix(n, s.app+"-") }) {
		return s.app
	}
	byID, _ := ownersOf(internal)
	for id := range byID {
		if !slices.ContainsFunc(internal, func(n string) bool { return !strings.HasPrefix(n, id+"-") }) {
			return id
		}
	}
	return s.app
}
