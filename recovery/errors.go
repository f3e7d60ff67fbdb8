package recovery

import (
	"errors"
	"fmt"

	"resurge/discovery"
	"resurge/streams"
)

// Error is a refusal or failure that an operator can act on.
type Error struct {
	// Outcome decides the exit code.
	Outcome Outcome
	// Message says what is wrong and names it.
	Message string
	// Hint says what to look at or type next; may be empty.
	Hint string
	Err  error
}

// Error implements error.
func (e *Error) Error() string {
	if e.Err != nil && e.Message == "" {
		return e.Err.Error()
	}
	if e.Err != nil {
		return e.Message + ": " + e.Err.Error()
	}
	return e.Message
}

// Unwrap returns the cause.
func (e *Error) Unwrap() error { return e.Err }

func refuse(outcome Outcome, hint, format string, args ...any) *Error {
	return &Error{Outcome: outcome, Hint: hint, Message: fmt.Sprintf(format, args...)}
}

// ProblemOf turns any error into data: what it leads to, in words, and what to
// do next.
func ProblemOf(err error) *Problem {
	if e, ok := errors.AsType[*Error](err); ok {
		return &Problem{Code: e.Outcome, Message: err.Error(), Hint: e.Hint}
	}
	if u, ok := errors.AsType[*discovery.UnknownError](err); ok {
		return &Problem{Code: OutcomeUsage, Message: err.Error(), Hint: u.Hint}
	}
	if f := streams.FaultOf(err); f != nil {
		return &Problem{Code: faultOutcome(f.Kind), Message: err.Error(), Hint: f.Hint}
	}
	return &Problem{Code: OutcomeFailed, Message: err.Error()}
}

func faultOutcome(k streams.FaultKind) Outcome {
	switch k {
	case streams.FaultNotAllowed, streams.FaultAuth:
		return OutcomeUnauthorised
	case streams.FaultUnreachable:
		return OutcomeUnreachable
	case streams.FaultActive:
		return OutcomeGroupActive
	case streams.FaultNotFound, streams.FaultUnsupported, streams.FaultOther:
		return OutcomeFailed
	}
	return OutcomeFailed
}
