package streams

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"slices"
	"unicode/utf16"
)

const assignmentUserdata = "assignment userdata"

// HostInfo is an instance's application.server (KIP-67).
type HostInfo struct {
	Host string
	Port int32
}

// Compare orders by host, then port. It returns -1, 0 or 1.
func (h HostInfo) Compare(o HostInfo) int {
	return cmp.Or(cmp.Compare(h.Host, o.Host), cmp.Compare(h.Port, o.Port))
}

// AssignmentInfo is what the group's leader tells a classic Streams member: the
// userdata of its assignment (Kafka's AssignmentInfo, versions 1 to 11).
type AssignmentInfo struct {
	// Version is that of the bytes, 1 to [NewestUserdata].
	Version int32
	// CommonlySupported is the newest version that every member of the group can
	// read, since version 3; -1 before.
	CommonlySupported int32
	// Active has one entry per assigned partition, in the order of the sorted
	// partitions; see [TaskPartitions].
	Active []TaskID
	// Standby are the tasks of which the member keeps a copy, each with the
	// partitions that the leader names for it.
	Standby map[TaskID][]TopicPartition
	// Hosts says which instance is active for which partitions, since version 2.
	// It is empty unless application.server is set.
	Hosts map[HostInfo][]TopicPartition
	// StandbyHosts says the same of standby copies, since version 6.
	StandbyHosts map[HostInfo][]TopicPartition
	// ErrorCode is 0, or why the assignment is void, since version 4 (Kafka's
	// AssignorError: 1 source topics unknown, 2 version probing, 3 assignment
	// failed, 4 shutdown requested).
	ErrorCode int32
	// NextRebalanceMillis is the wall clock, in ms since 1970, of a scheduled
	// probing rebalance (KIP-441), since version 7; math.MaxInt64 means none.
	NextRebalanceMillis int64
}

// DecodeAssignmentInfo reads userdata. A version beyond [NewestUserdata] answers
// both version numbers and an error that wraps [ErrNewerVersion]; bytes that end
// early one that wraps [ErrTruncated]. Every error names its field.
func DecodeAssignmentInfo(b []byte) (AssignmentInfo, error) {
	d := &decoder{b: b}
	a := AssignmentInfo{Version: d.int32("version"), CommonlySupported: -1, NextRebalanceMillis: math.MaxInt64}
	if d.err == nil && (a.Version < 1 || a.Version > NewestUserdata) {
		var err error
		a.CommonlySupported, err = d.unknownVersion(assignmentUserdata, a.Version)
		return a, err
	}
	if a.Version >= 3 {
		a.CommonlySupported = d.int32("commonly supported version")
	}
	for range d.count("active tasks", taskSize(a.Version)) {
		a.Active = append(a.Active, d.task("active task", a.Version))
	}
	a.Standby = d.standby(a.Version)
	d.hosts(&a)
	if a.Version >= 4 {
		a.ErrorCode = d.int32("error code")
	}
	if a.Version >= 7 {
		a.NextRebalanceMillis = d.int64("next rebalance")
	}
	if err := d.end(assignmentUserdata); err != nil {
		return AssignmentInfo{Version: a.Version, CommonlySupported: a.CommonlySupported, NextRebalanceMillis: math.MaxInt64}, err
	}
	return a, nil
}

// taskSize is how many bytes a task takes at least.
func taskSize(version int32) int {
	if version >= 10 {
		return 12
	}
	return 8
}

func (d *decoder) task(field string, version int32) TaskID {
	t := TaskID{Subtopology: d.index(field), Partition: d.index(field)}
	if version < 10 {
		return t
	}
	const named = "named topology"
	units := make([]uint16, d.count(named, 2))
	for i := range units {
		units[i] = uint16(d.int16(named))
	}
	t.Named = d.named(d.utf16(named, units))
	return t
}

func (d *decoder) standby(version int32) map[TaskID][]TopicPartition {
	var out map[TaskID][]TopicPartition
	topic := func() string { return d.modifiedUTF("standby topic") }
	for range d.count("standby tasks", taskSize(version)+4) {
		if out == nil {
			out = map[TaskID][]TopicPartition{}
		}
		t := d.task("standby task", version)
		out[t] = d.partitions("standby partition", topic, 6)
	}
	return out
}

// partitions reads topics, in the version's own form of at least size bytes less
// four, each with a partition.
func (d *decoder) partitions(field string, topic func() string, size int) []TopicPartition {
	n := d.count(field+"s", size)
	out := make([]TopicPartition, 0, n)
	for range n {
		name := topic()
		out = append(out, TopicPartition{Topic: name, Partition: d.index(field)})
	}
	return out
}

// hosts reads the host maps: with topic names up to version 4, with a
// dictionary of topics from 5 on.
func (d *decoder) hosts(a *AssignmentInfo) {
	switch {
	case a.Version <= 1:
	case a.Version <= 4:
		a.Hosts = d.hostMap("host", func() string { return d.modifiedUTF("host topic") }, 6)
	default:
		look := d.dictionary()
		a.Hosts = d.hostMap("host", look, 8)
		if a.Version >= 6 {
			a.StandbyHosts = d.hostMap("standby host", look, 8)
		}
	}
}

// dictionary reads the numbered topics and answers what reads one such number.
func (d *decoder) dictionary() func() string {
	dict := map[int32]string{}
	for range d.count("topic dictionary", 6) {
		i := d.int32("dictionary index")
		dict[i] = d.modifiedUTF("dictionary topic")
	}
	return func() string {
		i := d.int32("topic index")
		name, ok := dict[i]
		if !ok {
			d.fail("topic index", fmt.Errorf("%d is not in the dictionary", i))
		}
		return name
	}
}

func (d *decoder) hostMap(field string, topic func() string, size int) map[HostInfo][]TopicPartition {
	var out map[HostInfo][]TopicPartition
	for range d.count(field+"s", 10) {
		if out == nil {
			out = map[HostInfo][]TopicPartition{}
		}
		h := HostInfo{Host: d.modifiedUTF(field), Port: d.int32(field + " port")}
		out[h] = d.partitions(field+" partition", topic, size)
	}
	return out
}

// Encode writes the userdata in a.Version, maps in order, so that equal values
// are equal bytes. What the version has no field for is left out, except a named
// topology, which is an error before version 10.
func (a AssignmentInfo) Encode() ([]byte, error) {
	if a.Version < 1 || a.Version > NewestUserdata {
		return nil, fmt.Errorf("encode %s: version %d is not 1 to %d", assignmentUserdata, a.Version, NewestUserdata)
	}
	e := &encoder{}
	e.int32(a.Version)
	if a.Version >= 3 {
		e.int32(a.CommonlySupported)
	}
	e.count("active tasks", len(a.Active))
	for _, t := range a.Active {
		e.task("active task", a.Version, t)
	}
	e.count("standby tasks", len(a.Standby))
	topic := func(s string) { e.modifiedUTF("standby topic", s) }
	for _, t := range slices.SortedFunc(maps.Keys(a.Standby), TaskID.Compare) {
		e.task("standby task", a.Version, t)
		e.partitions("standby partition", a.Standby[t], topic)
	}
	e.hosts(a)
	if a.Version >= 4 {
		e.int32(a.ErrorCode)
	}
	if a.Version >= 7 {
		e.int64(a.NextRebalanceMillis)
	}
	return e.end(assignmentUserdata)
}

func (e *encoder) task(field string, version int32, t TaskID) {
	e.index(field, t.Subtopology)
	e.index(field, t.Partition)
	if version < 10 {
		e.unnamed(field, t)
		return
	}
	e.named(t)
	units := utf16.Encode([]rune(t.Named))
	e.count("named topology", len(units))
	for _, u := range units {
		e.b = append(e.b, byte(u>>8), byte(u))
	}
}

func (e *encoder) partitions(field string, tps []TopicPartition, topic func(string)) {
	e.count(field+"s", len(tps))
	for _, tp := range tps {
		topic(tp.Topic)
		e.index(field, tp.Partition)
	}
}

func (e *encoder) hosts(a AssignmentInfo) {
	switch {
	case a.Version <= 1:
	case a.Version <= 4:
		e.hostMap("host", a.Hosts, func(s string) { e.modifiedUTF("host topic", s) })
	case a.Version == 5:
		e.hostMap("host", a.Hosts, e.dictionary(a.Hosts))
	default:
		index := e.dictionary(a.Hosts, a.StandbyHosts)
		e.hostMap("host", a.Hosts, index)
		e.hostMap("standby host", a.StandbyHosts, index)
	}
}

// dictionary numbers and writes the topics of the maps, and answers what writes
// one topic's number.
func (e *encoder) dictionary(hosts ...map[HostInfo][]TopicPartition) func(string) {
	var topics []string
	index := map[string]int32{}
	for _, m := range hosts {
		for _, h := range slices.SortedFunc(maps.Keys(m), HostInfo.Compare) {
			for _, p := range m[h] {
				if _, known := index[p.Topic]; !known {
					index[p.Topic] = int32(len(topics))
					topics = append(topics, p.Topic)
				}
			}
		}
	}
	e.count("topic dictionary", len(topics))
	for i, t := range topics {
		e.int32(int32(i))
		e.modifiedUTF("dictionary topic", t)
	}
	return func(topic string) { e.int32(index[topic]) }
}

func (e *encoder) hostMap(field string, m map[HostInfo][]TopicPartition, topic func(string)) {
	e.count(field+"s", len(m))
	for _, h := range slices.SortedFunc(maps.Keys(m), HostInfo.Compare) {
		e.modifiedUTF(field, h.Host)
		e.int32(h.Port)
		e.partitions(field+" partition", m[h], topic)
	}
}

// TaskPartitions says which of a member's assigned partitions belong to which
// active task: Kafka pairs the partitions, sorted by topic and number, with the
// entries of Active one by one (StreamsPartitionAssignor, PARTITION_COMPARATOR).
// It is an error when the two are not as many. The arguments are left alone.
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
