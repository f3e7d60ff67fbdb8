package discovery

import (
	"time"

	"resurge/streams"
)

// Differences is what moved between two snapshots.
type Differences struct {
	Before SnapshotRef `json:"before"`
	After  SnapshotRef `json:"after"`
	// Elapsed is the time between them; nil: not known, or the second is not the
	// later one.
	Elapsed *time.Duration `json:"elapsed_ns"`
	// OtherCluster and OtherApplication say that two different things are
	// compared.
	OtherCluster     bool `json:"other_cluster"`
	OtherApplication bool `json:"other_application"`
	// Reversed says that the second snapshot was taken before the first.
	Reversed bool `json:"reversed"`
	// Lag is the lag of all inputs and repartition topics; nil: not known in one
	// of the two.
	Lag *Move `json:"lag"`
	// Changes are what differs of group, members and topics.
	Changes []Change `json:"changes"`
	// Moves are the partitions of which a position moved.
	Moves []PartitionMove `json:"moves"`
	// Unknown is what could not be compared, because one of the two does not know
	// it. It is neither changed nor the same.
	Unknown []string `json:"unknown"`
}

// Same reports whether nothing is known to differ.
func (d Differences) Same() bool {
	return !d.OtherCluster && !d.OtherApplication && len(d.Changes) == 0 && len(d.Moves) == 0
}

// SnapshotRef names a snapshot.
type SnapshotRef struct {
	Application string    `json:"application"`
	ClusterID   string    `json:"cluster_id"`
	TakenAt     time.Time `json:"taken_at"`
	Program     string    `json:"program"`
}

// ChangeKind is what kind of thing differs.
type ChangeKind string

// The kinds of changes, by stable names.
const (
	GroupAppeared       ChangeKind = "group_appeared"
	GroupWent           ChangeKind = "group_went"
	GroupState          ChangeKind = "group_state"
	GroupProtocol       ChangeKind = "group_protocol"
	MemberJoined        ChangeKind = "member_joined"
	MemberLeft          ChangeKind = "member_left"
	TopicAppeared       ChangeKind = "topic_appeared"
	TopicWent           ChangeKind = "topic_went"
	TopicRecreated      ChangeKind = "topic_recreated"
	TopicRole           ChangeKind = "topic_role"
	TopicPartitions     ChangeKind = "topic_partitions"
	TopicReplication    ChangeKind = "topic_replication"
	TopicConfig         ChangeKind = "topic_config"
	RecordsLost         ChangeKind = "records_lost"
	CommitsWentBack     ChangeKind = "commits_went_back"
	CommitsDisappeared  ChangeKind = "commits_disappeared"
	EndsWentBack        ChangeKind = "ends_went_back"
	CommitsOnGoneRecord ChangeKind = "commits_on_gone_records"
)

// Change is one thing that differs. Before and After are for people; empty: there
// is none.
type Change struct {
	Kind    ChangeKind `json:"kind"`
	Level   Level      `json:"level"`
	Subject string     `json:"subject"`
	Before  string     `json:"before,omitempty"`
	After   string     `json:"after,omitempty"`
	Detail  string     `json:"detail,omitempty"`
}

// MoveKind is how a number moved.
type MoveKind string

// The kinds of moves. A generation is a number of another topic of the same name:
// before and after are not of one log.
const (
	MovedForward    MoveKind = "forward"
	MovedBack       MoveKind = "back"
	MoveAppeared    MoveKind = "appeared"
	MoveDisappeared MoveKind = "disappeared"
	MoveGeneration  MoveKind = "another_generation"
)

// Move is one number in both snapshots; nil: there is none.
type Move struct {
	Kind   MoveKind `json:"kind"`
	Before *int64   `json:"before"`
	After  *int64   `json:"after"`
	// By is After - Before, PerSecond the same by the time between; nil where
	// there is no sense in it.
	By        *int64   `json:"by,omitempty"`
	PerSecond *float64 `json:"per_second,omitempty"`
}

// PartitionMove is one partition of which a position moved. A nil position stood
// still, or is not known in one of the two.
type PartitionMove struct {
	Topic     string `json:"topic"`
	Partition int32  `json:"partition"`
	Committed *Move  `json:"committed,omitempty"`
	Start     *Move  `json:"start,omitempty"`
	End       *Move  `json:"end,omitempty"`
}

// Diff compares two snapshots of one application. It reads nothing. What is not
// known in one of them is in Unknown, and never said to have changed.
func Diff(a, b Snapshot) Differences {
	d := differ{a: a.Inventory, b: b.Inventory}
	d.out = Differences{
		Before: ref(a), After: ref(b),
		OtherCluster: a.ClusterID != b.ClusterID, OtherApplication: a.Inventory.Application != b.Inventory.Application,
		Changes: []Change{}, Moves: []PartitionMove{}, Unknown: []string{},
	}
	if !a.TakenAt.IsZero() && !b.TakenAt.IsZero() {
		switch e := b.TakenAt.Sub(a.TakenAt); {
		case e > 0:
			d.out.Elapsed = &e
		case e < 0:
			d.out.Reversed = true
		}
	}
	d.group()
	d.topics()
	d.lag()
	return d.out
}

func ref(s Snapshot) SnapshotRef {
	return SnapshotRef{Application: s.Inventory.Application, ClusterID: s.ClusterID, TakenAt: s.TakenAt, Program: s.Program}
}

// differ collects the differences of two inventories.
type differ struct {
	a, b Inventory
	out  Differences
}

func (d *differ) change(kind ChangeKind, level Level, subject, before, after, detail string) {
	d.out.Changes = append(d.out.Changes, Change{Kind: kind, Level: level, Subject: subject, Before: before, After: after, Detail: detail})
}

func (d *differ) unknown(what string) { d.out.Unknown = append(d.out.Unknown, what) }

// move compares two known numbers; nil: they are the same.
func (d *differ) move(a, b *int64) *Move {
	switch {
	case a == nil && b == nil:
		return nil
	case a == nil:
		return &Move{Kind: MoveAppeared, After: b}
	case b == nil:
		return &Move{Kind: MoveDisappeared, Before: a}
	case *a == *b:
		return nil
	}
	by := *b - *a
	m := &Move{Kind: MovedForward, Before: a, After: b, By: &by}
	if by < 0 {
		m.Kind = MovedBack
	}
	if e := d.out.Elapsed; e != nil {
		rate := float64(by) / e.Seconds()
		m.PerSecond = &rate
	}
	return m
}

// lag compares the lag of everything that the group reads.
func (d *differ) lag() {
	before, ok := totalLag(d.a)
	after, okNow := totalLag(d.b)
	if !ok || !okNow || d.out.OtherCluster || d.out.OtherApplication {
		return
	}
	if d.out.Lag = d.move(&before, &after); d.out.Lag == nil {
		zero := int64(0)
		d.out.Lag = &Move{Before: &before, After: &after, By: &zero}
	}
}

func totalLag(inv Inventory) (total int64, ok bool) {
	for _, t := range inv.Topics {
		if t.Role != streams.RoleInput && t.Role != streams.RoleRepartition {
			continue
		}
		n, known := t.Lag()
		if !known || inv.CommitsFault != nil {
			return 0, false
		}
		total, ok = total+n, true
	}
	return total, ok
}
