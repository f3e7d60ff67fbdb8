//go:build integration

package integration

import (
	"fmt"
	"maps"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"
)

// shape is what the text of a topology does not say: what its code decides, and of what kind the stores are.
type shape struct {
	tables map[string]string // the source topic of each table: its store
	routed []string          // outputs that code chooses record by record
	kinds  map[string]string // the store kind of each changelog that may be there
	// stores without changelogs
	unlogged, globals []string
}

// newCatalogue makes the topics of an application that runs Catalogue.java, which explains them.
func newCatalogue(t *testing.T, b *broker, opts appOptions) (*app, shape) {
	t.Helper()
	topic := func(what string) string { return what + "." + opts.id }
	create := func(partitions int32, policy string, whats ...string) {
		for i, what := range whats {
			whats[i] = topic(what)
		}
		b.createTopics(t, partitions, map[string]*string{"cleanup.policy": &policy}, whats...)
		opts.more = append(opts.more, whats...)
	}
	create(2, "delete", "events", "clicks", "notes", "audit.login", "audit.logout",
		"finals", "hourly", "noted", "routed-p0", "routed-p1", "routed-p2")
	create(2, "compact", "items", "profiles", "badges", "prices")
	create(1, "compact", "regions", "zones")
	// Left behind by another application with the same stores, whose group is gone.
	left := neighbour + "." + opts.id
	b.createTopics(t, 1, nil, left+"-prices-versioned-changelog", left+"-by-prefix-repartition")
	opts.flags = maps.Clone(opts.flags)
	opts.flags["topology"], opts.flags["catalogue"] = "catalogue", opts.id
	s := shape{
		tables: map[string]string{
			topic("items"):    topic("items") + "-STATE-STORE-0000000067",
			topic("profiles"): "profiles-store",
			topic("badges"):   topic("badges") + "-STATE-STORE-0000000072",
			topic("prices"):   "prices-versioned",
		},
		routed: []string{topic("routed-p0"), topic("routed-p1"), topic("routed-p2")},
		kinds:  maps.Clone(catalogueKinds),

		unlogged: []string{"scratch"}, globals: []string{topic("regions") + "-STATE-STORE-0000000117", "zones-store"},
	}
	for _, store := range s.tables {
		if _, ok := s.kinds[store]; !ok {
			s.kinds[store] = "key-value"
		}
	}
	return newInstance(t, b, opts), s
}

// catalogueKinds are the stores of Catalogue.java that have a changelog in every configuration, and the versioned one.
// Those of unnamed tables carry the names of their topics.
var catalogueKinds = map[string]string{
	"counts":                                "key-value",
	"KSTREAM-REDUCE-STATE-STORE-0000000002": "key-value",
	"per-minute":                            "window",
	"KSTREAM-AGGREGATE-STATE-STORE-0000000005": "window",
	"sessions": "session",
	"KSTREAM-AGGREGATE-STATE-STORE-0000000008": "session",
	"final-windows":                          "window",
	"final-store":                            "suppress",
	"hourly":                                 "key-value",
	"KTABLE-SUPPRESS-STATE-STORE-0000000017": "suppress",
	"prefix-counts":                          "key-value",
	"KSTREAM-AGGREGATE-STATE-STORE-0000000027": "key-value",
	"KSTREAM-AGGREGATE-STATE-STORE-0000000036": "key-value",
	"KSTREAM-AGGREGATE-STATE-STORE-0000000041": "session",
	"seen":                                               "key-value",
	"KSTREAM-JOINTHIS-0000000054-store":                  "join-window",
	"KSTREAM-JOINOTHER-0000000055-store":                 "join-window",
	"lefts-this-join-store":                              "join-window",
	"lefts-outer-other-join-store":                       "join-window",
	"lefts-left-shared-join-store":                       "outer-shared",
	"KSTREAM-OUTERTHIS-0000000064-store":                 "join-window",
	"KSTREAM-OUTEROTHER-0000000065-store":                "join-window",
	"KSTREAM-OUTERSHARED-0000000064-store":               "outer-shared",
	"KTABLE-FK-JOIN-SUBSCRIPTION-STATE-STORE-0000000081": "fk-subscription",
	"owners-subscription-store":                          "fk-subscription",
	"item-owners":                                        "key-value",
	"profile-badges":                                     "key-value",
	"KTABLE-AGGREGATE-STATE-STORE-0000000112":            "key-value",
	"priced-Buffer":                                      "grace-buffer",
	"prices-versioned":                                   "versioned",
	"audits":                                             "key-value",
}

// produceCatalogue writes a few hundred records, so that every store and every internal topic has some, and gives the
// newest time in each topic.
func (a *app) produceCatalogue() map[string]time.Time {
	a.t.Helper()
	newest := map[string]time.Time{}
	var records []*kgo.Record
	base := time.Now().Add(-6 * time.Minute).Truncate(time.Minute)
	add := func(what, key, value string, second int) {
		r := &kgo.Record{
			Topic: what, Key: []byte(key), Value: []byte(value), Timestamp: base.Add(time.Duration(second) * time.Second),
		}
		records = append(records, r)
		if r.Timestamp.After(newest[what]) {
			newest[what] = r.Timestamp
		}
	}
	topic := func(what string) string { return what + "." + a.opts.id }
	for i := range 30 {
		key := fmt.Sprintf("c%02d", i)
		add(topic("items"), "item-"+key, fmt.Sprintf("u%d", i%10), i)
		add(topic("prices"), key, fmt.Sprint(i), i)
		add(topic("notes"), key, "a note", i)
		add(topic("audit.login"), key, "in", i)
		add(topic("audit.logout"), key, "out", i+1)
	}
	for i := range 10 {
		add(topic("profiles"), fmt.Sprintf("u%d", i), fmt.Sprintf("p%d-name", i%3), i)
		add(topic("badges"), fmt.Sprintf("u%d", i), "gold", i)
		add(topic("regions"), fmt.Sprintf("p%d", i%3), "north", i)
		add(topic("zones"), fmt.Sprintf("z%d", i), "east", i)
	}
	for i := range 300 {
		key := fmt.Sprintf("c%02d", i%30)
		add(topic("events"), key, fmt.Sprintf("p%d-item-%d", i%3, i), i)
		if i%4 < 2 { // outer joins keep what has no partner
			add(topic("clicks"), fmt.Sprintf("c%02d", i%60), "click", i)
		}
	}
	if err := a.b.cl.ProduceSync(a.t.Context(), records...).FirstErr(); err != nil {
		a.t.Fatalf("produce to the catalogue of %s: %v", a.opts.id, err)
	}
	return newest
}
