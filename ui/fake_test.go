package ui

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"resurge/discovery"
	"resurge/plans"
	"resurge/recovery"
	"resurge/streams"
)

// The fixed moment of the tests, one hour ahead of UTC as the operator sees it.
var (
	cet = time.FixedZone("CET", 3600)
	t0  = time.Date(2026, 12, 1, 13, 49, 31, 0, time.UTC) // the incident
	now = time.Date(2026, 12, 1, 14, 2, 31, 0, time.UTC)
)

const (
	clusterID = "MkU3OEVBNTcwNTJENDM2Qk"
	planID    = "sha256:4be190c2aa00112233445566778899aabbccddeeff00112233445566778899aa"
	runID     = "20261201-1404-4be190"
)

// fake is the session's other side: fixed data, and a record of what was asked.
type fake struct {
	mu      sync.Mutex
	survey  discovery.Survey
	groups  discovery.GroupSurvey
	inv     discovery.Inventory
	look    func(n int) discovery.Inventory // the n-th look of Explore; nil: inv
	looks   int
	rights  recovery.Preflight
	as      recovery.Assessment
	plan    plans.Plan
	err     error
	delay   chan struct{} // when set, questions wait until it is closed
	calls   []string
	request recovery.Request
	log     *recovery.EventLog
	onStart func(*fake)
}

func newFake() *fake {
	return &fake{
		survey: sampleSurvey(), groups: sampleGroups(), inv: sampleInventory(), as: sampleAssessment(), plan: samplePlan(), rights: samplePreflight(),
		log: recovery.NewEventLog(),
	}
}

func (f *fake) said(format string, args ...any) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.calls = append(f.calls, fmt.Sprintf(format, args...))
}

func (f *fake) heard() []string {
	f.mu.Lock()
	defer f.mu.Unlock()
	return append([]string(nil), f.calls...)
}

func (f *fake) wait(ctx context.Context) error {
	if f.delay == nil {
		return nil
	}
	select {
	case <-f.delay:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

func (f *fake) Survey(ctx context.Context) (discovery.Survey, error) {
	if err := f.wait(ctx); err != nil {
		return discovery.Survey{}, err
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.survey, f.err
}

func (f *fake) Inspect(ctx context.Context, app string) (discovery.Inventory, recovery.Assessment, error) {
	f.said("inspect %s", app)
	if err := f.wait(ctx); err != nil {
		return discovery.Inventory{}, recovery.Assessment{}, err
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	inv := f.inv
	inv.Application = app
	return inv, f.as, f.err
}

// Glance gives the names of the survey.
func (f *fake) Glance(ctx context.Context) (discovery.Survey, error) {
	if err := f.wait(ctx); err != nil {
		return discovery.Survey{}, err
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	return glanced(f.survey), f.err
}

// glanced leaves of a survey what names tell.
func glanced(v discovery.Survey) discovery.Survey {
	v.Partial = true
	rows := make([]discovery.SurveyRow, 0, len(v.Rows))
	for _, r := range v.Rows {
		rows = append(rows, discovery.SurveyRow{
			Application: r.Application, Protocol: r.Protocol, State: r.State, Stores: r.Stores, Orphan: r.Orphan, Level: discovery.LevelUnknown, Evidence: r.Evidence,
		})
	}
	v.Rows = rows
	return v
}

func (f *fake) Groups(ctx context.Context) (discovery.GroupSurvey, error) {
	f.said("groups")
	if err := f.wait(ctx); err != nil {
		return discovery.GroupSurvey{}, err
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.groups, f.err
}

func (f *fake) Explore(ctx context.Context, group string) (discovery.Inventory, error) {
	f.said("explore %s", group)
	if err := f.wait(ctx); err != nil {
		return discovery.Inventory{}, err
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	f.looks++
	inv := f.inv
	if f.look != nil {
		inv = f.look(f.looks)
	}
	inv.Application = group
	return inv, f.err
}

func (f *fake) Preflight(ctx context.Context, app string, purpose recovery.Purpose) (recovery.Preflight, error) {
	f.said("preflight %s for %s", app, purpose)
	if err := f.wait(ctx); err != nil {
		return recovery.Preflight{}, err
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	v := f.rights
	v.Application, v.Purpose = app, purpose
	return v, f.err
}

func (f *fake) Plan(_ context.Context, r recovery.Request) (plans.Plan, error) {
	f.said("plan %s", r.Application)
	f.mu.Lock()
	defer f.mu.Unlock()
	f.request = r
	return f.plan, f.err
}

func (f *fake) Start(p plans.Plan, a recovery.Approval) error {
	f.said("start %s by %s: %s", p.ID[:11], a.By, a.How)
	if a.PlanID != p.ID {
		return errors.New("approval of another plan")
	}
	if f.onStart != nil {
		f.onStart(f)
	}
	return nil
}

func (f *fake) Acknowledge(task, by string) { f.said("acknowledge %s by %s", task, by) }
func (f *fake) Decline(task, why string)    { f.said("decline %s: %s", task, why) }
func (f *fake) PauseAfterStep()             { f.said("pause") }
func (f *fake) Continue()                   { f.said("continue") }
func (f *fake) Stop()                       { f.said("stop") }

func (f *fake) Next(ctx context.Context, c recovery.Cursor) ([]recovery.Event, recovery.Cursor, error) {
	return f.log.Next(ctx, c)
}

func (f *fake) session() Session {
	return Session{
		Explorer: f, Controls: f, Events: f, Context: "prod-eu", Operator: "mira", Incident: t0, RTO: 30 * time.Minute,
		Now:           func() time.Time { return now.In(cet) },
		ResumeCommand: func(id string) string { return "resurge resume " + id },
		UndoCommand:   func(id string) string { return "resurge undo " + id },
	}
}

func fault(kind streams.FaultKind, what, message, hint string) *streams.Fault {
	return &streams.Fault{Kind: kind, What: what, Message: message, Hint: hint}
}

func sampleCluster() streams.Cluster {
	return streams.Cluster{ID: clusterID, Controller: 1, Brokers: []streams.Broker{
		{ID: 1, Host: "kafka-1", Port: 9092}, {ID: 2, Host: "kafka-2", Port: 9092}, {ID: 3, Host: "kafka-3", Port: 9092},
	}}
}

func sampleSurvey() discovery.Survey {
	row := func(app, state string, protocol streams.GroupProtocol, members, stores int, lag int64, l discovery.Level, worst string) discovery.SurveyRow {
		return discovery.SurveyRow{
			Application: app, State: state, Protocol: protocol, Members: new(members), Stores: new(stores), Lag: new(lag), Level: l, Worst: worst,
			Evidence: []string{"group " + app + " has the stream assignor", "5 internal topics are named after it"},
		}
	}
	return discovery.Survey{
		Cluster: sampleCluster(), TakenAt: now.Add(-4 * time.Second), Others: 31,
		Rows: []discovery.SurveyRow{
			row("shipment-tracker", "Stable", streams.ProtocolClassic, 6, 9, 0, discovery.LevelOK, ""),
			row("order-processor", "Empty", streams.ProtocolClassic, 0, 5, 41204, discovery.LevelBad, "changelog missing"),
			row("payments-enricher", "PreparingRebalance", streams.ProtocolClassic, 3, 2, 310, discovery.LevelLook, "rebalancing"),
			row("fraud-scores", "Stable", streams.ProtocolClassic, 4, 3, 0, discovery.LevelLook, "lag grows"),
			{
				Application: "legacy-rollup", Protocol: streams.ProtocolUnknown, Level: discovery.LevelUnknown, Worst: "not allowed",
				Fault:    fault(streams.FaultNotAllowed, "group legacy-rollup", "the principal may not describe the group", "DESCRIBE on the group is needed"),
				Evidence: []string{"3 internal topics are named after it"},
			},
			row("session-builder", "Stable", streams.ProtocolStreams, 2, 1, 12, discovery.LevelOK, ""),
		},
	}
}

func partitions(n int, start, committed, end int64) []discovery.PartitionState {
	out := make([]discovery.PartitionState, 0, n)
	for i := range n {
		p := discovery.PartitionState{Partition: int32(i), Leader: int32(i%3 + 1), Start: new(start), End: new(end), Stable: new(end)}
		if committed >= 0 {
			p.Committed = &streams.Commit{Offset: committed, LeaderEpoch: -1}
			p.Lag = new(end - committed)
		}
		out = append(out, p)
	}
	return out
}

func sampleInventory() discovery.Inventory {
	id := func(b byte) streams.TopicID {
		return streams.TopicID{b, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15}
	}
	return discovery.Inventory{
		Application: "order-processor", Cluster: sampleCluster(), TakenAt: now,
		Kind: streams.KindClassic, Signs: []string{"its commits carry the metadata of Kafka Streams"},
		Activity: &streams.Activity{LastCommit: t0.Add(-3 * time.Second), Emptied: t0, Whole: true},
		Group:    streams.Group{ID: "order-processor", Exists: true, Protocol: streams.ProtocolClassic, ProtocolType: "consumer", Assignor: "stream", State: "Empty", Coordinator: 2},
		Topics: []discovery.Topic{
			{
				Name: "order-processor-totals-changelog", Role: streams.RoleChangelog, Store: "totals",
				Fault: fault(streams.FaultNotFound, "topic order-processor-totals-changelog", "does not exist", ""), Evidence: []string{"the other changelogs of the topology exist"},
			},
			{
				Name: "order-processor-by-day-changelog", ID: id(2), Role: streams.RoleChangelog, Owned: true, Store: "by-day", StoreKind: "windowed",
				Evidence: []string{"named <application>-<store>-changelog", "no other group has a commit on it"}, Partitions: partitions(3, 0, -1, 956704), ReplicationFactor: 3,
				Configs: map[string]streams.Config{"cleanup.policy": {Value: "compact,delete", Dynamic: true}, "segment.bytes": {Value: "1073741824"}},
			},
			{
				Name: "order-processor-by-sku-repartition", ID: id(3), Role: streams.RoleRepartition, Owned: true,
				Evidence: []string{"named <application>-<node>-repartition"}, Partitions: partitions(3, 1200, 1337, 1337), ReplicationFactor: 3,
			},
			{
				Name: "orders", ID: id(4), Role: streams.RoleInput, Evidence: []string{"the group has commits on 3 of 3 partitions"},
				Partitions: partitions(3, 0, 6054116, 6067850), ReplicationFactor: 3, ReadBy: []string{"billing", "order-processor-v2"},
			},
			{Name: "customers", ID: id(5), Role: streams.RoleInput, Evidence: []string{"the group has commits on 3 of 3 partitions"}, Partitions: partitions(3, 0, 68039, 68039), ReplicationFactor: 3},
			{Name: "order-totals", ID: id(6), Role: streams.RoleOutput, Evidence: []string{"named by the operator"}, Partitions: partitions(3, 0, -1, 6067966), ReplicationFactor: 3},
			{
				Name: "order-processor-v2-totals-changelog", ID: id(7), Role: streams.RoleLookalike,
				Evidence: []string{"belongs to the longer application ID order-processor-v2"}, Partitions: partitions(3, 0, -1, 303667), ReplicationFactor: 3,
			},
		},
		LongerIDs: []string{"order-processor-v2"},
	}
}

func sampleAssessment() recovery.Assessment {
	return recovery.Assessment{
		Diagnosis: discovery.Diagnosis{Findings: []discovery.Finding{
			{Level: discovery.LevelOK, Name: "inputs whole", Detail: "orders, customers: log start 0, nothing compacted away"},
			{Level: discovery.LevelBad, Name: "changelog missing", Detail: "order-processor-totals-changelog does not exist; every other store has its changelog", Advice: "compare the ways back (c)"},
			{Level: discovery.LevelLook, Name: "group empty", Detail: "no members; a start now would replay from the committed offsets onto empty state"},
			{Level: discovery.LevelInfo, Name: "standby", Detail: "none configured: an instance loss means a full restore"},
		}},
		Options: []recovery.Option{
			{
				Strategy: string(plans.Rebuild), Available: true, Reason: "the inputs are whole: 18,407,667 records are read again",
				Estimate: &recovery.Estimate{Low: 6 * time.Minute, High: 11 * time.Minute, Records: 18407667, From: "51,204 records/s in a probe of this cluster"},
				Notes:    []string{"every output is emitted again: order-totals, read by billing and dashboards", "the repartition topic is deleted with 411 records; the replay writes them again"},
			},
			{Strategy: string(plans.ChangelogRestore), Reason: "there is no backup set for this application"},
			{Strategy: string(plans.PITRRebuild), Reason: "there is no backup set for this application"},
			{Strategy: string(plans.StandbyPromotion), Reason: "no standbys, and the group is empty"},
		},
	}
}

func samplePlan() plans.Plan {
	id := streams.TopicID{2, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15}
	offsets := make([]plans.OffsetChange, 0, 6)
	for i := range int32(3) {
		offsets = append(offsets,
			plans.OffsetChange{Topic: "customers", Partition: i, Before: new(int64(68039)), After: new(int64(0)), End: 68039},
			plans.OffsetChange{Topic: "orders", Partition: i, Before: new(int64(6054116)), After: new(int64(0)), End: 6067850})
	}
	steps := []plans.Step{
		{Kind: plans.SaveState, Title: "save offsets, configs and topic IDs as they are now", Risk: plans.ReadOnly},
		{
			Kind: plans.OperatorTask, Title: "stop every instance of order-processor", Risk: plans.ByOperator,
			Task: &plans.Task{Name: plans.TaskStop, Ask: "Stop every instance of order-processor.", Why: "a running instance would process while its offsets and topics change", Details: []string{"kubectl scale deploy/order-processor --replicas=0"}},
		},
		{
			Kind: plans.AwaitEmpty, Title: "wait until the group has no members", Risk: plans.ReadOnly, Deadline: 300,
			CLI: []string{`kafka-consumer-groups.sh --bootstrap-server "$BOOTSTRAP" --describe --group order-processor --state`},
		},
		{Kind: plans.AwaitTransactions, Title: "wait until no transaction of the application is open", Risk: plans.ReadOnly, Deadline: 90},
		{
			Kind: plans.CommitOffsets, Title: "commit offsets for 6 input partitions", Risk: plans.Reversible, Undo: "resurge undo: from the saved offsets", Offsets: offsets,
			CLI: []string{`kafka-consumer-groups.sh --bootstrap-server "$BOOTSTRAP" --group order-processor --reset-offsets --from-file offsets.csv --execute`},
		},
		{
			Kind: plans.DeleteTopic, Title: "delete order-processor-by-day-changelog", Risk: plans.Destructive,
			Topics: []plans.Topic{{Name: "order-processor-by-day-changelog", ID: id, Role: streams.RoleChangelog, Partitions: 3, Records: 2870112, Why: "named <application>-<store>-changelog; no other group has a commit on it"}},
			CLI:    []string{`kafka-topics.sh --bootstrap-server "$BOOTSTRAP" --delete --topic order-processor-by-day-changelog`},
		},
		{
			Kind: plans.DeleteTopic, Title: "delete order-processor-by-sku-repartition", Risk: plans.Destructive,
			Topics: []plans.Topic{{Name: "order-processor-by-sku-repartition", ID: id, Role: streams.RoleRepartition, Partitions: 3, Records: 411}},
			CLI:    []string{`kafka-topics.sh --bootstrap-server "$BOOTSTRAP" --delete --topic order-processor-by-sku-repartition`},
		},
		{
			Kind: plans.OperatorTask, Title: "clear the state directories on every instance", Risk: plans.ByOperator,
			Task: &plans.Task{Name: plans.TaskClearState, Ask: "Clear the state directories on all three hosts, with the application stopped.", Why: "old state would be mixed with the replay: every count would be wrong", Details: []string{"kubectl delete pvc -l app=order-processor"}},
		},
		{
			Kind: plans.OperatorTask, Title: "start order-processor", Risk: plans.ByOperator,
			Task: &plans.Task{Name: plans.TaskStart, Ask: "Start order-processor.", Why: "it rebuilds its own state", Details: []string{"kubectl scale deploy/order-processor --replicas=3"}},
		},
		{Kind: plans.AwaitCaughtUp, Title: "wait until the inputs pass the target vector and the repartition topics are drained", Risk: plans.ReadOnly, Deadline: 43200},
		{Kind: plans.ProveState, Title: "prove the state: ask it and compare with its changelogs", Risk: plans.ReadOnly, Deadline: 120},
	}
	for i := range steps {
		steps[i].ID = fmt.Sprint(i + 1)
	}
	return plans.Plan{
		Format: 1, ID: planID, Strategy: plans.Rebuild, Application: "order-processor", ClusterID: clusterID, Created: now.Add(-20 * time.Second), Program: "resurge 0.1.0",
		Summary:  "replay 18,407,667 records of 2 input topics, delete 2 internal topics",
		Warnings: []string{"every output is emitted again from the chosen position on"},
		Basis:    []plans.Fact{{Name: "cluster", Value: clusterID}, {Name: "group order-processor", Value: "empty"}, {Name: "topic ID of order-processor-by-day-changelog", Value: id.String()}},
		Steps:    steps,
	}
}
