package ui

import (
	"fmt"
	"testing"
	"time"

	"resurge/discovery"
	"resurge/streams"
)

// lookRoutes are the keys to every screen that looks at a cluster.
var lookRoutes = [][]string{
	{"enter", "2", "l"},
	{"enter", "2", "l", "enter"},
	{"enter", "3"},
	{"enter", "3", "enter"},
	{"enter", "4"},
	{"enter", "4", "/", "x"},
	{"enter", "4", "enter"},
	{"enter", "5"},
	{"enter", "5", "enter"},
	{"enter", "6"},
	{"enter", "7"},
	{"enter", "7", "enter"},
	{"enter", "7", "y"},
	{"enter", "f"},
	{"enter", "4", "f"},
	{"enter", "p"},
	{"enter", "p", "enter"},
	{"enter", "p", "y"},
	{"enter", "p", "Y"},
	{"g"},
	{"g", "j"},
	{"g", "?"},
	{"g", "enter"},
	{"g", "j", "j", "enter", "2", "enter"},
	{"g", "j", "j", "enter", "4"},
	{"g", "j", "j", "enter", "5", "enter"},
}

// poisonLook puts a hostile text into what only the screens of discovery show.
func poisonLook(f *fake, s string, name func() string) {
	f.groups.Cluster.ID, f.rights.Cluster.ID, f.rights.Cluster.Principal = s, s, s
	for i := range f.groups.Rows {
		r := &f.groups.Rows[i]
		r.Group, r.State, r.Kind = name(), s, streams.GroupKind(s)
	}
	f.groups.Rows[1].Fault = fault(streams.FaultKind(s), s, s, s)
	f.groups.Gaps = []*streams.Fault{fault(streams.FaultOther, s, s, s)}
	f.inv.Signs, f.inv.Kind = []string{s}, streams.GroupKind(s)
	f.inv.Unseen = []*streams.Fault{fault(streams.FaultOther, s, s, s)}
	tp := streams.TopicPartition{Topic: s, Partition: 3}
	for i := range f.inv.Group.Members {
		m := &f.inv.Group.Members[i]
		m.Rack, m.ProcessID, m.Trouble, m.Tags = s, s, s, map[string]string{s: s}
		m.Subscribed, m.Assigned, m.Userdata, m.UserdataLatest = []string{s}, []streams.TopicPartition{tp}, int32(9+i), 12
		m.Active = append(m.Active, streams.TaskID{Named: s})
		m.Fault, m.Target = fault(streams.FaultOther, s, s, s), &streams.Target{Active: []streams.TaskID{{Named: s}}}
		m.ReportedTasks, m.OffsetSums = true, map[streams.TaskID]int64{{Named: s}: 4}
	}
	id := f.inv.Group.Members[0].ID
	f.inv.Tasks = []discovery.Task{
		{ID: streams.TaskID{Named: s}, Sources: []streams.TopicPartition{tp}, Active: []string{id, s}, Standby: []string{s}, Warmup: []string{id}},
		{ID: streams.TaskID{Subtopology: 1}},
	}
	poisonTopics(f.inv.Topics, s, id)
	f.as.Clocks, f.as.Keeping = sampleClocks(), sampleKeeping()
	for i := range f.as.Clocks {
		c := &f.as.Clocks[i]
		c.Name, c.Detail, c.Advice = s, s, s
	}
	for i := range f.as.Keeping {
		k := &f.as.Keeping[i]
		k.Topic, k.Role, k.Holds, k.Why, k.Archived = name(), streams.Role(s), s, s, s
	}
	for i := range f.rights.Needs {
		n := &f.rights.Needs[i]
		n.Operation, n.Resource, n.Name, n.Why, n.Command = streams.Operation(s), s, name(), s, s
		n.Fault = fault(streams.FaultOther, s, s, s)
	}
	f.rights.Gaps = []*streams.Fault{fault(streams.FaultOther, s, s, s)}
}

func poisonTopics(topics []discovery.Topic, s, member string) {
	for i := range topics {
		t := &topics[i]
		t.Subtopologies, t.Writers, t.Internal = []string{s}, []string{s}, streams.InternalKind(s)
		for j := range t.Partitions {
			p := &t.Partitions[j]
			p.Owner = []string{member, s}[j%2]
			p.Streams = &discovery.StreamsCommit{PartitionTime: now, Emitted: map[string]time.Time{s: now}}
			if j == 1 {
				p.Fault = fault(streams.FaultOther, s, s, s)
			}
		}
	}
}

// TestHostileFollow: what moves, who leaves and what fails while following is
// escaped as well.
func TestHostileFollow(t *testing.T) {
	for _, s := range hostile {
		for _, sz := range sizes {
			for _, tab := range []string{"1", "2", "3", "4", "5"} {
				d := drive(t, sz[0], sz[1], func(f *fake, _ *Session) { poison(f, s) }).settle()
				d.press("enter")
				d.settle().press("f")
				app := d.m.d.top().(*applicationScreen)
				d.f.look = func(n int) discovery.Inventory {
					inv := d.f.inv
					inv.TakenAt = now.Add(time.Duration(n) * time.Second)
					inv.Group.Members = inv.Group.Members[:1+n%2]
					return inv
				}
				for range 3 {
					d.settle()
					app.ask()
				}
				d.settle().press(tab)
				clean(t, fmt.Sprint("follow ", tab), d.m.View().Content)
				fits(t, d.text(), sz[0], sz[1])
				d.f.err = fault(streams.FaultOther, s, s, s)
				app.ask()
				d.settle()
				clean(t, fmt.Sprint("follow failed ", tab), d.m.View().Content)
				fits(t, d.text(), sz[0], sz[1])
			}
		}
	}
}
