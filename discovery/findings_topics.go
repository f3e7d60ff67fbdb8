package discovery

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"resurge/streams"
)

// topicFindings say what exists, and what is not clearly the application's.
func topicFindings(inv Inventory) []Finding {
	out := storesWithoutChangelog(inv)
	doubts := map[string][]string{}
	var alike []string
	for _, t := range inv.Topics {
		switch {
		case t.Role == streams.RoleLookalike && !t.Ambiguous:
			alike = append(alike, t.Name)
		case streams.IsFault(topicFault(t), streams.FaultNotFound):
			out = append(out, Finding{Level: LevelBad, Name: string(t.Role) + " missing", Detail: streams.Quote(t.Name) + " does not exist; " + strings.Join(t.Evidence, "; "), Advice: missingAdvice(t.Role)})
		case t.Fault != nil:
			out = append(out, Finding{Level: LevelUnknown, Name: "topic unknown", Detail: t.Fault.Error(), Advice: t.Fault.Hint})
		case t.Ambiguous:
			why := "nothing tells"
			if len(t.Evidence) > 0 {
				why = t.Evidence[len(t.Evidence)-1]
			}
			doubts[why] = append(doubts[why], t.Name)
		}
	}
	for _, why := range slices.Sorted(maps.Keys(doubts)) {
		out = append(out, Finding{Level: LevelLook, Name: "not proven", Detail: list(doubts[why]) + ": " + why, Advice: "left alone unless named with --internal-topics"})
	}
	if len(alike) > 0 {
		out = append(out, Finding{
			Level: LevelInfo, Name: "looks alike", Detail: fmt.Sprintf("%d %s named like internal ones of this application and are not: %s", len(alike), plural(len(alike), "topic is", "topics are"), list(alike)),
			Advice: "never touched; the topics list says why of each",
		})
	}
	return out
}

func topicFault(t Topic) error {
	if t.Fault == nil {
		return nil
	}
	return t.Fault
}

func missingAdvice(r streams.Role) string {
	switch r {
	case streams.RoleInput, streams.RoleGlobal:
		return "make it again, or restore it, before a start: Kafka Streams ends without a source topic"
	case streams.RoleChangelog, streams.RoleRepartition:
		return "the application makes it when it starts; what it held is lost"
	case streams.RoleOutput, streams.RoleLookalike:
	}
	return "make it again with the settings that it had"
}

// storesWithoutChangelog are stores that the operator or an imported topology
// names. A table that reads its source topic again has none of its own.
func storesWithoutChangelog(inv Inventory) []Finding {
	prefix, known := prefixOf(inv)
	if !known {
		return nil // under which names they would be is not known
	}
	sources := map[string]string{}
	if inv.Hints.Topology != nil {
		sources = inv.Hints.Topology.TableSources()
	}
	there := map[string]bool{}
	for _, t := range inv.Topics {
		if t.Fault == nil && t.Store != "" {
			there[t.Store] = true
		}
		if name, ok := streams.ParseInternal(prefix, t.Name); ok && t.Fault == nil {
			there[name.Name] = true
		}
	}
	var missing []string
	for _, store := range inv.Hints.Stores {
		source, hasSource := inv.Topic(sources[store])
		if !there[store] && (!hasSource || !source.TableSource) {
			missing = append(missing, store)
		}
	}
	if len(missing) == 0 {
		return nil
	}
	out := make([]Finding, 0, len(missing))
	for _, store := range missing {
		f := Finding{
			Level: LevelLook, Name: "changelog missing", Detail: streams.Quote(streams.ChangelogTopic(prefix, store)) + " does not exist, its store is in the topology",
			Advice: "a rebuild makes it anew; a store without logging, or a table that reuses its source topic, has none",
		}
		if old := renumbered(inv, store); old != "" {
			f.Level, f.Name = LevelBad, "stores renumbered"
			f.Detail += "; " + streams.Quote(old) + " is there and its store is not: an operator was added or taken away, and the state stayed under the old number"
			f.Advice = "deploy the topology that the state was made with, or rebuild; named stores do not move"
		}
		out = append(out, f)
	}
	return out
}

// prefixOf is what the names of the internal topics begin with; ok is false while
// one that is in doubt tells of another prefix.
func prefixOf(inv Inventory) (prefix string, ok bool) {
	for _, t := range inv.Topics {
		if strings.HasPrefix(t.Name, inv.Application+"-") {
			continue
		}
		if p, isStore := strings.CutSuffix(t.Name, streams.ChangelogTopic("", t.Store)); t.Owned && t.Store != "" && isStore {
			return p, true
		}
		if t.Ambiguous && streams.LooksInternal(t.Name) {
			return "", false
		}
	}
	return inv.Application, true
}

// renumbered is a changelog that is left over whose generated name differs from
// the store's in its number only.
func renumbered(inv Inventory, store string) string {
	base := strings.TrimRight(store, "0123456789")
	if base == store || !streams.IsDSLStoreName(store) {
		return ""
	}
	for _, t := range inv.Topics {
		if t.Store != store && strings.TrimRight(t.Store, "0123456789") == base && t.Fault == nil && !slices.Contains(inv.Hints.Stores, t.Store) {
			return t.Name
		}
	}
	return ""
}

// replicaFindings say which partitions nobody leads, or too few brokers hold.
func replicaFindings(inv Inventory) []Finding {
	var out []Finding
	seen, unknown := 0, false
	for _, t := range inv.Topics {
		if t.Fault != nil || t.Role == streams.RoleLookalike && !t.Ambiguous {
			continue
		}
		least, leastKnown := minISR(inv, t)
		seen += len(t.Partitions)
		leaderless, refused, behind, holes := replicasOf(t, least)
		unknown = unknown || holes
		out = append(out, replicaFinding(t, leaderless, refused, behind)...)
		if leastKnown && t.ReplicationFactor > 0 && t.ReplicationFactor < least {
			out = append(out, Finding{
				Level: LevelBad, Name: "too few replicas", Detail: fmt.Sprintf("%s has %d %s, min.insync.replicas is %d: every write that waits for all replicas is refused", streams.Quote(t.Name), t.ReplicationFactor, plural(t.ReplicationFactor, "replica"), least),
				Advice: "add replicas, or lower min.insync.replicas of the topic",
			})
		}
	}
	if len(out) == 0 && seen > 0 && !unknown {
		out = append(out, Finding{Level: LevelOK, Name: "replicas in sync", Detail: fmt.Sprintf("all %d partitions have a leader and all their replicas", seen)})
	}
	return out
}

// replicasOf are the partitions without a leader, with fewer replicas in sync than
// writes need, and with a replica that is behind; unknown: one does not tell.
func replicasOf(t Topic, least int) (leaderless, refused, behind []int32, unknown bool) {
	for _, p := range t.Partitions {
		switch {
		case p.Leader < 0:
			leaderless = append(leaderless, p.Partition)
		case p.Replicas == 0:
			unknown = true
		case p.ISR < least && p.Replicas >= least:
			refused = append(refused, p.Partition)
		case p.ISR < p.Replicas:
			behind = append(behind, p.Partition)
		}
	}
	return leaderless, refused, behind, unknown
}

func replicaFinding(t Topic, leaderless, refused, behind []int32) []Finding {
	var out []Finding
	if len(leaderless) > 0 {
		out = append(out, Finding{Level: LevelBad, Name: "no leader", Detail: where(t, leaderless) + ": no leader, nothing can be read or written", Advice: "bring back the brokers that hold it"})
	}
	if len(refused) > 0 {
		out = append(out, Finding{Level: LevelBad, Name: "below min.insync", Detail: where(t, refused) + ": fewer replicas in sync than min.insync.replicas, writes are refused", Advice: "bring back the brokers that hold it"})
	}
	if len(behind) > 0 {
		out = append(out, Finding{Level: LevelLook, Name: "under-replicated", Detail: where(t, behind) + ": not all replicas are in sync", Advice: "wait until they are before a recovery puts load on the cluster"})
	}
	return out
}

// minISR is min.insync.replicas: the topic's, else the broker's; 0 when neither
// is known.
func minISR(inv Inventory, t Topic) (n int, ok bool) {
	text := t.Configs["min.insync.replicas"].Value
	if text == "" {
		text = inv.Broker["min.insync.replicas"]
	}
	n, err := strconv.Atoi(text)
	return n, err == nil
}
