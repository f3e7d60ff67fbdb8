//go:build integration

package integration

import (
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kmsg"
)

// snapshot is what a cluster holds, to be compared before and after.
type snapshot struct {
	Topics map[string]topicSnapshot
	Groups map[string]groupSnapshot
}

type topicSnapshot struct {
	ID      string
	Configs map[string]string // those set on the topic
	Starts  map[int32]int64
	Ends    map[int32]int64
}

type groupSnapshot struct {
	Type    string
	Offsets map[string]map[int32]offsetSnapshot
}

type offsetSnapshot struct {
	At       int64
	Epoch    int32
	Metadata string
}

// snapshot reads every topic that Kafka does not keep for itself, and every group. It is for a broker that nobody else uses
// at the time: on a shared one the topics of other tests come and go in the middle of it.
func (b *broker) snapshot(t *testing.T) snapshot {
	t.Helper()
	return b.snapshotOf(t, func(string) bool { return true })
}

// snapshotOf reads the topics and groups whose name is chosen.
func (b *broker) snapshotOf(t *testing.T, chosen func(name string) bool) snapshot {
	t.Helper()
	s := snapshot{Topics: map[string]topicSnapshot{}, Groups: map[string]groupSnapshot{}}
	topics, err := b.admin.ListTopics(t.Context())
	if err != nil {
		t.Fatalf("snapshot topics: %v", err)
	}
	maps.DeleteFunc(topics, func(name string, detail kadm.TopicDetail) bool {
		return !chosen(name) || detail.Err != nil // being deleted
	})
	for name, detail := range topics {
		s.Topics[name] = topicSnapshot{ID: detail.ID.String(), Configs: map[string]string{}, Starts: map[int32]int64{}, Ends: map[int32]int64{}}
	}
	if len(topics) > 0 { // no name asks for all
		b.addOffsets(t, s, topics.Names())
		b.addConfigs(t, s, topics.Names())
	}
	b.addGroups(t, s, chosen)
	return s
}

func (b *broker) addOffsets(t *testing.T, s snapshot, names []string) {
	t.Helper()
	starts, err := b.admin.ListStartOffsets(t.Context(), names...)
	if err != nil {
		t.Fatalf("snapshot start offsets: %v", err)
	}
	ends, err := b.admin.ListEndOffsets(t.Context(), names...)
	if err != nil {
		t.Fatalf("snapshot end offsets: %v", err)
	}
	set := func(offsets kadm.ListedOffsets, of func(topicSnapshot) map[int32]int64) {
		offsets.Each(func(o kadm.ListedOffset) {
			if topic, ok := s.Topics[o.Topic]; ok && o.Err == nil {
				of(topic)[o.Partition] = o.Offset
			}
		})
	}
	set(starts, func(topic topicSnapshot) map[int32]int64 { return topic.Starts })
	set(ends, func(topic topicSnapshot) map[int32]int64 { return topic.Ends })
}

func (b *broker) addConfigs(t *testing.T, s snapshot, names []string) {
	t.Helper()
	if len(names) == 0 {
		return
	}
	configs, err := b.admin.DescribeTopicConfigs(t.Context(), names...)
	if err != nil {
		t.Fatalf("snapshot configs: %v", err)
	}
	for _, resource := range configs {
		topic, ok := s.Topics[resource.Name]
		if !ok {
			continue
		}
		for _, c := range resource.Configs {
			if c.Source == kmsg.ConfigSourceDynamicTopicConfig {
				topic.Configs[c.Key] = c.MaybeValue()
			}
		}
	}
}

func (b *broker) addGroups(t *testing.T, s snapshot, chosen func(name string) bool) {
	t.Helper()
	groups, err := b.admin.ListGroups(t.Context())
	if err != nil {
		t.Fatalf("snapshot groups: %v", err)
	}
	for name, listed := range groups {
		if !chosen(name) {
			continue
		}
		g := groupSnapshot{Type: listed.GroupType, Offsets: map[string]map[int32]offsetSnapshot{}}
		offsets, err := b.admin.FetchOffsets(t.Context(), name)
		if err != nil {
			t.Fatalf("snapshot offsets of %s: %v", name, err)
		}
		offsets.Each(func(o kadm.OffsetResponse) {
			if o.At < 0 {
				return
			}
			if g.Offsets[o.Topic] == nil {
				g.Offsets[o.Topic] = map[int32]offsetSnapshot{}
			}
			g.Offsets[o.Topic][o.Partition] = offsetSnapshot{At: o.At, Epoch: o.LeaderEpoch, Metadata: o.Metadata}
		})
		s.Groups[name] = g
	}
}

// only keeps the topics and groups whose name is chosen.
func (s snapshot) only(chosen func(name string) bool) snapshot {
	s.Topics, s.Groups = maps.Clone(s.Topics), maps.Clone(s.Groups)
	maps.DeleteFunc(s.Topics, func(name string, _ topicSnapshot) bool { return !chosen(name) })
	maps.DeleteFunc(s.Groups, func(name string, _ groupSnapshot) bool { return !chosen(name) })
	return s
}

// owns chooses everything that belongs to an application: its group, internal topics (also below another prefix) and the
// topics that its options name.
func (a *app) owns(name string) bool {
	switch name {
	case a.opts.orders, a.opts.customers, a.opts.regions, a.opts.totals, a.opts.joined:
		return true
	}
	if slices.Contains(a.opts.more, name) {
		return true
	}
	for _, id := range append(a.ids(), a.opts.flags["internal-prefix"]) {
		if id != "" && (name == id || strings.HasPrefix(name, id+"-")) {
			return true
		}
	}
	return false
}

// requireUnchanged compares all that the application owns with how it was.
func (a *app) requireUnchanged(t *testing.T, before snapshot) {
	t.Helper()
	want, got := before.only(a.owns), a.b.snapshotOf(t, a.owns)
	if len(want.Topics) == 0 {
		t.Fatalf("snapshot of %s is empty", a.opts.id)
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Errorf("the cluster has changed for %s (-before +after):\n%s", a.opts.id, d)
	}
}

// quietSnapshot waits until nothing that the application owns has moved for half a second: its last commits trail its
// last answers.
func (a *app) quietSnapshot(t *testing.T) snapshot {
	t.Helper()
	var last snapshot
	same := 0
	eventually(t, 30*time.Second, a.opts.id+" is quiet", func() (bool, string) {
		now := a.b.snapshotOf(t, a.owns)
		d := cmp.Diff(last, now)
		last, same = now, same+1
		if d != "" {
			same = 0
		}
		return same >= 10, d
	})
	return last
}
