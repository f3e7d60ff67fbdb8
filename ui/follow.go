package ui

import (
	"context"
	"errors"
	"io"
	"time"

	tea "charm.land/bubbletea/v2"

	"resurge/plans"
	"resurge/recovery"
)

// pace is the least time between two questions for events: a run that reports a
// thousand times a second is drawn twenty times.
const pace = 50 * time.Millisecond

// grace is how long a question that opened by itself ignores the keys that were
// meant for what was there before.
const grace = time.Second

// stillness is the time without progress that is worth a word.
const stillness = 60 * time.Second

// rateFor is how long a rate is shown after the last report.
const rateFor = 15 * time.Second

// happened is one batch of events.
type happened struct {
	events []recovery.Event
	cursor recovery.Cursor
}

// follower holds the run as its events tell it.
type follower struct {
	fold     recovery.Run
	on       bool   // a run was started or attached to
	attached string // the run that was attached to, by its ID
	over     bool   // nothing more will come
	err      error
	request  request
	cursor   recovery.Cursor
	opened   time.Time // when the ask or the result that is seen appeared by itself
}

// active reports whether the run may still change the cluster.
func (f *follower) active() bool { return f.on && !f.over && f.fold.Outcome == "" }

// shown reports whether there is a run to show.
func (f *follower) shown() bool { return f.on && f.fold.ID != "" }

// id is the run's ID, as far as it is known.
func (f *follower) id() string {
	if f.fold.ID != "" {
		return f.fold.ID
	}
	return f.attached
}

// resumable reports whether the run ended, or would be left, before its end.
func (f *follower) resumable() bool {
	switch f.fold.Outcome {
	case recovery.OutcomeVerified, recovery.OutcomeRTOMissed, recovery.OutcomeUnverified, recovery.OutcomeStale, recovery.OutcomeUsage:
		return false
	case "", recovery.OutcomeFailed, recovery.OutcomeBlocked, recovery.OutcomeUnauthorised, recovery.OutcomeGroupActive,
		recovery.OutcomePartial, recovery.OutcomeUnreachable, recovery.OutcomeLeaseHeld, recovery.OutcomeInterrupted:
	}
	return true
}

// clock is the RTO clock: it stops when the state is proven. Without a declared
// incident it counts from the run's begin.
func (f *follower) clock(now time.Time) time.Duration {
	r := f.fold
	r.Header.Incident = f.zero()
	return max(r.Clock(now), 0)
}

// zero is the moment that the clock counts from.
func (f *follower) zero() time.Time {
	if f.fold.Header.Incident.IsZero() {
		return f.fold.Began
	}
	return f.fold.Header.Incident
}

// still is how long the running step has not moved, 0 below the threshold. A
// step that waits has its own deadline and is not still.
func (f *follower) still(now time.Time) time.Duration {
	s, ok := f.fold.Current()
	if !ok || s.Status != recovery.StatusRunning || f.fold.Paused || s.LastChange.IsZero() || !f.active() {
		return 0
	}
	if d := now.Sub(s.LastChange); d >= stillness {
		return d
	}
	return 0
}

// fresh reports whether the step's rate tells of now.
func (f *follower) fresh(s recovery.StepState, now time.Time) bool {
	n := len(s.Samples)
	return f.active() && !f.fold.Paused && s.Status == recovery.StatusRunning && n > 0 && now.Sub(s.Samples[n-1].Time) < rateFor
}

// ready reports whether keys for a question that opened by itself count yet.
func (f *follower) ready(now time.Time) bool { return now.Sub(f.opened) >= grace }

// follow starts to listen to a run from its beginning.
func (d *desk) follow(attached string) tea.Cmd {
	d.run.request.drop()
	d.run = follower{on: true, attached: attached}
	d.leave = 0
	return d.waitForEvents(0)
}

// waitForEvents asks for what is new. One question is out at a time, so order
// holds.
func (d *desk) waitForEvents(after time.Duration) tea.Cmd {
	if d.s.Events == nil {
		return nil
	}
	events, cursor := d.s.Events, d.run.cursor
	return ask(d, &d.run.request, func(ctx context.Context) (happened, error) {
		if after > 0 {
			select {
			case <-time.After(after):
			case <-ctx.Done():
				return happened{}, context.Cause(ctx)
			}
		}
		e, c, err := events.Next(ctx, cursor)
		return happened{events: e, cursor: c}, err
	})
}

// fold takes one batch of events into the run and asks for the next.
func (d *desk) fold(msg answer[happened]) tea.Cmd {
	if !d.run.request.is(msg.number) {
		return nil
	}
	before := d.run.fold
	for _, e := range msg.value.events {
		d.run.fold = d.run.fold.Apply(e)
	}
	d.afterEvents(before)
	switch {
	case errors.Is(msg.err, io.EOF):
		d.run.over, d.run.err = true, nil
		return d.all(runMsg{})
	case msg.err != nil:
		d.run.err = msg.err
		return d.all(runMsg{})
	}
	d.run.err, d.run.cursor = nil, msg.value.cursor
	return tea.Batch(d.waitForEvents(pace), d.all(runMsg{}))
}

// runMsg tells the screens that the run is another one than before.
type runMsg struct{}

// afterEvents notices what must not be missed.
func (d *desk) afterEvents(before recovery.Run) {
	after := d.run.fold
	if after.Waiting != nil && (before.Waiting == nil || before.Waiting.Name != after.Waiting.Name) {
		d.run.opened = d.now
	}
	if before.Paused && !after.Paused {
		d.leave = 0
	}
	if before.Outcome == "" && after.Outcome != "" {
		d.run.opened = d.now
		if _, ok := d.top().(*runScreen); ok {
			d.prompt = nil
			d.push(newResultScreen(d))
			return
		}
		d.say(outcomeMark(after.Outcome), outcomeTitle(after)+"  :run shows the result")
	}
}

// started is the answer to a start.
type started struct{ plan plans.Plan }

// start begins the run of a plan that was approved.
func (d *desk) start(r *request, p plans.Plan, how string) tea.Cmd {
	a := recovery.Approval{PlanID: p.ID, By: d.s.Operator, How: how, At: d.s.Now().UTC()}
	controls := d.s.Controls
	return ask(d, r, func(context.Context) (started, error) {
		return started{plan: p}, controls.Start(p, a)
	})
}

// openRun goes to the run, or to its result when it has one.
func (d *desk) openRun() {
	keep := min(len(d.stack), 2)
	if keep == 2 {
		if _, ok := d.stack[1].(*applicationScreen); !ok {
			keep = 1
		}
	}
	d.keep(keep)
	d.push(newRunScreen(d))
	if d.run.fold.Outcome != "" {
		d.push(newResultScreen(d))
	}
}
