//go:build integration

package integration

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/twmb/franz-go/pkg/kmsg"
	"golang.org/x/sync/errgroup"
)

// describeCase is one configuration. With standbys there are two instances, with memory the stores are not RocksDB's.
type describeCase struct {
	name, topology, protocol, guarantee string
	standbys, threads                   int
	optimize, prefix, memory            bool
}

// TestDescribe compares "describe" with what the application says of itself and with the topics that are there. Every two
// values of protocol, guarantee, standbys, optimisation and prefix meet at least once.
func TestDescribe(t *testing.T) {
	t.Parallel()
	for _, c := range []describeCase{
		{name: "plain", topology: "catalogue", protocol: classic, guarantee: atLeastOnce},
		{name: "once", topology: "catalogue", protocol: classic, guarantee: exactlyOnce, standbys: 1, optimize: true, memory: true},
		{name: "group", topology: "catalogue", protocol: streamsGroup, guarantee: atLeastOnce, standbys: 1, optimize: true, memory: true},
		{name: "grouponce", topology: "catalogue", protocol: streamsGroup, guarantee: exactlyOnce},
		{name: "prefix", topology: "catalogue", protocol: classic, guarantee: exactlyOnce, standbys: 1, prefix: true, memory: true},
		{name: "groupprefix", topology: "catalogue", protocol: streamsGroup, guarantee: atLeastOnce, optimize: true, prefix: true, memory: true},
		{name: "orders", topology: "orders", protocol: classic, guarantee: atLeastOnce, standbys: 1, threads: 2, optimize: true},
		{name: "grouporders", topology: "orders", protocol: streamsGroup, guarantee: exactlyOnce, standbys: 1, memory: true},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			d := c.start(t)
			if file, ok := savedTexts[c.name]; ok {
				t.Run("Text", func(t *testing.T) { d.requireSavedText(t, filepath.Join("testdata", file)) })
			}
			t.Run("Truth", func(t *testing.T) { d.requireWhole(t) })
			d.describe(t, look{name: "FromTheCluster"})
			d.describe(t, look{name: "WithTopology", withText: true})
			d.stop(t)
			d.describe(t, look{name: "StoppedFromTheCluster", stopped: true})
			d.describe(t, look{name: "StoppedWithTopology", stopped: true, withText: true})
		})
	}
}

func (d *described) describe(t *testing.T, as look) {
	t.Helper()
	t.Run(as.name, func(t *testing.T) {
		var more []string
		if as.withText {
			file := filepath.Join(t.TempDir(), "topology.txt")
			if err := os.WriteFile(file, []byte(d.text.whole), 0o600); err != nil {
				t.Fatal(err)
			}
			more = []string{"--topology", file}
		}
		d.compare(t, newConsole(t, d.app.b.addr, "").describe(t, d.app.opts.id, more...), as)
	})
}

// described is an application that has read everything and is quiet, and all that is true of it.
type described struct {
	describeCase
	app         *app
	instances   []*app
	shape       shape
	text        text
	newest      map[string]time.Time // input time by topic
	internal    map[string]string    // internal topics, by their name without the prefix: whole name
	inputs      []string
	seenOutputs map[string]bool // see findOutputs
	stores      map[string]bool // of all instances, by their own word
	processes   []string        // process IDs
	assigned    assignment
	now         snapshot
}

func (c describeCase) start(t *testing.T) *described {
	t.Helper()
	d := &described{describeCase: c}
	opts := appOptions{
		id: "describe" + c.name, protocol: c.protocol, guarantee: c.guarantee,
		flags: map[string]string{
			"standbys": strconv.Itoa(c.standbys), "threads": strconv.Itoa(max(c.threads, 1)), "optimize": strconv.FormatBool(c.optimize),
			"in-memory": strconv.FormatBool(c.memory), "commit-interval-ms": "200", "leave-on-close": "true",
		},
	}
	if c.prefix {
		opts.flags["internal-prefix"] = "yyy" + c.name
	}
	b := sharedBroker(t)
	if c.topology == "catalogue" {
		d.app, d.shape = newCatalogue(t, b, opts)
		d.newest = d.app.produceCatalogue()
	} else {
		d.app, d.shape = newOrdersApp(t, b, opts)
		o := newOrders(300)
		d.app.produce(o, 0, 300)
		_, _, last := o.record(299)
		d.newest = map[string]time.Time{d.app.opts.orders: last, d.app.opts.customers: o.base}
	}
	d.instances = []*app{d.app}
	if c.standbys > 0 {
		d.instances = append(d.instances, newInstance(t, b, d.app.opts))
		if c.protocol == streamsGroup { // with this protocol the group knows
			b.setGroupConfig(t, d.app.opts.id, "streams.num.standby.replicas", strconv.Itoa(c.standbys))
		}
	}
	for _, a := range d.instances {
		a.start()
	}
	for _, a := range d.instances {
		a.waitRunning()
	}
	d.text = d.app.topologyText(t)
	d.settle(t)
	return d
}

// stop ends all instances at once. They leave the group, which keeps no word of theirs.
func (d *described) stop(t *testing.T) {
	t.Helper()
	var work errgroup.Group
	for _, a := range d.instances {
		work.Go(a.halt)
	}
	if err := work.Wait(); err != nil {
		t.Fatal(err)
	}
	d.app.b.waitEmpty(t, d.app.opts.id)
	d.assigned, d.now = assignment{}, d.app.quietSnapshot(t)
}

// newOrdersApp is newApp with what is known of Orders.java.
func newOrdersApp(t *testing.T, b *broker, opts appOptions) (*app, shape) {
	t.Helper()
	a := newApp(t, b, opts)
	return a, shape{
		tables: map[string]string{a.opts.customers: "customers-store"},
		kinds: map[string]string{
			"counts": "key-value", "per-minute": "window", "sessions": "session", "prefix-counts": "key-value", "customers-store": "key-value",
		},
		globals: []string{"regions-store"},
	}
}

// prefixed is what the names of internal topics begin with.
func (d *described) prefixed() string {
	if prefix, ok := d.app.opts.flags["internal-prefix"]; ok {
		return prefix + "-"
	}
	return d.app.opts.id + "-"
}

// settle waits until every task has its place, everything is read and nothing moves.
func (d *described) settle(t *testing.T) {
	t.Helper()
	since := time.Now()
	d.app.eventually(60*time.Second, "has its tasks in place", func() (bool, string) {
		d.findTopics(t)
		now, err := assignmentOf(d.instances)
		if err != nil {
			return false, err.Error()
		}
		missing := now.complete(d.partitions(t), d.text.stateful, d.standbys)
		if missing != "" || !cmp.Equal(d.assigned, now) {
			since = time.Now()
		}
		d.assigned = now
		return missing == "" && time.Since(since) > time.Second, missing
	})
	d.app.eventually(60*time.Second, "has read its inputs", func() (bool, string) {
		lag, err := d.app.b.lag(d.app.opts.id, d.inputs...)
		return err == nil && lag == 0, fmt.Sprintf("lag %d, %v", lag, err)
	})
	d.now = d.app.quietSnapshot(t)
	for _, name := range d.internal {
		if sum(d.now.Topics[name].Ends) == 0 {
			t.Errorf("%s is empty: the test says nothing about it", name)
		}
	}
	for _, member := range d.assigned.Members {
		d.processes = append(d.processes, member.ProcessID)
	}
	d.findOutputs(t)
	d.findStores(t)
}

func sum(offsets map[int32]int64) int64 {
	var n int64
	for _, offset := range offsets {
		n += offset
	}
	return n
}

// findTopics divides the topics on the broker by the text: what has the prefix is internal, other sources are inputs.
func (d *described) findTopics(t *testing.T) {
	t.Helper()
	d.internal, d.inputs = map[string]string{}, nil
	for _, name := range d.app.b.topics(t) {
		short, internal := strings.CutPrefix(name, d.prefixed())
		isInput := slices.Contains(d.text.sources, name)
		for _, pattern := range d.text.patterns {
			if pattern.MatchString(name) {
				isInput = true
				d.text.in(pattern.part, name)
			}
		}
		switch {
		case isInput:
			d.inputs = append(d.inputs, name)
		case internal:
			d.internal[short] = name
		}
	}
}

// partitions are all that tasks have to read.
func (d *described) partitions(t *testing.T) []string {
	t.Helper()
	names := slices.Clone(d.inputs)
	for short, name := range d.internal {
		if !strings.HasSuffix(short, "-changelog") {
			names = append(names, name)
		}
	}
	topics, err := d.app.b.admin.ListTopics(t.Context(), names...)
	if err != nil {
		t.Fatal(err)
	}
	var all []string
	for name, detail := range topics {
		for partition := range detail.Partitions {
			all = append(all, fmt.Sprintf("%s-%d", name, partition))
		}
	}
	slices.Sort(all)
	return all
}

// setGroupConfig sets a broker's configuration of one group.
func (b *broker) setGroupConfig(t *testing.T, group, name, value string) {
	t.Helper()
	req := kmsg.NewPtrIncrementalAlterConfigsRequest()
	resource := kmsg.NewIncrementalAlterConfigsRequestResource()
	resource.ResourceType, resource.ResourceName = kmsg.ConfigResourceTypeGroupConfig, group
	config := kmsg.NewIncrementalAlterConfigsRequestResourceConfig()
	config.Name, config.Value = name, &value
	resource.Configs = append(resource.Configs, config)
	req.Resources = append(req.Resources, resource)
	resp, err := req.RequestWith(t.Context(), b.cl)
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range resp.Resources {
		if r.ErrorCode != 0 {
			t.Fatalf("set %s of group %s: error %d %v", name, group, r.ErrorCode, r.ErrorMessage)
		}
	}
}
