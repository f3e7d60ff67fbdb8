package sandbox

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"

	"resurge/streams"
)

// Scenario is a situation that an operator may find.
type Scenario struct {
	// Name is what Options.Scenario takes.
	Name string
	// Title says in a line what happened.
	Title string
	// Finding is what the operator should find out.
	Finding string
}

// scenario is a Scenario with the story that leads to it.
type scenario struct {
	Scenario
	play func(context.Context, *Sandbox) error
}

// twinSuffix makes the ID of the application whose ID begins with the other's.
const twinSuffix = "-v2"

func scenarios() []scenario {
	return []scenario{
		{Scenario{
			Name:    "state-lost",
			Title:   "A node pool was replaced: the application is down, its state directories and one changelog are gone.",
			Finding: "The group is empty and changelog " + streams.ChangelogTopic(applicationID, storeTotals) + " is missing. Inputs are whole: rebuild from input.",
		}, playStateLost},
		{Scenario{
			Name:    "bad-deploy",
			Title:   "A deploy counted every order twice for a while; it was rolled back and the application stopped.",
			Finding: "All topics are there and the group is empty, but the state is wrong. Inputs are whole: rebuild from input.",
		}, playBadDeploy},
		{Scenario{
			Name:    "internal-topic-deleted",
			Title:   "Somebody deleted the repartition topic under the application, which then failed.",
			Finding: "Topic " + streams.RepartitionTopic(applicationID, byItem) + " is missing and orders wait in the input. What was in flight in it is gone: rebuild from input.",
		}, playInternalTopicDeleted},
		{Scenario{
			Name:    "still-running",
			Title:   "The counts are wrong after a bad deploy, and the fixed application is up and running.",
			Finding: "The group is stable with live members: the application must be stopped before anything is changed.",
		}, playStillRunning},
		{Scenario{
			Name:    "prefix-twin",
			Title:   "The application lost its state while " + applicationID + twinSuffix + ", whose ID begins with its own, runs on.",
			Finding: "Topics of " + applicationID + twinSuffix + " and the user topic " + lookalikeTopic + " look like ours and are not: they must stay as they are.",
		}, playPrefixTwin},
		{Scenario{
			Name:    "nothing-wrong",
			Title:   "False alarm: the application runs, has caught up, and its counts are right.",
			Finding: "Nothing is missing and nothing lags: there is nothing to recover.",
		}, playNothingWrong},
	}
}

// Scenarios lists the situations that [Start] can set up, the default one first.
func Scenarios() []Scenario {
	all := scenarios()
	out := make([]Scenario, 0, len(all))
	for _, sc := range all {
		out = append(out, sc.Scenario)
	}
	return out
}

func findScenario(name string) (scenario, bool) {
	all := scenarios()
	i := slices.IndexFunc(all, func(sc scenario) bool { return sc.Name == name })
	if i < 0 {
		return scenario{}, false
	}
	return all[i], true
}

// history produces the orders up to the given percentage.
func (s *Sandbox) history(ctx context.Context, percent int) error {
	return s.send(ctx, s.data.orders(s.opts.Records*percent/100-s.data.made))
}

// work produces the history up to a percentage and waits until the application
// has processed it.
func (s *Sandbox) work(ctx context.Context, percent int) error {
	if err := s.history(ctx, percent); err != nil {
		return err
	}
	return s.waitCaughtUp(ctx, s.app)
}

// begin starts the application, produces the table and the first orders, and lets
// it work. The application comes first: it may have auto.offset.reset=latest.
func (s *Sandbox) begin(ctx context.Context, percent int) error {
	if err := s.app.start(ctx); err != nil {
		return err
	}
	if err := s.settled(ctx, s.app); err != nil {
		return err
	}
	if err := s.send(ctx, s.data.table()); err != nil {
		return err
	}
	return s.work(ctx, percent)
}

// deploy stops the application and starts it with the other build, which counts
// every order factor times.
func (s *Sandbox) deploy(ctx context.Context, factor int) error {
	if err := s.app.stop(ctx); err != nil {
		return err
	}
	if err := s.expire(ctx, s.app); err != nil {
		return err
	}
	s.app.top.factor = factor
	return s.app.start(ctx)
}

// crash ends the application for good: dead processes, sessions expired.
func (s *Sandbox) crash(ctx context.Context) error {
	return errors.Join(s.app.kill(), s.expire(ctx, s.app))
}

func playStateLost(ctx context.Context, s *Sandbox) error {
	if err := s.begin(ctx, 95); err != nil {
		return err
	}
	return s.loseState(ctx)
}

// loseState kills the application and takes its disks and a changelog away, while
// orders go on coming in.
func (s *Sandbox) loseState(ctx context.Context) error {
	if err := s.crash(ctx); err != nil {
		return err
	}
	if err := s.cluster.DeleteTopic(streams.ChangelogTopic(s.app.id, storeTotals)); err != nil {
		return fmt.Errorf("delete changelog: %w", err)
	}
	if err := s.app.clearState(ctx); err != nil {
		return err
	}
	return s.history(ctx, 100)
}

// corrupt lets a deploy with the bug work for a while.
func (s *Sandbox) corrupt(ctx context.Context) error {
	if err := s.begin(ctx, 60); err != nil {
		return err
	}
	if err := s.deploy(ctx, 2); err != nil {
		return err
	}
	return s.work(ctx, 90)
}

func playBadDeploy(ctx context.Context, s *Sandbox) error {
	if err := s.corrupt(ctx); err != nil {
		return err
	}
	if err := s.app.stop(ctx); err != nil {
		return err
	}
	s.app.top.factor = 1 // rolled back: the next start runs the right build
	if err := s.expire(ctx, s.app); err != nil {
		return err
	}
	return s.history(ctx, 100)
}

func playStillRunning(ctx context.Context, s *Sandbox) error {
	if err := s.corrupt(ctx); err != nil {
		return err
	}
	if err := s.deploy(ctx, 1); err != nil {
		return err
	}
	if err := s.work(ctx, 100); err != nil {
		return err
	}
	return s.settled(ctx, s.app)
}

func playInternalTopicDeleted(ctx context.Context, s *Sandbox) error {
	if err := s.begin(ctx, 95); err != nil {
		return err
	}
	if err := s.cluster.DeleteTopic(s.app.top.repartition()); err != nil {
		return fmt.Errorf("delete repartition topic: %w", err)
	}
	if err := s.history(ctx, 100); err != nil {
		return err
	}
	err := s.wait(ctx, "wait for the application to fail", func() (bool, error) { return s.app.failure() != nil, nil })
	return errors.Join(err, s.crash(ctx))
}

func playNothingWrong(ctx context.Context, s *Sandbox) error {
	if err := s.begin(ctx, 100); err != nil {
		return err
	}
	return s.settled(ctx, s.app)
}

// settled waits until all instances are in the group and run.
func (s *Sandbox) settled(ctx context.Context, app *application) error {
	return s.wait(ctx, "wait for "+app.id+" to run", func() (bool, error) {
		for _, in := range app.instances {
			if in.run == nil {
				return false, nil
			}
			if state, _, err := in.run.status.local(""); state != stateRunning {
				return false, err
			}
		}
		g := s.cluster.GroupInfo(app.id)
		return g != nil && g.State == "Stable" && len(g.Members) == len(app.instances), nil
	})
}

// lookalikeTopic is an input of somebody else that is named like a changelog of
// the application; pricingGroup reads it.
const (
	lookalikeTopic = applicationID + "-prices-changelog"
	pricingGroup   = "pricing"
)

func playPrefixTwin(ctx context.Context, s *Sandbox) error {
	id := applicationID + twinSuffix
	out := internalTopic{name: topicTotals + twinSuffix, partitions: outputPartitions}
	prices := internalTopic{name: lookalikeTopic, partitions: 2, configs: map[string]string{"cleanup.policy": "compact"}}
	for _, t := range []internalTopic{out, prices} {
		if err := s.cluster.CreateTopic(t.name, t.partitions, t.configs); err != nil {
			return fmt.Errorf("create topic %s: %w", t.name, err)
		}
	}
	if err := s.send(ctx, s.prices(prices)); err != nil {
		return err
	}
	if err := s.foreignGroup(ctx, pricingGroup, prices.name); err != nil {
		return err
	}
	s.twin = s.newApplication(id, out.name, 1)
	if err := s.begin(ctx, 95); err != nil {
		return err
	}
	if err := s.twin.start(ctx); err != nil {
		return err
	}
	if err := s.loseState(ctx); err != nil {
		return err
	}
	if err := s.waitCaughtUp(ctx, s.twin); err != nil {
		return err
	}
	return s.settled(ctx, s.twin)
}

func (s *Sandbox) prices(t internalTopic) []*kgo.Record {
	at := s.data.at.Add(-time.Hour)
	out := make([]*kgo.Record, 0, itemCount)
	for i := range itemCount {
		key := fmt.Appendf(nil, "item-%02d", i+1)
		out = append(out, &kgo.Record{
			Topic: t.name, Partition: partitionOf(key, t.partitions),
			Key: key, Value: fmt.Appendf(nil, "%d.%02d", i+1, i), Timestamp: at,
		})
	}
	return out
}
