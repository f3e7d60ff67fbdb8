package ui

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"resurge/discovery"
	"resurge/streams"
)

// hostName is the host as a person writes it: brokers put a slash before it.
func hostName(m streams.Member) string { return strings.TrimPrefix(m.Host, "/") }

// clientName is the client ID without what all of the application's have: its
// ID, the kind of client, most of the process ID. Of order-processor-<uuid>-
// StreamThread-2-consumer it leaves the begin of the UUID and T2.
func clientName(app string, m streams.Member) string {
	name := strings.TrimSuffix(m.ClientID, "-consumer")
	process, thread, ok := cutLast(name, "-StreamThread-")
	if !ok {
		return m.ClientID
	}
	process = strings.TrimPrefix(process, app+"-")
	if len(process) == 36 && strings.Count(process, "-") == 4 {
		process = process[:8] + ellipsis
	}
	return process + " T" + thread
}

func cutLast(s, sep string) (before, after string, found bool) {
	i := strings.LastIndex(s, sep)
	if i < 0 {
		return s, "", false
	}
	return s[:i], s[i+len(sep):], true
}

// memberNames are short names by member ID: host and client; where two members
// have the same, the beginning of the member ID too.
func memberNames(app string, members []streams.Member) map[string]string {
	count := map[string]int{}
	name := func(m streams.Member) string { return strings.TrimSpace(hostName(m) + " " + clientName(app, m)) }
	for _, m := range members {
		count[name(m)]++
	}
	out := make(map[string]string, len(members))
	for _, m := range members {
		n := name(m)
		if count[n] > 1 || n == "" {
			n = strings.TrimSpace(n + " " + m.ID)
		}
		out[m.ID] = n
	}
	return out
}

// member is a member's short name; a member that left meanwhile has its ID.
func (s *applicationScreen) member(id string) string { return cmp.Or(s.names[id], id) }

func memberSearch(m streams.Member) string {
	return strings.Join([]string{m.ClientID, m.Host, m.InstanceID, m.Rack, m.ProcessID, m.Trouble}, " ")
}

// memberOrders are the ways to sort members.
var memberOrders = []ordering[streams.Member]{
	{"by host", func(a, b streams.Member) int { return cmp.Or(cmp.Compare(a.Host, b.Host), byClient(a, b)) }},
	{"by client", byClient},
	{"most partitions first", func(a, b streams.Member) int {
		return cmp.Or(cmp.Compare(len(b.Assigned), len(a.Assigned)), cmp.Compare(len(b.Active), len(a.Active)), byClient(a, b))
	}},
}

func byClient(a, b streams.Member) int {
	return cmp.Or(cmp.Compare(a.ClientID, b.ClientID), cmp.Compare(a.ID, b.ID))
}

func (s *applicationScreen) memberColumns() []column {
	cols := []column{
		{width: s.d.th.markWidth()},
		{title: "HOST", width: 12, flex: 2, mid: true},
		{title: "CLIENT", width: 14, flex: 3, mid: true},
		{title: "RACK", width: 6, flex: 1, drop: 4},
		{title: "STATIC ID", width: 9, flex: 1, mid: true, drop: 5},
		{title: "READS", width: 6, right: true, drop: 2},
		{title: "ACTIVE", width: 6, right: true},
		{title: "STANDBY", width: 7, right: true, drop: 1},
		{title: "WARM-UP", width: 7, right: true, drop: 3},
	}
	if s.group {
		return cols[:6]
	}
	return cols
}

func (s *applicationScreen) memberCells(m streams.Member) []span {
	active, standby, warmup := taskCount(m.Active), taskCount(m.Standby), taskCount(m.Warmup)
	if m.Fault != nil {
		active, standby, warmup = unknown, unknown, unknown
	}
	out := append(make([]span, 0, 9),
		s.d.th.mark(memberMark(m)), txt(plain, hostName(m)), txt(plain, clientName(s.app, m)), txt(plain, dash(m.Rack)), txt(plain, dash(m.InstanceID)),
		txt(plain, grouped(int64(len(m.Assigned)))),
	)
	if s.group {
		return out
	}
	return append(out, txt(plain, active), txt(plain, standby), txt(plain, warmup))
}

// taskCount counts tasks: one that reads several partitions is in the list once
// for each.
func taskCount(ids []streams.TaskID) string {
	seen := make(map[streams.TaskID]bool, len(ids))
	for _, id := range ids {
		seen[id] = true
	}
	return grouped(int64(len(seen)))
}

func memberMark(m streams.Member) string {
	switch {
	case m.Trouble != "":
		return markBad
	case m.Fault != nil:
		return markUnknown
	case m.Target != nil, m.ClassicInNew:
		return markLook
	}
	return markNothing
}

func dash(s string) string { return cmp.Or(s, "-") }

func (s *applicationScreen) viewMembers(p *page) {
	if len(s.members.rows) == 0 {
		s.nobody(p, "member")
		return
	}
	details := detailHeight(p.h)
	s.members.draw(p, p.room()-details)
	if details == 0 {
		return
	}
	p.add()
	m, ok := s.members.selected()
	if !ok {
		s.members.nothing(p)
		return
	}
	if m.Trouble != "" {
		p.addLines(hang(line{gap(1), s.d.th.mark(markBad), gap(1)}, plain, "it reports: "+m.Trouble, p.w)...)
	}
	if m.Fault != nil {
		p.addLines(hang(line{gap(1), s.d.th.mark(markUnknown), gap(1)}, plain, brief(m.Fault), p.w)...)
	}
	f := &facts{w: p.w, name: 9}
	f.add("client ID", m.ClientID)
	if !s.group {
		f.add("tasks", tasks(m))
	}
	f.add("versions", memberVersions(m))
	f.add("endpoint", m.Endpoint)
	f.add("process", m.ProcessID)
	p.addLines(f.lines...)
}

// nobody says that there is no member, or that it is not known.
func (s *applicationScreen) nobody(p *page, what string) {
	inv := s.data.inv
	if f := inv.Group.Fault; f != nil {
		p.addLines(hang(line{gap(1), s.d.th.mark(markUnknown), gap(1)}, plain, "The "+what+"s are not known: "+brief(f), p.w)...)
		if !s.group {
			p.add(gap(3), txt(strong, "p"), txt(plain, " shows which rights are missing"))
		}
		return
	}
	text := "No " + what + ": no instance is connected. r reads it again when one was started, f follows it."
	if what == "task" && len(inv.Group.Members) > 0 {
		text = "No task is known: members are there, but none has told its tasks. r reads it again."
	}
	p.addLines(hang(line{gap(1), s.d.th.mark(markNothing), gap(1)}, plain, text, p.w)...)
}

// tasks are a member's tasks in words.
func tasks(m streams.Member) string {
	out := "active " + taskList(m.Active) + " · standby " + taskList(m.Standby)
	if len(m.Warmup) > 0 {
		out += " · warm-up " + taskList(m.Warmup)
	}
	return out
}

func taskList(ids []streams.TaskID) string {
	var out []string
	for _, id := range ids {
		if t := id.String(); !slices.Contains(out, t) {
			out = append(out, t)
		}
	}
	if len(out) == 0 {
		return "none"
	}
	return strings.Join(out, " ")
}

// memberVersions are the versions that a member told; empty: none.
func memberVersions(m streams.Member) string {
	var out []string
	if m.Userdata > 0 {
		v := fmt.Sprintf("metadata version %d", m.Userdata)
		if m.UserdataLatest > m.Userdata {
			v += fmt.Sprintf(", knows %d: an upgrade is under way", m.UserdataLatest)
		}
		out = append(out, v)
	}
	if m.Epoch > 0 {
		out = append(out, fmt.Sprintf("member epoch %d", m.Epoch))
	}
	if m.TopologyEpoch > 0 {
		out = append(out, fmt.Sprintf("topology epoch %d", m.TopologyEpoch))
	}
	if m.ClassicInNew {
		out = append(out, "classic protocol in a newer group: an upgrade is under way")
	}
	return strings.Join(out, " · ")
}

// groupVersions are the versions that the members speak, or that the group has.
func groupVersions(g streams.Group) string {
	seen := map[int32]bool{}
	for _, m := range g.Members {
		if m.Userdata > 0 {
			seen[m.Userdata] = true
		}
	}
	out := make([]string, 0, len(seen))
	for _, v := range slices.Sorted(maps.Keys(seen)) {
		out = append(out, fmt.Sprint(v))
	}
	switch {
	case len(out) > 1:
		return "metadata versions " + strings.Join(out, " and ") + ": an upgrade is under way"
	case len(out) == 1:
		return "metadata version " + out[0]
	case g.Epoch == 0:
		return ""
	}
	text := fmt.Sprintf("group epoch %d", g.Epoch)
	if g.TargetEpoch != g.Epoch {
		text += fmt.Sprintf(", assignment still of %d", g.TargetEpoch)
	}
	if g.TopologyEpoch > 0 {
		text += fmt.Sprintf(", topology epoch %d", g.TopologyEpoch)
	}
	return text
}

// memberText is everything about one member.
func (s *applicationScreen) memberText(m streams.Member) reading {
	return reading{
		name: "member", title: s.member(m.ID), what: "the member",
		copy:  func() string { return strings.Join([]string{m.ID, m.ClientID, m.Host}, "\n") },
		lines: func(_ *theme, w int) []line { return memberLines(m, !s.group, w) },
	}
}

func memberLines(m streams.Member, app bool, w int) []line {
	f := &facts{w: w, name: 14}
	f.toned("reports", danger, m.Trouble)
	if m.Fault != nil {
		f.toned("not known", warn, brief(m.Fault))
	}
	f.add("member", m.ID)
	f.add("client ID", m.ClientID)
	f.add("host", hostName(m))
	f.add("rack", m.Rack)
	for _, k := range slices.Sorted(maps.Keys(m.Tags)) {
		f.add("tag", k+"="+m.Tags[k])
	}
	f.add("process", m.ProcessID)
	f.add("static ID", m.InstanceID)
	f.add("endpoint", m.Endpoint)
	f.add("versions", memberVersions(m))
	if !m.NextRebalance.IsZero() {
		f.add("next rebalance", "a probing one is due at "+hms(m.NextRebalance)+" UTC")
	}
	f.blank()
	if app {
		f.add("active", taskList(m.Active))
		f.add("standby", taskList(m.Standby))
		f.add("warm-up", taskList(m.Warmup))
	}
	if t := m.Target; t != nil {
		f.toned("should have", warn, "active "+taskList(t.Active)+" · standby "+taskList(t.Standby)+" · warm-up "+taskList(t.Warmup))
	}
	f.addSums(m)
	f.blank()
	f.add("subscribed", strings.Join(m.Subscribed, " "))
	assigned := slices.SortedFunc(slices.Values(m.Assigned), streams.TopicPartition.Compare)
	f.add("assigned", plural(len(assigned), "partition"))
	for _, tp := range assigned {
		text := tp.String()
		if id, ok := m.Sources[tp]; ok {
			text += "  task " + id.String()
		}
		f.lines = append(f.lines, hang(line{gap(3)}, plain, text, w)...)
	}
	return f.lines
}

// addSums are what a member said of the tasks on its disk.
func (f *facts) addSums(m streams.Member) {
	if !m.ReportedTasks {
		return
	}
	if len(m.OffsetSums) == 0 {
		f.add("on its disk", "no task, as it said itself")
	}
	for _, id := range slices.SortedFunc(maps.Keys(m.OffsetSums), streams.TaskID.Compare) {
		sum, end := m.OffsetSums[id], m.EndSums[id]
		text := id.String() + " at offset sum " + grouped(sum)
		switch {
		case sum == streams.OffsetSumRunning:
			text = id.String() + " running, caught up"
		case sum < 0:
			text = id.String() + " position ?"
		case end > 0:
			text += ", " + grouped(max(end-sum, 0)) + " to go"
		}
		f.add("on its disk", text)
	}
}

// memberNamed finds a member by its ID.
func memberNamed(inv discovery.Inventory, id string) (streams.Member, bool) {
	for _, m := range inv.Group.Members {
		if m.ID == id {
			return m, true
		}
	}
	return streams.Member{}, false
}
