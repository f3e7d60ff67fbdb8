package streams_test

import (
	"slices"
	"strings"
	"testing"

	"resurge/streams"
)

func TestHostileUserdataIsRefused(t *testing.T) {
	id := strings.Repeat("00", 16)
	for name, c := range map[string]struct {
		decode func([]byte) error
		hex    string
		want   string
	}{
		"version 0":           {decodeSubscription, "00000000 00000000", "version"},
		"version -1":          {decodeAssignment, "ffffffff 00000000", "version"},
		"2^31-1 tasks":        {decodeSubscription, "00000001" + id + "7fffffff 00000000", "previous tasks"},
		"-1 tasks":            {decodeSubscription, "00000001" + id + "ffffffff 00000000", "previous tasks"},
		"negative partition":  {decodeSubscription, "00000001" + id + "00000001 00000000 ffffffff 00000000", "previous tasks"},
		"2^31-1 bytes":        {decodeSubscription, "00000002" + id + "00000000 00000000 7fffffff", "user endpoint"},
		"-2 bytes":            {decodeSubscription, "00000002" + id + "00000000 00000000 fffffffe", "user endpoint"},
		"endpoint not UTF-8":  {decodeSubscription, "00000002" + id + "00000000 00000000 00000001 ff", "user endpoint: not UTF-8"},
		"2^31-1 sums":         {decodeSubscription, "00000007 0000000b" + id + "00000000 00000001 00000000 7fffffff", "task offset sums"},
		"path in topology":    {decodeSubscription, "0000000a 0000000b" + id + "00000000 00000001 00000000 00000000 0000000000000000 0004 2e2e2f78 00 00000000", "named topology"},
		"name of length -2":   {decodeSubscription, "0000000a 0000000b" + id + "00000000 00000001 00000000 00000000 0000000000000000 fffe 00 00000000", "task offset sums"},
		"2^31-1 characters":   {decodeAssignment, "0000000a 0000000b 00000001 00000000 00000000 7fffffff", "named topology"},
		"half a surrogate":    {decodeAssignment, "0000000a 0000000b 00000001 00000000 00000000 00000001 d800", "named topology: half"},
		"unknown topic index": {decodeAssignment, "00000005 0000000b 00000000 00000000 00000000 00000001 0001 68 00000001 00000001 00000007 00000000 00000000", "topic index: 7"},
		"2^31-1 hosts":        {decodeAssignment, "00000002 00000000 00000000 7fffffff", "hosts"},
	} {
		t.Run(name, func(t *testing.T) {
			err := c.decode(unhex(t, c.hex))
			if err == nil || !strings.Contains(err.Error(), "userdata: "+c.want) {
				t.Errorf("got %v, want %q", err, c.want)
			}
		})
	}
}

// A topic name stands in AssignmentInfo v1 as what Java's writeUTF writes.
func TestModifiedUTF8(t *testing.T) {
	for hexed, want := range map[string]string{
		"0000":             "",
		"000161":           "a",
		"0002c080":         "\x00",
		"0002c3a4":         "ä",
		"0003e282ac":       "€",
		"0006eda0bdedb880": "😀",
		"000100":           "!not modified UTF-8", // NUL takes two bytes
		"000180":           "!not modified UTF-8",
		"0001c3":           "!not modified UTF-8",
		"0002c328":         "!not modified UTF-8",
		"0002c1a1":         "!not modified UTF-8", // a, in two bytes
		"0003e08080":       "!not modified UTF-8",
		"0002e282":         "!not modified UTF-8",
		"0004f09f9880":     "!not modified UTF-8", // plain UTF-8
		"0003eda0bd":       "!half a surrogate pair",
		"0006edb880eda0bd": "!half a surrogate pair",
		"0005":             "!truncated",
	} {
		raw := unhex(t, "00000001 00000000 00000001 00000000 00000000 00000001"+hexed+"00000000")
		got, err := streams.DecodeAssignmentInfo(raw)
		if reason, bad := strings.CutPrefix(want, "!"); bad {
			if err == nil || !strings.Contains(err.Error(), reason) {
				t.Errorf("%s: got %v, want %s", hexed, err, reason)
			}
			continue
		}
		if err != nil || got.Standby[streams.TaskID{}][0].Topic != want {
			t.Errorf("%s: %v %v, want %q", hexed, got.Standby, err, want)
		}
		if again, err := got.Encode(); err != nil || !slices.Equal(again, raw) {
			t.Errorf("%s: encode: %x %v", hexed, again, err)
		}
	}
}

func TestUserdataThatCannotBeReadBackIsNotWritten(t *testing.T) {
	named := streams.TaskID{Named: "n"}
	sums := func(t streams.TaskID) map[streams.TaskID]int64 { return map[streams.TaskID]int64{t: 1} }
	for name, s := range map[string]streams.SubscriptionInfo{
		"version 0":          {},
		"version 12":         {Version: 12},
		"named in v1":        {Version: 1, Active: []streams.TaskID{named}},
		"named in v9":        {Version: 9, OffsetSums: sums(named)},
		"negative task":      {Version: 6, Active: []streams.TaskID{{Partition: -1}}},
		"negative group":     {Version: 7, OffsetSums: sums(streams.TaskID{Subtopology: -1})},
		"illegal name":       {Version: 11, OffsetSums: sums(streams.TaskID{Named: "a/b"})},
		"endpoint not UTF-8": {Version: 2, UserEndpoint: "\xff"},
	} {
		if b, err := s.Encode(); err == nil {
			t.Errorf("subscription, %s: %x", name, b)
		}
	}
	for name, a := range map[string]streams.AssignmentInfo{
		"version 0":       {},
		"version 12":      {Version: 12},
		"named in v9":     {Version: 9, Active: []streams.TaskID{named}},
		"negative task":   {Version: 9, Active: []streams.TaskID{{Partition: -1}}},
		"illegal name":    {Version: 11, Active: []streams.TaskID{{Named: "a__b"}}},
		"long host":       {Version: 2, Hosts: map[streams.HostInfo][]streams.TopicPartition{{Host: strings.Repeat("h", 65536)}: nil}},
		"topic not UTF-8": {Version: 6, StandbyHosts: map[streams.HostInfo][]streams.TopicPartition{{}: {{Topic: "\xff"}}}},
	} {
		if b, err := a.Encode(); err == nil {
			t.Errorf("assignment, %s: %x", name, b)
		}
	}
}
