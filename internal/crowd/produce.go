package crowd

import (
	"context"
	"encoding/binary"
	"fmt"
	"hash/crc32"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"
)

// batchesPerRequest keeps a request below what a broker takes.
const batchesPerRequest = 1000

// records fills every partition.
func (f *filler) records(ctx context.Context, topics []topic, brokers int) error {
	same := make([]kmsg.Record, 0, endOffset)
	for n := range endOffset {
		same = append(same, kmsg.Record{Key: fmt.Append(nil, "key-", n), Value: []byte(`{"crowd":true}`)})
	}
	batch := batchOf(same)
	w := writer{cl: f.clients[0], open: map[int32]*kmsg.ProduceRequest{}}
	for i, t := range topics {
		for p := range t.partitions {
			if err := w.add(ctx, leaderOf(i, p, brokers), t.name, p, batch); err != nil {
				return err
			}
		}
	}
	return w.flush(ctx)
}

// notes writes the commits of the groups to where brokers keep them.
func (f *filler) notes(ctx context.Context, l layout, brokers int) error {
	logs := make([][]kmsg.Record, offsetsPartitions)
	for _, g := range l.groups {
		p := partitionOf(g.id)
		for _, t := range g.commits() {
			for n := range t.partitions {
				logs[p] = append(logs[p], g.note(t.name, n))
			}
		}
	}
	w := writer{cl: f.clients[0], open: map[int32]*kmsg.ProduceRequest{}}
	for range commitRounds {
		for i, notes := range logs {
			p := int32(i)
			if len(notes) == 0 {
				continue
			}
			if err := w.add(ctx, leaderOf(len(l.topics), p, brokers), offsetsTopic, p, batchOf(notes)); err != nil {
				return err
			}
		}
		if err := w.flush(ctx); err != nil {
			return err
		}
	}
	return nil
}

// note is the record of one commit.
func (g group) note(topic string, partition int32) kmsg.Record {
	k, v := kmsg.NewOffsetCommitKey(), kmsg.NewOffsetCommitValue()
	k.Version, k.Group, k.Topic, k.Partition = 1, g.id, topic, partition
	v.Version, v.Offset, v.Metadata, v.CommitTimestamp = 3, g.offset(), g.metadata(), epoch.UnixMilli()
	return kmsg.Record{Key: k.AppendTo(nil), Value: v.AppendTo(nil)}
}

// batchOf makes one batch as a producer without an ID writes it.
func batchOf(records []kmsg.Record) []byte {
	var body []byte
	for i, r := range records {
		r.OffsetDelta = int32(i)
		r.Length = int32(len(r.AppendTo(nil)) - 1) // less the length's own byte, which is 0 so far
		body = r.AppendTo(body)
	}
	last := int32(len(records) - 1)
	b := kmsg.RecordBatch{
		PartitionLeaderEpoch: -1, Magic: 2, LastOffsetDelta: last, FirstTimestamp: epoch.UnixMilli(), MaxTimestamp: epoch.UnixMilli(),
		ProducerID: -1, ProducerEpoch: -1, FirstSequence: -1, NumRecords: last + 1, Records: body,
	}
	raw := b.AppendTo(nil)
	binary.BigEndian.PutUint32(raw[8:], uint32(len(raw)-12))
	binary.BigEndian.PutUint32(raw[17:], crc32.Checksum(raw[21:], crc32.MakeTable(crc32.Castagnoli)))
	return raw
}

// writer sends batches to their leaders, many in a request. A producer would do,
// but takes seconds for the names of thousands of topics.
type writer struct {
	cl   *kgo.Client
	open map[int32]*kmsg.ProduceRequest // by leader
	n    int                            // batches in them
}

func (w *writer) add(ctx context.Context, leader int32, topic string, partition int32, batch []byte) error {
	req := w.open[leader]
	if req == nil {
		req = kmsg.NewPtrProduceRequest()
		req.Acks, req.TimeoutMillis = -1, 10_000
		w.open[leader] = req
	}
	if last := len(req.Topics) - 1; last < 0 || req.Topics[last].Topic != topic {
		t := kmsg.NewProduceRequestTopic()
		t.Topic = topic
		req.Topics = append(req.Topics, t)
	}
	p := kmsg.NewProduceRequestTopicPartition()
	p.Partition, p.Records = partition, batch
	t := &req.Topics[len(req.Topics)-1]
	t.Partitions = append(t.Partitions, p)
	if w.n++; w.n >= batchesPerRequest*len(w.open) {
		return w.flush(ctx)
	}
	return nil
}

func (w *writer) flush(ctx context.Context) error {
	for leader, req := range w.open {
		kresp, err := w.cl.Broker(int(leader)).RetriableRequest(ctx, req)
		if err != nil {
			return fmt.Errorf("produce: %w", err)
		}
		resp, ok := kresp.(*kmsg.ProduceResponse)
		if !ok {
			return fmt.Errorf("produce: unexpected %T", kresp)
		}
		for _, t := range resp.Topics {
			for _, p := range t.Partitions {
				if err := kerr.ErrorForCode(p.ErrorCode); err != nil {
					return fmt.Errorf("produce to %s-%d: %w", t.Topic, p.Partition, err)
				}
			}
		}
	}
	clear(w.open)
	w.n = 0
	return nil
}
