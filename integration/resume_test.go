//go:build integration

package integration

import (
	"bufio"
	"bytes"
	"context"
	"strings"
	"testing"
	"time"
)

// TestResume_KilledAtEveryStep kills resurge with SIGKILL whenever it starts a step that it has not started before, and
// resumes until it is done: the end is the same as without.
func TestResume_KilledAtEveryStep(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ name, protocol, guarantee string }{
		{"classiceos", classic, exactlyOnce},
		{"streamsalo", streamsGroup, atLeastOnce},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			a := newApp(t, sharedBroker(t), appOptions{id: "resume" + c.name, protocol: c.protocol, guarantee: c.guarantee})
			want := a.loadAndStop(5_000)
			a.loseState(t)
			con := newConsole(t, a.b.addr, a.operate(t).config(t))
			p := con.plan(t, a.opts.id, "--to-earliest", "--input-topics", a.inputs())
			kills := con.killAtEveryStep(t, p)
			a.requireCounts(t, want)
			if kills < 3 {
				t.Errorf("killed %d times, which proves little", kills)
			}
			t.Logf("killed at %d of %d steps", kills, len(p.Steps))
		})
	}
}

func (c *console) killAtEveryStep(t *testing.T, p plan) (kills int) {
	t.Helper()
	started := map[string]bool{}
	fresh := func(e event) bool {
		if e.Type != "step_started" || started[e.Step] {
			return false
		}
		started[e.Step] = true
		return true
	}
	args, runID := p.runArgs(), ""
	for range 2*len(p.Steps) + 5 {
		r, first, killed := c.runUntil(t, fresh, args...)
		if runID == "" {
			runID = first.Run
		}
		if !killed {
			r.requireCode(t, exitVerified)
			return kills
		}
		if runID == "" {
			t.Fatalf("the first event has no run ID: %v", r)
		}
		kills++
		args = []string{"resume", runID, "--output", "json"}
	}
	t.Fatalf("killed %d times and not done", kills)
	return kills
}

// runUntil kills resurge with SIGKILL at the first event that stop chooses. It returns the first event as well.
func (c *console) runUntil(t *testing.T, stop func(event) bool, args ...string) (r result, first event, killed bool) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 6*time.Minute)
	defer cancel()
	cmd := c.command(ctx, args...)
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	cmd.WaitDelay = 5 * time.Second // a hook may outlive it and hold the pipe
	stdout, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	var printed strings.Builder
	for lines := bufio.NewScanner(stdout); lines.Scan(); {
		printed.WriteString(lines.Text() + "\n")
		e := decodeEvent(t, lines.Bytes())
		if first == (event{}) {
			first = e
		}
		if stop(e) {
			killed = true
			break
		}
	}
	if killed {
		_ = cmd.Process.Kill()
	}
	_ = cmd.Wait()
	return result{args: args, stdout: printed.String(), stderr: stderr.String(), code: cmd.ProcessState.ExitCode()}, first, killed
}
