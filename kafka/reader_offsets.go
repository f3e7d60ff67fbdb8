package kafka

import (
	"context"
	"errors"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"

	"resurge/streams"
)

// Special times of a ListOffsets request.
const (
	atEnd   int64 = -1
	atStart int64 = -2
)

// Isolation levels of a ListOffsets request.
const (
	readUncommitted int8 = 0
	readCommitted   int8 = 1
)

// wholeTopic stands for a topic none of whose partitions could be asked.
const wholeTopic int32 = -1

// offset is one answer of a ListOffsets request.
type offset struct {
	at    int64 // -1: none at or after the time
	time  int64 // of the record at that offset, in ms; -1: not told
	fault *streams.Fault
}

// Watermarks returns the ends of every partition of the named topics. A topic
// that cannot be asked at all has one entry, at partition -1, with the Fault.
//
// The end is read before the last stable offset, so that a partition with
// Stable below End really held something undecided at that moment.
func (r *Reader) Watermarks(ctx context.Context, topics ...string) (map[streams.TopicPartition]streams.Watermarks, error) {
	out := map[streams.TopicPartition]streams.Watermarks{}
	if len(topics) == 0 {
		return out, nil
	}
	tps, faults, err := r.partitionsOf(ctx, topics)
	if err != nil {
		return nil, err
	}
	for name, f := range faults {
		out[streams.TopicPartition{Topic: name, Partition: wholeTopic}] = streams.Watermarks{Fault: f}
	}
	starts := r.listOffsets(ctx, tps, atStart, readUncommitted)
	ends := r.listOffsets(ctx, tps, atEnd, readUncommitted)
	stable := r.listOffsets(ctx, tps, atEnd, readCommitted)
	if err := interrupted(ctx, subject{what: "ends of topics"}); err != nil {
		return nil, err
	}
	for _, tp := range tps {
		s, e, l := starts[tp], ends[tp], stable[tp]
		if f := firstFault(s.fault, e.fault, l.fault); f != nil {
			out[tp] = streams.Watermarks{Fault: f}
			continue
		}
		out[tp] = streams.Watermarks{Start: s.at, End: max(e.at, s.at), Stable: min(l.at, max(e.at, s.at))}
	}
	return out, nil
}

func firstFault(faults ...*streams.Fault) *streams.Fault {
	for _, f := range faults {
		if f != nil {
			return f
		}
	}
	return nil
}

// OffsetsAt returns per partition the first offset at or after a time. Where
// there is none, Found is false and Offset is the end as it was before the
// search, so that a record that came meanwhile lies beyond it. A topic that
// cannot be asked at all has one entry, at partition -1, with the Fault.
func (r *Reader) OffsetsAt(ctx context.Context, at time.Time, topics ...string) (map[streams.TopicPartition]streams.OffsetAt, error) {
	out := map[streams.TopicPartition]streams.OffsetAt{}
	if len(topics) == 0 {
		return out, nil
	}
	tps, faults, err := r.partitionsOf(ctx, topics)
	if err != nil {
		return nil, err
	}
	for name, f := range faults {
		out[streams.TopicPartition{Topic: name, Partition: wholeTopic}] = streams.OffsetAt{Fault: f}
	}
	ends := r.listOffsets(ctx, tps, atEnd, readUncommitted)
	// A time before 1970 would read as one of the special times.
	found := r.listOffsets(ctx, tps, max(at.UnixMilli(), 0), readUncommitted)
	if err := interrupted(ctx, subject{what: "offsets at a time"}); err != nil {
		return nil, err
	}
	for _, tp := range tps {
		e, f := ends[tp], found[tp]
		switch fault := firstFault(e.fault, f.fault); {
		case fault != nil:
			out[tp] = streams.OffsetAt{Fault: fault}
		case f.at < 0:
			out[tp] = streams.OffsetAt{Offset: e.at}
		default:
			out[tp] = streams.OffsetAt{Offset: f.at, Found: true}
			if f.time >= 0 {
				out[tp] = streams.OffsetAt{Offset: f.at, Found: true, Time: time.UnixMilli(f.time).UTC()}
			}
		}
	}
	return out, nil
}

// listOffsets asks every leader. Each partition has an answer: an offset or a
// fault.
func (r *Reader) listOffsets(ctx context.Context, tps []streams.TopicPartition, at int64, isolation int8) map[streams.TopicPartition]offset {
	out := make(map[streams.TopicPartition]offset, len(tps))
	if len(tps) == 0 {
		return out
	}
	for _, shard := range r.cl.RequestSharded(ctx, listOffsetsRequest(tps, at, isolation)) {
		takeOffsets(shard, out)
	}
	for _, tp := range tps {
		if _, ok := out[tp]; !ok {
			out[tp] = offset{fault: partitionSubject(tp).fault(errors.New("the broker did not answer for it"))}
		}
	}
	return out
}

func listOffsetsRequest(tps []streams.TopicPartition, at int64, isolation int8) *kmsg.ListOffsetsRequest {
	req := kmsg.NewPtrListOffsetsRequest()
	req.IsolationLevel = isolation
	index := map[string]int{}
	for _, tp := range tps {
		i, ok := index[tp.Topic]
		if !ok {
			t := kmsg.NewListOffsetsRequestTopic()
			t.Topic = tp.Topic
			i = len(req.Topics)
			index[tp.Topic] = i
			req.Topics = append(req.Topics, t)
		}
		p := kmsg.NewListOffsetsRequestTopicPartition()
		p.Partition, p.Timestamp = tp.Partition, at
		req.Topics[i].Partitions = append(req.Topics[i].Partitions, p)
	}
	return req
}

func takeOffsets(shard kgo.ResponseShard, out map[streams.TopicPartition]offset) {
	if shard.Err != nil {
		req, ok := shard.Req.(*kmsg.ListOffsetsRequest)
		if !ok {
			return
		}
		for _, t := range req.Topics {
			for _, p := range t.Partitions {
				tp := streams.TopicPartition{Topic: t.Topic, Partition: p.Partition}
				out[tp] = offset{fault: partitionSubject(tp).fault(shard.Err)}
			}
		}
		return
	}
	resp, ok := shard.Resp.(*kmsg.ListOffsetsResponse)
	if !ok {
		return
	}
	for _, t := range resp.Topics {
		for _, p := range t.Partitions {
			tp := streams.TopicPartition{Topic: t.Topic, Partition: p.Partition}
			if p.ErrorCode != 0 {
				out[tp] = offset{fault: partitionSubject(tp).code(p.ErrorCode, nil)}
				continue
			}
			out[tp] = offset{at: p.Offset, time: p.Timestamp}
		}
	}
}
