package streams_test

import (
	"testing"
	"time"

	"resurge/streams"
)

func TestGuessByRecords(t *testing.T) {
	now := time.Date(2026, 12, 1, 12, 0, 0, 0, time.UTC)
	at := now.Add(-time.Hour).UnixMilli()
	window := func(key string, seq int32) streams.Record {
		return streams.Record{Key: streams.EncodeWindowKey(streams.WindowKey{Key: []byte(key), StartMillis: at, Seq: seq}), Value: []byte{1}}
	}
	session := func(key string, start, end int64) streams.Record {
		return streams.Record{Key: streams.EncodeSessionKey(streams.SessionKey{Key: []byte(key), StartMillis: start, EndMillis: end}), Value: []byte{1}}
	}
	plain := streams.Record{Key: []byte("a-key-that-is-long-enough"), Value: []byte("v")}
	suppressed := streams.Record{Key: []byte("k"), Value: []byte("v"), Headers: map[string][]byte{"v": {3}}}
	tombstone := streams.Record{Key: []byte("k")}
	for _, c := range []struct {
		name    string
		guess   streams.StoreKind
		records []streams.Record
		want    streams.StoreKind
		sure    bool
	}{
		{"no record", streams.StoreWindow, nil, streams.StoreWindow, false},
		{"windows", streams.StoreWindow, []streams.Record{window("k", 0), window("a longer key", 0)}, streams.StoreWindow, true},
		{"sessions", streams.StoreWindow, []streams.Record{session("k", at, at+30), session("", at, at)}, streams.StoreSession, true},
		{"a session that was merged away leaves a tombstone", streams.StoreWindow, []streams.Record{session("k", at, at+30), tombstone}, streams.StoreSession, true},
		{"a session that ends before it starts", streams.StoreWindow, []streams.Record{session("k", at, at-30)}, streams.StoreWindow, false},
		{"sessions of the year 1971", streams.StoreWindow, []streams.Record{session("k", 1<<35+5, 1<<35+9)}, streams.StoreWindow, false},
		{"both kinds", streams.StoreWindow, []streams.Record{window("k", 0), session("k", at, at)}, streams.StoreWindow, false},
		{"neither", streams.StoreWindow, []streams.Record{{Key: []byte("short"), Value: []byte{1}}}, streams.StoreWindow, false},
		{"a key-value store", streams.StoreKeyValue, []streams.Record{plain, tombstone}, streams.StoreKeyValue, false},
		{"a suppress buffer", streams.StoreKeyValue, []streams.Record{suppressed, tombstone}, streams.StoreSuppress, true},
		{"a suppress buffer that holds nothing", streams.StoreKeyValue, []streams.Record{tombstone, tombstone}, streams.StoreKeyValue, false},
		{"a user's own header v", streams.StoreKeyValue, []streams.Record{{Key: []byte("k"), Value: []byte("v"), Headers: map[string][]byte{"v": []byte("11")}}}, streams.StoreKeyValue, false},
		{"the position header of interactive queries", streams.StoreKeyValue, []streams.Record{{Key: []byte("k"), Value: []byte("v"), Headers: map[string][]byte{"v": {0}, "c": {0}}}}, streams.StoreKeyValue, false},
		{"a join window is not looked into", streams.StoreJoinWindow, []streams.Record{session("k", at, at)}, streams.StoreJoinWindow, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			got, why := streams.GuessByRecords(c.guess, c.records, now)
			if got != c.want || (why != "") != c.sure {
				t.Errorf("got %s, evidence %q; want %s, sure %v", got, why, c.want, c.sure)
			}
		})
	}
}

func TestIsGenerated(t *testing.T) {
	for topic, want := range map[string]bool{
		"a-KSTREAM-AGGREGATE-STATE-STORE-0000000003-changelog": true, "a-counts-changelog": false,
		"a-KSTREAM-REPARTITION-0000000003-repartition": true, "a-by-item-repartition": false,
		"a-KTABLE-FK-JOIN-SUBSCRIPTION-RESPONSE-0000000025-topic": true, "a-j-subscription-response-topic": false,
		"a-b-KSTREAM-AGGREGATE-STATE-STORE-0000000003-changelog": false,
	} {
		n, ok := streams.ParseInternal("a", topic)
		if !ok || streams.IsGenerated(n) != want {
			t.Errorf("%s: parsed %v, generated %v", topic, ok, !want)
		}
	}
}
