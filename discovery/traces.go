package discovery

import (
	"context"
	"fmt"
	"maps"
	"slices"

	"resurge/streams"
)

// searchBound is the number of partitions up to which outputs are looked for
// among all topics of the cluster, by who wrote to them.
const searchBound = 10_000

// traces are the producers that were seen on topics. A producer of the
// application is known by its transactional ID, and with that proves who wrote a
// topic: one StreamThread writes changelogs, repartition topics and outputs with
// one producer. Without transactions a producer is only known by the repartition
// topics that it writes, which a mirroring tool does as well: that is a hint.
type traces struct {
	own     map[int64]string // producer ID to the application's transactional ID
	foreign map[int64]string // producer ID to another application's ID
	hinted  map[int64]string // producer ID to the repartition topic it writes
	wrote   map[string]map[int64]bool
}

// producers reads who wrote to the candidates and, while the cluster is not too
// large for it, to every other topic: outputs show in no other way.
func (d Discoverer) producers(ctx context.Context, inv *Inventory, s *sighting, names []string) error {
	parts := s.partitionsOf(names)
	others := s.partitionsOf(s.possibleOutputs(names))
	if s.mayWrite() {
		if d.SearchAll || len(others) <= searchBound {
			parts = append(parts, others...)
		} else {
			inv.Unseen = append(inv.Unseen, &streams.Fault{
				Kind: streams.FaultOther, What: outputsUnseen, Message: fmt.Sprintf("not looked for: the cluster has %d other partitions", len(others)),
				Hint: "name them in the configuration, import the topology with --topology, or give --search-outputs",
			})
		}
	}
	if len(parts) == 0 {
		return nil
	}
	seen, err := d.Reader.Producers(ctx, parts)
	if err != nil {
		if ctx.Err() != nil {
			return fmt.Errorf("look for producers: %w", err)
		}
		inv.Unseen = append(inv.Unseen, asFault(err, "producers of topics"))
		return nil
	}
	s.traces = newTraces(s.app, s.transactions, seen)
	inv.Unseen = append(inv.Unseen, unseenProducers(seen)...)
	return nil
}

// mayWrite reports whether anything could be found out from producers: with
// transactional IDs, or a repartition topic that the application reads.
func (s *sighting) mayWrite() bool {
	if slices.ContainsFunc(s.transactions, func(t streams.Transaction) bool { return streams.TransactionOwner(t.TransactionalID) == s.app }) {
		return true
	}
	for tp := range s.commits {
		if n, ok := streams.ParseInternal(s.prefix(tp.Topic), tp.Topic); ok && n.Kind != streams.KindChangelog {
			return true
		}
	}
	return false
}

// unseenProducers folds what was refused into one entry.
func unseenProducers(seen map[streams.TopicPartition]streams.Producers) []*streams.Fault {
	refused := map[string]bool{}
	var first *streams.Fault
	for _, tp := range slices.SortedFunc(maps.Keys(seen), streams.TopicPartition.Compare) {
		if f := seen[tp].Fault; f != nil && f.Kind != streams.FaultNotFound {
			refused[tp.Topic] = true
			if first == nil {
				first = f
			}
		}
	}
	if first == nil {
		return nil
	}
	f := *first
	f.What, f.Message = "producers of topics", fmt.Sprintf("%d %s would not say who writes: %s: %s", len(refused), plural(len(refused), "topic"), first.What, first.Message)
	return []*streams.Fault{&f}
}

func (s *sighting) partitionsOf(names []string) []streams.TopicPartition {
	var out []streams.TopicPartition
	for _, n := range names {
		for _, p := range s.topics[n].Partitions {
			out = append(out, streams.TopicPartition{Topic: n, Partition: p.Partition})
		}
	}
	return out
}

// possibleOutputs are the topics that are not candidates by name or by reading.
func (s *sighting) possibleOutputs(candidates []string) []string {
	known := make(map[string]bool, len(candidates))
	for _, n := range candidates {
		known[n] = true
	}
	var out []string
	for n, t := range s.topics {
		if !known[n] && !t.Internal && t.Fault == nil {
			out = append(out, n)
		}
	}
	slices.Sort(out)
	return out
}

func newTraces(app string, transactions []streams.Transaction, seen map[streams.TopicPartition]streams.Producers) traces {
	t := traces{own: map[int64]string{}, foreign: map[int64]string{}, hinted: map[int64]string{}, wrote: map[string]map[int64]bool{}}
	for _, tx := range transactions {
		switch owner := streams.TransactionOwner(tx.TransactionalID); owner {
		case app:
			t.own[tx.ProducerID] = tx.TransactionalID
		case "":
		default:
			t.foreign[tx.ProducerID] = owner
		}
	}
	for tp, p := range seen {
		for _, producer := range p.Active {
			if t.wrote[tp.Topic] == nil {
				t.wrote[tp.Topic] = map[int64]bool{}
			}
			t.wrote[tp.Topic][producer.ID] = true
		}
	}
	return t
}

// hint learns the producers of a repartition topic that is proven to be the
// application's.
func (t traces) hint(repartition string) {
	for id := range t.wrote[repartition] {
		if t.own[id] == "" && t.foreign[id] == "" && t.hinted[id] == "" {
			t.hinted[id] = repartition
		}
	}
}

// writers says which of the application's transactional IDs wrote to a topic.
func (t traces) writers(topic string) []string {
	var out []string
	for id := range t.wrote[topic] {
		if tx := t.own[id]; tx != "" {
			out = append(out, tx)
		}
	}
	slices.Sort(out)
	return out
}

// stranger is another application whose transactional ID wrote to the topic.
func (t traces) stranger(topic string) string {
	for _, id := range slices.Sorted(maps.Keys(t.wrote[topic])) {
		if app := t.foreign[id]; app != "" {
			return app
		}
	}
	return ""
}

// hintedBy is a repartition topic that has a producer in common with the topic.
func (t traces) hintedBy(topic string) string {
	for _, id := range slices.Sorted(maps.Keys(t.wrote[topic])) {
		if from := t.hinted[id]; from != "" && from != topic {
			return from
		}
	}
	return ""
}
