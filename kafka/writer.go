package kafka

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kmsg"

	"resurge/streams"
)

// Writer changes the cluster. Only a step of an approved plan holds one. What
// it returned is the broker's word; whether the effect holds is for the caller
// to read back, with [Reader], and after an error as well: an answer can be
// lost when the work was done.
type Writer struct{ cluster *Cluster }

// MemberRef names a member of a classic group.
type MemberRef struct{ ID, InstanceID string }

// vanishTimeout bounds the wait for the coordinator to drop the offsets of a
// deleted topic by itself.
const vanishTimeout = 15 * time.Second

// readBack is the hint after a request whose outcome is not known.
const readBack = "the request may have been carried out, or may still be: read back twice before going on"

// send sends a request of the writer's.
func send[T kmsg.Response](ctx context.Context, w *Writer, s subject, req kmsg.Request) (T, error) {
	var none T
	cl, err := w.cluster.writeClient()
	if err != nil {
		return none, s.fail(err)
	}
	kresp, err := cl.Request(ctx, req)
	if err != nil {
		return none, s.ambiguous(err)
	}
	resp, ok := kresp.(T)
	if !ok {
		return none, s.fail(errUnexpected)
	}
	return resp, nil
}

// ambiguous is fail for a request that may have been carried out (public report
// B82: a commit that timed out and landed later).
func (s subject) ambiguous(err error) error {
	return &faultError{Fault: inDoubt(s.fault(err)), cause: err}
}

func inDoubt(f *streams.Fault) *streams.Fault {
	if f.Kind == streams.FaultUnreachable || f.Kind == streams.FaultOther {
		f.Hint = strings.TrimPrefix(f.Hint+"; "+readBack, "; ")
	}
	return f
}

// tally folds the errors of partitions, or of members, into one fault.
type tally struct {
	s     subject
	total int
	codes []int16
	names map[int16][]string
}

func (t *tally) add(name string, code int16) {
	t.total++
	if code == 0 {
		return
	}
	if t.names == nil {
		t.names = map[int16][]string{}
	}
	if t.names[code] == nil {
		t.codes = append(t.codes, code)
	}
	t.names[code] = append(t.names[code], streams.Quote(name))
}

// err is nil when nothing failed. The kind is that of the most telling error: a
// group that is still active explains everything else.
func (t *tally) err() error {
	if len(t.codes) == 0 {
		return nil
	}
	telling := []streams.FaultKind{streams.FaultOther, streams.FaultUnreachable, streams.FaultNotFound, streams.FaultNotAllowed, streams.FaultActive}
	rank := func(code int16) int {
		kind, _ := classify(kerr.ErrorForCode(code))
		return -slices.Index(telling, kind)
	}
	slices.SortStableFunc(t.codes, func(a, b int16) int { return rank(a) - rank(b) })
	f := t.s.fault(kerr.ErrorForCode(t.codes[0]))
	var parts []string
	for _, code := range t.codes {
		names := t.names[code]
		slices.Sort(names)
		parts = append(parts, fmt.Sprintf("%s for %d of %d: %s", streams.Quote(kerr.ErrorForCode(code).Error()), len(names), t.total, some(names)))
	}
	f.Message = strings.Join(parts, "; ")
	if f.Kind == streams.FaultActive {
		f.Message = "the group still has members (" + f.Message + ")"
	}
	if f.Kind == streams.FaultUnreachable {
		f = inDoubt(f)
	}
	return &faultError{Fault: f, cause: kerr.ErrorForCode(t.codes[0])}
}

func some(names []string) string {
	const few = 5
	if len(names) <= few {
		return strings.Join(names, ", ")
	}
	return fmt.Sprintf("%s and %d more", strings.Join(names[:few], ", "), len(names)-few)
}

// CommitOffsets sets the group's committed offsets without a generation, as an
// admin does; the group must have no members. Every partition is tried; the
// error names those that failed. A LeaderEpoch of -1 commits none.
func (w *Writer) CommitOffsets(ctx context.Context, group string, offsets map[streams.TopicPartition]streams.Commit) error {
	if len(offsets) == 0 {
		return nil
	}
	s := groupSubject(group, "READ")
	s.what = "commit offsets of " + s.what
	s.needs += " and on its topics"
	req := kmsg.NewPtrOffsetCommitRequest()
	req.Group, req.Generation, req.RetentionTimeMillis = group, -1, -1
	index := map[string]int{}
	for tp, c := range offsets {
		i, ok := index[tp.Topic]
		if !ok {
			t := kmsg.NewOffsetCommitRequestTopic()
			t.Topic = tp.Topic
			i = len(req.Topics)
			index[tp.Topic] = i
			req.Topics = append(req.Topics, t)
		}
		p := kmsg.NewOffsetCommitRequestTopicPartition()
		p.Partition, p.Offset, p.LeaderEpoch, p.Metadata = tp.Partition, c.Offset, c.LeaderEpoch, new(c.Metadata)
		req.Topics[i].Partitions = append(req.Topics[i].Partitions, p)
	}
	resp, err := send[*kmsg.OffsetCommitResponse](ctx, w, s, req)
	if err != nil {
		return err
	}
	sum := tally{s: s}
	for _, t := range resp.Topics {
		for _, p := range t.Partitions {
			sum.add(streams.TopicPartition{Topic: t.Topic, Partition: p.Partition}.String(), p.ErrorCode)
		}
	}
	if err := sum.err(); err != nil || sum.total == len(offsets) {
		return w.withMembers(ctx, group, err)
	}
	return s.fail(fmt.Errorf("the broker answered for %d of %d partitions", sum.total, len(offsets)))
}

// withMembers adds who is still in the group to an error that says that somebody
// is.
func (w *Writer) withMembers(ctx context.Context, group string, err error) error {
	f := streams.FaultOf(err)
	if f == nil || f.Kind != streams.FaultActive {
		return err
	}
	g, e := w.cluster.reader.Group(ctx, group)
	if e != nil || len(g.Members) == 0 {
		return err
	}
	who := make([]string, 0, len(g.Members))
	for _, m := range g.Members {
		who = append(who, streams.Quote(m.ClientID+" on "+strings.TrimPrefix(m.Host, "/")))
	}
	f.Hint = "still in the group: " + some(who) + "; " + f.Hint
	return err
}

// DeleteCommits removes committed offsets of the group. The broker refuses to
// for topics that do not exist: their offsets it drops by itself some time
// after the deletion, and that is waited for.
func (w *Writer) DeleteCommits(ctx context.Context, group string, partitions []streams.TopicPartition) error {
	if len(partitions) == 0 {
		return nil
	}
	s := groupSubject(group, "DELETE")
	s.what = "delete committed offsets of " + s.what
	s.needs += " and READ on its topics"
	resp, err := send[*kmsg.OffsetDeleteResponse](ctx, w, s, offsetDelete(group, partitions))
	switch {
	case err != nil:
		return err
	case resp.ErrorCode == kerr.GroupIDNotFound.Code: // no group, no offsets
		return nil
	case resp.ErrorCode != 0:
		return w.withMembers(ctx, group, s.fail(kerr.ErrorForCode(resp.ErrorCode)))
	}
	sum := tally{s: s}
	var gone []streams.TopicPartition
	for _, t := range resp.Topics {
		for _, p := range t.Partitions {
			tp := streams.TopicPartition{Topic: t.Topic, Partition: p.Partition}
			if p.ErrorCode == kerr.UnknownTopicOrPartition.Code {
				gone = append(gone, tp)
				sum.total++
				continue
			}
			sum.add(tp.String(), p.ErrorCode)
		}
	}
	if err := sum.err(); err != nil {
		return w.withMembers(ctx, group, err)
	}
	return w.awaitVanished(ctx, group, s, gone)
}

func offsetDelete(group string, partitions []streams.TopicPartition) *kmsg.OffsetDeleteRequest {
	req := kmsg.NewPtrOffsetDeleteRequest()
	req.Group = group
	index := map[string]int{}
	for _, tp := range partitions {
		i, ok := index[tp.Topic]
		if !ok {
			t := kmsg.NewOffsetDeleteRequestTopic()
			t.Topic = tp.Topic
			i = len(req.Topics)
			index[tp.Topic] = i
			req.Topics = append(req.Topics, t)
		}
		p := kmsg.NewOffsetDeleteRequestTopicPartition()
		p.Partition = tp.Partition
		req.Topics[i].Partitions = append(req.Topics[i].Partitions, p)
	}
	return req
}

func (w *Writer) awaitVanished(ctx context.Context, group string, s subject, partitions []streams.TopicPartition) error {
	if len(partitions) == 0 {
		return nil
	}
	until := time.Now().Add(vanishTimeout)
	for try := 1; ; try++ {
		commits, err := w.cluster.reader.Commits(ctx, group, false)
		if err != nil {
			return err
		}
		left := slices.DeleteFunc(slices.Clone(partitions), func(tp streams.TopicPartition) bool { _, ok := commits.Offsets[tp]; return !ok })
		if len(left) == 0 {
			return nil
		}
		if !pause(ctx, try, until) {
			if err := interrupted(ctx, s); err != nil {
				return err
			}
			sum := tally{s: s}
			for _, tp := range left {
				sum.add(tp.String(), kerr.UnknownTopicOrPartition.Code)
			}
			return sum.err()
		}
	}
}

// RemoveMembers evicts members of a classic group. A member that left meanwhile
// is no error (public report B25), and neither is a group that is gone: whether
// the group is empty is for the caller to read.
func (w *Writer) RemoveMembers(ctx context.Context, group string, members []MemberRef) error {
	if len(members) == 0 {
		return nil
	}
	s := groupSubject(group, "READ")
	s.what = "remove members of " + s.what
	req := kmsg.NewPtrLeaveGroupRequest()
	req.Group = group
	req.MemberID = members[0].ID // before version 3 (KIP-345), one member a request
	for _, m := range members {
		lm := kmsg.NewLeaveGroupRequestMember()
		lm.MemberID = m.ID
		lm.Reason = new("removed by resurge")
		if m.InstanceID != "" {
			lm.InstanceID = new(m.InstanceID)
		}
		req.Members = append(req.Members, lm)
	}
	resp, err := send[*kmsg.LeaveGroupResponse](ctx, w, s, req)
	if err != nil {
		return err
	}
	switch resp.ErrorCode {
	case 0, kerr.UnknownMemberID.Code, kerr.GroupIDNotFound.Code:
	default:
		return s.fail(kerr.ErrorForCode(resp.ErrorCode))
	}
	sum := tally{s: s}
	for _, m := range resp.Members {
		if m.ErrorCode == kerr.UnknownMemberID.Code {
			sum.total++
			continue
		}
		sum.add(m.MemberID, m.ErrorCode)
	}
	return sum.err()
}
