package discovery

import (
	"strings"
	"testing"
	"time"

	"resurge/streams"
)

func clock(t *testing.T, inv Inventory, name string) Clock {
	t.Helper()
	for _, c := range Diagnose(inv).Clocks {
		if c.Name == name {
			return c
		}
	}
	t.Fatalf("no clock %q in %+v", name, Diagnose(inv).Clocks)
	return Clock{}
}

// TestB76OffsetsExpire: the clock runs from when the group became empty.
func TestB76OffsetsExpire(t *testing.T) {
	const week = 7 * 24 * time.Hour
	for name, tc := range map[string]struct {
		change func(*Inventory)
		left   time.Duration // 0: no clock runs, or it is not known
		level  Level
		says   string
	}{
		"since it is empty":   {func(*Inventory) {}, week - time.Hour, LevelInfo, "7 days after the last member left, at 2026-03-01 11:00:00Z"},
		"a weekend is enough": {func(inv *Inventory) { inv.Broker["offsets.retention.minutes"] = "1440" }, 23 * time.Hour, LevelLook, "24 h"},
		"over":                {func(inv *Inventory) { inv.Activity.Emptied = noon.Add(-8 * 24 * time.Hour) }, -24 * time.Hour, LevelBad, "7 days"},
		"members":             {func(inv *Inventory) { inv.Group.Members = []streams.Member{{ID: "a"}} }, 0, LevelOK, "no clock runs"},
		"retention unknown":   {func(inv *Inventory) { delete(inv.Broker, "offsets.retention.minutes") }, 0, LevelUnknown, "not known"},
		"activity unknown":    {func(inv *Inventory) { inv.Activity = nil }, 0, LevelUnknown, "not known when"},
		"emptied unknown":     {func(inv *Inventory) { inv.Activity.Emptied = time.Time{} }, week - 2*time.Hour, LevelInfo, "not before"},
		"group unknown":       {func(inv *Inventory) { inv.Group.Fault = &streams.Fault{} }, 0, LevelUnknown, "not known"},
		"gone":                {func(inv *Inventory) { inv.Group = streams.Group{ID: "shop"} }, 0, LevelBad, "gone"},
		"never a member, each commit alone": {func(inv *Inventory) {
			inv.Group.ProtocolType, inv.Activity.Emptied = "", time.Time{}
			inv.Topics[0].Partitions[0].CommittedAt = noon.Add(-5 * time.Hour)
		}, week - 5*time.Hour, LevelInfo, "each commit"},
		"older than what was read": {func(inv *Inventory) { inv.Activity = &streams.Activity{Since: noon.Add(-time.Hour)} }, 0, LevelLook, "before 2026-03-01 11:00:00Z"},
	} {
		t.Run(name, func(t *testing.T) {
			inv := well()
			tc.change(&inv)
			c := clock(t, inv, "offsets expire")
			if c.Level != tc.level || !strings.Contains(c.Detail, tc.says) {
				t.Errorf("%+v", c)
			}
			switch {
			case tc.left == 0 && c.Left != nil:
				t.Errorf("left %v", *c.Left)
			case tc.left != 0 && (c.Left == nil || *c.Left != tc.left || !c.Due.Equal(noon.Add(tc.left))):
				t.Errorf("left %v, due %v; want %v", c.Left, c.Due, tc.left)
			}
		})
	}
}

func TestInputRetentionClock(t *testing.T) {
	inv := well()
	inv.Topics[0].Partitions[0].Oldest = noon.Add(-6 * 24 * time.Hour)
	inv.Topics[0].Partitions[1].Oldest = noon.Add(-time.Hour)
	if c := clock(t, inv, "input retention"); c.Left == nil || *c.Left != 24*time.Hour || c.Level != LevelLook {
		t.Errorf("%+v", c)
	}
	inv.Topics[0].Partitions[0].Oldest, inv.Topics[0].Partitions[1].Oldest = time.Time{}, time.Time{}
	if c := clock(t, inv, "input retention"); c.Left != nil || c.Level != LevelUnknown {
		t.Errorf("an unknown age: %+v", c)
	}
	inv.Topics[0].Configs = nil
	if c := clock(t, inv, "input retention"); c.Left != nil || c.Level != LevelUnknown {
		t.Errorf("an unknown retention: %+v", c)
	}
	inv.Topics[0].Configs = settings("cleanup.policy=delete", "retention.ms=-1")
	for _, c := range Diagnose(inv).Clocks {
		if c.Name == "input retention" {
			t.Errorf("kept for ever: %+v", c)
		}
	}
}

func TestWindowAndTombstoneClocks(t *testing.T) {
	inv := well()
	inv.Topics[1].StoreKind = string(streams.StoreWindow)
	inv.Topics[1].Configs = settings("cleanup.policy=compact,delete", "retention.ms=7200000", "delete.retention.ms=3600000")
	inv.Topics[0].Partitions[0].Streams = &StreamsCommit{PartitionTime: noon.Add(-90 * time.Minute)}
	if c := clock(t, inv, "window retention"); c.Left == nil || *c.Left != 30*time.Minute {
		t.Errorf("%+v", c)
	}
	if c := clock(t, inv, "tombstones"); c.Left == nil || *c.Left != 0 || c.Level != LevelLook {
		t.Errorf("%+v", c)
	}
	inv.Group.Members = []streams.Member{{ID: "a"}}
	if c := clock(t, inv, "window retention"); c.Left != nil || c.Level != LevelOK {
		t.Errorf("running: %+v", c)
	}
}

func TestRepartitionClock(t *testing.T) {
	inv := well()
	inv.Topics[2].Partitions[0] = part(0, 90, 97, 90)
	if c := clock(t, inv, "repartition purge"); c.Left != nil || !strings.Contains(c.Detail, "7 unread") {
		t.Errorf("%+v", c)
	}
	inv.Topics[2].Configs = settings("cleanup.policy=delete", "retention.ms=3600000")
	inv.Topics[2].Partitions[0].Oldest = noon.Add(-30 * time.Minute)
	if c := clock(t, inv, "repartition purge"); c.Left == nil || *c.Left != 30*time.Minute {
		t.Errorf("%+v", c)
	}
}

func TestClocksAreInOrder(t *testing.T) {
	inv := well()
	inv.Topics[0].Partitions[0].Oldest = noon.Add(-6*24*time.Hour - 20*time.Hour)
	all := Diagnose(inv).Clocks
	for i := 1; i < len(all); i++ {
		if all[i].Left != nil && (all[i-1].Left == nil || *all[i-1].Left > *all[i].Left) {
			t.Errorf("%s before %s", all[i-1].Name, all[i].Name)
		}
	}
}
