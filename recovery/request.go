package recovery

import (
	"time"

	"resurge/discovery"
	"resurge/plans"
)

// PositionMode is a way to say where a group should read from.
type PositionMode string

// The modes, named as Kafka's reset tools name them.
const (
	ToEarliest PositionMode = "to-earliest"
	ToLatest   PositionMode = "to-latest"
	ToOffset   PositionMode = "to-offset"
	ToDatetime PositionMode = "to-datetime"
	ByDuration PositionMode = "by-duration"
	ShiftBy    PositionMode = "shift-by"
)

// Position says where to read from: for one partition, for one topic
// (Partition nil), or for every input (Topic empty too). The most exact one
// wins.
type Position struct {
	Topic     string       `json:"topic,omitempty"`
	Partition *int32       `json:"partition,omitempty"`
	Mode      PositionMode `json:"mode"`
	// Offset is the offset of to-offset, the signed number of shift-by.
	Offset int64 `json:"offset,omitempty"`
	// At is the time of to-datetime, and of by-duration once it is resolved.
	At time.Time `json:"at,omitzero"`
	// Text is the value as the operator wrote it.
	Text string `json:"text,omitempty"`
}

// Request is what an operator asks a plan for.
type Request struct {
	Application string
	Strategy    plans.Strategy
	// Positions are where the inputs start again; empty means to-earliest.
	Positions []Position
	Hints     discovery.Hints
	// NoStop and NoStart leave those operator tasks out of the plan.
	NoStop  bool
	NoStart bool
	// RemoveMembers adds the eviction of live members as its own step.
	RemoveMembers bool
	// RecreateRepartition creates the repartition topics again with offset 0
	// committed, for applications whose auto.offset.reset is latest.
	RecreateRepartition bool
	// Hooks names the operator tasks that run by themselves.
	Hooks []string
	// EmptyWithin bounds the wait for the group to become empty; CaughtUpWithin
	// the wait for the application to catch up. 0 takes the default.
	EmptyWithin    time.Duration
	CaughtUpWithin time.Duration
}
