package discovery

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"resurge/streams"
)

// shot is a snapshot of seen, with a word more.
func shot(inv Inventory, edit ...func(*Inventory)) Snapshot {
	for _, e := range edit {
		e(&inv)
	}
	return NewSnapshot(inv, "test")
}

// told writes differences as lines, in the words that scripts get.
func told(d Differences) []string {
	var out []string
	for _, c := range d.Changes {
		out = append(out, strings.TrimSpace(fmt.Sprintf("%s %s %q %q", c.Kind, c.Subject, c.Before, c.After)))
	}
	number := func(n *int64) string {
		if n == nil {
			return "none"
		}
		return fmt.Sprint(*n)
	}
	for _, m := range d.Moves {
		for _, w := range []struct {
			name string
			move *Move
		}{{"committed", m.Committed}, {"start", m.Start}, {"end", m.End}} {
			if w.move == nil {
				continue
			}
			line := fmt.Sprintf("%s-%d %s %s: %s to %s", m.Topic, m.Partition, w.name, w.move.Kind, number(w.move.Before), number(w.move.After))
			if w.move.By != nil {
				line += fmt.Sprintf(" by %d", *w.move.By)
			}
			if w.move.PerSecond != nil {
				line += fmt.Sprintf(", %.1f/s", *w.move.PerSecond)
			}
			out = append(out, line)
		}
	}
	for _, u := range d.Unknown {
		out = append(out, "? "+u)
	}
	return out
}

func faultOf(kind streams.FaultKind) *streams.Fault {
	return &streams.Fault{Kind: kind, Message: string(kind)}
}

func TestDiff(t *testing.T) {
	const s = time.Second
	topicFault := func(kind streams.FaultKind) func(*Inventory) {
		return func(i *Inventory) { i.Topics[0].Fault, i.Topics[0].Partitions = faultOf(kind), nil }
	}
	without := func(i *Inventory) { i.Topics = nil }
	gaps := func(i *Inventory) { i.Gaps = append(i.Gaps, faultOf(streams.FaultUnreachable)) }
	start := func(n int64) func(*Inventory) { return func(i *Inventory) { i.Topics[0].Partitions[0].Start = &n } }
	config := func(v string, dynamic bool) func(*Inventory) {
		return func(i *Inventory) {
			i.Topics[0].Configs = map[string]streams.Config{"retention.ms": {Value: v, Dynamic: dynamic}}
		}
	}
	noConfigs := func(i *Inventory) { i.Topics[0].Configs = map[string]streams.Config{} }
	for _, c := range []struct {
		name string
		a, b Snapshot
		want []string
	}{
		{"the same", shot(seen(0, 1, at{5, 10})), shot(seen(9*s, 1, at{5, 10})), nil},
		{
			"committed and ends moved on", shot(seen(0, 1, at{5, 10}, at{1, 1})), shot(seen(10*s, 1, at{25, 60}, at{1, 1})),
			[]string{"in-0 committed forward: 5 to 25 by 20, 2.0/s", "in-0 end forward: 10 to 60 by 50, 5.0/s"},
		},
		{
			"a commit went back", shot(seen(0, 1, at{50, 60})), shot(seen(10*s, 1, at{0, 60})),
			[]string{`commits_went_back topic in "" ""`, "in-0 committed back: 50 to 0 by -50, -5.0/s"},
		},
		{"B10: a commit appeared", shot(seen(0, 1, at{noCommit, 60})), shot(seen(10*s, 1, at{0, 60})), []string{"in-0 committed appeared: none to 0"}},
		{
			"a commit disappeared", shot(seen(0, 1, at{7, 60})), shot(seen(10*s, 1, at{noCommit, 60})),
			[]string{`commits_disappeared topic in "" ""`, "in-0 committed disappeared: 7 to none"},
		},
		{
			"what could not be read did not disappear", shot(seen(0, 1, at{7, 60})), shot(seen(10*s, 1, at{notKnown, 60})),
			[]string{"? topic in: 1 of 1 partitions are not known in one of the two"},
		},
		{
			"nor do commits that nobody may read",
			shot(seen(0, 1, at{7, 60})), shot(seen(10*s, 1, at{noCommit, 60}), func(i *Inventory) { i.CommitsFault = faultOf(streams.FaultNotAllowed) }),
			[]string{"? committed offsets: not known in the second: not_allowed", "? topic in: 1 of 1 partitions are not known in one of the two"},
		},
		{
			"records are lost that were never read", shot(seen(0, 1, at{7, 60})), shot(seen(10*s, 1, at{7, 60}), start(20)),
			[]string{`records_lost topic in "" ""`, `commits_on_gone_records topic in "" ""`, "in-0 start forward: 0 to 20 by 20, 2.0/s"},
		},
		{
			"the log was cut", shot(seen(0, 0, at{7, 60})), shot(seen(10*s, 0, at{7, 30})),
			[]string{`ends_went_back topic in "" ""`, "in-0 end back: 60 to 30 by -30, -3.0/s"},
		},
		{
			"another generation", shot(seen(0, 1, at{7, 60})), shot(seen(10*s, 2, at{9, 9})),
			[]string{`topic_recreated topic in "AQAAAAAAAAAAAAAAAAAAAA" "AgAAAAAAAAAAAAAAAAAAAA"`, "in-0 committed another_generation: 7 to 9", "in-0 end another_generation: 60 to 9"},
		},
		{"partitions were added", shot(seen(0, 1, at{7, 60})), shot(seen(10*s, 1, at{7, 60}, at{noCommit, 0})), []string{`topic_partitions topic in "1" "2"`}},
		{"a topic that is known to be gone", shot(seen(0, 1, at{7, 60})), shot(seen(s, 1), topicFault(streams.FaultNotFound)), []string{`topic_went topic in "input" ""`}},
		{"and that is back", shot(seen(0, 1), topicFault(streams.FaultNotFound)), shot(seen(s, 1, at{7, 60})), []string{`topic_appeared topic in "" "input"`}},
		{"a topic that may not be seen is not gone", shot(seen(0, 1, at{7, 60})), shot(seen(s, 1), topicFault(streams.FaultNotAllowed)), []string{"? topic in: not known in the second: not_allowed"}},
		{"a topic that is not listed", shot(seen(0, 1, at{7, 60})), shot(seen(s, 1), without), []string{`topic_went topic in "input" ""`}},
		{"a topic that a short inventory does not list", shot(seen(0, 1, at{7, 60})), shot(seen(s, 1), without, gaps), []string{"? topic in: the second does not list it and has gaps"}},
		{"nor is it new then", shot(seen(0, 1), without, gaps), shot(seen(s, 1, at{7, 60})), []string{"? topic in: the first does not list it and has gaps"}},
		{"a setting", shot(seen(0, 1, at{7, 60}), config("5", false)), shot(seen(s, 1, at{7, 60}), config("6", true)), []string{`topic_config topic in "retention.ms=5" "retention.ms=6"`}},
		{"a default that another version has", shot(seen(0, 1, at{7, 60}), config("5", false)), shot(seen(s, 1, at{7, 60}), noConfigs), nil},
		{"a setting that was taken back", shot(seen(0, 1, at{7, 60}), config("5", true)), shot(seen(s, 1, at{7, 60}), noConfigs), []string{`topic_config topic in "retention.ms=5" "retention.ms="`}},
		{"B15: settings that may not be read", shot(seen(0, 1, at{7, 60}), config("5", true)), shot(seen(s, 1, at{7, 60})), []string{"? configs of topic in: not known in one of the two"}},
	} {
		if d := cmp.Diff(c.want, told(Diff(c.a, c.b)), cmp.Transformer("none", func(s []string) []string { return append([]string{}, s...) })); d != "" {
			t.Errorf("%s: %s", c.name, d)
		}
	}
}

func TestDiffOfGroups(t *testing.T) {
	base := func() Inventory { return seen(0, 1, at{5, 10}) }
	group := func(g streams.Group) func(*Inventory) {
		return func(i *Inventory) { g.ID = "g"; i.Group = g }
	}
	one, two := streams.Member{ID: "1", ClientID: "a", Host: "/h"}, streams.Member{ID: "2", ClientID: "b"}
	there := func(state string, m ...streams.Member) streams.Group {
		return streams.Group{Exists: true, State: state, Protocol: streams.ProtocolClassic, Members: m}
	}
	upgraded := there("Stable")
	upgraded.Protocol = streams.ProtocolStreams
	for _, c := range []struct {
		name string
		a, b streams.Group
		want []string
	}{
		{"the same", there("Stable", one), there("Stable", one), nil},
		{"members changed", there("Stable", one), there("Stable", two), []string{`member_left member a on h "" ""`, `member_joined member b "" ""`}},
		{"emptied", there("Stable", one), there("Empty"), []string{`group_state group g "stable" "empty"`, `member_left member a on h "" ""`}},
		{"gone", there("Empty"), streams.Group{}, []string{`group_went group g "empty" ""`}},
		{"there", streams.Group{}, there("Stable", one), []string{`group_appeared group g "" "stable"`, `member_joined member a on h "" ""`}},
		{"B5: not known is not gone", there("Stable", one), streams.Group{Fault: faultOf(streams.FaultNotAllowed)}, []string{"? group g: not known in the second: not_allowed"}},
		{"upgraded", there("Stable"), upgraded, []string{`group_protocol group g "classic" "streams"`}},
	} {
		d := Diff(shot(base(), group(c.a)), shot(base(), group(c.b)))
		if d := cmp.Diff(c.want, told(d)); d != "" {
			t.Errorf("%s: %s", c.name, d)
		}
	}
}

func TestDiffOfDifferentThings(t *testing.T) {
	a, b := seen(0, 1, at{5, 10}), seen(10*time.Second, 2, at{5, 90})
	b.Cluster.ID, b.Application = "d", "h"
	d := Diff(shot(a), shot(b))
	if !d.OtherCluster || !d.OtherApplication || d.Same() || d.Lag != nil {
		t.Errorf("%+v", d)
	}
	for _, m := range d.Moves {
		if m.End.By != nil {
			t.Errorf("offsets of two clusters are compared: %+v", *m.End)
		}
	}
	same := Diff(shot(a), shot(a))
	if !same.Same() || same.Elapsed != nil || same.Reversed || *same.Lag.By != 0 {
		t.Errorf("%+v", same)
	}
	back := Diff(shot(seen(10*time.Second, 1, at{5, 10})), shot(seen(0, 1, at{0, 10})))
	if !back.Reversed || back.Elapsed != nil || back.Moves[0].Committed.PerSecond != nil || *back.Lag.By != 5 {
		t.Errorf("%+v", back)
	}
}

func TestSnapshot(t *testing.T) {
	inv := seen(0, 1, at{5, 10}, at{noCommit, 3})
	inv.Group.Members = []streams.Member{{ID: "m", Active: []streams.TaskID{{Subtopology: 1, Partition: 2}}, OffsetSums: map[streams.TaskID]int64{{}: 4}}}
	inv.Hints.Inputs, inv.Gaps = []string{"in"}, []*streams.Fault{faultOf(streams.FaultOther)}
	want := NewSnapshot(inv, "1.2.3")
	b, err := want.Encode()
	if err != nil {
		t.Fatal(err)
	}
	got, err := ReadSnapshot(strings.NewReader(string(b)))
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
	if d := Diff(want, got); !d.Same() || len(d.Unknown) > 0 {
		t.Errorf("%+v", d)
	}
}

func TestSnapshotRefused(t *testing.T) {
	good, err := shot(seen(0, 1, at{5, 10})).Encode()
	if err != nil {
		t.Fatal(err)
	}
	edit := func(old, new string) string {
		if !strings.Contains(string(good), old) {
			t.Fatalf("the snapshot has no %s", old)
		}
		return strings.Replace(string(good), old, new, 1)
	}
	for name, c := range map[string]struct{ text, says string }{
		"empty":             {"", "it is no snapshot, or a part of one"},
		"another document":  {`{"format": 1}`, "field format is a number"},
		"a plan":            {`{"id": "sha256:00"}`, `its format is ""`},
		"torn":              {string(good[:len(good)/2]), "a part of one"},
		"more after it":     {string(good) + "{}", "a part of one"},
		"newer":             {edit(`"version": 1`, `"version": 2`), "this resurge reads version 1"},
		"older than any":    {edit(`"version": 1`, `"version": 0`), "which there never was"},
		"another cluster":   {edit(`"cluster_id": "c"`, `"cluster_id": "d"`), "its cluster ID"},
		"another time":      {edit(`"taken_at": "2026`, `"taken_at": "2025`), "its time"},
		"no application":    {edit(`"application": "g"`, `"application": ""`), "names no application"},
		"a topic twice":     {edit(`"topics": [`, `"topics": [{"name": "in"},`), "topic in is in it twice"},
		"a partition twice": {edit(`"partitions": [`, `"partitions": [{"partition": 0},`), "partition 0 of topic in is in it twice"},
		"an odd topic ID":   {edit(`"topic_id": "AQ`, `"topic_id": "\u001b`), "cannot be read"},
	} {
		_, err := DecodeSnapshot([]byte(c.text))
		e, ok := err.(*SnapshotError) //nolint:errorlint // it is returned as it is
		if !ok || !strings.Contains(err.Error(), c.says) || e.Hint == "" || strings.ContainsRune(err.Error(), 0x1b) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func FuzzDecodeSnapshot(f *testing.F) {
	for _, s := range []Snapshot{shot(seen(0, 1, at{5, 10})), shot(seen(0, 0, at{noCommit, notKnown}, at{notKnown, 4}))} {
		b, err := s.Encode()
		if err != nil {
			f.Fatal(err)
		}
		f.Add(b)
	}
	f.Add([]byte(`{"format":"resurge/snapshot","version":1,"cluster_id":"c","taken_at":"2026-12-01T14:00:00Z","inventory":{"application":"g","cluster":{"id":"c"},"taken_at":"2026-12-01T14:00:00Z","topics":[{"name":"a","partitions":null}]}}`))
	base := shot(seen(0, 1, at{5, 10}))
	f.Fuzz(func(t *testing.T, b []byte) {
		s, err := DecodeSnapshot(b)
		if err != nil {
			return
		}
		if d := Diff(s, s); !d.Same() {
			t.Errorf("it differs from itself: %+v", d)
		}
		Diff(base, s)
		Diff(s, base)
		again, err := s.Encode()
		if err != nil {
			t.Fatal(err)
		}
		if _, err := DecodeSnapshot(again); err != nil {
			t.Errorf("what was read cannot be read again: %v", err)
		}
	})
}
