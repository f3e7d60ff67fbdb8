package kafka

import (
	"context"
	"time"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kmsg"

	"resurge/streams"
)

// stableTimeout bounds the wait for a transaction that holds offsets. Kafka
// Streams' transactions take 10 s at most by default.
const stableTimeout = 15 * time.Second

// Commits returns the committed offsets of one group, those on deleted topics
// included. A group that does not exist has none. Offsets on topics that the
// principal may not DESCRIBE are left out by the broker without a word.
//
// While a transaction holds offsets undecided (KIP-447), stable waits for it,
// and fails when it does not end; without stable the offset before the
// transaction is answered.
func (r *Reader) Commits(ctx context.Context, group string, stable bool) (streams.Commits, error) {
	s := groupSubject(group, "DESCRIBE")
	s.what = "committed offsets of " + s.what
	until := time.Now().Add(stableTimeout)
	for try := 1; ; try++ {
		resp, err := r.fetchOffsets(ctx, group, stable)
		if err != nil {
			return streams.Commits{}, s.fail(err)
		}
		commits, unstable := commitsOf(resp)
		if !unstable {
			return commits, nil
		}
		if !pause(ctx, try, until) {
			if err := interrupted(ctx, s); err != nil {
				return streams.Commits{}, err
			}
			return streams.Commits{}, s.fail(kerr.UnstableOffsetCommit)
		}
	}
}

func (r *Reader) fetchOffsets(ctx context.Context, group string, stable bool) (kmsg.OffsetFetchResponseGroup, error) {
	request := func() kmsg.Request {
		req := kmsg.NewPtrOffsetFetchRequest()
		req.Group, req.RequireStable = group, stable // to version 7
		g := kmsg.NewOffsetFetchRequestGroup()       // from version 8
		g.Group = group
		req.Groups = append(req.Groups, g)
		return req
	}
	resp, _, err := askCoordinator(ctx, r, group, request, func(resp *kmsg.OffsetFetchResponse) int16 {
		return ofGroup(resp).ErrorCode
	})
	if err != nil {
		return kmsg.OffsetFetchResponseGroup{}, err
	}
	g := ofGroup(resp)
	if g.ErrorCode == kerr.GroupIDNotFound.Code {
		return kmsg.OffsetFetchResponseGroup{}, nil
	}
	return g, kerr.ErrorForCode(g.ErrorCode)
}

// ofGroup brings both forms of the answer into the newer one.
func ofGroup(resp *kmsg.OffsetFetchResponse) kmsg.OffsetFetchResponseGroup {
	if len(resp.Groups) > 0 {
		return resp.Groups[0]
	}
	g := kmsg.OffsetFetchResponseGroup{ErrorCode: resp.ErrorCode}
	for _, t := range resp.Topics {
		nt := kmsg.OffsetFetchResponseGroupTopic{Topic: t.Topic}
		for _, p := range t.Partitions {
			nt.Partitions = append(nt.Partitions, kmsg.OffsetFetchResponseGroupTopicPartition{
				Partition: p.Partition, Offset: p.Offset, LeaderEpoch: p.LeaderEpoch, Metadata: p.Metadata, ErrorCode: p.ErrorCode,
			})
		}
		g.Topics = append(g.Topics, nt)
	}
	return g
}

// commitsOf reads the answer. Offset -1 means that nothing is committed there,
// which is no commit at all (public reports B10, B11).
func commitsOf(g kmsg.OffsetFetchResponseGroup) (c streams.Commits, unstable bool) {
	c = streams.Commits{Offsets: map[streams.TopicPartition]streams.Commit{}, Faults: map[streams.TopicPartition]*streams.Fault{}}
	for _, t := range g.Topics {
		for _, p := range t.Partitions {
			tp := streams.TopicPartition{Topic: t.Topic, Partition: p.Partition}
			switch {
			case p.ErrorCode == kerr.UnstableOffsetCommit.Code:
				unstable = true
			case p.ErrorCode != 0:
				c.Faults[tp] = partitionSubject(tp).code(p.ErrorCode, nil)
			case p.Offset >= 0:
				c.Offsets[tp] = streams.Commit{Offset: p.Offset, LeaderEpoch: p.LeaderEpoch, Metadata: text(p.Metadata)}
			}
		}
	}
	return c, unstable
}
