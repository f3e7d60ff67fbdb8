package ui

import (
	"time"

	"resurge/discovery"
	"resurge/recovery"
	"resurge/streams"
)

func sampleGroups() discovery.GroupSurvey {
	row := func(group string, kind streams.GroupKind, state string, isStreams bool, members, topics, parts int, lag int64) discovery.GroupRow {
		return discovery.GroupRow{Group: group, Kind: kind, State: state, Streams: isStreams, Members: new(members), Topics: new(topics), Partitions: new(parts), Lag: new(lag)}
	}
	commits := row("connect-sink-orders", streams.KindConnect, "Stable", false, 2, 0, 0, 0)
	commits.Lag = nil
	share := row("price-shares", streams.KindShare, "Stable", false, 3, 0, 0, 0)
	share.Topics, share.Partitions, share.Lag = nil, nil, nil
	return discovery.GroupSurvey{
		Cluster: sampleCluster(), TakenAt: now.Add(-3 * time.Second),
		Rows: []discovery.GroupRow{
			row("order-processor", streams.KindClassic, "Empty", true, 0, 3, 9, 41202),
			row("billing", streams.KindConsumer, "Stable", false, 4, 2, 24, 12),
			row("dashboards", streams.KindClassic, "Stable", false, 1, 1, 12, 204_118),
			commits, share,
			row("session-builder", streams.KindStreams, "Stable", true, 2, 2, 8, 12),
			row("mirror-offsets", streams.KindCommits, "Empty", false, 0, 7, 84, 9_204_118),
			{Group: "payroll", Kind: streams.KindClassic, State: "Stable", Fault: fault(streams.FaultNotAllowed, "group payroll", "the principal may not describe the group", "DESCRIBE on the group is needed")},
		},
		Gaps: []*streams.Fault{fault(streams.FaultUnreachable, "broker 3", "does not answer", "the groups that it coordinates are missing")},
	}
}

// sampleGroup is a group that is no application of Kafka Streams.
func sampleGroup() discovery.Inventory {
	at := func(s int) time.Time { return now.Add(-time.Duration(s) * time.Second) }
	topic := func(name string, n int, committed, end int64, owner string, commits time.Time) discovery.Topic {
		t := discovery.Topic{Name: name, ID: streams.TopicID{9, 9}, Role: streams.RoleInput, Evidence: []string{"the group has commits on it"}, Partitions: partitions(n, 0, committed, end), ReplicationFactor: 3}
		for i := range t.Partitions {
			t.Partitions[i].CommittedAt, t.Partitions[i].Owner = commits, owner
		}
		return t
	}
	inv := discovery.Inventory{
		Application: "billing", Cluster: sampleCluster(), TakenAt: now, Kind: streams.KindConsumer,
		Activity: &streams.Activity{LastCommit: at(2), Whole: true},
		Group:    streams.Group{ID: "billing", Exists: true, Protocol: streams.ProtocolConsumer, State: "Stable", Coordinator: 3, Assignor: "uniform", Epoch: 14, TargetEpoch: 14},
		Topics:   []discovery.Topic{topic("orders", 3, 6_067_838, 6_067_850, "b-1", at(2)), topic("refunds", 2, 311, 311, "b-2", at(640))},
	}
	inv.Topics[1].Partitions[1].Committed, inv.Topics[1].Partitions[1].Lag, inv.Topics[1].Partitions[1].CommittedAt = nil, nil, time.Time{}
	for i, host := range []string{"/10.0.4.1", "/10.0.4.2"} {
		m := streams.Member{ID: []string{"b-1", "b-2"}[i], ClientID: "billing-consumer", Host: host, Rack: "eu-1a", Subscribed: []string{"orders", "refunds"}, Epoch: 14}
		for _, p := range inv.Topics[i].Partitions {
			m.Assigned = append(m.Assigned, streams.TopicPartition{Topic: inv.Topics[i].Name, Partition: p.Partition})
		}
		inv.Group.Members = append(inv.Group.Members, m)
	}
	return inv
}

// liveInventory is the sample's application while it runs.
func liveInventory() discovery.Inventory {
	inv := sampleInventory()
	inv.Group = busyGroup()
	inv.Activity = &streams.Activity{LastCommit: now.Add(-4 * time.Second), Whole: true}
	task := func(sub, p int32, active, standby string, lag *int64, running bool, topic string) discovery.Task {
		t := discovery.Task{ID: streams.TaskID{Subtopology: sub, Partition: p}, Lag: lag, Running: running, Sources: []streams.TopicPartition{{Topic: topic, Partition: p}}}
		if active != "" {
			t.Active = []string{active}
		}
		if standby != "" {
			t.Standby = []string{standby}
		}
		return t
	}
	id := func(i int) string { return inv.Group.Members[i].ID }
	inv.Tasks = []discovery.Task{
		task(0, 0, id(0), id(1), nil, true, "orders"),
		task(0, 1, id(1), id(2), new(int64(41_204)), false, "orders"),
		task(0, 2, id(2), "", nil, false, "orders"),
		task(1, 0, id(0), "", nil, true, "order-processor-by-sku-repartition"),
		task(1, 1, "", id(2), new(int64(9)), false, "order-processor-by-sku-repartition"),
		task(1, 2, id(2), "", nil, true, "order-processor-by-sku-repartition"),
	}
	inv.Tasks[2].Active = append(inv.Tasks[2].Active, id(0))
	inv.Tasks[5].Warmup = []string{id(1)}
	for i := range inv.Topics {
		t := &inv.Topics[i]
		for j := range t.Partitions {
			p := &t.Partitions[j]
			p.Replicas, p.ISR = 3, 3
			if p.Committed != nil {
				p.CommittedAt = now.Add(-time.Duration(4+j) * time.Second)
				p.Streams = &discovery.StreamsCommit{PartitionTime: now.Add(-time.Duration(20+j) * time.Second)}
				p.Owner = id(j)
			}
		}
	}
	return inv
}

func sampleClocks() []discovery.Clock {
	left := func(d time.Duration) (time.Time, *time.Duration) { return now.Add(d), &d }
	clock := func(l discovery.Level, name string, d time.Duration, detail, advice string) discovery.Clock {
		due, n := left(d)
		return discovery.Clock{Level: l, Name: name, Due: due, Left: n, Detail: detail, Advice: advice}
	}
	return []discovery.Clock{
		clock(discovery.LevelLook, "input retention", 5*time.Hour+12*time.Minute, "orders: its oldest records are deleted then (retention.ms 604800000)", "start a rebuild before, or raise retention.ms"),
		clock(discovery.LevelInfo, "offsets expire", 167*time.Hour, "offsets.retention.minutes is 10080, the group is empty since 13:49:31 UTC", ""),
		{Level: discovery.LevelInfo, Name: "transactions", Detail: "none is open"},
		{Level: discovery.LevelUnknown, Name: "session timeout", Detail: "the members' own setting is not told to the broker", Advice: "look at session.timeout.ms of the application"},
	}
}

func sampleKeeping() []discovery.Keeping {
	return []discovery.Keeping{
		{Topic: "orders", Role: streams.RoleInput, Holds: "18,203,550 records since 2026-10-02", Backup: discovery.BackupYes, Why: "a rebuild reads it from its beginning", Archived: "no archive"},
		{Topic: "customers", Role: streams.RoleInput, Holds: "204,117 records, compacted", Backup: discovery.BackupYes, Why: "compaction has dropped what a rebuild would need: only the archive has it", Archived: "no archive"},
		{Topic: "order-processor-by-day-changelog", Role: streams.RoleChangelog, Holds: "the state of store by-day", Backup: discovery.BackupYes, Why: "with it a restore needs no replay", Archived: "no archive"},
		{Topic: "order-processor-by-sku-repartition", Role: streams.RoleRepartition, Holds: "411 records in flight", Backup: discovery.BackupTail, Why: "what is not consumed yet is nowhere else", Archived: "no archive"},
		{Topic: "order-totals", Role: streams.RoleOutput, Holds: "results", Backup: discovery.BackupUnknown, Why: "whether others could miss it is not known", Archived: ""},
		{Topic: "order-processor-v2-totals-changelog", Role: streams.RoleLookalike, Holds: "state of order-processor-v2", Backup: discovery.BackupOwn, Why: "it belongs to order-processor-v2", Archived: "-"},
	}
}

func samplePreflight() recovery.Preflight {
	c := sampleCluster()
	c.Principal = "User:ops"
	need := func(op, resource, name, why string, held recovery.Held) recovery.Need {
		n := recovery.Need{Operation: streams.Operation(op), Resource: resource, Name: name, Why: why, Held: held}
		if held != recovery.HeldYes {
			n.Command = `kafka-acls.sh --bootstrap-server "$BOOTSTRAP" --add --allow-principal User:ops --operation ` + op + ` --` + map[string]string{"TOPIC": "topic", "GROUP": "group", "CLUSTER": "cluster"}[resource] + ` ` + name
		}
		return n
	}
	out := recovery.Preflight{
		Application: "order-processor", Purpose: recovery.ForRebuild, Cluster: c,
		Needs: []recovery.Need{
			need("DESCRIBE", "GROUP", "order-processor", "see members and committed offsets", recovery.HeldYes),
			need("READ", "GROUP", "order-processor", "commit offsets for the inputs", recovery.HeldNo),
			need("DELETE", "TOPIC", "order-processor-by-day-changelog", "delete the changelog, so that the replay starts empty", recovery.HeldUnknown),
			need("DELETE", "TOPIC", "order-processor-by-sku-repartition", "delete what is in flight", recovery.HeldNo),
			need("READ", "TOPIC", "orders", "measure the replay", recovery.HeldYes),
			need("DESCRIBE_CONFIGS", "CLUSTER", "kafka-cluster", "see offsets.retention.minutes", recovery.HeldNo),
		},
	}
	out.Needs[2].Fault = fault(streams.FaultUnsupported, "rights on topic order-processor-by-day-changelog", "the broker is too old to say", "")
	out.Needs[5].Optional = true
	return out
}
