package kafka

import (
	"errors"
	"net"
	"reflect"
	"slices"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kfake"
	"github.com/twmb/franz-go/pkg/kmsg"

	"resurge/streams"
)

// TestB22_ReaderSendsNoWrites calls every method that a Reader has.
func TestB22_ReaderSendsNoWrites(t *testing.T) {
	f := fake(t, kfake.SeedTopics(2, "in"))
	produce(t, client(t, f), "in", 0, "x")
	commit(t, f, "shop", map[streams.TopicPartition]int64{tp("in", 0): 1})
	openTransaction(t, f, "shop-1", "other")
	newProtocol(t, f, "g848")
	n := &counter{}
	c, err := Dial(t.Context(), ClientConfig{Bootstrap: f.ListenAddrs()}, Options{OnRequest: n.observe})
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()

	// The arguments for each method, by its type.
	arguments := map[reflect.Type][]any{
		reflect.TypeFor[string]():                   {"in", "shop", "g848", "absent", "shop-"},
		reflect.TypeFor[[]string]():                 {[]string(nil), []string{"in"}, []string{"absent"}},
		reflect.TypeFor[bool]():                     {true, false},
		reflect.TypeFor[int]():                      {3},
		reflect.TypeFor[time.Time]():                {time.UnixMilli(500)},
		reflect.TypeFor[[]streams.TopicPartition](): {[]streams.TopicPartition(nil), []streams.TopicPartition{tp("in", 0), tp("absent", 0)}},
		reflect.TypeFor[[]streams.GroupListing](): {[]streams.GroupListing(nil), []streams.GroupListing{
			{ID: "shop", Protocol: streams.ProtocolClassic}, {ID: "g848", Protocol: streams.ProtocolConsumer}, {ID: "absent", Protocol: streams.ProtocolUnknown},
		}},
	}
	r := reflect.ValueOf(c.Reader())
	called := 0
	for i := range r.NumMethod() {
		method := r.Method(i)
		var try func(args []reflect.Value)
		try = func(args []reflect.Value) {
			if len(args) < method.Type().NumIn() {
				values, ok := arguments[method.Type().In(len(args))]
				if !ok {
					t.Fatalf("%s takes a %s: add arguments to this test", r.Type().Method(i).Name, method.Type().In(len(args)))
				}
				for _, v := range values {
					try(append(slices.Clip(args), reflect.ValueOf(v)))
				}
				return
			}
			called++
			if method.Type().IsVariadic() {
				method.CallSlice(args)
				return
			}
			method.Call(args)
		}
		try([]reflect.Value{reflect.ValueOf(t.Context())})
	}
	sent := n.take()
	for k := range sent {
		if !readKeys[k] {
			t.Errorf("a reader sent %s", k.Name())
		}
	}
	for _, k := range []kmsg.Key{kmsg.Metadata, kmsg.ListGroups, kmsg.DescribeGroups, kmsg.OffsetFetch, kmsg.Fetch, kmsg.ListOffsets, kmsg.DescribeConfigs, kmsg.ListTransactions, kmsg.DescribeProducers, kmsg.DescribeCluster} {
		if sent[k] == 0 {
			t.Errorf("the methods did not reach %s: this test proves nothing", k.Name())
		}
	}
	t.Logf("%d calls sent %v", called, names(sent))
}

// TestB22_GuardRefusesWrites sends writes through the very client of a reader,
// as a defect would.
func TestB22_GuardRefusesWrites(t *testing.T) {
	f := fake(t, kfake.SeedTopics(1, "in"))
	c, n := dial(t, f)
	deleted := f.Fault(kfake.Fault{Observe: true, Count: -1, When: func(req kmsg.Request) bool { return !readKeys[kmsg.Key(req.Key())] }})
	del := kmsg.NewPtrDeleteTopicsRequest()
	topic := kmsg.NewDeleteTopicsRequestTopic()
	topic.Topic = new("in")
	del.Topics, del.TopicNames = append(del.Topics, topic), []string{"in"}
	leave := kmsg.NewPtrLeaveGroupRequest()
	leave.Group = "shop"
	commit := kmsg.NewPtrOffsetCommitRequest()
	commit.Group = "shop"
	for _, req := range []kmsg.Request{del, leave, commit, kmsg.NewPtrCreateTopicsRequest(), kmsg.NewPtrOffsetDeleteRequest(), kmsg.NewPtrProduceRequest(), kmsg.NewPtrInitProducerIDRequest()} {
		_, err := c.reader.cl.Request(t.Context(), req)
		if !errors.Is(err, errWriteRefused) {
			t.Errorf("%s: %v", kmsg.NameForKey(req.Key()), err)
		}
	}
	if f.TopicInfo("in") == nil || deleted.Hits() != 0 {
		t.Errorf("%d writes reached the brokers", deleted.Hits())
	}
	n.take()
	if _, err := c.Reader().Topics(t.Context()); err != nil {
		t.Errorf("reads go on after a refusal: %v", err)
	}
}

func TestGuardFollowsFramesHoweverTheyAreCut(t *testing.T) {
	req := kmsg.NewPtrMetadataRequest()
	read := kmsg.NewRequestFormatter().AppendRequest(nil, req, 1)
	write := kmsg.NewRequestFormatter().AppendRequest(nil, kmsg.NewPtrDeleteTopicsRequest(), 2)
	stream := append(append(append([]byte(nil), read...), read...), write...)
	for size := 1; size <= len(stream); size++ {
		here, there := net.Pipe()
		got := make(chan int, 1)
		go func() {
			total, b := 0, make([]byte, 4096)
			for {
				n, err := there.Read(b)
				total += n
				if err != nil {
					got <- total
					return
				}
			}
		}()
		guarded := &readOnlyConn{Conn: here}
		var err error
		for at := 0; at < len(stream) && err == nil; at += size {
			_, err = guarded.Write(stream[at:min(at+size, len(stream))])
		}
		if !errors.Is(err, errWriteRefused) {
			t.Errorf("cut at %d: %v", size, err)
		}
		_ = here.Close()
		if n := <-got; n >= len(read)*2+keyedHeader {
			t.Errorf("cut at %d: %d bytes passed, the write among them", size, n)
		}
		_ = there.Close()
	}
}
