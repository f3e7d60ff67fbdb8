package headless

import (
	"fmt"
	"io"

	"resurge/recovery"
	"resurge/streams"
)

// Preflight prints the rights that a purpose takes, what is missing first, and
// the commands that add it.
func Preflight(w io.Writer, f recovery.Preflight) error {
	p := &printer{w: w}
	who := f.Cluster.Principal
	if who == "" {
		who = "this principal"
	}
	p.f("rights of %s for %s of %s on cluster %s\n\n", streams.Quote(who), f.Purpose, streams.Quote(f.Application), streams.Quote(f.Cluster.ID))
	rows := append(make([][]string, 0, 1+len(f.Needs)), []string{"HELD", "OPERATION", "ON", "NAME", "FOR"})
	var commands []string
	for _, n := range f.Needs {
		why := n.Why
		if n.Optional {
			why += " (not needed to go on)"
		}
		rows = append(rows, []string{string(n.Held), string(n.Operation), n.Resource, n.Name, why})
		if n.Held == recovery.HeldNo {
			commands = append(commands, n.Command)
		}
	}
	p.table(rows)
	p.f("\n%s\n", preflightResult(f))
	for _, c := range commands {
		p.f("  %s\n", streams.Quote(c))
	}
	p.gaps(f.Gaps)
	return p.err
}

func preflightResult(f recovery.Preflight) string {
	missing := f.Missing()
	unknown := 0
	for _, n := range missing {
		if n.Held == recovery.HeldUnknown {
			unknown++
		}
	}
	switch refused := len(missing) - unknown; {
	case len(missing) == 0:
		return "everything that it needs is held"
	case refused == 0:
		return fmt.Sprintf("%d %s not told by the broker", unknown, plural(unknown, "right")+" "+map[bool]string{true: "is", false: "are"}[unknown == 1])
	default:
		return fmt.Sprintf("%d of %d needed rights are missing; a person with ALTER on the cluster adds them:", refused, len(f.Needs))
	}
}
