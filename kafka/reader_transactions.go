package kafka

import (
	"context"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kmsg"

	"resurge/streams"
)

// openStates are the states of a transaction that is not decided, or decided
// and not yet marked in every partition.
var openStates = []string{"Ongoing", "PrepareCommit", "PrepareAbort", "PrepareEpochFence"}

// OpenTransactions lists the undecided transactions whose transactional ID
// starts with the prefix. It fails when a broker does not answer: a hanging
// transaction could be there. The broker leaves out transactional IDs that the
// principal may not DESCRIBE without a word.
func (r *Reader) OpenTransactions(ctx context.Context, prefix string) ([]streams.Transaction, error) {
	found, err := r.listTransactions(ctx, clusterSubject("open transactions"), prefix, openStates)
	if err != nil || len(found) == 0 {
		return nil, err
	}
	return r.describeTransactions(ctx, found)
}

// Transactions lists the transactional IDs with the prefix in every state, the
// decided ones too, sorted by ID and with no more than producer ID and state: a
// producer ID tells who wrote what. It fails when a broker does not answer. The
// broker leaves out transactional IDs that the principal may not DESCRIBE
// without a word, and forgets those that were idle for
// transactional.id.expiration.ms, seven days by default.
func (r *Reader) Transactions(ctx context.Context, prefix string) ([]streams.Transaction, error) {
	found, err := r.listTransactions(ctx, clusterSubject("transactions"), prefix, nil)
	if err != nil {
		return nil, err
	}
	return byID(found), nil
}

// listTransactions asks every broker (KIP-664); no states means all.
func (r *Reader) listTransactions(ctx context.Context, s subject, prefix string, states []string) (map[string]streams.Transaction, error) {
	req := kmsg.NewPtrListTransactionsRequest()
	req.StateFilters = states
	// Brokers before 4.1 (KIP-1152) do not filter by pattern: done again below.
	req.TransactionalIDPattern = new("^" + regexp.QuoteMeta(prefix) + ".*$")
	found := map[string]streams.Transaction{}
	for _, shard := range r.cl.RequestSharded(ctx, req) {
		s := subject{what: s.what + " of " + brokerName(shard.Meta), needs: s.needs}
		if shard.Err != nil {
			return nil, s.fail(shard.Err)
		}
		resp, ok := shard.Resp.(*kmsg.ListTransactionsResponse)
		if !ok {
			return nil, s.fail(errUnexpected)
		}
		if err := kerr.ErrorForCode(resp.ErrorCode); err != nil {
			return nil, s.fail(err)
		}
		for _, t := range resp.TransactionStates {
			if strings.HasPrefix(t.TransactionalID, prefix) && (len(states) == 0 || slices.Contains(states, t.TransactionState)) {
				found[t.TransactionalID] = streams.Transaction{TransactionalID: t.TransactionalID, ProducerID: t.ProducerID, State: t.TransactionState}
			}
		}
	}
	if err := interrupted(ctx, s); err != nil {
		return nil, err
	}
	return found, nil
}

func byID(found map[string]streams.Transaction) []streams.Transaction {
	out := make([]streams.Transaction, 0, len(found))
	for _, t := range found {
		out = append(out, t)
	}
	sortBy(out, func(t streams.Transaction) string { return t.TransactionalID })
	return out
}

// describeTransactions adds start and partitions, and drops what ended
// meanwhile. One that cannot be described stays as it was listed.
func (r *Reader) describeTransactions(ctx context.Context, found map[string]streams.Transaction) ([]streams.Transaction, error) {
	req := kmsg.NewPtrDescribeTransactionsRequest()
	for id := range found {
		req.TransactionalIDs = append(req.TransactionalIDs, id)
	}
	for _, shard := range r.cl.RequestSharded(ctx, req) {
		resp, ok := shard.Resp.(*kmsg.DescribeTransactionsResponse)
		if shard.Err != nil || !ok {
			continue
		}
		for _, d := range resp.TransactionStates {
			t, ok := found[d.TransactionalID]
			switch {
			case !ok:
			case d.ErrorCode == kerr.TransactionalIDNotFound.Code, d.ErrorCode == 0 && !slices.Contains(openStates, d.State):
				delete(found, d.TransactionalID)
			case d.ErrorCode == 0:
				found[d.TransactionalID] = described(t, d)
			}
		}
	}
	if err := interrupted(ctx, subject{what: "open transactions"}); err != nil {
		return nil, err
	}
	return byID(found), nil
}

func described(t streams.Transaction, d kmsg.DescribeTransactionsResponseTransactionState) streams.Transaction {
	t.State, t.ProducerID = d.State, d.ProducerID
	if d.StartTimestamp > 0 {
		t.Started = time.UnixMilli(d.StartTimestamp)
	}
	for _, topic := range d.Topics {
		for _, p := range topic.Partitions {
			t.Partitions = append(t.Partitions, streams.TopicPartition{Topic: topic.Topic, Partition: p})
		}
	}
	slices.SortFunc(t.Partitions, streams.TopicPartition.Compare)
	return t
}
