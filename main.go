// Command resurge is a terminal recovery console for Kafka Streams
// applications. See README.md; docs/design.md says how it is built.
//
// Package main wires the adapters to the engine and the front ends, owns the
// signals and decides the exit code. Commands are in cli_*.go.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"strings"
	"syscall"

	"resurge/recovery"
	"resurge/streams"
)

// version is set at build time for releases.
var version = "dev"

func main() { os.Exit(Main()) }

// Main runs resurge with the process's arguments and returns the exit code.
func Main() int {
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM)
	defer stop()
	// A lost terminal does not stop a run: its journal goes on. A limit on file
	// sizes, or a reader of the output that has gone, is an error of the write that
	// meets it, and no reason to die in the middle of a step.
	signal.Ignore(syscall.SIGHUP, syscall.SIGXFSZ, syscall.SIGPIPE)
	return run(ctx, os.Args[1:], os.Stdin, os.Stdout, os.Stderr)
}

// run executes one command line.
func run(ctx context.Context, args []string, stdin io.Reader, stdout, stderr io.Writer) int {
	app := &cli{stdin: stdin, stdout: stdout, stderr: stderr}
	root := app.root() //nolint:contextcheck // every command takes the context that ExecuteContext gives it
	root.SetArgs(args)
	err := root.ExecuteContext(ctx)
	if err == nil {
		return 0
	}
	p := problemOf(err)
	if _, shown := errors.AsType[ended](err); !shown {
		app.complain(p)
	}
	return exitCode(p.Code)
}

// lines makes text safe line by line: the marked line of a configuration is one
// of several.
func lines(s string) string {
	all := strings.Split(strings.TrimSpace(s), "\n")
	for i := range all {
		all[i] = streams.Quote(all[i])
	}
	return strings.Join(all, "\n  ")
}

// complain tells of a problem: what, and on a line of its own what to do next.
func (c *cli) complain(p *recovery.Problem) {
	_, _ = fmt.Fprintln(c.stderr, "resurge: "+lines(p.Message))
	if p.Hint != "" {
		_, _ = fmt.Fprintln(c.stderr, "  next: "+lines(p.Hint))
	}
}
