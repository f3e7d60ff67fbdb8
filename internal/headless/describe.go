package headless

import (
	"io"
	"slices"
	"strings"

	"resurge/discovery"
	"resurge/recovery"
	"resurge/streams"
)

// Describe prints one application: findings first, then what runs out, its
// topics, tasks and members, and the ways back.
func Describe(w io.Writer, inv discovery.Inventory, a recovery.Assessment) error {
	p := &printer{w: w}
	p.heading(inv)
	for _, f := range a.Findings {
		p.finding(f)
	}
	p.clocks(a.Clocks)
	p.f("\n")
	rows := append(make([][]string, 0, 1+len(inv.Topics)), []string{"ROLE", "TOPIC", "KIND", "PARTS", "RECORDS", "LAG", "WHY"})
	for _, t := range inv.Topics {
		rows = append(rows, topicRow(t))
	}
	p.table(rows)
	p.tasks(inv)
	p.members(inv.Group)
	p.f("\nways back:\n")
	for _, o := range a.Options {
		p.option(o)
	}
	p.unseen(inv.Unseen)
	return p.err
}

func (p *printer) finding(f discovery.Finding) {
	p.f("  %-2s %-21s %s\n", levelMark(f.Level), streams.Quote(f.Name), streams.Quote(f.Detail))
	if f.Advice != "" {
		p.f("     %-21s %s\n", "", streams.Quote(f.Advice))
	}
}

// unseen prints what would have added detail.
func (p *printer) unseen(faults []*streams.Fault) {
	for _, f := range faults {
		p.f("\n- not seen: %s\n", streams.Quote(f.Error()))
		if f.Hint != "" {
			p.f("  %s\n", streams.Quote(f.Hint))
		}
	}
}

// heading says what is described, on which cluster, and why it is taken for an
// application of Kafka Streams.
func (p *printer) heading(inv discovery.Inventory) {
	g := inv.Group
	p.f("%s on cluster %s\ngroup: %s, %s protocol, %d %s", streams.Quote(inv.Application), streams.Quote(inv.Cluster.ID), groupState(g), g.Protocol, len(g.Members), plural(len(g.Members), "member"))
	p.f("\n")
	p.activity(inv)
	if who := inv.Cluster.Principal; who != "" {
		p.f("seen as %s\n", streams.Quote(who))
	}
	if len(inv.Signs) > 0 {
		p.f("Kafka Streams: %s\n", streams.Quote(strings.Join(inv.Signs, "; ")))
	} else {
		p.f("no sign of Kafka Streams\n")
	}
	p.f("\n")
}

// activity says when the group last did something.
func (p *printer) activity(inv discovery.Inventory) {
	act := inv.Activity
	if act == nil {
		return
	}
	var parts []string
	switch {
	case !act.LastCommit.IsZero():
		parts = append(parts, "last commit "+Short(inv.TakenAt.Sub(act.LastCommit))+" ago")
	case !act.Since.IsZero():
		parts = append(parts, "no commit since "+act.Since.UTC().Format("2006-01-02 15:04 UTC"))
	}
	if !act.Emptied.IsZero() && len(inv.Group.Members) == 0 {
		parts = append(parts, "empty since "+act.Emptied.UTC().Format("2006-01-02 15:04:05 UTC"))
	}
	if len(parts) > 0 {
		p.f("%s\n", strings.Join(parts, ", "))
	}
}

func (p *printer) clocks(clocks []discovery.Clock) {
	for i, c := range clocks {
		if i == 0 {
			p.f("\nclocks:\n")
		}
		left := "-"
		switch {
		case c.Left != nil && *c.Left < 0:
			left = "over"
		case c.Left != nil:
			left = Short(*c.Left)
		case c.Level == discovery.LevelUnknown:
			left = "?"
		}
		p.f("  %-2s %-21s %-8s %s\n", levelMark(c.Level), streams.Quote(c.Name), left, streams.Quote(c.Detail))
		if c.Advice != "" {
			p.f("     %-21s %-8s %s\n", "", "", streams.Quote(c.Advice))
		}
	}
}

func groupState(g streams.Group) string {
	switch {
	case g.Fault != nil:
		return "unknown (" + streams.Quote(g.Fault.Message) + ")"
	case !g.Exists:
		return "does not exist"
	}
	return streams.Quote(strings.ToLower(g.State))
}

func topicRow(t discovery.Topic) []string {
	records, lag := "?", "-"
	if n, ok := t.Records(); ok {
		records = Group(n)
	}
	if t.Role == streams.RoleInput || t.Role == streams.RoleRepartition {
		lag = "?"
		if n, ok := t.Lag(); ok {
			lag = Group(n)
		}
	}
	return []string{roleName(t), t.Name, topicKind(t), Group(int64(len(t.Partitions))), records, lag, strings.Join(t.Evidence, "; ")}
}

func roleName(t discovery.Topic) string {
	switch {
	case t.Role == streams.RoleLookalike && t.Ambiguous:
		return "not proven"
	case t.Role == streams.RoleLookalike:
		return "not ours"
	}
	return string(t.Role)
}

// topicKind is what is special about a topic of its role.
func topicKind(t discovery.Topic) string {
	switch {
	case t.StoreKind != "":
		return t.StoreKind
	case t.TableSource:
		return "table source"
	case t.Role == streams.RoleRepartition && t.Internal != "" && t.Internal != streams.KindRepartition:
		return string(t.Internal)
	}
	return "-"
}

// tasks prints where the tasks run; members by their client IDs.
func (p *printer) tasks(inv discovery.Inventory) {
	if len(inv.Tasks) == 0 {
		return
	}
	name := map[string]string{}
	for _, m := range inv.Group.Members {
		name[m.ID] = m.ClientID
	}
	where := func(ids []string) string {
		out := make([]string, len(ids))
		for i, id := range ids {
			out[i] = name[id]
		}
		return dash(strings.Join(out, " "))
	}
	p.f("\n")
	rows := [][]string{{"TASK", "ACTIVE", "STANDBY", "WARMUP", "LAG", "READS"}}
	for _, t := range inv.Tasks {
		sources := make([]string, len(t.Sources))
		for i, tp := range t.Sources {
			sources[i] = tp.String()
		}
		lag := "-"
		if t.Lag != nil {
			lag = Group(*t.Lag)
		}
		active := where(t.Active)
		if len(t.Active) == 0 {
			active = "nobody"
		}
		rows = append(rows, []string{t.ID.String(), active, where(t.Standby), where(t.Warmup), lag, dash(strings.Join(sources, " "))})
	}
	p.table(rows)
}

func (p *printer) members(g streams.Group) {
	if len(g.Members) == 0 {
		return
	}
	p.f("\n")
	rows := [][]string{{"MEMBER", "HOST", "ENDPOINT", "ACTIVE", "STANDBY"}}
	for _, m := range g.Members {
		rows = append(rows, []string{m.ClientID, strings.TrimPrefix(m.Host, "/"), dash(m.Endpoint), dash(tasks(m.Active)), dash(tasks(m.Standby))})
	}
	p.table(rows)
	for _, m := range g.Members {
		if m.Fault != nil {
			p.f("  ? %s\n", streams.Quote(m.Fault.Error()))
		}
	}
}

func tasks(ids []streams.TaskID) string {
	var out []string
	for _, t := range ids {
		if s := t.String(); !slices.Contains(out, s) {
			out = append(out, s)
		}
	}
	return strings.Join(out, " ")
}
