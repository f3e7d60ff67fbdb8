package kafka

import (
	"context"
	"errors"
	"time"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kgo"

	"resurge/streams"
)

// offsetsTopic is where brokers keep committed offsets and classic groups.
const offsetsTopic = "__consumer_offsets"

// Limits of a look at the group's partition of __consumer_offsets, which may
// hold gigabytes. Windows of offsets are read from the end backwards, each as a
// whole: half a window would lack the newest commits.
const (
	activityBytes       = 8 << 20
	activityTime        = 3 * time.Second
	activityWindow      = 1000 // offsets
	activityWindowGrows = 4
)

// Activity reads when a group last committed, in its partition of
// __consumer_offsets, and when it emptied, which only classic groups leave there.
// It looks back from the end until it finds a commit of the group, for 3 s and
// 8 MiB: a commit before [streams.Activity.Since] is not found. Commits that a
// transaction has not decided yet, and what lies above them, do not count.
//
// It takes READ on the topic __consumer_offsets, which few principals have: the
// error's Fault says so.
func (r *Reader) Activity(ctx context.Context, group string) (streams.Activity, error) {
	return r.activityIn(ctx, offsetsTopic, group)
}

func (r *Reader) activityIn(ctx context.Context, topic, group string) (streams.Activity, error) {
	s := topicSubject(topic, "READ")
	tps, faults, err := r.partitionsOf(ctx, []string{topic})
	if err != nil {
		return streams.Activity{}, err
	}
	if f := faults[topic]; f != nil {
		return streams.Activity{}, asError(needing(f, s))
	}
	if len(tps) == 0 {
		return streams.Activity{}, s.fail(errUnexpected)
	}
	tp := streams.TopicPartition{Topic: topic, Partition: offsetsPartition(group, int32(len(tps)))}
	starts := r.listOffsets(ctx, []streams.TopicPartition{tp}, atStart, readUncommitted)
	ends := r.listOffsets(ctx, []streams.TopicPartition{tp}, atEnd, readCommitted)
	if f := firstFault(starts[tp].fault, ends[tp].fault); f != nil {
		if err := interrupted(ctx, s); err != nil {
			return streams.Activity{}, err
		}
		return streams.Activity{}, asError(needing(f, s))
	}
	fold := newActivityFold(group)
	whole, err := r.lookBack(ctx, fold, tp, starts[tp].at, ends[tp].at)
	if err != nil {
		return streams.Activity{}, s.fail(err)
	}
	a := fold.activity()
	a.Whole = whole
	return a, nil
}

// needing says which ACL is missing for the whole look, and not only for its
// first step.
func needing(f *streams.Fault, s subject) *streams.Fault {
	if f.Kind != streams.FaultNotAllowed {
		return f
	}
	f.Hint = "this principal needs " + s.needs
	return f
}

// lookBack reads windows until a commit of the group is found, or the start, or
// there is no more time; whole says that it came to the start. Only the newest
// window has to be read: without it nothing is known.
func (r *Reader) lookBack(ctx context.Context, fold *activityFold, tp streams.TopicPartition, start, end int64) (whole bool, err error) {
	bounded, cancel := context.WithTimeout(ctx, activityTime)
	defer cancel()
	left := activityBytes
	newest := true
	for size := int64(activityWindow); end > start; size *= activityWindowGrows {
		from := max(start, end-size)
		part := &tailPart{next: from, end: end, visit: func(rec *kgo.Record) { fold.record(rec.Key, rec.Value, rec.Timestamp) }}
		if !newest {
			part.limit = left
		}
		t := newTail(r)
		t.parts[tp] = part
		err := t.read(bounded)
		if ctx.Err() != nil {
			return false, ctx.Err()
		}
		if err != nil || part.next < end {
			fold.drop()
			if newest || errors.Is(err, kerr.TopicAuthorizationFailed) {
				return false, err
			}
			return false, nil // what newer windows say stands
		}
		fold.close()
		if left -= part.bytes; fold.found() || left <= 0 {
			return from <= start, nil
		}
		// The next window, four times as long, is to fit in what is left.
		size = max(min(size, int64(left)*(end-from)/int64(max(part.bytes, 1))/activityWindowGrows), activityWindow/activityWindowGrows)
		newest, end = false, from
	}
	return end <= start, nil
}
