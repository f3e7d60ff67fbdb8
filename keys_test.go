package main

import (
	"flag"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"resurge/ui"
)

var update = flag.Bool("update", false, "rewrite docs/keys.md")

// The key table of the documentation is made from the records that the console
// itself uses.
func TestKeyTableIsCurrent(t *testing.T) {
	var b strings.Builder
	b.WriteString("# Keys of the console\n\nMade from the console's own actions (`go test -run TestKeyTable . -update`).\n")
	screen := ""
	for _, k := range ui.KeyTable() {
		if k.Screen != screen {
			screen = k.Screen
			fmt.Fprintf(&b, "\n## %s\n\n| key | what it does |\n|---|---|\n", screen)
		}
		fmt.Fprintf(&b, "| `%s` | %s |\n", strings.ReplaceAll(k.Keys, "|", "\\|"), k.Help)
	}
	if *update {
		if err := os.WriteFile("docs/keys.md", []byte(b.String()), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile("docs/keys.md")
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), b.String()); diff != "" {
		t.Error(diff)
	}
}
