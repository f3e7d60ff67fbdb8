package discovery

import (
	"slices"
	"time"

	"resurge/streams"
)

// Pace is how a position moves between two looks. Sums are over the partitions on
// which the group has a commit: the others have no position that could move.
// Where no partition has one, Produced is of all of them.
type Pace struct {
	// Consumed and Produced are offsets per second, over the looks of the last
	// minute; nil is not known.
	Consumed *float64 `json:"consumed_per_second"`
	Produced *float64 `json:"produced_per_second"`
	// CatchUp is the time until the lag is gone at this pace; nil: not known, or
	// never, as Falling says.
	CatchUp *time.Duration `json:"catch_up_ns,omitempty"`
	// Falling says that there is a lag and that it does not shrink: it grows, or
	// nothing is consumed.
	Falling bool `json:"falling,omitempty"`
}

// Moves is what changed since the look before.
type Moves struct {
	At time.Time `json:"at"`
	// Whole is the pace of all partitions together, Topics and Partitions theirs.
	Whole      Pace                            `json:"pace"`
	Topics     map[string]Pace                 `json:"topics,omitempty"`
	Partitions map[streams.TopicPartition]Pace `json:"-"`
	// Changed are the partitions of which something moved: commit, log start, end,
	// or who reads it.
	Changed map[streams.TopicPartition]bool `json:"-"`
	// Notes are changes of group and members in words: "member x left".
	Notes []string `json:"notes,omitempty"`
}

// followWindow is how far back a pace looks. The look before counts in any case.
const followWindow = time.Minute

// longestCatchUp bounds a time that nobody waits for.
const longestCatchUp = 10 * 365 * 24 * time.Hour

// Follow folds looks at one group into what moves. Its zero value has seen none.
// A look at another group or cluster, or one from before the last, starts anew.
type Follow struct {
	last *Inventory
	// track is what the looks of the last minute said of each partition.
	track map[streams.TopicPartition]*track
}

// track is the positions of one partition of one topic generation.
type track struct {
	id        streams.TopicID
	committed samples
	end       samples
}

type sample struct {
	at    time.Time
	value int64
}

// samples are the values of one position in time, never going back.
type samples []sample

// add takes the next value. One that went back is of another log or another
// reset: the pace starts with it.
func (s samples) add(at time.Time, value int64) samples {
	if n := len(s); n > 0 && value < s[n-1].value {
		s = nil
	}
	s = append(s, sample{at, value})
	old := 0
	for old < len(s)-2 && at.Sub(s[old].at) > followWindow {
		old++
	}
	return slices.Delete(s, 0, old)
}

// pace is the mean over the samples; nil without two of them, or when the last
// look brought none.
func (s samples) pace(now time.Time) *float64 {
	if len(s) < 2 || !s[len(s)-1].at.Equal(now) {
		return nil
	}
	first, last := s[0], s[len(s)-1]
	span := last.at.Sub(first.at).Seconds()
	if span <= 0 {
		return nil
	}
	rate := float64(last.value-first.value) / span
	return &rate
}

// Add takes the next look and says what moved since the one before. A look at
// another generation of a topic starts its pace anew, and so does a position that
// went back.
func (f *Follow) Add(inv Inventory) Moves {
	if l := f.last; l != nil && (l.Application != inv.Application || l.Cluster.ID != inv.Cluster.ID || !inv.TakenAt.After(l.TakenAt)) {
		f.last, f.track = nil, nil
	}
	if f.track == nil {
		f.track = map[streams.TopicPartition]*track{}
	}
	m := Moves{At: inv.TakenAt, Topics: map[string]Pace{}, Partitions: map[streams.TopicPartition]Pace{}, Changed: map[streams.TopicPartition]bool{}}
	var whole sum
	for _, t := range inv.Topics {
		if t.Role != streams.RoleInput && t.Role != streams.RoleRepartition {
			continue
		}
		whole.merge(f.topic(&m, inv, t))
	}
	m.Whole = whole.pace()
	if f.last != nil {
		m.Changed = changed(*f.last, inv)
		m.Notes = notes(*f.last, inv)
	}
	for tp, k := range f.track {
		if k.stale(inv.TakenAt) {
			delete(f.track, tp)
		}
	}
	f.last = &inv
	return m
}

// topic follows the partitions of one topic and returns their sum.
func (f *Follow) topic(m *Moves, inv Inventory, t Topic) sum {
	var total sum
	for _, p := range t.Partitions {
		tp := streams.TopicPartition{Topic: t.Name, Partition: p.Partition}
		k := f.track[tp]
		if k == nil || !sameGeneration(k.id, t.ID) {
			k = &track{}
			f.track[tp] = k
		}
		if !t.ID.IsZero() {
			k.id = t.ID
		}
		one := k.look(inv, t, p)
		m.Partitions[tp] = one.pace()
		total.merge(one)
	}
	if t.Fault != nil && t.Fault.Kind != streams.FaultNotFound {
		total.unknown = true
	}
	m.Topics[t.Name] = total.pace()
	return total
}

// sameGeneration reports whether two IDs may be of one topic: brokers before
// Kafka 2.8 tell none.
func sameGeneration(a, b streams.TopicID) bool { return a.IsZero() || b.IsZero() || a == b }

// look adds one partition's positions and says how they move.
func (k *track) look(inv Inventory, t Topic, p PartitionState) sum {
	none, known := position(inv, t, p)
	switch {
	case none:
		k.committed = nil
	case known:
		k.committed = k.committed.add(inv.TakenAt, p.Committed.Offset)
	}
	if p.End != nil {
		if n := len(k.end); n > 0 && *p.End < k.end[n-1].value {
			k.committed = k.committed[max(0, len(k.committed)-1):] // the log was cut: neither position goes on
		}
		k.end = k.end.add(inv.TakenAt, *p.End)
	}
	s := sum{partitions: 1, allProduced: k.end.pace(inv.TakenAt)}
	if none {
		return s
	}
	s.committed = 1
	s.consumed, s.produced = k.committed.pace(inv.TakenAt), s.allProduced
	if known && p.End != nil {
		lag := max(0, *p.End-p.Committed.Offset)
		s.lag = &lag
	}
	return s
}

// position says of a partition whether the group has no commit there, or one
// that is known. Neither means that the answer could not be had.
func position(inv Inventory, t Topic, p PartitionState) (none, known bool) {
	switch {
	case p.Committed != nil:
		return false, true
	case inv.CommitsFault != nil, p.Fault != nil, t.Fault != nil && t.Fault.Kind != streams.FaultNotFound:
		return false, false
	}
	return true, false
}

func (k *track) stale(now time.Time) bool {
	for _, s := range []samples{k.committed, k.end} {
		if n := len(s); n > 0 && now.Sub(s[n-1].at) <= followWindow {
			return false
		}
	}
	return true
}

// sum adds up partitions. A number is nil when one of its parts is not known.
type sum struct {
	partitions, committed int
	consumed, produced    *float64
	lag                   *int64
	allProduced           *float64
	unknown               bool
}

func (s *sum) merge(o sum) {
	if o.partitions > 0 {
		s.allProduced = plus(s.allProduced, o.allProduced, s.partitions == 0)
	}
	if o.committed > 0 {
		s.consumed = plus(s.consumed, o.consumed, s.committed == 0)
		s.produced = plus(s.produced, o.produced, s.committed == 0)
		s.lag = plus(s.lag, o.lag, s.committed == 0)
	}
	s.partitions += o.partitions
	s.committed += o.committed
	s.unknown = s.unknown || o.unknown
}

// plus adds two numbers of which one may not be known.
func plus[T int64 | float64](a, b *T, first bool) *T {
	switch {
	case b == nil:
		return nil
	case first:
		v := *b
		return &v
	case a == nil:
		return nil
	}
	v := *a + *b
	return &v
}

func (s *sum) pace() Pace {
	switch {
	case s.unknown:
		return Pace{}
	case s.committed == 0:
		return Pace{Produced: s.allProduced}
	}
	p := Pace{Consumed: s.consumed, Produced: s.produced}
	if s.lag == nil {
		return p
	}
	if *s.lag == 0 {
		p.CatchUp = new(time.Duration)
		return p
	}
	if p.Consumed == nil || p.Produced == nil {
		return p
	}
	gain := *p.Consumed - *p.Produced
	if gain <= 0 {
		p.Falling = true
		return p
	}
	left := longestCatchUp
	if seconds := float64(*s.lag) / gain; seconds < longestCatchUp.Seconds() {
		left = time.Duration(seconds * float64(time.Second))
	}
	p.CatchUp = &left
	return p
}
