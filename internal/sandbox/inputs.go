package sandbox

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"
)

// The shape of the inputs.
const (
	inputPartitions  = 3
	outputPartitions = 2
	// idlePartition of both inputs never gets a record, as happens when keys are
	// few: it has no committed offset, and a recovery must not forget it.
	idlePartition = 2
	customerCount = 150
	itemCount     = 24
	// dataSpan is how far back the first order lies; the last one of the history
	// is dataAge old.
	dataSpan = 55 * time.Minute
	dataAge  = 5 * time.Minute
)

// Expected is the state that the inputs lead to, counted from the inputs alone
// while they were made: no code of the application has part in it.
type Expected struct {
	// Counts are the counters of the key-value stores: store, then key.
	Counts map[string]map[string]int64
	// Windows are those of the windowed stores: store, key, window start in ms.
	Windows map[string]map[string]map[int64]int64
	// Rows are the values of the table stores: store, then key.
	Rows map[string]map[string]string
}

// Sum adds up all counters of a store, which is what GET /sum/{store} gives over
// all instances.
func (e Expected) Sum(store string) int64 {
	var sum int64
	for _, n := range e.Counts[store] {
		sum += n
	}
	for _, windows := range e.Windows[store] {
		for _, n := range windows {
			sum += n
		}
	}
	return sum
}

func (e Expected) clone() Expected {
	out := newExpected()
	for s, m := range e.Counts {
		out.Counts[s] = maps.Clone(m)
	}
	for s, keys := range e.Windows {
		for k, w := range keys {
			out.Windows[s][k] = maps.Clone(w)
		}
	}
	for s, m := range e.Rows {
		out.Rows[s] = maps.Clone(m)
	}
	return out
}

func newExpected() Expected {
	return Expected{
		Counts:  map[string]map[string]int64{storeTotals: {}, storeItems: {}},
		Windows: map[string]map[string]map[int64]int64{storePerMinute: {}},
		Rows:    map[string]map[string]string{storeCustomers: {}},
	}
}

// generator makes the inputs. The same seed, number of records and start time
// make the same inputs.
type generator struct {
	rng       *rand.Rand
	customers []string
	at        time.Time     // of the next order
	step      time.Duration // from one order to the next
	made      int           // orders so far
	expected  Expected
}

func newGenerator(seed uint64, records int, now time.Time) *generator {
	g := &generator{
		rng:      rand.New(rand.NewPCG(seed, 0x7e5)), //nolint:gosec // reproducible on purpose, nothing depends on it being secret
		at:       now.Add(-dataSpan - dataAge).Truncate(time.Millisecond),
		step:     max(dataSpan/time.Duration(max(records, 1)), time.Millisecond),
		expected: newExpected(),
	}
	for i := 1; len(g.customers) < customerCount; i++ {
		name := fmt.Sprintf("customer-%03d", i)
		if partitionOf([]byte(name), inputPartitions) != idlePartition {
			g.customers = append(g.customers, name)
		}
	}
	return g
}

// table makes the rows of the customers table, and an update for some.
func (g *generator) table() []*kgo.Record {
	cities := []string{"Bergen", "Gdansk", "Lyon", "Porto", "Turku", "Utrecht"}
	keys := slices.Concat(g.customers, g.customers[:customerCount/10])
	out := make([]*kgo.Record, 0, len(keys))
	for _, key := range keys {
		value := fmt.Sprintf("Customer %s of %s", key[len("customer-"):], cities[g.rng.IntN(len(cities))])
		g.expected.Rows[storeCustomers][key] = value
		out = append(out, input(topicCustomers, key, value, g.at))
	}
	return out
}

// orders makes the next n orders and counts them.
func (g *generator) orders(n int) []*kgo.Record {
	out := make([]*kgo.Record, 0, n)
	for range n {
		// Few customers order much; a few seconds of disorder, as sources have it.
		c := g.customers[min(g.rng.IntN(customerCount), g.rng.IntN(customerCount))]
		item := fmt.Sprintf("item-%02d", g.rng.IntN(itemCount)+1)
		amount := int64(g.rng.IntN(95) + 5)
		at := g.at.Add(-time.Duration(g.rng.IntN(3000)) * time.Millisecond)
		g.at = g.at.Add(g.step)
		g.made++
		out = append(out, input(topicOrders, c, fmt.Sprintf("%s,%d", item, amount), at))

		g.expected.Counts[storeTotals][c]++
		g.expected.Counts[storeItems][item] += amount
		windows := g.expected.Windows[storePerMinute]
		if windows[c] == nil {
			windows[c] = map[int64]int64{}
		}
		windows[c][at.Truncate(time.Minute).UnixMilli()]++
	}
	return out
}

func input(topic, key, value string, at time.Time) *kgo.Record {
	return &kgo.Record{
		Topic: topic, Partition: partitionOf([]byte(key), inputPartitions),
		Key: []byte(key), Value: []byte(value), Timestamp: at,
	}
}
