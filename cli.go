package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/user"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	"golang.org/x/term"

	"resurge/recovery"
)

// cli is one invocation: its streams and global flags.
type cli struct {
	stdin          io.Reader
	stdout, stderr io.Writer

	bootstrap     []string
	commandConfig string
	configPath    string
	contextName   string
	output        string
	headless      bool
	incident      string
	follow        time.Duration // of the console: 0 is off

	config config
	paths  paths
}

func (c *cli) root() *cobra.Command {
	root := &cobra.Command{
		Use:           "resurge",
		Short:         "Recover Kafka Streams applications, and prove it",
		Long:          "resurge finds what a Kafka Streams application left on a cluster, compares the ways to\nget its state back, and drives the chosen one against an RTO clock until the state is proven.\nWithout a command it opens the console.",
		Version:       version,
		SilenceErrors: true, SilenceUsage: true,
		PersistentPreRunE: func(cmd *cobra.Command, _ []string) error { return c.prepare(cmd) },
		Args:              cobra.NoArgs,
		RunE:              func(cmd *cobra.Command, _ []string) error { return c.console(cmd.Context(), "", "", nil) },
	}
	f := root.PersistentFlags()
	f.StringSliceVar(&c.bootstrap, "bootstrap-server", nil, "brokers to connect to first, host:port")
	f.StringVar(&c.commandConfig, "command-config", "", "Java client.properties with security settings")
	f.StringVar(&c.configPath, "config", "", "configuration file (default: see resurge info)")
	f.StringVar(&c.contextName, "context", "", "context of the configuration to use")
	f.StringVar(&c.output, "output", "text", "text or json")
	f.BoolVar(&c.headless, "headless", false, "print lines instead of opening the console")
	root.Flags().StringVar(&c.incident, "incident", "now", `when the incident was declared: 2026-12-01T10:40:00Z, "15m ago" or now`)
	root.SetOut(c.stdout)
	root.SetErr(c.stderr)
	root.SetFlagErrorFunc(func(cmd *cobra.Command, err error) error {
		return usageError(cmd.CommandPath(), err, cmd.CommandPath()+" --help lists the flags")
	})
	root.AddCommand(c.appsCommand(), c.describeCommand(), c.topicsCommand(), c.groupsCommand(), c.watchCommand(),
		c.snapshotCommand(), c.diffCommand(), c.preflightCommand(), c.planCommand(), c.runCommand(), c.resumeCommand(),
		c.undoCommand(), c.runsCommand(), c.infoCommand(), c.rehearseCommand())
	for _, cmd := range root.Commands() {
		wrapArgs(cmd)
	}
	wrapArgs(root)
	return root
}

// wrapArgs makes wrong arguments a usage error.
func wrapArgs(cmd *cobra.Command) {
	check := cmd.Args
	cmd.Args = func(cmd *cobra.Command, args []string) error {
		if err := check(cmd, args); err != nil {
			return usageError(cmd.CommandPath(), err, cmd.CommandPath()+" --help shows how it is used")
		}
		return nil
	}
}

// prepare reads environment and configuration before any command.
func (c *cli) prepare(cmd *cobra.Command) error {
	var bad error
	cmd.Flags().VisitAll(func(f *pflag.Flag) {
		name := "RESURGE_" + strings.ToUpper(strings.ReplaceAll(f.Name, "-", "_"))
		if v, ok := os.LookupEnv(name); ok && !f.Changed {
			if err := f.Value.Set(v); err != nil {
				bad = usageError(name, err, "")
			}
			f.Changed = true
		}
	})
	if bad != nil {
		return bad
	}
	if c.output != "text" && c.output != "json" {
		return usageError("--output", fmt.Errorf("%q is neither text nor json", c.output), "")
	}
	var err error
	if c.paths, err = findPaths(c.configPath); err != nil {
		return err
	}
	c.config, err = loadConfig(c.paths.Config, c.configPath != "")
	return err
}

func (c *cli) json() bool { return c.output == "json" }

// interactive reports whether a person sits at a terminal that can be drawn on.
func (c *cli) interactive() bool {
	if c.headless || c.json() {
		return false
	}
	in, okIn := c.stdin.(*os.File)
	out, okOut := c.stdout.(*os.File)
	return okIn && okOut && term.IsTerminal(int(in.Fd())) && term.IsTerminal(int(out.Fd()))
}

// printJSON writes one JSON document to stdout.
func (c *cli) printJSON(v any) error {
	return c.encode(v, "  ")
}

// printLine writes one JSON document as one line.
func (c *cli) printLine(v any) error { return c.encode(v, "") }

func (c *cli) encode(v any, indent string) error {
	e := json.NewEncoder(c.stdout)
	e.SetIndent("", indent)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		return fmt.Errorf("print: %w", err)
	}
	return nil
}

// application returns the configuration of one application.
func (c *cli) application(name string) applicationConfig { return c.config.Applications[name] }

// operator is the OS user, for the journal.
func operator() string {
	if u, err := user.Current(); err == nil && u.Username != "" {
		return u.Username
	}
	return "unknown"
}

func now() time.Time { return time.Now() }

// signalStop returns a context that the first interrupt leaves alone: it only
// asks the answers to stop at the next safe point. The second one cancels.
func signalStop(ctx context.Context, interrupts <-chan os.Signal, answers *recovery.Answers, say func(string)) (context.Context, func()) {
	ctx, cancel := context.WithCancelCause(ctx)
	done := make(chan struct{})
	go func() {
		select {
		case <-interrupts:
			answers.Stop()
			say("stopping at the next safe point; again to stop at once")
		case <-done:
			return
		}
		select {
		case <-interrupts:
			cancel(errors.Join(recovery.ErrStopped, context.Canceled))
		case <-done:
		}
	}()
	return ctx, func() { close(done); cancel(nil) }
}
