package ui

import (
	"maps"
	"slices"
	"strings"

	"resurge/discovery"
)

// topicText is everything about one topic.
func (s *applicationScreen) topicText(t discovery.Topic) reading {
	return reading{
		name: "topic", title: t.Name, what: "the topic's name",
		copy:  func() string { return t.Name },
		lines: func(_ *theme, w int) []line { return s.topicLines(t, w) },
	}
}

func (s *applicationScreen) topicLines(t discovery.Topic, w int) []line {
	f := &facts{w: w, name: 13}
	f.add("topic", t.Name)
	f.add("topic ID", t.ID.String())
	if s.group {
		f.add("role", "read by this group: what it is to an application is not known")
	} else {
		f.add("role", roleName(t.Role)+", "+ownership(t))
	}
	for _, e := range t.Evidence {
		f.add("evidence", e)
	}
	f.add("store", strings.TrimSpace(t.Store+" "+t.StoreKind))
	f.add("internal kind", string(t.Internal))
	if t.TableSource {
		f.toned("table source", warn, "also the changelog of its table: emptying it empties the table")
	}
	f.add("subtopologies", strings.Join(t.Subtopologies, ", "))
	f.add("also read by", strings.Join(t.ReadBy, ", "))
	f.add("written by", strings.Join(t.Writers, ", "))
	if t.Fault != nil {
		f.toned("not known", danger, brief(t.Fault))
	}
	if t.ReplicationFactor > 0 {
		f.add("replicas", grouped(int64(t.ReplicationFactor))+inSync(t))
	}
	f.blank()
	f.topicPartitions(s, t)
	f.configs(t)
	return f.lines
}

// ownership says whether the topic is proven to be the application's own.
func ownership(t discovery.Topic) string {
	switch {
	case t.Owned:
		return "proven to be this application's own"
	case t.Ambiguous:
		return "may be this application's: not proven, so it is left alone"
	}
	return "not proven to be this application's own"
}

// inSync names the partitions of which replicas are missing.
func inSync(t discovery.Topic) string {
	var out []string
	for _, p := range t.Partitions {
		if p.Replicas > 0 && p.ISR < p.Replicas {
			out = append(out, grouped(int64(p.Partition)))
		}
	}
	if len(out) == 0 {
		return ""
	}
	return "; not all in sync in " + strings.Join(out, ", ")
}

func (f *facts) topicPartitions(s *applicationScreen, t discovery.Topic) {
	if len(t.Partitions) == 0 {
		return
	}
	f.grid([]column{
		{title: "PART", width: 4, right: true},
		{title: "LEADER", width: 6, right: true, drop: 4},
		{title: "START", width: 13, right: true, drop: 1},
		{title: "COMMITTED", width: 13, right: true},
		{title: "END", width: 13, right: true, drop: 2},
		{title: "LAG", width: 11, right: true, drop: 3},
		{title: "COMMIT", width: 6, right: true, drop: 5},
		{title: "READ BY", width: 12, flex: 1, drop: 6},
	}, len(t.Partitions), func(i int) []string {
		p := t.Partitions[i]
		r := partitionRow{topic: t.Name, role: t.Role, reads: s.reads(t), fault: p.Fault, PartitionState: p}
		if r.fault == nil && r.reads {
			r.fault = s.data.inv.CommitsFault
		}
		leader := grouped(int64(p.Leader))
		committed, lag := r.position()
		if p.Leader < 0 {
			leader = "none"
		}
		return []string{grouped(int64(p.Partition)), leader, number(p.Start), committed, number(p.End), lag, s.commitAge(r), s.ownerName(r)}
	})
}

// configs adds the settings: those that were set on the topic, then the others.
func (f *facts) configs(t discovery.Topic) {
	var set, others []string
	for _, k := range slices.Sorted(maps.Keys(t.Configs)) {
		c := t.Configs[k]
		if c.Dynamic {
			set = append(set, k+"="+c.Value)
		} else {
			others = append(others, k+"="+c.Value)
		}
	}
	f.blank()
	if len(t.Configs) == 0 {
		f.add("config", "not known")
		return
	}
	for _, c := range set {
		f.add("set config", c)
	}
	f.add("by default", strings.Join(others, " "))
}
