package ui

import (
	"bytes"
	"context"
	"io"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/colorprofile"
	uv "github.com/charmbracelet/ultraviolet"
	"github.com/charmbracelet/x/vt"

	"resurge/recovery"
)

// terminal is a real program drawn into an in-memory terminal.
type terminal struct {
	t    testing.TB
	mu   sync.Mutex // emu hands out its own cells: reading them excludes writing
	emu  *vt.SafeEmulator
	p    *tea.Program
	m    *Model
	done chan error

	silent atomic.Bool
	quiet  chan struct{}
}

// Write turns LF into CRLF: without a terminal Bubble Tea expects that.
func (x *terminal) Write(b []byte) (int, error) {
	x.mu.Lock()
	defer x.mu.Unlock()
	_, err := x.emu.Write(bytes.ReplaceAll(b, []byte("\n"), []byte("\r\n")))
	return len(b), err
}

// style is how a cell is drawn.
func (x *terminal) style(col, row int) uv.Style {
	x.mu.Lock()
	defer x.mu.Unlock()
	return x.emu.CellAt(col, row).Style
}

func open(tb testing.TB, s Session, w, h int) *terminal {
	tb.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	x := &terminal{t: tb, emu: vt.NewSafeEmulator(w, h), m: New(ctx, s), done: make(chan error, 1), quiet: make(chan struct{})}
	in, out := io.Pipe()
	go x.answer(out)
	x.p = tea.NewProgram(x.m,
		tea.WithInput(in), tea.WithOutput(x), tea.WithWindowSize(w, h),
		tea.WithEnvironment([]string{"TERM=xterm-256color", "COLORTERM=truecolor"}),
		tea.WithColorProfile(colorprofile.TrueColor), tea.WithoutSignals(),
	)
	go func() { _, err := x.p.Run(); x.done <- err }()
	tb.Cleanup(func() {
		cancel()
		x.p.Kill()
		in.Close()
		x.hush()
	})
	return x
}

// answer hands what the terminal says, replies and keys, to the program. The
// emulator's Close must not meet its Read, so one more byte ends this first.
func (x *terminal) answer(to *io.PipeWriter) {
	defer close(x.quiet)
	defer to.Close()
	buf := make([]byte, 4096)
	for {
		n, err := x.emu.Read(buf)
		if err != nil || x.silent.Load() {
			return
		}
		_, _ = to.Write(buf[:n])
	}
}

func (x *terminal) hush() {
	x.silent.Store(true)
	go x.emu.SendText("x")
	<-x.quiet
	_ = x.emu.Close()
}

func (x *terminal) screen() string {
	x.mu.Lock()
	defer x.mu.Unlock()
	var b strings.Builder
	for row := range x.emu.Height() {
		for col := range x.emu.Width() {
			c := x.emu.CellAt(col, row)
			switch {
			case c != nil && c.Content != "":
				b.WriteString(c.Content)
			case c == nil || c.Width != 0:
				b.WriteByte(' ')
			}
		}
		b.WriteByte('\n')
	}
	return b.String()
}

// until waits for a condition, not for a time.
func (x *terminal) until(what string, ok func() bool) {
	x.t.Helper()
	deadline := time.After(20 * time.Second)
	for !ok() {
		select {
		case <-deadline:
			x.t.Fatalf("never: %s, on:\n%s", what, x.screen())
		case <-time.After(3 * time.Millisecond):
		}
	}
}

func (x *terminal) sees(want ...string) {
	x.t.Helper()
	for _, w := range want {
		x.until("see "+w, func() bool { return strings.Contains(x.screen(), w) })
	}
}

func (x *terminal) keys(names ...string) {
	for _, n := range names {
		x.p.Send(keyMsg(n))
	}
}

func (x *terminal) types(text string) {
	for _, r := range text {
		x.p.Send(tea.KeyPressMsg{Code: r, Text: string(r)})
	}
}

func (x *terminal) ends() {
	x.t.Helper()
	select {
	case err := <-x.done:
		if err != nil {
			x.t.Fatal(err)
		}
	case <-time.After(20 * time.Second):
		x.t.Fatalf("the program does not end:\n%s", x.screen())
	}
}

// engine plays a script as the real engine would: it begins at Start and waits
// where a person is asked.
type engine struct {
	*fake
	acks chan string
	stop chan struct{}
	over chan struct{}
}

func newEngine(outcome recovery.Outcome, proof []recovery.Evidence) *engine {
	e := &engine{fake: newFake(), acks: make(chan string, 4), stop: make(chan struct{}, 1), over: make(chan struct{})}
	s := newScript().toEnd(outcome, proof...)
	e.onStart = func(*fake) {
		go func() {
			defer close(e.over)
			defer e.log.Close()
			for _, ev := range s.events {
				e.log.Publish(ev)
				if ev.Type != recovery.StepWaiting {
					continue
				}
				select {
				case <-e.acks:
				case <-e.stop:
					return
				}
			}
		}()
	}
	return e
}

func (e *engine) Acknowledge(task, by string) { e.fake.Acknowledge(task, by); e.acks <- task }
func (e *engine) Stop()                       { e.fake.Stop(); e.stop <- struct{}{} }

func (e *engine) session() Session {
	s := e.fake.session()
	s.Controls = e
	// Time stands at the run's, and moves with each look, so that the moment of
	// grace passes.
	start := time.Now()
	s.Now = func() time.Time { return now.Add(100 * time.Second).Add(20 * time.Since(start)).In(cet) }
	return s
}

// TestEndToEnd is the whole way on a real program: from the list to the proof.
func TestEndToEnd(t *testing.T) {
	e := newEngine(recovery.OutcomeVerified, goodProof())
	x := open(t, e.session(), 80, 24)
	x.sees("order-processor", "READ-ONLY", "MkU3OEVBNTcw")
	x.keys("enter")
	x.sees("changelog missing", "order-processor-by-sku-repartition")
	x.keys("c")
	x.sees("rebuild from input", "not possible")
	x.keys("enter")
	x.sees("every input", "2 of 2 inputs ticked")
	x.keys("p")
	x.sees("plan sha256:4be1 90c2", "cannot be undone")
	x.keys("a")
	x.sees("Type the application ID")
	x.types("order-processor")
	x.sees("UNLOCKED for this run")
	x.keys("enter")
	for _, task := range []string{"Stop every instance", "Clear the state directories", "Start order-processor."} {
		x.sees("YOUR TURN", task)
		x.until("keys count", func() bool {
			x.keys("d")
			return strings.Contains(x.screen(), "Done? "+task[:10])
		})
		x.keys("enter")
	}
	x.sees("RECOVERED AND PROVEN", "RTO 30m met by 6m 21s", "DONE order-processor")
	<-e.over
	x.until("quit", func() bool {
		x.keys("q")
		return len(x.done) > 0
	})
	x.ends()
	if x.m.Resume != "" {
		t.Errorf("resume %q after the end", x.m.Resume)
	}
	var acks []string
	for _, c := range e.heard() {
		if strings.HasPrefix(c, "acknowledge") {
			acks = append(acks, c)
		}
	}
	if want := []string{"acknowledge stop by mira", "acknowledge clear-state by mira", "acknowledge start by mira"}; !slices.Equal(acks, want) {
		t.Errorf("acknowledged %v", acks)
	}
	if x.emu.IsAltScreen() {
		t.Error("the alternate screen was not left")
	}
}

// TestEndToEndInterrupted: ctrl-c twice stops safely and leaves the command.
func TestEndToEndInterrupted(t *testing.T) {
	e := newEngine(recovery.OutcomeVerified, goodProof())
	s := e.session()
	s.RunID = runID
	x := open(t, s, 120, 40)
	if err := e.Start(samplePlan(), recovery.Approval{PlanID: planID}); err != nil {
		t.Fatal(err)
	}
	x.sees("YOUR TURN", "Stop every instance of order-processor.")
	x.keys("ctrl+c")
	x.sees("Pausing after step 2. ctrl-c again stops safely and quits; c continues.")
	x.keys("ctrl+c")
	x.ends()
	<-e.over
	if x.m.Resume != "resurge resume "+runID {
		t.Errorf("resume %q", x.m.Resume)
	}
	if h := e.heard(); !slices.Contains(h, "pause") || !slices.Contains(h, "stop") {
		t.Error(h)
	}
}

// TestEndToEndColours: the terminal gets colours and bold as cells, and the
// background is asked for.
func TestEndToEndColours(t *testing.T) {
	f := newFake()
	x := open(t, f.session(), 80, 24)
	x.sees("order-processor")
	find := func(text string) (int, int) {
		for row, l := range strings.Split(x.screen(), "\n") {
			if before, _, ok := strings.Cut(l, text); ok {
				return len([]rune(before)), row
			}
		}
		t.Fatalf("no %q on:\n%s", text, x.screen())
		return 0, 0
	}
	col, row := find("lag grows")
	if x.style(col, row).Fg == nil {
		t.Error("a warning has no colour")
	}
	col, row = find("READ-ONLY")
	if x.style(col, row).Attrs&uv.AttrBold == 0 {
		t.Error("the badge is not bold")
	}
	col, row = find("order-processor")
	if x.style(col, row).Attrs&uv.AttrReverse == 0 {
		t.Error("the selected row is not reversed")
	}
	x.keys("q")
	x.ends()
}

// TestSlowCluster: the console answers keys while a question is out, and quits
// without waiting for the answer.
func TestSlowCluster(t *testing.T) {
	f := newFake()
	f.delay = make(chan struct{})
	x := open(t, f.session(), 80, 24)
	x.sees("asking the cluster for its groups")
	x.keys("?")
	x.sees("this screen: applications")
	x.keys("esc", "j", "k", "s", "/", "esc", "enter")
	x.sees("Not now: the list is not there yet")
	x.keys("ctrl+c")
	x.ends()
}

// TestLooksOnARealProgram: names before numbers, a group, a followed application
// and the rights, through the program's own loop.
func TestLooksOnARealProgram(t *testing.T) {
	e := newEngine(recovery.OutcomeVerified, goodProof())
	running(e.fake, nil)
	e.look = catchingUp
	x := open(t, e.session(), 80, 24)
	x.sees("order-processor", "41,204")
	x.keys("g")
	x.sees("applications › groups", "mirror-offsets", "41,202")
	x.keys("esc", "enter")
	x.sees("[overview]", "group stable")
	x.keys("4", "f", "-", "-")
	x.sees("every 1s", "reads ", "orders                      *")
	x.keys("f", "p")
	x.sees("User:ops lacks 2 of the 5 rights")
	x.keys("4")
	x.sees("[backup]")
	x.keys("esc", "esc", "q")
	x.ends()
}

// TestManyEvents: twenty thousand reports, all of it arrives, the last state is
// seen.
func TestManyEvents(t *testing.T) {
	f := newFake()
	s := f.session()
	s.RunID = runID
	x := open(t, s, 80, 24)
	sc := newScript().toWatch()
	for _, e := range sc.events {
		f.log.Publish(e)
	}
	for i := range 20_000 {
		f.log.Publish(recovery.Event{Type: recovery.StepProgress, Time: now, Step: "10", Done: int64(i + 1), Total: 20_000, Unit: "records"})
	}
	x.sees("100 %  20,000 of 20,000 records")
	f.log.Publish(recovery.Event{Seq: 999, Time: now, Type: recovery.RunFinished, Run: runID, Outcome: recovery.OutcomeFailed})
	f.log.Close()
	x.sees("FAILED", "Resume with: resurge resume "+runID)
	x.p.Kill()
	<-x.done
}
