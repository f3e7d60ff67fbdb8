package streams_test

import (
	"strings"
	"testing"

	"resurge/streams"
)

const (
	fkReg  = "KTABLE-FK-JOIN-SUBSCRIPTION-REGISTRATION-0000000006"
	fkResp = "KTABLE-FK-JOIN-SUBSCRIPTION-RESPONSE-0000000014"
)

func TestParseInternal(t *testing.T) {
	const cl, rp, reg, resp = streams.KindChangelog, streams.KindRepartition, streams.KindFKRegistration, streams.KindFKResponse
	for _, c := range []struct {
		prefix, topic string
		kind          streams.InternalKind
		name          string
	}{
		{"app", "app-counts-changelog", cl, "counts"},
		{"app", "app-KSTREAM-AGGREGATE-STATE-STORE-0000000001-changelog", cl, "KSTREAM-AGGREGATE-STATE-STORE-0000000001"},
		{"app", "app-KSTREAM-AGGREGATE-STATE-STORE-0000000002-repartition", rp, "KSTREAM-AGGREGATE-STATE-STORE-0000000002"},
		{"app", "app-by-sku-left-repartition", rp, "by-sku-left"},
		{"app", "app-" + fkReg + "-topic", reg, fkReg},
		{"app", "app-" + fkResp + "-topic", resp, fkResp},
		{"app", "app-KTABLE-FK-JOIN-SUBSCRIPTION-RESPONSE-7-topic", resp, "KTABLE-FK-JOIN-SUBSCRIPTION-RESPONSE-7"},
		{"app", "app-join-subscription-registration-topic", reg, "join"},
		{"app", "app-join-subscription-response-topic", resp, "join"},
		{"app", "app-billing-counts-changelog", cl, "billing-counts"}, // named topology, or a store of that name
		{"app", "app-billing-" + fkReg + "-topic", reg, "billing-" + fkReg},
		{"pfx", "pfx-counts-changelog", cl, "counts"}, // __internal.override.topic.prefix__
		{"a", "a-b-c-changelog", cl, "b-c"},           // KAFKA-14922: a name is a claim
		{"a-b", "a-b-c-changelog", cl, "c"},
		{"a.b_c", "a.b_c-s-changelog", cl, "s"},
		{"app", "app-x-changelog-repartition", rp, "x-changelog"},
		{"app", "app-changelog", "", ""}, // here the reset tools differ: no store has an empty name
		{"app", "app-repartition", "", ""},
		{"app", "app--changelog", "", ""},
		{"app", "app-orders", "", ""},
		{"app", "appx-counts-changelog", "", ""},
		{"app", "counts-changelog", "", ""},
		{"app", "App-counts-changelog", "", ""},
		{"app", "app-counts-changelogs", "", ""},
		{"app", "app-counts-topic", "", ""},
		{"app", "app-xKTABLE-FK-JOIN-SUBSCRIPTION-REGISTRATION-0000000006-topic", "", ""},
		{"app", "app-KTABLE-FK-JOIN-SUBSCRIPTION-REGISTRATION--topic", "", ""},
		{"app", "app-KTABLE-FK-JOIN-SUBSCRIPTION-REGISTRATION-6x-topic", "", ""},
		{"app", "app-KTABLE-FK-JOIN-SUBSCRIPTION-OTHER-6-topic", "", ""},
		{"app", "app-6-topic", "", ""},
		{"app", "app", "", ""},
		{"app", "", "", ""},
		{"", "-counts-changelog", "", ""},
		{"", "", "", ""},
	} {
		got, ok := streams.ParseInternal(c.prefix, c.topic)
		want := streams.InternalName{Kind: c.kind, Name: c.name, Topic: c.topic}
		if c.kind == "" {
			want = streams.InternalName{}
		}
		if got != want || ok != (c.kind != "") {
			t.Errorf("%s of %s: %+v %v, want %+v", c.topic, c.prefix, got, ok, want)
		}
	}
}

func TestInternalTopicNames(t *testing.T) {
	if s := streams.ChangelogTopic("app", "counts"); s != "app-counts-changelog" {
		t.Error(s)
	}
	if s := streams.RepartitionTopic("app", "by-sku"); s != "app-by-sku-repartition" {
		t.Error(s)
	}
}

func TestLooksInternal(t *testing.T) {
	for topic, want := range map[string]bool{
		"any-counts-changelog": true, "x-changelog": true, "x-repartition": true,
		"x-join-subscription-registration-topic": true, "x-join-subscription-response-topic": true,
		"x-" + fkReg + "-topic": true, "x-" + fkResp + "-topic": true, "x-n-" + fkResp + "-topic": true,
		fkReg + "-topic": false, // no application ID before it
		"-changelog":     false, "changelog": false, "orders": false, "orders-topic": false, "x-1-topic": false, "": false,
	} {
		if got := streams.LooksInternal(topic); got != want {
			t.Errorf("%q: %v", topic, got)
		}
	}
}

func TestLongestOwner(t *testing.T) {
	for _, c := range []struct {
		topic string
		ids   []string
		want  string
	}{
		{"my-app-v2-counts-changelog", []string{"my-app", "my-app-v2", "my"}, "my-app-v2"},
		{"my-app-counts-changelog", []string{"my-app", "my-app-v2"}, "my-app"},
		{"my-apple-counts-changelog", []string{"my-app"}, ""},
		{"my-app", []string{"my-app"}, ""},
		{"x", nil, ""},
		// The limits of the rule.
		{"a-b-changelog", []string{"a", "a-b"}, "a-b"},
		{"a-b-c-changelog", []string{"a", "a-b"}, "a-b"},
		{"a-gone-c-changelog", []string{"a"}, "a"},
	} {
		if got := streams.LongestOwner(c.topic, c.ids); got != c.want {
			t.Errorf("%s among %v: %q, want %q", c.topic, c.ids, got, c.want)
		}
	}
}

// dslStores is the list of streams-internals 2.1, and the result store of a
// foreign-key join, which it lacks.
var dslStores = map[string]streams.StoreKind{
	"KSTREAM-AGGREGATE-STATE-STORE-0000000001":           "",
	"KSTREAM-REDUCE-STATE-STORE-0000000001":              "",
	"COGROUPKSTREAM-AGGREGATE-STATE-STORE-0000000001":    "",
	"KTABLE-AGGREGATE-STATE-STORE-0000000001":            "",
	"KTABLE-REDUCE-STATE-STORE-0000000001":               "",
	"KSTREAM-TOTABLE-STATE-STORE-0000000001":             "",
	"KTABLE-FILTER-STATE-STORE-0000000001":               "",
	"KTABLE-MAPVALUES-STATE-STORE-0000000001":            "",
	"KTABLE-TRANSFORMVALUES-STATE-STORE-0000000001":      "",
	"KTABLE-MERGE-STATE-STORE-0000000001":                "",
	"KTABLE-FK-JOIN-OUTPUT-STATE-STORE-0000000001":       "",
	"KTABLE-FK-JOIN-SUBSCRIPTION-STATE-STORE-0000000001": streams.StoreFKSubscription,
	"KTABLE-SUPPRESS-STATE-STORE-0000000001":             streams.StoreSuppress,
	"KSTREAM-JOINTHIS-0000000004-store":                  streams.StoreJoinWindow,
	"KSTREAM-JOINOTHER-0000000005-store":                 streams.StoreJoinWindow,
	"KSTREAM-OUTERTHIS-0000000004-store":                 streams.StoreJoinWindow,
	"KSTREAM-OUTEROTHER-0000000005-store":                streams.StoreJoinWindow,
	"KSTREAM-OUTERSHARED-0000000004-store":               streams.StoreOuterShared,
}

func TestIsDSLStoreName(t *testing.T) {
	for name := range dslStores {
		if !streams.IsDSLStoreName(name) {
			t.Errorf("%s is not", name)
		}
		for _, other := range []string{"b-" + name, "v2-" + name, name + "-x", "x" + name, name[:len(name)-1], strings.ToLower(name), strings.Replace(name, "0000000", "000000", 1)} {
			if streams.IsDSLStoreName(other) {
				t.Errorf("%s is", other)
			}
		}
	}
	// The names of builder.table(topic) begin with a topic: "b-KSTREAM-REDUCE"
	// may be one, and then the twins could not be told apart.
	for _, name := range []string{"", "counts", "orders-STATE-STORE-0000000001", "KTABLE-x-STATE-STORE-0000000001", "0000000001", "KSTREAM-AGGREGATE-STATE-STORE-", "-store", "KSTREAM-JOINTHIS-store", "s-this-join-store"} {
		if streams.IsDSLStoreName(name) {
			t.Errorf("%s is", name)
		}
	}
}

func TestGuessStoreKind(t *testing.T) {
	policy := func(p string, more ...string) map[string]string {
		out := map[string]string{"cleanup.policy": p}
		if len(more) > 0 {
			out["min.compaction.lag.ms"] = more[0]
		}
		return out
	}
	type row struct {
		name    string
		configs map[string]string
		want    streams.StoreKind
	}
	rows := []row{
		{"s-this-join-store", nil, streams.StoreJoinWindow},
		{"s-other-join-store", nil, streams.StoreJoinWindow},
		{"s-outer-this-join-store", nil, streams.StoreJoinWindow},
		{"s-outer-other-join-store", nil, streams.StoreJoinWindow},
		{"s-left-shared-join-store", nil, streams.StoreOuterShared},
		{"s-outer-shared-join-store", nil, streams.StoreOuterShared},
		{"fk-subscription-store", nil, streams.StoreFKSubscription},
		{"enrich-Buffer", nil, streams.StoreGraceBuffer},
		{"billing-KTABLE-SUPPRESS-STATE-STORE-0000000001", nil, streams.StoreSuppress}, // named topology
		// A name goes before what the settings say.
		{"KSTREAM-JOINTHIS-0000000004-store", policy("compact"), streams.StoreJoinWindow},
		{"counts", policy("compact"), streams.StoreKeyValue},
		{"counts", policy("compact", "0"), streams.StoreKeyValue},
		{"counts", policy("compact", "x"), streams.StoreKeyValue},
		{"counts", policy("compact", "86399999"), streams.StoreKeyValue},
		{"counts", policy("compact", "86400000"), streams.StoreVersioned},
		{"counts", policy("compact", "9223372036854775807"), streams.StoreVersioned},
		{"counts", policy("compact,delete"), streams.StoreWindow},
		{"counts", policy("delete,compact", "86400000"), streams.StoreWindow},
		{"counts", policy("delete"), streams.StoreJoinWindow},
		{"counts", policy(""), streams.StoreUnknown},
		{"counts", nil, streams.StoreUnknown},
		{"", nil, streams.StoreUnknown},
		// Names that only look generated.
		{"SUPPRESSED-orders", policy("compact"), streams.StoreKeyValue},
		{"customer-join-store", policy("compact"), streams.StoreKeyValue},
		{"my-SUBSCRIPTION-STATE-STORE-0000000001", policy("compact"), streams.StoreKeyValue}, // builder.table("my-SUBSCRIPTION")
		{"-Buffer", policy("compact"), streams.StoreKeyValue},
	}
	for name, want := range dslStores {
		if want == "" {
			rows = append(rows, row{name, policy("compact"), streams.StoreKeyValue}, row{name, policy("compact,delete"), streams.StoreWindow}, row{name, nil, streams.StoreUnknown})
			continue
		}
		rows = append(rows, row{name, nil, want})
	}
	for _, r := range rows {
		got, evidence := streams.GuessStoreKind(streams.InternalName{Kind: streams.KindChangelog, Name: r.name}, r.configs)
		if got != r.want {
			t.Errorf("%s %v: %s (%s), want %s", r.name, r.configs, got, evidence, r.want)
		}
		if (evidence == "") != (got == streams.StoreUnknown) || strings.Contains(evidence, "\n") {
			t.Errorf("%s %v: %s for %q", r.name, r.configs, got, evidence)
		}
	}
	for _, kind := range []streams.InternalKind{streams.KindRepartition, streams.KindFKRegistration, streams.KindFKResponse} {
		if got, _ := streams.GuessStoreKind(streams.InternalName{Kind: kind, Name: "counts"}, policy("compact")); got != streams.StoreUnknown {
			t.Errorf("a %s topic: %s", kind, got)
		}
	}
}

func FuzzParseInternal(f *testing.F) {
	for _, s := range []string{"app-counts-changelog", "app-" + fkReg + "-topic", "app-j-subscription-response-topic", "app-changelog", "-changelog"} {
		f.Add("app", s)
	}
	f.Fuzz(func(t *testing.T, prefix, topic string) {
		got, ok := streams.ParseInternal(prefix, topic)
		if !ok {
			return
		}
		if got.Topic != topic || got.Name == "" || !strings.HasPrefix(topic, prefix+"-"+got.Name+"-") || !streams.LooksInternal(topic) {
			t.Errorf("%q of %q: %+v", topic, prefix, got)
		}
		if got.Kind == streams.KindChangelog && streams.ChangelogTopic(prefix, got.Name) != topic {
			t.Errorf("%q of %q: %+v", topic, prefix, got)
		}
		if kind, _ := streams.GuessStoreKind(got, nil); kind == "" {
			t.Errorf("%q has no kind", topic)
		}
	})
}
