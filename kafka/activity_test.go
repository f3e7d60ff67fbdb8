package kafka

import (
	"context"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/twmb/franz-go/pkg/kfake"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"

	"resurge/streams"
)

func commitKey(group, topic string, partition int32) []byte {
	k := kmsg.OffsetCommitKey{Version: 1, Group: group, Topic: topic, Partition: partition}
	return k.AppendTo(nil)
}

func commitValue(version int16, at int64) []byte {
	v := kmsg.OffsetCommitValue{Version: version, Offset: 5, LeaderEpoch: -1, CommitTimestamp: at, ExpireTimestamp: -1}
	return v.AppendTo(nil)
}

func stateKey() []byte {
	k := kmsg.GroupMetadataKey{Version: 2, Group: "shop"}
	return k.AppendTo(nil)
}

func stateValue(protocolType string, at int64, members ...string) []byte {
	v := kmsg.GroupMetadataValue{Version: 3, ProtocolType: protocolType, Generation: 4, CurrentStateTimestamp: at}
	for _, id := range members {
		v.Members = append(v.Members, kmsg.GroupMetadataValueMember{MemberID: id})
	}
	return v.AppendTo(nil)
}

// TestOffsetsPartition has the values of Java's Utils.abs(id.hashCode()) % 50.
func TestOffsetsPartition(t *testing.T) {
	for id, hash := range map[string]int32{"": 0, "a": 97, "hello": 99162322, "polygenelubricants": 0, "Ünïcode-😀": javaHash("Ünïcode-😀") & 0x7fffffff} {
		if got := offsetsPartition(id, 50); got != hash%50 {
			t.Errorf("%q: %d, want %d", id, got, hash%50)
		}
	}
}

// javaHash is String.hashCode, by its definition s[0]*31^(n-1) + ... + s[n-1].
func javaHash(s string) int32 {
	var units []uint16
	for _, r := range s {
		if r > 0xffff {
			r -= 0x10000
			units = append(units, uint16(0xd800+r>>10), uint16(0xdc00+r&0x3ff))
			continue
		}
		units = append(units, uint16(r))
	}
	var sum, power int32 = 0, 1
	for _, u := range slices.Backward(units) {
		sum += int32(u) * power
		power *= 31
	}
	return sum
}

func TestReadGroupNote(t *testing.T) {
	at := time.UnixMilli(1700000000000)
	old := kmsg.OffsetCommitKey{Version: 0, Group: "shop", Topic: "in", Partition: 2}
	partition := tp("in", 2)
	for name, c := range map[string]struct {
		key, value []byte
		want       groupNote
		ok         bool
	}{
		"commit":                {commitKey("shop", "in", 2), commitValue(3, at.UnixMilli()), groupNote{partition: &partition, at: at}, true},
		"commit of Kafka 4":     {commitKey("shop", "in", 2), commitValue(4, at.UnixMilli()), groupNote{partition: &partition, at: at}, true},
		"old commit":            {old.AppendTo(nil), commitValue(1, at.UnixMilli()), groupNote{partition: &partition, at: at}, true},
		"tombstone":             {commitKey("shop", "in", 2), nil, groupNote{partition: &partition, gone: true}, true},
		"another group":         {commitKey("shop2", "in", 2), commitValue(3, 1), groupNote{}, false},
		"newer commit":          {commitKey("shop", "in", 2), commitValue(9, 1), groupNote{}, false},
		"cut commit":            {commitKey("shop", "in", 2), commitValue(3, 1)[:9], groupNote{}, false},
		"cut key":               {commitKey("shop", "in", 2)[:7], commitValue(3, 1), groupNote{}, false},
		"empty":                 {stateKey(), stateValue("consumer", at.UnixMilli()), groupNote{emptied: at}, true},
		"with members":          {stateKey(), stateValue("consumer", at.UnixMilli(), "m1"), groupNote{}, true},
		"never had members":     {stateKey(), stateValue("", at.UnixMilli()), groupNote{}, true},
		"deleted group":         {stateKey(), nil, groupNote{gone: true}, true},
		"streams group's key":   {[]byte{0, 17, 0, 4, 's', 'h', 'o', 'p'}, []byte{0, 0}, groupNote{}, false},
		"negative version":      {[]byte{0xff, 0xff}, nil, groupNote{}, false},
		"nothing":               {nil, nil, groupNote{}, false},
		"huge count of members": {stateKey(), append(stateValue("consumer", 1)[:28], 0x7f, 0xff, 0xff, 0xff), groupNote{}, false},
	} {
		t.Run(name, func(t *testing.T) {
			got, ok := readGroupNote("shop", c.key, c.value)
			if d := cmp.Diff(c.want, got, cmp.AllowUnexported(groupNote{})); d != "" || ok != c.ok {
				t.Error(ok, d)
			}
		})
	}
}

func FuzzReadGroupNote(f *testing.F) {
	f.Add(commitKey("shop", "in", 2), commitValue(3, 1))
	f.Add(commitKey("shop", "in", 2), commitValue(4, 1))
	f.Add(stateKey(), stateValue("consumer", 1, "m1"))
	f.Add([]byte{0, 17}, []byte{0, 0})
	f.Fuzz(func(t *testing.T, key, value []byte) {
		note, ok := readGroupNote("shop", key, value)
		if !ok && note != (groupNote{}) {
			t.Errorf("no note and yet %+v", note)
		}
		if note.partition != nil && (note.partition.Topic == "" || note.partition.Partition < 0) {
			t.Errorf("note of %v", note.partition)
		}
	})
}

// offsetsLog is a stand-in for the topic __consumer_offsets of one partition.
func offsetsLog(t *testing.T, f *kfake.Cluster) func(key, value []byte, at int64) {
	t.Helper()
	if f.TopicInfo(offsetsTopic) == nil {
		if err := f.CreateTopic(offsetsTopic, 1, nil); err != nil {
			t.Fatal(err)
		}
	}
	cl := client(t, f)
	return func(key, value []byte, at int64) {
		t.Helper()
		rec := &kgo.Record{Topic: offsetsTopic, Key: key, Value: value, Timestamp: time.UnixMilli(at)}
		if err := cl.ProduceSync(t.Context(), rec).FirstErr(); err != nil {
			t.Fatal(err)
		}
	}
}

func TestActivity(t *testing.T) {
	f := fake(t)
	write := offsetsLog(t, f)
	write(stateKey(), stateValue("consumer", 900, "m1"), 900)
	write(commitKey("shop", "in", 0), commitValue(3, 1000), 1000)
	write(commitKey("shop", "in", 1), commitValue(3, 2000), 2000)
	write(commitKey("shop", "in", 0), commitValue(3, 3000), 3000)
	write(commitKey("shop", "gone", 0), commitValue(3, 3500), 3500)
	write(commitKey("shop", "gone", 0), nil, 3600)
	write(commitKey("other", "in", 0), commitValue(3, 9000), 9000)
	write([]byte{0, 3, 1}, []byte{1, 2, 3}, 9000)
	write(stateKey(), stateValue("consumer", 4000), 4000)
	c, _ := dial(t, f)
	got, err := c.Reader().Activity(t.Context(), "shop")
	if err != nil {
		t.Fatal(err)
	}
	want := streams.Activity{
		Commits:    map[streams.TopicPartition]time.Time{tp("in", 0): time.UnixMilli(3000), tp("in", 1): time.UnixMilli(2000)},
		LastCommit: time.UnixMilli(3000), Emptied: time.UnixMilli(4000), Since: time.UnixMilli(900), Whole: true,
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
	never, err := c.Reader().Activity(t.Context(), "never")
	if err != nil || len(never.Commits) != 0 || !never.LastCommit.IsZero() || !never.Whole || never.Since.IsZero() {
		t.Errorf("got %+v %v", never, err)
	}
}

// TestActivityLooksBack finds a commit that lies under thousands of others', and
// does not read what lies before it.
func TestActivityLooksBack(t *testing.T) {
	f := fake(t)
	write := offsetsLog(t, f)
	cl := client(t, f)
	others := func(n int, at int64) {
		t.Helper()
		recs := make([]*kgo.Record, 0, n)
		for range n {
			recs = append(recs, &kgo.Record{Topic: offsetsTopic, Key: commitKey("other", "in", 0), Value: commitValue(3, at), Timestamp: time.UnixMilli(at)})
		}
		if err := cl.ProduceSync(t.Context(), recs...).FirstErr(); err != nil {
			t.Fatal(err)
		}
	}
	write(commitKey("shop", "in", 1), commitValue(3, 500), 500)
	others(4000, 1000)
	write(commitKey("shop", "in", 0), commitValue(3, 2000), 2000)
	others(4000, 3000)
	c, _ := dial(t, f)
	got, err := c.Reader().Activity(t.Context(), "shop")
	if err != nil {
		t.Fatal(err)
	}
	if got.Whole || !got.LastCommit.Equal(time.UnixMilli(2000)) || len(got.Commits) != 1 || !got.Since.Equal(time.UnixMilli(1000)) {
		t.Errorf("got %+v", got)
	}
}

// TestActivityOfTransactions: exactly-once commits count when they are decided.
func TestActivityOfTransactions(t *testing.T) {
	f := fake(t)
	write := offsetsLog(t, f)
	write(commitKey("shop", "in", 0), commitValue(3, 1000), 1000)
	for id, how := range map[string]kgo.TransactionEndTry{"a": kgo.TryCommit, "b": kgo.TryAbort} {
		cl := client(t, f, kgo.TransactionalID(id))
		if err := cl.BeginTransaction(); err != nil {
			t.Fatal(err)
		}
		partition := int32(1)
		if how == kgo.TryAbort {
			partition = 2
		}
		rec := &kgo.Record{Topic: offsetsTopic, Key: commitKey("shop", "in", partition), Value: commitValue(3, 2000), Timestamp: time.UnixMilli(2000)}
		if err := cl.ProduceSync(t.Context(), rec).FirstErr(); err != nil {
			t.Fatal(err)
		}
		if err := cl.EndTransaction(t.Context(), how); err != nil {
			t.Fatal(err)
		}
	}
	c, _ := dial(t, f)
	got, err := c.Reader().Activity(t.Context(), "shop")
	if err != nil || len(got.Commits) != 2 || !got.Commits[tp("in", 1)].Equal(time.UnixMilli(2000)) {
		t.Errorf("got %+v %v", got, err)
	}
}

func TestB17_ActivityNeedsRead(t *testing.T) {
	for name, acls := range map[string][]kfake.ACL{
		"nothing":       nil,
		"DESCRIBE only": grant(kmsg.ACLResourceTypeTopic, offsetsTopic, kmsg.ACLOperationDescribe),
	} {
		f, r := principal(t, acls)
		if err := f.CreateTopic(offsetsTopic, 1, nil); err != nil {
			t.Fatal(err)
		}
		root := client(t, f, kgo.SASL(mechanism(t, "root", "x")))
		if err := root.ProduceSync(t.Context(), &kgo.Record{Topic: offsetsTopic, Value: []byte("v")}).FirstErr(); err != nil {
			t.Fatal(err)
		}
		_, err := r.Activity(t.Context(), "shop")
		fault := streams.FaultOf(err)
		wantFault(t, fault, streams.FaultNotAllowed)
		if fault.Hint != "this principal needs READ on topic __consumer_offsets" {
			t.Errorf("%s: %+v", name, fault)
		}
	}
	c, _ := dial(t, fake(t))
	if _, err := c.Reader().Activity(t.Context(), "shop"); !streams.IsFault(err, streams.FaultNotFound) {
		t.Errorf("no such topic: %v", err)
	}
}

func TestActivityIsInterrupted(t *testing.T) {
	f := fake(t)
	offsetsLog(t, f)(commitKey("shop", "in", 0), commitValue(3, 1000), 1000)
	c, _ := dial(t, f)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if got, err := c.Reader().Activity(ctx, "shop"); err == nil {
		t.Errorf("got %+v", got)
	}
}
