package recovery

import (
	"context"
	"errors"
	"fmt"
	"time"

	"resurge/plans"
	"resurge/streams"
)

// appender is where durable events go first.
type appender interface {
	Append(e Event) (Event, error)
}

// Ports is what the executor works with. Only it holds the Writer.
type Ports struct {
	Reader      Reader
	Writer      Writer
	Operator    Operator
	Application Application
	Store       Store
	Answers     *Answers
	Now         func() time.Time
	// Poll is the pause between two looks of a waiting step.
	Poll time.Duration
}

// Executor drives one run, step by step, on the caller's goroutine.
type Executor struct {
	ports    Ports
	journal  appender
	log      *EventLog
	run      Run
	handlers map[plans.Kind]handler
}

// readiness is what a handler's check finds.
type readiness int

const (
	ready readiness = iota
	satisfied
)

// handler does one kind of step. Each method may be called again after a crash
// at any point, also after the cluster did the work and the answer was lost.
type handler interface {
	// check reads. A refusal is an *Error.
	check(ctx context.Context, w *work) (readiness, error)
	// apply has the effect.
	apply(ctx context.Context, w *work) error
	// verify reads back; it returns no error only if the effect holds.
	verify(ctx context.Context, w *work) ([]Evidence, error)
}

// NewExecutor prepares a run. Events of an earlier process are folded first.
func NewExecutor(ports Ports, journal appender, log *EventLog, earlier []Event) *Executor {
	return &Executor{ports: ports, journal: journal, log: log, run: Fold(earlier), handlers: handlers()}
}

// Begin journals the header of a new run.
func (x *Executor) Begin(runID string, h Header) error {
	return x.emit(Event{Type: RunStarted, Run: runID, Header: &h, Message: "run of plan " + plans.Short(h.Plan.ID) + " for " + h.Plan.Application})
}

// Resume journals that a run goes on.
func (x *Executor) Resume(by string) error {
	return x.emit(Event{Type: RunResumed, Run: x.run.ID, By: by, Message: "run taken up again"})
}

// Run returns the fold of all events so far.
func (x *Executor) Run() Run { return x.run }

// emit makes a durable event: on disk first, then in the fold, then visible.
func (x *Executor) emit(e Event) error {
	e.Time = x.ports.Now().UTC()
	e, err := x.journal.Append(e)
	if err != nil {
		return &Error{Outcome: OutcomePartial, Err: err, Hint: "free space or mend the disk, then resume: nothing is done that is not journalled"}
	}
	x.run = x.run.Apply(e)
	x.log.Publish(e)
	return nil
}

// Execute drives the plan to its end and returns how it ended. The returned
// error is the journal's: without a journal there is no run.
func (x *Executor) Execute(ctx context.Context) (Outcome, error) {
	for _, s := range x.run.Steps {
		if s.Status.Done() {
			continue
		}
		if err := x.pauseHere(ctx); err != nil {
			return x.finish(err)
		}
		if err := x.step(ctx, s.Step); err != nil {
			return x.finish(err)
		}
		if err := x.written(s.Step); err != nil {
			return x.finish(err)
		}
	}
	return x.finish(nil)
}

// pauseHere is the safe point between steps.
func (x *Executor) pauseHere(ctx context.Context) error {
	if !x.ports.Answers.paused() {
		return ctx.Err()
	}
	if err := x.emit(Event{Type: RunPaused, Message: "paused between steps"}); err != nil {
		return err
	}
	if err := x.ports.Answers.awaitContinue(ctx); err != nil {
		return err
	}
	return x.emit(Event{Type: RunContinued, Message: "goes on"})
}

func (x *Executor) step(ctx context.Context, s plans.Step) error {
	w := &work{Ports: x.ports, Step: s, x: x}
	h, ok := x.handlers[s.Kind]
	if !ok {
		return refuse(OutcomeFailed, "use the resurge that made the plan", "step %s: no handler for kind %q", s.ID, string(s.Kind))
	}
	state, err := h.check(ctx, w)
	if err != nil {
		return x.fail(ctx, s, nil, err)
	}
	if state == ready {
		if err := x.emit(Event{Type: StepStarted, Step: s.ID, Kind: s.Kind, Message: s.Title}); err != nil {
			return err
		}
		if err := h.apply(ctx, w); err != nil {
			return x.fail(ctx, s, nil, err)
		}
		if err := x.emit(Event{Type: StepApplied, Step: s.ID, Kind: s.Kind}); err != nil {
			return err
		}
	}
	evidence, err := h.verify(ctx, w)
	if err != nil {
		return x.fail(ctx, s, evidence, err)
	}
	done := Event{Type: StepVerified, Step: s.ID, Kind: s.Kind, Evidence: evidence, Message: "done: " + s.Title}
	if state == satisfied {
		done.Type, done.Message = StepSkipped, "already so: "+s.Title
	}
	return x.emit(done)
}

// fail journals a step's failure, unless the journal itself is the problem or
// the run was interrupted, which is no failure of the step.
func (x *Executor) fail(ctx context.Context, s plans.Step, evidence []Evidence, err error) error {
	var journal *Error
	if errors.As(err, &journal) && journal.Outcome == OutcomePartial && x.journalFailed(journal) {
		return err
	}
	if errors.Is(err, ErrStopped) {
		return err
	}
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	err = fmt.Errorf("step %s: %w", s.ID, err)
	p := ProblemOf(err)
	if jerr := x.emit(Event{Type: StepFailed, Step: s.ID, Kind: s.Kind, Error: p, Evidence: evidence, Message: p.Message}); jerr != nil {
		return jerr
	}
	return err
}

func (x *Executor) journalFailed(e *Error) bool {
	j, ok := x.journal.(*Journal)
	return ok && j.failed != nil && errors.Is(e, j.failed)
}

// written marks T2 after the last step that writes.
func (x *Executor) written(s plans.Step) error {
	if _, known := x.run.Phases[PhaseWritten]; known {
		return nil
	}
	for _, o := range x.run.Steps {
		if writes(o.Step.Kind) && !o.Status.Done() {
			return nil
		}
	}
	if !writes(s.Kind) {
		return nil
	}
	return x.phase(PhaseWritten, x.ports.Now())
}

func writes(k plans.Kind) bool {
	return k == plans.CommitOffsets || k == plans.DeleteTopic || k == plans.CreateTopic || k == plans.RemoveMembers
}

func (x *Executor) phase(id string, at time.Time) error {
	if _, known := x.run.Phases[id]; known {
		return nil
	}
	for _, p := range Phases() {
		if p.ID == id {
			return x.emit(Event{Type: PhaseReached, Phase: id, At: at.UTC(), Message: id + " " + p.Name})
		}
	}
	return nil
}

// finish journals the end of the run.
func (x *Executor) finish(cause error) (Outcome, error) {
	e := Event{Type: RunFinished, Run: x.run.ID, Outcome: x.outcome(cause)}
	if cause != nil {
		e.Error = ProblemOf(cause)
		e.Error.Code = e.Outcome
		e.Message = e.Error.Message
	} else {
		e.Message = x.closing(e.Outcome)
	}
	if err := x.emit(e); err != nil {
		return OutcomePartial, err
	}
	return e.Outcome, nil
}

func (x *Executor) closing(o Outcome) string {
	_, proven := x.run.Phases[PhaseProven]
	switch {
	case o == OutcomeRTOMissed:
		return "recovered and proven, later than the RTO allows"
	case proven:
		return "recovered and proven"
	}
	return "every step done and verified; the application is not started, so nothing is proven yet"
}

func (x *Executor) outcome(cause error) Outcome {
	switch {
	case cause == nil:
		h := x.run.Header
		if at, proven := x.run.Phases[PhaseProven]; proven && h.RTO > 0 && at.Sub(h.Incident) > h.RTO {
			return OutcomeRTOMissed
		}
		return OutcomeVerified
	case errors.Is(cause, ErrStopped), errors.Is(cause, context.Canceled):
		return OutcomeInterrupted
	}
	return ProblemOf(cause).Code
}

// Final reports whether a run with this outcome cannot be resumed.
func (o Outcome) Final() bool { return o == OutcomeVerified || o == OutcomeRTOMissed }

// work is one step at hand: the ports, and how to report.
type work struct {
	Ports

	Step plans.Step
	x    *Executor
	// hurry shortens the pause to the next look, while something shows that will
	// not stay long.
	hurry bool
}

// hurried is the pace of a hurry: what a classic instance says at its first join
// can be readable for no more than 20 ms (docs/adr/0005).
const hurried = 4 * time.Millisecond

func (w *work) pace() time.Duration {
	if w.hurry {
		return min(hurried, w.Poll)
	}
	return w.Poll
}

func (w *work) app() string { return w.x.run.Header.Plan.Application }

func (w *work) plan() plans.Plan { return w.x.run.Header.Plan }

// progress shows how far the step is; it is not journalled.
func (w *work) progress(e Event) {
	e.Type, e.Step, e.Kind, e.Time = StepProgress, w.Step.ID, w.Step.Kind, w.Now().UTC()
	w.x.run = w.x.run.Apply(e)
	w.x.log.Publish(e)
}

func (w *work) phase(id string) error { return w.x.phase(id, w.Now()) }

func (w *work) emit(e Event) error {
	e.Step, e.Kind = w.Step.ID, w.Step.Kind
	return w.x.emit(e)
}

// deadline is the end of the step's patience, from now.
func (w *work) deadline() time.Time {
	return w.Now().Add(time.Duration(w.Step.Deadline) * time.Second)
}

// poll calls look until it says done, at the ports' pace, or until the deadline
// passes: late then says what to answer.
func (w *work) poll(ctx context.Context, look func() (done bool, err error), late func() error) error {
	end := w.deadline()
	for {
		done, err := look()
		if err != nil || done {
			return err
		}
		if w.Answers.stopped() {
			return ErrStopped
		}
		if !w.Now().Before(end) {
			return late()
		}
		if err := pause(ctx, w.pace()); err != nil {
			return err
		}
	}
}

func pause(ctx context.Context, d time.Duration) error {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// emptyGroup refuses when the group has members, or when it cannot be told.
// Every step that changes something asks first.
func (w *work) emptyGroup(ctx context.Context) error {
	g, err := w.Reader.Group(ctx, w.app())
	if err != nil {
		return fmt.Errorf("describe group %s: %w", streams.Quote(w.app()), err)
	}
	if g.Fault != nil {
		return fmt.Errorf("the state of the group is not known: %w", g.Fault)
	}
	if !g.Empty() {
		return groupActive(g, w.Now())
	}
	return nil
}
