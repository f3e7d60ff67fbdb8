package ui

import (
	"cmp"
	"context"
	"slices"
	"strconv"
	"strings"
	"time"

	tea "charm.land/bubbletea/v2"

	"resurge/discovery"
	"resurge/streams"
)

// followEvery is how often a group is looked at while it is followed, unless the
// operator says otherwise: one of followSteps.
const followEvery = 5 * time.Second

var followSteps = []time.Duration{time.Second, 2 * time.Second, 5 * time.Second, 10 * time.Second, 15 * time.Second, 30 * time.Second, time.Minute}

// followNotes is how many changes are kept to be read.
const followNotes = 50

// watch is a group that is looked at again and again. One question is out at
// a time: the next look waits for the last.
type watch struct {
	on      bool
	every   time.Duration
	request request
	asked   time.Time
	fold    discovery.Follow
	look    discovery.Inventory // the newest
	moves   discovery.Moves
	err     error     // of the newest look
	failed  time.Time // when it came
	notes   []noted
}

// noted is a change in words.
type noted struct {
	at   time.Time
	text string
}

// start begins to follow.
func (s *applicationScreen) start(every time.Duration) tea.Cmd {
	s.follow.request.drop()
	s.follow = watch{on: true, every: min(max(every, followSteps[0]), followSteps[len(followSteps)-1]), look: s.follow.look, notes: s.follow.notes}
	s.columns()
	s.resize()
	return s.ask()
}

// toggle begins to follow, or ends it. What was seen stays; its pace would be of
// the past.
func (s *applicationScreen) toggle() tea.Cmd {
	if !s.follow.on {
		return s.start(s.follow.every)
	}
	s.follow.request.drop()
	s.follow = watch{every: s.follow.every, look: s.follow.look, notes: s.follow.notes}
	s.columns()
	s.show()
	return nil
}

// pace takes the next longer or shorter time between looks.
func (s *applicationScreen) pace(by int) {
	i, found := slices.BinarySearch(followSteps, s.follow.every)
	if !found && by > 0 {
		i--
	}
	s.follow.every = followSteps[min(max(i+by, 0), len(followSteps)-1)]
}

func (s *applicationScreen) followActions() []action {
	off, label, help := "", "follow", "follow: look again and again, mark what moved, and tell the pace"
	if !s.follow.on {
		off = "it is not followed; f follows"
	} else {
		label = "stop following"
	}
	if !s.loaded && !s.follow.on {
		return []action{
			{keys: []string{"f"}, label: label, help: help, off: "it is not read yet", do: s.toggle},
			{keys: []string{"+", "="}, help: "look less often, up to every 60 s", off: off},
			{keys: []string{"-"}, help: "look more often, up to every second", off: off},
		}
	}
	return []action{
		{keys: []string{"f"}, label: label, help: help, do: s.toggle},
		{keys: []string{"+", "="}, help: "look less often, up to every 60 s", off: off, do: func() tea.Cmd { s.pace(1); return nil }},
		{keys: []string{"-"}, help: "look more often, up to every second", off: off, do: func() tea.Cmd { s.pace(-1); return nil }},
	}
}

// ask looks once.
func (s *applicationScreen) ask() tea.Cmd {
	ex, group := s.d.s.Explorer, s.app
	s.follow.asked = s.d.now
	return ask(s.d, &s.follow.request, func(ctx context.Context) (discovery.Inventory, error) { return ex.Explore(ctx, group) })
}

// nextLook looks when it is time and the last look has come back.
func (s *applicationScreen) nextLook() tea.Cmd {
	if !s.follow.on || s.follow.request.out || s.d.now.Sub(s.follow.asked) < s.follow.every-tick/2 {
		return nil
	}
	return s.ask()
}

// takeLook takes what one look saw. A look that failed is told, and the next one
// comes all the same.
func (s *applicationScreen) takeLook(inv discovery.Inventory, err error) tea.Cmd {
	f := &s.follow
	f.err = err
	if err != nil {
		f.failed = s.d.now
		return nil
	}
	f.look, f.moves = inv, f.fold.Add(inv)
	for _, n := range f.moves.Notes {
		f.notes = append(f.notes, noted{at: inv.TakenAt, text: n})
	}
	f.notes = f.notes[max(len(f.notes)-followNotes, 0):]
	s.d.learn(inv.Cluster)
	if !s.loaded {
		return nil
	}
	s.show()
	if n := len(f.moves.Notes); n > 0 && s.d.top() == screen(s) {
		text := hms(inv.TakenAt) + " " + f.moves.Notes[n-1]
		if n > 1 {
			text += " (and " + grouped(int64(n-1)) + " more, on the overview)"
		}
		s.d.say(markLook, txt(plain, text).cutMiddle(max(s.d.w-4, 8)).text) // what happened stands at the end
	}
	if s.outdated() && !s.request.out && s.d.now.Sub(s.request.since) >= inspectAtMost {
		return s.refresh()
	}
	return nil
}

// outdated reports whether the findings tell of another state of the group than
// the newest look.
func (s *applicationScreen) outdated() bool {
	is, was := s.data.inv.Group, s.full.inv.Group
	return !s.group && (is.State != was.State || is.Exists != was.Exists || (is.Fault == nil) != (was.Fault == nil) || len(is.Members) != len(was.Members))
}

// merged puts what a light look saw into the full one: positions, members and
// tasks. Roles and evidence stay: a light look knows none.
func merged(full, look discovery.Inventory) discovery.Inventory {
	out := full
	out.TakenAt, out.Cluster, out.Group, out.Tasks = look.TakenAt, look.Cluster, look.Group, look.Tasks
	out.Activity, out.CommitsFault = look.Activity, look.CommitsFault
	seen := make(map[string]discovery.Topic, len(look.Topics))
	for _, t := range look.Topics {
		seen[t.Name] = t
	}
	out.Topics = slices.Clone(full.Topics)
	for i := range out.Topics {
		t := &out.Topics[i]
		l, ok := seen[t.Name]
		if !ok {
			continue
		}
		delete(seen, t.Name)
		t.Partitions, t.Fault = l.Partitions, l.Fault
		if !l.ID.IsZero() {
			t.ID = l.ID
		}
	}
	for _, t := range look.Topics {
		if _, ok := seen[t.Name]; ok {
			out.Topics = append(out.Topics, t)
		}
	}
	for _, g := range look.Gaps {
		if !slices.ContainsFunc(out.Gaps, func(o *streams.Fault) bool { return o.Error() == g.Error() }) {
			out.Gaps = append(slices.Clip(out.Gaps), g)
		}
	}
	return out
}

// paceLine says how fast the group reads, and when it will have caught up.
func (s *applicationScreen) paceLine(w int) line {
	f := s.follow
	if f.err != nil {
		again := f.every - s.d.since(f.asked)
		text := "look failed " + age(s.d.since(f.failed)) + " ago: " + brief(f.err)
		if again > 0 && !f.request.out {
			text = "look failed, next in " + short(max(again, time.Second)) + ": " + brief(f.err)
		}
		return line{gap(1), s.d.th.mark(markLook), txt(warn, " "+text)}
	}
	if f.look.TakenAt.IsZero() {
		return line{gap(1), s.d.th.mark(markWorking), txt(plain, " following; the first look is out")}
	}
	pace := f.moves.Whole
	if pace.Consumed == nil && pace.Produced == nil {
		return line{gap(1), s.d.th.mark(markWorking), txt(plain, " following; the pace is known after the next look")}
	}
	end, tone := catchUp(pace)
	out := line{gap(1), s.d.th.mark(markWorking), txt(plain, " reads "+rate(pace.Consumed)), txt(plain, " · written "+rate(pace.Produced)), txt(tone, " · "+end)}
	if n := len(f.moves.Changed); n > 0 && out.width()+24 < w {
		out = append(out, txt(muted, " · "+plural(n, "partition")+" moved *"))
	}
	return out
}

// catchUp is the time until the lag is gone, in words.
func catchUp(p discovery.Pace) (text string, t tone) {
	switch {
	case p.CatchUp != nil && *p.CatchUp == 0:
		return "caught up", plain
	case p.CatchUp != nil:
		return "caught up in " + long(*p.CatchUp), plain
	case p.Falling && p.Consumed != nil && *p.Consumed == 0:
		return "not moving", danger
	case p.Falling:
		return "falling behind", danger
	}
	return "catch-up ?", warn
}

// rate writes a number per second.
func rate(n *float64) string {
	switch {
	case n == nil:
		return unknown
	case *n > 0 && *n < 10:
		return strings.TrimSuffix(strconv.FormatFloat(*n, 'f', 1, 64), ".0") + "/s"
	}
	return grouped(int64(*n+0.5)) + "/s"
}

// moved marks what a look saw moving, beside the look before.
func (s *applicationScreen) moved(topic string, partition int32) span {
	if s.follow.on && s.follow.moves.Changed[streams.TopicPartition{Topic: topic, Partition: partition}] {
		return txt(accent, markMoved)
	}
	return gap(0)
}

// topicMoved marks a topic of which a partition moved.
func (s *applicationScreen) topicMoved(t discovery.Topic) span {
	for _, p := range t.Partitions {
		if m := s.moved(t.Name, p.Partition); m.width > 0 {
			return m
		}
	}
	return gap(0)
}

// noteLines are the changes that were seen while following, the newest first.
func (s *applicationScreen) noteLines(w int) []line {
	notes := slices.Clone(s.follow.notes)
	slices.SortStableFunc(notes, func(a, b noted) int { return cmp.Compare(b.at.UnixNano(), a.at.UnixNano()) })
	out := make([]line, 0, len(notes)+2)
	for i, n := range notes {
		if i == 0 {
			out = append(out, line{}, line{gap(1), txt(muted, "seen while following")})
		}
		out = append(out, hang(line{gap(1), txt(muted, hms(n.at)), gap(1)}, plain, n.text, w)...)
	}
	return out
}
