package streams

import (
	"encoding/base64"
	"errors"
	"fmt"
	"time"
)

// FaultKind says why something about a cluster is not known.
type FaultKind string

// The kinds of faults. NotAllowed and Unreachable never mean "absent".
const (
	FaultNotAllowed  FaultKind = "not_allowed"
	FaultNotFound    FaultKind = "not_found"
	FaultUnreachable FaultKind = "unreachable"
	FaultUnsupported FaultKind = "unsupported"
	FaultAuth        FaultKind = "authentication"
	FaultActive      FaultKind = "group_active"
	FaultOther       FaultKind = "other"
)

// Fault is an answer that could not be had, kept beside the answers that could.
// It is an error, so that an adapter may return it where the whole call failed.
type Fault struct { //nolint:errname // it is kept as data beside answers, and an error only where a whole call failed
	// Kind is what a caller branches on.
	Kind FaultKind `json:"kind"`
	// What names the thing asked for: "topic orders", "group shop".
	What string `json:"what"`
	// Message is the cause in words, from the broker or the client.
	Message string `json:"message"`
	// Hint is what an operator should look at or type next; may be empty.
	Hint string `json:"hint,omitempty"`
}

// Error implements error.
func (f *Fault) Error() string {
	if f.What == "" {
		return f.Message
	}
	return f.What + ": " + f.Message
}

// FaultOf returns the [Fault] in err's chain, or nil.
func FaultOf(err error) *Fault {
	f, _ := errors.AsType[*Fault](err)
	return f
}

// IsFault reports whether err carries a [Fault] of the given kind.
func IsFault(err error, kind FaultKind) bool {
	f := FaultOf(err)
	return f != nil && f.Kind == kind
}

// TopicID is the identity of one generation of a topic (KIP-516). A topic that
// was deleted and created again has another one. The zero value means that the
// broker is too old to say.
type TopicID [16]byte

// IsZero reports whether the ID is unknown.
func (id TopicID) IsZero() bool { return id == TopicID{} }

// String gives Kafka's form: 22 URL-safe base64 characters.
func (id TopicID) String() string {
	if id.IsZero() {
		return ""
	}
	return base64.RawURLEncoding.EncodeToString(id[:])
}

// MarshalText implements encoding.TextMarshaler.
func (id TopicID) MarshalText() ([]byte, error) { return []byte(id.String()), nil }

// UnmarshalText implements encoding.TextUnmarshaler.
func (id *TopicID) UnmarshalText(b []byte) error {
	*id = TopicID{}
	if len(b) == 0 {
		return nil
	}
	raw, err := base64.RawURLEncoding.DecodeString(string(b))
	if err != nil || len(raw) != len(id) {
		return fmt.Errorf("decode topic id %q: want 22 base64 characters", Quote(string(b)))
	}
	copy(id[:], raw)
	return nil
}

// Broker is one node of the cluster.
type Broker struct {
	ID   int32  `json:"id"`
	Host string `json:"host"`
	Port int32  `json:"port"`
	Rack string `json:"rack,omitempty"`
}

// Cluster is the identity of the cluster that answered, read from the live
// connection and never from a configuration file.
type Cluster struct {
	ID         string   `json:"id"`
	Controller int32    `json:"controller"`
	Brokers    []Broker `json:"brokers"`
}

// Partition is one partition of a topic as metadata shows it.
type Partition struct {
	Partition int32   `json:"partition"`
	Leader    int32   `json:"leader"` // -1: none
	Replicas  []int32 `json:"replicas,omitempty"`
	ISR       []int32 `json:"isr,omitempty"`
	Fault     *Fault  `json:"fault,omitempty"`
}

// Topic is one topic as metadata shows it.
type Topic struct {
	Name       string      `json:"name"`
	ID         TopicID     `json:"id"`
	Internal   bool        `json:"internal,omitempty"` // internal to the broker, like __consumer_offsets
	Partitions []Partition `json:"partitions,omitempty"`
	Fault      *Fault      `json:"fault,omitempty"`
}

// Config is one topic setting. Dynamic ones were set on the topic itself.
type Config struct {
	Value   string `json:"value"`
	Dynamic bool   `json:"dynamic,omitempty"`
}

// TopicConfigs are the settings of one topic, or why they are not known.
type TopicConfigs struct {
	Values map[string]Config `json:"values,omitempty"`
	Fault  *Fault            `json:"fault,omitempty"`
}

// Watermarks are the ends of one partition. With a Fault nothing else is known.
type Watermarks struct {
	Start  int64  `json:"start"`  // log start offset
	End    int64  `json:"end"`    // high watermark
	Stable int64  `json:"stable"` // last stable offset: nothing undecided lies below it
	Fault  *Fault `json:"fault,omitempty"`
}

// Commit is one committed offset of a group: the next record to process. A
// partition without a commit has no Commit at all; it is never zero or -1.
type Commit struct {
	Offset      int64  `json:"offset"`
	LeaderEpoch int32  `json:"leader_epoch"` // -1: none
	Metadata    string `json:"metadata"`
}

// Commits are a group's committed offsets. Faults holds the partitions whose
// answer was an error, which is not the same as "none committed".
type Commits struct {
	Offsets map[TopicPartition]Commit
	Faults  map[TopicPartition]*Fault
}

// OffsetAt is the first offset at or after a time, in one partition.
type OffsetAt struct {
	Offset int64  `json:"offset"`
	Found  bool   `json:"found"` // false: no such record, Offset is the end
	Fault  *Fault `json:"fault,omitempty"`
}

// GroupProtocol is the membership protocol of a group.
type GroupProtocol string

// The group protocols. A group of bare commits without members reads classic.
const (
	ProtocolClassic  GroupProtocol = "classic"
	ProtocolConsumer GroupProtocol = "consumer" // KIP-848
	ProtocolStreams  GroupProtocol = "streams"  // KIP-1071
	ProtocolShare    GroupProtocol = "share"    // KIP-932
	ProtocolUnknown  GroupProtocol = "unknown"
)

// GroupListing is a group's row in the list of all groups.
type GroupListing struct {
	ID string `json:"id"`
	// Protocol is the true type, from ListGroups version 5 (Kafka 3.8); unknown
	// on older brokers.
	Protocol GroupProtocol `json:"protocol"`
	// ProtocolType is "consumer" for classic Streams, "streams" for KIP-1071,
	// "connect" for Connect, empty for a group of bare commits.
	ProtocolType string `json:"protocol_type"`
	State        string `json:"state"`
}

// GroupList is the list of groups and what could not be listed. With Faults the
// list is short, and a group missing from it may well exist.
type GroupList struct {
	Groups []GroupListing `json:"groups"`
	Faults []*Fault       `json:"faults,omitempty"`
}

// Member is one member of a group.
type Member struct {
	ID         string `json:"id"`
	InstanceID string `json:"instance_id,omitempty"` // static member (KIP-345)
	ClientID   string `json:"client_id"`
	Host       string `json:"host"`
	// ProcessID is the instance's process, from its userdata or the streams
	// protocol; empty when not known.
	ProcessID string `json:"process_id,omitempty"`
	// Endpoint is application.server as host:port; empty when not set.
	Endpoint string `json:"endpoint,omitempty"`
	// Subscribed are the topics in the member's subscription: inputs and
	// repartition topics, patterns already resolved.
	Subscribed []string         `json:"subscribed,omitempty"`
	Assigned   []TopicPartition `json:"assigned,omitempty"`
	Active     []TaskID         `json:"active,omitempty"`
	Standby    []TaskID         `json:"standby,omitempty"`
	// OffsetSums are what the member said of the tasks on its disk when it last
	// joined (classic) or reported (streams, KIP-1071): see [OffsetSumRunning].
	OffsetSums map[TaskID]int64 `json:"offset_sums,omitempty"`
	// ReportedTasks says that OffsetSums is an answer: an empty map with it
	// means "no task on disk", without it nothing was said.
	ReportedTasks bool `json:"reported_tasks,omitempty"`
	// Fault marks userdata that could not be decoded; the rest still holds.
	Fault *Fault `json:"fault,omitempty"`
}

// Subtopology is one connected part of a topology, as the streams protocol
// names its topics.
type Subtopology struct {
	ID                 string   `json:"id"`
	SourceTopics       []string `json:"source_topics"`
	RepartitionSinks   []string `json:"repartition_sinks,omitempty"`
	RepartitionSources []string `json:"repartition_sources,omitempty"`
	Changelogs         []string `json:"changelogs,omitempty"`
}

// Group states, as brokers name them. Others exist; compare with these only.
const (
	StateEmpty = "Empty"
	StateDead  = "Dead"
)

// Group is what describing a group by its true type answered.
type Group struct {
	ID           string        `json:"id"`
	Exists       bool          `json:"exists"`
	Protocol     GroupProtocol `json:"protocol"`
	ProtocolType string        `json:"protocol_type,omitempty"`
	Assignor     string        `json:"assignor,omitempty"` // "stream" marks classic Kafka Streams
	State        string        `json:"state"`
	Coordinator  int32         `json:"coordinator"`
	Members      []Member      `json:"members,omitempty"`
	// Topology is known for streams groups only.
	Topology []Subtopology `json:"topology,omitempty"`
	Epoch    int32         `json:"epoch,omitempty"`
	// Fault says that the group could not be described: its state and members
	// are then unknown, which is neither empty nor absent.
	Fault *Fault `json:"fault,omitempty"`
}

// Empty reports whether the group is known to have no members: it does not
// exist, or its own describe call says Empty or Dead with no member.
func (g Group) Empty() bool {
	if g.Fault != nil {
		return false
	}
	if !g.Exists {
		return true
	}
	return len(g.Members) == 0 && (g.State == StateEmpty || g.State == StateDead)
}

// Transaction is one open transaction of a transactional ID.
type Transaction struct {
	TransactionalID string           `json:"transactional_id"`
	ProducerID      int64            `json:"producer_id"`
	State           string           `json:"state"`
	Started         time.Time        `json:"started,omitzero"`
	Partitions      []TopicPartition `json:"partitions,omitempty"`
}

// Record is one record of a topic, read for proof.
type Record struct {
	Partition int32     `json:"partition"`
	Offset    int64     `json:"offset"`
	Time      time.Time `json:"time"`
	Key       []byte    `json:"key"`
	Value     []byte    `json:"value"` // nil: a tombstone
}
