package kafka

import (
	"cmp"
	"context"
	"slices"
	"sync"
	"time"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kmsg"
	"golang.org/x/sync/errgroup"
)

// Sizes of requests about many groups.
const (
	groupsPerLookup  = 500 // of one FindCoordinator request (KIP-699)
	groupsPerRequest = 200 // of one describe or OffsetFetch request
	// lookupsAtOnce is how many groups are looked up together while it is not
	// known whether one request may name many.
	lookupsAtOnce = 10
)

// sendTo sends a request to one broker. kgo routes no StreamsGroupDescribe
// (KIP-1071), and for OffsetFetch it asks for metadata as well each time.
func sendTo[T kmsg.Response](ctx context.Context, r *Reader, node int32, req kmsg.Request) (T, error) {
	var none T
	kresp, err := r.cl.Broker(int(node)).Request(ctx, req)
	if err != nil {
		return none, err
	}
	resp, ok := kresp.(T)
	if !ok {
		return none, errUnexpected
	}
	return resp, nil
}

// groupCall is a request that one coordinator answers for many groups.
type groupCall[T any] struct {
	// send asks one broker. What it answered counts, with an error too.
	send func(ctx context.Context, node int32, ids []string) (map[string]T, error)
	// code is the error code of one group's entry.
	code func(T) int16
}

// answered is what came back for one group.
type answered[T any] struct {
	node  int32
	entry T
	err   error // why there is no entry that counts
}

// askGroups asks the coordinator of every group, those of one coordinator
// together and different coordinators at the same time, and follows a
// coordinator when it moves: only the groups concerned are asked again. Every
// group has an answer. An entry's error code is the caller's to judge, except
// where it says that the coordinator is another one or not ready.
func askGroups[T any](ctx context.Context, r *Reader, ids []string, call groupCall[T]) map[string]answered[T] {
	out := make(map[string]answered[T], len(ids))
	until := time.Now().Add(retryTimeout)
	open := unique(ids)
	for try := 1; ; try++ {
		var again []string
		for id, a := range askGroupsOnce(ctx, r, open, call) {
			out[id] = a
			if a.err != nil && worthAnotherTry(a.err) {
				again = append(again, id)
			}
		}
		if len(again) == 0 || !pause(ctx, try, until) {
			return out
		}
		open = again
		r.forgetCoordinators(again)
		_, _ = r.metadata(ctx, nil) // brokers may have come and gone; the next try tells
	}
}

func askGroupsOnce[T any](ctx context.Context, r *Reader, ids []string, call groupCall[T]) map[string]answered[T] {
	out := make(map[string]answered[T], len(ids))
	nodes, failed := r.coordinatorsOf(ctx, ids)
	kept := map[int32][]string{}
	for _, id := range ids {
		if node, ok := nodes[id]; ok {
			kept[node] = append(kept[node], id)
			continue
		}
		out[id] = answered[T]{node: -1, err: failed[id]}
	}
	var mu sync.Mutex // guards out
	var work errgroup.Group
	work.SetLimit(brokersAtOnce)
	for node, of := range kept {
		for chunk := range slices.Chunk(of, groupsPerRequest) {
			work.Go(func() error {
				entries, err := call.send(ctx, node, chunk)
				mu.Lock()
				defer mu.Unlock()
				for _, id := range chunk {
					out[id] = judge(node, id, entries, err, call.code)
				}
				return nil
			})
		}
	}
	_ = work.Wait() // every error stands with its groups
	return out
}

func judge[T any](node int32, id string, entries map[string]T, err error, code func(T) int16) answered[T] {
	e, ok := entries[id]
	a := answered[T]{node: node, entry: e}
	switch {
	case ok:
		if err := kerr.ErrorForCode(code(e)); kerr.IsRetriable(err) {
			a.err = err
		}
	case err != nil:
		a.err = err
	default:
		a.err = errUnexpected
	}
	return a
}

// coordinatorsOf finds the brokers that keep the groups. A group is in one of
// the two answers.
func (r *Reader) coordinatorsOf(ctx context.Context, ids []string) (nodes map[string]int32, failed map[string]error) {
	nodes, failed = make(map[string]int32, len(ids)), map[string]error{}
	var rest []string
	r.mu.Lock()
	for _, id := range ids {
		if node, ok := r.coordinators[id]; ok {
			nodes[id] = node
		} else {
			rest = append(rest, id)
		}
	}
	r.mu.Unlock()
	for len(rest) > 0 {
		chunk := rest[:min(r.lookupSize(), len(rest))]
		rest = rest[len(chunk):]
		err := r.findCoordinators(ctx, chunk, nodes, failed)
		if err == nil {
			continue
		}
		for _, id := range slices.Concat(chunk, rest) {
			failed[id] = err
		}
		break
	}
	return nodes, failed
}

func (r *Reader) lookupSize() int {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.manyLookups {
		return groupsPerLookup
	}
	return lookupsAtOnce
}

// findCoordinators asks for some groups: with one request, or since that takes
// FindCoordinator version 4 (KIP-699, Kafka 3.0), with one request each, into
// which kgo splits it. An error means that no group was answered.
func (r *Reader) findCoordinators(ctx context.Context, ids []string, nodes map[string]int32, failed map[string]error) error {
	req := kmsg.NewPtrFindCoordinatorRequest()
	req.CoordinatorKeys = ids
	shards := r.cl.RequestSharded(ctx, req)
	last := errUnexpected
	some := false
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, shard := range shards {
		resp, ok := shard.Resp.(*kmsg.FindCoordinatorResponse)
		if shard.Err != nil || !ok {
			last = cmp.Or(shard.Err, errUnexpected)
			continue
		}
		if len(ids) > 1 {
			r.manyLookups = len(shards) == 1
		}
		for _, c := range resp.Coordinators {
			some = true
			if err := kerr.ErrorForCode(c.ErrorCode); err != nil {
				failed[c.Key] = err
				continue
			}
			nodes[c.Key], r.coordinators[c.Key] = c.NodeID, c.NodeID
		}
	}
	if !some {
		return last
	}
	for _, id := range ids {
		_, found := nodes[id]
		if _, bad := failed[id]; !found && !bad {
			failed[id] = last
		}
	}
	return nil
}

func (r *Reader) forgetCoordinators(ids []string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, id := range ids {
		delete(r.coordinators, id)
	}
}
