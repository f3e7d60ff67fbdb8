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
	tasks := map[string]int{} // by subtopology
	most, sources := 0, 0
	for _, t := range inv.Topics {
		if t.Fault != nil || t.Role != streams.RoleInput && (t.Role != streams.RoleRepartition || !t.Owned) {
			continue
		}
		sources++
		most = max(most, len(t.Partitions))
		for _, st := range readIn(inv, t) {
			tasks[st] = max(tasks[st], len(t.Partitions))
		}
	}
	var out []Finding
	compared := 0
	for _, t := range inv.ByRole(streams.RoleChangelog) {
		if t.Fault != nil || !t.Owned || sources == 0 {
			continue
		}
		want := most // the largest source, where nobody says which
		for _, st := range t.Subtopologies {
			if n, ok := tasks[st]; ok {
				want = n
			}
		}
		known := len(t.Subtopologies) > 0
		n := len(t.Partitions)
		compared++
		switch {
		case known && n != want:
			out = append(out, Finding{
				Level: LevelBad, Name: "partition counts", Detail: fmt.Sprintf("%s has %d partitions, the tasks that write it are %d", streams.Quote(t.Name), n, want),
				Advice: "the application ends when it starts: give the sources the partitions that they had, or rebuild",
			})
		case !known && n > want:
			out = append(out, Finding{
				Level: LevelBad, Name: "partition counts", Detail: fmt.Sprintf("%s has %d partitions, the largest source that is known has %d", streams.Quote(t.Name), n, want),
				Advice: "the application ends when it starts, unless a source is missing in this list",
			})
		}
	}
	if len(out) == 0 && compared > 0 {
		out = append(out, Finding{Level: LevelOK, Name: "partitions agree", Detail: fmt.Sprintf("%d %s no more partitions than the sources", compared, plural(compared, "changelog has", "changelogs have"))})
	}
	return out
}

// readIn are the subtopologies that read the topic.
func readIn(inv Inventory, t Topic) []string {
	if len(inv.Group.Topology) == 0 {
		return t.Subtopologies // an imported text: its sinks have subtopologies as well
	}
	var out []string
	for _, st := range inv.Group.Topology {
		if slices.Contains(st.SourceTopics, t.Name) || slices.Contains(st.RepartitionSources, t.Name) {
			out = append(out, st.ID)
		}
	}
	return out
}

// configFindings compare settings with what Kafka Streams gives internal topics
// (InternalTopicConfig and its subclasses).
func configFindings(inv Inventory) []Finding {
	var out []Finding
	compacted, changelogs := 0, 0
	for _, t := range inv.Topics {
		if t.Fault != nil || !t.Owned || len(t.Configs) == 0 {
			continue
		}
		cleanup := t.Configs["cleanup.policy"].Value
		switch t.Role {
		case streams.RoleChangelog:
			changelogs++
			if cleanup != "" && (strings.Contains(cleanup, "compact") || streams.StoreKind(t.StoreKind) == streams.StoreJoinWindow) {
				compacted++
			} else if cleanup != "" {
				out = append(out, Finding{
					Level: LevelBad, Name: "not compacted", Detail: fmt.Sprintf("%s has cleanup.policy=%s: the only copy of its state is deleted by age", streams.Quote(t.Name), streams.Quote(cleanup)),
					Advice: "set cleanup.policy=compact; what is gone already only a rebuild or a backup brings back",
				})
			}
		case streams.RoleRepartition:
			if f, bad := repartitionRetention(t, cleanup); bad {
				out = append(out, f)
			}
		case streams.RoleInput, streams.RoleOutput, streams.RoleGlobal, streams.RoleLookalike:
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

func repartitionRetention(t Topic, cleanup string) (Finding, bool) {
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
			if !ok || t.Fault != nil || len(t.Configs) == 0 {
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
