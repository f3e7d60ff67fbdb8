//go:build integration

package integration

import (
	"fmt"
	"maps"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"testing"
	"time"
)

// appOptions describe one application. Topic names left empty are made from the application ID, without its prefix and
// a dash, which would make them look internal.
type appOptions struct {
	id        string
	copies    []string          // application IDs of more copies in the same JVM, for their topics and offsets
	protocol  string            // classic or streams
	guarantee string            // at_least_once or exactly_once_v2
	partition int32             // partitions of the inputs and outputs, 2 if zero
	flags     map[string]string // more of the application's own flags
	more      []string          // topics of its own beside those below
	// topics
	orders, customers, regions, totals, joined string
}

// app is one instance of the application on a broker.
type app struct {
	t    *testing.T
	b    *broker
	opts appOptions
	port int
	dir  string // the state directory, above <application ID>
	proc *process
}

const (
	classic      = "classic"
	streamsGroup = "streams"
	atLeastOnce  = "at_least_once"
	exactlyOnce  = "exactly_once_v2"
)

// newApp creates the application's own topics; internal ones are Kafka Streams' to make. It does not start it.
func newApp(t *testing.T, b *broker, opts appOptions) *app {
	t.Helper()
	name := func(given *string, suffix string) {
		if *given == "" {
			*given = suffix + "." + opts.id
		}
	}
	name(&opts.orders, "orders")
	name(&opts.customers, "customers")
	name(&opts.regions, "regions")
	name(&opts.totals, "totals")
	name(&opts.joined, "joined")
	if opts.protocol == "" {
		opts.protocol = classic
	}
	if opts.guarantee == "" {
		opts.guarantee = atLeastOnce
	}
	if opts.partition == 0 {
		opts.partition = 2
	}
	compacted := map[string]*string{"cleanup.policy": new("compact")}
	b.createTopics(t, opts.partition, nil, opts.orders, opts.totals, opts.joined)
	b.createTopics(t, opts.partition, compacted, opts.customers)
	b.createTopics(t, 1, compacted, opts.regions)
	return newInstance(t, b, opts)
}

// newInstance is one instance of an application whose topics are there.
func newInstance(t *testing.T, b *broker, opts appOptions) *app {
	t.Helper()
	ports, err := freePorts(1)
	if err != nil {
		t.Fatal(err)
	}
	a := &app{t: t, b: b, opts: opts, port: ports[0], dir: t.TempDir()}
	t.Cleanup(a.cleanup)
	return a
}

func (a *app) cleanup() {
	if a.proc == nil {
		return
	}
	if a.t.Failed() {
		a.t.Logf("last lines of %s:\n%s", a.opts.id, a.proc.out.last(40))
	}
	a.proc.kill()
}

// start launches the JVM and comes back at once.
func (a *app) start() {
	a.t.Helper()
	if err := a.launch(nil); err != nil {
		a.t.Fatal(err)
	}
}

func (a *app) launch(more map[string]string) error {
	if a.proc != nil && !a.proc.exited() {
		return fmt.Errorf("start %s: it runs", a.opts.id)
	}
	tc := java(a.t)
	_, archive, err := tc.prepared()
	if err != nil {
		return err
	}
	ids := a.opts.id
	for _, copied := range a.opts.copies {
		ids += "," + copied
	}
	flags := map[string]string{
		"bootstrap-server": a.b.addr, "application-id": ids, "state-dir": a.dir, "http-port": strconv.Itoa(a.port),
		"protocol": a.opts.protocol, "guarantee": a.opts.guarantee,
		"orders": a.opts.orders, "customers": a.opts.customers, "regions": a.opts.regions,
		"totals": a.opts.totals, "joined": a.opts.joined,
		"purge-interval-ms": "3600000", // an idle application leaves the cluster as it is
	}
	maps.Copy(flags, a.opts.flags)
	maps.Copy(flags, more)
	var args []string
	for _, name := range slices.Sorted(maps.Keys(flags)) {
		args = append(args, "--"+name+"="+flags[name])
	}
	a.proc, err = startProcess(a.opts.id, tc.command(jvm{heap: "512m", archive: archive, own: true, main: "resurge.it.App", args: args}), nil)
	return err
}

// waitRunning waits for KafkaStreams to be RUNNING, which includes the restoration of its state.
func (a *app) waitRunning() {
	a.t.Helper()
	a.eventually(60*time.Second, "running", func() (bool, string) {
		status, body, err := get(a.url("/health"))
		if err != nil {
			return false, err.Error()
		}
		return status == http.StatusOK, body
	})
}

// eventually polls and fails at once when the application dies.
func (a *app) eventually(limit time.Duration, what string, ok func() (bool, string)) {
	a.t.Helper()
	var died error
	eventually(a.t, limit, a.opts.id+" "+what, func() (bool, string) {
		if died = a.proc.died(); died != nil {
			return true, ""
		}
		return ok()
	})
	if died != nil {
		a.t.Fatal(died)
	}
}

// stop sends SIGTERM and waits for the JVM to exit. The group of a classic application keeps its members until their
// session ends: see broker.waitEmpty.
func (a *app) stop() {
	a.t.Helper()
	if err := a.halt(); err != nil {
		a.t.Fatal(err)
	}
}

func (a *app) halt() error {
	if a.proc == nil {
		return nil
	}
	return a.proc.stop(40 * time.Second)
}

// stateDir is the directory that an operator has to clear.
func (a *app) stateDir() string { return filepath.Join(a.dir, a.opts.id) }

// wipeState removes all that the application keeps on disk, its process ID included.
func (a *app) wipeState() {
	a.t.Helper()
	if err := os.RemoveAll(a.stateDir()); err != nil {
		a.t.Fatal(err)
	}
}

func (a *app) ids() []string { return append([]string{a.opts.id}, a.opts.copies...) }

func (a *app) host() string { return loopback(a.port) }

func (a *app) url(path string) string { return "http://" + a.host() + path }
