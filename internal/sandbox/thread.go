package sandbox

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kgo"

	"resurge/streams"
)

// errClosing is the cause with which a clean close ends a thread's work.
var errClosing = errors.New("application closes")

// thread is a StreamThread: it joins the group, restores its tasks, and then
// polls, processes and commits until the group rebalances or somebody ends it.
// Everything in it belongs to the goroutine that runs it.
type thread struct {
	app       *application
	log       *slog.Logger
	status    *status
	processID streams.ProcessID
	endpoint  string
	stateDir  string

	group    *member
	producer *kgo.Client
	adm      *kadm.Client
	consumer *kgo.Client // of the current generation; nil without tasks
	sendErr  atomic.Pointer[error]

	tasks      map[streams.TaskID]*task
	owner      map[streams.TopicPartition]*task
	joins      int8 // wraps, as the unique field in Streams does
	lastCommit time.Time
	lastPurge  time.Time
}

// run works until live ends, which is a clean close, until ctx ends, which is a
// crash, or until something fails.
func (th *thread) run(ctx, live context.Context) error {
	defer th.disconnect(ctx)
	for {
		err := th.generation(ctx, live)
		switch {
		case ctx.Err() != nil:
			return context.Cause(ctx)
		case errors.Is(err, errRebalance):
		case errors.Is(err, errMembershipLost):
			th.log.WarnContext(ctx, "membership lost, tasks closed dirty", "error", err)
			clear(th.tasks)
			th.group.id = ""
		case errors.Is(err, errClosing):
			return th.close(ctx)
		default:
			return err
		}
	}
}

// generation takes part in one generation of the group.
func (th *thread) generation(ctx, live context.Context) error {
	th.status.set(stateRebalancing, nil)
	metadata, err := th.subscription()
	if err != nil {
		return err
	}
	assignment, err := th.group.join(live, metadata, assignor{top: th.app.top, adm: th.adm}.assign)
	if err != nil {
		return err
	}
	assigned, err := decodeAssignment(assignment)
	if err != nil {
		return err
	}
	gen, cancel := context.WithCancelCause(live)
	var beats sync.WaitGroup
	beats.Go(func() { cancel(th.group.heartbeat(gen)) })
	err = th.work(ctx, gen, assigned)
	cancel(err)
	beats.Wait()
	th.closeConsumer()
	if errors.Is(err, errRebalance) {
		// Streams commits when its partitions are revoked, before it joins again.
		return cmp.Or(th.commit(ctx), err)
	}
	return err
}

// subscription is the metadata to join with: what is on this host's disk and in
// its memory.
func (th *thread) subscription() ([]byte, error) {
	sums, err := dormantTasks(th.stateDir, th.app.id)
	if err != nil {
		return nil, err
	}
	for id := range th.tasks {
		sums[id] = streams.OffsetSumRunning
	}
	th.joins++
	return encodeSubscription(th.app.top.subscription(), streams.SubscriptionInfo{
		ProcessID: th.processID, UserEndpoint: th.endpoint, OffsetSums: sums, UniqueField: th.joins,
	})
}

// work owns the assigned tasks until gen ends.
func (th *thread) work(ctx, gen context.Context, assigned map[streams.TaskID][]streams.TopicPartition) error {
	if err := th.adopt(gen, assigned); err != nil {
		if gen.Err() != nil {
			return context.Cause(gen)
		}
		return err
	}
	th.status.set(stateRunning, th.tasks)
	for {
		if err := th.step(ctx, gen); err != nil {
			return err
		}
	}
}

// step polls once, processes what came and commits when it is time.
func (th *thread) step(ctx, gen context.Context) error {
	n, err := th.poll(ctx, gen)
	if err != nil {
		return err
	}
	if failed := th.sendErr.Load(); failed != nil {
		return *failed
	}
	// Streams waits for commit.interval.ms also when nothing comes in. A quiet
	// application commits at once here, so that nobody has to wait for the clock.
	if n == 0 || time.Since(th.lastCommit) >= th.app.commitEvery {
		return th.commit(ctx)
	}
	return nil
}

func (th *thread) poll(ctx, gen context.Context) (int, error) {
	wait, cancel := context.WithTimeout(gen, th.app.commitEvery)
	defer cancel()
	if th.consumer == nil {
		<-wait.Done()
		if gen.Err() != nil {
			return 0, context.Cause(gen)
		}
		return 0, nil
	}
	fetches := th.consumer.PollRecords(wait, 2000)
	if gen.Err() != nil {
		return 0, context.Cause(gen)
	}
	if err := fatal(fetches); err != nil {
		return 0, err
	}
	emit := th.emitter(ctx)
	fetches.EachRecord(func(r *kgo.Record) {
		tk := th.owner[streams.TopicPartition{Topic: r.Topic, Partition: r.Partition}]
		th.app.top.process(tk, r, emit)
		tk.done(r)
	})
	return fetches.NumRecords(), nil
}

// emitter produces records and notes the acknowledged offsets of changelogs.
func (th *thread) emitter(ctx context.Context) emitFn {
	return func(r *kgo.Record, logOf *store) {
		th.producer.Produce(ctx, r, func(r *kgo.Record, err error) {
			switch {
			case err != nil:
				err = fmt.Errorf("produce to %s-%d: %w", r.Topic, r.Partition, err)
				th.sendErr.CompareAndSwap(nil, &err)
			case logOf != nil:
				logOf.applied.Store(r.Offset)
			}
		})
	}
}

// commit keeps the order of at-least-once processing: state, then the records
// that follow from it, then the offsets.
func (th *thread) commit(ctx context.Context) error {
	th.lastCommit = time.Now()
	offsets := map[streams.TopicPartition]kadm.Offset{}
	for _, tk := range th.tasks {
		tk.commits(offsets)
		if err := tk.flush(); err != nil {
			return err
		}
	}
	if len(offsets) == 0 {
		return nil
	}
	if err := th.producer.Flush(ctx); err != nil {
		return fmt.Errorf("flush producer: %w", err)
	}
	if failed := th.sendErr.Load(); failed != nil {
		return *failed
	}
	if err := th.group.commit(ctx, offsets); err != nil {
		return err
	}
	for _, tk := range th.tasks {
		clear(tk.progress)
		if err := tk.checkpoint(false); err != nil {
			return err
		}
	}
	return th.purge(ctx, offsets)
}

// purge deletes the repartition records that are committed, now and then.
func (th *thread) purge(ctx context.Context, committed map[streams.TopicPartition]kadm.Offset) error {
	if time.Since(th.lastPurge) < th.app.purgeEvery {
		return nil
	}
	th.lastPurge = time.Now()
	offsets := kadm.Offsets{}
	for tp, o := range committed {
		if tp.Topic == th.app.top.repartition() {
			offsets.AddOffset(tp.Topic, tp.Partition, o.At, -1)
		}
	}
	if len(offsets) == 0 {
		return nil
	}
	if _, err := th.adm.DeleteRecords(ctx, offsets); err != nil {
		th.log.WarnContext(ctx, "repartition records not purged", "error", err)
	}
	return nil
}

// close ends the thread cleanly: everything committed, a checkpoint in each task
// directory. It does not leave the group: Streams sets
// internal.leave.group.on.close=false.
func (th *thread) close(ctx context.Context) error {
	th.status.set(statePendingShutdown, nil)
	if err := th.commit(ctx); err != nil {
		return fmt.Errorf("commit on close: %w", err)
	}
	return th.closeTasks(func(streams.TaskID) bool { return true })
}

// closeTasks closes the chosen tasks and leaves a checkpoint in each.
func (th *thread) closeTasks(chosen func(streams.TaskID) bool) error {
	for id, tk := range th.tasks {
		if !chosen(id) {
			continue
		}
		if err := errors.Join(tk.flush(), tk.checkpoint(true)); err != nil {
			return err
		}
		delete(th.tasks, id)
	}
	return nil
}

// adopt gives up the tasks that are assigned no more, opens and restores the new
// ones, and starts to fetch for all.
func (th *thread) adopt(ctx context.Context, assigned map[streams.TaskID][]streams.TopicPartition) error {
	err := th.closeTasks(func(id streams.TaskID) bool { _, kept := assigned[id]; return !kept })
	if err != nil {
		return err
	}
	committed, err := th.adm.FetchOffsets(ctx, th.app.id)
	if err != nil {
		return fmt.Errorf("fetch offsets of %s: %w", th.app.id, err)
	}
	topics, err := th.adm.ListTopics(ctx, th.app.top.repartition(), th.app.top.output)
	if err != nil {
		return fmt.Errorf("list topics: %w", err)
	}
	if !topics.Has(th.app.top.output) {
		return fmt.Errorf("output topic %s is missing", th.app.top.output)
	}
	var opened []*task
	clear(th.owner)
	for id, sources := range assigned {
		tk := th.tasks[id]
		if tk == nil {
			if tk, err = openTask(th.app.top, th.stateDir, id, sources); err != nil {
				return err
			}
			opened = append(opened, tk)
		}
		tk.repartitions = int32(len(topics[th.app.top.repartition()].Partitions))
		tk.outputs = int32(len(topics[th.app.top.output].Partitions))
		for _, tp := range sources {
			th.owner[tp] = tk
		}
	}
	slices.SortFunc(opened, func(a, b *task) int { return cmp.Compare(a.dir, b.dir) })
	if err := th.restore(ctx, opened, committed); err != nil {
		return err
	}
	for _, tk := range opened {
		th.tasks[tk.id] = tk
	}
	return th.consume(committed)
}

// consume starts a consumer at the committed offsets of the owned partitions, and
// at the reset position where nothing is committed.
func (th *thread) consume(committed kadm.OffsetResponses) error {
	reset := kgo.NewOffset().AtStart()
	if th.app.reset == resetLatest {
		reset = kgo.NewOffset().AtEnd()
	}
	from := map[string]map[int32]kgo.Offset{}
	for tp, tk := range th.owner {
		at := reset
		if o, ok := committed.Lookup(tp.Topic, tp.Partition); ok && o.At >= 0 {
			at = kgo.NewOffset().At(o.At)
			tk.resume(tp, o.Offset)
		}
		if next, ok := tk.progress[tp]; ok {
			at = kgo.NewOffset().At(next) // processed and, so far, not committed
		}
		if from[tp.Topic] == nil {
			from[tp.Topic] = map[int32]kgo.Offset{}
		}
		from[tp.Topic][tp.Partition] = at
	}
	if len(from) == 0 {
		return nil
	}
	var err error
	th.consumer, err = th.newClient("consumer", kgo.ConsumePartitions(from), kgo.ConsumeResetOffset(reset), kgo.KeepRetryableFetchErrors())
	return err
}

// fatal returns the errors that another poll will not get over.
func fatal(fetches kgo.Fetches) error {
	var errs []error
	fetches.EachError(func(topic string, p int32, err error) {
		if !transient(err) {
			errs = append(errs, fmt.Errorf("fetch %s-%d: %w", topic, p, err))
		}
	})
	return errors.Join(errs...)
}

// transient says of a fetch error that the next poll may well succeed. A source
// topic that is gone is none: Streams shuts down with MissingSourceTopicException.
func transient(err error) bool {
	if errors.Is(err, kerr.UnknownTopicOrPartition) || errors.Is(err, kerr.UnknownTopicID) {
		return false
	}
	// A position below the log start was reset, as the policy says.
	var trimmed *kgo.ErrDataLoss
	return kerr.IsRetriable(err) || errors.Is(err, context.DeadlineExceeded) || errors.As(err, &trimmed)
}

func (th *thread) closeConsumer() {
	if th.consumer != nil {
		th.consumer.Close()
		th.consumer = nil
	}
}
