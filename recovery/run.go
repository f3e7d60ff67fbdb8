package recovery

import (
	"maps"
	"slices"
	"time"

	"resurge/plans"
)

// Status is where a step stands.
type Status string

// The statuses. InDoubt is a step that was started by a process that is gone:
// it may or may not have had its effect.
const (
	StatusPending  Status = "pending"
	StatusRunning  Status = "running"
	StatusWaiting  Status = "waiting"
	StatusInDoubt  Status = "in_doubt"
	StatusVerified Status = "verified"
	StatusSkipped  Status = "skipped"
	StatusFailed   Status = "failed"
)

// Done reports whether the step needs nothing more.
func (s Status) Done() bool { return s == StatusVerified || s == StatusSkipped }

// StepState is a step of the plan with what happened to it.
type StepState struct {
	Step     plans.Step
	Status   Status
	Started  time.Time
	Ended    time.Time
	Message  string
	Done     int64
	Total    int64
	Unit     string
	Parts    []Part
	Evidence []Evidence
	Problem  *Problem
	// Samples are recent progress reports, oldest first, for rates.
	Samples []Sample
	// LastChange is when Done last grew; used to say "no progress since".
	LastChange time.Time
}

// Sample is one progress report.
type Sample struct {
	Time time.Time
	Done int64
}

// Rate is the recent speed in units per second, 0 when not known.
func (s StepState) Rate() float64 {
	if len(s.Samples) < 2 {
		return 0
	}
	first, last := s.Samples[0], s.Samples[len(s.Samples)-1]
	seconds := last.Time.Sub(first.Time).Seconds()
	if seconds <= 0 || last.Done <= first.Done {
		return 0
	}
	return float64(last.Done-first.Done) / seconds
}

// ETA is the time left at the recent rate; ok is false when it cannot be told.
func (s StepState) ETA() (left time.Duration, ok bool) {
	rate := s.Rate()
	if rate <= 0 || s.Total <= 0 || s.Done > s.Total {
		return 0, false
	}
	return time.Duration(float64(s.Total-s.Done) / rate * float64(time.Second)), true
}

// Run is the fold of a run's events: all that a front end shows.
type Run struct {
	ID     string
	Header Header
	Steps  []StepState
	// Phases are the times at which phases were reached.
	Phases map[string]time.Time
	Target []TargetOffset
	// Seen says of every instance what its state directory held when it joined.
	Seen []Evidence
	// Waiting is the task that waits for a person; nil when none does.
	Waiting      *plans.Task
	WaitingSince time.Time
	// HumanWait is the time spent waiting for people, up to the last event.
	HumanWait time.Duration
	Paused    bool
	Outcome   Outcome
	Problem   *Problem
	Began     time.Time
	Finished  time.Time
	// Resumed counts how often the run was taken up again.
	Resumed int
	LastSeq uint64
	// Log are the messages of durable events, newest last, bounded.
	Log []LogLine
}

// LogLine is one durable event in words.
type LogLine struct {
	Time time.Time
	Step string
	Text string
}

const (
	maxLogLines = 200
	maxSamples  = 20
)

// Current is the step that runs or waits; ok is false between steps.
func (r Run) Current() (StepState, bool) {
	for _, s := range r.Steps {
		switch s.Status {
		case StatusRunning, StatusWaiting, StatusInDoubt, StatusFailed:
			return s, true
		case StatusPending, StatusVerified, StatusSkipped:
		}
	}
	return StepState{}, false
}

// Clock is the RTO clock at a moment: it runs from the incident and stops when
// the state is proven.
func (r Run) Clock(now time.Time) time.Duration {
	if t, ok := r.Phases[PhaseProven]; ok {
		now = t
	}
	return now.Sub(r.Header.Incident)
}

// Proven reports whether the run ended with the state proven. A plan that ends
// before the start, or an undo, can be verified without that.
func (r Run) Proven() bool {
	_, proven := r.Phases[PhaseProven]
	return proven && (r.Outcome == OutcomeVerified || r.Outcome == OutcomeRTOMissed)
}

// Apply folds one event into the run and returns the result; r is not changed.
// Events out of order, repeated or of unknown type leave the run as it is.
func (r Run) Apply(e Event) Run {
	if !e.Ephemeral() {
		if e.Seq <= r.LastSeq {
			return r
		}
		r.LastSeq = e.Seq
	}
	switch e.Type {
	case RunStarted:
		return r.start(e).logged(e)
	case RunResumed:
		return r.resume(e).logged(e)
	case StepProgress:
		return r.progress(e)
	case StepStarted, StepWaiting, TaskDone, StepApplied, StepVerified, StepSkipped, StepFailed:
		return r.step(e).logged(e)
	case PhaseReached:
		r.Phases = maps.Clone(r.Phases)
		if r.Phases == nil {
			r.Phases = map[string]time.Time{}
		}
		if _, known := r.Phases[e.Phase]; !known {
			r.Phases[e.Phase] = e.At
		}
		return r.logged(e)
	case TargetSet:
		r.Target = e.Target
		return r.logged(e)
	case MemberSeen:
		r.Seen = append(slices.Clone(r.Seen), e.Evidence...)
		return r.logged(e)
	case RunPaused:
		r.Paused = true
		return r.logged(e)
	case RunContinued:
		r.Paused = false
		return r.logged(e)
	case RunFinished:
		r.Outcome, r.Problem, r.Finished = e.Outcome, e.Error, e.Time
		r = r.stopWaiting(e.Time)
		return r.logged(e)
	default:
		return r
	}
}

func (r Run) start(e Event) Run {
	if e.Header == nil {
		return r
	}
	out := Run{ID: e.Run, Header: *e.Header, Began: e.Time, LastSeq: e.Seq}
	out.Phases = map[string]time.Time{PhaseIncident: e.Header.Incident}
	for _, s := range e.Header.Plan.Steps {
		out.Steps = append(out.Steps, StepState{Step: s, Status: StatusPending})
	}
	return out
}

func (r Run) resume(e Event) Run {
	r = r.stopWaiting(e.Time)
	r.Steps = slices.Clone(r.Steps)
	for i := range r.Steps {
		switch r.Steps[i].Status {
		case StatusRunning, StatusWaiting, StatusFailed:
			r.Steps[i].Status = StatusInDoubt
			r.Steps[i].Problem = nil
		case StatusPending, StatusInDoubt, StatusVerified, StatusSkipped:
		}
	}
	r.Resumed++
	r.Paused, r.Outcome, r.Problem, r.Finished = false, "", nil, time.Time{}
	return r
}

func (r Run) stopWaiting(now time.Time) Run {
	if r.Waiting != nil {
		r.HumanWait += now.Sub(r.WaitingSince)
		r.Waiting, r.WaitingSince = nil, time.Time{}
	}
	return r
}

func (r Run) index(id string) int {
	return slices.IndexFunc(r.Steps, func(s StepState) bool { return s.Step.ID == id })
}

func (r Run) progress(e Event) Run {
	i := r.index(e.Step)
	if i < 0 || r.Steps[i].Status.Done() {
		return r
	}
	r.Steps = slices.Clone(r.Steps)
	s := &r.Steps[i]
	if e.Done != s.Done || s.LastChange.IsZero() {
		s.LastChange = e.Time
	}
	s.Done, s.Total, s.Unit, s.Parts = e.Done, e.Total, e.Unit, e.Parts
	if e.Message != "" {
		s.Message = e.Message
	}
	s.Samples = append(slices.Clone(s.Samples), Sample{Time: e.Time, Done: e.Done})
	if n := len(s.Samples); n > maxSamples {
		s.Samples = s.Samples[n-maxSamples:]
	}
	return r
}

func (r Run) step(e Event) Run {
	i := r.index(e.Step)
	if i < 0 {
		return r
	}
	r.Steps = slices.Clone(r.Steps)
	s := &r.Steps[i]
	s.Message = e.Message
	switch e.Type {
	case StepStarted:
		s.Status, s.Problem = StatusRunning, nil
		if s.Started.IsZero() {
			s.Started = e.Time
		}
		s.Samples, s.LastChange = nil, e.Time
	case StepWaiting:
		s.Status = StatusWaiting
		if e.Task != nil {
			r.Waiting, r.WaitingSince = e.Task, e.Time
		}
	case TaskDone:
		s.Status = StatusRunning
		r = r.stopWaiting(e.Time)
	case StepVerified, StepSkipped:
		s.Status = StatusVerified
		if e.Type == StepSkipped {
			s.Status = StatusSkipped
		}
		s.Ended, s.Evidence = e.Time, e.Evidence
		r = r.stopWaiting(e.Time)
	case StepFailed:
		s.Status, s.Ended, s.Problem, s.Evidence = StatusFailed, e.Time, e.Error, e.Evidence
		r = r.stopWaiting(e.Time)
	case StepApplied:
		s.Status = StatusRunning
	case RunStarted, RunResumed, StepProgress, PhaseReached, TargetSet, MemberSeen, RunPaused, RunContinued, RunFinished:
	}
	return r
}

func (r Run) logged(e Event) Run {
	if e.Message == "" {
		return r
	}
	r.Log = append(slices.Clone(r.Log), LogLine{Time: e.Time, Step: e.Step, Text: e.Message})
	if n := len(r.Log); n > maxLogLines {
		r.Log = r.Log[n-maxLogLines:]
	}
	return r
}
