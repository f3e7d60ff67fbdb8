package kafka

import (
	"errors"
	"slices"
	"testing"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kfake"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"
	"github.com/twmb/franz-go/pkg/kversion"
	"github.com/twmb/franz-go/pkg/sasl"

	"resurge/streams"
)

func mechanism(t *testing.T, user, password string) sasl.Mechanism {
	t.Helper()
	m, err := (&SASL{Mechanism: MechanismPlain, Username: user, Password: Secret(password)}).mechanism()
	if err != nil {
		t.Fatal(err)
	}
	return m
}

func TestTransactionsOfEveryState(t *testing.T) {
	f := fake(t, kfake.SeedTopics(1, "in"))
	done := openTransaction(t, f, "shop-1", "shop")
	if err := done.EndTransaction(t.Context(), kgo.TryCommit); err != nil {
		t.Fatal(err)
	}
	openTransaction(t, f, "shop-2", "shop")
	openTransaction(t, f, "other-1", "other")
	c, n := dial(t, f)
	got, err := c.Reader().Transactions(t.Context(), "shop-")
	if err != nil {
		t.Fatal(err)
	}
	if len(got) != 2 || got[0].TransactionalID != "shop-1" || got[0].Open() || got[1].TransactionalID != "shop-2" || !got[1].Open() || got[0].ProducerID == got[1].ProducerID {
		t.Errorf("got %+v", got)
	}
	if sent := n.take(); sent[kmsg.ListTransactions] != 3 || sent[kmsg.DescribeTransactions] != 0 {
		t.Errorf("sent %v", sent)
	}
	f.Fault(kfake.Fault{Keys: []kmsg.Key{kmsg.ListTransactions}, Nodes: []int32{1}, TopLevel: true, Err: kerr.UnknownServerError})
	if got, err := c.Reader().Transactions(t.Context(), "shop-"); err == nil {
		t.Errorf("a broker that did not answer may know more: %+v", got)
	}
}

func TestProducers(t *testing.T) {
	f := fake(t, kfake.SeedTopics(3, "in", "other"))
	cl := openTransaction(t, f, "shop-1", "shop")
	id, epoch, err := cl.ProducerID(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	c, n := dial(t, f)
	f.Fault(kfake.Fault{Keys: []kmsg.Key{kmsg.DescribeProducers}, Topic: "other", Partitions: []int32{2}, Err: kerr.TopicAuthorizationFailed, Count: -1})
	asked := []streams.TopicPartition{tp("in", 0), tp("in", 1), tp("other", 2), tp("in", 0), tp("absent", 0)}
	got, err := c.Reader().Producers(t.Context(), asked)
	if err != nil {
		t.Fatal(err)
	}
	if p := got[tp("in", 0)]; p.Fault != nil || len(p.Active) != 1 || p.Active[0].ID != id || p.Active[0].Epoch != int32(epoch) || p.Active[0].TransactionStart != 0 || p.Active[0].Last.IsZero() {
		t.Errorf("in 0: %+v", p)
	}
	if p, ok := got[tp("in", 1)]; !ok || p.Fault != nil || len(p.Active) != 0 {
		t.Errorf("in 1: %+v", p)
	}
	wantFault(t, got[tp("other", 2)].Fault, streams.FaultNotAllowed)
	if hint := got[tp("other", 2)].Fault.Hint; hint != "this principal needs READ on topic other" {
		t.Error(hint)
	}
	wantFault(t, got[tp("absent", 0)].Fault, streams.FaultNotFound)
	if sent := n.take(); len(got) != 4 || sent[kmsg.DescribeProducers] > 3 {
		t.Errorf("%d answers, sent %v", len(got), sent)
	}
}

func TestTracesOnAnOldBroker(t *testing.T) {
	f := fake(t, kfake.SeedTopics(1, "in"), kfake.MaxVersions(kversion.V2_7_0()))
	c, _ := dial(t, f)
	if _, err := c.Reader().Transactions(t.Context(), "shop-"); !streams.IsFault(err, streams.FaultUnsupported) {
		t.Errorf("transactions: %v", err)
	}
	got, err := c.Reader().Producers(t.Context(), []streams.TopicPartition{tp("in", 0)})
	if err != nil {
		t.Fatal(err)
	}
	wantFault(t, got[tp("in", 0)].Fault, streams.FaultUnsupported)
}

func TestBrokerConfigs(t *testing.T) {
	f := fake(t, kfake.BrokerConfigs(map[string]string{"offsets.retention.minutes": "1440"}))
	c, n := dial(t, f)
	got, err := c.Reader().BrokerConfigs(t.Context())
	if err != nil || got.Fault != nil {
		t.Fatalf("got %+v %v", got, err)
	}
	set := 0
	for _, v := range got.Values {
		if v.Dynamic {
			set++
		}
	}
	if len(got.Values) == 0 || set == 0 || set == len(got.Values) {
		t.Errorf("%d settings, %d of them set: %+v", len(got.Values), set, got.Values)
	}
	if sent := n.take(); sent[kmsg.DescribeConfigs] != 1 {
		t.Errorf("sent %v", sent)
	}
	for source, want := range map[kmsg.ConfigSource]bool{
		kmsg.ConfigSourceDynamicBrokerConfig: true, kmsg.ConfigSourceDynamicDefaultBrokerConfig: true, kmsg.ConfigSourceStaticBrokerConfig: true,
		kmsg.ConfigSourceDefaultConfig: false, kmsg.ConfigSourceUnknown: false,
	} {
		if setOnBroker(kmsg.DescribeConfigsResponseResourceConfig{Source: source}) != want {
			t.Errorf("%s: want %t", source, want)
		}
	}
}

func TestB15_NewestSkipsWhatCannotBeRead(t *testing.T) {
	f := fake(t, kfake.SeedTopics(2, "a", "b", "secret", "empty"))
	cl := client(t, f)
	produce(t, cl, "a", 0, "1", "2", "3")
	produce(t, cl, "a", 1, "4")
	produce(t, cl, "secret", 0, "s")
	rec := &kgo.Record{Topic: "b", Value: []byte("v"), Headers: []kgo.RecordHeader{{Key: "h", Value: []byte("1")}, {Key: "h", Value: []byte("2")}}}
	if err := cl.ProduceSync(t.Context(), rec).FirstErr(); err != nil {
		t.Fatal(err)
	}
	c, n := dial(t, f)
	f.Fault(kfake.Fault{Keys: []kmsg.Key{kmsg.Fetch}, Topic: "secret", Err: kerr.TopicAuthorizationFailed, Count: -1})
	got, err := c.Reader().Newest(t.Context(), 2, "a", "b", "secret", "empty", "absent")
	if err != nil {
		t.Fatal(err)
	}
	values := make([]string, 0, 3)
	for _, r := range got["a"] {
		values = append(values, string(r.Value))
	}
	if !slices.Equal(values, []string{"2", "3", "4"}) || len(got) != 3 || len(got["b"]) != 1 || string(got["b"][0].Headers["h"]) != "2" {
		t.Errorf("got %+v", got)
	}
	if r, ok := got["empty"]; !ok || len(r) != 0 {
		t.Errorf("an empty topic was read: %+v", r)
	}
	if sent := n.take(); sent[kmsg.Fetch] > 6 {
		t.Errorf("sent %v", sent)
	}
}

func TestNewestFailsAsAWholeOnlyWithoutCluster(t *testing.T) {
	f := fake(t, kfake.SeedTopics(1, "a"))
	c, _ := dial(t, f)
	c.Close()
	if _, err := c.Reader().Newest(t.Context(), 2, "a"); !errors.Is(err, kgo.ErrClientClosed) {
		t.Errorf("got %v", err)
	}
}
