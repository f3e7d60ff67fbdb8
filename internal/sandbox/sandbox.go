package sandbox

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"os"
	"path/filepath"
	"sync"
	"time"

	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kfake"
	"github.com/twmb/franz-go/pkg/kgo"

	"resurge/streams"
)

const (
	// DefaultScenario is what an empty [Options].Scenario stands for.
	DefaultScenario = "state-lost"
	// DefaultRecords is what zero [Options].Records stands for.
	DefaultRecords = 20_000
	// DefaultSessionTimeout is short, so that a closed application is out of its
	// group in seconds and not in the 45 that Streams takes.
	DefaultSessionTimeout = 3 * time.Second

	applicationID = "order-processor"
	clusterID     = "UmVzdXJnZVNhbmRib3gwMQ"
)

// Options say what to start. The zero value is the default scenario in a
// temporary directory.
type Options struct {
	// Scenario is the name of one of [Scenarios].
	Scenario string
	// Dir holds the state directories. When empty, a temporary directory is made
	// and Close removes it; a directory that is given is left alone.
	Dir string
	// LogDir makes the cluster keep its topics on disk, for runs with more data
	// than memory should hold. When empty, they stay in memory.
	LogDir string
	// Records is the number of orders that exist when Start returns.
	Records int
	// Seed chooses the data: the same seed makes the same inputs.
	Seed uint64
	// Instances is the number of processes of the application, 2 when zero.
	Instances int
	// Log receives what cluster and application have to say; nil discards it.
	Log *slog.Logger
	// SessionTimeout is the application's session.timeout.ms.
	SessionTimeout time.Duration
	// OffsetReset is the application's auto.offset.reset: "earliest", which is
	// Streams' default, or "latest".
	OffsetReset string
	// Now is the clock that dates the orders; nil is time.Now.
	Now func() time.Time
	// Listen and Dial replace the network, for the brokers and for the query
	// endpoints. They go together.
	Listen func(network, address string) (net.Listener, error)
	Dial   func(ctx context.Context, network, host string) (net.Conn, error)
}

// Instance is one process of the application as its operator knows it.
type Instance struct {
	// Name is the host, so to speak.
	Name string
	// Addr is host:port of the query endpoint (application.server). It stays the
	// same over restarts as long as the port is free.
	Addr string
	// StateDir is the state.dir setting; AppDir the directory in it that belongs
	// to the application.
	StateDir string
	AppDir   string
	// State is what KafkaStreams#state says, NOT_RUNNING without a process.
	State string
	// Err is why the state is ERROR.
	Err error
}

// Sandbox is a running cluster with its applications. Close it.
type Sandbox struct {
	opts    Options
	cluster *kfake.Cluster
	seeds   []string
	tempDir string // to be removed
	dir     string
	client  *kgo.Client // the outside world: producers of the inputs, other groups

	mu   sync.Mutex // serialises the operator's tasks and guards the rest
	app  *application
	twin *application // nil unless the scenario has one
	data *generator
}

// Start brings the cluster up, produces the inputs, runs the application until it
// has caught up and lets the incident happen. The context ends the start only.
func Start(ctx context.Context, o Options) (*Sandbox, error) {
	o = o.withDefaults()
	sc, ok := findScenario(o.Scenario)
	if !ok {
		return nil, fmt.Errorf("start sandbox: no scenario %q", o.Scenario)
	}
	s := &Sandbox{opts: o, data: newGenerator(o.Seed, o.Records, o.Now())}
	if err := s.start(ctx, sc); err != nil {
		if ctx.Err() != nil && !errors.Is(err, context.Cause(ctx)) {
			err = errors.Join(context.Cause(ctx), err) // clients give it other names
		}
		return nil, errors.Join(fmt.Errorf("start sandbox %s: %w", sc.Name, err), s.Close())
	}
	return s, nil
}

func (o Options) withDefaults() Options {
	if o.Scenario == "" {
		o.Scenario = DefaultScenario
	}
	if o.Records <= 0 {
		o.Records = DefaultRecords
	}
	if o.Instances <= 0 {
		o.Instances = 2
	}
	if o.SessionTimeout <= 0 {
		o.SessionTimeout = DefaultSessionTimeout
	}
	if o.OffsetReset == "" {
		o.OffsetReset = resetEarliest
	}
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	return o
}

func (s *Sandbox) start(ctx context.Context, sc scenario) error {
	if err := s.prepare(ctx); err != nil {
		return err
	}
	if err := sc.play(ctx, s); err != nil {
		return err
	}
	s.data.step = min(s.data.step, liveStep)
	return nil
}

// liveStep is the time between the orders that come in after the start.
const liveStep = 20 * time.Millisecond

// prepare makes everything that all scenarios have: the cluster, the user topics,
// a foreign consumer group and the application, not yet started.
func (s *Sandbox) prepare(ctx context.Context) error {
	s.dir = s.opts.Dir
	if s.dir == "" {
		var err error
		if s.tempDir, err = os.MkdirTemp("", "resurge-sandbox-"); err != nil {
			return fmt.Errorf("make state directory: %w", err)
		}
		s.dir = s.tempDir
	}
	opts := []kfake.Opt{
		kfake.NumBrokers(3), kfake.ClusterID(clusterID),
		kfake.GroupMinSessionTimeout(10 * time.Millisecond),
	}
	if s.opts.LogDir != "" {
		opts = append(opts, kfake.DataDir(s.opts.LogDir))
	}
	if s.opts.Listen != nil {
		opts = append(opts, kfake.ListenFn(s.opts.Listen))
	}
	var err error
	if s.cluster, err = kfake.NewCluster(opts...); err != nil {
		return fmt.Errorf("start cluster: %w", err)
	}
	s.seeds = s.cluster.ListenAddrs()
	s.client, err = kgo.NewClient(append(clientOpts(s.seeds, s.opts.Dial, "sandbox"),
		kgo.RecordPartitioner(kgo.ManualPartitioner()), kgo.ProducerBatchCompression(kgo.NoCompression()))...)
	if err != nil {
		return fmt.Errorf("create client: %w", err)
	}
	for _, t := range userTopics() {
		if err := s.cluster.CreateTopic(t.name, t.partitions, t.configs); err != nil {
			return fmt.Errorf("create topic %s: %w", t.name, err)
		}
	}
	s.app = s.newApplication(applicationID, topicTotals, s.opts.Instances)
	return s.foreignGroup(ctx, "billing", topicOrders)
}

// userTopics are those that people made: the inputs, the output, and one that
// has nothing to do with the application.
func userTopics() []internalTopic {
	keep := map[string]string{"cleanup.policy": "delete", "retention.ms": "-1"}
	return []internalTopic{
		{name: topicOrders, partitions: inputPartitions, configs: keep},
		{name: topicCustomers, partitions: inputPartitions, configs: map[string]string{"cleanup.policy": "compact"}},
		{name: topicTotals, partitions: outputPartitions, configs: keep},
		{name: "audit", partitions: 4, configs: map[string]string{"cleanup.policy": "delete"}},
	}
}

func (s *Sandbox) newApplication(id, output string, instances int) *application {
	app := &application{
		id: id, top: topology{app: id, output: output, factor: 1},
		bootstrap: s.seeds, dial: s.opts.Dial, listen: s.opts.Listen, log: s.opts.Log,
		session: s.opts.SessionTimeout, commitEvery: 100 * time.Millisecond, purgeEvery: time.Second,
		reset: s.opts.OffsetReset,
	}
	for i := range instances {
		name := fmt.Sprintf("%s-%d", id, i)
		app.instances = append(app.instances, &instance{app: app, name: name, stateDir: filepath.Join(s.dir, name)})
	}
	return app
}

// foreignGroup commits for a group of somebody else, which then exists and reads
// the topic.
func (s *Sandbox) foreignGroup(ctx context.Context, group, topic string) error {
	offsets := kadm.Offsets{}
	for _, p := range s.cluster.PartitionInfos(topic) {
		offsets.AddOffset(topic, p.Partition, p.HighWatermark, -1)
	}
	resps, err := kadm.NewClient(s.client).CommitOffsets(ctx, group, offsets)
	if err = errors.Join(err, resps.Error()); err != nil {
		return fmt.Errorf("commit for group %s: %w", group, err)
	}
	return nil
}

// Cluster is the fake cluster, for faults and for a look inside.
func (s *Sandbox) Cluster() *kfake.Cluster { return s.cluster }

// Bootstrap lists the brokers to connect to.
func (s *Sandbox) Bootstrap() []string { return s.seeds }

// Application is the ID of the application to recover.
func (s *Sandbox) Application() string { return applicationID }

// Inputs are the application's input topics.
func (s *Sandbox) Inputs() []string { return []string{topicCustomers, topicOrders} }

// Outputs are the application's output topics.
func (s *Sandbox) Outputs() []string { return []string{topicTotals} }

// Instances lists the application's processes, running or not.
func (s *Sandbox) Instances() []Instance {
	s.mu.Lock()
	defer s.mu.Unlock()
	out := make([]Instance, 0, len(s.app.instances))
	for _, in := range s.app.instances {
		i := Instance{
			Name: in.name, Addr: in.addr, StateDir: in.stateDir,
			AppDir: streams.AppDir(in.stateDir, in.app.id), State: stateDown,
		}
		if in.run != nil {
			i.State, _, i.Err = in.run.status.local("")
		}
		out = append(out, i)
	}
	return out
}

// Expected is the state that all orders produced so far lead to.
func (s *Sandbox) Expected() Expected {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.data.expected.clone()
}

// Close ends all that runs, closes the cluster and removes a temporary directory.
// It waits for every goroutine. Closing twice does nothing.
func (s *Sandbox) Close() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	var errs []error
	for _, app := range []*application{s.app, s.twin} {
		if app != nil {
			errs = append(errs, app.kill())
		}
	}
	if s.client != nil {
		s.client.Close()
	}
	if s.cluster != nil {
		s.cluster.Close()
	}
	if s.tempDir != "" {
		errs = append(errs, os.RemoveAll(s.tempDir))
	}
	return errors.Join(errs...)
}
