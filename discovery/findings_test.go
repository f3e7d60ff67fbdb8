package discovery

import (
	"strings"
	"testing"
	"time"

	"resurge/streams"
)

var noon = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

// part is a partition with log start, end and commit; commit -1 is none.
func part(n int32, start, end, committed int64) PartitionState {
	p := PartitionState{Partition: n, Leader: 1, Replicas: 3, ISR: 3, Start: &start, End: &end, Stable: &end}
	if committed >= 0 {
		lag := end - committed
		p.Committed, p.Lag = &streams.Commit{Offset: committed, LeaderEpoch: -1}, &lag
	}
	return p
}

func settings(kv ...string) map[string]streams.Config {
	out := map[string]streams.Config{}
	for _, s := range kv {
		k, v, _ := strings.Cut(s, "=")
		out[k] = streams.Config{Value: v, Dynamic: true}
	}
	return out
}

// well is an application with nothing wrong: stopped, read to the end.
func well() Inventory {
	return Inventory{
		Application: "shop", TakenAt: noon, Signs: []string{"named so"},
		Group:    streams.Group{ID: "shop", Exists: true, Protocol: streams.ProtocolClassic, ProtocolType: "consumer", State: streams.StateEmpty},
		Activity: &streams.Activity{LastCommit: noon.Add(-2 * time.Hour), Emptied: noon.Add(-time.Hour)},
		Broker:   map[string]string{"offsets.retention.minutes": "10080", "min.insync.replicas": "2", "auto.create.topics.enable": "false", "delete.topic.enable": "true"},
		Topics: []Topic{
			{
				Name: "orders", Role: streams.RoleInput, ReplicationFactor: 3, Configs: settings("cleanup.policy=delete", "retention.ms=604800000"),
				Partitions: []PartitionState{part(0, 0, 100, 100), part(1, 0, 100, 100)},
			},
			{
				Name: "shop-counts-changelog", Role: streams.RoleChangelog, Owned: true, Store: "counts", StoreKind: string(streams.StoreKeyValue), ReplicationFactor: 3,
				Configs: settings("cleanup.policy=compact", "delete.retention.ms=86400000"), Partitions: []PartitionState{part(0, 0, 50, -1), part(1, 0, 50, -1)},
			},
			{
				Name: "shop-by-name-repartition", Role: streams.RoleRepartition, Owned: true, Store: "by-name", ReplicationFactor: 3,
				Configs: settings("cleanup.policy=delete", "retention.ms=-1"), Partitions: []PartitionState{part(0, 90, 90, 90), part(1, 90, 90, 90)},
			},
		},
	}
}

func found(t *testing.T, inv Inventory, name string) Finding {
	t.Helper()
	all := Diagnose(inv).Findings
	for _, f := range all {
		if f.Name == name {
			return f
		}
	}
	t.Fatalf("no finding %q in %+v", name, all)
	return Finding{}
}

func findsNone(t *testing.T, inv Inventory, names ...string) {
	t.Helper()
	for _, f := range Diagnose(inv).Findings {
		for _, n := range names {
			if f.Name == n {
				t.Errorf("%q: %+v", n, f)
			}
		}
	}
}

func TestAllWellSaysWhatWasChecked(t *testing.T) {
	inv := well()
	for _, name := range []string{"replicas in sync", "partitions agree", "changelogs compacted", "inputs whole", "no open transaction"} {
		if f := found(t, inv, name); f.Level != LevelOK {
			t.Errorf("%s: %+v", name, f)
		}
	}
	for _, f := range Diagnose(inv).Findings {
		if f.Level != LevelOK && f.Name != "group empty" {
			t.Errorf("nothing is wrong, and yet: %+v", f)
		}
	}
}

// TestFindings changes one thing of an application with nothing wrong.
func TestFindings(t *testing.T) {
	input, changelog, repartition := 0, 1, 2
	for _, tc := range []struct {
		name   string
		change func(*Inventory)
		want   string
		level  Level
		says   []string
	}{
		{"B28 partition counts", func(inv *Inventory) {
			inv.Topics[changelog].Partitions = append(inv.Topics[changelog].Partitions, part(2, 0, 0, -1), part(3, 0, 0, -1))
		}, "partition counts", LevelBad, []string{"4 partitions", "has 2"}},
		{"B28 fewer than its own tasks", func(inv *Inventory) {
			inv.Group.Topology = []streams.Subtopology{{ID: "0", SourceTopics: []string{"orders"}, Changelogs: []string{"shop-counts-changelog"}}}
			inv.Topics[input].Subtopologies, inv.Topics[changelog].Subtopologies = []string{"0"}, []string{"0"}
			inv.Topics[changelog].Partitions = inv.Topics[changelog].Partitions[:1]
		}, "partition counts", LevelBad, []string{"1 partitions", "are 2"}},
		{"B38 topics make themselves", func(inv *Inventory) { inv.Broker["auto.create.topics.enable"] = "true" }, "topics make themselves", LevelLook, []string{"auto.create.topics.enable"}},
		{"B72 B73 a commit beyond the end", func(inv *Inventory) { inv.Topics[input].Partitions[1] = part(1, 0, 40, 100) }, "commit beyond end", LevelBad, []string{"orders", "1 of 2 partitions (1)", "60 offsets"}},
		{"B77 a commit below the log start", func(inv *Inventory) { inv.Topics[input].Partitions[0] = part(0, 30, 100, 10) }, "commit below start", LevelBad, []string{"20 unread records", "latest"}},
		{"B10 B11 no commit is a value", func(inv *Inventory) { inv.Topics[input].Partitions[0] = part(0, 0, 100, -1) }, "no commit", LevelLook, []string{"1 of 2 partitions (0)", "100 records"}},
		{"trimmed", func(inv *Inventory) {
			inv.Topics[input].Partitions[0] = part(0, 30, 100, 100)
			inv.Topics[input].Partitions[0].Oldest = noon.Add(-time.Hour)
		}, "input trimmed", LevelLook, []string{"first 30 offsets", "2026-03-01 11:00:00Z"}},
		{"compacted input", func(inv *Inventory) { inv.Topics[input].Configs = settings("cleanup.policy=compact") }, "input compacted", LevelInfo, nil},
		{"changelog by age", func(inv *Inventory) { inv.Topics[changelog].Configs = settings("cleanup.policy=delete") }, "not compacted", LevelBad, []string{"cleanup.policy=delete"}},
		{"repartition by age", func(inv *Inventory) {
			inv.Topics[repartition].Configs = settings("cleanup.policy=delete", "retention.ms=60000")
		}, "repartition expires", LevelLook, []string{"60000"}},
		{"append time", func(inv *Inventory) {
			inv.Topics[changelog].Configs["message.timestamp.type"] = streams.Config{Value: "LogAppendTime"}
		}, "times rewritten", LevelLook, nil},
		{"unlike the topology's wish", func(inv *Inventory) {
			inv.Group.Topology = []streams.Subtopology{{ID: "0", SourceTopics: []string{"orders"}, Changelogs: []string{"shop-counts-changelog"}, Wanted: map[string]map[string]string{"shop-counts-changelog": {"delete.retention.ms": "5"}}}}
		}, "unlike wanted", LevelLook, []string{"delete.retention.ms is 86400000", "wants 5"}},
		{"no leader", func(inv *Inventory) { inv.Topics[input].Partitions[1].Leader = -1 }, "no leader", LevelBad, []string{"1 of 2 partitions (1)"}},
		{"under-replicated", func(inv *Inventory) { inv.Topics[input].Partitions[0].ISR = 2 }, "under-replicated", LevelLook, nil},
		{"below min.insync.replicas", func(inv *Inventory) { inv.Topics[input].Partitions[0].ISR = 1 }, "below min.insync", LevelBad, nil},
		{"replication factor below", func(inv *Inventory) {
			inv.Topics[input].ReplicationFactor = 1
			for i := range inv.Topics[input].Partitions {
				inv.Topics[input].Partitions[i].Replicas, inv.Topics[input].Partitions[i].ISR = 1, 1
			}
		}, "too few replicas", LevelBad, []string{"1 replica,", "is 2"}},
		{"input gone", func(inv *Inventory) {
			inv.Topics[input].Fault = &streams.Fault{Kind: streams.FaultNotFound, What: "topic orders"}
		}, "input missing", LevelBad, []string{"orders"}},
		{"state gone", func(inv *Inventory) { inv.Topics = append(inv.Topics[:1:1], inv.Topics[2]) }, "no changelog", LevelBad, []string{"200 records"}},
		{"state empty", func(inv *Inventory) {
			inv.Topics[changelog].Partitions = []PartitionState{part(0, 7, 7, -1), part(1, 0, 0, -1)}
		}, "changelogs empty", LevelBad, nil},
		{"store without changelog", func(inv *Inventory) { inv.Hints.Stores = []string{"counts", "totals"} }, "changelog missing", LevelLook, []string{"shop-totals-changelog"}},
		{"renumbered", func(inv *Inventory) {
			inv.Hints.Stores = []string{"counts", "KSTREAM-AGGREGATE-STATE-STORE-0000000007"}
			inv.Topics = append(inv.Topics, Topic{Name: "shop-KSTREAM-AGGREGATE-STATE-STORE-0000000003-changelog", Store: "KSTREAM-AGGREGATE-STATE-STORE-0000000003", Role: streams.RoleLookalike, Ambiguous: true, Evidence: []string{"not in the topology"}})
		}, "stores renumbered", LevelBad, []string{"0000000007", "0000000003"}},
		{"open", func(inv *Inventory) {
			inv.Transactions = []streams.Transaction{{TransactionalID: "shop-0_0", State: "Ongoing", Started: noon.Add(-time.Minute)}}
		}, "open transaction", LevelLook, []string{"shop-0_0", "11:59:00Z"}},
		{"hanging", func(inv *Inventory) {
			inv.Transactions = []streams.Transaction{{TransactionalID: "shop-0_0", State: "Ongoing", Started: noon.Add(-time.Hour)}}
		}, "open transaction", LevelBad, nil},
		{"undecided by somebody else", func(inv *Inventory) { stable := int64(90); inv.Topics[input].Partitions[0].Stable = &stable }, "undecided records", LevelInfo, []string{"10 offsets"}},
		{"downstream", func(inv *Inventory) {
			inv.Topics = append(inv.Topics, Topic{Name: "totals", Role: streams.RoleOutput, ReadBy: []string{"billing"}, Partitions: []PartitionState{part(0, 0, 1, -1)}})
		}, "read downstream", LevelInfo, []string{"billing"}},
		{"B1 looks alike", func(inv *Inventory) {
			inv.Topics = append(inv.Topics, Topic{Name: "shop-v2-counts-changelog", Role: streams.RoleLookalike})
		}, "looks alike", LevelInfo, []string{"shop-v2-counts-changelog"}},
		{"B7 unreadable member", func(inv *Inventory) {
			inv.Group.State, inv.Group.Members = "Stable", []streams.Member{{ClientID: "c1", Userdata: 99, Fault: &streams.Fault{Message: "newer than 11"}}}
		}, "member unreadable", LevelUnknown, []string{"version 99"}},
		{"rolling", func(inv *Inventory) {
			inv.Group.State, inv.Group.Members = "Stable", []streams.Member{{ClientID: "a", Userdata: 9}, {ClientID: "b", Userdata: 11}}
		}, "rolling upgrade", LevelLook, nil},
		{"trouble", func(inv *Inventory) {
			inv.Group.State, inv.Group.Members = "Stable", []streams.Member{{ClientID: "a", Trouble: "incomplete source topic metadata"}}
		}, "member trouble", LevelBad, []string{"incomplete"}},
		{"no deletion", func(inv *Inventory) { inv.Broker["delete.topic.enable"] = "false" }, "no topic deletion", LevelBad, nil},
		{"no group", func(inv *Inventory) { inv.Group = streams.Group{ID: "shop"} }, "no group", LevelBad, nil},
		{"rebalancing", func(inv *Inventory) {
			inv.Group.State, inv.Group.Members = "PreparingRebalance", []streams.Member{{ClientID: "a"}}
		}, "group unsettled", LevelLook, []string{"PreparingRebalance"}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			inv := well()
			tc.change(&inv)
			f := found(t, inv, tc.want)
			if f.Level != tc.level {
				t.Errorf("level %s, want %s: %+v", f.Level, tc.level, f)
			}
			if f.Level != LevelInfo && f.Advice == "" {
				t.Errorf("it does not say what to do: %+v", f)
			}
			for _, s := range tc.says {
				if !strings.Contains(f.Detail+" "+f.Advice, s) {
					t.Errorf("it does not say %q: %+v", s, f)
				}
			}
		})
	}
}

// TestUnknownIsNeverGood takes answers away: no check that needed them passes.
func TestUnknownIsNeverGood(t *testing.T) {
	fault := &streams.Fault{Kind: streams.FaultNotAllowed, What: "it", Message: "not allowed", Hint: "ask for it"}
	for name, tc := range map[string]struct {
		change func(*Inventory)
		not    []string
	}{
		"ends": {func(inv *Inventory) {
			for i := range inv.Topics {
				for j := range inv.Topics[i].Partitions {
					p := &inv.Topics[i].Partitions[j]
					p.Start, p.End, p.Stable, p.Lag, p.Fault = nil, nil, nil, nil, fault
				}
			}
		}, []string{"inputs whole", "changelogs empty", "no changelog", "no commit"}},
		"configs":      {func(inv *Inventory) { inv.Topics[0].Configs, inv.Topics[1].Configs = nil, nil }, []string{"changelogs compacted", "inputs whole", "not compacted"}},
		"transactions": {func(inv *Inventory) { inv.Gaps = []*streams.Fault{fault} }, []string{"no open transaction"}},
		"commits": {func(inv *Inventory) {
			inv.CommitsFault = fault
			inv.Topics[0].Partitions = []PartitionState{part(0, 0, 10, -1)}
		}, []string{"no commit"}},
		"group":    {func(inv *Inventory) { inv.Group = streams.Group{ID: "shop", Fault: fault} }, []string{"group empty", "no group", "group stable"}},
		"replicas": {func(inv *Inventory) { inv.Topics[0].Partitions[0].Replicas = 0 }, []string{"replicas in sync"}},
		"a table that reads its source again": {func(inv *Inventory) {
			top, err := streams.ParseTopology("Topologies:\n   Sub-topology: 0\n    Source: KSTREAM-SOURCE-0000000001 (topics: [orders])\n      --> KTABLE-SOURCE-0000000002\n    Processor: KTABLE-SOURCE-0000000002 (stores: [names])\n      --> none\n      <-- KSTREAM-SOURCE-0000000001\n\n")
			if err != nil {
				panic(err)
			}
			inv.Hints.Topology, inv.Hints.Stores, inv.Topics[0].TableSource = &top, []string{"names"}, true
		}, []string{"changelog missing"}},
	} {
		t.Run(name, func(t *testing.T) {
			inv := well()
			tc.change(&inv)
			findsNone(t, inv, tc.not...)
		})
	}
}

func TestManyPartitionsAreOneFinding(t *testing.T) {
	inv := well()
	inv.Topics[0].Partitions = nil
	for n := range int32(1000) {
		inv.Topics[0].Partitions = append(inv.Topics[0].Partitions, part(n, 0, 5, int64(5+(n+1)%2)))
	}
	n := 0
	for _, f := range Diagnose(inv).Findings {
		if f.Name == "commit beyond end" {
			n++
			if len(f.Detail) > 200 || !strings.Contains(f.Detail, "500 of 1000") {
				t.Errorf("detail: %s", f.Detail)
			}
		}
	}
	if n != 1 {
		t.Errorf("%d findings", n)
	}
}

func TestKeeping(t *testing.T) {
	inv := well()
	inv.Topics[2].Partitions[0] = part(0, 90, 97, 90)
	inv.Topics = append(
		inv.Topics, Topic{Name: "shop-v2-a-changelog", Role: streams.RoleLookalike}, Topic{Name: "shop-b-changelog", Role: streams.RoleLookalike, Ambiguous: true},
		Topic{Name: "regions", Role: streams.RoleGlobal}, Topic{Name: "totals", Role: streams.RoleOutput},
	)
	want := map[string]Backup{
		CommittedOffsets: BackupYes, "orders": BackupYes, "shop-counts-changelog": BackupYes, "shop-by-name-repartition": BackupTail,
		"shop-v2-a-changelog": BackupOwn, "shop-b-changelog": BackupUnknown, "regions": BackupYes, "totals": BackupOwn,
	}
	got := map[string]Backup{}
	for _, k := range Diagnose(inv).Keeping {
		got[k.Topic] = k.Backup
		if k.Holds == "" || k.Archived == "" {
			t.Errorf("%+v", k)
		}
	}
	for topic, b := range want {
		if got[topic] != b {
			t.Errorf("%s: %s, want %s", topic, got[topic], b)
		}
	}
	inv.Topics[2].Partitions[0] = part(0, 97, 97, 97)
	for _, k := range Diagnose(inv).Keeping {
		if k.Role == streams.RoleRepartition && k.Backup != BackupNo {
			t.Errorf("read to its end: %+v", k)
		}
	}
}
