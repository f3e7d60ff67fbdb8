package main

import (
	"context"
	"io"
	"log/slog"
	"runtime"
	"strings"
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"

	"resurge/internal/sandbox"
	"resurge/kafka"
	"resurge/ui"
)

// framed measures a console from outside: each frame, and when the application
// is first on it. It ends the program after enough frames.
type framed struct {
	inner  tea.Model
	name   string
	begun  time.Time
	first  time.Duration // until the application was shown
	frames int
	spent  time.Duration
	enough int
}

func (f *framed) Init() tea.Cmd { return f.inner.Init() }

func (f *framed) Update(msg tea.Msg) (tea.Model, tea.Cmd) {
	at := time.Now()
	inner, cmd := f.inner.Update(msg)
	f.inner = inner
	f.spent += time.Since(at)
	if f.frames >= f.enough {
		return f, tea.Quit
	}
	if f.first > 0 { // keep moving: every key is a frame
		key := tea.KeyPressMsg{Code: 'j', Text: "j"}
		if f.frames%2 == 0 {
			key = tea.KeyPressMsg{Code: 'k', Text: "k"}
		}
		return f, tea.Batch(cmd, func() tea.Msg { return key })
	}
	return f, cmd
}

func (f *framed) View() tea.View {
	at := time.Now()
	v := f.inner.View()
	f.spent += time.Since(at)
	if f.first == 0 && strings.Contains(v.Content, f.name) && strings.Contains(v.Content, "changelog") {
		f.first, f.spent, f.frames = time.Since(f.begun), 0, 0
	}
	f.frames++
	return v
}

// BenchmarkConsole prints what the console costs on the embedded cluster: from
// the command to the first screen with the application on it, the time of a
// frame (Update and View, 120x40), and the memory that is held.
func BenchmarkConsole(b *testing.B) {
	for b.Loop() {
		begun := time.Now()
		box, err := sandbox.Start(b.Context(), sandbox.Options{Log: slog.New(slog.DiscardHandler), Dir: b.TempDir()})
		if err != nil {
			b.Fatal(err)
		}
		cluster, err := kafka.Dial(b.Context(), kafka.ClientConfig{Bootstrap: box.Bootstrap()}, kafka.Options{})
		if err != nil {
			b.Fatal(err)
		}
		r := &rehearsal{box: box, link: &link{cluster: cluster, reader: cluster.Reader(), drill: true}, app: rehearsedApplication(box)}
		ctx, cancel := context.WithCancel(b.Context())
		d, err := (&cli{stdout: io.Discard, stderr: io.Discard}).newDesk(ctx, r)
		if err != nil {
			b.Fatal(err)
		}
		model := ui.New(ctx, ui.Session{Explorer: d, Controls: d, Events: d, Drill: true, Application: box.Application(), Operator: "bench", Incident: begun, Now: now})
		f := &framed{inner: model, name: box.Application(), begun: begun, enough: 1000}
		if _, err := tea.NewProgram(f, tea.WithInput(nil), tea.WithOutput(io.Discard), tea.WithWindowSize(120, 40), tea.WithoutSignals()).Run(); err != nil {
			b.Fatal(err)
		}
		var mem runtime.MemStats
		runtime.GC()
		runtime.ReadMemStats(&mem)
		b.ReportMetric(f.first.Seconds(), "s/first-screen")
		b.ReportMetric(float64(f.spent.Microseconds())/float64(f.frames), "µs/frame")
		b.ReportMetric(float64(mem.HeapAlloc)/(1<<20), "MB-heap-with-cluster")
		b.ReportMetric(float64(mem.Sys)/(1<<20), "MB-sys-with-cluster")
		cancel()
		cluster.Close()
		if err := box.Close(); err != nil {
			b.Fatal(err)
		}
	}
}
