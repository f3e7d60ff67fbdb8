//go:build integration

package integration

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"
)

// process is a program that a test started, in a process group of its own, with the last lines it printed.
type process struct {
	name string
	cmd  *exec.Cmd
	out  *tail
	done chan struct{} // closed when it has exited
}

// startProcess starts argv. The caller stops it; should the test binary die first, the kernel kills it.
func startProcess(name string, argv, env []string) (*process, error) {
	p := &process{name: name, out: &tail{max: 400}, done: make(chan struct{})}
	p.cmd = exec.CommandContext(context.Background(), argv[0], argv[1:]...)
	p.cmd.Stdout, p.cmd.Stderr = p.out, p.out
	p.cmd.Env = append(os.Environ(), env...)
	p.cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
	p.cmd.WaitDelay = 5 * time.Second
	if err := p.cmd.Start(); err != nil {
		return nil, fmt.Errorf("start %s: %w", name, err)
	}
	go func() {
		_ = p.cmd.Wait() // how it ended is in ProcessState
		close(p.done)
	}()
	return p, nil
}

func (p *process) exited() bool {
	select {
	case <-p.done:
		return true
	default:
		return false
	}
}

// died is an error with the last 40 lines when the process has exited, else nil.
func (p *process) died() error {
	if !p.exited() {
		return nil
	}
	return fmt.Errorf("%s has exited: %s\n%s", p.name, p.cmd.ProcessState, p.out.last(40))
}

// stop sends SIGTERM and waits; a process that does not go within the limit is killed and an error.
func (p *process) stop(limit time.Duration) error {
	if p.exited() {
		return nil
	}
	p.signal(syscall.SIGTERM)
	timer := time.NewTimer(limit)
	defer timer.Stop()
	select {
	case <-p.done:
		return nil
	case <-timer.C:
		p.kill()
		return fmt.Errorf("%s did not stop within %v\n%s", p.name, limit, p.out.last(40))
	}
}

func (p *process) kill() {
	p.signal(syscall.SIGKILL)
	<-p.done
}

// signal goes to the process group; one that has exited is left alone, its number may be another's.
func (p *process) signal(sig syscall.Signal) {
	if !p.exited() {
		_ = syscall.Kill(-p.cmd.Process.Pid, sig)
	}
}

// tail keeps the last lines written to it.
type tail struct {
	mu    sync.Mutex
	max   int
	lines []string // guarded by mu
	part  []byte   // guarded by mu: a line without its end
}

func (w *tail) Write(b []byte) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.part = append(w.part, b...)
	for {
		i := bytes.IndexByte(w.part, '\n')
		if i < 0 {
			return len(b), nil
		}
		w.lines = append(w.lines, string(w.part[:i]))
		w.part = w.part[i+1:]
		if over := len(w.lines) - w.max; over > 0 {
			w.lines = w.lines[over:]
		}
	}
}

func (w *tail) last(n int) string {
	w.mu.Lock()
	defer w.mu.Unlock()
	return strings.Join(w.lines[max(0, len(w.lines)-n):], "\n")
}

func (w *tail) contains(text string) bool { return strings.Contains(w.last(w.max), text) }

// eventually polls ok until it answers true. The note that it gives with false is in the failure.
func eventually(t *testing.T, limit time.Duration, what string, ok func() (done bool, note string)) {
	t.Helper()
	if err := poll(limit, what, ok); err != nil {
		t.Fatal(err)
	}
}

func poll(limit time.Duration, what string, ok func() (done bool, note string)) error {
	deadline := time.NewTimer(limit)
	defer deadline.Stop()
	tick := time.NewTicker(50 * time.Millisecond)
	defer tick.Stop()
	for {
		done, note := ok()
		if done {
			return nil
		}
		select {
		case <-deadline.C:
			return fmt.Errorf("%s: not within %v: %s", what, limit, note)
		case <-tick.C:
		}
	}
}
