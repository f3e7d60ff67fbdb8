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

// ErrNewerVersion says that userdata was written by a Streams newer than this
// program knows: only its version numbers were read.
var ErrNewerVersion = errors.New("newer userdata version")

// SubscriptionInfo is what a classic Streams member says when it joins its
// group: the userdata of its subscription (Kafka's SubscriptionInfo, versions 1
// to 11). It is a snapshot of that moment.
type SubscriptionInfo struct {
	Version         int32
	LatestSupported int32 // -1 before version 3
	ProcessID       ProcessID
	// Active and Standby are the tasks of versions 1 to 6.
	Active  []TaskID
	Standby []TaskID
	// UserEndpoint is application.server, since version 2.
	UserEndpoint string
	// OffsetSums are, since version 7, the tasks that the member owns or has on
	// its disk, each with the sum of its changelog offsets; see
	// [OffsetSumRunning].
	OffsetSums map[TaskID]int64
	// UniqueField grows with every join of the consumer, since version 8.
	UniqueField int8
	ErrorCode   int32 // since version 9
	// ClientTags are the rack-awareness tags, since version 11.
	ClientTags map[string]string
}

// DecodeSubscriptionInfo reads userdata. A version beyond [NewestUserdata]
// answers both version numbers and an error that wraps [ErrNewerVersion].
func DecodeSubscriptionInfo(b []byte) (SubscriptionInfo, error) {
	d := &decoder{b: b}
	s := SubscriptionInfo{Version: d.int32("version"), LatestSupported: -1}
	if d.err == nil && (s.Version < 1 || s.Version > NewestUserdata) {
		return s.unknownVersion(d)
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
		s.UserEndpoint = d.utf8("user endpoint", d.bytes32("user endpoint"))
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
	return s, d.end("subscription userdata")
}

func (s SubscriptionInfo) unknownVersion(d *decoder) (SubscriptionInfo, error) {
	if s.Version < 1 {
		return s, fmt.Errorf("decode subscription userdata: version %d", s.Version)
	}
	s.LatestSupported = d.int32("latest supported version")
	if d.err != nil {
		return s, d.end("subscription userdata")
	}
	return s, fmt.Errorf("decode subscription userdata: version %d: %w", s.Version, ErrNewerVersion)
}

func (d *decoder) tasks(field string) []TaskID {
	n := d.count(field, 8)
	out := make([]TaskID, 0, n)
	for range n {
		out = append(out, TaskID{Subtopology: d.int32(field), Partition: d.int32(field)})
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
			t := TaskID{Subtopology: d.int32(field), Partition: d.int32(field)}
			sum := d.int64(field)
			t.Named = d.string16(field)
			out[t] = sum
		}
		return out
	}
	for range d.count(field, 8) {
		sub := d.int32(field)
		for range d.count(field, 12) {
			t := TaskID{Subtopology: sub, Partition: d.int32(field)}
			out[t] = d.int64(field)
		}
	}
	return out
}

func (d *decoder) tags() map[string]string {
	const field = "client tags"
	n := d.count(field, 8)
	if n == 0 {
		return nil
	}
	out := make(map[string]string, n)
	for range n {
		k := d.utf8(field, d.bytes32(field))
		out[k] = d.utf8(field, d.bytes32(field))
	}
	return out
}

// Encode writes the userdata in s.Version, tasks and tags in order.
func (s SubscriptionInfo) Encode() ([]byte, error) {
	if s.Version < 1 || s.Version > NewestUserdata {
		return nil, fmt.Errorf("encode subscription userdata: version %d", s.Version)
	}
	b := put32(nil, s.Version)
	if s.Version >= 3 {
		b = put32(b, s.LatestSupported)
	}
	b = append(b, s.ProcessID[:]...)
	if s.Version <= 6 {
		for _, tasks := range [][]TaskID{s.Active, s.Standby} {
			b = put32(b, int32(len(tasks)))
			for _, t := range tasks {
				b = put32(put32(b, t.Subtopology), t.Partition)
			}
		}
	}
	if s.Version >= 2 {
		b = putBytes32(b, []byte(s.UserEndpoint))
	}
	if s.Version >= 7 {
		b = s.putOffsetSums(b)
	}
	if s.Version >= 8 {
		b = append(b, byte(s.UniqueField))
	}
	if s.Version >= 9 {
		b = put32(b, s.ErrorCode)
	}
	if s.Version >= 11 {
		b = put32(b, int32(len(s.ClientTags)))
		for _, k := range slices.Sorted(maps.Keys(s.ClientTags)) {
			b = putBytes32(putBytes32(b, []byte(k)), []byte(s.ClientTags[k]))
		}
	}
	return b, nil
}

func (s SubscriptionInfo) putOffsetSums(b []byte) []byte {
	tasks := slices.SortedFunc(maps.Keys(s.OffsetSums), TaskID.Compare)
	if s.Version >= 10 {
		b = put32(b, int32(len(tasks)))
		for _, t := range tasks {
			b = put64(put32(put32(b, t.Subtopology), t.Partition), s.OffsetSums[t])
			b = putNullable16(b, t.Named)
		}
		return b
	}
	bySub := map[int32][]TaskID{}
	for _, t := range tasks {
		bySub[t.Subtopology] = append(bySub[t.Subtopology], t)
	}
	b = put32(b, int32(len(bySub)))
	for _, sub := range slices.Sorted(maps.Keys(bySub)) {
		b = put32(put32(b, sub), int32(len(bySub[sub])))
		for _, t := range bySub[sub] {
			b = put64(put32(b, t.Partition), s.OffsetSums[t])
		}
	}
	return b
}
