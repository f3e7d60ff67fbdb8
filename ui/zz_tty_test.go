package ui

import (
	"os"
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"

	"resurge/recovery"
)

func TestTTY(t *testing.T) {
	tty, err := os.OpenFile("/dev/tty", os.O_RDWR, 0)
	if err != nil {
		t.Skip(err)
	}
	e := newEngine(recovery.OutcomeVerified, goodProof())
	s := e.session()
	start := time.Now()
	s.Now = func() time.Time { return now.Add(time.Since(start)).In(cet) }
	m := New(t.Context(), s)
	_, err = tea.NewProgram(m, tea.WithInput(tty), tea.WithOutput(tty)).Run()
	t.Log(err, m.Resume)
}
