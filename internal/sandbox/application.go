package sandbox

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"os"
	"path/filepath"
	"sync"
	"time"

	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kversion"

	"resurge/streams"
)

const (
	resetEarliest = "earliest"
	resetLatest   = "latest"
)

// application is the sample application's configuration, shared by its instances.
type application struct {
	id                      string
	top                     topology
	bootstrap               []string
	dial                    func(ctx context.Context, network, host string) (net.Conn, error)
	listen                  func(network, address string) (net.Listener, error)
	log                     *slog.Logger
	session                 time.Duration // session.timeout.ms
	commitEvery, purgeEvery time.Duration
	reset                   string // auto.offset.reset

	instances []*instance
}

// instance is one process of the application on a host of its own. The sandbox
// starts and ends it.
type instance struct {
	app      *application
	name     string
	stateDir string // state.dir
	addr     string // of the query endpoint, kept over restarts
	run      *run   // nil while the process is down
}

// run is one life of an instance's process.
type run struct {
	crash  context.CancelFunc
	close  context.CancelCauseFunc
	query  *query
	status *status
	done   chan struct{} // closed when the stream thread is gone
	err    error         // why, valid after done
}

// start brings the process up. It returns once the query endpoint listens and the
// stream thread runs; joining and restoring go on.
func (in *instance) start(ctx context.Context) error {
	if in.run != nil {
		return nil
	}
	id, err := processID(in.stateDir, in.app.id)
	if err != nil {
		return fmt.Errorf("start %s: %w", in.name, err)
	}
	st := newStatus()
	q, err := in.serve(ctx, st)
	if err != nil {
		return fmt.Errorf("start %s: %w", in.name, err)
	}
	th, err := newThread(in, id, st)
	if err != nil {
		return errors.Join(fmt.Errorf("start %s: %w", in.name, err), q.close())
	}
	life, crash := context.WithCancel(context.WithoutCancel(ctx))
	live, closing := context.WithCancelCause(life)
	r := &run{crash: crash, close: closing, query: q, status: st, done: make(chan struct{})}
	go func() {
		defer close(r.done)
		r.err = th.run(life, live)
		if r.err != nil && life.Err() == nil {
			th.log.ErrorContext(life, "stream thread failed", "error", r.err)
			st.fail(r.err)
		}
	}()
	in.run = r
	return nil
}

// stop closes the application cleanly, as SIGTERM does, and waits for it.
func (in *instance) stop(ctx context.Context) error {
	if in.run == nil {
		return nil
	}
	in.run.close(errClosing)
	select {
	case <-in.run.done:
	case <-ctx.Done():
		return fmt.Errorf("stop %s: %w", in.name, context.Cause(ctx))
	}
	return in.down()
}

// kill ends the process at once: nothing is flushed, committed or left.
func (in *instance) kill() error {
	if in.run == nil {
		return nil
	}
	in.run.crash()
	<-in.run.done
	return in.down()
}

// down frees what is left of a process whose thread is gone.
func (in *instance) down() error {
	r := in.run
	in.run = nil
	r.crash()
	return r.query.close()
}

func newThread(in *instance, id streams.ProcessID, st *status) (*thread, error) {
	th := &thread{
		app: in.app, status: st, processID: id, endpoint: in.addr, stateDir: in.stateDir,
		log:   in.app.log.With("application", in.app.id, "instance", in.name),
		tasks: map[streams.TaskID]*task{}, owner: map[streams.TopicPartition]*task{},
		// The purge is due one interval after the start, not at once.
		lastPurge: time.Now(),
	}
	var err error
	group, err := th.newClient("consumer")
	if err != nil {
		return nil, err
	}
	th.group = &member{cl: group, group: in.app.id, session: in.app.session, rebalance: max(10*in.app.session, 30*time.Second), expect: len(in.app.instances)}
	th.adm = kadm.NewClient(group)
	th.producer, err = th.newClient("producer",
		kgo.RecordPartitioner(kgo.ManualPartitioner()), kgo.ProducerBatchCompression(kgo.NoCompression()),
		kgo.ProducerLinger(5*time.Millisecond), kgo.UnknownTopicRetries(2), kgo.RecordRetries(20))
	if err != nil {
		group.Close()
		return nil, err
	}
	return th, nil
}

// newClient makes one of the thread's clients, named as Streams names them.
func (th *thread) newClient(role string, opts ...kgo.Opt) (*kgo.Client, error) {
	name := fmt.Sprintf("%s-%s-StreamThread-1-%s", th.app.id, th.processID, role)
	cl, err := kgo.NewClient(append(clientOpts(th.app.bootstrap, th.app.dial, name), opts...)...)
	if err != nil {
		return nil, fmt.Errorf("create client %s: %w", name, err)
	}
	return cl, nil
}

// clientOpts are common to all clients of the sandbox: quick to retry, since the
// cluster is in the process, and OffsetCommit by topic name.
func clientOpts(bootstrap []string, dial func(context.Context, string, string) (net.Conn, error), name string) []kgo.Opt {
	versions := kversion.Stable()
	versions.SetMaxKeyVersion(8, 9)
	opts := []kgo.Opt{
		kgo.SeedBrokers(bootstrap...), kgo.ClientID(name), kgo.MaxVersions(versions),
		kgo.DisableClientMetrics(), kgo.MetadataMinAge(20 * time.Millisecond),
		kgo.FetchMaxWait(250 * time.Millisecond),
		kgo.RetryBackoffFn(func(int) time.Duration { return 20 * time.Millisecond }),
	}
	if dial != nil {
		opts = append(opts, kgo.Dialer(dial))
	}
	return opts
}

// disconnect closes the thread's clients without leaving the group. Records that
// were not sent yet are dropped; those on the wire are waited for, so that no
// write of a dead process arrives after its successor has begun to restore.
func (th *thread) disconnect(ctx context.Context) {
	th.closeConsumer()
	drop, cancel := context.WithTimeout(context.WithoutCancel(ctx), 2*time.Second)
	defer cancel()
	if err := th.producer.AbortBufferedRecords(drop); err != nil {
		th.log.WarnContext(drop, "records still in flight", "error", err)
	}
	th.producer.Close()
	th.group.cl.Close()
}

const processFile = "kafka-streams-process-metadata"

// processID reads the instance's process ID from its state directory, or makes
// one: it is new after the directory was cleared.
func processID(stateDir, app string) (streams.ProcessID, error) {
	var meta struct {
		ProcessID streams.ProcessID `json:"processId"`
	}
	dir := streams.AppDir(stateDir, app)
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return streams.ProcessID{}, fmt.Errorf("create state directory: %w", err)
	}
	path := filepath.Join(dir, processFile)
	b, err := os.ReadFile(path)
	if err == nil {
		if err := json.Unmarshal(b, &meta); err != nil {
			return streams.ProcessID{}, fmt.Errorf("read %s: %w", path, err)
		}
		return meta.ProcessID, nil
	}
	if !errors.Is(err, os.ErrNotExist) {
		return streams.ProcessID{}, fmt.Errorf("read %s: %w", path, err)
	}
	meta.ProcessID = newProcessID()
	if b, err = json.Marshal(meta); err == nil {
		err = os.WriteFile(path, b, 0o600)
	}
	if err != nil {
		return meta.ProcessID, fmt.Errorf("write %s: %w", path, err)
	}
	return meta.ProcessID, nil
}

// state names are those of KafkaStreams.State.
const (
	stateCreated         = "CREATED"
	stateRebalancing     = "REBALANCING"
	stateRunning         = "RUNNING"
	statePendingShutdown = "PENDING_SHUTDOWN"
	stateError           = "ERROR"
	stateDown            = "NOT_RUNNING"
)

// status is what the query endpoint sees of the stream thread.
type status struct {
	mu     sync.RWMutex // guards the rest
	state  string
	stores []*store
	err    error
}

func newStatus() *status { return &status{state: stateCreated} }

func (s *status) set(state string, tasks map[streams.TaskID]*task) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.state, s.stores = state, nil
	for _, tk := range tasks {
		s.stores = append(s.stores, tk.stores...)
	}
}

func (s *status) fail(err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.state, s.stores, s.err = stateError, nil, err
}

// local returns the state, the stores of that name here and the thread's failure.
func (s *status) local(name string) (string, []*store, error) {
	s.mu.RLock()
	defer s.mu.RUnlock()
	var found []*store
	for _, st := range s.stores {
		if st.spec.name == name {
			found = append(found, st)
		}
	}
	return s.state, found, s.err
}
