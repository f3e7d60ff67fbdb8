package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"time"

	"github.com/spf13/cobra"

	"resurge/internal/headless"
	"resurge/plans"
	"resurge/recovery"
)

func (c *cli) runCommand() *cobra.Command {
	var approve, incident string
	var acks []string
	cmd := &cobra.Command{
		Use: "run PLANFILE", Short: "Run an approved plan", Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			b, err := os.ReadFile(args[0])
			if err != nil {
				return usageError("read the plan", err, "resurge plan APPLICATION --out FILE makes one")
			}
			p, err := plans.Decode(b)
			if err != nil {
				return err
			}
			if approve == "" {
				return usageError("run", errors.New("the plan is not approved"), "read it, then add --approve "+p.ID)
			}
			at, err := parsePast(incident, now())
			if err != nil {
				return usageError("--incident", err, "")
			}
			return c.unattended(cmd.Context(), p.Application, acks, func(ctx context.Context, s start) (*job, error) {
				_, _ = fmt.Fprintf(c.stderr, "incident declared %s\n", bothZones(at))
				return s.admit(ctx, p, recovery.Approval{PlanID: approve, By: operator(), How: "--approve", At: now().UTC()}, at)
			})
		},
	}
	cmd.Flags().StringVar(&approve, "approve", "", "the plan's ID, sha256:…: you have read it and want it")
	cmd.Flags().StringVar(&incident, "incident", "now", `when the incident was declared: 2026-12-01T10:40:00Z, "15m ago" or now`)
	ackFlag(cmd, &acks)
	return cmd
}

func ackFlag(cmd *cobra.Command, acks *[]string) {
	cmd.Flags().StringSliceVar(acks, "ack", nil, "operator task that is done already: stop, clear-state, start, or all (repeatable)")
}

func (c *cli) resumeCommand() *cobra.Command {
	var acks []string
	cmd := &cobra.Command{
		Use: "resume RUN", Short: "Take up a run that was stopped, interrupted or killed", Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			dir, err := openRunDir(c.paths, args[0])
			if err != nil {
				return err
			}
			seen, err := dir.read()
			if err != nil {
				return err
			}
			if c.interactive() && len(acks) == 0 {
				return c.console(cmd.Context(), "", args[0], nil)
			}
			return c.unattended(cmd.Context(), seen.Header.Plan.Application, acks, func(ctx context.Context, s start) (*job, error) {
				return s.resume(ctx, dir)
			})
		},
	}
	ackFlag(cmd, &acks)
	return cmd
}

func checkAcks(acks []string) error {
	for _, a := range acks {
		switch a {
		case "all", plans.TaskStop, plans.TaskClearState, plans.TaskStart, "state-was-clear":
		default:
			return usageError("--ack "+a, errors.New("is no operator task"), "tasks are stop, clear-state and start; all stands for the three")
		}
	}
	return nil
}

// unattended runs a job with lines on stdout until it ends.
func (c *cli) unattended(ctx context.Context, app string, acks []string, admit func(context.Context, start) (*job, error)) error {
	if err := checkAcks(acks); err != nil {
		return err
	}
	l, err := c.connect(ctx)
	if err != nil {
		return err
	}
	defer l.cluster.Close()
	cfg := c.application(app)
	s := start{
		link: l, app: cfg, operator: hooks{cfg.Hooks}, query: newAppClient(cfg, l.reader, app), paths: c.paths,
		answers: recovery.NewAnswers(acks, operator(), false), log: recovery.NewEventLog(),
	}
	j, err := admit(ctx, s)
	if err != nil {
		return err
	}
	return c.drive(ctx, j)
}

// drive executes a job while its events are printed.
func (c *cli) drive(ctx context.Context, j *job) error {
	interrupts := make(chan os.Signal, 2)
	signal.Notify(interrupts, os.Interrupt)
	defer signal.Stop(interrupts)
	runCtx, stop := signalStop(ctx, interrupts, j.answers, func(s string) { _, _ = fmt.Fprintln(c.stderr, s) })
	defer stop()
	printed := make(chan error, 1)
	go func() { printed <- headless.Follow(context.WithoutCancel(ctx), j.log, c.stdout, c.json()) }()
	outcome, err := j.execute(runCtx)
	if lost := <-printed; lost != nil {
		_, _ = fmt.Fprintf(c.stderr, "resurge: the output was lost (%v); the journal of run %s has it all\n", lost, j.id)
	}
	if err != nil {
		return err
	}
	if p := j.executor.Run().Problem; p != nil {
		c.complain(p)
	}
	if !outcome.Final() {
		_, _ = fmt.Fprintf(c.stderr, "resurge: run %s is not finished: resurge resume %s\n", j.id, j.id)
	}
	if outcome != recovery.OutcomeVerified {
		return ended{outcome}
	}
	return nil
}

func (c *cli) undoCommand() *cobra.Command {
	var out string
	cmd := &cobra.Command{
		Use: "undo RUN", Short: "Plan the way back from a run, for what can be put back", Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error { return c.undo(cmd.Context(), args[0], out) },
	}
	cmd.Flags().StringVar(&out, "out", "", "write the plan to this file")
	return cmd
}

func (c *cli) undo(ctx context.Context, id, out string) error {
	dir, err := openRunDir(c.paths, id)
	if err != nil {
		return err
	}
	r, err := dir.read()
	if err != nil {
		return err
	}
	saved, err := recovery.LatestSaved(r, dir)
	if err != nil {
		return err
	}
	l, err := c.connect(ctx)
	if err != nil {
		return err
	}
	defer l.cluster.Close()
	app := r.Header.Plan.Application
	inv, err := l.discoverer().Discover(ctx, app, r.Header.Plan.Hints, nil)
	if err != nil {
		return err
	}
	req := recovery.Request{Application: app, Strategy: plans.Undo, Hints: r.Header.Plan.Hints, Hooks: c.application(app).Hooks.tasks()}
	p, err := recovery.MakeUndo(inv, r, saved, req, now(), version)
	if err != nil {
		return err
	}
	return c.showPlan(p, out)
}

func (c *cli) runsCommand() *cobra.Command {
	return &cobra.Command{
		Use: "runs", Short: "List the runs of this machine", Args: cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			ids, err := runIDs(c.paths)
			if err != nil {
				return err
			}
			var rows []headless.RunRow
			for _, id := range ids {
				rows = append(rows, c.runRow(id))
			}
			if c.json() {
				return c.printJSON(struct {
					Schema string            `json:"schema"`
					Runs   []headless.RunRow `json:"runs"`
				}{"resurge/runs/v1", rows})
			}
			return headless.Runs(c.stdout, rows)
		},
	}
}

func (c *cli) runRow(id string) headless.RunRow {
	row := headless.RunRow{ID: id}
	r, err := runDir{id: id, path: c.paths.Runs + "/" + id}.read()
	if err != nil {
		row.Problem = err.Error()
		return row
	}
	row.Application, row.ClusterID, row.Strategy = r.Header.Plan.Application, r.Header.Plan.ClusterID, string(r.Header.Plan.Strategy)
	row.PlanID, row.Outcome, row.Began, row.Finished = r.Header.Plan.ID, string(r.Outcome), r.Began, r.Finished
	for _, s := range r.Steps {
		if s.Status.Done() {
			row.StepsDone++
		}
	}
	row.Steps = len(r.Steps)
	if r.Outcome == "" {
		row.Outcome = "unfinished"
	}
	if at, ok := r.Phases[recovery.PhaseProven]; ok {
		row.Clock = at.Sub(r.Header.Incident).Round(time.Millisecond)
	}
	return row
}
