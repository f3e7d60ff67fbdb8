package discovery

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"time"

	"resurge/streams"
)

// clocks are what runs out and then makes a recovery harder, the nearest first;
// those that do not run come last.
func clocks(inv Inventory) []Clock {
	out := slices.Concat([]Clock{offsetsExpire(inv)}, inputsExpire(inv), windowsExpire(inv), tombstonesExpire(inv), repartitionWaits(inv))
	slices.SortStableFunc(out, func(a, b Clock) int {
		switch {
		case a.Left == nil && b.Left == nil:
			return levelOrder(a.Level) - levelOrder(b.Level)
		case a.Left == nil:
			return 1
		case b.Left == nil:
			return -1
		}
		return cmp.Compare(*a.Left, *b.Left)
	})
	return out
}

// runs is a clock that runs out at due. It is bad when it ran out, and something
// to look at within a day.
func (c Clock) runs(inv Inventory, due time.Time) Clock {
	left := due.Sub(inv.TakenAt)
	c.Due, c.Left, c.Level = due.UTC(), &left, LevelInfo
	switch {
	case left <= 0:
		c.Level = LevelBad
	case left <= 24*time.Hour:
		c.Level = LevelLook
	}
	return c
}

// setting reads a duration from a setting in ms or minutes.
func setting(text string, unit time.Duration) (d time.Duration, ok bool) {
	n, err := strconv.ParseInt(text, 10, 64)
	if err != nil {
		return 0, false
	}
	if n < 0 || n > int64(100*365*24*time.Hour/unit) {
		return -1, true // for ever, or as good as that
	}
	return time.Duration(n) * unit, true
}

// offsetsExpire: the offsets of a group without members are removed
// offsets.retention.minutes after it became empty; where nobody ever was a
// member, that long after each commit (KIP-211, GroupMetadata.removeExpiredOffsets).
func offsetsExpire(inv Inventory) Clock {
	c := Clock{Level: LevelOK, Name: "offsets expire", Advice: "take a snapshot of the offsets, or start the application, before that"}
	retention, known := setting(inv.Broker["offsets.retention.minutes"], time.Minute)
	g, act := inv.Group, inv.Activity
	switch {
	case g.Fault != nil:
		c.Level, c.Detail, c.Advice = LevelUnknown, "whether the group has members is not known", ""
		return c
	case !g.Exists:
		c.Level, c.Detail, c.Advice = LevelBad, "there is no group: its offsets are gone", ""
		return c
	case len(g.Members) > 0:
		c.Detail, c.Advice = "no clock runs while the group has members", ""
		return c
	case !known:
		c.Level, c.Detail = LevelUnknown, "offsets.retention.minutes is not known; the default is 7 days from when the group became empty"
		return c
	case act == nil || act.Emptied.IsZero() && act.LastCommit.IsZero() && act.Since.IsZero():
		c.Level, c.Detail = LevelUnknown, fmt.Sprintf("%s after the group became empty, which is not known when", span(retention))
		return c
	}
	switch {
	case !act.Emptied.IsZero():
		c.Detail = fmt.Sprintf("%s after the last member left, at %s", span(retention), stamp(act.Emptied))
		return c.runs(inv, act.Emptied.Add(retention))
	case g.ProtocolType == "" && g.Protocol != streams.ProtocolStreams && !act.LastCommit.IsZero():
		oldest := oldestCommit(inv)
		c.Detail = fmt.Sprintf("%s after each commit: the group never had a member; the oldest commit is of %s", span(retention), stamp(oldest))
		return c.runs(inv, oldest.Add(retention))
	case !act.LastCommit.IsZero():
		c.Detail = fmt.Sprintf("not before %s after the last commit, at %s; when the last member left is not known", span(retention), stamp(act.LastCommit))
		return c.runs(inv, act.LastCommit.Add(retention))
	}
	c.Level, c.Detail = LevelLook, fmt.Sprintf("%s after the group became empty; the last commit was before %s", span(retention), stamp(act.Since))
	return c
}

func oldestCommit(inv Inventory) time.Time {
	oldest := inv.Activity.LastCommit
	for _, t := range inv.Topics {
		for _, p := range t.Partitions {
			if !p.CommittedAt.IsZero() && p.CommittedAt.Before(oldest) {
				oldest = p.CommittedAt
			}
		}
	}
	return oldest
}

// inputsExpire: when the oldest records of the inputs go, a rebuild has less to
// replay. Segments go whole, so this is the earliest time.
func inputsExpire(inv Inventory) []Clock {
	var out []Clock
	for _, t := range inv.ByRole(streams.RoleInput) {
		if t.Fault != nil || len(t.Configs) > 0 && !hasPolicy(t, "delete") {
			continue
		}
		c := Clock{Name: "input retention", Advice: "start a rebuild before that, or raise retention.ms for as long as it takes"}
		retention, known := setting(t.Configs["retention.ms"].Value, time.Millisecond)
		oldest := oldestRecord(t)
		records, counted := t.Records()
		switch {
		case !known:
			c.Level, c.Detail = LevelUnknown, "retention.ms of "+streams.Quote(t.Name)+" is not known"
		case retention < 0:
			continue
		case counted && records == 0:
			c.Level, c.Detail, c.Advice = LevelLook, streams.Quote(t.Name)+" is empty: nothing is left to expire, or to replay", ""
		case oldest.IsZero():
			c.Level, c.Detail = LevelUnknown, "the age of the oldest record of "+streams.Quote(t.Name)+" is not known"
		default:
			c.Detail = fmt.Sprintf("%s keeps records %s; its oldest is of %s", streams.Quote(t.Name), span(retention), stamp(oldest))
			c = c.runs(inv, oldest.Add(retention))
			if c.Level == LevelBad { // the usual state of a topic that lives by its retention
				c.Level = LevelLook
				c.Detail += ": old segments go from now on"
			}
		}
		out = append(out, c)
	}
	return out
}

func oldestRecord(t Topic) time.Time {
	var oldest time.Time
	for _, p := range t.Partitions {
		if !p.Oldest.IsZero() && (oldest.IsZero() || p.Oldest.Before(oldest)) {
			oldest = p.Oldest
		}
	}
	return oldest
}

// windowsExpire: a windowed changelog drops records by their event time. What is
// restored later than that is dropped again, or was dropped before it could be
// read.
func windowsExpire(inv Inventory) []Clock {
	changelogs := inv.ByRole(streams.RoleChangelog)
	names := make([]string, 0, len(changelogs))
	shortest := time.Duration(-1)
	unknown := false
	for _, t := range changelogs {
		if !windowed(t) {
			continue
		}
		names = append(names, t.Name)
		retention, ok := setting(t.Configs["retention.ms"].Value, time.Millisecond)
		unknown = unknown || !ok
		if ok && retention >= 0 && (shortest < 0 || retention < shortest) {
			shortest = retention
		}
	}
	if len(names) == 0 {
		return nil
	}
	c := Clock{Level: LevelOK, Name: "window retention", Advice: "set retention.ms=-1 on them before anything older is restored"}
	last := streamTime(inv)
	switch {
	case len(inv.Group.Members) > 0:
		c.Detail, c.Advice = fmt.Sprintf("%s: no clock runs while the application moves its stream time on", list(names)), ""
	case shortest < 0 && unknown, last.IsZero():
		c.Level, c.Detail = LevelUnknown, list(names)+": their retention, or the stream time of the application, is not known"
	case shortest < 0:
		c.Detail, c.Advice = list(names)+": kept without a limit of time", ""
	default:
		c.Detail = fmt.Sprintf("%s: the newest windows are of %s and are kept %s", list(names), stamp(last), span(shortest))
		return []Clock{c.runs(inv, last.Add(shortest))}
	}
	return []Clock{c}
}

func windowed(t Topic) bool {
	return slices.Contains([]streams.StoreKind{streams.StoreWindow, streams.StoreSession, streams.StoreJoinWindow}, streams.StoreKind(t.StoreKind))
}

// streamTime is the latest time that the application had reached: the partition
// time in its commits, else when it last committed.
func streamTime(inv Inventory) time.Time {
	var last time.Time
	for _, t := range inv.Topics {
		for _, p := range t.Partitions {
			if p.Streams != nil && p.Streams.PartitionTime.After(last) {
				last = p.Streams.PartitionTime
			}
		}
	}
	if last.IsZero() && inv.Activity != nil {
		last = inv.Activity.LastCommit
	}
	return last
}

// tombstonesExpire: a state directory that was off for longer than
// delete.retention.ms of a compacted changelog missed deletions for good; keys
// that were deleted meanwhile live on in it.
func tombstonesExpire(inv Inventory) []Clock {
	shortest := time.Duration(-1)
	var name string
	for _, t := range inv.ByRole(streams.RoleChangelog) {
		d, ok := setting(t.Configs["delete.retention.ms"].Value, time.Millisecond)
		if ok && d >= 0 && hasPolicy(t, "compact") && (shortest < 0 || d < shortest) {
			shortest, name = d, t.Name
		}
	}
	if shortest < 0 {
		return nil
	}
	c := Clock{Level: LevelOK, Name: "tombstones", Advice: "after that, clear state directories that were off rather than start on them"}
	switch {
	case len(inv.Group.Members) > 0:
		c.Detail, c.Advice = fmt.Sprintf("an instance that is off longer than %s may miss deletions in %s", span(shortest), streams.Quote(name)), ""
	case inv.Activity == nil || inv.Activity.Emptied.IsZero():
		c.Level, c.Detail = LevelUnknown, fmt.Sprintf("%s after the instances went off, which is not known when", span(shortest))
	default:
		c.Detail = fmt.Sprintf("%s keeps deletions %s; the last instance went off at %s", streams.Quote(name), span(shortest), stamp(inv.Activity.Emptied))
		c = c.runs(inv, inv.Activity.Emptied.Add(shortest))
		if c.Level == LevelBad {
			c.Level = LevelLook // true of every changelog that deletes; it hurts old directories only
		}
		return []Clock{c}
	}
	return []Clock{c}
}

// repartitionWaits: Kafka Streams purges what it has read of a repartition topic
// (repartition.purge.interval.ms), so what is there is unread, or not purged yet.
func repartitionWaits(inv Inventory) []Clock {
	var out []Clock
	for _, t := range inv.ByRole(streams.RoleRepartition) {
		if t.Fault != nil {
			continue
		}
		lag, ok := t.Lag()
		retention, known := setting(t.Configs["retention.ms"].Value, time.Millisecond)
		c := Clock{Level: LevelOK, Name: "repartition purge"}
		switch {
		case !ok || !known:
			c.Level, c.Detail = LevelUnknown, "what waits in "+streams.Quote(t.Name)+", or how long it is kept, is not known"
		case lag == 0:
			continue
		case retention < 0:
			c.Detail = fmt.Sprintf("%d unread offsets wait in %s and stay until they are read", lag, streams.Quote(t.Name))
		case oldestRecord(t).IsZero():
			c.Level, c.Detail = LevelUnknown, fmt.Sprintf("%d unread offsets wait in %s and are kept %s; how old they are is not known", lag, streams.Quote(t.Name), span(retention))
		default:
			c.Detail = fmt.Sprintf("%d unread offsets wait in %s, the oldest of %s, kept %s", lag, streams.Quote(t.Name), stamp(oldestRecord(t)), span(retention))
			c.Advice = "set retention.ms=-1, as Kafka Streams does"
			c = c.runs(inv, oldestRecord(t).Add(retention))
		}
		out = append(out, c)
	}
	return out
}

// span writes a setting's duration for people.
func span(d time.Duration) string {
	switch {
	case d < 0:
		return "for ever"
	case d >= 48*time.Hour && d%(24*time.Hour) == 0:
		return fmt.Sprintf("%d days", d/(24*time.Hour))
	case d >= time.Hour && d%time.Hour == 0:
		return fmt.Sprintf("%d h", d/time.Hour)
	case d >= time.Minute && d%time.Minute == 0:
		return fmt.Sprintf("%d min", d/time.Minute)
	}
	return d.Round(time.Second).String()
}
