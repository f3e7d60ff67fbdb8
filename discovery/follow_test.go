package discovery

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"resurge/streams"
)

var followed = time.Date(2026, 12, 1, 14, 0, 0, 0, time.UTC)

// at is one partition: committed and end, below 0 for none and not known.
type at struct{ committed, end int64 }

// noCommit and notKnown stand for a position that is not there, and one that
// could not be read.
const (
	noCommit = -1
	notKnown = -2
)

// seen is a look at topic in, partition i of it at parts[i].
func seen(after time.Duration, id byte, parts ...at) Inventory {
	t := Topic{Name: "in", ID: streams.TopicID{id}, Role: streams.RoleInput}
	for i, a := range parts {
		p := PartitionState{Partition: int32(i)}
		if a.end >= 0 {
			zero := int64(0)
			p.Start, p.End = &zero, &a.end
		}
		if a.committed >= 0 {
			p.Committed = &streams.Commit{Offset: a.committed}
			if a.end >= 0 {
				lag := a.end - a.committed
				p.Lag = &lag
			}
		}
		if a.committed == notKnown {
			p.Fault = &streams.Fault{Kind: streams.FaultUnreachable, Message: "no answer"}
		}
		t.Partitions = append(t.Partitions, p)
	}
	return Inventory{
		Application: "g", Cluster: streams.Cluster{ID: "c"}, TakenAt: followed.Add(after),
		Group: streams.Group{ID: "g", Exists: true, State: "Stable"}, Topics: []Topic{t},
	}
}

// paceText writes a pace as "consumed produced catch-up".
func paceText(p Pace) string {
	rate := func(f *float64) string {
		if f == nil {
			return "?"
		}
		return fmt.Sprintf("%.1f", *f)
	}
	left := "-"
	if p.CatchUp != nil {
		left = p.CatchUp.String()
	}
	if p.Falling {
		left = "falling"
	}
	return rate(p.Consumed) + " " + rate(p.Produced) + " " + left
}

func TestFollowPace(t *testing.T) {
	const s = time.Second
	for _, c := range []struct {
		name  string
		looks []Inventory
		want  []string
	}{
		{"the first look knows no pace", []Inventory{seen(0, 1, at{5, 10})}, []string{"? ? -"}},
		{"catching up", []Inventory{seen(0, 1, at{0, 1000}), seen(10*s, 1, at{200, 1100})}, []string{"? ? -", "20.0 10.0 1m30s"}},
		{"caught up", []Inventory{seen(0, 1, at{0, 100}), seen(10*s, 1, at{150, 150})}, []string{"? ? -", "15.0 5.0 0s"}},
		{"nothing moves and nothing waits", []Inventory{seen(0, 1, at{7, 7}), seen(5*s, 1, at{7, 7})}, []string{"? ? 0s", "0.0 0.0 0s"}},
		{"the lag grows", []Inventory{seen(0, 1, at{0, 100}), seen(10*s, 1, at{10, 200})}, []string{"? ? -", "1.0 10.0 falling"}},
		{"nothing is consumed", []Inventory{seen(0, 1, at{3, 100}), seen(10*s, 1, at{3, 100})}, []string{"? ? -", "0.0 0.0 falling"}},
		{"the lag stays", []Inventory{seen(0, 1, at{0, 100}), seen(10*s, 1, at{50, 150})}, []string{"? ? -", "5.0 5.0 falling"}},
		{"B10: no commit is no position, and no rate", []Inventory{seen(0, 1, at{noCommit, 100}), seen(10*s, 1, at{noCommit, 200})}, []string{"? ? -", "? 10.0 -"}},
		{
			"B11: a partition without a commit does not count in the sum",
			[]Inventory{seen(0, 1, at{0, 100}, at{noCommit, 100}), seen(10*s, 1, at{50, 100}, at{noCommit, 900})},
			[]string{"? ? -", "5.0 0.0 10s"},
		},
		{
			"a commit that appears has a pace from the second look on",
			[]Inventory{seen(0, 1, at{noCommit, 100}), seen(10*s, 1, at{40, 100}), seen(20*s, 1, at{60, 100})},
			[]string{"? ? -", "? 0.0 -", "2.0 0.0 20s"},
		},
		{
			"what could not be read is unknown, and bridged afterwards",
			[]Inventory{seen(0, 1, at{0, 100}), seen(10*s, 1, at{notKnown, notKnown}), seen(20*s, 1, at{60, 120})},
			[]string{"? ? -", "? ? -", "3.0 1.0 30s"},
		},
		{
			"one partition unknown makes the sum unknown",
			[]Inventory{seen(0, 1, at{0, 100}, at{0, 100}), seen(10*s, 1, at{50, 100}, at{notKnown, 100})},
			[]string{"? ? -", "? 0.0 -"},
		},
		{
			"another generation of the topic starts anew",
			[]Inventory{seen(0, 1, at{500, 900}), seen(10*s, 2, at{510, 910}), seen(20*s, 2, at{520, 930})},
			[]string{"? ? -", "? ? -", "1.0 2.0 falling"},
		},
		{
			"an offset that went back starts anew",
			[]Inventory{seen(0, 1, at{500, 900}), seen(10*s, 1, at{0, 900}), seen(20*s, 1, at{300, 900})},
			[]string{"? ? -", "? 0.0 -", "30.0 0.0 20s"},
		},
		{
			"a log that was cut starts anew where no ID tells it",
			[]Inventory{seen(0, 0, at{500, 900}), seen(10*s, 0, at{510, 600}), seen(20*s, 0, at{520, 610})},
			[]string{"? ? -", "? ? -", "1.0 1.0 falling"},
		},
		{
			"the last minute counts, not what was before",
			[]Inventory{seen(0, 1, at{0, 9000}), seen(30*s, 1, at{3000, 9000}), seen(60*s, 1, at{3000, 9000}), seen(90*s, 1, at{3060, 9000})},
			[]string{"? ? -", "100.0 0.0 1m0s", "50.0 0.0 2m0s", "1.0 0.0 1h39m0s"},
		},
		{
			"a look once in five minutes has the one before",
			[]Inventory{seen(0, 1, at{0, 900}), seen(300*s, 1, at{300, 900}), seen(600*s, 1, at{900, 900})},
			[]string{"? ? -", "1.0 0.0 10m0s", "2.0 0.0 0s"},
		},
		{
			"a clock that went back starts anew",
			[]Inventory{seen(60*s, 1, at{0, 100}), seen(0, 1, at{50, 100}), seen(10*s, 1, at{60, 100})},
			[]string{"? ? -", "? ? -", "1.0 0.0 40s"},
		},
		{"a commit beyond the end is no negative lag", []Inventory{seen(0, 1, at{90, 50}), seen(10*s, 1, at{90, 50})}, []string{"? ? 0s", "0.0 0.0 0s"}},
		{"a time that nobody waits for is bounded", []Inventory{seen(0, 1, at{0, 1 << 62}), seen(50*s, 1, at{1, 1 << 62})}, []string{"? ? -", "0.0 0.0 87600h0m0s"}},
	} {
		var f Follow
		var got []string
		for _, look := range c.looks {
			got = append(got, paceText(f.Add(look).Whole))
		}
		if d := cmp.Diff(c.want, got); d != "" {
			t.Errorf("%s: %s", c.name, d)
		}
	}
}

// A look that may say nothing of the commits is not one that found none.
func TestFollowWithoutCommits(t *testing.T) {
	var f Follow
	f.Add(seen(0, 1, at{5, 10}))
	blind := seen(10*time.Second, 1, at{noCommit, 20})
	blind.CommitsFault = &streams.Fault{Kind: streams.FaultNotAllowed}
	m := f.Add(blind)
	if got := paceText(m.Whole); got != "? 1.0 -" {
		t.Errorf("pace %s", got)
	}
	if !m.Changed[streams.TopicPartition{Topic: "in"}] {
		t.Error("the end moved")
	}
	if got := paceText(f.Add(seen(20*time.Second, 1, at{25, 30})).Whole); got != "1.0 1.0 falling" {
		t.Errorf("pace after it: %s", got)
	}
}

func TestFollowKeepsWhatItNeeds(t *testing.T) {
	var f Follow
	for i := range 1000 {
		f.Add(seen(time.Duration(i)*time.Second, 1, at{int64(i), int64(i)}))
	}
	k := f.track[streams.TopicPartition{Topic: "in"}]
	if len(k.committed) > 62 || len(k.end) > 62 {
		t.Errorf("%d and %d samples are kept", len(k.committed), len(k.end))
	}
	gone := seen(1000*time.Second, 1)
	gone.Topics = nil
	f.Add(gone)
	gone.TakenAt = gone.TakenAt.Add(2 * time.Minute)
	if f.Add(gone); len(f.track) != 0 {
		t.Errorf("%d partitions that nobody sees are kept", len(f.track))
	}
}

func TestFollowChanges(t *testing.T) {
	tp := func(i int32) streams.TopicPartition { return streams.TopicPartition{Topic: "in", Partition: i} }
	before := seen(0, 1, at{5, 10}, at{5, 10}, at{noCommit, 10}, at{5, 10}, at{notKnown, notKnown})
	after := seen(5*time.Second, 1, at{6, 10}, at{5, 10}, at{0, 10}, at{5, 10}, at{5, 10}, at{noCommit, 0})
	after.Topics[0].Partitions[3].Owner = "m1"
	after.Topics = append(after.Topics, Topic{Name: "new", Role: streams.RoleInput, Partitions: []PartitionState{{}}})
	var f Follow
	if m := f.Add(before); len(m.Changed) > 0 || len(m.Notes) > 0 {
		t.Errorf("the first look changed something: %+v", m)
	}
	m := f.Add(after)
	want := map[streams.TopicPartition]bool{tp(0): true, tp(2): true, tp(3): true, tp(5): true}
	if d := cmp.Diff(want, m.Changed); d != "" {
		t.Error(d)
	}
	if !slices.Contains(m.Notes, "topic in has 6 partitions, it had 5") {
		t.Errorf("notes: %q", m.Notes)
	}
}

func TestFollowNotes(t *testing.T) {
	with := func(state string, members ...streams.Member) Inventory {
		inv := seen(0, 1, at{5, 10})
		inv.Group.State, inv.Group.Members = state, members
		return inv
	}
	one := streams.Member{ID: "m-1", ClientID: "app-1", Host: "/10.0.0.7"}
	static, again := streams.Member{ID: "s-1", InstanceID: "node-1", ClientID: "app-2"}, streams.Member{ID: "s-2", InstanceID: "node-1", ClientID: "app-2"}
	evil := streams.Member{ID: "e", ClientID: "evil\x1b[2J\u202e"}
	fault := func(inv Inventory) Inventory {
		inv.Group = streams.Group{ID: "g", Fault: &streams.Fault{Kind: streams.FaultNotAllowed, Message: "no"}}
		return inv
	}
	gone := with("Dead")
	gone.Group.Exists = false
	recreated := seen(0, 2, at{0, 0})
	missing := seen(0, 1)
	missing.Topics[0].Fault = &streams.Fault{Kind: streams.FaultNotFound}
	hidden := seen(0, 1)
	hidden.Topics[0].Fault = &streams.Fault{Kind: streams.FaultNotAllowed}
	for _, c := range []struct {
		name          string
		before, after Inventory
		want          []string
	}{
		{"nothing", with("Stable", one), with("Stable", one), nil},
		{"a member leaves", with("Stable", one), with("Empty"), []string{"state empty, was stable", "member app-1 on 10.0.0.7 left"}},
		{"a member joins", with("Stable"), with("Stable", one), []string{"member app-1 on 10.0.0.7 joined"}},
		{"a static member comes back under another ID", with("Stable", static), with("Stable", again), nil},
		{"B99: a hostile name", with("Stable"), with("Stable", evil), []string{`member evil\x1b[2J\u202e joined`}},
		{"B5: unknown is not gone", with("Stable", one), fault(with("")), []string{"the group cannot be described any more: no"}},
		{"and nobody joined when it is known again", fault(with("")), with("Stable", one), []string{"the group can be described again: stable"}},
		{"gone", with("Stable"), gone, []string{"the group is gone"}},
		{"there again", gone, with("Stable"), []string{"the group is there: stable"}},
		{"a topic of another generation", with("Stable"), recreated, []string{"topic in was created again: its offsets begin anew"}},
		{"a topic is gone", with("Stable"), missing, []string{"topic in is gone"}},
		{"a topic comes back", missing, with("Stable"), []string{"topic in is there"}},
		{"a topic that may not be seen any more is not gone", with("Stable"), hidden, nil},
	} {
		c.after.TakenAt = c.before.TakenAt.Add(time.Second)
		var f Follow
		f.Add(c.before)
		if d := cmp.Diff(c.want, f.Add(c.after).Notes); d != "" {
			t.Errorf("%s: %s", c.name, d)
		}
	}
}

// Looks at something else do not mix.
func TestFollowAnotherGroup(t *testing.T) {
	var f Follow
	f.Add(seen(0, 1, at{0, 100}))
	other := seen(10*time.Second, 1, at{100, 100})
	other.Application = "h"
	if m := f.Add(other); m.Whole.Consumed != nil || len(m.Notes) > 0 || len(m.Changed) > 0 {
		t.Errorf("%+v", m)
	}
	if _, ok := f.Add(seen(20*time.Second, 1, at{0, 100})).Topics["in"]; !ok {
		t.Error("the topic has no pace of its own")
	}
}
