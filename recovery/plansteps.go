package recovery

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"resurge/discovery"
	"resurge/plans"
	"resurge/streams"
)

const undoBySaved = "resurge undo: from the saved offsets"

// rebuild lays out the steps. The order is the safety: everything reversible
// first, deletions one by one after it, local state last before the start, so
// that a run that ends early leaves the most to go back to.
func (b *builder) rebuild(offsets []plans.OffsetChange, internal []discovery.Topic) {
	touched := b.touched(offsets, internal)
	b.save("save offsets, configs and topic IDs as they are now", touched)
	if !b.req.NoStop {
		b.task(plans.TaskStop, "stop every instance of "+b.inv.Application, "a running instance would process while its offsets and topics change", b.stopDetails())
	}
	if b.req.RemoveMembers && len(b.inv.Group.Members) > 0 {
		b.removeMembers()
	}
	b.awaits()
	b.save("save offsets again, as the stopped application left them", touched)
	b.add(plans.Step{
		Kind: plans.CommitOffsets, Risk: plans.Reversible, Undo: undoBySaved, Offsets: offsets,
		Title: fmt.Sprintf("commit offsets for %d input %s", len(offsets), plural(len(offsets), "partition")),
		CLI:   resetCLI(b.inv, offsets),
	})
	for _, t := range internal {
		b.delete(t)
	}
	if b.req.RecreateRepartition {
		b.recreate(internal)
	}
	b.task(plans.TaskClearState, "clear the state directories on every instance, with the application stopped",
		"old state would be mixed with the replay: an at-least-once application then silently counts everything twice", b.stateDetails())
	if b.req.NoStart {
		return
	}
	b.task(plans.TaskStart, "start "+b.inv.Application, "the application rebuilds its own state", nil)
	b.add(plans.Step{
		Kind: plans.AwaitCaughtUp, Risk: plans.ReadOnly, Deadline: seconds(b.req.CaughtUpWithin, DefaultCaughtUpWithin),
		Title: "wait for the target vector and drained repartition topics", Topics: touched,
	})
	b.add(plans.Step{Kind: plans.ProveState, Risk: plans.ReadOnly, Deadline: 120, Title: "prove the state: ask it and compare with its changelogs", Topics: touched})
}

func (b *builder) awaits() {
	app := streams.ShellQuote(b.inv.Application)
	b.add(plans.Step{
		Kind: plans.AwaitEmpty, Risk: plans.ReadOnly, Deadline: seconds(b.req.EmptyWithin, DefaultEmptyWithin),
		Title: "wait until the group has no members",
		CLI:   []string{groupsTool(b.inv) + " --describe --group " + app + " --state"},
	})
	b.add(plans.Step{
		Kind: plans.AwaitTransactions, Risk: plans.ReadOnly, Deadline: seconds(0, transactionsWithin),
		Title: "wait until no transaction of the application is open",
		CLI:   []string{`kafka-transactions.sh --bootstrap-server "$BOOTSTRAP" list --transactional-id-pattern ` + streams.ShellQuote("^"+b.inv.Application+"-.*")},
	})
}

func seconds(d, fallback time.Duration) int {
	if d <= 0 {
		d = fallback
	}
	return int(max(d, time.Second) / time.Second)
}

func (b *builder) save(title string, touched []plans.Topic) {
	b.add(plans.Step{Kind: plans.SaveState, Risk: plans.ReadOnly, Title: title, Topics: touched})
}

// touched are the topics that the plan reads or changes, inputs first.
func (b *builder) touched(offsets []plans.OffsetChange, internal []discovery.Topic) []plans.Topic {
	var out []plans.Topic
	for _, c := range offsets {
		if t, ok := b.inv.Topic(c.Topic); ok && !slices.ContainsFunc(out, func(o plans.Topic) bool { return o.Name == t.Name }) {
			out = append(out, planTopic(t))
		}
	}
	for _, t := range internal {
		out = append(out, planTopic(t))
	}
	return out
}

func planTopic(t discovery.Topic) plans.Topic {
	records, ok := t.Records()
	if !ok {
		records = -1
	}
	role := t.Role
	if internal := strings.HasSuffix(t.Name, "-changelog"); role == streams.RoleLookalike {
		role = streams.RoleRepartition
		if internal {
			role = streams.RoleChangelog
		}
	}
	return plans.Topic{
		Name: t.Name, ID: t.ID, Role: role, Partitions: len(t.Partitions),
		Records: records, Why: strings.Join(t.Evidence, "; "),
	}
}

func (b *builder) task(name, ask, why string, details []string) {
	b.add(plans.Step{
		Kind: plans.OperatorTask, Risk: plans.ByOperator, Title: ask,
		Task: &plans.Task{Name: name, Ask: ask, Why: why, Details: details, Hook: slices.Contains(b.req.Hooks, name)},
	})
}

// stopDetails names the instances that are known now.
func (b *builder) stopDetails() []string {
	out := make([]string, 0, len(b.inv.Group.Members))
	for _, m := range b.inv.Group.Members {
		out = append(out, "member "+m.ClientID+" on "+m.Host)
	}
	return out
}

// stateDetails are the exact directories per instance.
func (b *builder) stateDetails() []string {
	dir := b.inv.Hints.StateDir
	note := ""
	if dir == "" {
		dir, note = "<state.dir>", " (state.dir is not configured here; Kafka's default is <java.io.tmpdir>/kafka-streams)"
	}
	app, global := streams.AppDir(dir, b.inv.Application), streams.GlobalDir(dir, b.inv.Application)
	hosts := map[string]bool{}
	for _, m := range b.inv.Group.Members {
		hosts[strings.TrimPrefix(m.Host, "/")] = true
	}
	var out []string
	for _, h := range slices.Sorted(maps.Keys(hosts)) {
		out = append(out, fmt.Sprintf("on %s: rm -rf %s", h, streams.ShellQuote(app)))
	}
	if len(out) == 0 {
		out = append(out, "on every host that ever ran it: rm -rf "+streams.ShellQuote(app))
	}
	return append(out, "that includes "+global+" and hosts or volumes now scaled away"+note)
}

func (b *builder) removeMembers() {
	s := plans.Step{
		Kind: plans.RemoveMembers, Risk: plans.Destructive, Title: "remove the members that are still in the group",
		Undo: "none: the members join again by themselves if they still run",
	}
	for _, m := range b.inv.Group.Members {
		s.Members = append(s.Members, plans.Member{ID: m.ID, InstanceID: m.InstanceID, ClientID: m.ClientID, Host: m.Host})
	}
	b.add(s)
}

func (b *builder) delete(t discovery.Topic) {
	undo := "none: its records are gone, the replay writes them again"
	b.add(plans.Step{
		Kind: plans.DeleteTopic, Risk: plans.Destructive, Title: "delete " + string(planTopic(t).Role) + " topic " + t.Name,
		Topics: []plans.Topic{withConfigs(planTopic(t), t)}, Undo: undo, Deadline: seconds(0, deletedWithin),
		CLI: []string{`kafka-topics.sh --bootstrap-server "$BOOTSTRAP" --delete --topic ` + streams.ShellQuote(t.Name)},
	})
}

// withConfigs adds what it takes to create the topic again.
func withConfigs(p plans.Topic, t discovery.Topic) plans.Topic {
	p.ReplicationFactor = t.ReplicationFactor
	for k, v := range t.Configs {
		if v.Dynamic {
			if p.Configs == nil {
				p.Configs = map[string]string{}
			}
			p.Configs[k] = v.Value
		}
	}
	return p
}

// recreate creates the repartition topics again and commits offset 0, so that
// an application whose reset policy is latest misses nothing (internals 7.5).
func (b *builder) recreate(internal []discovery.Topic) {
	var offsets []plans.OffsetChange
	for _, t := range internal {
		p := withConfigs(planTopic(t), t)
		if p.Role != streams.RoleRepartition {
			continue
		}
		p.ID, p.Records = streams.TopicID{}, 0
		b.add(plans.Step{
			Kind: plans.CreateTopic, Risk: plans.Reversible, Title: "create repartition topic " + t.Name + " again, empty",
			Topics: []plans.Topic{p}, Undo: "delete it; the application creates it when it starts", CLI: []string{createCLI(p)},
		})
		for i := range p.Partitions {
			zero := int64(0)
			offsets = append(offsets, plans.OffsetChange{Topic: t.Name, Partition: int32(i), After: &zero})
		}
	}
	if len(offsets) > 0 {
		b.add(plans.Step{
			Kind: plans.CommitOffsets, Risk: plans.Reversible, Undo: undoBySaved, Offsets: offsets,
			Title: fmt.Sprintf("commit offset 0 for %d repartition %s", len(offsets), plural(len(offsets), "partition")),
			CLI:   resetCLI(b.inv, offsets),
		})
	}
}

func createCLI(t plans.Topic) string {
	var c strings.Builder
	fmt.Fprintf(&c, `kafka-topics.sh --bootstrap-server "$BOOTSTRAP" --create --topic %s --partitions %d`, streams.ShellQuote(t.Name), t.Partitions)
	if t.ReplicationFactor > 0 {
		fmt.Fprintf(&c, " --replication-factor %d", t.ReplicationFactor)
	}
	for _, k := range slices.Sorted(maps.Keys(t.Configs)) {
		fmt.Fprintf(&c, " --config %s", streams.ShellQuote(k+"="+t.Configs[k]))
	}
	return c.String()
}

const consumerGroups = `kafka-consumer-groups.sh --bootstrap-server "$BOOTSTRAP"`

func groupsTool(inv discovery.Inventory) string {
	if inv.Group.Protocol == streams.ProtocolStreams {
		return `kafka-streams-groups.sh --bootstrap-server "$BOOTSTRAP"`
	}
	return consumerGroups
}

// resetCLI are the equivalent commands, one per topic and offset. The tool for
// consumer groups resets streams groups too; the one for streams groups cannot in
// 4.1, and refuses partitions without a commit (both seen on 4.4.0).
func resetCLI(inv discovery.Inventory, offsets []plans.OffsetChange) []string {
	type target struct {
		topic  string
		offset int64
	}
	var order []target
	parts := map[target][]string{}
	for _, c := range offsets {
		if c.After == nil {
			continue
		}
		k := target{c.Topic, *c.After}
		if parts[k] == nil {
			order = append(order, k)
		}
		parts[k] = append(parts[k], fmt.Sprint(c.Partition))
	}
	out := make([]string, 0, len(order))
	for _, k := range order {
		out = append(out, fmt.Sprintf("%s --reset-offsets --group %s --topic %s --to-offset %d --execute", consumerGroups,
			streams.ShellQuote(inv.Application), streams.ShellQuote(k.topic+":"+strings.Join(parts[k], ",")), k.offset))
	}
	return out
}
