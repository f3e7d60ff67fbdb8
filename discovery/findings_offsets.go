package discovery

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"resurge/streams"
)

// outside are the partitions of a topic whose commit is not between log start and
// end, and those without one.
type outside struct {
	beyond, below, none []int32
	ahead, gone         int64 // offsets past the end, at most; records gone unread
	commits             int
	unknown             bool
}

func outsideOf(t Topic) outside {
	o := outside{unknown: t.Fault != nil}
	for _, p := range t.Partitions {
		if p.Committed != nil {
			o.commits++
		}
		switch {
		case p.Fault != nil || p.Start == nil || p.End == nil:
			o.unknown = true
		case p.Committed == nil:
			o.none = append(o.none, p.Partition)
		case p.Committed.Offset > *p.End:
			o.beyond = append(o.beyond, p.Partition)
			o.ahead = max(o.ahead, p.Committed.Offset-*p.End)
		case p.Committed.Offset < *p.Start:
			o.below = append(o.below, p.Partition)
			o.gone += *p.Start - p.Committed.Offset
		}
	}
	return o
}

// commitFindings compare committed offsets with what the logs hold. A partition
// without a commit is a case of its own: neither 0 nor the end.
func commitFindings(inv Inventory) []Finding {
	var out []Finding
	for _, t := range inv.Topics {
		o := outsideOf(t)
		if len(o.beyond) > 0 {
			out = append(out, Finding{
				Level: LevelBad, Name: "commit beyond end", Detail: fmt.Sprintf("%s: up to %d offsets after the end of the log: the topic was made anew or cut", where(t, o.beyond), o.ahead),
				Advice: "a start skips nothing and reads nothing until the log gets there, or starts at the reset policy: commit exact offsets with a plan",
			})
		}
		if len(o.below) > 0 {
			out = append(out, Finding{
				Level: LevelBad, Name: "commit below start", Detail: fmt.Sprintf("%s: %d unread records are gone", where(t, o.below), o.gone),
				Advice: "a start goes on at the application's reset policy: earliest reads what is left, latest skips it silently; commit exact offsets with a plan",
			})
		}
		if t.Role == streams.RoleInput && len(o.none) > 0 && !o.unknown && inv.CommitsFault == nil && inv.Group.Exists {
			out = append(out, uncommitted(t, o.none, o.commits))
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
	// A topic in doubt may be a changelog, or tell of a prefix under which they are.
	doubtful := slices.ContainsFunc(inv.Topics, func(t Topic) bool { return t.Ambiguous })
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
	inputs := inv.ByRole(streams.RoleInput)
	whole := len(inputs) > 0
	for _, t := range inputs {
		gone, known := trimmed(t)
		compacted := hasPolicy(t, "compact")
		whole = whole && known && gone == 0 && !compacted && len(t.Configs) > 0
		switch {
		case gone > 0:
			detail := fmt.Sprintf("%s no longer holds its first %d offsets", streams.Quote(t.Name), gone)
			if oldest := oldestRecord(t); !oldest.IsZero() {
				detail += "; the oldest record left is of " + stamp(oldest)
			}
			out = append(out, Finding{Level: LevelLook, Name: "input trimmed", Detail: detail, Advice: "a rebuild cannot bring back what they contributed"})
		case compacted:
			out = append(out, Finding{Level: LevelInfo, Name: "input compacted", Detail: streams.Quote(t.Name) + " keeps the newest record of each key only", Advice: "right for a table; an aggregation over it comes out different in a rebuild"})
		}
	}
	if whole {
		out = append(out, Finding{Level: LevelOK, Name: "inputs whole", Detail: fmt.Sprintf("all %d start at offset 0, none is compacted", len(inputs))})
	}
	return out
}

// trimmed is how many offsets a topic has lost at its start.
func trimmed(t Topic) (gone int64, known bool) {
	known = t.Fault == nil
	for _, p := range t.Partitions {
		known = known && p.Start != nil
		if p.Start != nil {
			gone += *p.Start
		}
	}
	return gone, known
}

// staleTransaction is the time after which an open transaction is no ordinary one
// any more: transaction.max.timeout.ms of brokers, by default.
const staleTransaction = 15 * time.Minute

func transactionFindings(inv Inventory) []Finding {
	out := make([]Finding, 0, len(inv.Transactions))
	own := map[string]bool{}
	for _, t := range inv.Transactions {
		out = append(out, openTransaction(inv, t))
		for _, tp := range t.Partitions {
			own[tp.Topic] = true
		}
	}
	undecided := false
	for _, t := range inv.Topics {
		if t.Role == streams.RoleLookalike && !t.Ambiguous {
			continue
		}
		parts, n := undecidedOf(t)
		undecided = undecided || n > 0
		if n > 0 && !own[t.Name] {
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

func openTransaction(inv Inventory, t streams.Transaction) Finding {
	f := Finding{
		Level: LevelLook, Name: "open transaction", Detail: streams.Quote(t.TransactionalID) + " is " + streams.Quote(t.State),
		Advice: "it ends with its transaction timeout, or when its instance goes on; look again",
	}
	if !t.Started.IsZero() {
		f.Detail += " since " + stamp(t.Started)
		if inv.TakenAt.Sub(t.Started) > staleTransaction {
			f.Level, f.Advice = LevelBad, "it hangs: kafka-transactions.sh find-hanging and abort end it"
		}
	}
	if n := len(t.Partitions); n > 0 {
		f.Detail += fmt.Sprintf(", on %d %s", n, plural(n, "partition"))
	}
	return f
}

// undecidedOf are the partitions with records after the last stable offset.
func undecidedOf(t Topic) (parts []int32, n int64) {
	for _, p := range t.Partitions {
		if p.Stable != nil && p.End != nil && *p.Stable < *p.End {
			parts, n = append(parts, p.Partition), n+*p.End-*p.Stable
		}
	}
	return parts, n
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
