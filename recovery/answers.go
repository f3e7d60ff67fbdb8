package recovery

import (
	"context"
	"errors"
	"sync"
)

// ErrStopped is the cause when a run is stopped at a safe point on request.
var ErrStopped = errors.New("stopped on request")

// Answers carries what people say to a run: tasks done, pause, stop. Its
// methods may be called from any goroutine and never block.
type Answers struct {
	mu sync.Mutex
	// guarded by mu:
	done     map[string]string // task -> by whom
	declined map[string]string // task -> reason
	pause    bool
	stop     bool
	attended bool
	changed  chan struct{}
}

// NewAnswers returns answers with tasks acknowledged beforehand by the given
// person ("all" stands for every task). attended says that somebody is there to
// answer later; without it an open task ends the run.
func NewAnswers(acks []string, by string, attended bool) *Answers {
	a := &Answers{done: map[string]string{}, declined: map[string]string{}, attended: attended, changed: make(chan struct{})}
	for _, t := range acks {
		a.done[t] = by
	}
	return a
}

func (a *Answers) change(f func()) {
	a.mu.Lock()
	defer a.mu.Unlock()
	f()
	close(a.changed)
	a.changed = make(chan struct{})
}

// Acknowledge says that a person did the task.
func (a *Answers) Acknowledge(task, by string) { a.change(func() { a.done[task] = by }) }

// Decline says that the task cannot be done: the run stops there.
func (a *Answers) Decline(task, reason string) { a.change(func() { a.declined[task] = reason }) }

// PauseAfterStep asks the run to wait at the next safe point.
func (a *Answers) PauseAfterStep() { a.change(func() { a.pause = true }) }

// Continue lets a paused run go on.
func (a *Answers) Continue() { a.change(func() { a.pause = false }) }

// Stop asks the run to end at the next safe point.
func (a *Answers) Stop() { a.change(func() { a.stop = true }) }

func (a *Answers) paused() bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.pause || a.stop
}

func (a *Answers) stopped() bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.stop
}

// acknowledged reports whether, and by whom, a task was acknowledged.
func (a *Answers) acknowledged(task string) (by string, ok bool) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if by, ok = a.done[task]; !ok {
		by, ok = a.done["all"]
	}
	return by, ok
}

// await waits for a person's word on a task.
func (a *Answers) await(ctx context.Context, task string) (by string, err error) {
	for {
		a.mu.Lock()
		changed, stop, reason := a.changed, a.stop, a.declined[task]
		delete(a.declined, task)
		a.mu.Unlock()
		if by, ok := a.acknowledged(task); ok {
			return by, nil
		}
		switch {
		case stop:
			return "", ErrStopped
		case reason != "":
			return "", refuse(OutcomePartial, "resume when it can be done", "task %s was declined: %s", task, reason)
		case !a.attended:
			return "", refuse(OutcomePartial, "do it, then resume with --ack "+task+"; or configure a hook for it", "task %s waits for an operator and nobody is here to answer", task)
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return "", context.Cause(ctx)
		}
	}
}

// awaitContinue waits at a safe point.
func (a *Answers) awaitContinue(ctx context.Context) error {
	for {
		a.mu.Lock()
		changed, stop, pause := a.changed, a.stop, a.pause
		a.mu.Unlock()
		switch {
		case stop:
			return ErrStopped
		case !pause:
			return nil
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
}
