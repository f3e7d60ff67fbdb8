package kafka

import (
	"bytes"
	"context"
	"encoding/binary"
	"fmt"
	"slices"
	"time"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"
	"golang.org/x/sync/errgroup"

	"resurge/streams"
)

// brokersAtOnce bounds how many brokers are asked together.
const brokersAtOnce = 8

// Limits of the fetches of a proof.
const (
	fetchBytes          = 8 << 20
	fetchPartitionBytes = 1 << 20
	fetchWait           = 200 * time.Millisecond
)

// pinned sends to one broker and tries again while it cannot be dialed.
type pinned struct{ *kgo.Broker }

// Request implements kmsg.Requestor.
func (p pinned) Request(ctx context.Context, req kmsg.Request) (kmsg.Response, error) {
	return p.RetriableRequest(ctx, req)
}

// BrokersWithTopic asks every broker for the topic and returns the IDs of those
// that still know it. A broker that cannot be asked is an error: it may know
// the topic.
func (r *Reader) BrokersWithTopic(ctx context.Context, name string) ([]int32, error) {
	s := topicSubject(name, "DESCRIBE")
	cluster, err := r.Cluster(ctx)
	if err != nil {
		return nil, err
	}
	knows := make([]bool, len(cluster.Brokers))
	work, ctx := errgroup.WithContext(ctx)
	work.SetLimit(brokersAtOnce)
	for i, b := range cluster.Brokers {
		work.Go(func() error {
			s := subject{what: fmt.Sprintf("%s on broker %d", s.what, b.ID), needs: s.needs}
			resp, err := metadataOf(ctx, pinned{r.cl.Broker(int(b.ID))}, []string{name})
			if err != nil {
				return s.fail(err)
			}
			t := first(resp.Topics)
			switch {
			case len(resp.Topics) != 1:
				return s.fail(errUnexpected)
			case t.ErrorCode == kerr.TopicAuthorizationFailed.Code:
				return s.fail(kerr.TopicAuthorizationFailed)
			case t.ErrorCode == kerr.UnknownTopicOrPartition.Code:
			default: // it may have no leader yet, and still be there
				knows[i] = true
			}
			return nil
		})
	}
	if err := work.Wait(); err != nil {
		return nil, err
	}
	var out []int32
	for i, b := range cluster.Brokers {
		if knows[i] {
			out = append(out, b.ID)
		}
	}
	return out, nil
}

// Latest reads up to perPartition committed records from the end of every
// partition of a topic, in offset order per partition. It looks at the last
// offsets below the last stable one: at twice as many as records are wanted,
// since transaction markers and compaction take offsets without a record. Every
// committed record among the last perPartition offsets is in the answer.
func (r *Reader) Latest(ctx context.Context, topic string, perPartition int) ([]streams.Record, error) {
	s := topicSubject(topic, "READ")
	marks, err := r.Watermarks(ctx, topic)
	if err != nil {
		return nil, err
	}
	t := &tail{r: r, topic: topic, parts: map[int32]*tailPart{}}
	for tp, m := range marks {
		if m.Fault != nil {
			return nil, asError(m.Fault)
		}
		from := max(m.Start, m.Stable-2*int64(perPartition))
		if from < m.Stable && perPartition > 0 {
			t.parts[tp.Partition] = &tailPart{next: from, end: m.Stable, keep: perPartition}
		}
	}
	if err := t.read(ctx); err != nil {
		return nil, s.fail(err)
	}
	return t.records(), nil
}

// tail reads the ends of partitions with plain Fetch requests: the offset after
// each batch is known even when nothing in it is a committed record, so a tail
// of markers or of compacted batches never hangs (public report B68).
type tail struct {
	r     *Reader
	topic string
	parts map[int32]*tailPart
	tries int
}

type tailPart struct {
	next, end int64
	keep      int
	records   []streams.Record
}

func (p *tailPart) done() bool { return p.next >= p.end }

func (t *tail) records() []streams.Record {
	var out []streams.Record
	for _, p := range t.parts {
		out = append(out, p.records...)
	}
	slices.SortFunc(out, func(a, b streams.Record) int {
		if a.Partition != b.Partition {
			return int(a.Partition) - int(b.Partition)
		}
		return int(a.Offset - b.Offset)
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
	open := map[int32]*tailPart{}
	for n, p := range t.parts {
		if !p.done() {
			open[n] = p
		}
	}
	if len(open) == 0 {
		return nil, nil
	}
	resp, err := t.r.metadata(ctx, []string{t.topic})
	if err != nil {
		return nil, err
	}
	meta := first(resp.Topics)
	if err := kerr.ErrorForCode(meta.ErrorCode); err != nil {
		return nil, err
	}
	requests := map[int32]*kmsg.FetchRequest{}
	for _, m := range meta.Partitions {
		p := open[m.Partition]
		if p == nil {
			continue
		}
		if m.Leader < 0 {
			return nil, kerr.LeaderNotAvailable
		}
		req := requests[m.Leader]
		if req == nil {
			req = newFetch(t.topic, meta.TopicID)
			requests[m.Leader] = req
		}
		fp := kmsg.NewFetchRequestTopicPartition()
		fp.Partition, fp.FetchOffset, fp.PartitionMaxBytes, fp.CurrentLeaderEpoch = m.Partition, p.next, fetchPartitionBytes, -1
		req.Topics[0].Partitions = append(req.Topics[0].Partitions, fp)
		delete(open, m.Partition)
	}
	if len(open) > 0 {
		return nil, kerr.UnknownTopicOrPartition
	}
	return requests, nil
}

func newFetch(topic string, id [16]byte) *kmsg.FetchRequest {
	req := kmsg.NewPtrFetchRequest()
	req.MaxWaitMillis, req.MinBytes, req.MaxBytes = int32(fetchWait.Milliseconds()), 1, fetchBytes
	req.IsolationLevel, req.ReplicaID, req.SessionEpoch = readCommitted, -1, -1
	t := kmsg.NewFetchRequestTopic()
	t.Topic, t.TopicID = topic, id
	req.Topics = append(req.Topics, t)
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
		for i := range rt.Partitions {
			p := t.parts[rt.Partitions[i].Partition]
			if p == nil {
				continue
			}
			before := p.next
			if e := p.take(t.topic, &rt.Partitions[i]); e != nil {
				err = e
			}
			progress = progress || p.next > before
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
	for _, rec := range got.Records {
		if rec.Offset < p.end {
			p.records = append(p.records, streams.Record{
				Partition: rec.Partition, Offset: rec.Offset, Time: rec.Timestamp, Key: bytes.Clone(rec.Key), Value: bytes.Clone(rec.Value),
			})
		}
	}
	p.records = p.records[max(0, len(p.records)-p.keep):]
	p.next = max(p.next, next, afterBatches(rp.RecordBatches))
	return nil
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
