package streams_test

import (
	"encoding/json"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"resurge/streams"
)

func TestTaskIDText(t *testing.T) {
	for text, want := range map[string]streams.TaskID{
		"0_1":             {Partition: 1},
		"12_2147483647":   {Subtopology: 12, Partition: 2147483647},
		"billing__0_1":    {Partition: 1, Named: "billing"},
		"a_b__3_0":        {Subtopology: 3, Named: "a_b"},
		"tail___3_0":      {Subtopology: 3, Named: "tail_"},
		"":                {Named: "!"},
		"0":               {Named: "!"},
		"0_":              {Named: "!"},
		"_0":              {Named: "!"},
		"-1_0":            {Named: "!"},
		"+1_0":            {Named: "!"},
		"0_2147483648":    {Named: "!"},
		"0_1_2":           {Named: "!"},
		"__0_1":           {Named: "!"},
		"a__b__0_1":       {Named: "!"},
		"..__0_1":         {Named: "!"},
		"../../etc__0_1":  {Named: "!"},
		"\u202etxt__0_1":  {Named: "!"},
		"rocksdb":         {Named: "!"},
		"0_1.deleted":     {Named: "!"},
		"0_1\n":           {Named: "!"},
		"global":          {Named: "!"},
		"__billing__/0_1": {Named: "!"},
	} {
		got, err := streams.ParseTaskID(text)
		if want.Named == "!" {
			if err == nil {
				t.Errorf("%q is read as %+v", text, got)
			}
			continue
		}
		if err != nil || got != want || got.String() != text {
			t.Errorf("%q: %+v %v, want %+v", text, got, err, want)
		}
	}
}

func TestTaskIDOrder(t *testing.T) {
	want := []streams.TaskID{{}, {Partition: 2}, {Partition: 10}, {Subtopology: 2}, {Subtopology: 10}, {Named: "a"}, {Named: "b"}}
	got := slices.Clone(want)
	slices.Reverse(got)
	slices.SortFunc(got, streams.TaskID.Compare)
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

func TestIdentitiesAreJSONText(t *testing.T) {
	type all struct {
		Sums    map[streams.TaskID]int64 `json:"sums"`
		Process streams.ProcessID        `json:"process"`
		TP      streams.TopicPartition   `json:"tp"`
	}
	in := all{
		Sums:    map[streams.TaskID]int64{{Subtopology: 1}: -2, {Named: "n"}: 3},
		Process: streams.ProcessID{0x01, 15: 0xef}, TP: streams.TopicPartition{Topic: "t", Partition: 4},
	}
	b, err := json.Marshal(in)
	if err != nil {
		t.Fatal(err)
	}
	const want = `{"sums":{"1_0":-2,"n__0_0":3},"process":"01000000-0000-0000-0000-0000000000ef","tp":{"topic":"t","partition":4}}`
	if diff := cmp.Diff(want, string(b)); diff != "" {
		t.Error(diff)
	}
	var back all
	if err := json.Unmarshal(b, &back); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(in, back); diff != "" {
		t.Error(diff)
	}
}

func TestProcessIDText(t *testing.T) {
	const want = "01234567-89ab-cdef-0123-456789abcdef"
	for text, ok := range map[string]bool{
		want:                                     true,
		"01234567-89AB-CDEF-0123-456789ABCDEF":   true,
		"":                                       false,
		"0123456789abcdef0123456789abcdef":       false,
		"-0123456789ab-cdef-0123-456789abcdef":   false,
		"01234567-89ab-cdef-0123-456789abcdeg":   false,
		"01234567-89ab-cdef-0123-456789abcdef0":  false,
		"01234567-89ab-cdef-0123-456789abcdef\n": false,
	} {
		var p streams.ProcessID
		if err := p.UnmarshalText([]byte(text)); (err == nil) != ok || ok && p.String() != want {
			t.Errorf("%q: %s %v", text, p, err)
		}
	}
}

func TestTopicPartition(t *testing.T) {
	want := []streams.TopicPartition{{Topic: "A"}, {Topic: "a", Partition: 2}, {Topic: "a", Partition: 10}, {Topic: "a-1"}}
	got := slices.Clone(want)
	slices.Reverse(got)
	slices.SortFunc(got, streams.TopicPartition.Compare)
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	if s := want[2].String(); s != "a-10" {
		t.Error(s)
	}
}

func FuzzTaskID(f *testing.F) {
	for _, s := range []string{"0_1", "n__0_1", "a__b__0_1", "../x__1_2", "-1_0"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		id, err := streams.ParseTaskID(s)
		if err != nil {
			return
		}
		if back, err := streams.ParseTaskID(id.String()); err != nil || back != id {
			t.Errorf("%q: %+v, back %+v %v", s, id, back, err)
		}
		if streams.Quote(s) != s {
			t.Errorf("%q is taken for a task", s)
		}
	})
}

func FuzzProcessID(f *testing.F) {
	f.Add("01234567-89ab-cdef-0123-456789abcdef")
	f.Fuzz(func(t *testing.T, s string) {
		var p, back streams.ProcessID
		if p.UnmarshalText([]byte(s)) != nil {
			return
		}
		if err := back.UnmarshalText([]byte(p.String())); err != nil || back != p {
			t.Errorf("%q: %s, back %s %v", s, p, back, err)
		}
	})
}
