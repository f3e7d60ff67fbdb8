package discovery

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"resurge/streams"
)

// seenPartition is one partition as one look saw it.
type seenPartition struct {
	topic Topic
	state PartitionState
}

// changed are the partitions of which something is known to differ. A topic that
// is new to the view did not move.
func changed(a, b Inventory) map[streams.TopicPartition]bool {
	before := map[streams.TopicPartition]seenPartition{}
	topics := map[string]bool{}
	for _, t := range a.Topics {
		topics[t.Name] = true
		for _, p := range t.Partitions {
			before[streams.TopicPartition{Topic: t.Name, Partition: p.Partition}] = seenPartition{t, p}
		}
	}
	owners := a.Group.Fault == nil && b.Group.Fault == nil
	out := map[streams.TopicPartition]bool{}
	for _, t := range b.Topics {
		for _, p := range t.Partitions {
			tp := streams.TopicPartition{Topic: t.Name, Partition: p.Partition}
			was, there := before[tp]
			switch {
			case !there && topics[t.Name], there && !sameGeneration(was.topic.ID, t.ID),
				there && owners && was.state.Owner != p.Owner,
				there && (moved(was.state.Start, p.Start) || moved(was.state.End, p.End)),
				there && commitMoved(a, was, b, seenPartition{t, p}):
				out[tp] = true
			}
		}
	}
	return out
}

// moved reports whether two known numbers differ.
func moved(a, b *int64) bool { return a != nil && b != nil && *a != *b }

// commitMoved reports whether two known answers differ; no commit is an answer.
func commitMoved(a Inventory, was seenPartition, b Inventory, is seenPartition) bool {
	none, known := position(a, was.topic, was.state)
	noneNow, knownNow := position(b, is.topic, is.state)
	switch {
	case known && knownNow:
		return was.state.Committed.Offset != is.state.Committed.Offset
	case none || known:
		return (noneNow || knownNow) && none != noneNow
	}
	return false
}

// notes are the changes of group, members and topics in words. What one of the
// looks could not tell is no change.
func notes(a, b Inventory) []string {
	var out []string
	say := func(format string, args ...any) { out = append(out, fmt.Sprintf(format, args...)) }
	switch g, h := a.Group, b.Group; {
	case g.Fault == nil && h.Fault != nil:
		say("the group cannot be described any more: %s", h.Fault.Message)
	case g.Fault != nil && h.Fault == nil:
		say("the group can be described again: %s", lower(h.State))
	case h.Fault != nil:
	case g.Exists && !h.Exists:
		say("the group is gone")
	case !g.Exists && h.Exists:
		say("the group is there: %s", lower(h.State))
	case g.State != h.State:
		say("state %s, was %s", lower(h.State), lower(g.State))
	}
	if a.Group.Fault == nil && b.Group.Fault == nil {
		out = append(out, memberNotes(a.Group, b.Group)...)
	}
	return append(out, topicNotes(a, b)...)
}

func lower(state string) string { return strings.ToLower(state) }

// memberKey tells members apart: a static member keeps its place under a new ID.
func memberKey(m streams.Member) string { return cmp.Or(m.InstanceID, m.ID) }

func memberName(m streams.Member) string {
	name := cmp.Or(m.ClientID, m.InstanceID, m.ID)
	if host := strings.TrimPrefix(m.Host, "/"); host != "" {
		name += " on " + host
	}
	return streams.Quote(name)
}

func memberNotes(a, b streams.Group) []string {
	was, is := membersOf(a), membersOf(b)
	var out []string
	for _, k := range slices.Sorted(maps.Keys(was)) {
		if _, ok := is[k]; !ok {
			out = append(out, "member "+memberName(was[k])+" left")
		}
	}
	for _, k := range slices.Sorted(maps.Keys(is)) {
		if _, ok := was[k]; !ok {
			out = append(out, "member "+memberName(is[k])+" joined")
		}
	}
	return out
}

func membersOf(g streams.Group) map[string]streams.Member {
	out := make(map[string]streams.Member, len(g.Members))
	for _, m := range g.Members {
		out[memberKey(m)] = m
	}
	return out
}

func topicNotes(a, b Inventory) []string {
	before := map[string]Topic{}
	for _, t := range a.Topics {
		before[t.Name] = t
	}
	var out []string
	for _, t := range b.Topics {
		was, ok := before[t.Name]
		name := streams.Quote(t.Name)
		switch {
		case !ok || was.Fault != nil && t.Fault != nil:
		case t.Fault != nil && t.Fault.Kind == streams.FaultNotFound:
			out = append(out, "topic "+name+" is gone")
		case was.Fault != nil && was.Fault.Kind == streams.FaultNotFound:
			out = append(out, "topic "+name+" is there")
		case t.Fault != nil || was.Fault != nil:
		case !sameGeneration(was.ID, t.ID):
			out = append(out, "topic "+name+" was created again: its offsets begin anew")
		case len(was.Partitions) != len(t.Partitions):
			out = append(out, fmt.Sprintf("topic %s has %d partitions, it had %d", name, len(t.Partitions), len(was.Partitions)))
		}
	}
	return out
}
