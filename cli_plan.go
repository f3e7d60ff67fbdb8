package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"resurge/internal/headless"
	"resurge/plans"
	"resurge/recovery"
	"resurge/streams"
)

// planFlags are the flags of resurge plan.
type planFlags struct {
	strategy                          string
	earliest, latest                  bool
	offset, datetime, duration, shift string
	fromFile                          string
	positions                         []string
	inputs, intermediates, internal   []string
	noStop, noStart, removeMembers    bool
	recreateRepartition               bool
	emptyWithin, caughtUpWithin       time.Duration
	out                               string
}

func (c *cli) planCommand() *cobra.Command {
	var f planFlags
	cmd := &cobra.Command{
		Use: "plan APPLICATION", Short: "Make a recovery plan; changes nothing", Args: cobra.ExactArgs(1),
		Long: "plan reads the cluster and writes down exactly which topics, partitions and offsets a recovery\nwould change. It works on a running application and sends no changing request.",
		RunE: func(cmd *cobra.Command, args []string) error { return c.plan(cmd.Context(), args[0], f) },
	}
	fl := cmd.Flags()
	fl.StringVar(&f.strategy, "strategy", string(plans.Rebuild), "rebuild")
	fl.BoolVar(&f.earliest, "to-earliest", false, "inputs from their first record (the default)")
	fl.BoolVar(&f.latest, "to-latest", false, "inputs from their end")
	fl.StringVar(&f.offset, "to-offset", "", "inputs from this offset")
	fl.StringVar(&f.datetime, "to-datetime", "", "inputs from this time, with a zone: 2026-12-01T10:40:00Z")
	fl.StringVar(&f.duration, "by-duration", "", "inputs from this long ago: PT2H or 2h")
	fl.StringVar(&f.shift, "shift-by", "", "inputs from their committed offset plus n; n may be negative")
	fl.StringVar(&f.fromFile, "from-file", "", "inputs from the offsets in a CSV of TOPIC,PARTITION,OFFSET")
	fl.StringArrayVar(&f.positions, "position", nil, "TOPIC[:PARTITION]=earliest|latest|OFFSET|TIME|+N|-N, for one topic or partition (repeatable)")
	fl.StringSliceVar(&f.inputs, "input-topics", nil, "input topics whose offsets move (default: those that were discovered)")
	fl.StringSliceVar(&f.intermediates, "intermediate-topics", nil, "topics that the application writes and reads itself: moved to their end")
	fl.StringSliceVar(&f.internal, "internal-topics", nil, "delete exactly these internal topics (default: all proven to be the application's)")
	fl.BoolVar(&f.noStop, "no-stop", false, "leave the stop task out")
	fl.BoolVar(&f.noStart, "no-start", false, "end before the application is started")
	fl.BoolVar(&f.removeMembers, "remove-members", false, "add a step that removes the members of now")
	fl.BoolVar(&f.recreateRepartition, "recreate-repartition", false, "create repartition topics again with offset 0, for applications with auto.offset.reset=latest")
	fl.DurationVar(&f.emptyWithin, "empty-within", recovery.DefaultEmptyWithin, "how long to wait for the group to become empty")
	fl.DurationVar(&f.caughtUpWithin, "caught-up-within", recovery.DefaultCaughtUpWithin, "how long to wait for the application to catch up")
	fl.StringVar(&f.out, "out", "", "write the plan to this file")
	return cmd
}

func (c *cli) plan(ctx context.Context, app string, f planFlags) error {
	req, err := c.request(app, f)
	if err != nil {
		return err
	}
	l, err := c.connect(ctx)
	if err != nil {
		return err
	}
	defer l.cluster.Close()
	inv, err := l.discoverer().Discover(ctx, app, req.Hints, req.Times())
	if err != nil {
		return err
	}
	p, err := recovery.MakePlan(inv, req, now(), version)
	if err != nil {
		return err
	}
	return c.showPlan(p, f.out)
}

// showPlan writes the plan to its file, if one is named, and prints it.
func (c *cli) showPlan(p plans.Plan, out string) error {
	b, err := p.Encode()
	if err != nil {
		return err
	}
	if out != "" {
		if err := os.WriteFile(out, b, 0o600); err != nil {
			return usageError("write the plan", err, "choose another --out")
		}
	}
	if c.json() {
		_, err = c.stdout.Write(b)
		return err
	}
	if err := headless.Plan(c.stdout, p); err != nil {
		return err
	}
	if out != "" {
		_, err = fmt.Fprintf(c.stdout, "\nto run it:  resurge run %s --approve %s\n", streams.ShellQuote(out), p.ID)
	}
	return err
}

// request turns flags into what is asked of the engine.
func (c *cli) request(app string, f planFlags) (recovery.Request, error) {
	hints, err := c.hints(app)
	if err != nil {
		return recovery.Request{}, err
	}
	req := recovery.Request{
		Application: app, Strategy: plans.Strategy(f.strategy), Hints: hints,
		NoStop: f.noStop, NoStart: f.noStart, RemoveMembers: f.removeMembers, RecreateRepartition: f.recreateRepartition,
		Hooks: c.application(app).Hooks.tasks(), EmptyWithin: f.emptyWithin, CaughtUpWithin: f.caughtUpWithin,
	}
	if len(f.inputs) > 0 {
		req.Hints.Inputs = f.inputs
	}
	req.Hints.Intermediates, req.Hints.Internal = f.intermediates, f.internal
	position, err := f.position(now())
	if err != nil {
		return req, err
	}
	req.Positions = position
	for _, text := range f.positions {
		p, err := parsePosition(text, now())
		if err != nil {
			return req, usageError("--position "+text, err, "")
		}
		req.Positions = append(req.Positions, p)
	}
	return req, nil
}

// position reads the one position flag for all inputs.
func (f planFlags) position(now time.Time) ([]recovery.Position, error) {
	var out []recovery.Position
	var flags []string
	take := func(flag, value string, parse func() ([]recovery.Position, error)) error {
		if value == "" {
			return nil
		}
		flags = append(flags, "--"+flag)
		p, err := parse()
		if err != nil {
			return usageError("--"+flag, err, "")
		}
		out = append(out, p...)
		return nil
	}
	one := func(p recovery.Position, err error) ([]recovery.Position, error) { return []recovery.Position{p}, err }
	err := errors.Join(
		take("to-earliest", set(f.earliest), func() ([]recovery.Position, error) { return one(recovery.Position{Mode: recovery.ToEarliest}, nil) }),
		take("to-latest", set(f.latest), func() ([]recovery.Position, error) { return one(recovery.Position{Mode: recovery.ToLatest}, nil) }),
		take("to-offset", f.offset, func() ([]recovery.Position, error) { return one(offsetPosition(recovery.ToOffset, f.offset)) }),
		take("shift-by", f.shift, func() ([]recovery.Position, error) { return one(offsetPosition(recovery.ShiftBy, f.shift)) }),
		take("to-datetime", f.datetime, func() ([]recovery.Position, error) { return one(timePosition(f.datetime, now)) }),
		take("by-duration", f.duration, func() ([]recovery.Position, error) {
			d, err := parseSpan(f.duration)
			return one(recovery.Position{Mode: recovery.ByDuration, At: now.Add(-d).Truncate(time.Millisecond), Text: f.duration}, err)
		}),
		take("from-file", f.fromFile, func() ([]recovery.Position, error) {
			b, err := os.ReadFile(f.fromFile)
			if err != nil {
				return nil, err
			}
			return recovery.ParseOffsetsFile(string(b))
		}),
	)
	if err == nil && len(flags) > 1 {
		err = usageError(strings.Join(flags, " and "), errors.New("exclude each other"), "give one position for all inputs, and --position for single topics")
	}
	return out, err
}

func set(b bool) string {
	if b {
		return "set"
	}
	return ""
}

func offsetPosition(mode recovery.PositionMode, text string) (recovery.Position, error) {
	n, err := strconv.ParseInt(text, 10, 64)
	if err != nil || mode == recovery.ToOffset && n < 0 {
		return recovery.Position{}, fmt.Errorf("%q is not an offset", text)
	}
	return recovery.Position{Mode: mode, Offset: n, Text: text}, nil
}

func timePosition(text string, now time.Time) (recovery.Position, error) {
	t, err := parsePast(text, now)
	return recovery.Position{Mode: recovery.ToDatetime, At: t.Truncate(time.Millisecond), Text: text}, err
}

// parsePosition reads TOPIC[:PARTITION]=WHERE. Topic names hold no colon.
func parsePosition(text string, now time.Time) (recovery.Position, error) {
	where, value, ok := strings.Cut(text, "=")
	topic, partition, hasPartition := strings.Cut(where, ":")
	if !ok || topic == "" {
		return recovery.Position{}, errors.New("want TOPIC[:PARTITION]=WHERE")
	}
	var p recovery.Position
	var err error
	switch {
	case value == "earliest":
		p.Mode = recovery.ToEarliest
	case value == "latest":
		p.Mode = recovery.ToLatest
	case strings.HasPrefix(value, "+"), strings.HasPrefix(value, "-"):
		p, err = offsetPosition(recovery.ShiftBy, value)
	case len(value) < 10 && strings.Trim(value, "0123456789") == "":
		p, err = offsetPosition(recovery.ToOffset, value)
	default:
		if n, nerr := strconv.ParseInt(strings.TrimPrefix(value, "offset:"), 10, 64); nerr == nil {
			p = recovery.Position{Mode: recovery.ToOffset, Offset: n, Text: value}
		} else {
			p, err = timePosition(value, now)
		}
	}
	if err != nil {
		return p, err
	}
	p.Topic = topic
	if hasPartition {
		n, err := strconv.ParseInt(partition, 10, 32)
		if err != nil || n < 0 {
			return p, fmt.Errorf("%q is not a partition", partition)
		}
		i := int32(n)
		p.Partition = &i
	}
	return p, nil
}
