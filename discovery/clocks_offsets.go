package discovery

import (
	"fmt"
	"time"

	"resurge/streams"
)

// sweep is how long after their time expired offsets may stay
// (offsets.retention.check.interval.ms, 10 minutes by default).
const sweep = "10 min"

// offsetsExpire is when the group's committed offsets are removed. Two rules are
// in force, each with offsets.retention.minutes:
//
//   - a classic group that had members: that long after the last one left
//     (KIP-211, ClassicGroup.offsetExpirationCondition);
//   - a group of KIP-848 or KIP-1071, and one of bare commits: that long after
//     each commit. While members read a topic its offsets stay, and when the last
//     one leaves nothing protects them any more (StreamsGroup.isSubscribedToTopic):
//     those of an idle partition may go at once.
func offsetsExpire(inv Inventory) Clock {
	c := Clock{Level: LevelOK, Name: "offsets expire", Advice: "take a snapshot of the offsets now, and start before that or commit them again with a plan"}
	retention, known := setting(inv.Broker["offsets.retention.minutes"], time.Minute)
	g, ages := inv.Group, agesOf(inv)
	switch {
	case g.Fault != nil:
		c.Level, c.Detail, c.Advice = LevelUnknown, "whether the group has members is not known", ""
		return c
	case !g.Exists:
		c.Level, c.Detail, c.Advice = LevelBad, "there is no group: its offsets are gone", "commit them again from a snapshot, or with a plan, before a start"
		return c
	case len(g.Members) > 0:
		return whileRunning(inv, c, ages, retention, known)
	case !known:
		c.Level, c.Detail = LevelUnknown, "offsets.retention.minutes is not known; the default is 7 days"
		return c
	case retention < 0:
		c.Detail, c.Advice = "offsets are kept for ever", ""
		return c
	case inv.CommitsFault == nil && ages.total == 0:
		c.Detail, c.Advice = "nothing is committed", ""
		return c
	case expiresByCommit(g):
		return byCommit(inv, c, ages, retention)
	}
	return byEmptied(inv, c, retention)
}

// expiresByCommit reports whether the offsets expire each by its own commit time.
func expiresByCommit(g streams.Group) bool {
	return g.Protocol == streams.ProtocolStreams || g.Protocol == streams.ProtocolConsumer || g.ProtocolType == ""
}

// commitAges is when the group's offsets were committed.
type commitAges struct {
	total, unknown int
	// oldest is the time of the oldest that is known.
	oldest time.Time
	// old counts those that were made before a time: see before.
	times []time.Time
}

func agesOf(inv Inventory) commitAges {
	var a commitAges
	for _, t := range inv.Topics {
		for _, p := range t.Partitions {
			if p.Committed == nil {
				continue
			}
			a.total++
			if p.CommittedAt.IsZero() {
				a.unknown++
				continue
			}
			a.times = append(a.times, p.CommittedAt)
			if a.oldest.IsZero() || p.CommittedAt.Before(a.oldest) {
				a.oldest = p.CommittedAt
			}
		}
	}
	return a
}

// before counts the commits that were made before the time. Those whose time is
// not known were made before since, where that is known.
func (a commitAges) before(at, since time.Time) int {
	n := 0
	for _, t := range a.times {
		if t.Before(at) {
			n++
		}
	}
	if !since.IsZero() && !since.After(at) {
		n += a.unknown
	}
	return n
}

// since is how far back commits were looked at; zero: they were not.
func since(inv Inventory) time.Time {
	if inv.Activity == nil {
		return time.Time{}
	}
	return inv.Activity.Since
}

// whileRunning: no clock runs, but a stop may be the end of old offsets.
func whileRunning(inv Inventory, c Clock, ages commitAges, retention time.Duration, known bool) Clock {
	c.Detail, c.Advice = "no clock runs while the group has members", ""
	if !expiresByCommit(inv.Group) || !known || retention < 0 {
		return c
	}
	if n := ages.before(inv.TakenAt.Add(-retention), since(inv)); n > 0 {
		c.Level = LevelLook
		c.Detail += fmt.Sprintf("; %d of %d offsets were committed more than %s ago and go within %s of a stop", n, ages.total, span(retention), sweep)
		c.Advice = "take a snapshot of the offsets before a stop, and commit them again before the start"
	}
	return c
}

// byCommit: each offset has its own clock, the oldest counts.
func byCommit(inv Inventory, c Clock, ages commitAges, retention time.Duration) Clock {
	c.Detail = fmt.Sprintf("each of %d offsets %s after its commit", ages.total, span(retention))
	looked := since(inv)
	if n := ages.before(inv.TakenAt.Add(-retention), looked); n > 0 {
		due := looked
		if !ages.oldest.IsZero() && (ages.unknown == 0 || ages.oldest.Before(looked)) {
			due = ages.oldest
		}
		c.Detail += fmt.Sprintf("; %d were committed before that, and go within %s", n, sweep)
		return c.runs(inv, due.Add(retention))
	}
	switch {
	case ages.unknown > 0 && !looked.IsZero():
		c.Level = LevelUnknown
		c.Detail += fmt.Sprintf("; %d were committed before %s, so the first go before %s", ages.unknown, stamp(looked), stamp(looked.Add(retention)))
		return c
	case ages.unknown > 0 || ages.oldest.IsZero():
		c.Level = LevelUnknown
		c.Detail += fmt.Sprintf("; of %d it is not known when that was", ages.unknown)
		return c
	}
	c.Detail += ", the oldest at " + stamp(ages.oldest)
	return c.runs(inv, ages.oldest.Add(retention))
}

// byEmptied: one clock for all offsets, from when the last member left.
func byEmptied(inv Inventory, c Clock, retention time.Duration) Clock {
	act := inv.Activity
	switch {
	case act != nil && !act.Emptied.IsZero():
		c.Detail = fmt.Sprintf("%s after the last member left, at %s", span(retention), stamp(act.Emptied))
		return c.runs(inv, act.Emptied.Add(retention))
	case act != nil && !act.LastCommit.IsZero():
		c.Detail = fmt.Sprintf("not before %s after the last commit, at %s, if that was the application's own; when the last member left is not known", span(retention), stamp(act.LastCommit))
		return c.runs(inv, act.LastCommit.Add(retention))
	case act != nil && !act.Since.IsZero():
		c.Detail = fmt.Sprintf("%s after the last member left, which was before %s", span(retention), stamp(act.Since))
		if due := act.Since.Add(retention); !due.After(inv.TakenAt) {
			return c.runs(inv, due)
		}
		c.Level = LevelUnknown
		return c
	}
	c.Level, c.Detail = LevelUnknown, fmt.Sprintf("%s after the last member left, which is not known when", span(retention))
	return c
}
