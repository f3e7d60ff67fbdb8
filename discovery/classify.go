package discovery

import (
	"maps"
	"slices"
	"strings"

	"resurge/streams"
)

// sighting is what the cluster said that bears on whose topics are whose.
// classify turns it into topics with role, ownership and evidence; it reads
// nothing itself.
type sighting struct {
	app     string
	group   streams.Group
	topics  map[string]streams.Topic
	commits map[streams.TopicPartition]streams.Commit
	// commitFaults are the partitions whose commit could not be read.
	commitFaults map[streams.TopicPartition]*streams.Fault
	list         streams.GroupList
	// transactions are the transactional IDs that start with app and a hyphen.
	transactions []streams.Transaction
	traces       traces
	// kinds are the store kinds that records showed, by changelog.
	kinds map[string]kindSeen
	// longer are other known application IDs that start with app and a hyphen.
	longer []string
	// claims are topics that other groups name in their topology.
	claims map[string]string
	// readers are the groups, other than app, with commits on or subscriptions
	// to a topic. asked says that they were looked for.
	readers map[string][]string
	asked   bool
	configs map[string]streams.TopicConfigs
	hints   Hints
	// listed says that the list of groups was complete.
	listed bool
}

// classify decides each topic's role and whether it is proven to be the
// application's own internal topic. The rules, strongest first:
//
//  1. the operator's declared inputs are inputs, whatever their name;
//  2. what a streams group's topology names is what it says (KIP-1071);
//  3. what the group has committed or subscribed to is read by it: an internal
//     name makes it a repartition topic, a changelog name makes it an input,
//     because Streams never commits its changelogs;
//  4. a changelog is owned by its name only when nothing else can claim it: no
//     longer application ID, no other group that reads it, no sign of a twin
//     whose group is gone, and the group itself exists;
//  5. a transactional ID of the application that wrote a topic settles a doubt
//     that rests on names alone, and one of a longer application ID takes the
//     topic away;
//  6. everything else that is named alike is a lookalike.
//
// It looks twice: the repartition topics that are proven in the first look tell
// whose producers are the application's.
func (s *sighting) classify() []Topic {
	first := s.look()
	for _, t := range first {
		if t.Owned && t.Role == streams.RoleRepartition {
			s.traces.hint(t.Name)
		}
	}
	out := first
	if len(s.traces.hinted) > 0 {
		out = s.look()
	}
	slices.SortFunc(out, func(a, b Topic) int {
		if d := roleOrder(a.Role) - roleOrder(b.Role); d != 0 {
			return d
		}
		return strings.Compare(a.Name, b.Name)
	})
	return out
}

func (s *sighting) look() []Topic {
	var out []Topic
	for _, name := range s.candidates() {
		t := s.describe(name)
		if t.Role != "" {
			out = append(out, t)
		}
	}
	s.markTwins(out)
	return out
}

func roleOrder(r streams.Role) int {
	order := []streams.Role{
		streams.RoleInput, streams.RoleGlobal, streams.RoleChangelog,
		streams.RoleRepartition, streams.RoleOutput, streams.RoleLookalike,
	}
	return slices.Index(order, r)
}

// candidates are the names that may have to do with the application.
func (s *sighting) candidates() []string {
	set := map[string]bool{}
	for _, n := range slices.Concat(s.hints.Inputs, s.hints.Intermediates, s.hints.Outputs, s.hints.Globals, s.hints.Internal) {
		set[n] = true
	}
	for n := range s.topics {
		if _, ok := streams.ParseInternal(s.app, n); ok {
			set[n] = true
		}
	}
	maps.Copy(set, s.read())
	for _, n := range s.written() {
		set[n] = true
	}
	for n := range s.traces.wrote {
		if len(s.traces.writers(n)) > 0 || s.traces.hintedBy(n) != "" {
			set[n] = true
		}
	}
	return slices.Sorted(maps.Keys(set))
}

func (s *sighting) describe(name string) Topic {
	t := s.shape(name)
	switch {
	case slices.Contains(s.hints.Inputs, name), slices.Contains(s.hints.Intermediates, name):
		t.Role, t.Evidence = streams.RoleInput, []string{"named as an input by the operator"}
	case s.importedGlobal(name):
		t.Role, t.Evidence = streams.RoleGlobal, []string{"source of a global table in the imported topology"}
	case slices.Contains(s.hints.Globals, name):
		t.Role, t.Evidence = streams.RoleGlobal, []string{"named as a global table by the operator"}
	case len(s.group.Topology) > 0:
		s.byTopology(&t)
	default:
		s.byTraces(&t)
	}
	s.byImport(&t)
	if t.Role == "" {
		s.asOutput(&t)
	}
	if len(t.Writers) > 0 && t.Role != "" {
		t.Evidence = append(t.Evidence, "written by its transactional ID "+streams.Quote(t.Writers[0]))
	}
	switch t.Role {
	case streams.RoleChangelog:
		s.guessStore(&t)
	case streams.RoleInput:
		s.tableSource(&t)
	case streams.RoleOutput, streams.RoleRepartition, streams.RoleGlobal, streams.RoleLookalike:
	}
	return t
}

// shape is what metadata and the name alone say.
func (s *sighting) shape(name string) Topic {
	t := Topic{Name: name, ReadBy: s.readers[name], Writers: s.traces.writers(name)}
	meta, known := s.topics[name]
	if known {
		t.ID, t.Fault = meta.ID, meta.Fault
		for _, p := range meta.Partitions {
			t.Partitions = append(t.Partitions, PartitionState{Partition: p.Partition, Leader: p.Leader, Replicas: len(p.Replicas), ISR: len(p.ISR), Fault: p.Fault})
			t.ReplicationFactor = max(t.ReplicationFactor, len(p.Replicas))
		}
	} else {
		t.Fault = &streams.Fault{Kind: streams.FaultNotFound, What: "topic " + streams.Quote(name), Message: "does not exist"}
	}
	if internal, ok := streams.ParseInternal(s.prefix(name), name); ok {
		t.Store, t.Internal = internal.Name, internal.Kind
	}
	t.Subtopologies = s.subtopologies(name)
	return t
}

// byTopology reads the streams group's own topology. What it does not name is
// not the application's.
func (s *sighting) byTopology(t *Topic) {
	for _, st := range s.group.Topology {
		isSource := slices.Contains(st.SourceTopics, t.Name)
		switch {
		case isSource && slices.Contains(st.Changelogs, t.Name):
			t.Role, t.TableSource = streams.RoleInput, true
			t.Evidence = append(t.Evidence, "source topic that is also the changelog of its table, in subtopology "+st.ID)
		case isSource:
			t.Role = streams.RoleInput
			t.Evidence = append(t.Evidence, "source topic of subtopology "+st.ID)
		case slices.Contains(st.RepartitionSources, t.Name), slices.Contains(st.RepartitionSinks, t.Name):
			t.Role, t.Owned = streams.RoleRepartition, true
			t.Evidence = append(t.Evidence, "repartition topic of subtopology "+st.ID+" in the group's topology")
		case slices.Contains(st.Changelogs, t.Name):
			t.Role, t.Owned = streams.RoleChangelog, true
			t.Evidence = append(t.Evidence, "changelog of subtopology "+st.ID+" in the group's topology")
		}
		if t.Role != "" {
			s.protect(t)
			return
		}
	}
	if _, ok := streams.ParseInternal(s.app, t.Name); ok {
		t.Role = streams.RoleLookalike
		t.Evidence = []string{"the group's topology does not name it"}
		return
	}
	if s.committed(t.Name) {
		t.Role = streams.RoleInput
		t.Evidence = []string{"the group has commits on it, its topology does not name it (an older topology's input)"}
	}
}

// byTraces infers roles for a classic group, or for one that has none.
func (s *sighting) byTraces(t *Topic) {
	internal, isInternal := streams.ParseInternal(s.app, t.Name)
	reads := s.reads(t.Name)
	switch {
	case isInternal && internal.Kind != streams.KindChangelog && reads != "":
		s.repartition(t, reads)
	case isInternal && internal.Kind == streams.KindChangelog && reads != "":
		t.Role = streams.RoleInput
		t.Evidence = []string{reads + "; Streams never reads its changelogs through the group, so this is a source topic"}
	case isInternal && internal.Kind == streams.KindChangelog:
		s.changelog(t)
	case isInternal:
		t.Role = streams.RoleLookalike
		t.Ambiguous = streams.LongestOwner(t.Name, s.longer) == "" && s.traces.stranger(t.Name) == ""
		t.Evidence = []string{"named like a repartition topic, but the group has no commit on it and no member subscribes to it"}
	case streams.LooksInternal(t.Name):
		s.otherPrefix(t, reads)
	case reads != "":
		t.Role, t.Evidence = streams.RoleInput, []string{reads}
	}
}

// otherPrefix takes a topic that is named like an internal topic of another
// application ID: it is the application's only with an overridden topic prefix,
// which the operator has to say.
func (s *sighting) otherPrefix(t *Topic, reads string) {
	named := slices.Contains(s.hints.Internal, t.Name)
	if reads == "" && !named {
		return
	}
	t.Role, t.Owned = streams.RoleChangelog, true
	s.protect(t)
	if !t.Owned {
		return
	}
	if reads == "" {
		reads = "named by the operator"
	}
	s.doubt(t, reads+"; it is named like an internal topic of another application ID (an overridden topic prefix?)")
}

// reads says how it is known that the group reads the topic; empty: it is not.
func (s *sighting) reads(name string) string {
	if s.committed(name) {
		return "the group has commits on it"
	}
	for _, m := range s.group.Members {
		if slices.Contains(m.Subscribed, name) {
			return "a member subscribes to it"
		}
	}
	return ""
}

func (s *sighting) committed(name string) bool {
	for tp := range s.commits {
		if tp.Topic == name {
			return true
		}
	}
	return false
}

func (s *sighting) repartition(t *Topic, reads string) {
	t.Role, t.Owned = streams.RoleRepartition, true
	t.Evidence = []string{reads, "named as a repartition topic of " + streams.Quote(s.app)}
	if s.strange(t) {
		return
	}
	if c, ok := s.configs[t.Name]; ok && c.Fault == nil && !looksRepartition(c) {
		s.doubt(t, "configured unlike a repartition topic of Streams (cleanup.policy=delete, retention.ms=-1): it may be an input with an unlucky name")
		return
	}
	s.protect(t)
}

// strange takes away what a longer application ID is named in, or what a
// transactional ID of another application wrote.
func (s *sighting) strange(t *Topic) bool {
	other, owner := s.traces.stranger(t.Name), streams.LongestOwner(t.Name, s.longer)
	var why string
	switch {
	case other != "":
		why = "a transactional ID of application " + streams.Quote(other) + " wrote it"
	case owner != "":
		why = "also named after application " + streams.Quote(owner) + ", which exists"
	default:
		return false
	}
	if len(t.Writers) > 0 { // both wrote it, or the names lie
		s.doubt(t, why)
	} else {
		s.disown(t, why)
	}
	return true
}

// looksRepartition compares with what Streams sets when it creates one
// (InternalTopicConfig: RepartitionTopicConfig).
func looksRepartition(c streams.TopicConfigs) bool {
	cleanup, retention := c.Values["cleanup.policy"].Value, c.Values["retention.ms"].Value
	return (cleanup == "delete" || cleanup == "") && (retention == "-1" || retention == "")
}

func (s *sighting) changelog(t *Topic) {
	t.Role, t.Owned = streams.RoleChangelog, true
	t.Evidence = []string{"named as a changelog of " + streams.Quote(s.app)}
	if s.strange(t) {
		return
	}
	if !s.group.Exists {
		s.doubt(t, "no group "+streams.Quote(s.app)+" exists: nothing but the name speaks for it")
		return
	}
	if !s.listed {
		s.doubt(t, "the list of groups is not complete: another application may claim it"+s.missingRight())
		return
	}
	t.Evidence = append(t.Evidence, "no other known application ID is a prefix of it")
	s.protect(t)
}

// protect takes ownership away from a topic that somebody else reads or names.
func (s *sighting) protect(t *Topic) {
	if !t.Owned {
		return
	}
	if other, claimed := s.claims[t.Name]; claimed {
		s.disown(t, "the topology of group "+streams.Quote(other)+" names it")
		return
	}
	if len(t.ReadBy) > 0 {
		quoted := make([]string, len(t.ReadBy))
		for i, g := range t.ReadBy {
			quoted[i] = streams.Quote(g)
		}
		why := "read by other groups: " + strings.Join(quoted, ", ")
		if c := s.configs[t.Name]; t.Role == streams.RoleChangelog && c.Fault == nil && c.Values != nil && !looksChangelog(c) {
			s.disown(t, why+"; and not configured as Streams configures a changelog")
		} else {
			s.doubt(t, why)
		}
		return
	}
	if !s.asked || !s.listed {
		s.doubt(t, "not every other group could be asked whether it reads it"+s.missingRight())
		return
	}
	t.Evidence = append(t.Evidence, "no other group reads it")
}

// missingRight says which right would complete the list of groups.
func (s *sighting) missingRight() string {
	if s.list.Filtered == nil {
		return ""
	}
	return " (" + s.list.Filtered.Hint + ")"
}

// looksChangelog reports whether the topic carries the settings that Streams
// gives every changelog it creates: a cleanup policy and the timestamp type
// (InternalTopicConfig, seen on 4.4.0).
func looksChangelog(c streams.TopicConfigs) bool {
	return c.Values["cleanup.policy"].Dynamic && c.Values["message.timestamp.type"].Dynamic
}

// disown says that the topic is somebody else's.
func (s *sighting) disown(t *Topic, why string) {
	t.Role, t.Owned = streams.RoleLookalike, false
	t.Evidence = append(t.Evidence, why)
}

// doubt says that the topic may be the application's, and is not proven to be.
func (s *sighting) doubt(t *Topic, why string) {
	s.disown(t, why)
	t.Ambiguous = true
}
