//go:build integration

package integration

import (
	"encoding/json"
	"flag"
	"fmt"
	"maps"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/twmb/franz-go/pkg/kadm"
)

// text is what the application's own Topology#describe() says, read here without the help of the code under test.
type text struct {
	whole    string
	sources  []string // topics and, undecorated, repartition topics
	patterns []pattern
	sinks    []string
	globals  []string
	stateful []string // subtopologies with stores
	// parts are the subtopologies that name a topic as source, sink or changelog, the changelog by its store's name.
	parts map[string][]string
	// stores are those of tasks.
	stores []string
}

type pattern struct {
	*regexp.Regexp
	part string
}

var (
	partLine   = regexp.MustCompile(`Sub-topology: (\d+)( for global store)?`)
	sourceLine = regexp.MustCompile(`Source: \S+ \(topics: (?:\[(.+)\]|(.+))\)$`)
	sinkLine   = regexp.MustCompile(`Sink: \S+ \(topic: (.+)\)$`)
	storesLine = regexp.MustCompile(`\(stores: \[(.+)\]\)$`)
)

// topologyText asks the application.
func (a *app) topologyText(t *testing.T) text {
	t.Helper()
	status, body, err := get(a.url("/topology"))
	if err != nil || status != http.StatusOK {
		t.Fatalf("topology of %s: %d, %v", a.opts.id, status, err)
	}
	found := text{whole: body, parts: map[string][]string{}}
	var part string
	var global bool
	for line := range strings.SplitSeq(body, "\n") {
		if m := partLine.FindStringSubmatch(line); m != nil {
			part, global = m[1], m[2] != ""
		}
		if m := sinkLine.FindStringSubmatch(line); m != nil {
			found.sinks = append(found.sinks, m[1])
			found.in(part, m[1])
		}
		if m := storesLine.FindStringSubmatch(line); m != nil && !global {
			for store := range strings.SplitSeq(m[1], ", ") {
				found.in(part, store+"-changelog")
				if !slices.Contains(found.stores, store) {
					found.stores = append(found.stores, store)
				}
			}
			if !slices.Contains(found.stateful, part) {
				found.stateful = append(found.stateful, part)
			}
		}
		m := sourceLine.FindStringSubmatch(line)
		switch {
		case m == nil:
			continue
		case m[2] != "":
			found.patterns = append(found.patterns, pattern{regexp.MustCompile("^(?:" + m[2] + ")$"), part})
			continue
		case global:
			found.globals = append(found.globals, strings.Split(m[1], ", ")...)
		default:
			found.sources = append(found.sources, strings.Split(m[1], ", ")...)
		}
		for topic := range strings.SplitSeq(m[1], ", ") {
			found.in(part, topic)
		}
	}
	return found
}

func (found text) in(part, topic string) {
	if !slices.Contains(found.parts[topic], part) {
		found.parts[topic] = append(found.parts[topic], part)
	}
}

var update = flag.Bool("update", false, "rewrite the topology texts in testdata")

// savedTexts are kept as examples for tests that have no application.
var savedTexts = map[string]string{"plain": "catalogue.txt", "once": "catalogue-optimized.txt", "grouponce": "catalogue-group.txt"}

var lambdaAddress = regexp.MustCompile(`Lambda\$\d+/0x[0-9a-f]+@[0-9a-f]+`)

// requireSavedText compares the text with the one in testdata, in which the application is called shop.
func (d *described) requireSavedText(t *testing.T, file string) {
	t.Helper()
	got := strings.ReplaceAll(d.text.whole, d.app.opts.id, "shop")
	got = lambdaAddress.ReplaceAllString(got, `Lambda$$33/0x00007f8ef4026890@4eb7f003`)
	if *update {
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	saved, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(saved), got); diff != "" {
		t.Errorf("%s has changed: -update writes it anew (-saved +now):\n%s", file, diff)
	}
}

// metadata is what KafkaStreams says of its threads and of all instances.
type metadata struct {
	Threads []struct {
		Consumer  string         `json:"consumer"`
		Producers []string       `json:"producers"`
		Active    []taskMetadata `json:"active"`
		Standby   []taskMetadata `json:"standby"`
	} `json:"threads"`
	Clients []struct {
		Host              string   `json:"host"`
		Stores            []string `json:"stores"`
		Partitions        []string `json:"partitions"`
		StandbyStores     []string `json:"standby_stores"`
		StandbyPartitions []string `json:"standby_partitions"`
	} `json:"clients"`
}

type taskMetadata struct {
	ID         string   `json:"id"`
	Partitions []string `json:"partitions"`
}

func (a *app) metadata() (metadata, error) {
	status, body, err := get(a.url("/metadata"))
	if err != nil {
		return metadata{}, err
	}
	if status != http.StatusOK {
		return metadata{}, fmt.Errorf("metadata of %s: %d %s", a.opts.id, status, body)
	}
	var m metadata
	err = json.Unmarshal([]byte(body), &m)
	return m, err
}

// taskTruth is one task: what it reads, and the client IDs of the threads that have it.
type taskTruth struct {
	Sources         []string
	Active, Standby []string
}

func (task taskTruth) String() string {
	return fmt.Sprintf("reads %q, active %q, standby %q", sorted(task.Sources), sorted(task.Active), sorted(task.Standby))
}

func sorted(texts []string) []string { return slices.Sorted(slices.Values(texts)) }

// memberTruth is one thread, which is one member of the group.
type memberTruth struct {
	ProcessID, Endpoint string
	Active, Standby     []string
}

func (m memberTruth) String() string {
	return fmt.Sprintf("process %s, endpoint %s, active %q, standby %q", m.ProcessID, m.Endpoint, sorted(m.Active), sorted(m.Standby))
}

// assignment is who has which task, by task and by client ID.
type assignment struct {
	Tasks   map[string]taskTruth
	Members map[string]memberTruth
}

// readers are the client IDs by partition read.
func (got assignment) readers() map[string]string {
	found := map[string]string{}
	for _, task := range got.Tasks {
		for _, source := range task.Sources {
			found[source] = task.Active[0] // there is one: see complete
		}
	}
	return found
}

// assignmentOf asks every instance.
func assignmentOf(instances []*app) (assignment, error) {
	found := assignment{Tasks: map[string]taskTruth{}, Members: map[string]memberTruth{}}
	for _, a := range instances {
		m, err := a.metadata()
		if err != nil {
			return found, err
		}
		for _, thread := range m.Threads {
			member := memberTruth{ProcessID: a.processID(thread.Consumer), Endpoint: a.host()}
			for _, task := range thread.Active {
				at := found.Tasks[task.ID]
				at.Sources = append(at.Sources, task.Partitions...)
				at.Active = append(at.Active, thread.Consumer)
				found.Tasks[task.ID] = at
				member.Active = append(member.Active, task.ID)
			}
			for _, task := range thread.Standby {
				at := found.Tasks[task.ID]
				at.Standby = append(at.Standby, thread.Consumer)
				found.Tasks[task.ID] = at
				member.Standby = append(member.Standby, task.ID)
			}
			found.Members[thread.Consumer] = member
		}
	}
	return found, nil
}

// processID is the UUID in "<application>-<UUID>-StreamThread-<n>-consumer".
func (a *app) processID(consumer string) string {
	id, _, _ := strings.Cut(strings.TrimPrefix(consumer, a.opts.id+"-"), "-StreamThread-")
	return id
}

// complete says what is missing in an assignment: every partition has to be read by one active task, and every task
// with state to have its standbys.
func (got assignment) complete(partitions, stateful []string, standbys int) string {
	var read []string
	for _, id := range slices.Sorted(maps.Keys(got.Tasks)) {
		task := got.Tasks[id]
		part, _, _ := strings.Cut(id, "_")
		want := standbys
		if !slices.Contains(stateful, part) {
			want = 0
		}
		if len(task.Active) != 1 || len(task.Standby) != want {
			return fmt.Sprintf("task %s: %d active, %d standby", id, len(task.Active), len(task.Standby))
		}
		read = append(read, task.Sources...)
	}
	slices.Sort(read)
	if !slices.Equal(read, partitions) {
		return fmt.Sprintf("tasks read %v, want %v", read, partitions)
	}
	return ""
}

// findStores asks the application for the stores of all its instances.
func (d *described) findStores(t *testing.T) {
	t.Helper()
	m, err := d.app.metadata()
	if err != nil {
		t.Fatal(err)
	}
	d.stores = map[string]bool{}
	for _, client := range m.Clients {
		for _, store := range slices.Concat(client.Stores, client.StandbyStores) {
			d.stores[store] = true
		}
	}
}

// requireWhole compares what the application says of its stores with the changelogs that are there and with what is known
// of the Java source: else a description could miss what the truth misses.
func (d *described) requireWhole(t *testing.T) {
	t.Helper()
	known := slices.Clone(d.shape.unlogged)
	for store := range d.changelogKinds(t) {
		known = append(known, store)
	}
	for _, topic := range d.tableSources() {
		known = append(known, d.shape.tables[topic])
	}
	if d.optimize != (len(d.tableSources()) > 0) {
		t.Errorf("optimised is %t, tables without changelogs: %v", d.optimize, d.tableSources())
	}
	requireSame(t, "stores of the text", d.text.stores, known)
	requireSame(t, "stores of the metadata", slices.Collect(maps.Keys(d.stores)), append(known, d.shape.globals...))
}

// findOutputs finds the outputs that producers lead to. An exactly-once application's are known by their transactional
// IDs, so that everything that it has written is seen. Else a producer is only known by the repartition topics that it
// writes: one thread writes all of its topics with one.
func (d *described) findOutputs(t *testing.T) {
	t.Helper()
	var repartitions kadm.TopicsSet
	for short, name := range d.internal {
		if kind, _ := parseInternal(short); kind != "changelog" {
			repartitions.Add(name, partitionsOf(d.now.Topics[name])...)
		}
	}
	mine := d.app.b.producers(t, repartitions)
	d.seenOutputs = map[string]bool{}
	named, routed := d.outputs()
	for _, name := range slices.Concat(named, routed) {
		if d.guarantee == exactlyOnce {
			d.seenOutputs[name] = sum(d.now.Topics[name].Ends) > 0
			continue
		}
		var output kadm.TopicsSet
		output.Add(name, partitionsOf(d.now.Topics[name])...)
		for id := range d.app.b.producers(t, output) {
			d.seenOutputs[name] = d.seenOutputs[name] || mine[id]
		}
	}
	if !slices.Contains(slices.Collect(maps.Values(d.seenOutputs)), true) {
		t.Errorf("no producer leads to any of %v %v: the test says nothing about outputs", named, routed)
	}
}

func partitionsOf(topic topicSnapshot) []int32 { return slices.Collect(maps.Keys(topic.Ends)) }

// producers are the IDs of those that wrote to the partitions.
func (b *broker) producers(t *testing.T, of kadm.TopicsSet) map[int64]bool {
	t.Helper()
	answer, err := b.admin.DescribeProducers(t.Context(), of)
	if err != nil {
		t.Fatalf("describe producers: %v", err)
	}
	found := map[int64]bool{}
	answer.EachPartition(func(p kadm.DescribedProducersPartition) {
		if p.Err != nil {
			t.Fatalf("describe producers of %s-%d: %v", p.Topic, p.Partition, p.Err)
		}
		for id := range p.ActiveProducers {
			found[id] = true
		}
	})
	return found
}
