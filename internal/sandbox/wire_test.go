package sandbox

import (
	"encoding/binary"
	"maps"
	"net/http"
	"regexp"
	"slices"
	"strconv"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"

	"resurge/streams"
)

// What a broker shows of the application's group.
func TestGroupOnTheWire(t *testing.T) {
	inBubble(t, Options{Scenario: "nothing-wrong"}, func(r *rig) {
		t := r.t
		described, err := r.adm.DescribeGroups(t.Context(), r.Application())
		r.must(err)
		g := described[r.Application()]
		if g.Err != nil || g.State != "Stable" || g.ProtocolType != "consumer" || g.Protocol != "stream" {
			t.Fatalf("group is %q of type %q, protocol %q (%v)", g.State, g.ProtocolType, g.Protocol, g.Err)
		}
		clientID := regexp.MustCompile(`^order-processor-([0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})-StreamThread-1-consumer$`)
		tasks := map[streams.TaskID]int{}
		processes := map[string]bool{}
		for _, m := range g.Members {
			match := clientID.FindStringSubmatch(m.ClientID)
			if match == nil {
				t.Errorf("client ID %q is not that of a stream thread", m.ClientID)
				continue
			}
			info := checkSubscription(t, m)
			if info.ProcessID.String() != match[1] {
				t.Errorf("process ID %s in the user data, %s in the client ID", info.ProcessID, match[1])
			}
			processes[match[1]] = true
			for _, id := range checkAssignment(t, r, m, info.UserEndpoint) {
				tasks[id]++
			}
		}
		if len(processes) != 2 {
			t.Errorf("%d processes, want 2", len(processes))
		}
		want := map[streams.TaskID]int{}
		for sub := range int32(2) {
			for p := range int32(inputPartitions) {
				want[streams.TaskID{Subtopology: sub, Partition: p}] = 1
			}
		}
		if d := cmp.Diff(want, tasks); d != "" {
			t.Errorf("active tasks (-want +got):\n%s", d)
		}
	})
}

func checkSubscription(t *testing.T, m kadm.DescribedGroupMember) streams.SubscriptionInfo {
	t.Helper()
	join, ok := m.Join.AsConsumer()
	if !ok {
		t.Fatalf("metadata of %s is not a consumer subscription", m.ClientID)
	}
	want := []string{"customers", "order-processor-by-item-repartition", "orders"}
	if !slices.Equal(join.Topics, want) {
		t.Errorf("subscribed to %v, want %v", join.Topics, want)
	}
	info, err := streams.DecodeSubscriptionInfo(join.UserData)
	if err != nil {
		t.Fatal(err)
	}
	if info.Version != 11 || info.LatestSupported != 11 || info.ErrorCode != 0 {
		t.Errorf("subscription version %d, latest %d, error code %d", info.Version, info.LatestSupported, info.ErrorCode)
	}
	return info
}

// checkAssignment returns the member's tasks.
func checkAssignment(t *testing.T, r *rig, m kadm.DescribedGroupMember, endpoint string) []streams.TaskID {
	t.Helper()
	assigned, ok := m.Assigned.AsConsumer()
	if !ok {
		t.Fatalf("assignment of %s is not that of a consumer", m.ClientID)
	}
	info, err := streams.DecodeAssignmentInfo(assigned.UserData)
	if err != nil {
		t.Fatal(err)
	}
	var tps []streams.TopicPartition
	for _, a := range assigned.Topics {
		for _, p := range a.Partitions {
			tps = append(tps, streams.TopicPartition{Topic: a.Topic, Partition: p})
		}
	}
	byTask, err := streams.TaskPartitions(tps, info.Active)
	if err != nil {
		t.Fatal(err)
	}
	for id, got := range byTask {
		want := []streams.TopicPartition{{Topic: "order-processor-by-item-repartition", Partition: id.Partition}}
		if id.Subtopology == 0 {
			want = []streams.TopicPartition{{Topic: "customers", Partition: id.Partition}, {Topic: "orders", Partition: id.Partition}}
		}
		if d := cmp.Diff(want, got); d != "" {
			t.Errorf("sources of task %s (-want +got):\n%s", id, d)
		}
	}
	if info.Version != 11 || len(info.Hosts) != len(r.Instances()) {
		t.Errorf("assignment version %d with %d hosts", info.Version, len(info.Hosts))
	}
	if !slices.ContainsFunc(r.Instances(), func(in Instance) bool { return in.Addr == endpoint }) {
		t.Errorf("user endpoint %q is none of the instances'", endpoint)
	}
	return slices.Collect(maps.Keys(byTask))
}

// The sums of a restarted member tell what is on its disk, before it has run.
func TestFirstJoinTellsOfTheDisk(t *testing.T) {
	for _, clear := range []bool{false, true} {
		inBubble(t, Options{Scenario: "nothing-wrong", Instances: 1}, func(r *rig) {
			t := r.t
			ctx := t.Context()
			r.must(r.Stop(ctx))
			r.empty()
			if clear {
				r.must(r.ClearState(ctx))
			}
			var sums []map[streams.TaskID]int64
			r.cluster.ControlKey(int16(kmsg.JoinGroup), func(req kmsg.Request) (kmsg.Response, error, bool) {
				r.cluster.KeepControl()
				for _, p := range req.(*kmsg.JoinGroupRequest).Protocols {
					var meta kmsg.ConsumerMemberMetadata
					if meta.ReadFrom(p.Metadata) == nil {
						info, _ := streams.DecodeSubscriptionInfo(meta.UserData)
						sums = append(sums, info.OffsetSums)
					}
				}
				return nil, nil, false
			})
			r.must(r.StartApp(ctx))
			r.caughtUp()
			if clear && len(sums[0]) != 0 {
				t.Errorf("offset sums after the state was cleared: %v", sums[0])
			}
			if sum := sums[0][streams.TaskID{}]; !clear && sum <= 0 {
				t.Errorf("offset sum of task 0_0 is %d, want that of its checkpoint", sum)
			}
		})
	}
}

func TestCommitsCarryPartitionTime(t *testing.T) {
	inBubble(t, Options{Scenario: "nothing-wrong"}, func(r *rig) {
		t := r.t
		ctx := t.Context()
		newest := map[streams.TopicPartition]int64{}
		for _, rec := range r.read(r.Inputs()...) {
			tp := streams.TopicPartition{Topic: rec.Topic, Partition: rec.Partition}
			newest[tp] = max(newest[tp], rec.Timestamp.UnixMilli())
		}
		offsets := r.fetchOffsets(r.Application())
		for tp, want := range newest {
			o, ok := offsets.Lookup(tp.Topic, tp.Partition)
			if !ok {
				t.Errorf("%s has no commit", tp)
				continue
			}
			m, err := streams.DecodeOffsetMetadata(o.Metadata)
			r.must(err)
			if m.Magic != 2 || m.PartitionTime != want {
				t.Errorf("%s: magic %d, partition time %d, want 2 and %d", tp, m.Magic, m.PartitionTime, want)
			}
		}
		for _, topic := range r.Inputs() {
			if o, ok := offsets.Lookup(topic, idlePartition); ok {
				t.Errorf("idle partition of %s has commit %d", topic, o.At)
			}
		}
		// Partition time outlives a restart without records.
		r.must(r.Stop(ctx), r.StartApp(ctx))
		r.caughtUp()
		if d := cmp.Diff(offsets.Offsets(), r.fetchOffsets(r.Application()).Offsets()); d != "" {
			t.Errorf("commits changed over a quiet restart:\n%s", d)
		}
	})
}

// read reads topics from start to end.
func (r *rig) read(topics ...string) []*kgo.Record {
	r.t.Helper()
	starts, ends := r.ends(topics...)
	from := map[string]map[int32]kgo.Offset{}
	want := int64(0)
	ends.Each(func(o kadm.ListedOffset) {
		start, _ := starts.Lookup(o.Topic, o.Partition)
		want += o.Offset - start.Offset
		if from[o.Topic] == nil {
			from[o.Topic] = map[int32]kgo.Offset{}
		}
		from[o.Topic][o.Partition] = kgo.NewOffset().At(start.Offset)
	})
	cl, err := kgo.NewClient(append(clientOpts(r.Bootstrap(), r.opts.Dial, "reader"), kgo.ConsumePartitions(from))...)
	r.must(err)
	defer cl.Close()
	var out []*kgo.Record
	for int64(len(out)) < want {
		f := cl.PollFetches(r.t.Context())
		r.must(f.Err())
		out = append(out, f.Records()...)
	}
	return out
}

// The changelogs hold the state in the layouts that Streams writes.
func TestChangelogBytes(t *testing.T) {
	inBubble(t, Options{Scenario: "nothing-wrong"}, func(r *rig) {
		t := r.t
		got := newExpected()
		app := r.Application()
		for _, rec := range r.read(streams.ChangelogTopic(app, storeTotals)) {
			got.Counts[storeTotals][string(rec.Key)] = int64(binary.BigEndian.Uint64(rec.Value))
		}
		for _, rec := range r.read(streams.ChangelogTopic(app, storeItems)) {
			got.Counts[storeItems][string(rec.Key)] = int64(binary.BigEndian.Uint64(rec.Value))
		}
		for _, rec := range r.read(streams.ChangelogTopic(app, storePerMinute)) {
			got.add(storeSpec{name: storePerMinute, windowed: true}, string(rec.Key), row{value: rec.Value})
		}
		got.Rows = r.Expected().Rows // its changelog is the input
		if d := cmp.Diff(r.Expected(), got); d != "" {
			t.Errorf("changelogs (-want +got):\n%s", clip(d))
		}
		// The output's last value of an item is its total.
		totals := map[string]string{}
		for _, rec := range r.read(r.Outputs()...) {
			totals[string(rec.Key)] = string(rec.Value)
		}
		for item, n := range got.Counts[storeItems] {
			if totals[item] != strconv.FormatInt(n, 10) {
				t.Errorf("output says %s for %s, want %d", totals[item], item, n)
			}
		}
	})
}

func TestInternalTopicsAreConfiguredAsStreamsDoes(t *testing.T) {
	inBubble(t, Options{Scenario: "nothing-wrong"}, func(r *rig) {
		t := r.t
		want := map[string]map[string]string{
			"order-processor-totals-changelog":      {"cleanup.policy": "compact", "message.timestamp.type": "CreateTime"},
			"order-processor-item-totals-changelog": {"cleanup.policy": "compact", "message.timestamp.type": "CreateTime"},
			"order-processor-per-minute-changelog":  {"cleanup.policy": "compact,delete", "retention.ms": "172800000", "message.timestamp.type": "CreateTime"},
			"order-processor-by-item-repartition":   {"cleanup.policy": "delete", "retention.ms": "-1", "segment.bytes": "52428800", "message.timestamp.type": "CreateTime"},
		}
		configs, err := r.adm.DescribeTopicConfigs(t.Context(), slices.Collect(maps.Keys(want))...)
		r.must(err)
		got := map[string]map[string]string{}
		for _, rc := range configs {
			got[rc.Name] = map[string]string{}
			for _, c := range rc.Configs {
				if c.Source == kmsg.ConfigSourceDynamicTopicConfig {
					got[rc.Name][c.Key] = c.MaybeValue()
				}
			}
		}
		if d := cmp.Diff(want, got); d != "" {
			t.Errorf("configs (-want +got):\n%s", d)
		}
		topics, err := r.adm.ListTopics(t.Context(), r.ownInternal()...)
		r.must(err)
		for name, topic := range topics {
			if len(topic.Partitions) != inputPartitions {
				t.Errorf("%s has %d partitions, want one per task", name, len(topic.Partitions))
			}
		}
	})
}

func TestRepartitionIsDrainedAndPurged(t *testing.T) {
	inBubble(t, Options{Scenario: "nothing-wrong"}, func(r *rig) {
		t := r.t
		topic := streams.RepartitionTopic(r.Application(), byItem)
		_, ends := r.ends(topic)
		offsets := r.fetchOffsets(r.Application())
		ends.Each(func(o kadm.ListedOffset) {
			if c, ok := offsets.Lookup(topic, o.Partition); o.Offset > 0 && (!ok || c.At != o.Offset) {
				t.Errorf("%s-%d ends at %d, committed %d", topic, o.Partition, o.Offset, c.At)
			}
		})
		// The purge is due from time to time, with a commit.
		r.must(r.wait(t.Context(), "wait for a purge", func() (bool, error) {
			err := r.send(t.Context(), r.data.orders(5))
			purged := int64(0)
			for _, p := range r.cluster.PartitionInfos(topic) {
				purged += p.LogStartOffset
			}
			return purged > 0, err
		}))
		r.caughtUp()
		r.exact()
	})
}

func TestInstancesShareTheTasksAndTakeOver(t *testing.T) {
	inBubble(t, Options{Scenario: "nothing-wrong", SessionTimeout: DefaultSessionTimeout}, func(r *rig) {
		t := r.t
		ctx := t.Context()
		owned := func() []int {
			out := make([]int, 0, 2)
			for _, m := range r.cluster.GroupInfo(r.Application()).Members {
				out = append(out, m.NumAssigned())
			}
			slices.Sort(out)
			return out
		}
		if got := owned(); len(got) != 2 || got[0] == 0 {
			t.Fatalf("partitions by member: %v, want both to have some", got)
		}
		// One dies: after its session the other has everything, restored.
		r.must(r.app.instances[0].kill(), r.Produce(ctx, 400), r.WaitCaughtUp(ctx))
		if got := owned(); len(got) != 1 || got[0] != 9 {
			t.Errorf("partitions by member after a death: %v, want 9 in one", got)
		}
		r.exact()
		// It comes back: tasks move again, and nothing is counted twice.
		r.must(r.StartApp(ctx), r.settled(ctx, r.app), r.Produce(ctx, 400))
		r.caughtUp()
		if got := owned(); len(got) != 2 || got[0] == 0 {
			t.Errorf("partitions by member after the return: %v, want both to have some", got)
		}
		r.exact()
	})
}

func TestQueryEndpoint(t *testing.T) {
	inBubble(t, Options{Scenario: "nothing-wrong"}, func(r *rig) {
		t := r.t
		want := r.Expected()
		customer := slices.Sorted(maps.Keys(want.Counts[storeTotals]))[0]
		minute := slices.Sorted(maps.Keys(want.Windows[storePerMinute][customer]))[0]
		for path, value := range map[string]any{
			path("/store/totals/%s", customer):                      float64(want.Counts[storeTotals][customer]),
			path("/store/per-minute/%s?start=%d", customer, minute): float64(want.Windows[storePerMinute][customer][minute]),
			path("/store/customers/%s", customer):                   want.Rows[storeCustomers][customer],
			path("/store/item-totals/%s", "item-01"):                float64(want.Counts[storeItems]["item-01"]),
		} {
			r.oneAnswers(path, value)
		}
		for _, store := range []string{storeTotals, storeItems, storePerMinute} {
			var sum float64
			for _, in := range r.Instances() {
				_, body := r.get(in, "/sum/"+store)
				n, _ := body["sum"].(float64)
				sum += n
			}
			if sum != float64(want.Sum(store)) {
				t.Errorf("/sum/%s over all is %v, want %d", store, sum, want.Sum(store))
			}
		}
		in := r.Instances()[0]
		for path, code := range map[string]int{
			"/health": http.StatusOK, "/store/totals/nobody": http.StatusNotFound, "/store/nothing/x": http.StatusNotFound,
			path("/store/per-minute/%s", customer): http.StatusBadRequest,
		} {
			if got, body := r.get(in, path); got != code {
				t.Errorf("GET %s: %d %v, want %d", path, got, body, code)
			}
		}
	})
}

// oneAnswers wants the value from one instance and 404 from the others.
func (r *rig) oneAnswers(path string, want any) {
	r.t.Helper()
	answers := 0
	for _, in := range r.Instances() {
		switch code, body := r.get(in, path); code {
		case http.StatusOK:
			answers++
			if body["value"] != want {
				r.t.Errorf("GET %s: %v, want %v", path, body["value"], want)
			}
		case http.StatusNotFound:
		default:
			r.t.Errorf("GET %s from %s: %d %v", path, in.Name, code, body)
		}
	}
	if answers != 1 {
		r.t.Errorf("GET %s was answered by %d instances", path, answers)
	}
}

func TestQueryEndpointWhileJoining(t *testing.T) {
	inBubble(t, Options{Scenario: "nothing-wrong"}, func(r *rig) {
		t := r.t
		ctx := t.Context()
		before := r.Instances()
		r.must(r.Kill(), r.StartApp(ctx)) // the dead members' sessions hold the group up
		for i, in := range r.Instances() {
			if in.Addr != before[i].Addr {
				t.Errorf("%s moved from %s to %s", in.Name, before[i].Addr, in.Addr)
			}
			for _, path := range []string{"/health", "/store/totals/x", "/sum/totals"} {
				if code, body := r.get(in, path); code != http.StatusServiceUnavailable {
					t.Errorf("GET %s while joining: %d %v", path, code, body)
				}
			}
		}
		r.must(r.Stop(ctx))
		req, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+before[0].Addr+"/health", http.NoBody)
		r.must(err)
		if resp, err := r.http.Do(req); err == nil {
			resp.Body.Close()
			t.Error("a stopped instance answers")
		}
	})
}
