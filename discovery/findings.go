package discovery

import (
	"fmt"
	"slices"
	"strings"

	"resurge/streams"
)

// Diagnose says what an inventory means. It reads nothing.
func Diagnose(inv Inventory) Diagnosis {
	var d Diagnosis
	d.Findings = slices.Concat(groupFindings(inv), topicFindings(inv), inputFindings(inv), gapFindings(inv))
	slices.SortStableFunc(d.Findings, func(x, y Finding) int { return levelOrder(x.Level) - levelOrder(y.Level) })
	return d
}

func groupFindings(inv Inventory) []Finding {
	g := inv.Group
	switch {
	case g.Fault != nil:
		return []Finding{{Level: LevelUnknown, Name: "group unknown", Detail: g.Fault.Error(), Advice: g.Fault.Hint}}
	case !g.Exists:
		return []Finding{{Level: LevelBad, Name: "no group", Detail: "no group of this name exists: its offsets have expired or were deleted", Advice: "a start would begin at the application's reset policy"}}
	case len(g.Members) == 0:
		return []Finding{{Level: LevelLook, Name: "group empty", Detail: "no member is in the group: the application is not running" + waiting(inv)}}
	case g.State != "Stable":
		return []Finding{{Level: LevelLook, Name: "group unsettled", Detail: fmt.Sprintf("state %s with %d members", g.State, len(g.Members))}}
	}
	return []Finding{{Level: LevelOK, Name: "group stable", Detail: fmt.Sprintf("%d %s", len(g.Members), plural(len(g.Members), "member"))}}
}

// waiting says how much the inputs hold that nobody reads.
func waiting(inv Inventory) string {
	var lag int64
	for _, t := range inv.ByRole(streams.RoleInput) {
		n, ok := t.Lag()
		if !ok {
			return ""
		}
		lag += n
	}
	if lag <= 0 {
		return ""
	}
	return fmt.Sprintf("; %d input records wait", lag)
}

func topicFindings(inv Inventory) []Finding {
	var out []Finding
	for _, store := range inv.Hints.Stores {
		name := streams.ChangelogTopic(inv.Application, store)
		if _, ok := inv.Topic(name); !ok {
			out = append(out, Finding{Level: LevelLook, Name: "changelog missing", Detail: name + " does not exist, its store is in the topology", Advice: "a rebuild makes it anew; a store without logging, or a table that reuses its source topic, has none"})
		}
	}
	for _, t := range inv.Topics {
		switch {
		case t.Fault != nil && t.Fault.Kind == streams.FaultNotFound && t.Role != streams.RoleLookalike:
			out = append(out, Finding{Level: LevelBad, Name: string(t.Role) + " missing", Detail: t.Name + " does not exist; " + strings.Join(t.Evidence, "; ")})
		case t.Fault != nil:
			out = append(out, Finding{Level: LevelUnknown, Name: "topic unknown", Detail: t.Fault.Error(), Advice: t.Fault.Hint})
		case t.Ambiguous:
			out = append(out, Finding{Level: LevelLook, Name: "not proven", Detail: t.Name + ": " + strings.Join(t.Evidence, "; "), Advice: "it is left alone unless named with --internal-topics"})
		}
		for _, p := range t.Partitions {
			out = append(out, partitionFindings(t, p)...)
		}
	}
	return append(out, storeFindings(inv)...)
}

func partitionFindings(t Topic, p PartitionState) []Finding {
	name := streams.TopicPartition{Topic: t.Name, Partition: p.Partition}.String()
	switch {
	case p.Leader < 0 && t.Fault == nil:
		return []Finding{{Level: LevelBad, Name: "no leader", Detail: "partition " + name + " has no leader"}}
	case p.Committed == nil || p.End == nil || p.Start == nil:
		return nil
	case p.Committed.Offset > *p.End:
		return []Finding{{Level: LevelBad, Name: "commit beyond end", Detail: fmt.Sprintf("%s: committed %d, the log ends at %d: the topic was recreated or truncated", name, p.Committed.Offset, *p.End)}}
	case p.Committed.Offset < *p.Start:
		return []Finding{{Level: LevelBad, Name: "commit below start", Detail: fmt.Sprintf("%s: committed %d, the log starts at %d: those records are gone", name, p.Committed.Offset, *p.Start)}}
	}
	return nil
}

// storeFindings compare changelogs with the progress of the inputs: state that
// is missing shows as progress without changelogs.
func storeFindings(inv Inventory) []Finding {
	var progress, held int64
	for _, t := range inv.ByRole(streams.RoleInput) {
		for _, p := range t.Partitions {
			if p.Committed != nil && p.Start != nil {
				progress += p.Committed.Offset - *p.Start
			}
		}
	}
	changelogs := inv.ByRole(streams.RoleChangelog)
	empty := 0
	for _, t := range changelogs {
		n, ok := t.Records()
		if ok && n == 0 {
			empty++
		}
		held += n
	}
	switch {
	case progress > 0 && len(changelogs) == 0:
		return []Finding{{Level: LevelBad, Name: "no changelog", Detail: fmt.Sprintf("the group is %d records into its inputs and no changelog exists: state that was logged is lost", progress), Advice: "compare with the topology: an application without stores has none"}}
	case progress > 0 && held == 0:
		return []Finding{{Level: LevelBad, Name: "changelogs empty", Detail: fmt.Sprintf("the group is %d records into its inputs and all %d changelogs are empty", progress, len(changelogs))}}
	case progress > 0 && empty > 0:
		return []Finding{{Level: LevelLook, Name: "empty changelog", Detail: fmt.Sprintf("%d of %d changelogs are empty", empty, len(changelogs))}}
	}
	return nil
}

func inputFindings(inv Inventory) []Finding {
	var out []Finding
	whole := true
	inputs := inv.ByRole(streams.RoleInput)
	for _, t := range inputs {
		var gone int64
		for _, p := range t.Partitions {
			if p.Start != nil {
				gone += *p.Start
			}
		}
		if gone > 0 {
			whole = false
			out = append(out, Finding{Level: LevelLook, Name: "input trimmed", Detail: fmt.Sprintf("%s no longer holds its first %d records", t.Name, gone), Advice: "a rebuild cannot bring back what they contributed"})
		}
	}
	if whole && len(inputs) > 0 {
		out = append(out, Finding{Level: LevelOK, Name: "inputs whole", Detail: fmt.Sprintf("all %d start at offset 0", len(inputs))})
	}
	for _, t := range inv.Transactions {
		out = append(out, Finding{Level: LevelLook, Name: "open transaction", Detail: t.TransactionalID + " is " + t.State})
	}
	return out
}

func gapFindings(inv Inventory) []Finding {
	out := make([]Finding, 0, len(inv.Gaps))
	for _, g := range inv.Gaps {
		out = append(out, Finding{Level: LevelUnknown, Name: "not known", Detail: g.Error(), Advice: g.Hint})
	}
	return out
}
