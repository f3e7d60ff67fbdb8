package discovery

import (
	"context"
	"time"

	"resurge/streams"
)

// TopicReader answers questions about topics. It never changes anything.
type TopicReader interface {
	// Cluster identifies the cluster that answers.
	Cluster(ctx context.Context) (streams.Cluster, error)
	// Topics returns the named topics, or all when none is named. A named topic
	// that does not exist, or may not be seen, is in the answer with its Fault.
	Topics(ctx context.Context, names ...string) ([]streams.Topic, error)
	// TopicConfigs returns the settings of the named topics.
	TopicConfigs(ctx context.Context, names ...string) (map[string]streams.TopicConfigs, error)
	// Watermarks returns the ends of every partition of the named topics.
	Watermarks(ctx context.Context, topics ...string) (map[streams.TopicPartition]streams.Watermarks, error)
	// OffsetsAt returns per partition the first offset at or after a time.
	OffsetsAt(ctx context.Context, at time.Time, topics ...string) (map[streams.TopicPartition]streams.OffsetAt, error)
}

// GroupReader answers questions about groups. It never changes anything.
type GroupReader interface {
	// Groups lists all groups of the cluster, of every type.
	Groups(ctx context.Context) (streams.GroupList, error)
	// Group describes one group by its true type. A group that does not exist
	// has Exists false; one that could not be described carries a Fault.
	Group(ctx context.Context, id string) (streams.Group, error)
	// Commits returns the committed offsets of one group. While a transaction
	// holds offsets undecided, stable asks to wait for them and else to fail.
	Commits(ctx context.Context, group string, stable bool) (streams.Commits, error)
	// OpenTransactions lists the undecided transactions whose transactional ID
	// starts with the prefix.
	OpenTransactions(ctx context.Context, prefix string) ([]streams.Transaction, error)
}

// CrowdReader answers questions about many groups with few requests: their
// number grows with brokers, and with groups only by whole batches.
type CrowdReader interface {
	// DescribeGroups describes every listed group by its true type, in order. A
	// group that is gone meanwhile has Exists false, one that could not be
	// described a Fault.
	DescribeGroups(ctx context.Context, groups []streams.GroupListing) ([]streams.Group, error)
	// CommitsOf returns the committed offsets of the named groups. Each has an
	// entry. Undecided offsets are not waited for.
	CommitsOf(ctx context.Context, groups []string) (map[string]streams.GroupCommits, error)
	// Ends returns the high watermarks of the named partitions, without start
	// and last stable offset.
	Ends(ctx context.Context, partitions []streams.TopicPartition) (map[streams.TopicPartition]streams.Watermarks, error)
}

// TraceReader reads what applications leave behind besides topics and groups.
// Each answer may be missing for want of rights, and then says so.
type TraceReader interface {
	// Transactions lists the transactional IDs with the prefix in every state,
	// the decided ones too: their producer IDs tell who wrote what.
	Transactions(ctx context.Context, prefix string) ([]streams.Transaction, error)
	// Producers returns the producers that are remembered on each partition.
	Producers(ctx context.Context, partitions []streams.TopicPartition) (map[streams.TopicPartition]streams.Producers, error)
	// Activity reads when a group last committed and when it emptied.
	Activity(ctx context.Context, group string) (streams.Activity, error)
	// Newest reads up to perPartition committed records from the end of every
	// partition of the topics, by topic. What cannot be read has no entry.
	Newest(ctx context.Context, perPartition int, topics ...string) (map[string][]streams.Record, error)
	// BrokerConfigs returns the settings of one broker.
	BrokerConfigs(ctx context.Context) (streams.TopicConfigs, error)
}

// RightsReader asks the broker what this principal may do. Nothing is tried out.
type RightsReader interface {
	// TopicRights returns the rights on the named topics.
	TopicRights(ctx context.Context, names ...string) (map[string]streams.Rights, error)
	// GroupRights returns the rights on one group.
	GroupRights(ctx context.Context, group string) (streams.Rights, error)
	// ClusterRights returns the rights on the cluster itself.
	ClusterRights(ctx context.Context) (streams.Rights, error)
}

// Reader is everything that discovery reads from a cluster.
type Reader interface {
	TopicReader
	GroupReader
	CrowdReader
	TraceReader
	RightsReader
}
