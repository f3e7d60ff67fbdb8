package streams_test

import (
	"bufio"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"maps"
	"math"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"resurge/streams"
)

// vectors are bytes that Kafka's own classes wrote.
func vectors(tb testing.TB, kind string) map[string][]byte {
	tb.Helper()
	f, err := os.Open("testdata/userdata.txt")
	if err != nil {
		tb.Fatal(err)
	}
	defer f.Close()
	out := map[string][]byte{}
	lines := bufio.NewScanner(f)
	for lines.Scan() {
		w := strings.Fields(lines.Text())
		if w[0] == kind {
			out[w[1]] = unhex(tb, w[2])
		}
	}
	if len(out) == 0 {
		tb.Fatalf("no vectors of %s", kind)
	}
	return out
}

func unhex(tb testing.TB, s string) []byte {
	tb.Helper()
	b, err := hex.DecodeString(strings.ReplaceAll(s, " ", ""))
	if err != nil {
		tb.Fatal(err)
	}
	return b
}

// wholeOrNothing cuts the bytes everywhere and appends one: each is an error, the
// cuts say that they are cuts, and every error names a field after the subject.
func wholeOrNothing(t *testing.T, raw []byte, subject string, decode func([]byte) error) {
	t.Helper()
	for cut := range raw {
		err := decode(raw[:cut])
		if !errors.Is(err, streams.ErrTruncated) {
			t.Errorf("cut at %d: %v", cut, err)
			continue
		}
		if field, ok := strings.CutPrefix(err.Error(), "decode "+subject+": "); !ok || field == streams.ErrTruncated.Error() {
			t.Errorf("cut at %d names no field: %v", cut, err)
		}
	}
	if err := decode(append(slices.Clip(raw), 0)); err == nil {
		t.Error("a byte too many is accepted")
	}
}

func decodeSubscription(b []byte) error {
	_, err := streams.DecodeSubscriptionInfo(b)
	return err
}

func decodeAssignment(b []byte) error {
	_, err := streams.DecodeAssignmentInfo(b)
	return err
}

func TestSubscriptionInfoVectors(t *testing.T) {
	var process streams.ProcessID
	if err := process.UnmarshalText([]byte("01234567-89ab-cdef-0123-456789abcdef")); err != nil {
		t.Fatal(err)
	}
	running, dormant := streams.TaskID{Partition: 1}, streams.TaskID{Subtopology: 1}
	for name, raw := range vectors(t, "SubscriptionInfo") {
		t.Run(name, func(t *testing.T) {
			got, err := streams.DecodeSubscriptionInfo(raw)
			if err != nil {
				t.Fatal(err)
			}
			want := streams.SubscriptionInfo{Version: int32(binary.BigEndian.Uint32(raw)), LatestSupported: -1, ProcessID: process}
			if name != "v"+strconv.Itoa(int(want.Version)) {
				t.Fatalf("version %d in vector %s", want.Version, name)
			}
			if want.Version >= 3 {
				want.LatestSupported = 11
			}
			if want.Version <= 6 {
				want.Active, want.Standby = []streams.TaskID{running}, []streams.TaskID{dormant}
			} else {
				want.OffsetSums = map[streams.TaskID]int64{running: streams.OffsetSumRunning, dormant: 42}
			}
			if want.Version >= 2 {
				want.UserEndpoint = "h:1"
			}
			if want.Version >= 8 {
				want.UniqueField = 7
			}
			if want.Version >= 11 {
				want.ClientTags = map[string]string{"zone": "a"}
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Error(diff)
			}
			again, err := got.Encode()
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(hex.EncodeToString(raw), hex.EncodeToString(again)); diff != "" {
				t.Errorf("encode: %s", diff)
			}
			wholeOrNothing(t, raw, "subscription userdata", decodeSubscription)
		})
	}
}

func TestAssignmentInfoVectors(t *testing.T) {
	t01, host := streams.TaskID{Partition: 1}, streams.HostInfo{Host: "h", Port: 1}
	for name, raw := range vectors(t, "AssignmentInfo") {
		t.Run(name, func(t *testing.T) {
			got, err := streams.DecodeAssignmentInfo(raw)
			if err != nil {
				t.Fatal(err)
			}
			want := streams.AssignmentInfo{
				Version:             int32(binary.BigEndian.Uint32(raw)),
				CommonlySupported:   -1,
				Active:              []streams.TaskID{t01, t01, {Subtopology: 1}},
				Standby:             map[streams.TaskID][]streams.TopicPartition{{Subtopology: 1, Partition: 2}: {{Topic: "t", Partition: 2}}},
				NextRebalanceMillis: math.MaxInt64,
			}
			if want.Version >= 2 {
				want.Hosts = map[streams.HostInfo][]streams.TopicPartition{host: {{Topic: "t", Partition: 1}}}
			}
			if want.Version >= 3 {
				want.CommonlySupported = 11
			}
			if want.Version >= 6 {
				want.StandbyHosts = map[streams.HostInfo][]streams.TopicPartition{host: {{Topic: "t", Partition: 2}}}
			}
			if want.Version >= 7 {
				want.NextRebalanceMillis = 1700000000000
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Error(diff)
			}
			again, err := got.Encode()
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(hex.EncodeToString(raw), hex.EncodeToString(again)); diff != "" {
				t.Errorf("encode: %s", diff)
			}
			wholeOrNothing(t, raw, "assignment userdata", decodeAssignment)
		})
	}
}

// Kafka's classes were not asked for versions 3, 4, 5 and 8 of one and 3, 7 and 8
// of the other: their layouts follow from the table in streams-internals 3.2.
func TestUserdataRoundTripsInEveryVersion(t *testing.T) {
	tasks := []streams.TaskID{{}, {Subtopology: 2, Partition: 300}}
	sums := map[streams.TaskID]int64{{}: streams.OffsetSumUnknown, {Subtopology: 2, Partition: 300}: math.MaxInt64, {Subtopology: 2}: 0}
	parts := []streams.TopicPartition{{Topic: "ä\x00€😀", Partition: 3}, {Topic: "t"}}
	hosts := map[streams.HostInfo][]streams.TopicPartition{{Host: "a", Port: 1}: parts, {Host: "a"}: {}}
	for v := int32(1); v <= streams.NewestUserdata; v++ {
		named := streams.TaskID{Partition: 1}
		if v >= 10 {
			named.Named = "billing"
		}
		s := streams.SubscriptionInfo{Version: v, LatestSupported: 11, ProcessID: streams.ProcessID{15: 9}, UserEndpoint: "höst:1", ErrorCode: 4, UniqueField: -7, ClientTags: map[string]string{"b": "", "a": "é"}}
		if v <= 6 {
			s.Active, s.Standby = tasks, []streams.TaskID{}
		} else {
			s.OffsetSums = map[streams.TaskID]int64{named: 5}
			maps.Copy(s.OffsetSums, sums)
		}
		raw, err := s.Encode()
		if err != nil {
			t.Fatalf("v%d: %v", v, err)
		}
		back, err := streams.DecodeSubscriptionInfo(raw)
		if err != nil {
			t.Fatalf("v%d: %v", v, err)
		}
		since := []struct {
			since int32
			field string
		}{{2, "UserEndpoint"}, {3, "LatestSupported"}, {8, "UniqueField"}, {9, "ErrorCode"}, {11, "ClientTags"}}
		var later []string
		for _, c := range since {
			if v < c.since {
				later = append(later, c.field)
			}
		}
		if diff := cmp.Diff(s, back, cmpopts.IgnoreFields(streams.SubscriptionInfo{}, later...)); diff != "" {
			t.Errorf("v%d: %s", v, diff)
		}
		wholeOrNothing(t, raw, "subscription userdata", decodeSubscription)

		a := streams.AssignmentInfo{Version: v, CommonlySupported: 11, Active: append(tasks, named), Standby: map[streams.TaskID][]streams.TopicPartition{named: parts, {Subtopology: 5}: {}}, Hosts: hosts, StandbyHosts: hosts, ErrorCode: 1, NextRebalanceMillis: 5}
		if raw, err = a.Encode(); err != nil {
			t.Fatalf("v%d: %v", v, err)
		}
		got, err := streams.DecodeAssignmentInfo(raw)
		if err != nil {
			t.Fatalf("v%d: %v", v, err)
		}
		later = nil
		for _, c := range []struct {
			since int32
			field string
		}{{2, "Hosts"}, {3, "CommonlySupported"}, {4, "ErrorCode"}, {6, "StandbyHosts"}, {7, "NextRebalanceMillis"}} {
			if v < c.since {
				later = append(later, c.field)
			}
		}
		if diff := cmp.Diff(a, got, cmpopts.IgnoreFields(streams.AssignmentInfo{}, later...)); diff != "" {
			t.Errorf("v%d: %s", v, diff)
		}
		wholeOrNothing(t, raw, "assignment userdata", decodeAssignment)
	}
}

func TestNewerUserdataIsToldApart(t *testing.T) {
	raw := []byte{0, 0, 0, 12, 0, 0, 0, 13, 1, 2, 3}
	s, err := streams.DecodeSubscriptionInfo(raw)
	if diff := cmp.Diff(streams.SubscriptionInfo{Version: 12, LatestSupported: 13}, s); diff != "" || !errors.Is(err, streams.ErrNewerVersion) {
		t.Errorf("%v %s", err, diff)
	}
	a, err := streams.DecodeAssignmentInfo(raw)
	if diff := cmp.Diff(streams.AssignmentInfo{Version: 12, CommonlySupported: 13, NextRebalanceMillis: math.MaxInt64}, a); diff != "" || !errors.Is(err, streams.ErrNewerVersion) {
		t.Errorf("%v %s", err, diff)
	}
	for cut := range 8 {
		if err := decodeSubscription(raw[:cut]); !errors.Is(err, streams.ErrTruncated) {
			t.Errorf("subscription cut at %d: %v", cut, err)
		}
		if err := decodeAssignment(raw[:cut]); !errors.Is(err, streams.ErrTruncated) {
			t.Errorf("assignment cut at %d: %v", cut, err)
		}
	}
}

func TestTaskPartitions(t *testing.T) {
	t0, t1 := streams.TaskID{}, streams.TaskID{Partition: 1}
	assigned := []streams.TopicPartition{{Topic: "b", Partition: 0}, {Topic: "a", Partition: 10}, {Topic: "a", Partition: 2}}
	before := slices.Clone(assigned)
	got, err := streams.TaskPartitions(assigned, []streams.TaskID{t0, t1, t0})
	want := map[streams.TaskID][]streams.TopicPartition{t0: {{Topic: "a", Partition: 2}, {Topic: "b", Partition: 0}}, t1: {{Topic: "a", Partition: 10}}}
	if diff := cmp.Diff(want, got); err != nil || diff != "" {
		t.Errorf("%v %s", err, diff)
	}
	if diff := cmp.Diff(before, assigned); diff != "" {
		t.Errorf("the argument is sorted: %s", diff)
	}
	for _, active := range [][]streams.TaskID{nil, {t0}, {t0, t0, t0, t0}} {
		if _, err := streams.TaskPartitions(assigned, active); err == nil {
			t.Errorf("%d entries for %d partitions are accepted", len(active), len(assigned))
		}
	}
}

func FuzzSubscriptionInfo(f *testing.F) {
	for _, raw := range vectors(f, "SubscriptionInfo") {
		f.Add(raw)
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		s, err := streams.DecodeSubscriptionInfo(b)
		if err != nil {
			return
		}
		again, err := s.Encode()
		if err != nil {
			t.Fatal(err)
		}
		if back, err := streams.DecodeSubscriptionInfo(again); err != nil || !cmp.Equal(s, back) {
			t.Errorf("round trip: %v\n%s", err, cmp.Diff(s, back))
		}
	})
}

func FuzzAssignmentInfo(f *testing.F) {
	for _, raw := range vectors(f, "AssignmentInfo") {
		f.Add(raw)
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		a, err := streams.DecodeAssignmentInfo(b)
		if err != nil {
			return
		}
		again, err := a.Encode()
		if err != nil {
			t.Fatal(err)
		}
		if back, err := streams.DecodeAssignmentInfo(again); err != nil || !cmp.Equal(a, back) {
			t.Errorf("round trip: %v\n%s", err, cmp.Diff(a, back))
		}
	})
}
