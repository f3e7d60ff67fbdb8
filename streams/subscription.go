package streams

import (
	"errors"
	"fmt"
	"maps"
	"slices"
)

// Offset sums of a task that are no sums (Kafka's Task.LATEST_OFFSET and
// OffsetCheckpoint.OFFSET_UNKNOWN as the assignor sees them).
const (
	// OffsetSumRunning marks an active task that runs: it is caught up.
	OffsetSumRunning int64 = -2
	// OffsetSumUnknown marks a task of which nothing is known.
	OffsetSumUnknown int64 = -3
)

// NewestUserdata is the newest version of SubscriptionInfo and AssignmentInfo
// that can be read; it is the one since Kafka Streams 3.2.
const NewestUserdata = 11

// ErrNewerVersion says that bytes were written by a Streams newer than this
// program knows: only their version numbers were read.
var ErrNewerVersion = errors.New("newer version than is known here")

const subscriptionUserdata = "subscription userdata"

// SubscriptionInfo is what a classic Streams member says when it joins its
// group: the userdata of its subscription (Kafka's SubscriptionInfo, versions 1
// to 11). It is a snapshot of that moment.
type SubscriptionInfo struct {
	// Version is that of the bytes, 1 to [NewestUserdata].
	Version int32
	// LatestSupported is the newest version that the member can read, since
	// version 3; -1 before.
	LatestSupported int32
	// ProcessID is the instance: members that share it are its threads.
	ProcessID ProcessID
	// Active and Standby are the tasks of versions 1 to 6: those that the member
	// ran, and those that it finds on its disk.
	Active  []TaskID
	Standby []TaskID
	// UserEndpoint is application.server as host:port, since version 2; "" when
	// it is not set.
	UserEndpoint string
	// OffsetSums are, since version 7, the tasks that the member owns or has on
	// its disk, each with the sum of the next offsets of its changelogs, or
	// [OffsetSumRunning] or [OffsetSumUnknown].
	OffsetSums map[TaskID]int64
	// UniqueField changes with every join of the consumer, since version 8: it
	// makes the broker see new bytes and rebalance.
	UniqueField int8
	// ErrorCode is 0, or why the member asks for something special (4: shut the
	// application down), since version 9.
	ErrorCode int32
	// ClientTags are the rack-awareness tags, since version 11 (KIP-708).
	ClientTags map[string]string
}

// DecodeSubscriptionInfo reads userdata. A version beyond [NewestUserdata]
// answers both version numbers and an error that wraps [ErrNewerVersion]; bytes
// that end early one that wraps [ErrTruncated]. Every error names its field.
func DecodeSubscriptionInfo(b []byte) (SubscriptionInfo, error) {
	d := &decoder{b: b}
	s := SubscriptionInfo{Version: d.int32("version"), LatestSupported: -1}
	if d.err == nil && (s.Version < 1 || s.Version > NewestUserdata) {
		latest, err := d.unknownVersion(subscriptionUserdata, s.Version)
		return SubscriptionInfo{Version: s.Version, LatestSupported: latest}, err
	}
	if s.Version >= 3 {
		s.LatestSupported = d.int32("latest supported version")
	}
	copy(s.ProcessID[:], d.take("process id", len(s.ProcessID)))
	if s.Version <= 6 {
		s.Active = d.tasks("previous tasks")
		s.Standby = d.tasks("standby tasks")
	}
	if s.Version >= 2 {
		s.UserEndpoint = d.string32("user endpoint")
	}
	if s.Version >= 7 {
		s.OffsetSums = d.offsetSums(s.Version)
	}
	if s.Version >= 8 {
		s.UniqueField = d.int8("unique field")
	}
	if s.Version >= 9 {
		s.ErrorCode = d.int32("error code")
	}
	if s.Version >= 11 {
		s.ClientTags = d.tags()
	}
	if err := d.end(subscriptionUserdata); err != nil {
		return SubscriptionInfo{Version: s.Version, LatestSupported: s.LatestSupported}, err
	}
	return s, nil
}

// unknownVersion answers the number after the version, which keeps its place in
// newer versions, so that both sides can find a common one (Kafka's "version
// probing").
func (d *decoder) unknownVersion(what string, version int32) (int32, error) {
	if version < 1 {
		return -1, fmt.Errorf("decode %s: version: %d is not positive", what, version)
	}
	latest := d.int32("latest supported version")
	if d.err != nil {
		return -1, fmt.Errorf("decode %s: %w", what, d.err)
	}
	return latest, fmt.Errorf("decode %s: version %d: %w", what, version, ErrNewerVersion)
}

func (d *decoder) tasks(field string) []TaskID {
	n := d.count(field, 8)
	out := make([]TaskID, 0, n)
	for range n {
		out = append(out, TaskID{Subtopology: d.index(field), Partition: d.index(field)})
	}
	return out
}

// offsetSums reads tasks grouped by subtopology (versions 7 to 9), or one by
// one with their named topology (10 and 11).
func (d *decoder) offsetSums(version int32) map[TaskID]int64 {
	const field = "task offset sums"
	out := map[TaskID]int64{}
	if version >= 10 {
		for range d.count(field, 18) {
			t := TaskID{Subtopology: d.index(field), Partition: d.index(field)}
			sum := d.int64(field)
			t.Named = d.named(d.string16(field))
			out[t] = sum
		}
		return out
	}
	for range d.count(field, 8) {
		sub := d.index(field)
		for range d.count(field, 12) {
			t := TaskID{Subtopology: sub, Partition: d.index(field)}
			out[t] = d.int64(field)
		}
	}
	return out
}

// named checks a named topology that was read.
func (d *decoder) named(s string) string {
	if err := checkNamed(s); err != nil {
		d.fail("named topology", err)
		return ""
	}
	return s
}

func (d *decoder) tags() map[string]string {
	const field = "client tags"
	n := d.count(field, 8)
	if n == 0 {
		return nil
	}
	out := make(map[string]string, n)
	for range n {
		k := d.string32(field)
		out[k] = d.string32(field)
	}
	return out
}

// Encode writes the userdata in s.Version, tasks and tags in order, so that equal
// values are equal bytes. What the version has no field for is left out, except
// a named topology, which is an error before version 10.
func (s SubscriptionInfo) Encode() ([]byte, error) {
	if s.Version < 1 || s.Version > NewestUserdata {
		return nil, fmt.Errorf("encode %s: version %d is not 1 to %d", subscriptionUserdata, s.Version, NewestUserdata)
	}
	e := &encoder{}
	e.int32(s.Version)
	if s.Version >= 3 {
		e.int32(s.LatestSupported)
	}
	e.b = append(e.b, s.ProcessID[:]...)
	if s.Version <= 6 {
		e.tasks("previous tasks", s.Active)
		e.tasks("standby tasks", s.Standby)
	}
	if s.Version >= 2 {
		e.string32("user endpoint", s.UserEndpoint)
	}
	if s.Version >= 7 {
		e.offsetSums(s.Version, s.OffsetSums)
	}
	if s.Version >= 8 {
		e.b = append(e.b, byte(s.UniqueField))
	}
	if s.Version >= 9 {
		e.int32(s.ErrorCode)
	}
	if s.Version >= 11 {
		const field = "client tags"
		e.count(field, len(s.ClientTags))
		for _, k := range slices.Sorted(maps.Keys(s.ClientTags)) {
			e.string32(field, k)
			e.string32(field, s.ClientTags[k])
		}
	}
	return e.end(subscriptionUserdata)
}

func (e *encoder) tasks(field string, tasks []TaskID) {
	e.count(field, len(tasks))
	for _, t := range tasks {
		e.unnamed(field, t)
		e.index(field, t.Subtopology)
		e.index(field, t.Partition)
	}
}

// unnamed refuses a task that a version without named topologies cannot write.
func (e *encoder) unnamed(field string, t TaskID) {
	if t.Named != "" {
		e.fail(field, fmt.Errorf("task %s: no named topologies before version 10", Quote(t.String())))
	}
}

func (e *encoder) named(t TaskID) {
	if err := checkNamed(t.Named); err != nil {
		e.fail("named topology", err)
	}
}

func (e *encoder) offsetSums(version int32, sums map[TaskID]int64) {
	const field = "task offset sums"
	tasks := slices.SortedFunc(maps.Keys(sums), TaskID.Compare)
	if version >= 10 {
		e.count(field, len(tasks))
		for _, t := range tasks {
			e.named(t)
			e.index(field, t.Subtopology)
			e.index(field, t.Partition)
			e.int64(sums[t])
			e.nullable16(field, t.Named)
		}
		return
	}
	bySub := map[int32][]TaskID{}
	for _, t := range tasks {
		e.unnamed(field, t)
		bySub[t.Subtopology] = append(bySub[t.Subtopology], t)
	}
	e.count(field, len(bySub))
	for _, sub := range slices.Sorted(maps.Keys(bySub)) {
		e.index(field, sub)
		e.count(field, len(bySub[sub]))
		for _, t := range bySub[sub] {
			e.index(field, t.Partition)
			e.int64(sums[t])
		}
	}
}
