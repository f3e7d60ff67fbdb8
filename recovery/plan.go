package recovery

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"resurge/discovery"
	"resurge/plans"
	"resurge/streams"
)

// Defaults of a plan's deadlines.
const (
	// DefaultEmptyWithin covers the default session timeout of a classic
	// Streams application (45 s), which does not leave its group on close.
	DefaultEmptyWithin = 60 * time.Second
	// DefaultCaughtUpWithin bounds the wait for the application to catch up.
	DefaultCaughtUpWithin = 12 * time.Hour
	transactionsWithin    = 90 * time.Second
	deletedWithin         = 2 * time.Minute
)

// MakePlan turns facts and a request into a sealed plan, or says why none can
// be made. It reads nothing and changes nothing.
func MakePlan(inv discovery.Inventory, req Request, now time.Time, program string) (plans.Plan, error) {
	if err := plannable(inv, req); err != nil {
		return plans.Plan{}, err
	}
	inputs, err := chooseInputs(inv)
	if err != nil {
		return plans.Plan{}, err
	}
	offsets, err := moveInputs(inv, req, inputs)
	if err != nil {
		return plans.Plan{}, err
	}
	internal, err := chooseInternal(inv)
	if err != nil {
		return plans.Plan{}, err
	}
	b := builder{inv: inv, req: req}
	b.warn(inputs, internal)
	b.rebuild(offsets, internal)
	p := plans.Plan{
		Format: plans.FormatVersion, Strategy: req.Strategy, Application: inv.Application,
		ClusterID: inv.Cluster.ID, Created: now.UTC().Truncate(time.Millisecond), Program: program,
		Hints:    inv.Hints,
		Summary:  summary(inputs, offsets, internal),
		Warnings: b.warnings, Steps: b.steps,
	}
	p.Basis = Basis(inv, p)
	return p.Seal(), nil
}

func summary(inputs []discovery.Topic, offsets []plans.OffsetChange, internal []discovery.Topic) string {
	var n int64
	for _, c := range offsets {
		n += c.End - *c.After
	}
	return fmt.Sprintf("replay %d records of %d input %s, delete %d internal %s",
		n, len(inputs), plural(len(inputs), "topic"), len(internal), plural(len(internal), "topic"))
}

func plural(n int, word string) string {
	if n == 1 {
		return word
	}
	return word + "s"
}

// legalName is what topics, and so application IDs with internal topics, can be
// named (Kafka's Topic.validate). It also keeps directories made from the ID
// inside state.dir.
var legalName = regexp.MustCompile(`^[a-zA-Z0-9_-][a-zA-Z0-9._-]*$`)

// plannable refuses what no plan can be made for.
func plannable(inv discovery.Inventory, req Request) error {
	switch {
	case req.Strategy != plans.Rebuild:
		return refuse(OutcomeUsage, "use --strategy rebuild", "strategy %q is not available yet", string(req.Strategy))
	case inv.Group.Fault != nil:
		return fmt.Errorf("the state of the group is not known: %w", inv.Group.Fault)
	case inv.CommitsFault != nil:
		return fmt.Errorf("a plan rests on the committed offsets: %w", inv.CommitsFault)
	case !legalName.MatchString(inv.Application):
		return refuse(OutcomeBlocked, "check the application ID", "%s cannot be the ID of a Kafka Streams application with internal topics: topics are not named so", streams.Quote(inv.Application))
	case inv.Cluster.ID == "":
		return refuse(OutcomeBlocked, "plans name their cluster: a broker older than 0.10.1 cannot be used", "the cluster has no ID")
	case inv.Group.Exists && inv.Group.Protocol != streams.ProtocolClassic && inv.Group.Protocol != streams.ProtocolStreams && inv.Group.Protocol != streams.ProtocolUnknown:
		return refuse(OutcomeBlocked, "resurge describe shows what the group is", "group %s is a %s group: not a Kafka Streams application", streams.Quote(inv.Application), inv.Group.Protocol)
	case inv.Group.Exists && inv.Group.ProtocolType == "connect":
		return refuse(OutcomeBlocked, "resurge describe shows what the group is", "group %s is a Connect group: not a Kafka Streams application", streams.Quote(inv.Application))
	}
	return nil
}

// chooseInputs returns the topics whose offsets are moved. A name that does not
// resolve refuses the whole plan (KAFKA-6318).
func chooseInputs(inv discovery.Inventory) ([]discovery.Topic, error) {
	var out []discovery.Topic
	names := slices.Concat(inv.Hints.Inputs, inv.Hints.Intermediates)
	if len(inv.Hints.Inputs) == 0 {
		for _, t := range inv.ByRole(streams.RoleInput) {
			names = append(names, t.Name)
		}
	}
	for _, name := range names {
		t, ok := inv.Topic(name)
		if slices.ContainsFunc(out, func(o discovery.Topic) bool { return o.Name == name }) {
			continue
		}
		if !ok || streams.IsFault(faultErr(t.Fault), streams.FaultNotFound) {
			return nil, noSuchTopic(inv, name, "input topic")
		}
		if t.Fault != nil {
			return nil, fmt.Errorf("input topic %s: %w", streams.Quote(name), t.Fault)
		}
		out = append(out, t)
	}
	if len(out) == 0 {
		return nil, refuse(OutcomeUsage, "name them with --input-topics a,b", "no input topic of %s is known: its group has no commits", streams.Quote(inv.Application))
	}
	return out, nil
}

func faultErr(f *streams.Fault) error {
	if f == nil {
		return nil
	}
	return f
}

func noSuchTopic(inv discovery.Inventory, name, what string) error {
	var known []string
	for _, t := range inv.Topics {
		if t.Fault == nil {
			known = append(known, t.Name)
		}
	}
	hint := "nothing was changed; check the name"
	if near := discovery.Near(name, known); len(near) > 0 {
		hint = "did you mean " + streams.Quote(near[0]) + "? Nothing was changed"
	}
	return refuse(OutcomeUsage, hint, "%s %s does not exist", what, streams.Quote(name))
}

// moveInputs resolves every partition of every input, idle ones included:
// without a commit the application's own reset policy would decide.
func moveInputs(inv discovery.Inventory, req Request, inputs []discovery.Topic) ([]plans.OffsetChange, error) {
	if err := positionsFit(req.Positions, inputs); err != nil {
		return nil, err
	}
	var out []plans.OffsetChange
	for _, t := range inputs {
		if len(t.Partitions) == 0 {
			return nil, refuse(OutcomeBlocked, "try again; if it stays, check the topic with kafka-topics --describe", "input topic %s answered no partitions", streams.Quote(t.Name))
		}
		for _, p := range t.Partitions {
			pos := positionFor(req.Positions, t.Name, p.Partition)
			if slices.Contains(inv.Hints.Intermediates, t.Name) {
				pos = Position{Mode: ToLatest}
			}
			c, err := moveTo(inv, t.Name, p, pos)
			if err != nil {
				return nil, err
			}
			out = append(out, c)
		}
	}
	return out, nil
}

// positionsFit refuses positions for topics or partitions that are not inputs.
// A file of offsets must name every partition of its topics (case P5 of the
// reset tool dies there).
func positionsFit(positions []Position, inputs []discovery.Topic) error {
	byTopic := map[string]int{}
	for _, p := range positions {
		if p.Topic == "" {
			continue
		}
		i := slices.IndexFunc(inputs, func(t discovery.Topic) bool { return t.Name == p.Topic })
		if i < 0 {
			return refuse(OutcomeUsage, "positions are for input topics only", "position given for %s, which is not one of the inputs", streams.Quote(p.Topic))
		}
		if p.Partition == nil {
			continue
		}
		if int(*p.Partition) >= len(inputs[i].Partitions) {
			return refuse(OutcomeUsage, "", "position given for partition %d of %s, which has %d partitions", *p.Partition, streams.Quote(p.Topic), len(inputs[i].Partitions))
		}
		byTopic[p.Topic]++
	}
	if len(byTopic) == 0 || hasDefault(positions) {
		return nil
	}
	for _, t := range inputs {
		if n := byTopic[t.Name]; n < len(t.Partitions) && !slices.ContainsFunc(positions, func(p Position) bool { return p.Topic == t.Name && p.Partition == nil }) {
			return refuse(OutcomeUsage, "name every partition of every input, or leave the topic out of --input-topics", "only %d of %d partitions of input %s have a position", n, len(t.Partitions), streams.Quote(t.Name))
		}
	}
	return nil
}

func hasDefault(positions []Position) bool {
	return slices.ContainsFunc(positions, func(p Position) bool { return p.Topic == "" })
}

// chooseInternal returns the topics to delete: those that are proven to be the
// application's, or the operator's exact selection.
func chooseInternal(inv discovery.Inventory) ([]discovery.Topic, error) {
	if len(inv.Hints.Internal) > 0 {
		return selectInternal(inv)
	}
	var out, doubtful []discovery.Topic
	for _, t := range inv.Topics {
		switch {
		case t.Owned && t.Fault == nil:
			out = append(out, t)
		case t.Ambiguous && t.Fault == nil:
			if n, ok := t.Records(); !ok || n > 0 {
				doubtful = append(doubtful, t)
			}
		}
	}
	if len(doubtful) == 0 {
		return out, nil
	}
	var lines, names []string
	for _, t := range doubtful {
		lines = append(lines, streams.Quote(t.Name)+" ("+strings.Join(t.Evidence, "; ")+")")
	}
	for _, t := range out {
		names = append(names, t.Name)
	}
	hint := "say exactly which internal topics to delete, for example --internal-topics " + streams.ShellQuote(strings.Join(names, ","))
	if len(names) == 0 {
		hint = "say exactly which internal topics to delete with --internal-topics a,b"
	}
	return nil, refuse(OutcomeBlocked, hint, "not proven to be %s's, and not proven to be another's: %s", streams.Quote(inv.Application), strings.Join(lines, ", "))
}

func selectInternal(inv discovery.Inventory) ([]discovery.Topic, error) {
	var out []discovery.Topic
	for _, name := range inv.Hints.Internal {
		t, ok := inv.Topic(name)
		switch {
		case !ok || streams.IsFault(faultErr(t.Fault), streams.FaultNotFound):
			return nil, noSuchTopic(inv, name, "internal topic")
		case t.Fault != nil:
			return nil, fmt.Errorf("internal topic %s: %w", streams.Quote(name), t.Fault)
		case len(t.ReadBy) > 0:
			return nil, refuse(OutcomeBlocked, "nothing was changed; it is never deleted while others read it", "internal topic %s is read by %s", streams.Quote(name), streams.Quote(strings.Join(t.ReadBy, ", ")))
		case !t.Owned && !t.Ambiguous:
			return nil, refuse(OutcomeBlocked, "nothing was changed", "%s is not an internal topic of %s: %s", streams.Quote(name), streams.Quote(inv.Application), strings.Join(t.Evidence, "; "))
		}
		if !slices.ContainsFunc(out, func(o discovery.Topic) bool { return o.Name == name }) {
			out = append(out, t)
		}
	}
	return out, nil
}

// builder collects the steps of one plan.
type builder struct {
	inv      discovery.Inventory
	req      Request
	steps    []plans.Step
	warnings []string
}

func (b *builder) add(s plans.Step) {
	s.ID = strconv.Itoa(len(b.steps) + 1)
	b.steps = append(b.steps, s)
}

func (b *builder) warnf(format string, args ...any) {
	b.warnings = append(b.warnings, fmt.Sprintf(format, args...))
}

func (b *builder) warn(inputs, internal []discovery.Topic) {
	if n := len(b.inv.Group.Members); n > 0 {
		b.warnf("the group has %d %s now: nothing is changed before it is empty", n, plural(n, "member"))
	}
	for _, t := range b.inv.ByRole(streams.RoleInput) {
		if !slices.ContainsFunc(inputs, func(i discovery.Topic) bool { return i.Name == t.Name }) {
			b.warnf("input %s is read by the application and not moved: what it contributes to the state is not rebuilt", streams.Quote(t.Name))
		}
	}
	for _, t := range inputs {
		b.warnInput(t)
	}
	for _, t := range b.inv.Topics {
		if t.Owned && t.Fault == nil && !slices.ContainsFunc(internal, func(i discovery.Topic) bool { return i.Name == t.Name }) {
			b.warnf("internal topic %s is left as it is: the replay adds to what it holds", streams.Quote(t.Name))
		}
	}
	for _, g := range b.inv.Gaps {
		b.warnf("not known: %s", g.Error())
	}
	if !b.inv.Group.Exists {
		b.warnf("the group does not exist (expired or deleted): committing offsets creates it anew")
	}
	b.warnf("every output is emitted again from the chosen position on")
}

func (b *builder) warnInput(t discovery.Topic) {
	var trimmed int64
	known, committed := true, false
	for _, p := range t.Partitions {
		if p.Start == nil {
			known = false
			continue
		}
		trimmed += *p.Start
		committed = committed || p.Committed != nil
	}
	if trimmed > 0 {
		b.warnf("input %s no longer holds its first %d records (retention): what they contributed cannot be rebuilt", streams.Quote(t.Name), trimmed)
	}
	if strings.Contains(t.Configs["cleanup.policy"].Value, "compact") {
		b.warnf("input %s is compacted: older values of a key are gone, which only suits a table", streams.Quote(t.Name))
	}
	if known && !committed && b.inv.Group.Exists && len(b.inv.Group.Topology) == 0 {
		b.warnf("input %s: the application has never committed an offset there; check the name", streams.Quote(t.Name))
	}
}
