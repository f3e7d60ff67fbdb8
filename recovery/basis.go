package recovery

import (
	"fmt"
	"slices"
	"strings"

	"resurge/discovery"
	"resurge/plans"
	"resurge/streams"
)

// Basis returns the facts of an inventory that a plan rests on, in a fixed
// order. The same function is asked when the plan is made and again before it
// runs, so that a difference is a difference of the cluster.
func Basis(inv discovery.Inventory, p plans.Plan) []plans.Fact {
	facts := []plans.Fact{
		{Name: "cluster", Value: inv.Cluster.ID},
		{Name: "group protocol", Value: groupProtocol(inv.Group)},
	}
	var owned []string
	for _, t := range inv.Topics {
		if t.Owned && t.Fault == nil {
			owned = append(owned, t.Name)
		}
	}
	facts = append(facts, plans.Fact{Name: "internal topics", Value: strings.Join(owned, ",")})
	for _, t := range planTopics(p) {
		facts = append(facts, plans.Fact{Name: "topic " + t, Value: topicFact(inv, t)})
	}
	commits := restsOnCommits(inv, p)
	for _, s := range p.Steps {
		if s.Kind != plans.CommitOffsets {
			continue
		}
		for _, c := range s.Offsets {
			if !deletes(p, c.Topic) { // a recreated topic starts at 0 whatever it is now
				facts = append(facts, offsetFacts(inv, c, commits)...)
			}
		}
	}
	return facts
}

func deletes(p plans.Plan, topic string) bool {
	return slices.ContainsFunc(p.Steps, func(s plans.Step) bool {
		return s.Kind == plans.DeleteTopic && s.Topics[0].Name == topic
	})
}

func groupProtocol(g streams.Group) string {
	if !g.Exists {
		return "no group"
	}
	return string(g.Protocol)
}

// planTopics are the topics that a plan touches and that exist before it runs.
func planTopics(p plans.Plan) []string {
	var out []string
	for _, s := range p.Steps {
		if s.Kind != plans.SaveState {
			continue
		}
		for _, t := range s.Topics {
			if !slices.Contains(out, t.Name) {
				out = append(out, t.Name)
			}
		}
	}
	return out
}

func topicFact(inv discovery.Inventory, name string) string {
	t, ok := inv.Topic(name)
	switch {
	case !ok:
		return "absent"
	case t.Fault != nil && t.Fault.Kind == streams.FaultNotFound:
		return "absent"
	case t.Fault != nil:
		return "unknown: " + t.Fault.Message
	}
	readers := ""
	if len(t.ReadBy) > 0 && t.Role != streams.RoleInput {
		readers = ", read by " + strings.Join(t.ReadBy, ",")
	}
	return fmt.Sprintf("%s, id %s, %d partitions%s", t.Role, t.ID, len(t.Partitions), readers)
}

// restsOnCommits reports whether the committed offsets are part of the basis.
// When a plan is made they are if the group is empty, since nobody should move
// them then; a plan of a running group expects them to move.
func restsOnCommits(inv discovery.Inventory, p plans.Plan) bool {
	if len(p.Basis) > 0 {
		return slices.ContainsFunc(p.Basis, func(f plans.Fact) bool { return strings.HasPrefix(f.Name, "committed ") })
	}
	return inv.Group.Empty()
}

func offsetFacts(inv discovery.Inventory, c plans.OffsetChange, commits bool) []plans.Fact {
	t, _ := inv.Topic(c.Topic)
	var p *discovery.PartitionState
	for i := range t.Partitions {
		if t.Partitions[i].Partition == c.Partition {
			p = &t.Partitions[i]
		}
	}
	name := c.TopicPartition().String()
	reach := "in the log"
	switch {
	case p == nil || p.Start == nil || p.End == nil:
		reach = "unknown"
	case c.After != nil && *c.After < *p.Start:
		reach = fmt.Sprintf("below the log start %d", *p.Start)
	case c.After != nil && *c.After > *p.End:
		reach = fmt.Sprintf("beyond the end %d", *p.End)
	}
	out := []plans.Fact{{Name: "new offset of " + name, Value: reach}}
	if commits {
		value := "none"
		if p != nil && p.Committed != nil {
			value = fmt.Sprint(p.Committed.Offset)
		}
		out = append(out, plans.Fact{Name: "committed " + name, Value: value})
	}
	return out
}

// Stale compares a plan's basis with an inventory of now.
func Stale(p plans.Plan, now discovery.Inventory) []plans.Difference {
	return plans.Compare(p.Basis, Basis(now, p))
}
