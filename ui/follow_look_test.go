package ui

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"resurge/discovery"
	"resurge/streams"
)

// TestFollow: looks come at the interval, one at a time; roles and evidence of the
// full look stay; what moved is marked, and the pace is told.
func TestFollow(t *testing.T) {
	d, pass := ticking(t, running, func(f *fake, _ *Session) { f.look = catchingUp })
	d.settle().press("enter")
	d.settle().press("4", "f")
	d.sees("following; the first look is out", "every 5s")
	d.settle().sees("the pace is known after the next look")
	pass(4 * time.Second)
	if n := count(d.f, "explore"); n != 1 {
		t.Errorf("%d looks after 4 s", n)
	}
	pass(time.Second)
	d.settle().sees("lag 17,202", "reads 3,000/s · written 600/s · caught up in 7s", "1,000/s", "orders                      *")
	if n := count(d.f, "explore"); n != 2 {
		t.Errorf("%d looks after 5 s", n)
	}
	app := openApp(d)
	if topic, _ := app.data.inv.Topic("order-processor-by-day-changelog"); topic.Role != streams.RoleChangelog || len(topic.Evidence) != 2 {
		t.Errorf("the role was lost: %+v", topic)
	}
	pass(5 * time.Second)
	d.settle().sees("! 14:02:42 member", "-consumer on 10.0.3.13 left")
	d.press("1")
	d.sees("14:02:42 member order-processor-3f0c-StreamThread-3-consumer on 10.0.3.13 left", "seen while following", "! findings of 14:02:31 UTC; the group is in another state now")
	if count(d.f, "inspect") != 2 {
		t.Error("the findings tell of another state, and nothing was read again")
	}
	d.press("f")
	d.sees("read").misses("every 5s", "reads 3,000/s")
	before := count(d.f, "explore")
	pass(20 * time.Second)
	if n := count(d.f, "explore"); n != before {
		t.Errorf("%d looks after the end", n-before)
	}
	d.press("4")
	d.misses("orders                                *")
}

// TestFollowPace: + and - stay within 1 s and 60 s, and do nothing while nothing
// is followed.
func TestFollowPace(t *testing.T) {
	d, pass := ticking(t)
	d.settle().press("enter")
	d.settle().press("+")
	d.sees("Not now: it is not followed; f follows")
	d.press("f")
	d.settle()
	for range 9 {
		d.press("-")
	}
	d.sees("every 1s")
	before := count(d.f, "explore")
	for range 6 { // the clock ticks twice a second
		pass(tick)
		d.settle()
	}
	if n := count(d.f, "explore") - before; n != 3 {
		t.Errorf("%d looks in 3 s", n)
	}
	for range 9 {
		d.press("+")
	}
	d.sees("every 1m")
	d.press("-")
	d.sees("every 30s")
}

// TestFollowGoesOn: a look that fails is told, what is shown stays with its age,
// and the next look comes.
func TestFollowGoesOn(t *testing.T) {
	d, pass := ticking(t, running)
	d.settle().press("enter")
	d.settle().press("f")
	d.settle()
	d.f.err = fault(streams.FaultUnreachable, "kafka-2:9092", "connection refused", "")
	pass(5 * time.Second)
	d.settle().sees("look failed", "connection refused", "! 5s old", "41,202")
	d.f.err = nil
	pass(5 * time.Second)
	d.settle().misses("look failed")
}

// TestFollowDoesNotPileUp: a look that does not come back holds the next one up.
func TestFollowDoesNotPileUp(t *testing.T) {
	d, pass := ticking(t, running)
	d.settle().press("enter")
	d.settle().press("f")
	app := openApp(d)
	n := app.follow.request.number
	for range 20 {
		pass(5 * time.Second)
	}
	if app.follow.request.number != n || !app.follow.request.out {
		t.Error("another look was asked for before the first came back")
	}
	d.sees("asking…")
	d.settle()
	pass(5 * time.Second)
	if app.follow.request.number == n {
		t.Error("no look after the first came back")
	}
}

// TestFollowAtOnce: main can ask for it, within the bounds.
func TestFollowAtOnce(t *testing.T) {
	for every, want := range map[time.Duration]string{time.Millisecond: "every 1s", 7 * time.Second: "every 7s", time.Hour: "every 1m"} {
		d := drive(t, 80, 24, func(f *fake, s *Session) { f.inv = sampleGroup(); s.Application, s.Follow = "billing", every }).settle()
		d.sees("› billing", want)
		if every == 7*time.Second {
			d.press("+")
			d.sees("every 10s")
			d.press("-", "-")
			d.sees("every 2s")
		}
	}
}

// TestFollowedGroup: of a group the looks are all there is to read.
func TestFollowedGroup(t *testing.T) {
	d, pass := ticking(t, func(f *fake, s *Session) { f.inv = sampleGroup(); s.Application, s.Follow = "billing", 30*time.Second })
	d.settle()
	before := count(d.f, "explore")
	for range 8 {
		pass(15 * time.Second)
		d.settle()
	}
	if n := count(d.f, "explore") - before; n != 4 || count(d.f, "inspect") != 1 {
		t.Errorf("%d looks in 2 minutes, asked %v", n, d.f.heard())
	}
}

// TestMerged: a light look gives positions, members and tasks; what it does not
// know stays, and what it could not read is not made up.
func TestMerged(t *testing.T) {
	full, look := liveInventory(), catchingUp(1)
	look.Topics = append(look.Topics, discovery.Topic{Name: "new-input", Role: streams.RoleInput})
	look.CommitsFault = fault(streams.FaultNotAllowed, "commits", "no", "")
	look.Gaps = []*streams.Fault{look.CommitsFault}
	got := merged(full, look)
	if len(got.Topics) != len(full.Topics)+1 || got.CommitsFault == nil || len(got.Gaps) != 1 || !got.TakenAt.Equal(look.TakenAt) {
		t.Errorf("%+v", got)
	}
	for _, was := range full.Topics {
		is, _ := got.Topic(was.Name)
		if is.Role != was.Role || !cmp.Equal(is.Evidence, was.Evidence) || is.Owned != was.Owned {
			t.Errorf("%s became %+v", was.Name, is)
		}
	}
	if orders, _ := got.Topic("orders"); orders.Partitions[0].Committed.Offset != 6_059_116 {
		t.Errorf("%+v", orders.Partitions[0].Committed)
	}
	if len(full.Gaps) != 0 || full.Topics[3].Partitions[0].Committed.Offset != 6_054_116 {
		t.Error("the full look was changed")
	}
}
