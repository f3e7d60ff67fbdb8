package discovery

import (
	"fmt"
	"maps"
	"slices"
	"strconv"

	"resurge/streams"
)

func (d *differ) group() {
	a, b := d.a.Group, d.b.Group
	name := "group " + b.ID
	switch {
	case a.Fault != nil || b.Fault != nil:
		d.unknown(name + ": " + unknownIn(a.Fault, b.Fault))
		return
	case a.Exists && !b.Exists:
		d.change(GroupWent, LevelBad, name, lower(a.State), "", "its offsets went with it")
		return
	case !a.Exists && b.Exists:
		d.change(GroupAppeared, LevelInfo, name, "", lower(b.State), "")
	case a.State != b.State:
		d.change(GroupState, LevelInfo, name, lower(a.State), lower(b.State), "")
	}
	if a.Exists && b.Exists && a.Protocol != b.Protocol && protocolKnown(a.Protocol) && protocolKnown(b.Protocol) {
		d.change(GroupProtocol, LevelLook, name, string(a.Protocol), string(b.Protocol), "")
	}
	d.members(membersOf(a), membersOf(b))
}

// members says who came and who left.
func (d *differ) members(was, is map[string]streams.Member) {
	for _, k := range slices.Sorted(maps.Keys(was)) {
		if _, ok := is[k]; !ok {
			d.change(MemberLeft, LevelInfo, "member "+memberName(was[k]), "", "", was[k].ID)
		}
	}
	for _, k := range slices.Sorted(maps.Keys(is)) {
		if _, ok := was[k]; !ok {
			d.change(MemberJoined, LevelInfo, "member "+memberName(is[k]), "", "", is[k].ID)
		}
	}
}

func protocolKnown(p streams.GroupProtocol) bool { return p != "" && p != streams.ProtocolUnknown }

// unknownIn says in which of the two something is not known, and why.
func unknownIn(a, b *streams.Fault) string {
	switch {
	case a != nil && b != nil:
		return "not known in either: " + b.Message
	case a != nil:
		return "not known in the first: " + a.Message
	}
	return "not known in the second: " + b.Message
}

// topics compares all topics by name.
func (d *differ) topics() {
	was, is := topicsOf(d.a), topicsOf(d.b)
	names := map[string]bool{}
	for n := range was {
		names[n] = true
	}
	for n := range is {
		names[n] = true
	}
	if f := d.b.CommitsFault; f != nil || d.a.CommitsFault != nil {
		d.unknown("committed offsets: " + unknownIn(d.a.CommitsFault, f))
	}
	for _, n := range slices.Sorted(maps.Keys(names)) {
		a, before := was[n]
		b, after := is[n]
		switch {
		case before && after:
			d.topic(a, b)
		case before:
			d.oneSided(a, d.b, TopicWent, "second")
		default:
			d.oneSided(b, d.a, TopicAppeared, "first")
		}
	}
}

func topicsOf(inv Inventory) map[string]Topic {
	out := make(map[string]Topic, len(inv.Topics))
	for _, t := range inv.Topics {
		out[t.Name] = t
	}
	return out
}

// oneSided is a topic that the other inventory does not list. An inventory with
// gaps may be short.
func (d *differ) oneSided(t Topic, other Inventory, kind ChangeKind, which string) {
	switch {
	case absent(t):
		return
	case len(other.Gaps) > 0 || other.CommitsFault != nil || other.Group.Fault != nil:
		d.unknown(fmt.Sprintf("topic %s: the %s does not list it and has gaps", streams.Quote(t.Name), which))
		return
	}
	level, detail := LevelInfo, ""
	if kind == TopicWent {
		level, detail = LevelLook, "deleted, or hidden from the principal that took the second"
	}
	before, after := string(t.Role), ""
	if kind == TopicAppeared {
		before, after = after, before
	}
	d.change(kind, level, "topic "+t.Name, before, after, detail)
}

// absent reports whether the topic is known not to exist.
func absent(t Topic) bool { return t.Fault != nil && t.Fault.Kind == streams.FaultNotFound }

// topic compares one topic that both list.
func (d *differ) topic(a, b Topic) {
	name := "topic " + b.Name
	switch {
	case absent(a) && absent(b):
		return
	case a.Fault != nil && !absent(a), b.Fault != nil && !absent(b):
		d.unknown(name + ": " + unknownIn(unanswered(a.Fault), unanswered(b.Fault)))
		return
	case absent(b):
		d.change(TopicWent, LevelBad, name, string(a.Role), "", "it does not exist any more")
		return
	case absent(a):
		d.change(TopicAppeared, LevelInfo, name, "", string(b.Role), "")
		return
	}
	d.shape(a, b, name)
}

// shape compares one topic that exists in both.
func (d *differ) shape(a, b Topic, name string) {
	sameLog := sameGeneration(a.ID, b.ID)
	if !sameLog && !d.out.OtherCluster {
		d.change(TopicRecreated, LevelLook, name, a.ID.String(), b.ID.String(), "another generation: its offsets are not those of before")
	}
	if a.Role != b.Role || a.Owned != b.Owned {
		d.change(TopicRole, LevelLook, name, roleOf(a), roleOf(b), "")
	}
	if len(a.Partitions) != len(b.Partitions) {
		d.change(TopicPartitions, LevelLook, name, strconv.Itoa(len(a.Partitions)), strconv.Itoa(len(b.Partitions)), "")
	}
	if a.ReplicationFactor != b.ReplicationFactor && a.ReplicationFactor > 0 && b.ReplicationFactor > 0 {
		d.change(TopicReplication, LevelInfo, name, strconv.Itoa(a.ReplicationFactor), strconv.Itoa(b.ReplicationFactor), "")
	}
	d.configs(a, b)
	d.positions(a, b, sameLog && !d.out.OtherCluster)
}

// unanswered is a fault that is no answer.
func unanswered(f *streams.Fault) *streams.Fault {
	if f != nil && f.Kind == streams.FaultNotFound {
		return nil
	}
	return f
}

func roleOf(t Topic) string {
	if t.Owned {
		return string(t.Role) + ", owned"
	}
	return string(t.Role)
}

// configs compares settings. One that only one of the two has is a change where
// it was set on the topic itself: brokers of other versions have other defaults.
func (d *differ) configs(a, b Topic) {
	if a.Configs == nil || b.Configs == nil {
		if a.Configs != nil || b.Configs != nil {
			d.unknown("configs of topic " + b.Name + ": not known in one of the two")
		}
		return
	}
	keys := map[string]bool{}
	for k := range a.Configs {
		keys[k] = true
	}
	for k := range b.Configs {
		keys[k] = true
	}
	for _, k := range slices.Sorted(maps.Keys(keys)) {
		x, before := a.Configs[k]
		y, after := b.Configs[k]
		if before && after && x.Value != y.Value || before != after && (x.Dynamic || y.Dynamic) {
			d.change(TopicConfig, LevelLook, "topic "+b.Name, k+"="+x.Value, k+"="+y.Value, k)
		}
	}
}

// tally counts what an operator must not overlook among many partitions.
type tally struct{ lost, back, ends, disappeared, beyond int64 }

// positions compares the partitions of one topic.
func (d *differ) positions(a, b Topic, sameLog bool) {
	was := map[int32]PartitionState{}
	for _, p := range a.Partitions {
		was[p.Partition] = p
	}
	var t tally
	blind := 0
	for _, q := range b.Partitions {
		p, ok := was[q.Partition]
		if !ok {
			continue // more partitions than before: told already
		}
		m, seen := d.partition(a, b, p, q, sameLog, &t)
		if !seen {
			blind++
		}
		if m.Committed != nil || m.Start != nil || m.End != nil {
			d.out.Moves = append(d.out.Moves, m)
		}
	}
	if blind > 0 {
		d.unknown(fmt.Sprintf("topic %s: %d of %d partitions are not known in one of the two", streams.Quote(b.Name), blind, len(b.Partitions)))
	}
	d.tell(b.Name, t)
}

// partition compares the positions of one partition; seen is false when one of
// them is not known in one of the two.
func (d *differ) partition(a, b Topic, p, q PartitionState, sameLog bool, t *tally) (m PartitionMove, seen bool) {
	m = PartitionMove{Topic: b.Name, Partition: q.Partition}
	none, known := position(d.a, a, p)
	noneNow, knownNow := position(d.b, b, q)
	ends := p.Start != nil && p.End != nil && q.Start != nil && q.End != nil
	commits := (none || known) && (noneNow || knownNow)
	if commits {
		m.Committed = d.move(offsetOf(p), offsetOf(q))
	}
	if ends {
		m.Start, m.End = d.move(p.Start, q.Start), d.move(p.End, q.End)
	}
	if !sameLog {
		for _, move := range []*Move{m.Committed, m.Start, m.End} {
			if move != nil && move.By != nil {
				move.Kind, move.By, move.PerSecond = MoveGeneration, nil, nil
			}
		}
		return m, commits && ends
	}
	t.count(m, q)
	return m, commits && ends
}

func (t *tally) count(m PartitionMove, q PartitionState) {
	if c := m.Committed; c != nil && c.Kind == MovedBack {
		t.back++
	} else if c != nil && c.Kind == MoveDisappeared {
		t.disappeared++
	}
	if s := m.Start; s != nil && s.By != nil && *s.By > 0 {
		t.lost += *s.By
		if q.Committed != nil && q.Committed.Offset < *q.Start {
			t.beyond++
		}
	}
	if m.End != nil && m.End.Kind == MovedBack {
		t.ends++
	}
}

func offsetOf(p PartitionState) *int64 {
	if p.Committed == nil {
		return nil
	}
	return &p.Committed.Offset
}

// tell adds a line for what must not be overlooked.
func (d *differ) tell(topic string, t tally) {
	say := func(n int64, kind ChangeKind, level Level, format string) {
		if n > 0 {
			d.change(kind, level, "topic "+topic, "", "", fmt.Sprintf(format, n))
		}
	}
	say(t.lost, RecordsLost, LevelLook, "the log start moved: %d offsets are gone from its beginning")
	say(t.beyond, CommitsOnGoneRecord, LevelBad, "on %d partitions the log starts after the commit: those records were never read")
	say(t.back, CommitsWentBack, LevelLook, "committed offsets of %d partitions went back")
	say(t.disappeared, CommitsDisappeared, LevelBad, "committed offsets of %d partitions are gone")
	say(t.ends, EndsWentBack, LevelBad, "the end of %d partitions went back: the log was cut")
}
