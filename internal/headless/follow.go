package headless

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"resurge/plans"
	"resurge/recovery"
	"resurge/streams"
)

// Events is where the run's events come from.
type Events interface {
	Next(ctx context.Context, c recovery.Cursor) ([]recovery.Event, recovery.Cursor, error)
}

// progressEvery is how often a line of text tells of progress.
const progressEvery = 2 * time.Second

// Follow prints a run's events until they end: as JSON, one event a line, or as
// text. A writer that fails ends the printing, never the run: the error is
// returned and the caller goes on.
func Follow(ctx context.Context, events Events, w io.Writer, asJSON bool) error {
	print := (&text{w: w}).event
	if asJSON {
		encode := json.NewEncoder(w)
		encode.SetEscapeHTML(false)
		print = func(e recovery.Event) error { return encode.Encode(e) }
	}
	var cursor recovery.Cursor
	for {
		batch, next, err := events.Next(ctx, cursor)
		switch {
		case errors.Is(err, io.EOF):
			return nil
		case err != nil:
			return err
		}
		cursor = next
		for _, e := range batch {
			if err := print(e); err != nil {
				return fmt.Errorf("print event: %w", err)
			}
		}
	}
}

// text prints events as lines for people.
type text struct {
	w    io.Writer
	run  recovery.Run
	last time.Time // of the last progress line
}

func (t *text) event(e recovery.Event) error {
	t.run = t.run.Apply(e)
	at := e.Time.UTC().Format("15:04:05")
	switch e.Type {
	case recovery.StepProgress:
		return t.progress(at, e)
	case recovery.RunStarted:
		return t.started(at, e)
	case recovery.StepWaiting:
		return t.waiting(at, e)
	case recovery.StepVerified, recovery.StepSkipped, recovery.StepFailed:
		return t.checked(at, e)
	case recovery.RunFinished:
		return t.finished(at, e)
	case recovery.RunResumed, recovery.StepStarted, recovery.TaskDone, recovery.PhaseReached, recovery.TargetSet, recovery.MemberSeen, recovery.RunPaused, recovery.RunContinued:
		return t.line(at, e.Step, e.Message)
	case recovery.StepApplied:
	}
	return nil
}

func (t *text) line(at, step, message string) error {
	if step == "" {
		step = "-"
	}
	_, err := fmt.Fprintf(t.w, "%s  %3s  %s\n", at, step, streams.Quote(message))
	return err
}

func (t *text) started(at string, e recovery.Event) error {
	h := e.Header
	if err := t.line(at, "", e.Message); err != nil || h == nil {
		return err
	}
	_, err := fmt.Fprintf(t.w, "               run %s on cluster %s, approved by %s (%s)\n               clock runs since %s\n",
		streams.Quote(e.Run), streams.Quote(h.Plan.ClusterID), streams.Quote(h.Approval.By), h.Approval.How, h.Incident.UTC().Format("2006-01-02 15:04:05 UTC"))
	return err
}

func (t *text) progress(at string, e recovery.Event) error {
	if e.Time.Sub(t.last) < progressEvery {
		return nil
	}
	t.last = e.Time
	parts := []string{e.Message}
	if e.Total > 0 {
		parts = append(parts, fmt.Sprintf("%s of %s %s", Group(e.Done), Group(e.Total), e.Unit))
	}
	for _, s := range t.run.Steps {
		if left, ok := s.ETA(); ok && s.Step.ID == e.Step {
			parts = append(parts, fmt.Sprintf("%s/s, %s left", Group(int64(s.Rate())), Short(left)))
		}
	}
	return t.line(at, e.Step, strings.Join(parts, "  "))
}

func (t *text) waiting(at string, e recovery.Event) error {
	if err := t.line(at, e.Step, e.Message); err != nil || e.Task == nil {
		return err
	}
	for _, d := range append(e.Task.Details, "why: "+e.Task.Why) {
		if _, err := fmt.Fprintf(t.w, "               %s\n", streams.Quote(d)); err != nil {
			return err
		}
	}
	return nil
}

func (t *text) checked(at string, e recovery.Event) error {
	message := e.Message
	if e.Type == recovery.StepFailed {
		message = "FAILED: " + message
	}
	if err := t.line(at, e.Step, message); err != nil {
		return err
	}
	for _, c := range e.Evidence {
		if _, err := fmt.Fprintf(t.w, "               %s %s: %s\n", mark(c.Result), streams.Quote(c.Check), streams.Quote(c.Detail)); err != nil {
			return err
		}
	}
	if e.Error != nil && e.Error.Hint != "" {
		_, err := fmt.Fprintf(t.w, "               next: %s\n", streams.Quote(e.Error.Hint))
		return err
	}
	return nil
}

func mark(r recovery.Result) string {
	switch r {
	case recovery.ResultOK:
		return "ok     "
	case recovery.ResultFailed:
		return "FAILED "
	case recovery.ResultSkipped:
	}
	return "skipped"
}

func (t *text) finished(at string, e recovery.Event) error {
	title := strings.ToUpper(strings.ReplaceAll(string(e.Outcome), "_", " "))
	switch {
	case t.run.Proven():
		title = "RECOVERED AND PROVEN"
	case e.Outcome == recovery.OutcomeVerified && t.run.Header.Plan.Strategy == plans.Undo:
		title = "TAKEN BACK"
	case e.Outcome == recovery.OutcomeVerified:
		title = "DONE AND VERIFIED, NOT STARTED"
	}
	if err := t.line(at, "", title+": "+e.Message); err != nil {
		return err
	}
	clock, machine := t.run.Clock(e.Time), e.Time.Sub(t.run.Began)-t.run.HumanWait
	_, err := fmt.Fprintf(t.w, "               clock %s since the incident%s · run %s · waiting for people %s\n", Short(clock), rto(t.run, clock), Short(machine), Short(t.run.HumanWait))
	return err
}

func rto(r recovery.Run, clock time.Duration) string {
	switch target := r.Header.RTO; {
	case target == 0:
		return ""
	case clock > target:
		return fmt.Sprintf(" (RTO %s MISSED by %s)", Short(target), Short(clock-target))
	default:
		return fmt.Sprintf(" (RTO %s met by %s)", Short(target), Short(target-clock))
	}
}
