package headless

import (
	"fmt"
	"io"
	"strings"

	"resurge/discovery"
	"resurge/streams"
)

// Groups prints all groups of a cluster; hidden is the number of rows that a
// filter leaves out.
func Groups(w io.Writer, s discovery.GroupSurvey, hidden int) error {
	p := &printer{w: w}
	p.f("cluster %s, %d %s\n\n", streams.Quote(s.Cluster.ID), len(s.Cluster.Brokers), plural(len(s.Cluster.Brokers), "broker"))
	rows := append(make([][]string, 0, 1+len(s.Rows)), []string{"GROUP", "KIND", "STATE", "MEMBERS", "TOPICS", "LAG", ""})
	for _, r := range s.Rows {
		rows = append(rows, []string{r.Group, string(r.Kind), dash(strings.ToLower(r.State)), number(r.Members), number(r.Topics), groupLag(r), rowNote(r)})
	}
	p.table(rows)
	if len(s.Rows)+hidden == 0 {
		p.f("  none that this principal may see\n")
	}
	p.f("\n%d %s", len(s.Rows), plural(len(s.Rows), "group"))
	if hidden > 0 {
		p.f(", %d more left out by the filter", hidden)
	}
	p.f("\n")
	p.gaps(s.Gaps)
	return p.err
}

// groupLag is "-" where there is nothing that could lag.
func groupLag(r discovery.GroupRow) string {
	if r.Lag == nil && r.Fault == nil && (r.Kind == streams.KindShare || r.Partitions != nil && *r.Partitions == 0) {
		return "-"
	}
	return number(r.Lag)
}

func rowNote(r discovery.GroupRow) string {
	switch {
	case r.Fault != nil && r.Fault.Hint != "":
		return "? " + r.Fault.Message + ": " + r.Fault.Hint
	case r.Fault != nil:
		return "? " + r.Fault.Message
	case r.Streams:
		return "Kafka Streams"
	}
	return ""
}

// gaps prints what is not known, and what to do about it.
func (p *printer) gaps(gaps []*streams.Fault) {
	for _, g := range gaps {
		p.f("? not known: %s\n", streams.Quote(g.Error()))
		if g.Hint != "" {
			p.f("  %s\n", streams.Quote(g.Hint))
		}
	}
}

// DescribeGroup prints a group that is no application of Kafka Streams.
func DescribeGroup(w io.Writer, inv discovery.Inventory, d discovery.Diagnosis) error {
	p := &printer{w: w}
	g := inv.Group
	p.f("group %s on cluster %s\n%s", streams.Quote(inv.Application), streams.Quote(inv.Cluster.ID), dash(string(inv.Kind)))
	p.f(", %s, %d %s", groupState(g), len(g.Members), plural(len(g.Members), "member"))
	if g.Assignor != "" {
		p.f(", assignor %s", streams.Quote(g.Assignor))
	}
	p.f(", coordinator %d\n", g.Coordinator)
	p.activity(inv)
	p.f("\n")
	for _, f := range d.Findings {
		p.finding(f)
	}
	p.clocks(d.Clocks)
	p.offsets(inv)
	p.consumers(inv)
	p.unseen(inv.Unseen)
	return p.err
}

// offsets prints every partition that the group reads.
func (p *printer) offsets(inv discovery.Inventory) {
	rows := [][]string{{"TOPIC", "PARTITION", "COMMITTED", "START", "END", "LAG", "COMMITTED AT", "READ BY"}}
	client := map[string]string{}
	for _, m := range inv.Group.Members {
		client[m.ID] = m.ClientID
	}
	for _, t := range inv.Topics {
		for _, s := range t.Partitions {
			committed, at := "none", "-"
			switch {
			case s.Committed != nil:
				committed, at = Group(s.Committed.Offset), "?"
				if !s.CommittedAt.IsZero() {
					at = Short(inv.TakenAt.Sub(s.CommittedAt)) + " ago"
				}
			case s.Fault != nil || inv.CommitsFault != nil:
				committed = "?"
			}
			lag := number(s.Lag)
			if s.Committed == nil && committed == "none" {
				lag = "-"
			}
			rows = append(rows, []string{t.Name, fmt.Sprint(s.Partition), committed, number(s.Start), number(s.End), lag, at, dash(client[s.Owner])})
		}
		if t.Fault != nil {
			rows = append(rows, []string{t.Name, "?", "?", "?", "?", "?", "", t.Fault.Message})
		}
	}
	if len(rows) > 1 {
		p.f("\n")
		p.table(rows)
	}
}

// consumers prints the members with what they are assigned.
func (p *printer) consumers(inv discovery.Inventory) {
	if len(inv.Group.Members) == 0 {
		return
	}
	p.f("\n")
	rows := append(make([][]string, 0, 1+len(inv.Group.Members)), []string{"MEMBER", "HOST", "INSTANCE", "PARTITIONS"})
	for _, m := range inv.Group.Members {
		assigned := make([]string, len(m.Assigned))
		for i, tp := range m.Assigned {
			assigned[i] = tp.String()
		}
		rows = append(rows, []string{m.ClientID, strings.TrimPrefix(m.Host, "/"), dash(m.InstanceID), dash(strings.Join(assigned, " "))})
	}
	p.table(rows)
	for _, m := range inv.Group.Members {
		if m.Fault != nil {
			p.f("  ? %s\n", streams.Quote(m.Fault.Error()))
		}
	}
}
