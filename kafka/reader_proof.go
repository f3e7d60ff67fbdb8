package kafka

import (
	"context"
	"fmt"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"
	"golang.org/x/sync/errgroup"

	"resurge/streams"
)

// brokersAtOnce bounds how many brokers are asked together.
const brokersAtOnce = 8

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
	t := newTail(r)
	for tp, m := range marks {
		if m.Fault != nil {
			return nil, asError(m.Fault)
		}
		t.add(tp, m, perPartition)
	}
	if err := t.read(ctx); err != nil {
		return nil, s.fail(err)
	}
	return t.records(topic), nil
}

// Newest reads as [Reader.Latest] does, from many topics with one request at a
// time to each leader. A topic of which a partition cannot be read has no entry;
// one without records has an empty one.
func (r *Reader) Newest(ctx context.Context, perPartition int, topics ...string) (map[string][]streams.Record, error) {
	marks, err := r.Watermarks(ctx, topics...)
	if err != nil {
		return nil, err
	}
	t := newTail(r)
	t.failed = map[string]error{}
	for tp, m := range marks {
		t.add(tp, m, perPartition)
	}
	for tp, m := range marks {
		if m.Fault != nil {
			t.giveUp(tp.Topic, asError(m.Fault))
		}
	}
	_ = t.read(ctx) // what was read of other topics stands
	if err := interrupted(ctx, subject{what: "newest records"}); err != nil {
		return nil, err
	}
	out := make(map[string][]streams.Record, len(topics))
	for _, topic := range unique(topics) {
		if t.whole(topic) {
			out[topic] = t.records(topic)
		}
	}
	return out, nil
}
