package crowd

import (
	"context"
	"crypto/sha256"
	"fmt"
	"slices"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"

	"resurge/streams"
)

const (
	// endOffset is the number of records in each partition, upToDate what a group
	// that keeps up has committed, and behind what one that lags has.
	endOffset = 2
	upToDate  = endOffset
	behind    = 1
	// threads is how many transactional IDs an application has.
	threads = 4
	// commitRounds is how often __consumer_offsets holds each commit: a log is
	// never compacted to the last one.
	commitRounds = 3
)

// filler fills the topics and groups. Each member of a group has a client of its
// own: a join that waits for another member holds up all that follows it on its
// connection.
type filler struct {
	clients [2]*kgo.Client
	joining chan struct{} // of one: held while members wait for each other
}

// group makes one group: its members, then its commits.
func (f *filler) group(ctx context.Context, g group) error {
	if g.transactional {
		for i := range threads {
			if err := f.transactionalID(ctx, fmt.Sprintf("%s-%s-%d", g.id, process(g.id, 0), i+1)); err != nil {
				return err
			}
		}
	}
	committer := member{group: g.id, generation: -1, cl: f.clients[0]}
	if g.members > 0 {
		members, err := f.join(ctx, g)
		if err != nil {
			return err
		}
		committer = *members[0]
	}
	return committer.commit(ctx, g)
}

func (f *filler) transactionalID(ctx context.Context, id string) error {
	req := kmsg.NewPtrInitProducerIDRequest()
	req.TransactionalID, req.TransactionTimeoutMillis = &id, 10_000
	resp, err := req.RequestWith(ctx, f.clients[0])
	if err == nil {
		err = kerr.ErrorForCode(resp.ErrorCode)
	}
	if err != nil {
		return fmt.Errorf("register transactional ID %s: %w", id, err)
	}
	return nil
}

// commits are the topics that the group has commits on.
func (g group) commits() []topic { return slices.Concat(g.reads, g.repartitions) }

func (g group) offset() int64 {
	if g.lags {
		return behind
	}
	return upToDate
}

func (g group) metadata() string {
	if !g.streams {
		return ""
	}
	return streams.OffsetMetadata{Magic: 2, PartitionTime: epoch.UnixMilli()}.Encode()
}

// process is the process ID of an application's instance.
func process(app string, instance int) streams.ProcessID {
	sum := sha256.Sum256(fmt.Append(nil, app, instance))
	return streams.ProcessID(sum[:16])
}
