package ui

import (
	"context"
	"time"

	"resurge/discovery"
	"resurge/plans"
	"resurge/recovery"
)

// Explorer answers questions. It never changes a cluster, and each call may take
// as long as its context lives.
type Explorer interface {
	Applications
	Groups
	Planner
}

// Applications answers about the applications of Kafka Streams.
type Applications interface {
	// Glance lists them by what names alone tell, at once: its numbers are
	// missing, and Partial says so.
	Glance(ctx context.Context) (discovery.Survey, error)
	// Survey lists the Streams applications of the cluster.
	Survey(ctx context.Context) (discovery.Survey, error)
	// Inspect reads everything about one application and says what it means. A
	// group that is no application of Kafka Streams comes back without Signs.
	Inspect(ctx context.Context, app string) (discovery.Inventory, recovery.Assessment, error)
}

// Groups answers about groups of every kind.
type Groups interface {
	// Groups lists all groups of the cluster.
	Groups(ctx context.Context) (discovery.GroupSurvey, error)
	// Explore reads one group: members, positions and who reads what. It costs
	// little, says nothing of roles, and is asked again and again while a group is
	// followed, one question at a time.
	Explore(ctx context.Context, group string) (discovery.Inventory, error)
}

// Planner prepares what changes a cluster, without changing it.
type Planner interface {
	// Plan makes the exact plan for a request.
	Plan(ctx context.Context, r recovery.Request) (plans.Plan, error)
	// Preflight lists the rights that a purpose takes, and which of them are held.
	Preflight(ctx context.Context, app string, purpose recovery.Purpose) (recovery.Preflight, error)
}

// Controls steers a run. Start and the answers to tasks are safe to call while
// a step runs.
type Controls interface {
	// Start begins the run in the background; what happens is told by Events,
	// which is then asked from the zero cursor again.
	Start(p plans.Plan, a recovery.Approval) error
	Answers
	Brakes
}

// Answers are what a person says about a task outside the cluster.
type Answers interface {
	// Acknowledge says that the task was done, and by whom.
	Acknowledge(task, by string)
	// Decline says that it cannot be done: the run stops where it is safe.
	Decline(task, reason string)
}

// Brakes hold a run up between steps.
type Brakes interface {
	// PauseAfterStep holds the run when the step that runs now is over.
	PauseAfterStep()
	// Continue lets a held run go on.
	Continue()
	// Stop ends the run at the next safe point. It can be resumed.
	Stop()
}

// Events tells what happens in the run. Next waits until something is new and
// returns io.EOF when nothing more will come.
type Events interface {
	Next(ctx context.Context, c recovery.Cursor) ([]recovery.Event, recovery.Cursor, error)
}

// Session is all that the console is given.
type Session struct {
	Explorer Explorer
	Controls Controls
	Events   Events

	// Context is the configuration's name for the cluster. The cluster's own ID
	// is shown beside it, as the live connection gives it.
	Context string
	// Drill marks a rehearsal. Production asks for the context's name too before
	// a run is approved.
	Drill, Production bool
	// Application is opened at once, also when it is a group of another kind; RunID
	// is attached to at once.
	Application, RunID string
	// Follow, when it is not 0, is how often Application is looked at, from the
	// start on: 1 s to 60 s.
	Follow time.Duration
	// Operator is who approves and acknowledges.
	Operator string
	// Incident is T0 of the RTO clock, zero when none was declared. RTO is the
	// target, 0 when none is set.
	Incident time.Time
	RTO      time.Duration
	// TargetOf, when set, is the RTO of one application; it goes before RTO.
	TargetOf func(app string) time.Duration
	// Now is the clock; nil takes the system's. Its location is the local time
	// that is shown beside UTC.
	Now func() time.Time
	// ResumeCommand is what to type to take a run up again.
	ResumeCommand func(runID string) string
	// UndoCommand, when set, is what to type to take back what a run did.
	UndoCommand func(runID string) string
	// Copy, when set, also keeps a copied text where it can be had without a
	// clipboard, and returns that place: a file's path.
	Copy func(text string) (place string, err error)
	// ASCII draws with ASCII characters only. It is also taken when the terminal
	// is one that cannot draw more.
	ASCII bool
}
