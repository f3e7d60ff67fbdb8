package headless

import (
	"fmt"
	"io"
	"time"

	"resurge/discovery"
	"resurge/streams"
)

// Diff prints what moved between two snapshots.
func Diff(w io.Writer, d discovery.Differences) error {
	p := &printer{w: w}
	for _, s := range []struct {
		name string
		ref  discovery.SnapshotRef
	}{{"before", d.Before}, {"after", d.After}} {
		p.f("%-6s  %s on cluster %s at %s\n", s.name, streams.Quote(s.ref.Application), streams.Quote(s.ref.ClusterID), s.ref.TakenAt.UTC().Format(time.RFC3339))
	}
	switch {
	case d.OtherCluster:
		p.f("x  these are two clusters: nothing below says that anything moved\n")
	case d.OtherApplication:
		p.f("x  these are two applications: nothing below says that anything moved\n")
	case d.Reversed:
		p.f("!  the second is the older one\n")
	}
	if d.Elapsed != nil {
		p.f("elapsed %s\n", Short(*d.Elapsed))
	}
	if d.Lag != nil {
		p.f("lag     %s\n", moved(d.Lag))
	}
	if d.Same() {
		p.f("\nnothing is known to differ\n")
	}
	p.changes(d)
	p.moves(d.Moves)
	for i, u := range d.Unknown {
		if i == 0 {
			p.f("\n")
		}
		p.f("?  not compared: %s\n", streams.Quote(u))
	}
	return p.err
}

func (p *printer) changes(d discovery.Differences) {
	for i, c := range d.Changes {
		if i == 0 {
			p.f("\n")
		}
		p.f("%-2s %s: %s", levelMark(c.Level), streams.Quote(c.Subject), changeName(c.Kind))
		if c.Before != "" || c.After != "" {
			p.f(": %s → %s", streams.Quote(dash(c.Before)), streams.Quote(dash(c.After)))
		}
		if c.Detail != "" {
			p.f(" (%s)", streams.Quote(c.Detail))
		}
		p.f("\n")
	}
}

func changeName(k discovery.ChangeKind) string {
	if k == discovery.TopicRecreated {
		return "another generation"
	}
	out := []byte(k)
	for i := range out {
		if out[i] == '_' {
			out[i] = ' '
		}
	}
	return string(out)
}

func (p *printer) moves(moves []discovery.PartitionMove) {
	if len(moves) == 0 {
		return
	}
	p.f("\n")
	rows := append(make([][]string, 0, 1+len(moves)), []string{"TOPIC", "PARTITION", "COMMITTED", "LOG START", "END"})
	for _, m := range moves {
		rows = append(rows, []string{m.Topic, fmt.Sprint(m.Partition), moved(m.Committed), moved(m.Start), moved(m.End)})
	}
	p.table(rows)
}

// moved writes one number before and after: "4 → 5 (+1, 0.2/s)".
func moved(m *discovery.Move) string {
	if m == nil {
		return "-"
	}
	text := func(n *int64) string {
		if n == nil {
			return "none"
		}
		return Group(*n)
	}
	out := text(m.Before) + " → " + text(m.After)
	if m.By != nil {
		out += fmt.Sprintf(" (%+d", *m.By)
		if m.PerSecond != nil {
			out += fmt.Sprintf(", %.1f/s", *m.PerSecond)
		}
		out += ")"
	}
	if m.Kind == discovery.MoveGeneration {
		out += " another generation"
	}
	return out
}
