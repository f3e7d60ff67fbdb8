package kafka

import (
	"time"
	"unicode/utf16"

	"github.com/twmb/franz-go/pkg/kmsg"

	"resurge/streams"
)

// offsetsPartition is the partition of __consumer_offsets that keeps a group:
// Kafka takes the group's Java hash code and Utils.abs, which clears the sign
// (GroupMetadataManager.partitionFor).
func offsetsPartition(group string, partitions int32) int32 {
	var hash int32
	for _, unit := range utf16.Encode([]rune(group)) {
		hash = 31*hash + int32(unit)
	}
	return (hash & 0x7fffffff) % partitions
}

// Versions of keys and values of __consumer_offsets (OffsetCommitKey,
// GroupMetadataKey and their values). The keys of other numbers are of consumer,
// share and streams groups.
const (
	newestOffsetKey = 1
	groupKey        = 2
	newestValue     = 4
)

// groupNote is what one record of __consumer_offsets says of a group.
type groupNote struct {
	// partition is what a commit is of; nil: the note is of the group itself.
	partition *streams.TopicPartition
	gone      bool      // a tombstone
	at        time.Time // of the commit
	emptied   time.Time // when the last member left; zero: it has members, or never had any
}

// readGroupNote reads a record if it is about the group. Bytes that it cannot
// read are no note: they may be of a newer Kafka, or of anybody.
func readGroupNote(group string, key, value []byte) (groupNote, bool) {
	if len(key) < 2 {
		return groupNote{}, false
	}
	switch version := int16(key[0])<<8 | int16(key[1]); {
	case version < 0:
	case version <= newestOffsetKey:
		return readCommitNote(group, key, value)
	case version == groupKey:
		return readStateNote(group, key, value)
	}
	return groupNote{}, false
}

func readCommitNote(group string, key, value []byte) (groupNote, bool) {
	var k kmsg.OffsetCommitKey
	if k.ReadFrom(key) != nil || k.Group != group || k.Topic == "" || k.Partition < 0 {
		return groupNote{}, false
	}
	note := groupNote{partition: &streams.TopicPartition{Topic: k.Topic, Partition: k.Partition}}
	if value == nil {
		note.gone = true
		return note, true
	}
	var v kmsg.OffsetCommitValue
	if !knownValue(value) || v.ReadFrom(value) != nil || v.CommitTimestamp < 0 {
		return groupNote{}, false
	}
	note.at = time.UnixMilli(v.CommitTimestamp).UTC()
	return note, true
}

func readStateNote(group string, key, value []byte) (groupNote, bool) {
	var k kmsg.GroupMetadataKey
	if k.ReadFrom(key) != nil || k.Group != group {
		return groupNote{}, false
	}
	if value == nil {
		return groupNote{gone: true}, true
	}
	var v kmsg.GroupMetadataValue
	if !knownValue(value) || v.ReadFrom(value) != nil {
		return groupNote{}, false
	}
	var note groupNote
	// Without a protocol type nobody was ever a member.
	if len(v.Members) == 0 && v.ProtocolType != "" && v.CurrentStateTimestamp > 0 {
		note.emptied = time.UnixMilli(v.CurrentStateTimestamp).UTC()
	}
	return note, true
}

func knownValue(b []byte) bool {
	return len(b) >= 2 && b[0] == 0 && b[1] <= newestValue
}

// activityFold gathers notes from windows of the log, the newest window first
// and each from its start.
type activityFold struct {
	group string
	// newest are the last notes of this window, and of the newer ones before.
	window, newest map[streams.TopicPartition]groupNote
	windowState    *groupNote
	state          *groupNote
	windowSince    time.Time
	since          time.Time
}

func newActivityFold(group string) *activityFold {
	return &activityFold{group: group, window: map[streams.TopicPartition]groupNote{}, newest: map[streams.TopicPartition]groupNote{}}
}

// record takes one record of the window.
func (f *activityFold) record(key, value []byte, at time.Time) {
	if f.windowSince.IsZero() || at.Before(f.windowSince) {
		f.windowSince = at.UTC()
	}
	note, ok := readGroupNote(f.group, key, value)
	switch {
	case !ok:
	case note.partition != nil:
		f.window[*note.partition] = note
	default:
		f.windowState = &note
	}
}

// drop forgets a window that was not read to its end.
func (f *activityFold) drop() {
	clear(f.window)
	f.windowState, f.windowSince = nil, time.Time{}
}

// close ends a window: what newer windows said stands.
func (f *activityFold) close() {
	for tp, note := range f.window {
		if _, newer := f.newest[tp]; !newer {
			f.newest[tp] = note
		}
	}
	if f.state == nil {
		f.state = f.windowState
	}
	if !f.windowSince.IsZero() {
		f.since = f.windowSince
	}
	f.drop()
}

// found reports whether a commit was seen, so that older windows have only
// older ones.
func (f *activityFold) found() bool {
	for _, note := range f.newest {
		if !note.gone {
			return true
		}
	}
	return false
}

func (f *activityFold) activity() streams.Activity {
	a := streams.Activity{Commits: map[streams.TopicPartition]time.Time{}, Since: f.since}
	for tp, note := range f.newest {
		if note.gone {
			continue
		}
		a.Commits[tp] = note.at
		if note.at.After(a.LastCommit) {
			a.LastCommit = note.at
		}
	}
	if f.state != nil {
		a.Emptied = f.state.emptied
	}
	return a
}
