package discovery

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"resurge/streams"
)

// countFindings compare the partitions of changelogs with the tasks that write
// them: Kafka Streams ends with "existing internal topic has invalid partitions".
// A subtopology has as many tasks as its source with the most partitions
// (PartitionGrouper).
func countFindings(inv Inventory) []Finding {
	tasks, most := tasksBySource(inv)
	if most == 0 {
		return nil
	}
	var out []Finding
	compared := 0
	for _, t := range inv.ByRole(streams.RoleChangelog) {
		if t.Fault != nil || !t.Owned {
			continue
		}
		compared++
		n, want, known := len(t.Partitions), most, false
		for _, st := range t.Subtopologies {
			if tasks[st] > 0 {
				want, known = tasks[st], true
			}
		}
		f := Finding{Level: LevelBad, Name: "partition counts"}
		switch {
		case known && n != want:
			f.Detail = fmt.Sprintf("%s has %d partitions, the tasks that write it are %d", streams.Quote(t.Name), n, want)
			f.Advice = "the application ends when it starts: give the sources the partitions that they had, or rebuild"
		case !known && n > want:
			f.Detail = fmt.Sprintf("%s has %d partitions, the largest source that is known has %d", streams.Quote(t.Name), n, want)
			f.Advice = "the application ends when it starts, unless a source is missing in this list"
		default:
			continue
		}
		out = append(out, f)
	}
	if len(out) == 0 && compared > 0 {
		out = append(out, Finding{Level: LevelOK, Name: "partitions agree", Detail: fmt.Sprintf("%d %s no more partitions than the sources", compared, plural(compared, "changelog has", "changelogs have"))})
	}
	return out
}

// tasksBySource are the tasks of each subtopology, and the most partitions of any
// source.
func tasksBySource(inv Inventory) (tasks map[string]int, most int) {
	tasks = map[string]int{}
	for _, t := range inv.Topics {
		if t.Fault != nil || t.Role != streams.RoleInput && (t.Role != streams.RoleRepartition || !t.Owned) {
			continue
		}
		most = max(most, len(t.Partitions))
		for _, st := range readIn(inv, t) {
			tasks[st] = max(tasks[st], len(t.Partitions))
		}
	}
	return tasks, most
}

// readIn are the subtopologies whose tasks read the topic, where a topology tells.
func readIn(inv Inventory, t Topic) []string {
	var out []string
	for _, st := range inv.Group.Topology {
		if slices.Contains(st.SourceTopics, t.Name) || slices.Contains(st.RepartitionSources, t.Name) {
			out = append(out, st.ID)
		}
	}
	if len(inv.Group.Topology) > 0 || inv.Hints.Topology == nil {
		return out
	}
	for _, id := range inv.Hints.Topology.ReadBy(inv.Application, t.Name) {
		out = append(out, strconv.Itoa(int(id)))
	}
	return out
}

// configFindings compare settings with what Kafka Streams gives internal topics
// (InternalTopicConfig and its subclasses).
func configFindings(inv Inventory) []Finding {
	var out []Finding
	compacted, changelogs := 0, len(inv.ByRole(streams.RoleChangelog))
	for _, t := range inv.Topics {
		if t.Fault != nil || !t.Owned || len(t.Configs) == 0 {
			continue
		}
		if t.Role == streams.RoleChangelog {
			f, ok := changelogPolicy(t)
			if ok {
				compacted++
			}
			out = append(out, f...)
		}
		if f, bad := repartitionRetention(t); bad && t.Role == streams.RoleRepartition {
			out = append(out, f)
		}
		if t.Configs["message.timestamp.type"].Value == "LogAppendTime" {
			out = append(out, Finding{
				Level: LevelLook, Name: "times rewritten", Detail: streams.Quote(t.Name) + " has message.timestamp.type=LogAppendTime: the broker replaces event times, windows restore wrong",
				Advice: "set message.timestamp.type=CreateTime, as Kafka Streams does",
			})
		}
	}
	out = append(out, wantedFindings(inv)...)
	if changelogs > 0 && compacted == changelogs {
		out = append(out, Finding{Level: LevelOK, Name: "changelogs compacted", Detail: fmt.Sprintf("all %d, or kept by time where the store is a join window", changelogs)})
	}
	return out
}

// changelogPolicy reports whether a changelog's cleanup.policy keeps its state;
// join windows are kept by time alone.
func changelogPolicy(t Topic) (bad []Finding, ok bool) {
	cleanup := t.Configs["cleanup.policy"].Value
	switch {
	case cleanup == "":
		return nil, false
	case hasPolicy(t, "compact"), streams.StoreKind(t.StoreKind) == streams.StoreJoinWindow:
		return nil, true
	}
	return []Finding{{
		Level: LevelBad, Name: "not compacted", Detail: fmt.Sprintf("%s has cleanup.policy=%s: the only copy of its state is deleted by age", streams.Quote(t.Name), streams.Quote(cleanup)),
		Advice: "set cleanup.policy=compact; what is gone already only a rebuild or a backup brings back",
	}}, false
}

func repartitionRetention(t Topic) (Finding, bool) {
	cleanup := t.Configs["cleanup.policy"].Value
	retention := t.Configs["retention.ms"].Value
	switch {
	case strings.Contains(cleanup, "compact"):
		return Finding{
			Level: LevelBad, Name: "repartition compacted", Detail: streams.Quote(t.Name) + " has cleanup.policy=" + streams.Quote(cleanup) + ": records that nobody read yet may be dropped",
			Advice: "set cleanup.policy=delete and retention.ms=-1",
		}, true
	case retention != "" && retention != "-1":
		return Finding{
			Level: LevelLook, Name: "repartition expires", Detail: streams.Quote(t.Name) + " has retention.ms=" + streams.Quote(retention) + ": records that nobody read yet are dropped by age",
			Advice: "set retention.ms=-1; Kafka Streams purges what it has read by itself",
		}, true
	}
	return Finding{}, false
}

// wantedFindings compare with what the group's topology wants (KIP-1071).
func wantedFindings(inv Inventory) []Finding {
	var out []Finding
	for _, st := range inv.Group.Topology {
		for _, topic := range slices.Sorted(maps.Keys(st.Wanted)) {
			t, ok := inv.Topic(topic)
			if !ok || !t.Owned || t.Fault != nil || len(t.Configs) == 0 { // a table's source topic is not made by Kafka Streams
				continue
			}
			var unlike []string
			for _, k := range slices.Sorted(maps.Keys(st.Wanted[topic])) {
				if is, want := t.Configs[k].Value, st.Wanted[topic][k]; is != "" && !sameSetting(is, want) {
					unlike = append(unlike, fmt.Sprintf("%s is %s, the application wants %s", streams.Quote(k), streams.Quote(is), streams.Quote(want)))
				}
			}
			if len(unlike) > 0 {
				out = append(out, Finding{Level: LevelLook, Name: "unlike wanted", Detail: streams.Quote(topic) + ": " + strings.Join(unlike, "; "), Advice: "Kafka Streams does not change a topic that exists: set it with kafka-configs.sh, if it is not meant so"})
			}
		}
	}
	return out
}

// sameSetting compares two values of a setting; lists have no order.
func sameSetting(a, b string) bool {
	x, y := strings.Split(a, ","), strings.Split(b, ",")
	for i := range x {
		x[i] = strings.TrimSpace(x[i])
	}
	for i := range y {
		y[i] = strings.TrimSpace(y[i])
	}
	slices.Sort(x)
	slices.Sort(y)
	if slices.Equal(x, y) {
		return true
	}
	m, errA := strconv.ParseFloat(a, 64)
	n, errB := strconv.ParseFloat(b, 64)
	return errA == nil && errB == nil && m == n
}
