package streams_test

import (
	"bufio"
	"encoding/hex"
	"errors"
	"math"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

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
		if w[0] != kind {
			continue
		}
		b, err := hex.DecodeString(w[2])
		if err != nil {
			tb.Fatal(err)
		}
		out[w[1]] = b
	}
	if len(out) == 0 {
		tb.Fatalf("no vectors of %s", kind)
	}
	return out
}

func TestSubscriptionInfoVectors(t *testing.T) {
	var process streams.ProcessID
	if err := process.UnmarshalText([]byte("01234567-89ab-cdef-0123-456789abcdef")); err != nil {
		t.Fatal(err)
	}
	for name, raw := range vectors(t, "SubscriptionInfo") {
		t.Run(name, func(t *testing.T) {
			got, err := streams.DecodeSubscriptionInfo(raw)
			if err != nil {
				t.Fatal(err)
			}
			if got.ProcessID != process {
				t.Errorf("process id %s", got.ProcessID)
			}
			if got.Version >= 2 && got.UserEndpoint != "h:1" {
				t.Errorf("endpoint %q", got.UserEndpoint)
			}
			active, dormant := streams.TaskID{Partition: 1}, streams.TaskID{Subtopology: 1}
			if got.Version <= 6 {
				if diff := cmp.Diff([]streams.TaskID{active}, got.Active); diff != "" {
					t.Error(diff)
				}
				if diff := cmp.Diff([]streams.TaskID{dormant}, got.Standby); diff != "" {
					t.Error(diff)
				}
			} else if diff := cmp.Diff(map[streams.TaskID]int64{active: streams.OffsetSumRunning, dormant: 42}, got.OffsetSums); diff != "" {
				t.Error(diff)
			}
			if got.Version >= 8 && got.UniqueField != 7 {
				t.Errorf("unique field %d", got.UniqueField)
			}
			if got.Version >= 11 && got.ClientTags["zone"] != "a" {
				t.Errorf("tags %v", got.ClientTags)
			}
			again, err := got.Encode()
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(hex.EncodeToString(raw), hex.EncodeToString(again)); diff != "" {
				t.Errorf("encode: %s", diff)
			}
			for cut := range raw {
				if _, err := streams.DecodeSubscriptionInfo(raw[:cut]); err == nil {
					t.Errorf("cut at %d is accepted", cut)
				}
			}
			if _, err := streams.DecodeSubscriptionInfo(append(slices.Clip(raw), 0)); err == nil {
				t.Error("a byte too many is accepted")
			}
		})
	}
}

func TestAssignmentInfoVectors(t *testing.T) {
	for name, raw := range vectors(t, "AssignmentInfo") {
		t.Run(name, func(t *testing.T) {
			got, err := streams.DecodeAssignmentInfo(raw)
			if err != nil {
				t.Fatal(err)
			}
			t01 := streams.TaskID{Partition: 1}
			if diff := cmp.Diff([]streams.TaskID{t01, t01, {Subtopology: 1}}, got.Active); diff != "" {
				t.Error(diff)
			}
			if diff := cmp.Diff(map[streams.TaskID][]streams.TopicPartition{{Subtopology: 1, Partition: 2}: {{Topic: "t", Partition: 2}}}, got.Standby); diff != "" {
				t.Error(diff)
			}
			if got.Version >= 2 {
				if diff := cmp.Diff(map[streams.HostInfo][]streams.TopicPartition{{Host: "h", Port: 1}: {{Topic: "t", Partition: 1}}}, got.Hosts); diff != "" {
					t.Error(diff)
				}
			}
			want := int64(math.MaxInt64)
			if got.Version >= 7 {
				want = 1700000000000
			}
			if got.NextRebalanceMillis != want {
				t.Errorf("next rebalance %d", got.NextRebalanceMillis)
			}
			again, err := got.Encode()
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(hex.EncodeToString(raw), hex.EncodeToString(again)); diff != "" {
				t.Errorf("encode: %s", diff)
			}
			for cut := range raw {
				if _, err := streams.DecodeAssignmentInfo(raw[:cut]); err == nil {
					t.Errorf("cut at %d is accepted", cut)
				}
			}
		})
	}
}

func TestNewerUserdataIsToldApart(t *testing.T) {
	raw := []byte{0, 0, 0, 12, 0, 0, 0, 12, 1, 2, 3}
	s, err := streams.DecodeSubscriptionInfo(raw)
	if !errors.Is(err, streams.ErrNewerVersion) || s.Version != 12 || s.LatestSupported != 12 {
		t.Errorf("got %+v, %v", s, err)
	}
	if _, err := streams.DecodeAssignmentInfo(raw); !errors.Is(err, streams.ErrNewerVersion) {
		t.Errorf("assignment: %v", err)
	}
}

func TestTaskPartitions(t *testing.T) {
	t0, t1 := streams.TaskID{}, streams.TaskID{Partition: 1}
	got, err := streams.TaskPartitions([]streams.TopicPartition{{Topic: "b", Partition: 0}, {Topic: "a", Partition: 1}, {Topic: "a", Partition: 0}}, []streams.TaskID{t0, t1, t0})
	want := map[streams.TaskID][]streams.TopicPartition{t0: {{Topic: "a", Partition: 0}, {Topic: "b", Partition: 0}}, t1: {{Topic: "a", Partition: 1}}}
	if diff := cmp.Diff(want, got); err != nil || diff != "" {
		t.Errorf("%v %s", err, diff)
	}
	if _, err := streams.TaskPartitions(nil, []streams.TaskID{t0}); err == nil {
		t.Error("unequal lengths are accepted")
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
	f.Fuzz(func(_ *testing.T, b []byte) { _, _ = streams.DecodeAssignmentInfo(b) })
}
