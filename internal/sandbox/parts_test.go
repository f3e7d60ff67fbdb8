package sandbox

import (
	"os"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/twmb/franz-go/pkg/kgo"

	"resurge/streams"
)

func TestPartitionOfIsTheJavaClients(t *testing.T) {
	franz := kgo.StickyKeyPartitioner(nil).ForTopic("t")
	for i := range 1000 {
		key := []byte(path("some-longer-key-%d", i*i))[i%13:]
		for _, n := range []int32{1, 3, 12} {
			if got, want := partitionOf(key, n), franz.Partition(&kgo.Record{Key: key}, int(n)); int(got) != want {
				t.Fatalf("partitionOf(%q, %d) = %d, want %d", key, n, got, want)
			}
		}
	}
}

func TestGeneratorIsReproducible(t *testing.T) {
	now := time.Date(2026, 12, 1, 10, 40, 0, 0, time.UTC)
	make := func(seed uint64) ([]*kgo.Record, Expected) {
		g := newGenerator(seed, 500, now)
		return append(g.table(), g.orders(500)...), g.expected
	}
	a, ea := make(7)
	b, eb := make(7)
	if !cmp.Equal(ea, eb) || len(a) != len(b) {
		t.Fatal("the same seed gave other inputs")
	}
	for i := range a {
		if string(a[i].Key) != string(b[i].Key) || string(a[i].Value) != string(b[i].Value) || !a[i].Timestamp.Equal(b[i].Timestamp) {
			t.Fatalf("record %d differs", i)
		}
		if a[i].Partition == idlePartition || a[i].Timestamp.After(now) {
			t.Fatalf("record %d is in partition %d at %s", i, a[i].Partition, a[i].Timestamp)
		}
	}
	if _, ec := make(8); cmp.Equal(ea, ec) {
		t.Error("another seed gave the same inputs")
	}
}

func TestShare(t *testing.T) {
	tasks := make([]streams.TaskID, 0, 6)
	for sub := range int32(2) {
		for p := range int32(3) {
			tasks = append(tasks, streams.TaskID{Subtopology: sub, Partition: p})
		}
	}
	running := func(ids ...streams.TaskID) map[streams.TaskID]int64 {
		out := map[streams.TaskID]int64{}
		for _, id := range ids {
			out[id] = streams.OffsetSumRunning
		}
		return out
	}
	for name, c := range map[string]struct {
		have []map[streams.TaskID]int64
		want []int // tasks by client
		keep bool  // nobody loses a task that it runs
	}{
		"one":                 {have: []map[streams.TaskID]int64{nil}, want: []int{6}},
		"two begin":           {have: []map[streams.TaskID]int64{nil, nil}, want: []int{3, 3}},
		"four":                {have: []map[streams.TaskID]int64{nil, nil, nil, nil}, want: []int{1, 1, 2, 2}},
		"more than tasks":     {have: make([]map[streams.TaskID]int64, 8), want: []int{0, 0, 1, 1, 1, 1, 1, 1}},
		"settled":             {have: []map[streams.TaskID]int64{running(tasks[3:]...), running(tasks[:3]...)}, want: []int{3, 3}, keep: true},
		"one joins":           {have: []map[streams.TaskID]int64{running(tasks...), nil}, want: []int{3, 3}},
		"one dies":            {have: []map[streams.TaskID]int64{running(tasks[:3]...)}, want: []int{6}, keep: true},
		"running beats stale": {have: []map[streams.TaskID]int64{{tasks[0]: 9000}, running(tasks[:3]...)}, want: []int{3, 3}, keep: true},
	} {
		t.Run(name, func(t *testing.T) {
			clients := make([]*client, 0, len(c.have))
			for _, sums := range c.have {
				clients = append(clients, &client{info: streams.SubscriptionInfo{OffsetSums: sums}})
			}
			share(clients, tasks)
			got := make([]int, 0, len(clients))
			seen := map[streams.TaskID]int{}
			for _, cl := range clients {
				got = append(got, len(cl.tasks))
				for _, id := range cl.tasks {
					seen[id]++
				}
				for id, sum := range cl.info.OffsetSums {
					if c.keep && sum == streams.OffsetSumRunning && !slices.Contains(cl.tasks, id) {
						t.Errorf("task %s was taken from where it runs", id)
					}
				}
			}
			slices.Sort(got)
			if !slices.Equal(got, c.want) || len(seen) != len(tasks) {
				t.Errorf("tasks by client %v, want %v; %d of %d given", got, c.want, len(seen), len(tasks))
			}
			for id, n := range seen {
				if n != 1 {
					t.Errorf("task %s was given %d times", id, n)
				}
			}
		})
	}
}

func TestStoreSurvivesATornTail(t *testing.T) {
	dir := t.TempDir()
	spec := storeSpec{name: "s", topic: "s-changelog"}
	s, err := openStore(dir, spec)
	if err != nil {
		t.Fatal(err)
	}
	s.put("gone", row{ts: 1, value: []byte("x")})
	s.put("gone", row{ts: 2})
	s.put("empty", row{ts: 3, value: []byte{}})
	s.add("count", 40, 10)
	s.add("count", 2, 5)
	if err := s.flush(); err != nil {
		t.Fatal(err)
	}
	whole, err := os.ReadFile(s.path)
	if err != nil {
		t.Fatal(err)
	}
	for cut := range whole {
		if err := os.WriteFile(s.path, whole[:cut], 0o600); err != nil {
			t.Fatal(err)
		}
		s, err := openStore(dir, spec)
		if err != nil {
			t.Fatalf("open with %d of %d bytes: %v", cut, len(whole), err)
		}
		s.add("after", 1, 1)
		if err := s.flush(); err != nil {
			t.Fatal(err)
		}
		again, err := openStore(dir, spec)
		if err != nil || !cmp.Equal(s.rows, again.rows, cmp.AllowUnexported(row{})) {
			t.Fatalf("cut at %d: %v, %v; had %v", cut, err, again, s.rows)
		}
	}
	if err := os.WriteFile(s.path, whole, 0o600); err != nil {
		t.Fatal(err)
	}
	if s, err = openStore(dir, spec); err != nil {
		t.Fatal(err)
	}
	if r, ok := s.get("count"); !ok || r.counter() != 42 || r.ts != 10 {
		t.Errorf("count is %d at %d", r.counter(), r.ts)
	}
	if _, ok := s.get("gone"); ok || len(s.rows) != 2 {
		t.Errorf("rows: %v", s.rows)
	}
}

func TestStoreLogIsCompacted(t *testing.T) {
	dir := t.TempDir()
	spec := storeSpec{name: "s", topic: "s-changelog", windowed: true}
	s, err := openStore(dir, spec)
	if err != nil {
		t.Fatal(err)
	}
	for i := range 5000 {
		s.add("k", 1, int64(i))
	}
	if err := s.flush(); err != nil {
		t.Fatal(err)
	}
	if s, err = openStore(dir, spec); err != nil {
		t.Fatal(err)
	}
	info, err := os.Stat(s.path)
	if err != nil {
		t.Fatal(err)
	}
	if r, _ := s.get("k"); r.counter() != 5000 || info.Size() > 100 {
		t.Errorf("count %d in %d bytes", r.counter(), info.Size())
	}
}
