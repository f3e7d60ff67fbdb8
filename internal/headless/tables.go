package headless

import (
	"fmt"
	"io"
	"strings"
	"text/tabwriter"
	"time"

	"resurge/discovery"
	"resurge/plans"
	"resurge/recovery"
	"resurge/streams"
)

// printer collects the first write error, so that a page reads as it prints.
type printer struct {
	w   io.Writer
	err error
}

func (p *printer) f(format string, args ...any) {
	if p.err == nil {
		_, p.err = fmt.Fprintf(p.w, format, args...)
	}
}

// table prints rows in columns. Cells are made safe here.
func (p *printer) table(rows [][]string) {
	t := tabwriter.NewWriter(p.w, 2, 0, 2, ' ', 0)
	for _, r := range rows {
		for i := range r {
			r[i] = streams.Quote(r[i])
		}
		if p.err == nil {
			_, p.err = fmt.Fprintln(t, strings.TrimRight("  "+strings.Join(r, "\t"), "\t"))
		}
	}
	if p.err == nil {
		p.err = t.Flush()
	}
}

func levelMark(l discovery.Level) string {
	switch l {
	case discovery.LevelOK:
		return "ok"
	case discovery.LevelInfo:
		return "-"
	case discovery.LevelLook:
		return "!"
	case discovery.LevelBad:
		return "x"
	case discovery.LevelUnknown:
	}
	return "?"
}

func number[T int | int64](n *T) string {
	if n == nil {
		return "?"
	}
	return Group(int64(*n))
}

// Apps prints the applications of a cluster.
func Apps(w io.Writer, s discovery.Survey) error {
	p := &printer{w: w}
	p.f("cluster %s, %d %s\n\n", streams.Quote(s.Cluster.ID), len(s.Cluster.Brokers), plural(len(s.Cluster.Brokers), "broker"))
	rows := append(make([][]string, 0, 1+len(s.Rows)), []string{"", "APPLICATION", "STATE", "PROTOCOL", "MEMBERS", "STORES", "LAG", "WORST"})
	for _, r := range s.Rows {
		rows = append(rows, []string{
			levelMark(r.Level), r.Application, strings.ToLower(r.State), string(r.Protocol),
			number(r.Members), number(r.Stores), number(r.Lag), r.Worst,
		})
	}
	p.table(rows)
	if len(s.Rows) == 0 {
		p.f("  none that this principal may see\n")
	}
	p.f("\n%d other groups are not Kafka Streams applications\n", s.Others)
	for _, g := range s.Gaps {
		p.f("? not known: %s\n", streams.Quote(g.Error()))
	}
	return p.err
}

func dash(s string) string {
	if s == "" {
		return "-"
	}
	return s
}

func (p *printer) option(o recovery.Option) {
	mark := "-"
	if o.Available {
		mark = "ok"
	}
	p.f("  %-2s %-18s %s\n", mark, o.Strategy, streams.Quote(o.Reason))
	if e := o.Estimate; e != nil {
		p.f("     %-18s %s to %s for %s records, %s %s\n", "", Short(e.Low), Short(e.High), Group(e.Records), source(e), streams.Quote(e.From))
	}
	for _, n := range o.Notes {
		p.f("     %-18s %s\n", "", streams.Quote(n))
	}
}

// Plan prints a plan for reading before approval.
func Plan(w io.Writer, pl plans.Plan) error {
	p := &printer{w: w}
	p.f("plan %s\n%s for %s on cluster %s\n%s\n\n", pl.ID, pl.Strategy, streams.Quote(pl.Application), streams.Quote(pl.ClusterID), streams.Quote(pl.Summary))
	for _, warning := range pl.Warnings {
		p.f("  ! %s\n", streams.Quote(warning))
	}
	p.f("\n")
	for _, s := range pl.Steps {
		p.step(s)
	}
	if n := len(pl.Destructive()); n > 0 {
		p.f("\n%d %s cannot be taken back.\n", n, plural(n, "step"))
	}
	p.f("Nothing was changed.\n")
	return p.err
}

func plural(n int, word string) string {
	if n == 1 {
		return word
	}
	return word + "s"
}

func (p *printer) step(s plans.Step) {
	p.f("%4s  %-12s %s\n", s.ID, s.Risk, streams.Quote(s.Title))
	if s.Kind == plans.DeleteTopic {
		t := s.Topics[0]
		p.f("%19s%d partitions, %s records, id %s\n%19swhy ours: %s\n", "", t.Partitions, known(t.Records), t.ID, "", streams.Quote(t.Why))
	}
	for _, c := range s.Offsets {
		p.f("%19s%-40s %14s -> %s%s\n", "", streams.Quote(c.TopicPartition().String()), before(c.Before), before(c.After), note(c.Note))
	}
	if s.Task != nil {
		for _, d := range s.Task.Details {
			p.f("%19s%s\n", "", streams.Quote(d))
		}
		if s.Task.Hook {
			p.f("%19sruns by itself: a hook is configured\n", "")
		}
	}
	for _, line := range s.CLI {
		p.f("%19s$ %s\n", "", streams.Quote(line))
	}
}

func known(n int64) string {
	if n < 0 {
		return "?"
	}
	return Group(n)
}

func before(n *int64) string {
	if n == nil {
		return "none"
	}
	return Group(*n)
}

func note(s string) string {
	if s == "" {
		return ""
	}
	return "  (" + streams.Quote(s) + ")"
}

// RunRow is one run in the list of runs.
type RunRow struct {
	ID          string        `json:"run"`
	Application string        `json:"application"`
	ClusterID   string        `json:"cluster_id"`
	Strategy    string        `json:"strategy"`
	PlanID      string        `json:"plan_id"`
	Outcome     string        `json:"outcome"`
	StepsDone   int           `json:"steps_done"`
	Steps       int           `json:"steps"`
	Began       time.Time     `json:"began,omitzero"`
	Finished    time.Time     `json:"finished,omitzero"`
	Clock       time.Duration `json:"clock_ns,omitempty"`
	// Problem says why the run's journal cannot be read.
	Problem string `json:"problem,omitempty"`
}

// Runs prints the runs of this machine, newest first.
func Runs(w io.Writer, rows []RunRow) error {
	p := &printer{w: w}
	if len(rows) == 0 {
		p.f("no runs yet\n")
		return p.err
	}
	out := [][]string{{"RUN", "APPLICATION", "STRATEGY", "BEGAN", "STEPS", "OUTCOME", "CLOCK"}}
	for _, r := range rows {
		if r.Problem != "" {
			out = append(out, []string{r.ID, "?", "?", "?", "?", r.Problem})
			continue
		}
		clock := "-"
		if r.Clock > 0 {
			clock = Short(r.Clock)
		}
		out = append(out, []string{r.ID, r.Application, r.Strategy, r.Began.UTC().Format("2006-01-02 15:04 UTC"), fmt.Sprintf("%d/%d", r.StepsDone, r.Steps), strings.ReplaceAll(r.Outcome, "_", " "), clock})
	}
	p.table(out)
	return p.err
}

func source(e *recovery.Estimate) string {
	if e.Assumed {
		return "assumed"
	}
	return "from"
}
