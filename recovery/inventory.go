package recovery

import (
	"time"

	"resurge/plans"
	"resurge/streams"
)

// Inventory is everything that was read about one application: facts, and for
// each inference its evidence. Plans are made from it without another read.
type Inventory struct {
	Application string          `json:"application"`
	Cluster     streams.Cluster `json:"cluster"`
	TakenAt     time.Time       `json:"taken_at"`
	Group       streams.Group   `json:"group"`
	Topics      []Topic         `json:"topics"`
	// LongerIDs are other known application IDs that start with this one and a
	// dash: topics named after them are not this application's.
	LongerIDs []string `json:"longer_ids,omitempty"`
	// CommitsFault says why the group's committed offsets are not known. They are
	// then neither "none" nor zero, and no plan can rest on them.
	CommitsFault *streams.Fault `json:"commits_fault,omitempty"`
	// Transactions are the application's undecided transactions.
	Transactions []streams.Transaction `json:"transactions,omitempty"`
	// Hints are the operator's words that were used: topics named as inputs,
	// outputs or global tables.
	Hints Hints `json:"hints"`
	// Gaps are questions without an answer. An inventory with gaps may be short.
	Gaps []*streams.Fault `json:"gaps,omitempty"`
	// Times are the offsets at the times that the request names, per partition.
	Times []TimeOffset `json:"times,omitempty"`
}

// Hints is what the operator says about an application's topics.
type Hints = plans.Hints

// TimeOffset is the first offset at or after a time in one partition.
type TimeOffset struct {
	At        time.Time `json:"at"`
	Topic     string    `json:"topic"`
	Partition int32     `json:"partition"`
	Offset    int64     `json:"offset"`
	Found     bool      `json:"found"`
}

// Topic is one topic that has to do with the application.
type Topic struct {
	Name string          `json:"name"`
	ID   streams.TopicID `json:"topic_id"`
	Role streams.Role    `json:"role"`
	// Owned says that the topic is proven to be the application's own internal
	// topic. Evidence says why, or why not.
	Owned bool `json:"owned"`
	// Ambiguous says that the topic may be the application's all the same: a
	// plan that would leave it alone needs the operator's word.
	Ambiguous bool     `json:"ambiguous,omitempty"`
	Evidence  []string `json:"evidence"`
	// Store is the state store of a changelog, the node of a repartition topic.
	Store     string `json:"store,omitempty"`
	StoreKind string `json:"store_kind,omitempty"`
	// ReadBy are other groups with commits on the topic.
	ReadBy            []string                  `json:"read_by,omitempty"`
	ReplicationFactor int                       `json:"replication_factor,omitempty"`
	Configs           map[string]streams.Config `json:"configs,omitempty"`
	Partitions        []PartitionState          `json:"partitions"`
	// Fault says why the topic is not described further, e.g. not found.
	Fault *streams.Fault `json:"fault,omitempty"`
}

// PartitionState is one partition with the application's position in it.
type PartitionState struct {
	Partition int32 `json:"partition"`
	Leader    int32 `json:"leader"`
	// Start, End and Stable are nil when not known.
	Start  *int64 `json:"start"`
	End    *int64 `json:"end"`
	Stable *int64 `json:"stable"`
	// Committed is nil when the group has no commit here.
	Committed *streams.Commit `json:"committed"`
	// Lag is the number of offsets from the commit to the end, nil when either
	// is not known. Transaction markers count.
	Lag   *int64         `json:"lag"`
	Fault *streams.Fault `json:"fault,omitempty"`
}

// Records is the number of offsets between log start and end over all
// partitions; ok is false when one of them is not known.
func (t Topic) Records() (n int64, ok bool) {
	if t.Fault != nil || len(t.Partitions) == 0 {
		return 0, false
	}
	for _, p := range t.Partitions {
		if p.Start == nil || p.End == nil {
			return 0, false
		}
		n += *p.End - *p.Start
	}
	return n, true
}

// Lag is the topic's lag over all partitions; a partition without a commit
// counts from its log start. ok is false when something is not known.
func (t Topic) Lag() (n int64, ok bool) {
	if t.Fault != nil || len(t.Partitions) == 0 {
		return 0, false
	}
	for _, p := range t.Partitions {
		switch {
		case p.Fault != nil || p.Start == nil || p.End == nil:
			return 0, false
		case p.Committed == nil:
			n += *p.End - *p.Start
		case p.Lag != nil:
			n += *p.Lag
		}
	}
	return n, true
}

// Topic returns the topic with the given name.
func (inv Inventory) Topic(name string) (Topic, bool) {
	for _, t := range inv.Topics {
		if t.Name == name {
			return t, true
		}
	}
	return Topic{}, false
}

// ByRole returns the topics that play the role, in name order.
func (inv Inventory) ByRole(r streams.Role) []Topic {
	var out []Topic
	for _, t := range inv.Topics {
		if t.Role == r {
			out = append(out, t)
		}
	}
	return out
}

// Level grades a finding or a row.
type Level string

// The levels, from good to bad. Unknown is never drawn as good.
const (
	LevelOK      Level = "ok"
	LevelInfo    Level = "info"
	LevelLook    Level = "look"
	LevelBad     Level = "bad"
	LevelUnknown Level = "unknown"
)

// Finding is one thing that an operator should know, with its evidence.
type Finding struct {
	Level Level `json:"level"`
	// Name is stable and short: "changelog missing".
	Name string `json:"name"`
	// Detail names exact things.
	Detail string `json:"detail"`
	// Advice is what to do; may be empty.
	Advice string `json:"advice,omitempty"`
}

// Assessment is what an inventory means: findings first, then the ways back.
type Assessment struct {
	Findings []Finding `json:"findings"`
	Options  []Option  `json:"options"`
}

// Option is one strategy weighed for this application.
type Option struct {
	Strategy  string `json:"strategy"`
	Available bool   `json:"available"`
	// Reason says why it is not available, or what it is good for here.
	Reason string `json:"reason"`
	// Estimate is nil when nothing is known.
	Estimate *Estimate `json:"estimate,omitempty"`
	// Notes are the costs: outputs emitted again, history that is gone.
	Notes []string `json:"notes,omitempty"`
}

// Estimate is how long the strategy takes, as a range, and from what.
type Estimate struct {
	Low     time.Duration `json:"low_ns"`
	High    time.Duration `json:"high_ns"`
	Records int64         `json:"records"`
	// From names the rate's source; Assumed says that it was not measured.
	From    string `json:"from"`
	Assumed bool   `json:"assumed"`
}

// Survey is the list of Streams applications on a cluster.
type Survey struct {
	Cluster streams.Cluster  `json:"cluster"`
	TakenAt time.Time        `json:"taken_at"`
	Rows    []SurveyRow      `json:"applications"`
	Others  int              `json:"other_groups"` // groups that are not Streams applications
	Gaps    []*streams.Fault `json:"gaps,omitempty"`
}

// SurveyRow is one application at a glance. A nil number is not known.
type SurveyRow struct {
	Application string                `json:"application"`
	Protocol    streams.GroupProtocol `json:"protocol"`
	State       string                `json:"state"`
	Members     *int                  `json:"members"`
	Stores      *int                  `json:"stores"`
	Lag         *int64                `json:"lag"`
	Level       Level                 `json:"level"`
	// Worst is the worst finding in two words.
	Worst string `json:"worst"`
	// Evidence says why this is taken for a Streams application.
	Evidence []string       `json:"evidence"`
	Fault    *streams.Fault `json:"fault,omitempty"`
}
