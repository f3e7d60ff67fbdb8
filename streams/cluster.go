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
	// Principal is who asked, as Kafka's ACLs name it ("User:ops"); empty when
	// only the broker knows it, as with certificates.
	Principal string `json:"principal,omitempty"`
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

// Plain returns the values without their origin.
func (c TopicConfigs) Plain() map[string]string {
	out := make(map[string]string, len(c.Values))
	for k, v := range c.Values {
		out[k] = v.Value
	}
	return out
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
	Offset int64 `json:"offset"`
	Found  bool  `json:"found"` // false: no such record, Offset is the end
	// Time is the record's own; zero when there is none.
	Time  time.Time `json:"time,omitzero"`
	Fault *Fault    `json:"fault,omitempty"`
}

// Transaction is one transactional ID with its transaction, open or not.
type Transaction struct {
	TransactionalID string           `json:"transactional_id"`
	ProducerID      int64            `json:"producer_id"`
	State           string           `json:"state"`
	Started         time.Time        `json:"started,omitzero"`
	Partitions      []TopicPartition `json:"partitions,omitempty"`
}

// Open reports whether the transaction is undecided, or decided and not yet
// marked in every partition (Kafka's TransactionState).
func (t Transaction) Open() bool {
	switch t.State {
	case "Ongoing", "PrepareCommit", "PrepareAbort", "PrepareEpochFence":
		return true
	}
	return false
}

// Record is one record of a topic, read for proof.
type Record struct {
	Partition int32     `json:"partition"`
	Offset    int64     `json:"offset"`
	Time      time.Time `json:"time"`
	Key       []byte    `json:"key"`
	Value     []byte    `json:"value"` // nil: a tombstone
	// Headers are the record's headers, the last value of each key.
	Headers map[string][]byte `json:"headers,omitempty"`
}

// Producer is a producer that wrote to a partition and is not forgotten yet: the
// broker keeps it for producer.id.expiration.ms, a day by default.
type Producer struct {
	ID    int64     `json:"producer_id"`
	Epoch int32     `json:"epoch"`
	Last  time.Time `json:"last,omitzero"`
	// TransactionStart is the first offset of its open transaction; -1: none.
	TransactionStart int64 `json:"transaction_start"`
}

// Producers are the producers of one partition, or why they are not known.
type Producers struct {
	Active []Producer `json:"active,omitempty"`
	Fault  *Fault     `json:"fault,omitempty"`
}

// Operation is an ACL operation, as Kafka names it: DESCRIBE, READ, ...
type Operation string

// The operations that plans and reads take (Kafka's AclOperation).
const (
	OpRead            Operation = "READ"
	OpWrite           Operation = "WRITE"
	OpCreate          Operation = "CREATE"
	OpDelete          Operation = "DELETE"
	OpAlter           Operation = "ALTER"
	OpDescribe        Operation = "DESCRIBE"
	OpDescribeConfigs Operation = "DESCRIBE_CONFIGS"
	OpAlterConfigs    Operation = "ALTER_CONFIGS"
	OpClusterAction   Operation = "CLUSTER_ACTION"
	OpIdempotentWrite Operation = "IDEMPOTENT_WRITE"
)

// Rights are the operations that the principal may do on one resource, told by
// the broker (KIP-430). Without a Fault an operation that is not in Allowed is
// refused.
type Rights struct {
	Allowed []Operation `json:"allowed"`
	Fault   *Fault      `json:"fault,omitempty"`
}
