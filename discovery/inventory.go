package discovery

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
	// Kind is what the group is for, and Signs is why it is taken for a Kafka
	// Streams application; without a sign it is not.
	Kind   streams.GroupKind `json:"kind"`
	Signs  []string          `json:"signs,omitempty"`
	Topics []Topic           `json:"topics"`
	// LongerIDs are other known application IDs that start with this one and a
	// dash: topics named after them are not this application's.
	LongerIDs []string `json:"longer_ids,omitempty"`
	// Tasks are the application's tasks, as its members tell them; empty while
	// nobody is there to tell.
	Tasks []Task `json:"tasks,omitempty"`
	// Activity is when the group last did something; nil is not known.
	Activity *streams.Activity `json:"activity,omitempty"`
	// Broker are settings of the brokers that bear on recovery; without a key the
	// setting is not known.
	Broker map[string]string `json:"broker,omitempty"`
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
	// Unseen are questions whose answer would only have added detail: without it
	// the rest still holds.
	Unseen []*streams.Fault `json:"unseen,omitempty"`
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
	// Internal is the kind of internal topic that the name says, also where the
	// topic is not the application's.
	Internal streams.InternalKind `json:"internal_kind,omitempty"`
	// TableSource says that this input is also the changelog of its table
	// (topology.optimization): emptying it empties the table.
	TableSource bool `json:"table_source,omitempty"`
	// Subtopologies name the topic as source, sink or changelog.
	Subtopologies []string `json:"subtopologies,omitempty"`
	// Writers are transactional IDs and producers of the application that wrote
	// to the topic lately.
	Writers []string `json:"writers,omitempty"`
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
	// Replicas and ISR are how many replicas there are, and in sync.
	Replicas int `json:"replicas,omitempty"`
	ISR      int `json:"isr,omitempty"`
	// Start, End and Stable are nil when not known.
	Start  *int64 `json:"start"`
	End    *int64 `json:"end"`
	Stable *int64 `json:"stable"`
	// Committed is nil when the group has no commit here.
	Committed *streams.Commit `json:"committed"`
	// Lag is the number of offsets from the commit to the end, nil when either
	// is not known. Transaction markers count.
	Lag *int64 `json:"lag"`
	// Streams is what Kafka Streams keeps in the commit's metadata; nil when there is
	// no commit or its metadata is not Streams'.
	Streams *StreamsCommit `json:"streams,omitempty"`
	// CommittedAt is when the commit was made; zero is not known.
	CommittedAt time.Time `json:"committed_at,omitzero"`
	// Oldest is the time of the first record that the log still holds; zero is
	// not known.
	Oldest time.Time `json:"oldest,omitzero"`
	// Owner is the member that reads the partition; empty: nobody.
	Owner string         `json:"owner,omitempty"`
	Fault *streams.Fault `json:"fault,omitempty"`
}

// StreamsCommit is the decoded metadata of a commit of Streams.
type StreamsCommit struct {
	// PartitionTime is the partition's stream time; zero is not known.
	PartitionTime time.Time `json:"partition_time,omitzero"`
	// Emitted maps a store to the last window close time that its emit-on-close
	// aggregation emitted (KIP-825).
	Emitted map[string]time.Time `json:"emitted,omitempty"`
}

// Task is one task of the application and where it runs.
type Task struct {
	ID streams.TaskID `json:"task"`
	// Sources are the partitions that it reads; empty where nobody tells.
	Sources []streams.TopicPartition `json:"sources,omitempty"`
	// Active, Standby and Warmup are member IDs. Two actives are one handed over.
	Active  []string `json:"active,omitempty"`
	Standby []string `json:"standby,omitempty"`
	Warmup  []string `json:"warmup,omitempty"`
	// Lag is the largest number of changelog offsets that a copy of the task is
	// behind, as members last told it; nil is not known.
	Lag *int64 `json:"lag,omitempty"`
	// Running says that an active copy said that it is caught up.
	Running bool `json:"running,omitempty"`
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
