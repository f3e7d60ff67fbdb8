package recovery

import (
	"context"

	"resurge/discovery"
	"resurge/plans"
	"resurge/streams"
)

// ProofReader reads what a proof needs.
type ProofReader interface {
	// BrokersWithTopic asks every broker for the topic and returns the IDs of
	// those that still know it.
	BrokersWithTopic(ctx context.Context, name string) ([]int32, error)
	// Latest reads up to perPartition committed records from the end of every
	// partition of a topic, in offset order per partition.
	Latest(ctx context.Context, topic string, perPartition int) ([]streams.Record, error)
}

// Reader is everything that the engine reads from a cluster.
type Reader interface {
	discovery.Reader
	ProofReader
}

// Writer changes the cluster. Only a step of an approved plan holds one.
type Writer interface {
	// CommitOffsets sets the group's committed offsets without a generation, as
	// an admin does, and reports per partition what failed. LeaderEpoch -1
	// commits none.
	CommitOffsets(ctx context.Context, group string, offsets map[streams.TopicPartition]streams.Commit) error
	// DeleteCommits removes committed offsets of the group.
	DeleteCommits(ctx context.Context, group string, partitions []streams.TopicPartition) error
	// DeleteTopic deletes one topic generation by name and, where the broker
	// knows topic IDs, by ID. A topic that is already gone is no error.
	DeleteTopic(ctx context.Context, name string, id streams.TopicID) error
	// CreateTopic creates a topic and returns its ID.
	CreateTopic(ctx context.Context, t plans.Topic) (streams.TopicID, error)
	// RemoveMembers evicts members of a classic group. A member that left
	// meanwhile is no error.
	RemoveMembers(ctx context.Context, group string, members []plans.Member) error
}

// Operator carries out what happens outside the cluster.
type Operator interface {
	// HasHook reports whether the task runs by itself.
	HasHook(task string) bool
	// Perform runs the task's hook and returns its output.
	Perform(ctx context.Context, task string) (output string, err error)
}

// Answer is what the application said about one key.
type Answer struct {
	Found bool
	Value string
	From  string // the instance that answered
}

// Application asks the application itself, through the endpoint that its
// operator configured.
type Application interface {
	// CanQuery reports whether a query endpoint is configured, and for windowed
	// stores whether it takes a window start.
	CanQuery(windowed bool) bool
	// HasHealth reports whether a health endpoint is configured.
	HasHealth() bool
	// Health returns nil when every instance says that it is running.
	Health(ctx context.Context) error
	// Query asks for a key of a store; windowStart is in ms, nil for a store
	// without windows.
	Query(ctx context.Context, store, key string, windowStart *int64) (Answer, error)
}

// Store keeps the run's files beside its journal.
type Store interface {
	// Save writes a file of the run whole and synced, or not at all.
	Save(name string, content []byte) error
	// Load reads a file of the run.
	Load(name string) ([]byte, error)
}
