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
		Reader: s.link.reader, Writer: writer{s.link.cluster.Writer()},
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
	if err := s.sameCluster(ctx, p.ClusterID, "the plan"); err != nil {
		return nil, err
	}
	lock, err := lockApplication(s.paths, p.ClusterID, p.Application)
	if err != nil {
		return nil, err
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, lock.release())
		}
	}()
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
	if err := lock.sign(dir.id); err != nil {
		return nil, err
	}
	journal, err := recovery.CreateJournal(dir.journal())
	if err != nil {
		return nil, stateError(err, dir.path)
	}
	j = &job{id: dir.id, journal: journal, log: s.log, answers: s.answers, release: lock.release}
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

// sameCluster refuses what was made for another cluster.
func (s start) sameCluster(ctx context.Context, id, what string) error {
	cluster, err := s.link.reader.Cluster(ctx)
	if err != nil {
		return err
	}
	if cluster.ID == id {
		return nil
	}
	return &recovery.Error{
		Outcome: recovery.OutcomeStale, Message: fmt.Sprintf("%s is for cluster %s, this is cluster %s", what, id, cluster.ID),
		Hint: "nothing was changed; connect to that cluster, or make a plan for this one",
	}
}

// fresh refuses a plan whose facts have changed.
func (s start) fresh(ctx context.Context, p plans.Plan) error {
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
	plan := seen.Header.Plan
	if err := s.sameCluster(ctx, plan.ClusterID, "run "+dir.id); err != nil {
		return nil, err
	}
	lock, err := lockApplication(s.paths, plan.ClusterID, plan.Application)
	if err != nil {
		return nil, err
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, lock.release())
		}
	}()
	if err := lock.sign(dir.id); err != nil {
		return nil, err
	}
	journal, events, err := recovery.OpenJournal(dir.journal())
	if err != nil {
		return nil, err
	}
	for _, e := range events {
		s.log.Publish(e)
	}
	j = &job{id: dir.id, journal: journal, log: s.log, answers: s.answers, release: lock.release}
	j.executor = recovery.NewExecutor(s.ports(dir), journal, s.log, events)
	if err := j.executor.Resume(operator()); err != nil {
		return nil, errors.Join(err, journal.Close())
	}
	return j, nil
}

// execute drives the run to its end and lets everything go.
func (j *job) execute(ctx context.Context) (recovery.Outcome, error) {
	outcome, err := j.executor.Execute(ctx)
	j.log.Close()
	return outcome, errors.Join(err, j.journal.Close(), j.release())
}
