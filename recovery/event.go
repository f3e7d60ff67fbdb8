package recovery

import (
	"slices"
	"strings"
	"time"

	"resurge/plans"
	"resurge/streams"
)

// EventType is the closed set of things that happen in a run.
type EventType string

// The events. All but step_progress are durable: in the journal before they are
// seen.
const (
	RunStarted   EventType = "run_started"
	RunResumed   EventType = "run_resumed"
	StepStarted  EventType = "step_started"
	StepProgress EventType = "step_progress"
	StepWaiting  EventType = "step_waiting" // for a person or a condition
	TaskDone     EventType = "task_done"    // an operator task was acknowledged or its hook ended
	StepApplied  EventType = "step_applied"
	StepVerified EventType = "step_verified"
	StepSkipped  EventType = "step_skipped" // already done
	StepFailed   EventType = "step_failed"
	PhaseReached EventType = "phase_reached"
	TargetSet    EventType = "target_set"
	MemberSeen   EventType = "member_seen" // an instance joined: what its state directory held
	RunPaused    EventType = "run_paused"
	RunContinued EventType = "run_continued"
	RunFinished  EventType = "run_finished"
)

// Event is one line of the journal and one line of --output json. Which fields
// are set follows from Type.
type Event struct {
	Seq  uint64    `json:"seq"`
	Time time.Time `json:"time"`
	Type EventType `json:"type"`
	// Run is set on run_started, run_resumed and run_finished.
	Run  string     `json:"run,omitempty"`
	Step string     `json:"step,omitempty"`
	Kind plans.Kind `json:"kind,omitempty"`
	// Message is one line for people.
	Message string `json:"message,omitempty"`
	// Done and Total measure progress in Unit; Total 0 is not known.
	Done  int64  `json:"done,omitempty"`
	Total int64  `json:"total,omitempty"`
	Unit  string `json:"unit,omitempty"`
	// Parts are the progress of partitions or topics.
	Parts    []Part     `json:"parts,omitempty"`
	Evidence []Evidence `json:"evidence,omitempty"`
	// Phase is set on phase_reached: "T0" to "T8". At is when it was reached,
	// which may lie before Time.
	Phase string    `json:"phase,omitempty"`
	At    time.Time `json:"at,omitzero"`
	// Task and By tell of operator tasks: who acknowledged, or "hook".
	Task *plans.Task `json:"task,omitempty"`
	By   string      `json:"by,omitempty"`
	// Target is the target vector, on target_set.
	Target  []TargetOffset `json:"target,omitempty"`
	Error   *Problem       `json:"error,omitempty"`
	Header  *Header        `json:"header,omitempty"`
	Outcome Outcome        `json:"outcome,omitempty"`
	// Prev is the digest of the line before, in the journal.
	Prev string `json:"prev,omitempty"`
}

// Ephemeral reports whether the event is for display only.
func (e Event) Ephemeral() bool { return e.Type == StepProgress }

// Part is the progress of one partition or topic.
type Part struct {
	Name  string `json:"name"`
	Done  int64  `json:"done"`
	Total int64  `json:"total"`
}

// Evidence is one check with what was expected and what was found.
type Evidence struct {
	Check string `json:"check"`
	// Result is ok, failed or skipped. A skipped check proves nothing and says
	// in Detail why it was skipped.
	Result Result `json:"result"`
	Detail string `json:"detail"`
}

// Result of one check.
type Result string

// The results of checks.
const (
	ResultOK      Result = "ok"
	ResultFailed  Result = "failed"
	ResultSkipped Result = "skipped"
)

// TargetOffset is one partition of the target vector: caught up means that the
// committed offset has reached Offset.
type TargetOffset struct {
	Topic     string `json:"topic"`
	Partition int32  `json:"partition"`
	Offset    int64  `json:"offset"`
}

// TopicPartition returns the partition that the target is about.
func (t TargetOffset) TopicPartition() streams.TopicPartition {
	return streams.TopicPartition{Topic: t.Topic, Partition: t.Partition}
}

// Problem is an error as data.
type Problem struct {
	// Code is the outcome that the problem leads to.
	Code    Outcome `json:"code"`
	Message string  `json:"message"`
	// Hint is what to look at or type next.
	Hint string `json:"hint,omitempty"`
}

// Header opens a journal. With it alone a run can be explained and resumed.
type Header struct {
	Schema   string     `json:"schema"` // "resurge/run/v1"
	Plan     plans.Plan `json:"plan"`
	Approval Approval   `json:"approval"`
	// Operator and Host are the OS user and machine that started the run.
	Operator string `json:"operator"`
	Host     string `json:"host"`
	Program  string `json:"program"`
	// Lease says what keeps a second run away: "local lock".
	Lease string `json:"lease"`
	// Incident is when the incident was declared: T0 of the clock.
	Incident time.Time `json:"incident"`
	// RTO is the target; 0 when none is set.
	RTO time.Duration `json:"rto_ns,omitempty"`
	// Context is the name of the configuration's context; Drill marks a
	// rehearsal.
	Context string `json:"context,omitempty"`
	Drill   bool   `json:"drill,omitempty"`
}

// Approval says who approved exactly which plan.
type Approval struct {
	PlanID string    `json:"plan_id"`
	By     string    `json:"by"`
	How    string    `json:"how"` // "typed application id" or "--approve"
	At     time.Time `json:"at"`
}

// Outcome is how a run, or an attempt at one, ended.
type Outcome string

// The outcomes. docs/design.md section 9 maps them to exit codes.
const (
	OutcomeVerified     Outcome = "verified"
	OutcomeFailed       Outcome = "failed"
	OutcomeUsage        Outcome = "usage"
	OutcomeBlocked      Outcome = "blocked"
	OutcomeUnauthorised Outcome = "not_authorised"
	OutcomeGroupActive  Outcome = "group_active"
	OutcomePartial      Outcome = "partial"
	OutcomeUnverified   Outcome = "unverified"
	OutcomeRTOMissed    Outcome = "rto_missed"
	OutcomeStale        Outcome = "stale"
	OutcomeUnreachable  Outcome = "unreachable"
	OutcomeLeaseHeld    Outcome = "lease_held"
	OutcomeInterrupted  Outcome = "interrupted"
)

// The phases of the RTO clock, docs/design.md section 7.
const (
	PhaseIncident    = "T0"
	PhaseEmpty       = "T1"
	PhaseWritten     = "T2"
	PhaseFirstMember = "T3"
	PhaseStable      = "T4"
	PhaseFirstCommit = "T5"
	PhaseCaughtUp    = "T6"
	PhaseDrained     = "T7"
	PhaseProven      = "T8"
)

// Phases lists the phases in order with what each means.
func Phases() []struct{ ID, Name string } {
	return []struct{ ID, Name string }{
		{PhaseIncident, "incident declared"},
		{PhaseEmpty, "group empty"},
		{PhaseWritten, "topics and offsets written"},
		{PhaseFirstMember, "first member joined"},
		{PhaseStable, "group stable"},
		{PhaseFirstCommit, "first commit of every task"},
		{PhaseCaughtUp, "inputs passed the target vector"},
		{PhaseDrained, "repartition topics drained"},
		{PhaseProven, "state proven"},
	}
}

// sortTargets orders a vector by topic and partition.
func sortTargets(v []TargetOffset) {
	slices.SortFunc(v, func(a, b TargetOffset) int {
		if c := strings.Compare(a.Topic, b.Topic); c != 0 {
			return c
		}
		return int(a.Partition - b.Partition)
	})
}
