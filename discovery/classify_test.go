package discovery

import (
	"strings"
	"testing"

	"resurge/streams"
)

// world builds a sighting of application orders in few words.
type world struct{ s sighting }

func newWorld(app string) *world {
	return &world{sighting{
		app: app, group: streams.Group{ID: app, Exists: true, Protocol: streams.ProtocolClassic, State: "Empty"},
		topics: map[string]streams.Topic{}, commits: map[streams.TopicPartition]streams.Commit{}, claims: map[string]string{},
		readers: map[string][]string{}, configs: map[string]streams.TopicConfigs{}, listed: true, asked: true,
	}}
}

func (w *world) topic(name string, configs ...string) *world {
	w.s.topics[name] = streams.Topic{Name: name, ID: streams.TopicID{1, byte(len(w.s.topics))}, Partitions: []streams.Partition{{Replicas: []int32{1}}}}
	c := streams.TopicConfigs{Values: map[string]streams.Config{}}
	for _, kv := range configs {
		k, v, _ := strings.Cut(kv, "=")
		c.Values[k] = streams.Config{Value: v, Dynamic: true}
	}
	w.s.configs[name] = c
	return w
}

func (w *world) changelog(name string) *world {
	return w.topic(name, "cleanup.policy=compact", "message.timestamp.type=CreateTime")
}

func (w *world) repartition(name string) *world {
	return w.topic(name, "cleanup.policy=delete", "retention.ms=-1").commit(name)
}

func (w *world) commit(name string) *world {
	w.s.commits[streams.TopicPartition{Topic: name}] = streams.Commit{Offset: 1}
	return w
}

func (w *world) classified(t *testing.T) map[string]Topic {
	t.Helper()
	out := map[string]Topic{}
	for _, topic := range w.s.classify() {
		out[topic.Name] = topic
	}
	return out
}

type verdict struct {
	role      streams.Role
	owned     bool
	ambiguous bool
}

func TestClassify(t *testing.T) {
	changelog, repartition := verdict{streams.RoleChangelog, true, false}, verdict{streams.RoleRepartition, true, false}
	input, other, doubt := verdict{role: streams.RoleInput}, verdict{role: streams.RoleLookalike}, verdict{role: streams.RoleLookalike, ambiguous: true}
	for _, c := range []struct {
		name  string
		world *world
		want  map[string]verdict
	}{
		{
			"a classic application", newWorld("orders").topic("in").commit("in").changelog("orders-counts-changelog").changelog("orders-prefix-counts-changelog").repartition("orders-by-item-repartition"),
			map[string]verdict{"in": input, "orders-counts-changelog": changelog, "orders-prefix-counts-changelog": changelog, "orders-by-item-repartition": repartition},
		},
		{
			"B1 a twin whose group exists", func() *world {
				w := newWorld("orders").topic("in").commit("in").changelog("orders-counts-changelog").changelog("orders-v2-counts-changelog").topic("orders-v2-by-item-repartition", "cleanup.policy=delete", "retention.ms=-1")
				w.s.longer = []string{"orders-v2"}
				return w
			}(),
			map[string]verdict{"orders-counts-changelog": changelog, "orders-v2-counts-changelog": other, "orders-v2-by-item-repartition": other},
		},
		{
			"B1 a twin whose group is gone, told by its version", newWorld("orders").topic("in").commit("in").changelog("orders-counts-changelog").changelog("orders-v2-counts-changelog"),
			map[string]verdict{"orders-counts-changelog": changelog, "orders-v2-counts-changelog": doubt},
		},
		{
			"B1 a twin whose group is gone, told by a generated name", newWorld("orders").topic("in").commit("in").changelog("orders-eu-KSTREAM-AGGREGATE-STATE-STORE-0000000003-changelog"),
			map[string]verdict{"orders-eu-KSTREAM-AGGREGATE-STATE-STORE-0000000003-changelog": doubt},
		},
		{
			"B1 a twin whose group is gone, told by two stores", newWorld("orders").topic("in").commit("in").changelog("orders-a-changelog").changelog("orders-b-changelog").changelog("orders-x-a-changelog").changelog("orders-x-b-changelog"),
			map[string]verdict{"orders-a-changelog": changelog, "orders-b-changelog": changelog, "orders-x-a-changelog": doubt, "orders-x-b-changelog": doubt},
		},
		{
			"B2 an input named like a changelog, read by the application", newWorld("shop").topic("shop-prices-changelog").commit("shop-prices-changelog"),
			map[string]verdict{"shop-prices-changelog": input},
		},
		{
			"B2 an input named like a repartition topic, with its own configs", newWorld("shop").topic("shop-foo-repartition", "retention.ms=604800000").commit("shop-foo-repartition"),
			map[string]verdict{"shop-foo-repartition": doubt},
		},
		{
			"B2 the same, declared", func() *world {
				w := newWorld("shop").topic("shop-foo-repartition", "retention.ms=604800000").commit("shop-foo-repartition")
				w.s.hints.Inputs = []string{"shop-foo-repartition"}
				return w
			}(),
			map[string]verdict{"shop-foo-repartition": input},
		},
		{
			"B2 a plain topic of another group, named like a changelog", func() *world {
				w := newWorld("shop").topic("in").commit("in").topic("shop-prices-changelog")
				w.s.readers["shop-prices-changelog"] = []string{"billing"}
				return w
			}(),
			map[string]verdict{"shop-prices-changelog": other},
		},
		{
			"B2 a compacted topic of another group, named like a changelog", func() *world {
				w := newWorld("shop").topic("in").commit("in").topic("shop-prices-changelog", "cleanup.policy=compact")
				w.s.readers["shop-prices-changelog"] = []string{"billing"}
				return w
			}(),
			map[string]verdict{"shop-prices-changelog": other},
		},
		{
			"a changelog that another group reads", func() *world {
				w := newWorld("shop").topic("in").commit("in").changelog("shop-counts-changelog")
				w.s.readers["shop-counts-changelog"] = []string{"billing"}
				return w
			}(),
			map[string]verdict{"shop-counts-changelog": doubt},
		},
		{
			"no group", func() *world {
				w := newWorld("shop").changelog("shop-counts-changelog")
				w.s.group = streams.Group{ID: "shop"}
				return w
			}(),
			map[string]verdict{"shop-counts-changelog": doubt},
		},
		{
			"a list of groups that is not complete", func() *world {
				w := newWorld("shop").topic("in").commit("in").changelog("shop-counts-changelog")
				w.s.listed = false
				return w
			}(),
			map[string]verdict{"shop-counts-changelog": doubt},
		},
		{
			"a group that could not be asked", func() *world {
				w := newWorld("shop").topic("in").commit("in").changelog("shop-counts-changelog")
				w.s.asked = false
				return w
			}(),
			map[string]verdict{"shop-counts-changelog": doubt},
		},
		{
			"an overridden topic prefix", newWorld("pre").topic("in").commit("in").topic("zzz-by-item-repartition").commit("zzz-by-item-repartition"),
			map[string]verdict{"in": input, "zzz-by-item-repartition": doubt},
		},
		{
			"a streams group: its topology decides", func() *world {
				w := newWorld("orders").topic("in").changelog("orders-counts-changelog").changelog("orders-old-changelog").topic("zzz-x-repartition").changelog("table")
				w.s.group.Protocol = streams.ProtocolStreams
				w.s.group.Topology = []streams.Subtopology{
					{ID: "0", SourceTopics: []string{"in", "table"}, RepartitionSinks: []string{"zzz-x-repartition"}, Changelogs: []string{"orders-counts-changelog", "table"}},
					{ID: "1", RepartitionSources: []string{"zzz-x-repartition"}},
				}
				return w
			}(),
			map[string]verdict{"in": input, "table": input, "orders-counts-changelog": changelog, "zzz-x-repartition": repartition, "orders-old-changelog": other},
		},
		{
			"B20 an application whose name starts with an underscore", newWorld("_billing").topic("_invoices").commit("_invoices").changelog("_billing-counts-changelog"),
			map[string]verdict{"_invoices": input, "_billing-counts-changelog": changelog},
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			got := c.world.classified(t)
			for name, want := range c.want {
				g := got[name]
				if have := (verdict{g.Role, g.Owned, g.Ambiguous}); have != want {
					t.Errorf("%s: got %+v, want %+v; evidence: %s", name, have, want, strings.Join(g.Evidence, "; "))
				}
				if g.Owned && len(g.Evidence) == 0 {
					t.Errorf("%s is owned without evidence", name)
				}
			}
		})
	}
}

func TestOwnTransactionTellsTwinsApart(t *testing.T) {
	const uuid = "01234567-89ab-cdef-0123-456789abcdef"
	for id, want := range map[string]bool{
		"shop-" + uuid + "-1": true, "shop-0_3": true,
		"shop-v2-" + uuid + "-1": false, "shop-v2-0_3": false, "shop": false, "shop-x": false, "other-" + uuid + "-1": false,
	} {
		if got := streams.TransactionOwner(id) == "shop"; got != want {
			t.Errorf("%s: %v", id, got)
		}
	}
}

func TestNear(t *testing.T) {
	names := []string{"orders", "orders-v2", "payments", "order-processor"}
	for name, want := range map[string]string{"ordres": "orders", "payment": "payments", "order-procesor": "order-processor", "zzz": ""} {
		got := Near(name, names)
		if want == "" && len(got) == 0 {
			continue
		}
		if len(got) == 0 || got[0] != want {
			t.Errorf("%s: got %v, want %s first", name, got, want)
		}
	}
}

// TestB17_UnseenGroupsLeaveADoubt: whoever may not see every group cannot say
// that nobody else reads a topic.
func TestB17_UnseenGroupsLeaveADoubt(t *testing.T) {
	w := newWorld("orders").changelog("orders-totals-changelog").repartition("orders-by-name-repartition")
	w.s.listed = false
	w.s.list.Filtered = &streams.Fault{Kind: streams.FaultNotAllowed, Hint: "this principal needs DESCRIBE on the cluster"}
	for _, topic := range w.s.classify() {
		if topic.Owned || !topic.Ambiguous {
			t.Errorf("%s: owned %v, ambiguous %v", topic.Name, topic.Owned, topic.Ambiguous)
		}
		if why := strings.Join(topic.Evidence, "; "); !strings.Contains(why, "DESCRIBE on the cluster") {
			t.Errorf("%s does not name the missing right: %s", topic.Name, why)
		}
	}
}
