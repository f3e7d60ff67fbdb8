package sandbox

import (
	"context"
	"errors"
	"fmt"

	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kgo"

	"resurge/streams"
)

// restoring is one changelog partition that is being read into a store.
type restoring struct {
	store *store
	next  int64
	end   int64
}

// restore brings the stores of new tasks up to date from their changelogs.
//
// It is at-least-once in all that follows from the local checkpoint: a store goes
// on from it; one whose changelog begins after it is read again from the log
// start on top of the rows it has; and one whose changelog ends before it counts
// as restored, with its old contents. Nothing ties a checkpoint to a topic ID.
func (th *thread) restore(ctx context.Context, tasks []*task, committed kadm.OffsetResponses) error {
	work, err := th.changelogs(ctx, tasks, committed)
	if err != nil || len(work) == 0 {
		return err
	}
	from := map[string]map[int32]kgo.Offset{}
	for tp, r := range work {
		if from[tp.Topic] == nil {
			from[tp.Topic] = map[int32]kgo.Offset{}
		}
		from[tp.Topic][tp.Partition] = kgo.NewOffset().At(r.next)
	}
	cl, err := th.newClient("restore-consumer", kgo.ConsumePartitions(from),
		kgo.ConsumeResetOffset(kgo.NoResetOffset()), kgo.KeepRetryableFetchErrors())
	if err != nil {
		return err
	}
	defer cl.Close()
	for len(work) > 0 {
		if err := readChangelogs(ctx, cl, work); err != nil {
			return err
		}
	}
	for _, tk := range tasks {
		if err := tk.flush(); err != nil {
			return err
		}
	}
	return nil
}

// readChangelogs polls once and takes what is complete out of the work.
func readChangelogs(ctx context.Context, cl *kgo.Client, work map[streams.TopicPartition]*restoring) error {
	fetches := cl.PollFetches(ctx)
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	if err := fatal(fetches); err != nil {
		return fmt.Errorf("restore: %w", err)
	}
	fetches.EachRecord(func(rec *kgo.Record) {
		tp := streams.TopicPartition{Topic: rec.Topic, Partition: rec.Partition}
		r, ok := work[tp]
		if !ok {
			return
		}
		if rec.Offset < r.end {
			r.apply(rec)
		}
		if rec.Offset+1 >= r.end {
			delete(work, tp)
		}
	})
	return nil
}

func (r *restoring) apply(rec *kgo.Record) {
	if rec.Key != nil {
		r.store.put(string(rec.Key), row{ts: rec.Timestamp.UnixMilli(), value: rec.Value})
	}
	r.store.applied.Store(rec.Offset)
}

// changelogs says which partitions have something to restore, and from where to
// where.
func (th *thread) changelogs(ctx context.Context, tasks []*task, committed kadm.OffsetResponses) (map[streams.TopicPartition]*restoring, error) {
	var topics []string
	for _, tk := range tasks {
		for _, s := range tk.stores {
			topics = append(topics, s.spec.topic)
		}
	}
	if len(topics) == 0 {
		return nil, nil
	}
	starts, err := th.adm.ListStartOffsets(ctx, topics...)
	if err != nil {
		return nil, fmt.Errorf("list changelog start offsets: %w", err)
	}
	ends, err := th.adm.ListEndOffsets(ctx, topics...)
	if err != nil {
		return nil, fmt.Errorf("list changelog end offsets: %w", err)
	}
	work := map[streams.TopicPartition]*restoring{}
	for _, tk := range tasks {
		for _, s := range tk.stores {
			tp := tk.changelogOf(s)
			start, end, err := lookup(starts, ends, tp)
			if err != nil {
				return nil, fmt.Errorf("find the ends of changelog %s of task %s: %w", tp, tk.id, err)
			}
			if s.spec.source {
				end = sourceEnd(committed, tp, end)
			}
			if r := s.gap(start, end); r != nil {
				work[tp] = r
			}
		}
	}
	return work, nil
}

func lookup(starts, ends kadm.ListedOffsets, tp streams.TopicPartition) (start, end int64, err error) {
	s, ok1 := starts.Lookup(tp.Topic, tp.Partition)
	e, ok2 := ends.Lookup(tp.Topic, tp.Partition)
	if !ok1 || !ok2 {
		return 0, 0, kerr.UnknownTopicOrPartition
	}
	return s.Offset, e.Offset, errors.Join(s.Err, e.Err)
}

// sourceEnd is where the restore from an input topic ends: at the committed
// offset, and no commit counts as 0.
func sourceEnd(committed kadm.OffsetResponses, tp streams.TopicPartition, end int64) int64 {
	o, ok := committed.Lookup(tp.Topic, tp.Partition)
	if !ok {
		return 0
	}
	return min(max(o.At, 0), end)
}

// gap is what the store lacks of a changelog that reaches from start to end; nil
// when it lacks nothing, or thinks so.
func (s *store) gap(start, end int64) *restoring {
	next := max(s.applied.Load()+1, 0)
	if next < start {
		next = start
		s.applied.Store(streams.CheckpointUnknown)
	}
	if next >= end {
		return nil
	}
	return &restoring{store: s, next: next, end: end}
}
