package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"resurge/internal/headless"
	"resurge/internal/sandbox"
	"resurge/kafka"
	"resurge/plans"
	"resurge/recovery"
)

func (c *cli) rehearseCommand() *cobra.Command {
	var scenario string
	var records int
	var list bool
	cmd := &cobra.Command{
		Use: "rehearse", Short: "Practise a recovery on an embedded cluster; needs nothing else", Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if list {
				return c.listScenarios()
			}
			return c.rehearse(cmd.Context(), scenario, records)
		},
	}
	cmd.Flags().StringVar(&scenario, "scenario", sandbox.DefaultScenario, "what breaks; --list names them")
	cmd.Flags().IntVar(&records, "records", sandbox.DefaultRecords, "how many records the application has counted")
	cmd.Flags().BoolVar(&list, "list", false, "list the scenarios")
	return cmd
}

func (c *cli) listScenarios() error {
	for _, s := range sandbox.Scenarios() {
		if _, err := fmt.Fprintf(c.stdout, "%-24s %s\n", s.Name, s.Title); err != nil {
			return err
		}
	}
	return nil
}

// rehearsal is a broken application on an embedded cluster.
type rehearsal struct {
	box  *sandbox.Sandbox
	link *link
	app  applicationConfig
}

func (c *cli) rehearse(ctx context.Context, scenario string, records int) (err error) {
	if records < 1 || records > 5_000_000 {
		return usageError("--records", fmt.Errorf("%d is not between 1 and 5000000", records), "")
	}
	names := make([]string, 0, 8)
	for _, s := range sandbox.Scenarios() {
		names = append(names, s.Name)
		if s.Name == scenario && !c.json() {
			_, _ = fmt.Fprintf(c.stderr, "rehearsal: %s\n", s.Title)
		}
	}
	if !slices.Contains(names, scenario) {
		return usageError("scenario "+scenario, errors.New("is not known"), "one of "+strings.Join(names, ", "))
	}
	box, err := sandbox.Start(ctx, sandbox.Options{Scenario: scenario, Records: records, Log: slog.New(slog.DiscardHandler)})
	if err != nil {
		return fmt.Errorf("start the rehearsal: %w", err)
	}
	defer func() { err = errors.Join(err, box.Close()) }()
	cluster, err := kafka.Dial(ctx, kafka.ClientConfig{Bootstrap: box.Bootstrap()}, kafka.Options{})
	if err != nil {
		return err
	}
	defer cluster.Close()
	r := &rehearsal{box: box, link: &link{cluster: cluster, reader: cluster.Reader(), context: "rehearsal", drill: true}, app: rehearsedApplication(box)}
	c.paths.Runs = filepath.Join(c.paths.State, "rehearsals")
	if c.interactive() {
		return c.console(ctx, box.Application(), "", r)
	}
	return c.playRehearsal(ctx, r)
}

// rehearsedApplication is what an operator's configuration would say.
func rehearsedApplication(box *sandbox.Sandbox) applicationConfig {
	a := applicationConfig{RTO: duration(5 * time.Minute), Inputs: box.Inputs(), Outputs: box.Outputs(), Stores: []string{"totals", "per-minute", "item-totals"}}
	for _, i := range box.Instances() {
		a.Instances = append(a.Instances, i.Addr)
		a.StateDir = filepath.Dir(i.StateDir) + "/*"
	}
	a.Health = "http://{host}/health"
	a.Query = queryConfig{URL: "http://{host}/store/{store}/{key}?start={window_start}", Value: "$.value"}
	return a
}

// HasHook implements recovery.Operator: the rehearsal does the operator's tasks.
func (*rehearsal) HasHook(task string) bool { return slices.Contains(allTasks(), task) }

func allTasks() []string { return []string{plans.TaskStop, plans.TaskClearState, plans.TaskStart} }

// Perform implements recovery.Operator.
func (r *rehearsal) Perform(ctx context.Context, task string) (string, error) {
	switch task {
	case plans.TaskStop:
		return "", r.box.Stop(ctx)
	case plans.TaskClearState:
		return "", r.box.ClearState(ctx)
	case plans.TaskStart:
		return "", r.box.StartApp(ctx)
	}
	return "", fmt.Errorf("no hook for task %s", task)
}

// playRehearsal plays the console's path as lines: find the application, see
// what is wrong, plan, approve, run, and see the proof.
func (c *cli) playRehearsal(ctx context.Context, r *rehearsal) error {
	app := r.box.Application()
	d := r.link.discoverer()
	hints, err := c.hintsOf(app, r.app)
	if err != nil {
		return err
	}
	req := recovery.Request{
		Application: app, Strategy: plans.Rebuild, Hooks: allTasks(),
		Hints: hints,
	}
	inv, err := d.Discover(ctx, app, req.Hints, nil)
	if err != nil {
		return err
	}
	p, err := recovery.MakePlan(inv, req, now(), version)
	if err != nil {
		return err
	}
	if !c.json() {
		if err := headless.Describe(c.stdout, inv, recovery.Assess(inv)); err != nil {
			return err
		}
		_, _ = fmt.Fprintln(c.stdout)
		if err := headless.Plan(c.stdout, p); err != nil {
			return err
		}
		_, _ = fmt.Fprintf(c.stdout, "\nThis is a rehearsal: the plan is approved, the run begins.\n\n")
	}
	s := start{
		link: r.link, app: r.app, operator: r, query: newAppClient(r.app, r.link.reader, app), paths: c.paths,
		answers: recovery.NewAnswers(nil, operator(), false), log: recovery.NewEventLog(),
	}
	j, err := s.admit(ctx, p, recovery.Approval{PlanID: p.ID, By: operator(), How: "rehearsal", At: now().UTC()}, now())
	if err != nil {
		return err
	}
	return c.drive(ctx, j)
}
