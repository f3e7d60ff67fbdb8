package discovery

import (
	"fmt"
	"slices"
	"strings"

	"resurge/streams"
)

// Diagnose says what an inventory means. It reads nothing.
func Diagnose(inv Inventory) Diagnosis {
	d := Diagnosis{Clocks: clocks(inv), Keeping: keeping(inv)}
	d.Findings = slices.Concat(
		groupFindings(inv), memberFindings(inv), topicFindings(inv), replicaFindings(inv), countFindings(inv), configFindings(inv),
		storeFindings(inv), commitFindings(inv), inputFindings(inv), transactionFindings(inv), downstreamFindings(inv), brokerFindings(inv), gapFindings(inv),
	)
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
	case g.State != stateStable:
		return []Finding{{
			Level: LevelLook, Name: "group unsettled", Detail: fmt.Sprintf("state %s with %d %s", streams.Quote(g.State), len(g.Members), plural(len(g.Members), "member")),
			Advice: "look again: what stays so for longer than a minute has a member that does not answer",
		}}
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

func memberFindings(inv Inventory) []Finding {
	var out []Finding
	versions := map[int32]bool{}
	classicInNew, otherTopology := false, 0
	for _, m := range inv.Group.Members {
		out = append(out, memberTrouble(m)...)
		if m.Userdata > 0 {
			versions[m.Userdata] = true
		}
		classicInNew = classicInNew || m.ClassicInNew
		if inv.Group.Protocol == streams.ProtocolStreams && inv.Group.TopologyEpoch > 0 && m.TopologyEpoch != inv.Group.TopologyEpoch {
			otherTopology++
		}
	}
	if classicInNew || len(versions) > 1 {
		out = append(out, Finding{Level: LevelLook, Name: "rolling upgrade", Detail: "members speak different versions: an upgrade is under way, or stopped half way", Advice: "finish it before a recovery"})
	}
	if otherTopology > 0 {
		out = append(out, Finding{Level: LevelLook, Name: "topologies differ", Detail: fmt.Sprintf("%d %s not the group's topology (epoch %d)", otherTopology, plural(otherTopology, "member has", "members have"), inv.Group.TopologyEpoch), Advice: "deploy the same code everywhere"})
	}
	if g := inv.Group; len(g.Members) > 0 && g.TargetEpoch > 0 && g.TargetEpoch < g.Epoch {
		out = append(out, Finding{Level: LevelInfo, Name: "assignment pending", Detail: fmt.Sprintf("the target assignment is of epoch %d, the group is at %d", g.TargetEpoch, g.Epoch)})
	}
	return out
}

func memberTrouble(m streams.Member) []Finding {
	var out []Finding
	who := streams.Quote(m.ClientID)
	if m.Fault != nil {
		detail := fmt.Sprintf("member %s: %s", who, m.Fault.Message)
		if m.Userdata > 0 {
			detail += fmt.Sprintf(" (userdata version %d)", m.Userdata)
		}
		out = append(out, Finding{Level: LevelUnknown, Name: "member unreadable", Detail: detail, Advice: "what it says of its tasks and its state directory is not known; the rest holds"})
	}
	if m.Trouble != "" {
		out = append(out, Finding{Level: LevelBad, Name: "member trouble", Detail: fmt.Sprintf("member %s: %s", who, streams.Quote(m.Trouble)), Advice: "read its log: Kafka Streams ends or stalls with this"})
	}
	return out
}

// downstreamFindings say who sees what the application writes.
func downstreamFindings(inv Inventory) []Finding {
	var out []Finding
	for _, t := range inv.ByRole(streams.RoleOutput) {
		if len(t.ReadBy) > 0 {
			out = append(out, Finding{
				Level: LevelInfo, Name: "read downstream", Detail: streams.Quote(t.Name) + " is read by " + list(t.ReadBy),
				Advice: "a replay is seen there: ask whether they take results twice",
			})
		}
	}
	return out
}

// brokerFindings are settings of the brokers that get in the way of a recovery.
func brokerFindings(inv Inventory) []Finding {
	var out []Finding
	if inv.Broker["auto.create.topics.enable"] == "true" {
		out = append(out, Finding{
			Level: LevelLook, Name: "topics make themselves", Detail: "auto.create.topics.enable is on: a client that still runs makes a deleted topic anew, with the broker's defaults",
			Advice: "stop every client of the internal topics before one is deleted",
		})
	}
	if inv.Broker["delete.topic.enable"] == "false" {
		out = append(out, Finding{Level: LevelBad, Name: "no topic deletion", Detail: "delete.topic.enable is off: no plan that deletes internal topics can run", Advice: "turn it on for the recovery"})
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

// shown is how many names a finding lists.
const shown = 4

// list writes names for people, the first few of many.
func list(names []string) string {
	quoted := make([]string, 0, shown)
	for _, n := range names[:min(len(names), shown)] {
		quoted = append(quoted, streams.Quote(n))
	}
	text := strings.Join(quoted, ", ")
	if more := len(names) - shown; more > 0 {
		text += fmt.Sprintf(" and %d more", more)
	}
	return text
}

// ranges writes partition numbers short: "0-3, 7".
func ranges(numbers []int32) string {
	numbers = slices.Sorted(slices.Values(numbers))
	var parts []string
	for i := 0; i < len(numbers); {
		j := i
		for j+1 < len(numbers) && numbers[j+1] == numbers[j]+1 {
			j++
		}
		if i == j {
			parts = append(parts, fmt.Sprint(numbers[i]))
		} else {
			parts = append(parts, fmt.Sprintf("%d-%d", numbers[i], numbers[j]))
		}
		i = j + 1
	}
	if len(parts) > 2*shown {
		return strings.Join(parts[:2*shown], ", ") + " …"
	}
	return strings.Join(parts, ", ")
}

// where names the partitions of a topic that a finding is about.
func where(t Topic, numbers []int32) string {
	if len(t.Partitions) == 1 {
		return streams.Quote(t.Name)
	}
	return fmt.Sprintf("%s, %d of %d partitions (%s)", streams.Quote(t.Name), len(numbers), len(t.Partitions), ranges(numbers))
}
