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
	s := commitsSubject(group)
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
	a := askGroups(ctx, r, []string{group}, r.offsetsCall(stable))[group]
	switch {
	case a.err != nil:
		return kmsg.OffsetFetchResponseGroup{}, a.err
	case a.entry.ErrorCode == kerr.GroupIDNotFound.Code:
		return kmsg.OffsetFetchResponseGroup{}, nil
	}
	return a.entry, kerr.ErrorForCode(a.entry.ErrorCode)
}

// offsetsCall asks for committed offsets with OffsetFetch: of many groups since
// version 8 (KIP-709, Kafka 3.0), and before of one after the other.
func (r *Reader) offsetsCall(stable bool) groupCall[kmsg.OffsetFetchResponseGroup] {
	send := func(ctx context.Context, node int32, ids []string) (map[string]kmsg.OffsetFetchResponseGroup, error) {
		out := make(map[string]kmsg.OffsetFetchResponseGroup, len(ids))
		for rest := ids; len(rest) > 0; rest = rest[1:] {
			resp, err := sendTo[*kmsg.OffsetFetchResponse](ctx, r, node, offsetsRequest(rest, stable))
			if err != nil {
				return out, err
			}
			if resp.Version < 8 {
				out[rest[0]] = ofGroup(resp)
				continue
			}
			for _, g := range resp.Groups {
				out[g.Group] = g
			}
			break
		}
		return out, nil
	}
	return groupCall[kmsg.OffsetFetchResponseGroup]{send: send, code: func(g kmsg.OffsetFetchResponseGroup) int16 { return g.ErrorCode }}
}

func offsetsRequest(ids []string, stable bool) *kmsg.OffsetFetchRequest {
	req := kmsg.NewPtrOffsetFetchRequest()
	req.Group, req.RequireStable = ids[0], stable // Group to version 7
	for _, id := range ids {                      // from version 8
		g := kmsg.NewOffsetFetchRequestGroup()
		g.Group = id
		req.Groups = append(req.Groups, g)
	}
	return req
}

func commitsSubject(group string) subject {
	s := groupSubject(group, "DESCRIBE")
	s.what = "committed offsets of " + s.what
	return s
}

// ofGroup brings the older form of the answer into the newer one.
func ofGroup(resp *kmsg.OffsetFetchResponse) kmsg.OffsetFetchResponseGroup {
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
