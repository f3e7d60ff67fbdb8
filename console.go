package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"sync"
	"time"

	tea "charm.land/bubbletea/v2"

	"resurge/discovery"
	"resurge/internal/headless"
	"resurge/plans"
	"resurge/recovery"
	"resurge/ui"
)

// console opens the terminal console. A rehearsal brings its own cluster.
func (c *cli) console(ctx context.Context, app, runID string, r *rehearsal) error {
	if !c.interactive() {
		return usageError("console", errors.New("this is not a terminal"), "use resurge apps, describe, plan and run; --headless and --output json print lines")
	}
	d, err := c.newDesk(ctx, r)
	if err != nil {
		return err
	}
	defer d.close()
	if runID != "" {
		if err := d.attach(ctx, runID); err != nil {
			return err
		}
	}
	model := ui.New(ctx, ui.Session{
		Explorer: d, Controls: d, Events: d, Context: d.link.context, Drill: d.link.drill, Production: d.link.production,
		Application: app, RunID: runID, Operator: operator(), Incident: d.incident, RTO: time.Duration(d.config(app).RTO), Now: now,
		TargetOf:      func(app string) time.Duration { return time.Duration(d.config(app).RTO) },
		ResumeCommand: func(id string) string { return "resurge resume " + id },
		UndoCommand:   func(id string) string { return "resurge undo " + id },
		Copy:          d.keepCopy,
		Follow:        c.follow,
	})
	program := tea.NewProgram(model, tea.WithContext(ctx), tea.WithoutSignalHandler(), tea.WithInput(c.stdin), tea.WithOutput(c.stdout))
	_, err = program.Run()
	if errors.Is(err, tea.ErrProgramKilled) && ctx.Err() != nil {
		err = nil
	}
	return errors.Join(err, d.finish(ctx))
}

// desk is what the console works with: it asks the engine, starts the run in
// the background and outlives the screen. It satisfies the console's interfaces.
type desk struct {
	c        *cli
	ctx      context.Context //nolint:containedctx // the run's, which must outlive every command of the console
	link     *link
	practice *rehearsal
	incident time.Time
	wait     sync.WaitGroup

	mu sync.Mutex
	// guarded by mu:
	job     *job
	log     *recovery.EventLog
	outcome recovery.Outcome
	err     error
}

func (c *cli) newDesk(ctx context.Context, r *rehearsal) (*desk, error) {
	at := now()
	if c.incident != "" {
		var err error
		if at, err = parsePast(c.incident, at); err != nil {
			return nil, usageError("--incident", err, "")
		}
	}
	d := &desk{c: c, ctx: ctx, practice: r, incident: at, log: recovery.NewEventLog()}
	if r != nil {
		d.link = r.link
		return d, nil
	}
	l, err := c.connect(ctx)
	d.link = l
	return d, err
}

func (d *desk) close() {
	if d.practice == nil {
		d.link.cluster.Close()
	}
}

func (d *desk) config(app string) applicationConfig {
	if d.practice != nil {
		return d.practice.app
	}
	return d.c.application(app)
}

func (d *desk) operator(app string) recovery.Operator {
	if d.practice != nil {
		return d.practice
	}
	return hooks{d.config(app).Hooks}
}

// Survey implements ui.Explorer.
func (d *desk) Survey(ctx context.Context) (discovery.Survey, error) {
	return d.link.discoverer().Survey(ctx)
}

// Glance implements ui.Explorer.
func (d *desk) Glance(ctx context.Context) (discovery.Survey, error) {
	return d.link.discoverer().Glance(ctx)
}

// Groups implements ui.Explorer.
func (d *desk) Groups(ctx context.Context) (discovery.GroupSurvey, error) {
	return d.link.discoverer().CrowdSurvey(ctx)
}

// Explore implements ui.Explorer.
func (d *desk) Explore(ctx context.Context, group string) (discovery.Inventory, error) {
	return d.link.discoverer().Explore(ctx, group)
}

// Preflight implements ui.Explorer.
func (d *desk) Preflight(ctx context.Context, app string, purpose recovery.Purpose) (recovery.Preflight, error) {
	inv, _, err := d.Inspect(ctx, app)
	if err != nil {
		return recovery.Preflight{}, err
	}
	return recovery.CheckRights(ctx, d.link.reader, inv, purpose)
}

func (d *desk) hints(app string) (discovery.Hints, error) { return d.c.hintsOf(app, d.config(app)) }

// Inspect implements ui.Explorer.
func (d *desk) Inspect(ctx context.Context, app string) (discovery.Inventory, recovery.Assessment, error) {
	hints, err := d.hints(app)
	if err != nil {
		return discovery.Inventory{}, recovery.Assessment{}, err
	}
	inv, err := d.link.discoverer().Discover(ctx, app, hints, nil)
	if err != nil {
		return inv, recovery.Assessment{}, err
	}
	return inv, recovery.Assess(inv), nil
}

// Plan implements ui.Explorer. What the configuration says stands beside what
// the console's form asked for.
func (d *desk) Plan(ctx context.Context, req recovery.Request) (plans.Plan, error) {
	h, err := d.hints(req.Application)
	if err != nil {
		return plans.Plan{}, err
	}
	req.Hints.Outputs, req.Hints.Globals, req.Hints.Stores, req.Hints.StateDir = h.Outputs, h.Globals, h.Stores, h.StateDir
	if len(req.Hints.Inputs) == 0 {
		req.Hints.Inputs = h.Inputs
	}
	req.Hooks = d.config(req.Application).Hooks.tasks()
	if d.practice != nil {
		req.Hooks = allTasks()
	}
	for i, p := range req.Positions {
		if p.Mode == recovery.ByDuration && p.At.IsZero() {
			span, err := parseSpan(p.Text)
			if err != nil {
				return plans.Plan{}, usageError("duration", err, "")
			}
			req.Positions[i].At = now().Add(-span).Truncate(time.Millisecond)
		}
	}
	inv, err := d.link.discoverer().Discover(ctx, req.Application, req.Hints, req.Times())
	if err != nil {
		return plans.Plan{}, err
	}
	return recovery.MakePlan(inv, req, now(), version)
}

// Start implements ui.Controls: the run is admitted here and executed in the
// background, which finish waits for.
func (d *desk) Start(p plans.Plan, a recovery.Approval) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.job != nil && d.outcome == "" && d.err == nil {
		return usageError("run", errors.New("another run is under way here"), "wait until it ended")
	}
	log := recovery.NewEventLog()
	j, err := d.start(p.Application, log).admit(d.ctx, p, a, d.incident)
	if err != nil {
		return err
	}
	d.execute(j, log)
	return nil
}

// execute runs a job in the background. The caller holds the mutex.
func (d *desk) execute(j *job, log *recovery.EventLog) {
	d.job, d.log, d.outcome, d.err = j, log, "", nil
	d.wait.Go(func() {
		outcome, err := j.execute(d.ctx)
		d.mu.Lock()
		defer d.mu.Unlock()
		d.outcome, d.err = outcome, err
	})
}

// attach takes a run up again and shows it.
func (d *desk) attach(ctx context.Context, runID string) error {
	dir, err := openRunDir(d.c.paths, runID)
	if err != nil {
		return err
	}
	seen, err := dir.read()
	if err != nil {
		return err
	}
	log := recovery.NewEventLog()
	j, err := d.start(seen.Header.Plan.Application, log).resume(ctx, dir)
	if err != nil {
		return err
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	d.execute(j, log)
	return nil
}

func (d *desk) start(app string, log *recovery.EventLog) start {
	return start{
		link: d.link, app: d.config(app), operator: d.operator(app), paths: d.c.paths,
		query: newAppClient(d.config(app), d.link.reader, app), answers: recovery.NewAnswers(nil, operator(), true), log: log,
	}
}

func (d *desk) answers() *recovery.Answers {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.job == nil {
		return recovery.NewAnswers(nil, "", true)
	}
	return d.job.answers
}

// Acknowledge implements ui.Answers.
func (d *desk) Acknowledge(task, by string) { d.answers().Acknowledge(task, by) }

// Decline implements ui.Answers.
func (d *desk) Decline(task, reason string) { d.answers().Decline(task, reason) }

// PauseAfterStep implements ui.Brakes.
func (d *desk) PauseAfterStep() { d.answers().PauseAfterStep() }

// Continue implements ui.Brakes.
func (d *desk) Continue() { d.answers().Continue() }

// Stop implements ui.Brakes.
func (d *desk) Stop() { d.answers().Stop() }

// Next implements ui.Events.
func (d *desk) Next(ctx context.Context, c recovery.Cursor) ([]recovery.Event, recovery.Cursor, error) {
	d.mu.Lock()
	log := d.log
	d.mu.Unlock()
	return log.Next(ctx, c)
}

// keepCopy keeps a copied text where it can be had without a clipboard.
func (d *desk) keepCopy(text string) (string, error) {
	if err := os.MkdirAll(d.c.paths.State, 0o700); err != nil {
		return "", err
	}
	path := filepath.Join(d.c.paths.State, "copied.txt")
	return path, os.WriteFile(path, []byte(text+"\n"), 0o600)
}

// finish waits for a run that goes on after the screen has gone, telling of it
// in lines, and says how it ended.
func (d *desk) finish(ctx context.Context) error {
	d.mu.Lock()
	j, over := d.job, d.outcome != "" || d.err != nil
	d.mu.Unlock()
	if j == nil {
		return nil
	}
	var printed error
	if !over {
		_, _ = fmt.Fprintf(d.c.stderr, "run %s goes on here; interrupt to stop it safely\n", j.id)
		interrupts := make(chan os.Signal, 2)
		signal.Notify(interrupts, os.Interrupt)
		defer signal.Stop(interrupts)
		_, stop := signalStop(ctx, interrupts, j.answers, func(s string) { _, _ = fmt.Fprintln(d.c.stderr, s) })
		printed = headless.Follow(ctx, j.log, d.c.stdout, false)
		stop()
	}
	d.wait.Wait()
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.err != nil || printed != nil {
		return errors.Join(d.err, printed)
	}
	return d.last(j)
}

// last prints what stays on the terminal after the console.
func (d *desk) last(j *job) error {
	dir := filepath.Join(d.c.paths.Runs, j.id)
	say := func(w io.Writer, format string, args ...any) { _, _ = fmt.Fprintf(w, format+"\n", args...) }
	switch {
	case d.outcome.Final():
		say(d.c.stdout, "run %s: %s (journal in %s)", j.id, d.outcome, dir)
	case d.practice != nil:
		say(d.c.stderr, "rehearsal run %s ended %s; its cluster is gone with it", j.id, d.outcome)
	default:
		say(d.c.stderr, "run %s is not finished (%s): resurge resume %s", j.id, d.outcome, j.id)
	}
	if d.outcome == recovery.OutcomeVerified {
		return nil
	}
	return ended{d.outcome}
}
