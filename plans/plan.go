package plans

import (
	"time"

	"resurge/streams"
)

// FormatVersion is the version of the plan format. A plan of a newer format is
// refused: a step that is not understood must not be skipped.
const FormatVersion = 1

// Strategy is the way back that a plan follows.
type Strategy string

// The strategies of docs/design.md section 5, and the way back from a run.
const (
	Rebuild          Strategy = "rebuild"
	ChangelogRestore Strategy = "changelog-restore"
	PITRRebuild      Strategy = "pitr"
	StandbyPromotion Strategy = "standby-promotion"
	Undo             Strategy = "undo"
)

// Kind is what a step does. Every kind has one handler in recovery.
type Kind string

// The kinds of steps.
const (
	// SaveState writes the group's offsets, and the configs and IDs of every
	// touched topic, next to the journal. Nothing changes on the cluster.
	SaveState Kind = "save-state"
	// OperatorTask is done by a person or by a hook outside the cluster.
	OperatorTask Kind = "operator-task"
	// AwaitEmpty waits until the group has no members.
	AwaitEmpty Kind = "await-empty"
	// RemoveMembers evicts the listed members. Never implied by another step.
	RemoveMembers Kind = "remove-members"
	// AwaitTransactions waits until no transaction of the application is open.
	AwaitTransactions Kind = "await-transactions"
	// CommitOffsets moves committed offsets of the group.
	CommitOffsets Kind = "commit-offsets"
	// DeleteTopic deletes one topic generation and awaits it on all brokers.
	DeleteTopic Kind = "delete-topic"
	// CreateTopic creates one topic with its partitions and configs.
	CreateTopic Kind = "create-topic"
	// AwaitCaughtUp waits until the group passed the target vector and its
	// repartition topics are drained.
	AwaitCaughtUp Kind = "await-caught-up"
	// ProveState asks the state itself and compares.
	ProveState Kind = "prove-state"
)

// Kinds lists every kind in the order in which they are documented.
func Kinds() []Kind {
	return []Kind{
		SaveState, OperatorTask, AwaitEmpty, RemoveMembers, AwaitTransactions,
		CommitOffsets, DeleteTopic, CreateTopic, AwaitCaughtUp, ProveState,
	}
}

// Risk says what a step can cost.
type Risk string

// The risks. A destructive step cannot be taken back by resurge.
const (
	ReadOnly    Risk = "read-only"
	Reversible  Risk = "reversible"
	Destructive Risk = "destructive"
	ByOperator  Risk = "operator"
)

// The names of operator tasks, as --ack and hooks know them.
const (
	TaskStop       = "stop"
	TaskClearState = "clear-state"
	TaskStart      = "start"
)

// Plan is an approved-or-not recovery plan. It is compared and hashed as JSON:
// every field counts, see [Plan.Seal].
type Plan struct {
	Format int `json:"format"`
	// ID is "sha256:" and 64 hex digits over the rest; empty while unsealed.
	ID          string    `json:"id"`
	Strategy    Strategy  `json:"strategy"`
	Application string    `json:"application"`
	ClusterID   string    `json:"cluster_id"`
	Created     time.Time `json:"created"`
	// Program is the version of resurge that made the plan.
	Program string `json:"program"`
	// Summary is the plan in one sentence for people.
	Summary string `json:"summary"`
	// Hints are the operator's words that the plan was made with.
	Hints Hints `json:"hints"`
	// Basis are the facts that the plan rests on. A run reads them again and
	// refuses the plan when one differs.
	Basis []Fact `json:"basis"`
	// Warnings are what the operator must know before approving.
	Warnings []string `json:"warnings,omitempty"`
	// Undoes is the run that an undo plan leads back from.
	Undoes string `json:"undoes,omitempty"`
	Steps  []Step `json:"steps"`
}

// Hints is what an operator says about an application's topics.
type Hints struct {
	Inputs        []string `json:"inputs,omitempty"`
	Intermediates []string `json:"intermediates,omitempty"`
	Outputs       []string `json:"outputs,omitempty"`
	Globals       []string `json:"globals,omitempty"`
	// Stores are the logged state stores that the topology names.
	Stores []string `json:"stores,omitempty"`
	// Internal selects the internal topics to delete; empty: all owned.
	Internal []string `json:"internal,omitempty"`
	// Topology is what the operator imported: the text of Topology#describe() of
	// the deployed code.
	Topology *streams.Topology `json:"topology,omitempty"`
	// StateDir is state.dir on the instances; empty: not known.
	StateDir string `json:"state_dir,omitempty"`
}

// Fact is one thing that was read when the plan was made.
type Fact struct {
	Name  string `json:"name"`
	Value string `json:"value"`
}

// Step is one step. Which of the optional parts is set follows from Kind.
type Step struct {
	// ID is the step's number in the plan, from "1".
	ID    string `json:"id"`
	Kind  Kind   `json:"kind"`
	Title string `json:"title"`
	Risk  Risk   `json:"risk"`
	// Undo says how the step's effect is taken back, for people.
	Undo string `json:"undo,omitempty"`
	// CLI are the equivalent commands of Kafka's own tools, one a line.
	CLI []string `json:"cli,omitempty"`
	// Deadline bounds a waiting step, in seconds; 0 where nothing waits.
	Deadline int `json:"deadline_seconds,omitempty"`

	Topics  []Topic        `json:"topics,omitempty"`
	Offsets []OffsetChange `json:"offsets,omitempty"`
	Members []Member       `json:"members,omitempty"`
	Task    *Task          `json:"task,omitempty"`
}

// Topic is one topic that a step touches or reads.
type Topic struct {
	Name string          `json:"name"`
	ID   streams.TopicID `json:"topic_id"`
	Role streams.Role    `json:"role"`
	// Partitions is the count.
	Partitions int `json:"partitions"`
	// ReplicationFactor and Configs are set where the step creates the topic.
	ReplicationFactor int               `json:"replication_factor,omitempty"`
	Configs           map[string]string `json:"configs,omitempty"`
	// Records is the number of offsets between log start and end when the plan
	// was made; -1 when not known. Markers and compacted gaps count.
	Records int64 `json:"records"`
	// Why is the evidence that the topic belongs to the application.
	Why string `json:"why,omitempty"`
}

// OffsetChange is one partition's committed offset, before and after.
type OffsetChange struct {
	Topic     string `json:"topic"`
	Partition int32  `json:"partition"`
	// Before is the committed offset when the plan was made; nil: none.
	Before *int64 `json:"before"`
	// After is the offset to commit; nil removes the commit (undo of a first
	// commit).
	After *int64 `json:"after"`
	// Metadata is committed with After, byte for byte.
	Metadata string `json:"metadata"`
	// Start and End are the partition's log start offset and high watermark
	// when the plan was made.
	Start int64 `json:"start"`
	End   int64 `json:"end"`
	// Note says what was adjusted, e.g. a position beyond the end.
	Note string `json:"note,omitempty"`
}

// TopicPartition returns the partition that the change is about.
func (c OffsetChange) TopicPartition() streams.TopicPartition {
	return streams.TopicPartition{Topic: c.Topic, Partition: c.Partition}
}

// Member is a group member as the plan knows it.
type Member struct {
	ID         string `json:"id"`
	InstanceID string `json:"instance_id,omitempty"`
	ClientID   string `json:"client_id"`
	Host       string `json:"host"`
}

// Task is something that happens outside the cluster.
type Task struct {
	// Name is what --ack and hooks use: see [TaskStop].
	Name string `json:"name"`
	// Ask is the request in the operator's words, one line.
	Ask string `json:"ask"`
	// Why says what goes wrong without it.
	Why string `json:"why"`
	// Details are exact things to do, one per line: directories, commands.
	Details []string `json:"details,omitempty"`
	// Hook reports that the configuration has a command for the task.
	Hook bool `json:"hook,omitempty"`
}

// Step returns the step with the given ID.
func (p Plan) Step(id string) (Step, bool) {
	for _, s := range p.Steps {
		if s.ID == id {
			return s, true
		}
	}
	return Step{}, false
}

// Destructive lists the steps that cannot be taken back.
func (p Plan) Destructive() []Step {
	var out []Step
	for _, s := range p.Steps {
		if s.Risk == Destructive {
			out = append(out, s)
		}
	}
	return out
}
