package kafka

import (
	"context"
	"maps"
	"slices"

	"github.com/twmb/franz-go/pkg/kerr"

	"resurge/streams"
)

func keysOf[K comparable, V any](m map[K]V) []K { return slices.Collect(maps.Keys(m)) }

// once sorts partitions and names each once: a broker refuses a request that
// names one twice.
func once(tps []streams.TopicPartition) []streams.TopicPartition {
	return slices.Compact(slices.SortedFunc(slices.Values(tps), streams.TopicPartition.Compare))
}

// CommitsOf returns the committed offsets of the named groups, with one request
// for 200 groups of a coordinator. Each group has an entry: one that does not
// exist has no commits, one that cannot be asked has a Fault. Undecided offsets
// are not waited for: see [Reader.Commits].
func (r *Reader) CommitsOf(ctx context.Context, groups []string) (map[string]streams.GroupCommits, error) {
	out := make(map[string]streams.GroupCommits, len(groups))
	for id, a := range askGroups(ctx, r, groups, r.offsetsCall(false)) {
		var c streams.GroupCommits
		switch code := a.entry.ErrorCode; {
		case a.err != nil:
			c.Fault = commitsSubject(id).fault(a.err)
		case code != 0 && code != kerr.GroupIDNotFound.Code:
			c.Fault = commitsSubject(id).code(code, nil)
		default:
			c.Commits, _ = commitsOf(a.entry)
		}
		out[id] = c
	}
	if err := interrupted(ctx, subject{what: "committed offsets of groups"}); err != nil {
		return nil, err
	}
	return out, nil
}

// Ends returns the high watermarks of the named partitions, with one request to
// each leader. Start and Stable are left 0. Each partition has an entry; one
// that does not exist or cannot be asked has a Fault.
func (r *Reader) Ends(ctx context.Context, partitions []streams.TopicPartition) (map[streams.TopicPartition]streams.Watermarks, error) {
	out := make(map[streams.TopicPartition]streams.Watermarks, len(partitions))
	for tp, e := range r.listOffsets(ctx, once(partitions), atEnd, readUncommitted) {
		out[tp] = streams.Watermarks{End: e.at, Fault: e.fault}
	}
	if err := interrupted(ctx, subject{what: "ends of partitions"}); err != nil {
		return nil, err
	}
	return out, nil
}
