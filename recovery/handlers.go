package recovery

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"resurge/plans"
	"resurge/streams"
)

// handlers has one handler per kind of step.
func handlers() map[plans.Kind]handler {
	return map[plans.Kind]handler{
		plans.SaveState:         saveState{},
		plans.OperatorTask:      operatorTask{},
		plans.AwaitEmpty:        awaitEmpty{},
		plans.RemoveMembers:     removeMembers{},
		plans.AwaitTransactions: awaitTransactions{},
		plans.CommitOffsets:     commitOffsets{},
		plans.DeleteTopic:       deleteTopic{},
		plans.CreateTopic:       createTopic{},
		plans.AwaitCaughtUp:     awaitCaughtUp{},
		plans.ProveState:        proveState{},
	}
}

// groupActive is the refusal that names who is still there.
func groupActive(g streams.Group, seen time.Time) *Error {
	var who []string
	for _, m := range g.Members {
		line := "member " + streams.Quote(m.ID) + " (client " + streams.Quote(m.ClientID) + ") on " + streams.Quote(strings.TrimPrefix(m.Host, "/"))
		if m.InstanceID != "" {
			line += " (static " + streams.Quote(m.InstanceID) + ")"
		}
		who = append(who, line+", last seen "+seen.UTC().Format("15:04:05 UTC"))
	}
	if len(who) == 0 {
		who = append(who, "no member is named, but its state is "+streams.Quote(g.State))
	}
	return refuse(OutcomeGroupActive,
		"stop those instances; a classic member that was stopped stays listed until its session times out (45 s by default, static members longer)",
		"group %s is still active: %s", streams.Quote(g.ID), strings.Join(who, ", "))
}

// operatorTask asks a person, or runs the hook.
type operatorTask struct{}

func (operatorTask) check(ctx context.Context, w *work) (readiness, error) {
	g, err := w.Reader.Group(ctx, w.app())
	if err != nil {
		return ready, fmt.Errorf("describe group %s: %w", streams.Quote(w.app()), err)
	}
	switch w.Step.Task.Name {
	case plans.TaskStop:
		// An empty group does not say that nothing will start again: instances in a
		// crash loop join every few seconds. A hook is run all the same.
		if g.Empty() && !w.Operator.HasHook(plans.TaskStop) {
			return satisfied, nil
		}
	case plans.TaskClearState:
		if g.Fault != nil {
			return ready, fmt.Errorf("the state of the group is not known: %w", g.Fault)
		}
		if !g.Empty() {
			return ready, groupActive(g, w.Now())
		}
	case plans.TaskStart:
		if g.Exists && len(g.Members) > 0 {
			return satisfied, nil
		}
	}
	return ready, nil
}

func (operatorTask) apply(ctx context.Context, w *work) error {
	task := w.Step.Task
	by, acked := w.Answers.acknowledged(task.Name)
	if acked {
		return w.emit(Event{Type: TaskDone, Task: task, By: by, Message: fmt.Sprintf("%s: done, says %s", task.Name, by)})
	}
	if w.Operator.HasHook(task.Name) {
		return hook(ctx, w, task)
	}
	if err := w.emit(Event{Type: StepWaiting, Task: task, Message: "your turn: " + task.Ask}); err != nil {
		return err
	}
	if err := stillRunning(ctx, w); err != nil {
		return err
	}
	err := w.watching(ctx, func(ctx context.Context) (err error) {
		by, err = w.Answers.await(ctx, task.Name)
		return err
	})
	if err != nil {
		return err
	}
	return w.emit(Event{Type: TaskDone, Task: task, By: by, Message: fmt.Sprintf("%s: done, says %s", task.Name, by)})
}

func hook(ctx context.Context, w *work, task *plans.Task) error {
	if err := w.emit(Event{Type: StepWaiting, Message: "hook for " + task.Name + " runs"}); err != nil {
		return err
	}
	var output string
	err := w.watching(ctx, func(ctx context.Context) (err error) {
		output, err = w.Operator.Perform(ctx, task.Name)
		return err
	})
	var journal *Error
	switch {
	case errors.As(err, &journal):
		return err
	case err != nil:
		return refuse(OutcomePartial, "mend the hook or do it by hand, then resume (with --ack "+task.Name+" if it is done)", "hook for %s: %s", task.Name, err)
	}
	return w.emit(Event{Type: TaskDone, Task: task, By: "hook", Message: hookMessage(task.Name, output)})
}

// stillRunning refuses a stop that nobody is here to carry out.
func stillRunning(ctx context.Context, w *work) error {
	if w.Step.Task.Name != plans.TaskStop || w.Answers.attended {
		return nil
	}
	return w.emptyGroup(ctx)
}

// watching runs f. While an application starts it also watches who joins, since
// what an instance brings with it shows only then.
func (w *work) watching(ctx context.Context, f func(context.Context) error) error {
	if w.Step.Task.Name != plans.TaskStart {
		return f(ctx)
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	ended := make(chan error, 1)
	go func() { ended <- f(ctx) }()
	o := newWatcher(w)
	tick := time.NewTimer(w.Poll)
	defer tick.Stop()
	for {
		select {
		case err := <-ended:
			return err
		case <-tick.C:
		}
		// A group that cannot be described is looked at again, and reported, by the
		// step that follows.
		if g, err := w.Reader.Group(ctx, w.app()); err == nil && g.Fault == nil {
			if err := o.look(ctx, g); err != nil {
				cancel()
				return errors.Join(err, <-ended)
			}
		}
		tick.Reset(w.pace())
	}
}

func hookMessage(task, output string) string {
	if output == "" {
		return "hook for " + task + " ended well"
	}
	return "hook for " + task + " ended well: " + streams.Quote(output)
}

// verify has nothing to read: what an operator did is seen by later steps (the
// group empties, the state starts from nothing, the inputs advance).
func (operatorTask) verify(_ context.Context, w *work) ([]Evidence, error) {
	if by, ok := w.Answers.acknowledged(w.Step.Task.Name); ok {
		return []Evidence{{Check: w.Step.Task.Name, Result: ResultOK, Detail: "acknowledged by " + by}}, nil
	}
	return []Evidence{{Check: w.Step.Task.Name, Result: ResultOK, Detail: "done by hook, or already so"}}, nil
}

// awaitEmpty waits until the group has no members.
type awaitEmpty struct{}

func (awaitEmpty) check(context.Context, *work) (readiness, error) { return ready, nil }

func (awaitEmpty) apply(ctx context.Context, w *work) error {
	var last streams.Group
	var emptySince, seen time.Time
	begun, settle := w.Now(), settleTime(w.plan())
	return w.poll(ctx, func() (bool, error) {
		g, err := w.Reader.Group(ctx, w.app())
		if err != nil {
			return false, fmt.Errorf("describe group %s: %w", streams.Quote(w.app()), err)
		}
		if g.Fault != nil {
			return false, fmt.Errorf("the state of the group is not known: %w", g.Fault)
		}
		last, seen = g, w.Now()
		if g.Empty() {
			if emptySince.IsZero() {
				emptySince = w.Now()
			}
			if w.Now().Sub(emptySince) < settle {
				w.progress(Event{Message: "empty; watching that no removed member joins again"})
				return false, nil
			}
			return true, w.phase(PhaseEmpty)
		}
		emptySince = time.Time{}
		e := Event{Message: fmt.Sprintf("%d members still in the group, state %s", len(g.Members), g.State), Unit: "s"}
		e.Done, e.Total = int64(w.Now().Sub(begun).Seconds()), int64(w.Step.Deadline)
		for _, m := range g.Members {
			e.Parts = append(e.Parts, Part{Name: m.ClientID + " on " + strings.TrimPrefix(m.Host, "/")})
		}
		w.progress(e)
		return false, nil
	}, func() error { return groupActive(last, seen) })
}

// evictionSettle is how long a group must stay empty after members were removed:
// one that still runs joins again with its next heartbeat (3 s by default).
const evictionSettle = 7 * time.Second

func settleTime(p plans.Plan) time.Duration {
	if slices.ContainsFunc(p.Steps, func(s plans.Step) bool { return s.Kind == plans.RemoveMembers }) {
		return evictionSettle
	}
	return 0
}

func (awaitEmpty) verify(ctx context.Context, w *work) ([]Evidence, error) {
	if err := w.emptyGroup(ctx); err != nil {
		return nil, err
	}
	return []Evidence{{Check: "group empty", Result: ResultOK, Detail: "the group has no members, asked by its own describe call"}}, nil
}

// removeMembers evicts what is still there. The goal is that the listed members
// are gone, not that the call succeeds (KIP-571, PR 21074).
type removeMembers struct{}

func (removeMembers) check(ctx context.Context, w *work) (readiness, error) {
	left, err := stillThere(ctx, w)
	if err == nil && len(left) == 0 {
		return satisfied, nil
	}
	return ready, err
}

func stillThere(ctx context.Context, w *work) ([]plans.Member, error) {
	g, err := w.Reader.Group(ctx, w.app())
	if err != nil {
		return nil, fmt.Errorf("describe group %s: %w", streams.Quote(w.app()), err)
	}
	if g.Fault != nil {
		return nil, fmt.Errorf("the state of the group is not known: %w", g.Fault)
	}
	var left []plans.Member
	for _, m := range w.Step.Members {
		for _, now := range g.Members {
			if now.ID == m.ID {
				left = append(left, m)
			}
		}
	}
	return left, nil
}

func (removeMembers) apply(ctx context.Context, w *work) error {
	left, err := stillThere(ctx, w)
	if err != nil || len(left) == 0 {
		return err
	}
	if err := w.Writer.RemoveMembers(ctx, w.app(), left); err != nil {
		return fmt.Errorf("remove members: %w", err)
	}
	return nil
}

func (removeMembers) verify(ctx context.Context, w *work) ([]Evidence, error) {
	left, err := stillThere(ctx, w)
	if err != nil {
		return nil, err
	}
	if len(left) > 0 {
		return nil, refuse(OutcomeGroupActive, "the instance still runs: stop it", "member %s is still in the group", streams.Quote(left[0].ClientID))
	}
	return []Evidence{{Check: "members removed", Result: ResultOK, Detail: fmt.Sprintf("%d listed members are not in the group", len(w.Step.Members))}}, nil
}
