//go:build integration

package integration

import (
	"fmt"
	"strconv"
	"strings"
	"testing"
	"time"
)

// compareOffsets compares the numbers with the cluster's, the partition times with what was produced, and who reads a
// partition with who has its task.
func (d *described) compareOffsets(t *testing.T, got description) {
	t.Helper()
	clients, readers := got.clients(), d.assigned.readers()
	var want, have []string // who reads which partition
	for _, topic := range got.Topics {
		is, ok := d.now.Topics[topic.Name]
		if !ok || len(topic.Partitions) != len(is.Ends) {
			t.Errorf("topic %s: exists %t, %d partitions described, want %d", topic.Name, ok, len(topic.Partitions), len(is.Ends))
			continue
		}
		var newest time.Time
		for _, p := range topic.Partitions {
			d.compareOffset(t, topic.Name, p, is)
			if at := p.Streams.PartitionTime; at.After(newest) {
				newest = at
			}
			partition := fmt.Sprintf("%s-%d", topic.Name, p.Partition)
			want = append(want, partition+" is read by "+readers[partition])
			have = append(have, partition+" is read by "+clients[p.Owner])
		}
		if at, ok := d.newest[topic.Name]; ok && topic.Role == "input" && !newest.Equal(at) {
			t.Errorf("%s: newest partition time %v, want %v", topic.Name, newest, at)
		}
	}
	requireSame(t, "readers", want, have)
}

func (d *described) compareOffset(t *testing.T, topic string, p partitionDescription, want topicSnapshot) {
	t.Helper()
	end := want.Ends[p.Partition]
	for _, c := range []struct {
		what string
		have *int64
		want int64
	}{{"start", p.Start, want.Starts[p.Partition]}, {"end", p.End, end}, {"stable", p.Stable, end}} {
		if c.have == nil || *c.have != c.want {
			t.Errorf("%s-%d: %s is %s, want %d", topic, p.Partition, c.what, number(c.have), c.want)
		}
	}
	commit, committed := d.now.Groups[d.app.opts.id].Offsets[topic][p.Partition]
	switch {
	case !committed && p.Committed != nil, committed && p.Committed == nil:
		t.Errorf("%s-%d: committed is %v, want %v", topic, p.Partition, p.Committed, commit)
	case !committed && p.Lag != nil:
		t.Errorf("%s-%d: lag %d, but nothing is committed", topic, p.Partition, *p.Lag)
	case !committed:
	case p.Committed.Offset != commit.At, p.Committed.Metadata != commit.Metadata, p.Committed.LeaderEpoch != commit.Epoch,
		p.Lag == nil || *p.Lag != end-commit.At:
		t.Errorf("%s-%d: committed %+v, lag %s, want %+v of %d", topic, p.Partition, *p.Committed, number(p.Lag), commit, end)
	}
}

func number(n *int64) string {
	if n == nil {
		return "null"
	}
	return strconv.FormatInt(*n, 10)
}

// clients maps the members' IDs to their client IDs, which the application knows.
func (got description) clients() map[string]string {
	found := map[string]string{}
	for _, m := range got.Group.Members {
		found[m.ID] = m.ClientID
	}
	return found
}

func (d *described) compareTasks(t *testing.T, got description) {
	t.Helper()
	clients := got.clients()
	named := func(members []string) []string {
		found := make([]string, 0, len(members))
		for _, id := range members {
			found = append(found, clients[id])
		}
		return found
	}
	want, have := make([]string, 0, len(d.assigned.Tasks)), make([]string, 0, len(got.Tasks))
	for id, task := range d.assigned.Tasks {
		want = append(want, id+" "+task.String())
	}
	for _, task := range got.Tasks {
		if len(task.Warmup) > 0 {
			t.Errorf("task %s has warm-ups %v", task.Task, task.Warmup)
		}
		sources := make([]string, 0, len(task.Sources))
		for _, s := range task.Sources {
			sources = append(sources, fmt.Sprintf("%s-%d", s.Topic, s.Partition))
		}
		have = append(have, task.Task+" "+taskTruth{sources, named(task.Active), named(task.Standby)}.String())
	}
	requireSame(t, "tasks", want, have)
}

func (d *described) compareMembers(t *testing.T, got description) {
	t.Helper()
	want, have := make([]string, 0, len(d.assigned.Members)), make([]string, 0, len(got.Group.Members))
	for client, m := range d.assigned.Members {
		want = append(want, client+" "+m.String())
	}
	for _, m := range got.Group.Members {
		have = append(have, m.ClientID+" "+memberTruth{m.ProcessID, m.Endpoint, m.Active, m.Standby}.String())
		if !strings.Contains(m.Host, "127.0.0.1") {
			t.Errorf("member %s is on host %q", m.ClientID, m.Host)
		}
	}
	requireSame(t, "members", want, have)
}
