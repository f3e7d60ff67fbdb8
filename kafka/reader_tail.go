package kafka

import (
	"bytes"
	"cmp"
	"context"
	"encoding/binary"
	"slices"
	"time"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"

	"resurge/streams"
)

// Limits of the fetches of a tail.
const (
	fetchBytes          = 8 << 20
	fetchPartitionBytes = 1 << 20
	fetchWait           = 200 * time.Millisecond
)

// tail reads the ends of partitions with plain Fetch requests: the offset after
// each batch is known even when nothing in it is a committed record, so a tail
// of markers or of compacted batches never hangs (public report B68).
type tail struct {
	r     *Reader
	parts map[streams.TopicPartition]*tailPart
	// failed are the topics that could not be read while others were; nil: the
	// first that fails ends the whole read.
	failed map[string]error
	ids    map[[16]byte]string // of topics: newer answers name no other
	tries  int
}

type tailPart struct {
	next, end int64
	keep      int
	records   []streams.Record
	// visit is called with every committed record in place of keeping it. What
	// the record holds is only valid meanwhile.
	visit func(*kgo.Record)
	// limit bounds the bytes that are read; 0 is no limit.
	bytes, limit int
}

func newTail(r *Reader) *tail {
	return &tail{r: r, parts: map[streams.TopicPartition]*tailPart{}, ids: map[[16]byte]string{}}
}

// add reads the last records of a partition too.
func (t *tail) add(tp streams.TopicPartition, m streams.Watermarks, keep int) {
	from := max(m.Start, m.Stable-2*int64(keep))
	if from < m.Stable && keep > 0 {
		t.parts[tp] = &tailPart{next: from, end: m.Stable, keep: keep}
	}
}

// giveUp leaves a topic out and reports whether the others go on.
func (t *tail) giveUp(topic string, err error) bool {
	if t.failed == nil {
		return false
	}
	t.failed[topic] = err
	for tp := range t.parts {
		if tp.Topic == topic {
			delete(t.parts, tp)
		}
	}
	return true
}

func (p *tailPart) done() bool { return p.next >= p.end || p.limit > 0 && p.bytes >= p.limit }

// whole reports whether all of the topic that was asked for was read.
func (t *tail) whole(topic string) bool {
	for tp, p := range t.parts {
		if tp.Topic == topic && !p.done() {
			return false
		}
	}
	return t.failed[topic] == nil
}

func (t *tail) records(topic string) []streams.Record {
	var out []streams.Record
	for tp, p := range t.parts {
		if tp.Topic == topic {
			out = append(out, p.records...)
		}
	}
	slices.SortFunc(out, func(a, b streams.Record) int {
		return cmp.Or(cmp.Compare(a.Partition, b.Partition), cmp.Compare(a.Offset, b.Offset))
	})
	return out
}

// read fetches from every leader in turn until all partitions are read. Rounds
// without progress, after a leader moved, are bounded.
func (t *tail) read(ctx context.Context) error {
	until := time.Now().Add(retryTimeout)
	for {
		requests, err := t.plan(ctx)
		if err != nil || len(requests) == 0 {
			return err
		}
		progress := false
		for leader, req := range requests {
			more, e := t.fetch(ctx, leader, req)
			progress = progress || more
			if e != nil {
				err = e
			}
		}
		switch {
		case progress:
			t.tries, until = 0, time.Now().Add(retryTimeout)
			continue
		case err != nil && !worthAnotherTry(err):
			return err
		case err == nil:
			err = kerr.RequestTimedOut
		}
		if t.tries++; !pause(ctx, t.tries, until) {
			if ctx.Err() != nil {
				return ctx.Err()
			}
			return err
		}
	}
}

// plan makes one request per leader, from fresh metadata.
func (t *tail) plan(ctx context.Context) (map[int32]*kmsg.FetchRequest, error) {
	open := map[string]map[int32]*tailPart{}
	for tp, p := range t.parts {
		if p.done() {
			continue
		}
		if open[tp.Topic] == nil {
			open[tp.Topic] = map[int32]*tailPart{}
		}
		open[tp.Topic][tp.Partition] = p
	}
	if len(open) == 0 {
		return nil, nil
	}
	resp, err := t.r.metadata(ctx, keysOf(open))
	if err != nil {
		return nil, err
	}
	requests := map[int32]*kmsg.FetchRequest{}
	for _, meta := range resp.Topics {
		name := text(meta.Topic)
		if err := t.planTopic(requests, name, meta, open[name]); err != nil && !t.giveUp(name, err) {
			return nil, err
		}
		delete(open, name)
	}
	for name := range open {
		if !t.giveUp(name, kerr.UnknownTopicOrPartition) {
			return nil, kerr.UnknownTopicOrPartition
		}
	}
	return requests, nil
}

// planTopic adds the open partitions of a topic to the requests: all or, with an
// error, none.
func (t *tail) planTopic(requests map[int32]*kmsg.FetchRequest, name string, meta kmsg.MetadataResponseTopic, open map[int32]*tailPart) error {
	if err := kerr.ErrorForCode(meta.ErrorCode); err != nil {
		return err
	}
	leaders := map[int32]int32{}
	for _, m := range meta.Partitions {
		if open[m.Partition] == nil {
			continue
		}
		if m.Leader < 0 {
			return kerr.LeaderNotAvailable
		}
		leaders[m.Partition] = m.Leader
	}
	if len(leaders) < len(open) {
		return kerr.UnknownTopicOrPartition
	}
	t.ids[meta.TopicID] = name
	for n, leader := range leaders {
		req := requests[leader]
		if req == nil {
			req = newFetch()
			requests[leader] = req
		}
		if last := len(req.Topics) - 1; last < 0 || req.Topics[last].Topic != name {
			ft := kmsg.NewFetchRequestTopic()
			ft.Topic, ft.TopicID = name, meta.TopicID
			req.Topics = append(req.Topics, ft)
		}
		fp := kmsg.NewFetchRequestTopicPartition()
		fp.Partition, fp.FetchOffset, fp.PartitionMaxBytes, fp.CurrentLeaderEpoch = n, open[n].next, fetchPartitionBytes, -1
		last := &req.Topics[len(req.Topics)-1]
		last.Partitions = append(last.Partitions, fp)
	}
	return nil
}

func newFetch() *kmsg.FetchRequest {
	req := kmsg.NewPtrFetchRequest()
	req.MaxWaitMillis, req.MinBytes, req.MaxBytes = int32(fetchWait.Milliseconds()), 1, fetchBytes
	req.IsolationLevel, req.ReplicaID, req.SessionEpoch = readCommitted, -1, -1
	return req
}

// fetch sends one request and takes what came. It reports whether any partition
// moved on, and the last error of one that did not.
func (t *tail) fetch(ctx context.Context, leader int32, req *kmsg.FetchRequest) (progress bool, err error) {
	kresp, err := t.r.cl.Broker(int(leader)).RetriableRequest(ctx, req)
	if err != nil {
		return false, err
	}
	resp, ok := kresp.(*kmsg.FetchResponse)
	if !ok {
		return false, errUnexpected
	}
	if err := kerr.ErrorForCode(resp.ErrorCode); err != nil {
		return false, err
	}
	for _, rt := range resp.Topics {
		topic := rt.Topic
		if topic == "" {
			topic = t.ids[rt.TopicID]
		}
		for i := range rt.Partitions {
			p := t.parts[streams.TopicPartition{Topic: topic, Partition: rt.Partitions[i].Partition}]
			if p == nil {
				continue
			}
			before := p.next
			if e := p.take(topic, &rt.Partitions[i]); e != nil && (worthAnotherTry(e) || !t.giveUp(topic, e)) {
				err = e
			}
			progress = progress || p.next > before || t.failed[topic] != nil
		}
	}
	return progress, err
}

// take adds the records of one answer and moves on to the offset after them.
func (p *tailPart) take(topic string, rp *kmsg.FetchResponseTopicPartition) error {
	switch {
	case rp.ErrorCode == kerr.OffsetOutOfRange.Code && rp.LogStartOffset > p.next:
		p.next = rp.LogStartOffset // deleted meanwhile
		return nil
	case rp.ErrorCode != 0:
		return kerr.ErrorForCode(rp.ErrorCode)
	case rp.LastStableOffset >= 0 && p.next >= rp.LastStableOffset:
		p.next = p.end // cut off meanwhile
		return nil
	}
	got, next := kgo.ProcessFetchPartition(kgo.ProcessFetchPartitionOpts{
		Offset: p.next, IsolationLevel: kgo.ReadCommitted(), Topic: topic, Partition: rp.Partition,
	}, rp, kgo.DefaultDecompressor(), nil)
	if got.Err != nil {
		return got.Err
	}
	p.bytes += len(rp.RecordBatches)
	for _, rec := range got.Records {
		switch {
		case rec.Offset >= p.end:
		case p.visit != nil:
			p.visit(rec)
		default:
			p.records = append(p.records, streams.Record{
				Partition: rec.Partition, Offset: rec.Offset, Time: rec.Timestamp, Key: bytes.Clone(rec.Key), Value: bytes.Clone(rec.Value), Headers: headersOf(rec),
			})
		}
	}
	p.records = p.records[max(0, len(p.records)-p.keep):]
	p.next = max(p.next, next, afterBatches(rp.RecordBatches))
	return nil
}

func headersOf(rec *kgo.Record) map[string][]byte {
	if len(rec.Headers) == 0 {
		return nil
	}
	out := make(map[string][]byte, len(rec.Headers))
	for _, h := range rec.Headers {
		out[h.Key] = bytes.Clone(h.Value)
	}
	return out
}

// afterBatches is the offset after the last whole batch, which may hold no
// record any more. Layout: KIP-98.
func afterBatches(b []byte) int64 {
	const header, magic2 = 61, 2
	next := int64(-1)
	for len(b) >= header && b[16] == magic2 {
		size := 12 + int(int32(binary.BigEndian.Uint32(b[8:])))
		if size < header || size > len(b) {
			break
		}
		next = int64(binary.BigEndian.Uint64(b)) + int64(int32(binary.BigEndian.Uint32(b[23:]))) + 1
		b = b[size:]
	}
	return next
}
