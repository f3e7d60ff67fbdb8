package ui

import (
	"cmp"
	"maps"
	"math"
	"slices"
	"strings"
	"time"

	"resurge/discovery"
	"resurge/streams"
)

// partitionRow is one partition of one topic.
type partitionRow struct {
	topic string
	role  streams.Role
	// reads says that the group commits on topics like this one: without a commit
	// it has "none", and does not just lack it.
	reads bool
	// fault is why commit or positions are not known.
	fault *streams.Fault
	discovery.PartitionState
}

func (r partitionRow) key() string { return r.topic + "/" + grouped(int64(r.Partition)) }

// partitionRows are a topic's partitions. Those of topics that are not ours are
// among them only where the group has a commit.
func (s *applicationScreen) partitionRows(t discovery.Topic) []partitionRow {
	out := make([]partitionRow, 0, len(t.Partitions))
	for _, p := range t.Partitions {
		if t.Role == streams.RoleLookalike && p.Committed == nil {
			continue
		}
		r := partitionRow{topic: t.Name, role: t.Role, reads: s.reads(t), fault: p.Fault, PartitionState: p}
		if r.fault == nil && r.reads {
			r.fault = s.data.inv.CommitsFault
		}
		out = append(out, r)
	}
	return out
}

// offsetOrders are the ways to sort partitions.
var offsetOrders = []ordering[partitionRow]{
	{"by topic", byPartition},
	{"by lag", func(a, b partitionRow) int { return cmp.Or(cmp.Compare(b.lagOrder(), a.lagOrder()), byPartition(a, b)) }},
	{"oldest commit first", func(a, b partitionRow) int {
		return cmp.Or(cmp.Compare(a.ageOrder(), b.ageOrder()), byPartition(a, b))
	}},
}

func byPartition(a, b partitionRow) int {
	return cmp.Or(cmp.Compare(roleOrder(a.role), roleOrder(b.role)), cmp.Compare(a.topic, b.topic), cmp.Compare(a.Partition, b.Partition))
}

// lagOrder puts what is not known first, then partitions without a commit that
// should have one, then those with the largest lag.
func (r partitionRow) lagOrder() int64 {
	switch {
	case !r.reads && r.Committed == nil:
		return -1
	case r.fault != nil:
		return math.MaxInt64
	case r.Committed == nil && r.empty():
		return 0
	case r.Committed == nil:
		return math.MaxInt64 - 1
	case r.Lag == nil:
		return math.MaxInt64
	}
	return *r.Lag
}

// ageOrder puts the oldest commit first, then those of which the time is not
// known, then what has none.
func (r partitionRow) ageOrder() int64 {
	switch {
	case r.Committed == nil:
		return math.MaxInt64
	case r.CommittedAt.IsZero():
		return math.MaxInt64 - 1
	}
	return r.CommittedAt.UnixNano()
}

func (s *applicationScreen) offsetSearch(r partitionRow) string {
	return r.topic + "-" + grouped(int64(r.Partition)) + " " + roleName(r.role) + " " + s.names[r.Owner]
}

func (s *applicationScreen) offsetColumns() []column {
	offset, lag, name, most := 9, 6, 16, 34
	if s.follow.on && s.d.w < 100 {
		most = 23
	}
	if s.d.w < 60 {
		most = 16
	}
	for _, t := range s.data.inv.Topics {
		name = min(max(name, txt(plain, t.Name).width), most)
		for _, p := range t.Partitions {
			offset, lag = numberWidth(offset, p.End), numberWidth(lag, p.Lag)
		}
	}
	cols := []column{
		{width: s.d.th.markWidth()},
		{title: "TOPIC", width: name, flex: 1, mid: true},
		{width: 1},
		{title: "PART", width: 4, right: true},
		{title: "COMMITTED", width: offset, right: true},
		{title: "END", width: offset, right: true, drop: 2},
		{title: "LAG", width: lag, right: true},
		{title: "COMMIT", width: 6, right: true, drop: 3},
		{title: "START", width: offset, right: true, drop: 4},
		{title: "STABLE", width: offset, right: true, drop: 6},
		{title: "STREAM TIME", width: 12, right: true, drop: 5},
		{title: "READ BY", width: 14, flex: 1, drop: 7},
	}
	if s.follow.on {
		pace := []column{{title: "READS", width: 8, right: true, drop: 1}, {title: "LEFT", width: 5, right: true, drop: 1}}
		cols = slices.Insert(cols, 7, pace...)
	}
	return cols
}

func (s *applicationScreen) offsetCells(r partitionRow) []span {
	committed, lag := r.position()
	out := []span{
		s.d.th.mark(r.mark()), txt(plain, r.topic), s.moved(r.topic, r.Partition), txt(plain, grouped(int64(r.Partition))),
		txt(plain, committed), txt(plain, number(r.End)), txt(plain, lag),
	}
	if s.follow.on {
		p := s.follow.moves.Partitions[streams.TopicPartition{Topic: r.topic, Partition: r.Partition}]
		reads, left := "-", "-"
		if r.reads && (r.Committed != nil || r.fault != nil) {
			reads, left = rate(p.Consumed), leftAt(p)
		}
		out = append(out, txt(plain, reads), txt(plain, left))
	}
	return append(out,
		txt(plain, s.commitAge(r)), txt(plain, number(r.Start)), txt(plain, number(r.Stable)),
		txt(plain, s.streamTime(r)), txt(muted, s.ownerName(r)),
	)
}

// leftAt is the time to catch up at a pace, in a cell.
func leftAt(p discovery.Pace) string {
	switch {
	case p.CatchUp != nil && *p.CatchUp == 0:
		return "0s"
	case p.CatchUp != nil:
		return age(*p.CatchUp)
	case p.Falling:
		return "never"
	}
	return unknown
}

// mark is what is wrong with a position: outside the log, no leader, not known.
func (r partitionRow) mark() string {
	switch {
	case r.fault != nil:
		return markUnknown
	case r.Leader < 0, r.outside() != "":
		return markBad
	case r.reads && r.Committed == nil && !r.empty():
		return markLook // records wait, and no position says where reading begins
	}
	return ""
}

// empty says that the partition is known to hold no record.
func (r partitionRow) empty() bool {
	return r.Start != nil && r.End != nil && *r.Start == *r.End
}

// outside says that the committed offset is not in the log.
func (r partitionRow) outside() string {
	switch {
	case r.Committed == nil:
		return ""
	case r.End != nil && r.Committed.Offset > *r.End:
		return "the committed offset is beyond the end: the topic was created again or truncated"
	case r.Start != nil && r.Committed.Offset < *r.Start:
		return "the committed offset is below the log start: those records are gone"
	}
	return ""
}

// position are the committed offset and the lag. "none" is no commit, "?" is not
// known, and "-" is a topic on which the group does not commit.
func (r partitionRow) position() (committed, lag string) {
	switch {
	case r.Committed != nil:
		return grouped(r.Committed.Offset), number(r.Lag)
	case r.fault != nil:
		return unknown, unknown
	case r.reads:
		return "none", "-"
	}
	return "-", "-"
}

// commitAge is how long ago the commit was made.
func (s *applicationScreen) commitAge(r partitionRow) string {
	switch {
	case r.Committed == nil && r.fault == nil:
		return "-"
	case r.CommittedAt.IsZero():
		return unknown
	}
	return age(s.d.since(r.CommittedAt))
}

// streamTime is the partition's stream time, as the commit keeps it.
func (s *applicationScreen) streamTime(r partitionRow) string {
	switch {
	case r.Committed == nil && r.fault == nil:
		return "-"
	case r.Streams == nil || r.Streams.PartitionTime.IsZero():
		return unknown
	}
	return s.when(r.Streams.PartitionTime)
}

// when is a time of day today, a date else.
func (s *applicationScreen) when(t time.Time) string {
	t = t.UTC()
	if t.Format("2006-01-02") == s.d.now.UTC().Format("2006-01-02") {
		return t.Format("15:04:05")
	}
	if t.Year() == s.d.now.UTC().Year() {
		return t.Format("01-02 15:04")
	}
	return t.Format("2006-01-02")
}

func (s *applicationScreen) ownerName(r partitionRow) string {
	switch {
	case r.Owner != "":
		return s.member(r.Owner)
	case !r.reads:
		return "-"
	case s.data.inv.Group.Fault != nil:
		return unknown
	}
	return "nobody"
}

func (s *applicationScreen) viewOffsets(p *page) {
	if len(s.offsets.rows) == 0 {
		text := " No partition is known."
		if s.group {
			text = " Nothing is committed, subscribed or assigned: it reads nothing that can be seen."
		}
		p.add(gap(1), s.d.th.mark(markNothing), txt(plain, text))
		return
	}
	details := detailHeight(p.h)
	s.offsets.draw(p, p.room()-details)
	if details == 0 {
		return
	}
	p.add()
	r, ok := s.offsets.selected()
	if !ok {
		s.offsets.nothing(p)
		return
	}
	p.add(gap(1), txt(strong, r.topic).cutMiddle(max(p.w-10, 20)), txtf(strong, "-%d ", r.Partition))
	if f := r.fault; f != nil {
		p.addLines(hang(line{gap(1), s.d.th.mark(markUnknown), gap(1)}, plain, brief(f), p.w)...)
	}
	if bad := r.outside(); bad != "" {
		p.addLines(hang(line{gap(1), s.d.th.mark(markBad), gap(1)}, plain, bad, p.w)...)
	}
	p.addLines(hang(line{gap(1)}, plain, s.positionWords(r), p.w)...)
}

// positionWords are what a narrow screen has no columns for.
func (s *applicationScreen) positionWords(r partitionRow) string {
	parts := []string{"log start " + number(r.Start), "last stable " + number(r.Stable)}
	if r.Stable != nil && r.End != nil && *r.Stable < *r.End {
		parts[1] += " (" + grouped(*r.End-*r.Stable) + " below the end: a transaction is open)"
	}
	switch {
	case r.Committed != nil:
		parts = append(parts, "commit age "+s.commitAge(r), "stream time "+s.streamTime(r))
	case r.reads && r.fault == nil:
		parts = append(parts, "no commit: auto.offset.reset says where reading begins")
	}
	return strings.Join(append(parts, "read by "+s.ownerName(r)), " · ")
}

// partitionText is everything about one partition.
func (s *applicationScreen) partitionText(r partitionRow) reading {
	name := r.topic + "-" + grouped(int64(r.Partition))
	return reading{
		name: "partition", title: name, what: "the partition's name",
		copy:  func() string { return name },
		lines: func(_ *theme, w int) []line { return s.partitionLines(r, w) },
	}
}

func (s *applicationScreen) partitionLines(r partitionRow, w int) []line {
	f := &facts{w: w, name: 13}
	f.add("topic", r.topic)
	f.add("partition", grouped(int64(r.Partition))+" of a topic with the role "+roleName(r.role))
	if r.fault != nil {
		f.toned("not known", warn, brief(r.fault))
	}
	f.toned("wrong", danger, r.outside())
	leader := "broker " + grouped(int64(r.Leader))
	if r.Leader < 0 {
		leader = "none: nothing can be read or written"
	}
	f.add("leader", leader)
	if r.Replicas > 0 {
		f.add("replicas", grouped(int64(r.ISR))+" of "+grouped(int64(r.Replicas))+" in sync")
	}
	f.blank()
	committed, lag := r.position()
	f.add("committed", committed)
	switch {
	case r.Committed == nil:
	case r.CommittedAt.IsZero():
		f.add("committed at", unknown)
	default:
		f.add("committed at", moment(r.CommittedAt, s.d.local)+", "+age(s.d.since(r.CommittedAt))+" ago")
	}
	f.add("log start", number(r.Start))
	if !r.Oldest.IsZero() {
		f.add("oldest record", moment(r.Oldest, s.d.local))
	}
	f.add("last stable", number(r.Stable))
	f.add("end", number(r.End))
	f.add("lag", lag)
	if c := r.Streams; c != nil {
		if !c.PartitionTime.IsZero() {
			f.add("stream time", moment(c.PartitionTime, s.d.local))
		}
		for _, store := range slices.Sorted(maps.Keys(c.Emitted)) {
			f.add("emitted", store+": windows closed up to "+moment(c.Emitted[store], nil))
		}
	}
	f.blank()
	f.add("read by", s.ownerName(r))
	for _, m := range s.data.inv.Group.Members {
		if m.ID == r.Owner {
			f.add("member", m.ID)
			f.add("client ID", m.ClientID)
			f.add("host", hostName(m))
		}
	}
	return f.lines
}
