package crowd

import (
	"slices"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/google/go-cmp/cmp"
	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kfake"
	"github.com/twmb/franz-go/pkg/kgo"
	"go.uber.org/goleak"

	"resurge/streams"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func small() Size {
	return Size{Brokers: 3, Topics: 160, Partitions: 900, Groups: 30, Applications: 8, Orphans: 2}
}

func TestPlan(t *testing.T) {
	for what, s := range map[string]Size{"big": Big(), "small": small()} {
		l, err := plan(s)
		if err != nil {
			t.Fatal(err)
		}
		names, partitions := map[string]bool{}, 0
		for _, tp := range l.topics {
			if tp.partitions < 1 {
				t.Errorf("%s: topic %s has %d partitions", what, tp.name, tp.partitions)
			}
			names[tp.name] = true
			partitions += int(tp.partitions)
		}
		groups := map[string]bool{}
		for _, g := range l.groups {
			groups[g.id] = true
			for _, tp := range g.commits() {
				if i := slices.IndexFunc(l.topics, func(o topic) bool { return o.name == tp.name }); i < 0 || l.topics[i].partitions != tp.partitions {
					t.Errorf("%s: group %s reads %s, which is not there so", what, g.id, tp.name)
				}
			}
		}
		if len(names) != s.Topics || partitions != s.Partitions || len(groups) != s.Groups {
			t.Errorf("%s: %d topics, %d partitions, %d groups, want %+v", what, len(names), partitions, len(groups), s)
		}
		again, _ := plan(s)
		if !cmp.Equal(l, again, cmp.AllowUnexported(layout{}, topic{}, group{})) {
			t.Errorf("%s: two plans differ", what)
		}
	}
	if _, err := plan(Size{Brokers: 1, Topics: 10, Partitions: 10, Groups: 10, Applications: 5}); err == nil {
		t.Error("what does not fit was planned")
	}
}

// Topics that are added are topics that nobody reads.
func TestMoreTopicsChangeNothingElse(t *testing.T) {
	more := small()
	more.Topics, more.Partitions = 4*more.Topics, more.Partitions+3*more.Topics*4
	few, err := plan(small())
	if err != nil {
		t.Fatal(err)
	}
	many, err := plan(more)
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(few.groups, many.groups, cmp.AllowUnexported(topic{}, group{})); d != "" {
		t.Error(d)
	}
}

func TestStart(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var network kfake.VirtualNetwork
		o := Options{Size: small(), Listen: network.Listen, Dial: network.DialContext}
		c, err := Start(t.Context(), o)
		if err != nil {
			t.Fatal(err)
		}
		defer c.Close()
		cl, err := kgo.NewClient(kgo.SeedBrokers(c.Bootstrap()...), kgo.Dialer(network.DialContext), kgo.DisableClientMetrics())
		if err != nil {
			t.Fatal(err)
		}
		defer cl.Close()
		adm := kadm.NewClient(cl)
		topics, err := adm.ListTopics(t.Context())
		if err != nil || len(topics) != o.Size.Topics {
			t.Errorf("%d topics, %v", len(topics), err)
		}
		ends, err := adm.ListEndOffsets(t.Context(), topics.Names()...)
		if err != nil {
			t.Fatal(err)
		}
		n := 0
		ends.Each(func(e kadm.ListedOffset) {
			n++
			if e.Offset != endOffset || e.Err != nil {
				t.Errorf("%+v", e)
			}
		})
		if n != o.Size.Partitions {
			t.Errorf("%d partitions", n)
		}
		checkGroups(t, adm, c)
	})
}

func checkGroups(t *testing.T, adm *kadm.Client, c *Crowd) {
	t.Helper()
	groups, err := adm.DescribeGroups(t.Context())
	if err != nil || len(groups) != len(c.layout.groups) {
		t.Fatalf("%d groups, %v", len(groups), err)
	}
	var assigned []streams.TopicPartition
	for _, g := range c.layout.groups {
		got := groups[g.id]
		want := map[bool]string{true: "Stable", false: "Empty"}[g.members > 0]
		if got.State != want || len(got.Members) != g.members {
			t.Errorf("group %s: %s with %d members", g.id, got.State, len(got.Members))
		}
		commits, err := adm.FetchOffsets(t.Context(), g.id)
		if err != nil || len(commits.Offsets()) != len(g.commits()) {
			t.Errorf("group %s: commits on %d topics, %v", g.id, len(commits.Offsets()), err)
		}
		if g.id != c.Application() {
			continue
		}
		for _, m := range got.Members {
			said, ok1 := m.Join.AsConsumer()
			told, ok2 := m.Assigned.AsConsumer()
			if !ok1 || !ok2 {
				t.Fatalf("member %s speaks another protocol", m.MemberID)
			}
			_, err1 := streams.DecodeSubscriptionInfo(said.UserData)
			info, err2 := streams.DecodeAssignmentInfo(told.UserData)
			if err1 != nil || err2 != nil {
				t.Errorf("member %s: %v, %v", m.MemberID, err1, err2)
			}
			var tps []streams.TopicPartition
			for _, tp := range told.Topics {
				for _, p := range tp.Partitions {
					tps = append(tps, streams.TopicPartition{Topic: tp.Topic, Partition: p})
				}
			}
			if _, err := streams.TaskPartitions(tps, info.Active); err != nil {
				t.Error(err)
			}
			assigned = append(assigned, tps...)
		}
	}
	if want := 4 * len(c.layout.groups[0].commits()); len(assigned) != want {
		t.Errorf("%s was assigned %d partitions, want %d", c.Application(), len(assigned), want)
	}
	if !strings.HasPrefix(c.Application(), domains[0]) {
		t.Errorf("application %s", c.Application())
	}
}
