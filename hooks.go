package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os/exec"
	"strings"
	"syscall"
	"time"

	"resurge/streams"
)

const (
	defaultHookTimeout = 5 * time.Minute
	keptOutput         = 4 << 10
	// outputGrace is how long a finished hook's output pipe may stay open: a
	// start hook leaves the application behind, which may have inherited it.
	outputGrace = 2 * time.Second
)

// hooks runs the operator tasks that the configuration has commands for. It
// satisfies recovery.Operator.
type hooks struct {
	config hooksConfig
}

// HasHook reports whether the task has a command.
func (h hooks) HasHook(task string) bool { return len(h.config.command(task)) > 0 }

// Perform runs the task's command and returns the end of its output.
func (h hooks) Perform(ctx context.Context, task string) (string, error) {
	argv := h.config.command(task)
	if len(argv) == 0 {
		return "", fmt.Errorf("no hook for task %s", task)
	}
	timeout := time.Duration(h.config.Timeout)
	if timeout == 0 {
		timeout = defaultHookTimeout
	}
	ctx, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	var out tail
	cmd := exec.CommandContext(ctx, argv[0], argv[1:]...) //nolint:gosec // the operator's own command, from the operator's own file
	cmd.Stdout, cmd.Stderr = &out, &out
	// A group of its own: ctrl-c at the terminal stops the run at a safe point,
	// and must not break a hook off in the middle.
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
	cmd.WaitDelay = outputGrace
	err := cmd.Run()
	text := strings.TrimSpace(string(out.b))
	switch {
	case errors.Is(err, exec.ErrWaitDelay):
		return text, nil
	case ctx.Err() != nil:
		return text, fmt.Errorf("%s did not end within %s: %s", streams.Quote(argv[0]), timeout, streams.Quote(last(text)))
	case err != nil:
		return text, fmt.Errorf("%s: %w: %s", streams.Quote(argv[0]), err, streams.Quote(last(text)))
	}
	return text, nil
}

// last is the end of an output, short enough for an error message.
func last(text string) string {
	lines := strings.Split(text, "\n")
	text = strings.Join(lines[max(0, len(lines)-3):], " | ")
	return text[max(0, len(text)-300):]
}

// tail keeps the last bytes that were written to it.
type tail struct{ b []byte }

func (t *tail) Write(p []byte) (int, error) {
	t.b = append(t.b, p...)
	if n := len(t.b); n > keptOutput {
		t.b = bytes.Clone(t.b[n-keptOutput:])
	}
	return len(p), nil
}
