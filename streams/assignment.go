package streams

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"slices"
	"unicode/utf16"
)

// HostInfo is an instance's application.server.
type HostInfo struct {
	Host string
	Port int32
}

// Compare orders by host, then port.
func (h HostInfo) Compare(o HostInfo) int {
	return cmp.Or(cmp.Compare(h.Host, o.Host), cmp.Compare(h.Port, o.Port))
}

// AssignmentInfo is what the group's leader tells a classic Streams member: the
// userdata of its assignment (Kafka's AssignmentInfo, versions 1 to 11).
type AssignmentInfo struct {
	Version           int32
	CommonlySupported int32 // since version 3
	// Active has one entry per assigned partition, in the order of the sorted
	// partitions; see [TaskPartitions].
	Active  []TaskID
	Standby map[TaskID][]TopicPartition
	// Hosts and StandbyHosts say which instance serves which partitions.
	Hosts        map[HostInfo][]TopicPartition
	StandbyHosts map[HostInfo][]TopicPartition // since version 6
	ErrorCode    int32                         // since version 4
	// NextRebalanceMillis is the wall clock of a scheduled probing rebalance,
	// since version 7; math.MaxInt64 means none.
	NextRebalanceMillis int64
}

// DecodeAssignmentInfo reads userdata. A version beyond [NewestUserdata] is an
// error that wraps [ErrNewerVersion].
func DecodeAssignmentInfo(b []byte) (AssignmentInfo, error) {
	d := &decoder{b: b}
	a := AssignmentInfo{Version: d.int32("version"), NextRebalanceMillis: math.MaxInt64}
	switch {
	case d.err != nil:
		return a, d.end("assignment userdata")
	case a.Version < 1:
		return a, fmt.Errorf("decode assignment userdata: version %d", a.Version)
	case a.Version > NewestUserdata:
		return a, fmt.Errorf("decode assignment userdata: version %d: %w", a.Version, ErrNewerVersion)
	}
	if a.Version >= 3 {
		a.CommonlySupported = d.int32("commonly supported version")
	}
	size := taskSize(a.Version)
	for range d.count("active tasks", size) {
		a.Active = append(a.Active, d.task(a.Version))
	}
	for range d.count("standby tasks", size+4) {
		t := d.task(a.Version)
		n := d.count("standby partitions", 6)
		parts := make([]TopicPartition, 0, n)
		for range n {
			parts = append(parts, TopicPartition{Topic: d.modifiedUTF("standby topic"), Partition: d.int32("standby partition")})
		}
		if a.Standby == nil {
			a.Standby = map[TaskID][]TopicPartition{}
		}
		a.Standby[t] = parts
	}
	d.hosts(&a)
	if a.Version >= 4 {
		a.ErrorCode = d.int32("error code")
	}
	if a.Version >= 7 {
		a.NextRebalanceMillis = d.int64("next rebalance")
	}
	return a, d.end("assignment userdata")
}

func taskSize(version int32) int {
	if version >= 10 {
		return 12
	}
	return 8
}

func (d *decoder) task(version int32) TaskID {
	const field = "task"
	t := TaskID{Subtopology: d.int32(field), Partition: d.int32(field)}
	if version < 10 {
		return t
	}
	units := make([]uint16, d.count("named topology", 2))
	for i := range units {
		units[i] = uint16(d.int16("named topology"))
	}
	t.Named = string(utf16.Decode(units))
	return t
}

// hosts reads the host maps: with topic names up to version 4, with a
// dictionary of topics from 5 on.
func (d *decoder) hosts(a *AssignmentInfo) {
	switch {
	case a.Version == 1:
	case a.Version <= 4:
		a.Hosts = d.hostMap(func() string { return d.modifiedUTF("host topic") }, 6)
	default:
		dict := map[int32]string{}
		for range d.count("topic dictionary", 6) {
			i := d.int32("topic index")
			dict[i] = d.modifiedUTF("topic")
		}
		look := func() string {
			i := d.int32("topic index")
			name, ok := dict[i]
			if !ok && d.err == nil {
				d.fail("topic index", fmt.Errorf("%d is not in the dictionary", i))
			}
			return name
		}
		a.Hosts = d.hostMap(look, 8)
		if a.Version >= 6 {
			a.StandbyHosts = d.hostMap(look, 8)
		}
	}
}

func (d *decoder) hostMap(topic func() string, size int) map[HostInfo][]TopicPartition {
	var out map[HostInfo][]TopicPartition
	for range d.count("hosts", 10) {
		h := HostInfo{Host: d.modifiedUTF("host"), Port: d.int32("port")}
		n := d.count("host partitions", size)
		parts := make([]TopicPartition, 0, n)
		for range n {
			name := topic()
			parts = append(parts, TopicPartition{Topic: name, Partition: d.int32("host partition")})
		}
		if out == nil {
			out = map[HostInfo][]TopicPartition{}
		}
		out[h] = parts
	}
	return out
}

// Encode writes the userdata in a.Version, maps in order.
func (a AssignmentInfo) Encode() ([]byte, error) {
	if a.Version < 1 || a.Version > NewestUserdata {
		return nil, fmt.Errorf("encode assignment userdata: version %d", a.Version)
	}
	b := put32(nil, a.Version)
	if a.Version >= 3 {
		b = put32(b, a.CommonlySupported)
	}
	b = put32(b, int32(len(a.Active)))
	for _, t := range a.Active {
		b = putTask(b, a.Version, t)
	}
	b = put32(b, int32(len(a.Standby)))
	for _, t := range slices.SortedFunc(maps.Keys(a.Standby), TaskID.Compare) {
		b = putTask(b, a.Version, t)
		b = put32(b, int32(len(a.Standby[t])))
		for _, p := range a.Standby[t] {
			b = put32(putModifiedUTF(b, p.Topic), p.Partition)
		}
	}
	b = a.putHosts(b)
	if a.Version >= 4 {
		b = put32(b, a.ErrorCode)
	}
	if a.Version >= 7 {
		b = put64(b, a.NextRebalanceMillis)
	}
	return b, nil
}

func putTask(b []byte, version int32, t TaskID) []byte {
	b = put32(put32(b, t.Subtopology), t.Partition)
	if version < 10 {
		return b
	}
	units := utf16.Encode([]rune(t.Named))
	b = put32(b, int32(len(units)))
	for _, u := range units {
		b = append(b, byte(u>>8), byte(u))
	}
	return b
}

func (a AssignmentInfo) putHosts(b []byte) []byte {
	switch {
	case a.Version == 1:
		return b
	case a.Version <= 4:
		return putHostMap(b, a.Hosts, putModifiedUTF)
	}
	var topics []string
	index := map[string]int32{}
	for _, m := range []map[HostInfo][]TopicPartition{a.Hosts, a.StandbyHosts} {
		for _, h := range slices.SortedFunc(maps.Keys(m), HostInfo.Compare) {
			for _, p := range m[h] {
				if _, known := index[p.Topic]; !known {
					index[p.Topic] = int32(len(topics))
					topics = append(topics, p.Topic)
				}
			}
		}
	}
	b = put32(b, int32(len(topics)))
	for i, t := range topics {
		b = putModifiedUTF(put32(b, int32(i)), t)
	}
	byIndex := func(b []byte, topic string) []byte { return put32(b, index[topic]) }
	b = putHostMap(b, a.Hosts, byIndex)
	if a.Version >= 6 {
		b = putHostMap(b, a.StandbyHosts, byIndex)
	}
	return b
}

func putHostMap(b []byte, m map[HostInfo][]TopicPartition, topic func([]byte, string) []byte) []byte {
	b = put32(b, int32(len(m)))
	for _, h := range slices.SortedFunc(maps.Keys(m), HostInfo.Compare) {
		b = put32(putModifiedUTF(b, h.Host), h.Port)
		b = put32(b, int32(len(m[h])))
		for _, p := range m[h] {
			b = put32(topic(b, p.Topic), p.Partition)
		}
	}
	return b
}

// TaskPartitions says which of a member's assigned partitions belong to which
// active task: Kafka pairs the partitions, sorted by topic and number, with the
// entries of Active one by one (StreamsPartitionAssignor).
func TaskPartitions(assigned []TopicPartition, active []TaskID) (map[TaskID][]TopicPartition, error) {
	if len(assigned) != len(active) {
		return nil, fmt.Errorf("pair tasks with partitions: %d partitions, %d entries", len(assigned), len(active))
	}
	sorted := slices.SortedFunc(slices.Values(assigned), TopicPartition.Compare)
	out := map[TaskID][]TopicPartition{}
	for i, t := range active {
		out[t] = append(out[t], sorted[i])
	}
	return out, nil
}
