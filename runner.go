package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"time"

	"resurge/plans"
	"resurge/recovery"
)

// pollEvery is the pace of waiting steps. An instance's first word about its
// state directory stays readable for some 500 ms at least.
const pollEvery = 200 * time.Millisecond

// job is a run that was admitted: locked, journalled, ready to execute.
type job struct {
	id       string
	executor *recovery.Executor
	journal  *recovery.Journal
	log      *recovery.EventLog
	answers  *recovery.Answers
	release  func() error
}

// start is what it takes to begin or resume a run.
type start struct {
	link     *link
	app      applicationConfig
	operator recovery.Operator
	query    recovery.Application
	answers  *recovery.Answers
	log      *recovery.EventLog
	paths    paths
}

func (s start) ports(dir runDir) recovery.Ports {
	return recovery.Ports{
		Topics: s.link.reader, Groups: s.link.reader, Proof: s.link.reader, Writer: writer{s.link.cluster.Writer()},
		Operator: s.operator, Application: s.query, Store: dir, Answers: s.answers, Now: now, Poll: pollEvery,
	}
}

// admit checks that the plan is whole, approved, for this cluster and not
// stale; then it locks the application and writes the journal's first line.
func (s start) admit(ctx context.Context, p plans.Plan, a recovery.Approval, incident time.Time) (j *job, err error) {
	if err := p.Validate(); err != nil {
		return nil, err
	}
	if a.PlanID != p.ID {
		return nil, usageError("approval", fmt.Errorf("%s is approved, the plan is %s", plans.Short(a.PlanID), plans.Short(p.ID)), "read the plan, then approve its own ID")
	}
	if err := s.fresh(ctx, p); err != nil {
		return nil, err
	}
	dir, err := newRunDir(s.paths, p, now())
	if err != nil {
		return nil, err
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, dir.discard())
		}
	}()
	lock, err := lockApplication(s.paths, p.ClusterID, p.Application, dir.id)
	if err != nil {
		return nil, err
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, lock.Unlock())
		}
	}()
	journal, err := recovery.CreateJournal(dir.journal())
	if err != nil {
		return nil, stateError(err, dir.path)
	}
	j = &job{id: dir.id, journal: journal, log: s.log, answers: s.answers, release: lock.Unlock}
	j.executor = recovery.NewExecutor(s.ports(dir), journal, s.log, nil)
	if err := s.begin(j, dir, p, a, incident); err != nil {
		return nil, errors.Join(err, journal.Close())
	}
	return j, nil
}

func (s start) begin(j *job, dir runDir, p plans.Plan, a recovery.Approval, incident time.Time) error {
	b, err := p.Encode()
	if err != nil {
		return err
	}
	if err := dir.Save(planName, b); err != nil {
		return stateError(err, dir.path)
	}
	host, err := os.Hostname()
	if err != nil {
		host = "unknown"
	}
	return j.executor.Begin(dir.id, recovery.Header{
		Schema: "resurge/run/v1", Plan: p, Approval: a, Operator: operator(), Host: host, Program: version,
		Lease: "local lock", Incident: incident.UTC(), RTO: time.Duration(s.app.RTO), Context: s.link.context, Drill: s.link.drill,
	})
}

// fresh refuses a plan that is for another cluster or whose facts have changed.
func (s start) fresh(ctx context.Context, p plans.Plan) error {
	cluster, err := s.link.reader.Cluster(ctx)
	if err != nil {
		return err
	}
	if cluster.ID != p.ClusterID {
		return &recovery.Error{
			Outcome: recovery.OutcomeStale, Message: fmt.Sprintf("the plan is for cluster %s, this is cluster %s", p.ClusterID, cluster.ID),
			Hint: "nothing was changed; connect to that cluster, or make a plan for this one",
		}
	}
	inv, err := s.link.discoverer().Discover(ctx, p.Application, p.Hints, nil)
	if err != nil {
		return err
	}
	diff := recovery.Stale(p, inv)
	if len(diff) == 0 {
		return nil
	}
	lines := make([]string, len(diff))
	for i, d := range diff {
		lines[i] = d.String()
	}
	return &recovery.Error{
		Outcome: recovery.OutcomeStale, Message: "the plan is stale: " + strings.Join(lines, "; "),
		Hint: "nothing was changed; make a new plan and read it",
	}
}

// resume takes a run up again from its journal.
func (s start) resume(ctx context.Context, dir runDir) (j *job, err error) {
	cluster, err := s.link.reader.Cluster(ctx)
	if err != nil {
		return nil, err
	}
	seen, err := dir.read()
	if err != nil {
		return nil, err
	}
	if seen.Outcome.Final() {
		return nil, usageError("run "+dir.id, errors.New("is finished: "+string(seen.Outcome)), "make a new plan if there is something left to do")
	}
	if err := seen.Header.Plan.Validate(); err != nil {
		return nil, fmt.Errorf("run %s: %w", dir.id, err)
	}
	if cluster.ID != seen.Header.Plan.ClusterID {
		return nil, &recovery.Error{Outcome: recovery.OutcomeStale, Message: fmt.Sprintf("run %s is of cluster %s, this is cluster %s", dir.id, seen.Header.Plan.ClusterID, cluster.ID), Hint: "connect to that cluster"}
	}
	lock, err := lockApplication(s.paths, cluster.ID, seen.Header.Plan.Application, dir.id)
	if err != nil {
		return nil, err
	}
	journal, events, err := recovery.OpenJournal(dir.journal())
	if err != nil {
		return nil, errors.Join(err, lock.Unlock())
	}
	for _, e := range events {
		s.log.Publish(e)
	}
	j = &job{id: dir.id, journal: journal, log: s.log, answers: s.answers, release: lock.Unlock}
	j.executor = recovery.NewExecutor(s.ports(dir), journal, s.log, events)
	if err := j.executor.Resume(operator()); err != nil {
		return nil, errors.Join(err, journal.Close(), lock.Unlock())
	}
	return j, nil
}

// execute drives the run to its end and lets everything go.
func (j *job) execute(ctx context.Context) (recovery.Outcome, error) {
	outcome, err := j.executor.Execute(ctx)
	j.log.Close()
	return outcome, errors.Join(err, j.journal.Close(), j.release())
}
