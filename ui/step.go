package ui

import (
	"fmt"
	"strings"
	"time"

	"resurge/plans"
)

// stepText is everything about one step of a plan.
func stepText(steps []plans.Step, i int) reading {
	st := steps[i]
	return reading{
		name: "step", title: fmt.Sprintf("step %s of %d", st.ID, len(steps)), what: "the step's commands",
		copy: func() string {
			if len(st.CLI) == 0 {
				return st.Title
			}
			return strings.Join(st.CLI, "\n")
		},
		lines: func(_ *theme, w int) []line { return stepLines(st, w) },
	}
}

func stepLines(st plans.Step, w int) []line {
	f := &facts{w: w, name: 10}
	f.lines = append(f.lines, hang(line{gap(1), txtf(muted, "%s ", st.ID)}, strong, st.Title, w)...)
	f.blank()
	risk := riskText(st)
	f.toned("risk", risk.tone, risk.text)
	f.add("undo", st.Undo)
	if st.Deadline > 0 {
		f.add("waits", "at most "+long(time.Duration(st.Deadline)*time.Second))
	}
	if t := st.Task; t != nil {
		f.add("you do", t.Ask)
		f.add("why", t.Why)
		for _, d := range t.Details {
			f.add("exactly", d)
		}
		if t.Hook {
			f.add("hook", "the configuration has a command for it; nobody is asked")
		}
	}
	f.members(st.Members)
	f.topics(st.Topics)
	f.offsets(st.Offsets)
	if len(st.CLI) > 0 {
		f.blank()
		f.title("the same with Kafka's own tools")
		for _, c := range st.CLI {
			f.lines = append(f.lines, hang(line{gap(3)}, plain, c, w)...)
		}
	}
	return f.lines
}

func (f *facts) members(members []plans.Member) {
	if len(members) == 0 {
		return
	}
	f.blank()
	f.grid([]column{
		{title: "CLIENT", width: 12, flex: 1, mid: true},
		{title: "HOST", width: 12, flex: 1, mid: true, drop: 1},
		{title: "MEMBER", width: 12, flex: 2, mid: true},
	}, len(members), func(i int) []string {
		m := members[i]
		return []string{m.ClientID, m.Host, m.ID}
	})
}

func (f *facts) topics(topics []plans.Topic) {
	if len(topics) == 0 {
		return
	}
	f.blank()
	f.grid([]column{
		{title: "TOPIC", width: 14, flex: 1, mid: true},
		{title: "ROLE", width: 11, drop: 2},
		{title: "PARTS", width: 5, right: true},
		{title: "RECORDS", width: 13, right: true},
		{title: "TOPIC ID", width: 22, drop: 1},
	}, len(topics), func(i int) []string {
		t := topics[i]
		records := unknown
		if t.Records >= 0 {
			records = grouped(t.Records)
		}
		return []string{t.Name, roleName(t.Role), grouped(int64(t.Partitions)), records, t.ID.String()}
	})
	for _, t := range topics {
		if t.Why != "" {
			f.lines = append(f.lines, hang(line{gap(3), txt(muted, t.Name).cutMiddle(max(f.w/2, 12)), txt(muted, ": ")}, plain, t.Why, f.w)...)
		}
	}
}

func (f *facts) offsets(changes []plans.OffsetChange) {
	if len(changes) == 0 {
		return
	}
	f.blank()
	f.grid([]column{
		{title: "TOPIC", width: 8, flex: 1, mid: true},
		{title: "PART", width: 4, right: true},
		{title: "BEFORE", width: 11, right: true},
		{title: "", width: 2},
		{title: "AFTER", width: 11, right: true},
		{title: "MOVES BY", width: 11, right: true, drop: 1},
		{title: "START", width: 11, right: true, drop: 4},
		{title: "END", width: 11, right: true, drop: 3},
	}, len(changes), func(i int) []string {
		c := changes[i]
		before, after, by := commitText(c.Before, "none"), commitText(c.After, "removed"), ""
		if c.Before != nil && c.After != nil {
			by = grouped(*c.After - *c.Before)
		}
		return []string{c.Topic, grouped(int64(c.Partition)), before, "→", after, by, grouped(c.Start), grouped(c.End)}
	})
	for _, c := range changes {
		if c.Note != "" {
			f.lines = append(f.lines, hang(line{gap(1), txt(warn, "! "), txtf(muted, "%s/%d ", c.Topic, c.Partition)}, plain, c.Note, f.w)...)
		}
	}
}
