package streams

import "time"

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

// GroupKind is what a group is for, as an operator sorts groups.
type GroupKind string

// The kinds of groups. KindOther is a group of a protocol type that is nobody's
// of these; a group of bare commits has never had a member that said what it is.
const (
	KindStreams  GroupKind = "streams"  // KIP-1071
	KindConsumer GroupKind = "consumer" // KIP-848
	KindShare    GroupKind = "share"    // KIP-932
	KindClassic  GroupKind = "classic"  // classic consumers, Kafka Streams among them
	KindConnect  GroupKind = "connect"
	KindCommits  GroupKind = "commits" // bare commits
	KindOther    GroupKind = "other"
)

// Kind sorts the group by its true type, and where the broker is too old to say
// that (before Kafka 3.8) by its protocol type.
func (g GroupListing) Kind() GroupKind {
	switch g.Protocol {
	case ProtocolStreams:
		return KindStreams
	case ProtocolConsumer:
		return KindConsumer
	case ProtocolShare:
		return KindShare
	case ProtocolClassic, ProtocolUnknown:
	}
	switch g.ProtocolType {
	case "consumer":
		return KindClassic
	case "connect":
		return KindConnect
	case "streams":
		return KindStreams
	case "share":
		return KindShare
	case "":
		return KindCommits
	}
	return KindOther
}

// GroupList is the list of groups and what could not be listed. With Faults the
// list is short, and a group missing from it may well exist.
type GroupList struct {
	Groups []GroupListing `json:"groups"`
	Faults []*Fault       `json:"faults,omitempty"`
	// Filtered says that the list holds only the groups that this principal may
	// describe, or that this is not known: others may exist.
	Filtered *Fault `json:"filtered,omitempty"`
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
	// Sources say which task reads which of the assigned partitions.
	Sources map[TopicPartition]TaskID `json:"-"`
	// Warmup are standbys on the way to become active (streams protocol, 4.4).
	Warmup []TaskID `json:"warmup,omitempty"`
	// Target is what the coordinator wants the member to have, where that is not
	// what it has (streams protocol).
	Target *Target `json:"target,omitempty"`
	Rack   string  `json:"rack,omitempty"`
	// Tags are client.tag.* of rack aware standbys (KIP-708).
	Tags map[string]string `json:"tags,omitempty"`
	// Epoch and TopologyEpoch are the member's own (KIP-848, KIP-1071).
	Epoch         int32 `json:"epoch,omitempty"`
	TopologyEpoch int32 `json:"topology_epoch,omitempty"`
	// Userdata is the version of a classic Streams member's userdata, and
	// UserdataLatest the newest that it knows; 0 is not known.
	Userdata       int32 `json:"userdata_version,omitempty"`
	UserdataLatest int32 `json:"userdata_latest,omitempty"`
	// Trouble is what a classic Streams member, or the leader that assigned its
	// tasks, reported as wrong, such as incomplete source topic metadata; empty:
	// nothing.
	Trouble string `json:"trouble,omitempty"`
	// ClassicInNew says that the member speaks the classic protocol in a group of
	// a newer one: a rolling upgrade is under way.
	ClassicInNew bool `json:"classic_in_new,omitempty"`
	// NextRebalance is when the next probing rebalance is due (KIP-441).
	NextRebalance time.Time `json:"next_rebalance,omitzero"`
	// OffsetSums are what the member said of the tasks on its disk when it last
	// joined (classic) or reported (streams, KIP-1071): see [OffsetSumRunning].
	OffsetSums map[TaskID]int64 `json:"offset_sums,omitempty"`
	// ReportedTasks says that OffsetSums is an answer: an empty map with it
	// means "no task on disk", without it nothing was said.
	ReportedTasks bool `json:"reported_tasks,omitempty"`
	// EndSums are the end-offset sums of the tasks in OffsetSums, where the
	// protocol gives them: the difference is what a task has to catch up.
	EndSums map[TaskID]int64 `json:"end_sums,omitempty"`
	// Fault marks userdata that could not be decoded; the rest still holds.
	Fault *Fault `json:"fault,omitempty"`
}

// Target is a member's target assignment.
type Target struct {
	Active  []TaskID `json:"active,omitempty"`
	Standby []TaskID `json:"standby,omitempty"`
	Warmup  []TaskID `json:"warmup,omitempty"`
}

// Subtopology is one connected part of a topology, as the streams protocol
// names its topics.
type Subtopology struct {
	ID                 string   `json:"id"`
	SourceTopics       []string `json:"source_topics"`
	RepartitionSinks   []string `json:"repartition_sinks,omitempty"`
	RepartitionSources []string `json:"repartition_sources,omitempty"`
	Changelogs         []string `json:"changelogs,omitempty"`
	// Wanted are the settings that Streams gives the internal topics, by topic.
	Wanted map[string]map[string]string `json:"wanted,omitempty"`
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
	// Epoch, TargetEpoch and TopologyEpoch are the group's, its target
	// assignment's and its topology's (KIP-848, KIP-1071). A target epoch behind
	// the group's means that an assignment is still being made.
	Epoch         int32 `json:"epoch,omitempty"`
	TargetEpoch   int32 `json:"target_epoch,omitempty"`
	TopologyEpoch int32 `json:"topology_epoch,omitempty"`
	// Rights are the operations that this principal may do on the group; nil is
	// not known.
	Rights []Operation `json:"rights,omitempty"`
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

// GroupCommits are the committed offsets of one group among many, or why they
// are not known.
type GroupCommits struct {
	Commits
	Fault *Fault
}

// Activity is when a group last did something, read from the broker's own log of
// commits (__consumer_offsets). It reaches back to Since: a commit that is not in
// Commits was made before that, or never.
type Activity struct {
	// Commits are the times of the newest commits.
	Commits map[TopicPartition]time.Time `json:"-"`
	// LastCommit is the newest of them; zero: none since Since.
	LastCommit time.Time `json:"last_commit,omitzero"`
	// Emptied is when the last member left; zero: not known.
	Emptied time.Time `json:"emptied,omitzero"`
	// Since is the time of the oldest record that was looked at; Whole says that
	// the whole partition was.
	Since time.Time `json:"since,omitzero"`
	Whole bool      `json:"whole,omitempty"`
}
