//go:build integration

package integration

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/twmb/franz-go/pkg/kgo"
)

// parityCase is one position option, spelled for Kafka's tool and, where that differs, for resurge.
type parityCase struct {
	name       string
	tool, ours []string
}

// TestParity resets one copy of an application with kafka-streams-application-reset and another one with resurge:
// the topics that are left and the committed offsets are the same.
func TestParity(t *testing.T) { //nolint:tparallel // its subtests share what it set up, in order
	t.Parallel()
	now := time.Now()
	a := newApp(t, sharedBroker(t), appOptions{id: "paritybase", partition: 3})
	cases := parityCases(t, a, now)
	for _, c := range cases {
		a.opts.copies = append(a.opts.copies, toolCopy(c.name), ourCopy(c.name))
	}
	a.produceInTwoBatches(now)
	a.start()
	a.waitRunning()
	a.waitInputsRead(time.Minute)
	a.quietSnapshot(t)
	a.stop()
	for _, id := range a.ids() {
		a.b.waitEmpty(t, id)
	}
	con := newConsole(t, a.b.addr, "")
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			inputs := []string{"--input-topics", a.inputs()}
			a.b.mustTool(t, streamsResetter, slices.Concat([]string{"--application-id", toolCopy(c.name)}, inputs, c.tool)...)
			p := con.plan(t, ourCopy(c.name), slices.Concat(inputs, c.ours, []string{"--no-start"})...)
			con.execute(t, p, "--ack", "all").requireCode(t, exitVerified)
			requireParity(t, a, c)
		})
	}
}

func toolCopy(name string) string { return "parity-" + name + "-tool" }
func ourCopy(name string) string  { return "parity-" + name + "-ours" }

func parityCases(t *testing.T, a *app, now time.Time) []parityCase {
	t.Helper()
	hourAgo := now.Add(-time.Hour).UTC().Format("2006-01-02T15:04:05.000Z07:00")
	file := filepath.Join(t.TempDir(), "offsets.csv")
	var csv strings.Builder
	for partition := range a.opts.partition {
		fmt.Fprintf(&csv, "%s,%d,%d\n%s,%d,%d\n", a.opts.orders, partition, 5+partition, a.opts.customers, partition, 1)
	}
	if err := os.WriteFile(file, []byte(csv.String()), 0o644); err != nil {
		t.Fatal(err)
	}
	same := func(name string, option ...string) parityCase {
		return parityCase{name: name, tool: option, ours: option}
	}
	return []parityCase{
		same("earliest", "--to-earliest"),
		same("latest", "--to-latest"),
		same("offset", "--to-offset", "7"),
		same("offset-beyond", "--to-offset", "1000000"), // the tool stays inside what there is
		same("datetime", "--to-datetime", hourAgo),
		same("duration", "--by-duration", "PT1H"),
		{name: "shift-back", tool: []string{"--shift-by", "-5"}, ours: []string{"--shift-by=-5"}},
		same("file", "--from-file", file),
		same("intermediate", "--to-earliest", "--intermediate-topics", a.opts.totals),
	}
}

// produceInTwoBatches writes orders of three hours and of ten minutes ago, and leaves one partition of orders empty:
// the application never commits an offset for it.
func (a *app) produceInTwoBatches(now time.Time) {
	a.t.Helper()
	tables := make([]*kgo.Record, 0, 50)
	for i := range cap(tables) {
		key := fmt.Sprintf("c%02d", i)
		tables = append(tables, &kgo.Record{Topic: a.opts.customers, Key: []byte(key), Value: []byte("name"), Timestamp: now.Add(-4 * time.Hour)})
	}
	results := a.b.cl.ProduceSync(a.t.Context(), tables...)
	if err := results.FirstErr(); err != nil {
		a.t.Fatal(err)
	}
	var records []*kgo.Record
	for _, age := range []time.Duration{3 * time.Hour, 10 * time.Minute} {
		for i := range 10 {
			for _, table := range results {
				if table.Record.Partition == 0 {
					continue
				}
				at := now.Add(-age).Add(time.Duration(i) * time.Second)
				records = append(records, &kgo.Record{Topic: a.opts.orders, Key: table.Record.Key, Value: []byte(fmt.Sprintf("p%d-item-%d", i, i)), Timestamp: at})
			}
		}
	}
	if err := a.b.cl.ProduceSync(a.t.Context(), records...).FirstErr(); err != nil {
		a.t.Fatal(err)
	}
}

// copyLeft is what is left of a copy, with its application ID taken off the topic names.
type copyLeft struct {
	Topics  []string
	Offsets map[string]map[int32]string
}

// leftOf leaves out leader epochs: the tool commits those it happened to see.
func leftOf(now snapshot, id string) copyLeft {
	left := copyLeft{Offsets: map[string]map[int32]string{}}
	for _, name := range slices.Sorted(maps.Keys(now.Topics)) {
		if short, ok := strings.CutPrefix(name, id+"-"); ok {
			left.Topics = append(left.Topics, short)
		}
	}
	for topic, partitions := range now.Groups[id].Offsets {
		short := strings.TrimPrefix(topic, id+"-")
		left.Offsets[short] = map[int32]string{}
		for p, o := range partitions {
			left.Offsets[short][p] = fmt.Sprintf("%d %q", o.At, o.Metadata)
		}
	}
	return left
}

func requireParity(t *testing.T, a *app, c parityCase) {
	t.Helper()
	// The broker removes the offsets of a deleted topic on its own time.
	eventually(t, 20*time.Second, "both copies are left alike", func() (bool, string) {
		now := a.b.snapshotOf(t, func(name string) bool { return strings.Contains(name, "parity") })
		tool, ours := leftOf(now, toolCopy(c.name)), leftOf(now, ourCopy(c.name))
		if len(tool.Offsets[a.opts.orders]) != int(a.opts.partition) {
			return false, fmt.Sprintf("the tool left offsets %v", tool.Offsets)
		}
		d := cmp.Diff(tool, ours)
		return d == "", "(-tool +ours)\n" + d
	})
}
