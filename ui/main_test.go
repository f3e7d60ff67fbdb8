package ui

import (
	"testing"

	"go.uber.org/goleak"
)

// TestMain looks for goroutines that are left. Bubble Tea's own reader may stay
// in a send when the terminal answers a question while the program ends.
func TestMain(m *testing.M) {
	goleak.VerifyTestMain(m, goleak.IgnoreAnyFunction("github.com/charmbracelet/ultraviolet.(*TerminalReader).sendEvents"))
}
