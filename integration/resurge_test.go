//go:build integration

package integration

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"
)

// Exit codes of resurge.
const (
	exitVerified    = 0
	exitUsage       = 2
	exitBlocked     = 3
	exitAuth        = 4
	exitActive      = 5
	exitUnverified  = 7
	exitStale       = 9
	exitUnreachable = 10
)

// result is what a program printed and how it ended.
type result struct {
	args           []string
	stdout, stderr string
	code           int
	took           time.Duration
}

func (r result) String() string {
	return fmt.Sprintf("%q: exit %d after %v\n--- stdout\n%s--- stderr\n%s", r.args, r.code, r.took.Round(time.Millisecond), r.stdout, r.stderr)
}

// all is everything printed.
func (r result) all() string { return r.stdout + r.stderr }

// run runs a command to its end. Not being able to is a failure, an exit code is not.
func run(t *testing.T, cmd *exec.Cmd) result {
	t.Helper()
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	cmd.WaitDelay = 5 * time.Second
	start := time.Now()
	err := cmd.Run()
	if exit := (*exec.ExitError)(nil); err != nil && !errors.As(err, &exit) {
		t.Fatalf("run %q: %v", cmd.Args, err)
	}
	return result{
		args: cmd.Args[1:], stdout: stdout.String(), stderr: stderr.String(),
		code: cmd.ProcessState.ExitCode(), took: time.Since(start),
	}
}

// builtBinary builds resurge once, or takes the one that RESURGE_BINARY names.
var builtBinary = sync.OnceValues(func() (string, error) {
	if given := os.Getenv("RESURGE_BINARY"); given != "" {
		return given, nil
	}
	binary := filepath.Join(scratch, "resurge")
	cmd := exec.CommandContext(context.Background(), "go", "build", "-o", binary, ".")
	cmd.Dir = ".."
	if out, err := cmd.CombinedOutput(); err != nil {
		return binary, fmt.Errorf("build resurge: %w\n%s", err, out)
	}
	return binary, nil
})

// console is one operator's resurge: its configuration, its state directory and the broker it talks to.
type console struct {
	binary string
	home   string
	flags  []string // before every command
}

// newConsole makes a home of its own; config is the text of config.yaml, "" for none.
func newConsole(t *testing.T, bootstrap, config string) *console {
	t.Helper()
	binary, err := builtBinary()
	if err != nil {
		t.Fatal(err)
	}
	c := &console{binary: binary, home: t.TempDir(), flags: []string{"--bootstrap-server", bootstrap}}
	if config != "" {
		file := filepath.Join(c.home, "config.yaml")
		if err := os.WriteFile(file, []byte(config), 0o600); err != nil {
			t.Fatal(err)
		}
		c.flags = append(c.flags, "--config", file)
	}
	return c
}

func (c *console) command(ctx context.Context, args ...string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, c.binary, append(slices.Clip(args), c.flags...)...)
	cmd.Env = append(os.Environ(), "XDG_STATE_HOME="+filepath.Join(c.home, "state"), "XDG_CONFIG_HOME="+filepath.Join(c.home, "config"))
	return cmd
}

// run runs one command of resurge to its end.
func (c *console) run(t *testing.T, args ...string) result {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 6*time.Minute)
	defer cancel()
	return run(t, c.command(ctx, args...))
}

// requireCode fails the test when the exit code is another one.
func (r result) requireCode(t *testing.T, want int) result {
	t.Helper()
	if r.code != want {
		t.Fatalf("exit code %d, want %d, of %v", r.code, want, r)
	}
	return r
}

// requireSays fails the test when some text is nowhere in the output.
func (r result) requireSays(t *testing.T, texts ...string) result {
	t.Helper()
	for _, text := range texts {
		if !strings.Contains(r.all(), text) {
			t.Errorf("the output does not say %q: %v", text, r)
		}
	}
	return r
}

type step struct {
	ID    string `json:"id"`
	Kind  string `json:"kind"`
	Title string `json:"title"`
}

// plan is the part of "plan --output json" that tests look at.
type plan struct {
	ID    string `json:"id"`
	Steps []step `json:"steps"`
	file  string
}

// plan makes one and keeps it in a file.
func (c *console) plan(t *testing.T, app string, args ...string) plan {
	t.Helper()
	file := filepath.Join(t.TempDir(), "plan.json")
	r := c.run(t, append([]string{"plan", app, "--strategy", "rebuild", "--caught-up-within", "4m", "--out", file, "--output", "json"}, args...)...)
	return decodePlan(t, r.requireCode(t, exitVerified), file)
}

func decodePlan(t *testing.T, r result, file string) plan {
	t.Helper()
	p := plan{file: file}
	if err := json.Unmarshal([]byte(r.stdout), &p); err != nil {
		t.Fatalf("decode the plan: %v in %v", err, r)
	}
	if !strings.HasPrefix(p.ID, "sha256:") || len(p.Steps) == 0 {
		t.Fatalf("not a plan: %v", r)
	}
	return p
}

// execute approves and runs a plan.
func (c *console) execute(t *testing.T, p plan, args ...string) result {
	t.Helper()
	return c.run(t, p.runArgs(args...)...)
}

func (p plan) runArgs(args ...string) []string {
	return append([]string{"run", p.file, "--approve", p.ID, "--output", "json"}, args...)
}

// event is the part of a line of "run --output json" that tests look at.
type event struct {
	Seq     int64  `json:"seq"`
	Type    string `json:"type"`
	Step    string `json:"step"`
	Run     string `json:"run"`
	Message string `json:"message"`
}

func decodeEvents(t *testing.T, r result) []event {
	t.Helper()
	var events []event
	for lines := bufio.NewScanner(strings.NewReader(r.stdout)); lines.Scan(); {
		events = append(events, decodeEvent(t, lines.Bytes()))
	}
	return events
}

func decodeEvent(t *testing.T, line []byte) event {
	t.Helper()
	var e event
	if err := json.Unmarshal(line, &e); err != nil {
		t.Fatalf("decode the event %q: %v", line, err)
	}
	return e
}
