//go:build integration

package integration

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kmsg"
)

func (b *broker) createTopics(t *testing.T, partitions int32, configs map[string]*string, names ...string) {
	t.Helper()
	resp, err := b.admin.CreateTopics(t.Context(), partitions, 1, configs, names...)
	if err != nil {
		t.Fatalf("create topics %v: %v", names, err)
	}
	for _, r := range resp.Sorted() {
		if r.Err != nil && !errors.Is(r.Err, kerr.TopicAlreadyExists) {
			t.Fatalf("create topic %s: %v", r.Topic, r.Err)
		}
	}
	eventually(t, 20*time.Second, "topics are made", func() (bool, string) {
		topics, err := b.admin.ListTopics(t.Context(), names...)
		if err == nil {
			err = topics.Error()
		}
		return err == nil, fmt.Sprint(err)
	})
}

func (b *broker) deleteTopic(t *testing.T, name string) {
	t.Helper()
	if _, err := b.admin.DeleteTopic(t.Context(), name); err != nil {
		t.Fatalf("delete topic %s: %v", name, err)
	}
	eventually(t, 20*time.Second, name+" is gone", func() (bool, string) {
		return !slices.Contains(b.topics(t), name), "still listed"
	})
}

func (b *broker) topics(t *testing.T) []string {
	t.Helper()
	topics, err := b.admin.ListTopicsWithInternal(t.Context())
	if err != nil {
		t.Fatalf("list topics: %v", err)
	}
	return topics.Names()
}

// internalTopics are those that Kafka Streams made for the application.
func (b *broker) internalTopics(t *testing.T, prefix string) []string {
	t.Helper()
	return slices.DeleteFunc(b.topics(t), func(name string) bool { return !strings.HasPrefix(name, prefix+"-") })
}

// waitInputsRead waits until the committed offsets of every copy are at the ends of its own inputs. The repartition
// topic says nothing: under exactly-once its end lies behind transaction markers.
func (a *app) waitInputsRead(limit time.Duration) {
	a.t.Helper()
	a.eventually(limit, "has read its inputs", func() (bool, string) {
		for _, id := range a.ids() {
			if lag, err := a.b.lag(id, a.opts.orders, a.opts.customers); err != nil || lag > 0 {
				return false, fmt.Sprintf("%s: lag %d, %v", id, lag, err)
			}
		}
		return true, ""
	})
}

func (b *broker) lag(group string, topics ...string) (int64, error) {
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
	defer cancel()
	ends, err := b.admin.ListEndOffsets(ctx, topics...)
	if err != nil {
		return 0, err
	}
	committed, err := b.admin.FetchOffsets(ctx, group)
	if err != nil {
		return 0, err
	}
	var lag int64
	ends.Each(func(end kadm.ListedOffset) {
		at := int64(0)
		if c, ok := committed.Lookup(end.Topic, end.Partition); ok && c.At > 0 {
			at = c.At
		}
		lag += end.Offset - at
	})
	return lag, nil
}

// waitEmpty waits for a group of either protocol to have no members.
func (b *broker) waitEmpty(t *testing.T, group string) {
	t.Helper()
	eventually(t, 60*time.Second, "group "+group+" is empty", func() (bool, string) {
		ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
		defer cancel()
		groups, err := b.admin.ListGroups(ctx)
		if err != nil {
			return false, err.Error()
		}
		g, listed := groups[group]
		return !listed || g.State == "Empty" || g.State == "Dead", g.State
	})
}

// describeStreams asks the group's coordinator; franz-go does not route this request.
func (b *broker) describeStreams(ctx context.Context, group string) (*kmsg.StreamsGroupDescribeResponseGroup, error) {
	coordinators := b.admin.FindGroupCoordinators(ctx, group)
	if err := coordinators.Error(); err != nil {
		return nil, err
	}
	req := kmsg.NewPtrStreamsGroupDescribeRequest()
	req.Groups = []string{group}
	answer, err := b.cl.Broker(int(coordinators[group].NodeID)).RetriableRequest(ctx, req)
	if err != nil {
		return nil, err
	}
	resp := answer.(*kmsg.StreamsGroupDescribeResponse)
	if len(resp.Groups) != 1 {
		return nil, fmt.Errorf("describe streams group %s: %d groups in the answer", group, len(resp.Groups))
	}
	return &resp.Groups[0], kerr.ErrorForCode(resp.Groups[0].ErrorCode)
}

// member is one consumer in a group.
type member struct{ ID, ClientID string }

// members of a group of either protocol, sorted.
func (b *broker) members(t *testing.T, group, protocol string) []member {
	t.Helper()
	var found []member
	if protocol == streamsGroup {
		g, err := b.describeStreams(t.Context(), group)
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range g.Members {
			found = append(found, member{m.MemberID, m.ClientID})
		}
	} else {
		groups, err := b.admin.DescribeGroups(t.Context(), group)
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range groups[group].Members {
			found = append(found, member{m.MemberID, m.ClientID})
		}
	}
	slices.SortFunc(found, func(a, b member) int { return strings.Compare(a.ID, b.ID) })
	return found
}
