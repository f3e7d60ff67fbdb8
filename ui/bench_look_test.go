package ui

import (
	"fmt"
	"testing"
	"time"

	"resurge/discovery"
	"resurge/streams"
)

// manyGroups is a console on a cluster with 2,200 groups.
func manyGroups(tb testing.TB, w, h int) *driver {
	tb.Helper()
	d := drive(tb, w, h, func(f *fake, _ *Session) {
		f.groups.Rows = nil
		for i := range 2200 {
			f.groups.Rows = append(f.groups.Rows, discovery.GroupRow{
				Group: fmt.Sprintf("team-%02d.consumer-group-%04d", i%37, i), Kind: streams.KindClassic, State: "Stable", Streams: i%9 == 0,
				Members: new(i % 12), Topics: new(i % 5), Partitions: new(i % 60), Lag: new(int64(i * 1000)),
			})
		}
	}).settle()
	d.press("g")
	return d.settle()
}

// manyPartitions is an application with 1,000 partitions in 20 topics, open on its
// offsets.
func manyPartitions(tb testing.TB, w, h int) *driver {
	tb.Helper()
	d := drive(tb, w, h, func(f *fake, _ *Session) {
		f.inv = liveInventory()
		f.inv.Topics = nil
		for i := range 20 {
			t := discovery.Topic{Name: fmt.Sprintf("orders-of-region-%02d", i), Role: streams.RoleInput, Partitions: partitions(50, 0, 6_054_116, 6_067_850)}
			for j := range t.Partitions {
				t.Partitions[j].CommittedAt, t.Partitions[j].Owner = now.Add(-time.Second), f.inv.Group.Members[j%3].ID
			}
			f.inv.Topics = append(f.inv.Topics, t)
		}
	}).settle()
	d.press("enter")
	d.settle().press("4")
	return d
}

// BenchmarkGroups is one key and one frame of 2,200 groups.
func BenchmarkGroups(b *testing.B) {
	for _, sz := range sizes[:2] {
		b.Run(fmt.Sprintf("%dx%d", sz[0], sz[1]), func(b *testing.B) {
			d := manyGroups(b, sz[0], sz[1])
			b.ReportAllocs()
			for b.Loop() {
				d.press("j")
				_ = d.m.View()
			}
		})
	}
}

// BenchmarkGroupsSort is one other way to sort 2,200 groups and one frame.
func BenchmarkGroupsSort(b *testing.B) {
	d := manyGroups(b, 120, 40)
	b.ReportAllocs()
	for b.Loop() {
		d.press("s")
		_ = d.m.View()
	}
}

// BenchmarkPartitions is one key and one frame of 1,000 partitions.
func BenchmarkPartitions(b *testing.B) {
	for _, sz := range sizes[:2] {
		b.Run(fmt.Sprintf("%dx%d", sz[0], sz[1]), func(b *testing.B) {
			d := manyPartitions(b, sz[0], sz[1])
			b.ReportAllocs()
			for b.Loop() {
				d.press("j")
				_ = d.m.View()
			}
		})
	}
}

// BenchmarkLook takes one look at a followed group with 1,000 partitions, and
// draws one frame.
func BenchmarkLook(b *testing.B) {
	d := manyPartitions(b, 120, 40)
	d.press("f")
	d.settle()
	app := d.m.d.top().(*applicationScreen)
	n := 0
	d.f.look = func(int) discovery.Inventory {
		n++
		inv := d.f.inv
		inv.TakenAt = now.Add(time.Duration(n) * time.Second)
		return inv
	}
	b.ReportAllocs()
	for b.Loop() {
		app.ask()
		d.settle()
		_ = d.m.View()
	}
}

// TestOnlySeenRowsAreDrawn: a frame of a long list costs no more than one of a
// short list, in cells that are made.
func TestOnlySeenRowsAreDrawn(t *testing.T) {
	d := manyGroups(t, 80, 24)
	groups := d.m.d.top().(*groupsScreen)
	made := 0
	cells := groups.table.cells
	groups.table.cells = func(r discovery.GroupRow) []span { made++; return cells(r) }
	d.press("G", "k", "k")
	_ = d.m.View()
	if made > 24 {
		t.Errorf("%d of 2,200 rows were laid out", made)
	}
	d = manyPartitions(t, 80, 24)
	app := d.m.d.top().(*applicationScreen)
	made = 0
	parts := app.offsets.cells
	app.offsets.cells = func(r partitionRow) []span { made++; return parts(r) }
	d.press("G", "k", "k")
	_ = d.m.View()
	if made > 24 {
		t.Errorf("%d of 1,000 partitions were laid out", made)
	}
}
