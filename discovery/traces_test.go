package discovery

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"resurge/streams"
)

const processID = "01234567-89ab-cdef-0123-456789abcdef"

// wrote adds a producer to partition 0 of a topic; a transactional ID gives the
// producer an owner.
func (w *world) wrote(topic string, producer int64, transactionalID string) *world {
	if transactionalID != "" {
		w.s.transactions = append(w.s.transactions, streams.Transaction{TransactionalID: transactionalID, ProducerID: producer, State: "CompleteCommit"})
	}
	seen := map[streams.TopicPartition]streams.Producers{}
	for name, ids := range w.s.traces.wrote {
		for id := range ids {
			tp := streams.TopicPartition{Topic: name}
			seen[tp] = streams.Producers{Active: append(seen[tp].Active, streams.Producer{ID: id})}
		}
	}
	tp := streams.TopicPartition{Topic: topic}
	seen[tp] = streams.Producers{Active: append(seen[tp].Active, streams.Producer{ID: producer})}
	w.s.traces = newTraces(w.s.app, w.s.transactions, seen)
	return w
}

func (w *world) imported(t *testing.T, text string) *world {
	t.Helper()
	top, err := streams.ParseTopology(text)
	if err != nil {
		t.Fatal(err)
	}
	w.s.hints.Topology = &top
	return w
}

func TestTransactionOwner(t *testing.T) {
	for id, want := range map[string]string{
		"shop-" + processID + "-1": "shop", "shop-v2-" + processID + "-12": "shop-v2", "shop-0_3": "shop", "a-b-1_0": "a-b",
		"shop": "", "shop-1": "", processID + "-1": "", "-" + processID + "-1": "", "shop-" + processID: "", "shop-" + processID + "-x": "",
		"shop-0_": "", "": "", "-0_1": "",
	} {
		if got := streams.TransactionOwner(id); got != want {
			t.Errorf("%q: got %q, want %q", id, got, want)
		}
	}
}

// A producer that is known by its transactional ID proves who wrote a topic, in
// both directions (KAFKA-14922).
func TestB1_ProducersTellTwinsApart(t *testing.T) {
	base := func() *world {
		return newWorld("orders").topic("in").commit("in").changelog("orders-counts-changelog").changelog("orders-v2-counts-changelog")
	}
	doubt := verdict{role: streams.RoleLookalike, ambiguous: true}
	for _, c := range []struct {
		name  string
		world *world
		want  verdict
	}{
		{"nothing wrote it", base(), doubt},
		{"its own transactional ID wrote it", base().wrote("orders-v2-counts-changelog", 7, "orders-"+processID+"-1"), verdict{role: streams.RoleChangelog, owned: true}},
		{"the twin's transactional ID wrote it", base().wrote("orders-v2-counts-changelog", 8, "orders-v2-"+processID+"-1"), verdict{role: streams.RoleLookalike}},
		{"a producer that nobody knows wrote it", base().wrote("orders-v2-counts-changelog", 9, ""), doubt},
		{
			"both wrote it",
			base().wrote("orders-v2-counts-changelog", 7, "orders-"+processID+"-1").wrote("orders-v2-counts-changelog", 8, "orders-v2-"+processID+"-1"), doubt,
		},
		{
			"its own wrote it, and the longer application exists", func() *world {
				w := base().wrote("orders-v2-counts-changelog", 7, "orders-"+processID+"-1")
				w.s.longer = []string{"orders-v2"}
				return w
			}(), doubt,
		},
		{
			"its own wrote it, and another group reads it", func() *world {
				w := base().wrote("orders-v2-counts-changelog", 7, "orders-"+processID+"-1")
				w.s.readers["orders-v2-counts-changelog"] = []string{"audit"}
				return w
			}(), doubt,
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			got := c.world.classified(t)["orders-v2-counts-changelog"]
			if have := (verdict{got.Role, got.Owned, got.Ambiguous}); have != c.want {
				t.Errorf("got %+v, want %+v; evidence: %s", have, c.want, strings.Join(got.Evidence, "; "))
			}
		})
	}
}

// A mirroring tool writes the repartition topics and changelogs of every
// application with one producer: that proves nothing.
func TestProducerWithoutTransactionIsOnlyAHint(t *testing.T) {
	w := newWorld("orders").topic("in").commit("in").changelog("orders-counts-changelog").repartition("orders-by-item-repartition").
		changelog("orders-v2-counts-changelog").topic("mirrored").
		wrote("orders-by-item-repartition", 5, "").wrote("orders-v2-counts-changelog", 5, "").wrote("mirrored", 5, "")
	got := w.classified(t)
	if topic := got["orders-v2-counts-changelog"]; topic.Owned || !topic.Ambiguous {
		t.Errorf("the twin's changelog: %+v", topic)
	}
	out := got["mirrored"]
	if out.Role != streams.RoleOutput || !strings.Contains(strings.Join(out.Evidence, ";"), "orders-by-item-repartition") {
		t.Errorf("a topic with the same producer: %+v", out)
	}
}

func TestOutputsAreSeenByTheirProducers(t *testing.T) {
	tx := "orders-" + processID + "-1"
	w := newWorld("orders").topic("in").commit("in").topic("totals").topic("elsewhere").topic("zzz-x-changelog", "cleanup.policy=compact").
		wrote("totals", 7, tx).wrote("elsewhere", 8, "").wrote("zzz-x-changelog", 7, tx).wrote("in", 7, tx)
	got := w.classified(t)
	if topic := got["totals"]; topic.Role != streams.RoleOutput || !cmp.Equal(topic.Writers, []string{tx}) || len(topic.Evidence) == 0 {
		t.Errorf("totals: %+v", topic)
	}
	if _, ok := got["elsewhere"]; ok {
		t.Error("a topic that somebody else writes is listed")
	}
	if topic := got["zzz-x-changelog"]; topic.Role != streams.RoleLookalike || !topic.Ambiguous {
		t.Errorf("a changelog under another prefix: %+v", topic)
	}
	if topic := got["in"]; topic.Role != streams.RoleInput {
		t.Errorf("an input that it also writes: %+v", topic)
	}
}

const shopTopology = `Topologies:
   Sub-topology: 0
    Source: KSTREAM-SOURCE-0000000000 (topics: [customers])
      --> KTABLE-SOURCE-0000000001
    Source: KSTREAM-SOURCE-0000000002 (topics: [orders])
      --> KSTREAM-FILTER-0000000005
    Processor: KTABLE-SOURCE-0000000001 (stores: [customers-store])
      --> none
      <-- KSTREAM-SOURCE-0000000000
    Processor: KSTREAM-FILTER-0000000005 (stores: [])
      --> by-item-repartition-sink
      <-- KSTREAM-SOURCE-0000000002
    Sink: by-item-repartition-sink (topic: by-item-repartition)
      <-- KSTREAM-FILTER-0000000005
   Sub-topology: 1 for global store (will not generate tasks)
    Source: KSTREAM-SOURCE-0000000006 (topics: [products])
      --> KTABLE-SOURCE-0000000007
    Processor: KTABLE-SOURCE-0000000007 (stores: [products-store])
      --> none
      <-- KSTREAM-SOURCE-0000000006
   Sub-topology: 2
    Source: by-item-repartition-source (topics: [by-item-repartition])
      --> KSTREAM-AGGREGATE-0000000003
    Processor: KSTREAM-AGGREGATE-0000000003 (stores: [v2-counts])
      --> KSTREAM-SINK-0000000008
      <-- by-item-repartition-source
    Sink: KSTREAM-SINK-0000000008 (topic: totals)
      <-- KSTREAM-AGGREGATE-0000000003
`

func TestImportedTopology(t *testing.T) {
	w := newWorld("shop").topic("customers", "cleanup.policy=compact").commit("customers").topic("orders").commit("orders").topic("products").topic("totals").
		changelog("shop-counts-changelog").changelog("shop-v2-counts-changelog").topic("shop-by-item-repartition", "cleanup.policy=delete", "retention.ms=-1").
		imported(t, shopTopology)
	got := w.classified(t)
	for name, want := range map[string]verdict{
		"customers": {role: streams.RoleInput}, "orders": {role: streams.RoleInput}, "products": {role: streams.RoleGlobal}, "totals": {role: streams.RoleOutput},
		"shop-v2-counts-changelog": {role: streams.RoleChangelog, owned: true},
		"shop-counts-changelog":    {role: streams.RoleLookalike, ambiguous: true}, // no such store any more
		"shop-by-item-repartition": {role: streams.RoleRepartition, owned: true},
	} {
		g := got[name]
		if have := (verdict{g.Role, g.Owned, g.Ambiguous}); have != want {
			t.Errorf("%s: got %+v, want %+v; evidence: %s", name, have, want, strings.Join(g.Evidence, "; "))
		}
	}
	if !got["customers"].TableSource || got["orders"].TableSource {
		t.Errorf("table sources: customers %v, orders %v", got["customers"].TableSource, got["orders"].TableSource)
	}
	if diff := cmp.Diff([]string{"2"}, got["shop-v2-counts-changelog"].Subtopologies); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff([]string{"0", "2"}, got["shop-by-item-repartition"].Subtopologies); diff != "" {
		t.Error(diff)
	}
}

// B21: every inference is labelled with its evidence.
func TestB21_EveryInferenceHasEvidence(t *testing.T) {
	w := newWorld("shop").topic("customers").commit("customers").topic("orders").topic("totals").changelog("shop-counts-changelog").
		repartition("shop-by-item-repartition").changelog("shop-old-v2-counts-changelog").wrote("totals", 7, "shop-"+processID+"-1").imported(t, shopTopology)
	for _, topic := range w.s.classify() {
		if len(topic.Evidence) == 0 {
			t.Errorf("%s is called %s without evidence", topic.Name, topic.Role)
		}
	}
}

func TestOrphans(t *testing.T) {
	c := &crowd{list: streams.GroupList{Groups: []streams.GroupListing{{ID: "orders"}, {ID: "orders-v2"}}}}
	topics := make([]streams.Topic, 0, 11)
	for _, n := range []string{
		"orders-a-changelog", "orders-v2-a-changelog", "orders-v2-b-repartition", "plain",
		"gone-KSTREAM-AGGREGATE-STATE-STORE-0000000003-changelog", "gone-per-minute-changelog", "gone-KSTREAM-AGGREGATE-STATE-STORE-0000000003-repartition",
		"old-app-counts-changelog", "old-app-per-minute-changelog", "single-store-changelog",
		"fk-KTABLE-FK-JOIN-SUBSCRIPTION-REGISTRATION-0000000004-topic",
	} {
		topics = append(topics, streams.Topic{Name: n})
	}
	c.sortTopics(topics)
	if len(c.owned["orders"]) != 1 || len(c.owned["orders-v2"]) != 2 {
		t.Errorf("owned: %v", c.owned)
	}
	got := make([]string, 0, 5)
	for _, r := range c.orphans() {
		got = append(got, r.Application)
		if !r.Orphan || len(r.Evidence) == 0 || r.Level == LevelOK {
			t.Errorf("row %+v", r)
		}
	}
	if diff := cmp.Diff([]string{"fk", "gone", "old-app", "single"}, got); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
}

func TestTasksOf(t *testing.T) {
	at := func(s, p int32) streams.TaskID { return streams.TaskID{Subtopology: s, Partition: p} }
	in := func(p int32) streams.TopicPartition { return streams.TopicPartition{Topic: "in", Partition: p} }
	g := streams.Group{Members: []streams.Member{
		{
			ID: "a", Active: []streams.TaskID{at(0, 0)}, Standby: []streams.TaskID{at(1, 0)}, Sources: map[streams.TopicPartition]streams.TaskID{in(0): at(0, 0)},
			OffsetSums: map[streams.TaskID]int64{at(0, 0): streams.OffsetSumRunning, at(1, 0): 40}, EndSums: map[streams.TaskID]int64{at(1, 0): 100},
		},
		{ID: "b", Active: []streams.TaskID{at(1, 0), at(0, 0)}, Warmup: []streams.TaskID{at(0, 1)}},
	}, Topology: []streams.Subtopology{{ID: "1", SourceTopics: []string{"other"}, RepartitionSources: []string{"r"}}}}
	topics := map[string]streams.Topic{"r": {Partitions: make([]streams.Partition, 1)}}
	lag := int64(60)
	want := []Task{
		{ID: at(0, 0), Sources: []streams.TopicPartition{in(0)}, Active: []string{"a", "b"}, Running: true},
		{ID: at(0, 1), Warmup: []string{"b"}},
		{ID: at(1, 0), Sources: []streams.TopicPartition{{Topic: "r"}}, Active: []string{"b"}, Standby: []string{"a"}, Lag: &lag},
	}
	if diff := cmp.Diff(want, tasksOf(g, topics)); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
}

// B10, B11: no commit is a value of its own, and no arithmetic is done with it.
func TestB10_NoCommitIsAValueOfItsOwn(t *testing.T) {
	tp := func(p int32) streams.TopicPartition { return streams.TopicPartition{Topic: "in", Partition: p} }
	a := placer{
		s:     sighting{commits: map[streams.TopicPartition]streams.Commit{tp(0): {Offset: 7, Metadata: "AgAAAYvP5WgA"}}},
		marks: map[streams.TopicPartition]streams.Watermarks{tp(0): {Start: 1, End: 10, Stable: 9}, tp(1): {Start: 2, End: 5, Stable: 5}},
	}
	var with, without, unknown PartitionState
	with.Partition, without.Partition, unknown.Partition = 0, 1, 2
	for _, p := range []*PartitionState{&with, &without, &unknown} {
		a.place(p, "in")
	}
	if with.Lag == nil || *with.Lag != 3 || with.Streams == nil || !with.Streams.PartitionTime.Equal(time.UnixMilli(1_700_000_000_000)) {
		t.Errorf("with a commit: %+v", with)
	}
	if without.Committed != nil || without.Lag != nil || without.End == nil {
		t.Errorf("without a commit: %+v", without)
	}
	if unknown.End != nil || unknown.Start != nil {
		t.Errorf("a partition that nobody answered for: %+v", unknown)
	}
	topic := Topic{Partitions: []PartitionState{with, without}}
	if n, ok := topic.Lag(); !ok || n != 6 {
		t.Errorf("lag of the topic %d, %v: an uncommitted partition counts from its start", n, ok)
	}
	if slices.ContainsFunc(topic.Partitions, func(p PartitionState) bool { return p.Committed != nil && p.Committed.Offset < 0 }) {
		t.Error("a commit below zero")
	}
}
