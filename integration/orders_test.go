//go:build integration

package integration

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/twmb/franz-go/pkg/kgo"
)

// orders are deterministic records over five minutes of event time that end a minute ago: young enough for every
// retention, and with a pause in the middle that splits every customer's session in two.
type orders struct {
	total int
	base  time.Time
}

const (
	prefixes = 7
	gap      = 30 * time.Second // of the application's session windows
)

// customers grow with the orders: a session store is slow when one session takes thousands of records.
func (o orders) customers() uint32 { return uint32(min(max(50, o.total/200), 1000)) }

func newOrders(total int) orders {
	return orders{total: total, base: time.Now().Add(-6 * time.Minute).Truncate(time.Minute)}
}

func (o orders) record(i int) (customer, item string, at time.Time) {
	mixed := uint32(i) * 2654435761 >> 7 // some customers get more than others, all get some
	customer = fmt.Sprintf("c%02d", (mixed%o.customers()+mixed%13)%o.customers())
	offset := time.Duration(i) * 4 * time.Minute / time.Duration(o.total)
	if i >= o.total/2 {
		offset += time.Minute
	}
	return customer, fmt.Sprintf("p%d-item-%d", i%prefixes, i), o.base.Add(offset.Truncate(time.Millisecond))
}

// expectation is what the application's stores hold after the first n orders.
type expectation map[string]counts

func (o orders) expect(n int) expectation {
	want := expectation{"counts": {}, "per-minute": {}, "sessions": {}, "prefix-counts": {}}
	type session struct{ start, end, n int64 }
	open := map[string]session{}
	closeSession := func(customer string, s session) {
		want["sessions"][fmt.Sprintf("%s@%d-%d", customer, s.start, s.end)] = s.n
	}
	for i := range n {
		customer, _, at := o.record(i)
		ms := at.UnixMilli()
		want["counts"][customer]++
		want["prefix-counts"][fmt.Sprintf("p%d", i%prefixes)]++
		want["per-minute"][windowKey(customer, ms-ms%time.Minute.Milliseconds())]++
		s, ok := open[customer]
		if ok && ms-s.end > gap.Milliseconds() {
			closeSession(customer, s)
			ok = false
		}
		if !ok {
			s = session{start: ms}
		}
		s.end, s.n = ms, s.n+1
		open[customer] = s
	}
	for customer, s := range open {
		closeSession(customer, s)
	}
	return want
}

// produce writes orders from..to to the application's input, and, with the first of them, its tables.
func (a *app) produce(o orders, from, to int) {
	a.t.Helper()
	if from == 0 {
		a.produceTables(o)
	}
	ctx, cancel := context.WithTimeout(a.t.Context(), time.Minute)
	defer cancel()
	first := make(chan error, 1)
	for i := from; i < to; i++ {
		customer, item, at := o.record(i)
		r := &kgo.Record{Topic: a.opts.orders, Key: []byte(customer), Value: []byte(item), Timestamp: at}
		a.b.cl.Produce(ctx, r, func(_ *kgo.Record, err error) {
			if err != nil {
				select {
				case first <- err:
				default:
				}
			}
		})
	}
	if err := a.b.cl.Flush(ctx); err != nil {
		a.t.Fatalf("produce to %s: %v", a.opts.orders, err)
	}
	select {
	case err := <-first:
		a.t.Fatalf("produce to %s: %v", a.opts.orders, err)
	default:
	}
}

func (a *app) produceTables(o orders) {
	a.t.Helper()
	var records []*kgo.Record
	add := func(topic, key, value string) {
		records = append(records, &kgo.Record{Topic: topic, Key: []byte(key), Value: []byte(value), Timestamp: o.base})
	}
	for i := range o.customers() {
		add(a.opts.customers, fmt.Sprintf("c%02d", i), fmt.Sprintf("Customer %d", i))
	}
	for i := range prefixes {
		add(a.opts.regions, fmt.Sprintf("p%d", i), fmt.Sprintf("Region %d", i))
	}
	if err := a.b.cl.ProduceSync(a.t.Context(), records...).FirstErr(); err != nil {
		a.t.Fatalf("produce the tables of %s: %v", a.opts.id, err)
	}
}

// diff compares every store with what it should hold; empty means equal. An unanswered query is a difference.
func (a *app) diff(want expectation) string {
	got := expectation{}
	for store := range want {
		found, err := a.queryAll(store)
		if err != nil {
			return err.Error()
		}
		got[store] = found
	}
	return cmp.Diff(want, got)
}

// waitFor waits until every store holds what it should and the inputs are read to the end.
func (a *app) waitFor(limit time.Duration, want expectation) {
	a.t.Helper()
	a.waitRunning()
	a.waitInputsRead(limit)
	a.eventually(limit, "has the expected counts", func() (bool, string) {
		d := a.diff(want)
		return d == "", d
	})
}

// requireCounts compares now, without waiting.
func (a *app) requireCounts(t *testing.T, want expectation) {
	t.Helper()
	if d := a.diff(want); d != "" {
		t.Errorf("the stores of %s differ from the expectation (-want +got):\n%s", a.opts.id, d)
	}
}
