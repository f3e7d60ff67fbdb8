package main

import (
	"context"
	"errors"

	"resurge/plans"
	"resurge/recovery"
)

// usageError is a wrong command line, configuration or file.
func usageError(what string, err error, hint string) error {
	return &recovery.Error{Outcome: recovery.OutcomeUsage, Message: what, Err: err, Hint: hint}
}

// exitCode maps how things ended to the documented table (docs/design.md
// section 9).
func exitCode(o recovery.Outcome) int {
	switch o {
	case recovery.OutcomeVerified:
		return 0
	case recovery.OutcomeFailed:
		return 1
	case recovery.OutcomeUsage:
		return 2
	case recovery.OutcomeBlocked:
		return 3
	case recovery.OutcomeUnauthorised:
		return 4
	case recovery.OutcomeGroupActive:
		return 5
	case recovery.OutcomePartial:
		return 6
	case recovery.OutcomeUnverified:
		return 7
	case recovery.OutcomeRTOMissed:
		return 8
	case recovery.OutcomeStale:
		return 9
	case recovery.OutcomeUnreachable:
		return 10
	case recovery.OutcomeLeaseHeld:
		return 11
	case recovery.OutcomeInterrupted:
		return 130
	}
	return 1
}

// ended is how a run ended, as an error: its message was already shown.
type ended struct{ outcome recovery.Outcome }

func (e ended) Error() string { return string(e.outcome) }

// problemOf is what an error means for the operator.
func problemOf(err error) *recovery.Problem {
	if e, ok := errors.AsType[ended](err); ok {
		return &recovery.Problem{Code: e.outcome, Message: e.Error()}
	}
	switch {
	case errors.Is(err, plans.ErrAltered), errors.Is(err, plans.ErrInvalid):
		return &recovery.Problem{Code: recovery.OutcomeUsage, Message: err.Error(), Hint: "make a new plan with resurge plan; a plan is approved by its hash and cannot be edited"}
	case errors.Is(err, recovery.ErrCorrupt):
		return &recovery.Problem{Code: recovery.OutcomeFailed, Message: err.Error(), Hint: "nothing was changed; keep the file, look at the cluster with resurge describe, and make a new plan"}
	case errors.Is(err, context.Canceled):
		return &recovery.Problem{Code: recovery.OutcomeInterrupted, Message: "interrupted"}
	}
	return recovery.ProblemOf(err)
}
