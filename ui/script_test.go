package ui

import (
	"fmt"
	"time"

	"resurge/plans"
	"resurge/recovery"
)

// script makes the events of a run, at times counted from its start.
type script struct {
	seq    uint64
	began  time.Time
	events []recovery.Event
}

func newScript() *script {
	s := &script{began: t0.Add(14*time.Minute + 39*time.Second)}
	p := samplePlan()
	s.at(0, recovery.Event{Type: recovery.RunStarted, Run: runID, Message: "run started", Header: &recovery.Header{
		Schema: "resurge/run/v1", Plan: p, Operator: "mira", Incident: t0, RTO: 30 * time.Minute, Context: "prod-eu",
		Approval: recovery.Approval{PlanID: p.ID, By: "mira", How: "typed application id"},
	}})
	return s
}

func (s *script) at(seconds int, e recovery.Event) *script {
	e.Time = s.began.Add(time.Duration(seconds) * time.Second)
	if !e.Ephemeral() {
		s.seq++
		e.Seq = s.seq
	}
	if e.At.IsZero() && e.Phase != "" {
		e.At = e.Time
	}
	s.events = append(s.events, e)
	return s
}

func (s *script) step(seconds int, id string) *script {
	st, _ := samplePlan().Step(id)
	return s.at(seconds, recovery.Event{Type: recovery.StepStarted, Step: id, Kind: st.Kind, Message: st.Title})
}

func (s *script) verified(seconds int, id string, evidence ...recovery.Evidence) *script {
	return s.at(seconds, recovery.Event{Type: recovery.StepVerified, Step: id, Evidence: evidence})
}

func (s *script) asks(seconds int, id string) *script {
	st, _ := samplePlan().Step(id)
	return s.at(seconds, recovery.Event{Type: recovery.StepWaiting, Step: id, Task: st.Task, Message: "waits for a person: " + st.Task.Name})
}

func (s *script) progress(seconds int, id string, done, total int64, parts ...recovery.Part) *script {
	return s.at(seconds, recovery.Event{Type: recovery.StepProgress, Step: id, Done: done, Total: total, Unit: "records", Parts: parts})
}

func (s *script) phase(seconds int, phase string) *script {
	return s.at(seconds, recovery.Event{Type: recovery.PhaseReached, Phase: phase, Message: phase + " reached"})
}

// toStop runs up to the first ask.
func (s *script) toStop() *script {
	return s.step(0, "1").verified(2, "1").step(2, "2").asks(3, "2")
}

// toClear runs up to the second ask.
func (s *script) toClear() *script {
	s.toStop()
	s.at(55, recovery.Event{Type: recovery.TaskDone, Step: "2", By: "mira", Message: "stop: acknowledged by mira"}).verified(55, "2")
	s.step(55, "3").phase(58, recovery.PhaseEmpty).verified(58, "3").step(58, "4").verified(59, "4")
	s.step(60, "5").verified(70, "5", recovery.Evidence{Check: "offsets", Result: recovery.ResultOK, Detail: "6 of 6 as planned"})
	s.step(70, "6").verified(75, "6").step(75, "7").verified(80, "7").phase(80, recovery.PhaseWritten)
	return s.step(80, "8").asks(81, "8")
}

// toWatch runs up to the wait for the application to catch up.
func (s *script) toWatch() *script {
	s.toClear()
	s.at(110, recovery.Event{Type: recovery.TaskDone, Step: "8", By: "mira", Message: "clear-state: acknowledged by mira"}).verified(110, "8")
	s.step(110, "9").asks(110, "9")
	s.at(125, recovery.Event{Type: recovery.TaskDone, Step: "9", By: "mira", Message: "start: acknowledged by mira"}).verified(125, "9")
	s.step(125, "10").phase(131, recovery.PhaseFirstMember).phase(138, recovery.PhaseStable).phase(139, recovery.PhaseFirstCommit)
	for i := range 12 {
		n := int64(i+1) * 512_040
		s.progress(140+10*i, "10", n, 18_407_667,
			recovery.Part{Name: "customers/0", Done: 68_039, Total: 68_039},
			recovery.Part{Name: "orders/0", Done: n / 2, Total: 6_067_850}, recovery.Part{Name: "orders/1", Done: n / 3, Total: 6_067_850}, recovery.Part{Name: "orders/2", Done: n / 6, Total: 6_067_850})
	}
	return s
}

// toEnd runs to the end with the given proof.
func (s *script) toEnd(outcome recovery.Outcome, proof ...recovery.Evidence) *script {
	s.toWatch()
	s.phase(520, recovery.PhaseCaughtUp).phase(522, recovery.PhaseDrained).verified(523, "10", recovery.Evidence{Check: "target vector", Result: recovery.ResultOK, Detail: "6 of 6 partitions passed"})
	s.step(523, "11")
	if outcome != recovery.OutcomeUnverified {
		s.verified(540, "11", proof...).phase(540, recovery.PhaseProven)
		return s.at(541, recovery.Event{Type: recovery.RunFinished, Run: runID, Outcome: outcome, Message: "run finished: " + string(outcome)})
	}
	problem := &recovery.Problem{Code: outcome, Message: "3 of 300 sampled keys answer with twice the expected value", Hint: "state directories were probably not cleared on every host: stop the application, clear them, start it again, then resume"}
	s.at(540, recovery.Event{Type: recovery.StepFailed, Step: "11", Error: problem, Evidence: proof, Message: "proof failed"})
	return s.at(541, recovery.Event{Type: recovery.RunFinished, Run: runID, Outcome: outcome, Error: problem, Message: "run finished: " + string(outcome)})
}

func goodProof() []recovery.Evidence {
	return []recovery.Evidence{
		{Check: "state", Result: recovery.ResultOK, Detail: "300 of 300 sampled keys answer with the value of the changelog"},
		{Check: "nothing else", Result: recovery.ResultOK, Detail: "218 topics, 31 groups, their configs and offsets unchanged"},
		{Check: "business check", Result: recovery.ResultSkipped, Detail: "none configured"},
	}
}

func badProof() []recovery.Evidence {
	p := goodProof()
	p[0].Result, p[0].Detail = recovery.ResultFailed, "3 of 300 sampled keys answer with twice the expected value"
	return p
}

// manySteps is a plan with n deletions.
func manySteps(n int) plans.Plan {
	p := samplePlan()
	p.Steps = nil
	for i := range n {
		p.Steps = append(p.Steps, plans.Step{ID: fmt.Sprint(i + 1), Kind: plans.DeleteTopic, Risk: plans.Destructive, Title: fmt.Sprintf("delete order-processor-store-%04d-changelog", i)})
	}
	return p
}
