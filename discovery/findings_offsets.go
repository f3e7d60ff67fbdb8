package discovery

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"resurge/streams"
)

// commitFindings compare committed offsets with what the logs hold. A partition
// without a commit is a case of its own: neither 0 nor the end.
func commitFindings(inv Inventory) []Finding {
	var out []Finding
	for _, t := range inv.Topics {
		var beyond, below, none []int32
		var worst, gone int64
		commits, unknown := 0, t.Fault != nil
		for _, p := range t.Partitions {
			switch {
			case p.Fault != nil || p.Start == nil || p.End == nil:
				unknown = true
			case p.Committed == nil:
				none = append(none, p.Partition)
			case p.Committed.Offset > *p.End:
				beyond = append(beyond, p.Partition)
				worst = max(worst, p.Committed.Offset-*p.End)
			case p.Committed.Offset < *p.Start:
				below = append(below, p.Partition)
				gone += *p.Start - p.Committed.Offset
			}
			if p.Committed != nil {
				commits++
			}
		}
		if len(beyond) > 0 {
			out = append(out, Finding{
				Level: LevelBad, Name: "commit beyond end", Detail: fmt.Sprintf("%s: up to %d offsets after the end of the log: the topic was made anew or cut", where(t, beyond), worst),
				Advice: "a start skips nothing and reads nothing until the log gets there, or starts at the reset policy: commit exact offsets with a plan",
			})
		}
		if len(below) > 0 {
			out = append(out, Finding{
				Level: LevelBad, Name: "commit below start", Detail: fmt.Sprintf("%s: %d unread records are gone", where(t, below), gone),
				Advice: "a start goes on at the application's reset policy: earliest reads what is left, latest skips it silently; commit exact offsets with a plan",
			})
		}
		if t.Role == streams.RoleInput && len(none) > 0 && !unknown && inv.CommitsFault == nil && inv.Group.Exists {
			out = append(out, uncommitted(t, none, commits))
		}
	}
	return out
}

func uncommitted(t Topic, none []int32, commits int) Finding {
	f := Finding{Level: LevelInfo, Name: "no commit", Detail: where(t, none) + ": nothing is committed", Advice: "a start begins there at the application's reset policy"}
	var held int64
	for _, p := range t.Partitions {
		if slices.Contains(none, p.Partition) {
			held += *p.End - *p.Start
		}
	}
	if held > 0 {
		f.Level = LevelLook
		f.Detail += fmt.Sprintf(", %d records are there", held)
	}
	if commits == 0 {
		f.Detail += "; the group has no commit on the topic at all"
	}
	return f
}

// storeFindings compare changelogs with the progress of the inputs: state that
// is missing shows as progress without changelogs.
func storeFindings(inv Inventory) []Finding {
	var progress, held int64
	for _, t := range inv.ByRole(streams.RoleInput) {
		for _, p := range t.Partitions {
			if p.Committed != nil && p.Start != nil {
				progress += max(0, p.Committed.Offset-*p.Start)
			}
		}
	}
	changelogs := inv.ByRole(streams.RoleChangelog)
	empty := 0
	for _, t := range changelogs {
		n, ok := t.Records()
		if !ok {
			return nil // how much they hold is not known
		}
		if n == 0 {
			empty++
		}
		held += n
	}
	doubtful := slices.ContainsFunc(inv.Topics, func(t Topic) bool { return t.Ambiguous && t.Internal == streams.KindChangelog })
	switch {
	case len(inv.Signs) == 0 || progress == 0 || doubtful:
		return nil
	case len(changelogs) == 0:
		return []Finding{{Level: LevelBad, Name: "no changelog", Detail: fmt.Sprintf("the group is %d records into its inputs and no changelog exists: state that was logged is lost", progress), Advice: "compare with the topology: an application without stores has none"}}
	case held == 0:
		return []Finding{{Level: LevelBad, Name: "changelogs empty", Detail: fmt.Sprintf("the group is %d records into its inputs and all %d changelogs are empty", progress, len(changelogs)), Advice: "the state is lost unless an instance still has it on its disk: compare the ways back"}}
	case empty > 0:
		return []Finding{{Level: LevelLook, Name: "empty changelog", Detail: fmt.Sprintf("%d of %d changelogs are empty", empty, len(changelogs))}}
	}
	return nil
}

// inputFindings say which input history is gone for a rebuild.
func inputFindings(inv Inventory) []Finding {
	var out []Finding
	whole := true
	inputs := inv.ByRole(streams.RoleInput)
	for _, t := range inputs {
		gone, oldest, known := int64(0), time.Time{}, t.Fault == nil
		for _, p := range t.Partitions {
			known = known && p.Start != nil
			if p.Start != nil {
				gone += *p.Start
			}
			if !p.Oldest.IsZero() && (oldest.IsZero() || p.Oldest.Before(oldest)) {
				oldest = p.Oldest
			}
		}
		compacted := hasPolicy(t, "compact")
		whole = whole && known && gone == 0 && !compacted && len(t.Configs) > 0
		switch {
		case gone > 0:
			detail := fmt.Sprintf("%s no longer holds its first %d offsets", streams.Quote(t.Name), gone)
			if !oldest.IsZero() {
				detail += "; the oldest record left is of " + stamp(oldest)
			}
			out = append(out, Finding{Level: LevelLook, Name: "input trimmed", Detail: detail, Advice: "a rebuild cannot bring back what they contributed"})
		case compacted:
			out = append(out, Finding{Level: LevelInfo, Name: "input compacted", Detail: streams.Quote(t.Name) + " keeps the newest record of each key only", Advice: "right for a table; an aggregation over it comes out different in a rebuild"})
		}
	}
	if whole && len(inputs) > 0 {
		out = append(out, Finding{Level: LevelOK, Name: "inputs whole", Detail: fmt.Sprintf("all %d start at offset 0, none is compacted", len(inputs))})
	}
	return out
}

// staleTransaction is the time after which an open transaction is no ordinary one
// any more: transaction.max.timeout.ms of brokers, by default.
const staleTransaction = 15 * time.Minute

func transactionFindings(inv Inventory) []Finding {
	var out []Finding
	own := map[string]bool{}
	for _, t := range inv.Transactions {
		f := Finding{Level: LevelLook, Name: "open transaction", Detail: streams.Quote(t.TransactionalID) + " is " + streams.Quote(t.State)}
		f.Advice = "it ends with its transaction timeout, or when its instance goes on; look again"
		if !t.Started.IsZero() {
			age := inv.TakenAt.Sub(t.Started)
			f.Detail += " since " + stamp(t.Started)
			if age > staleTransaction {
				f.Level = LevelBad
				f.Advice = "it hangs: kafka-transactions.sh find-hanging and abort end it"
			}
		}
		if n := len(t.Partitions); n > 0 {
			f.Detail += fmt.Sprintf(", on %d %s", n, plural(n, "partition"))
		}
		for _, tp := range t.Partitions {
			own[tp.Topic] = true
		}
		out = append(out, f)
	}
	undecided := false
	for _, t := range inv.Topics {
		if t.Role == streams.RoleLookalike && !t.Ambiguous {
			continue
		}
		var parts []int32
		var n int64
		for _, p := range t.Partitions {
			if p.Stable != nil && p.End != nil && *p.Stable < *p.End {
				parts, n = append(parts, p.Partition), n+*p.End-*p.Stable
			}
		}
		undecided = undecided || len(parts) > 0
		if len(parts) > 0 && !own[t.Name] {
			out = append(out, Finding{
				Level: LevelInfo, Name: "undecided records", Detail: fmt.Sprintf("%s: %d offsets after the last stable one belong to a transaction that is open", where(t, parts), n),
				Advice: "ordinary while a transactional producer writes; if it stays, that producer hangs. Caught up means the last stable offset: these are not waited for",
			})
		}
	}
	if len(out) == 0 && !undecided && !transactionsUnknown(inv) && len(inv.Signs) > 0 {
		out = append(out, Finding{Level: LevelOK, Name: "no open transaction", Detail: "nothing of the application is undecided"})
	}
	return out
}

// transactionsUnknown reports whether open transactions could not be listed.
func transactionsUnknown(inv Inventory) bool {
	return slices.ContainsFunc(inv.Gaps, func(f *streams.Fault) bool { return f != inv.CommitsFault })
}

func hasPolicy(t Topic, policy string) bool {
	for p := range strings.SplitSeq(t.Configs["cleanup.policy"].Value, ",") {
		if strings.TrimSpace(p) == policy {
			return true
		}
	}
	return false
}

func stamp(t time.Time) string { return t.UTC().Format("2006-01-02 15:04:05Z") }
