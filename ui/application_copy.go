package ui

import (
	"strings"

	tea "charm.land/bubbletea/v2"
)

// copy copies what is selected; where nothing can be selected, the whole tab.
func (s *applicationScreen) copy() tea.Cmd {
	what, text := s.copied()
	if text == "" {
		s.d.say(markNothing, "There is nothing to copy.")
		return nil
	}
	return s.d.copyText(what, text)
}

func (s *applicationScreen) copied() (what, text string) {
	switch s.tab {
	case tabTopics:
		from := &s.topics
		if s.asAlike {
			from = &s.alike
		}
		t, _ := from.selected()
		return "the topic's name", t.Name
	case tabTasks:
		if t, ok := s.tasks.selected(); ok {
			return "the task with its members", s.taskLine(t)
		}
		return "", ""
	case tabOffsets:
		if r, ok := s.offsets.selected(); ok {
			return "the partition", r.topic + "-" + grouped(int64(r.Partition))
		}
		return "", ""
	case tabMembers:
		if m, ok := s.members.selected(); ok {
			return "the member", strings.Join([]string{m.ID, m.ClientID, m.Host}, "\n")
		}
		return "", ""
	case tabClocks:
		return "the clocks", s.clocksText()
	case tabKeep:
		lines := make([]string, 0, len(s.keep.rows))
		for _, k := range s.keep.rows {
			lines = append(lines, keepLine(k))
		}
		return "the table of what to keep", strings.Join(lines, "\n")
	}
	return "the findings", s.findingsText()
}

func (s *applicationScreen) findingsText() string {
	text := []string{s.app + " on " + s.data.inv.Cluster.ID + ", " + moment(s.data.inv.TakenAt, nil)}
	for _, f := range s.data.as.Findings {
		text = append(text, string(f.Level)+": "+f.Name+": "+f.Detail)
	}
	if s.group {
		for _, t := range s.data.inv.Topics {
			text = append(text, t.Name+": committed "+s.committedParts(t)+", lag "+s.topicLag(t))
		}
	}
	return strings.Join(text, "\n")
}

func (s *applicationScreen) clocksText() string {
	text := make([]string, 0, len(s.data.as.Clocks))
	for _, c := range s.data.as.Clocks {
		left := "does not run, or not known"
		if d, ok := s.left(c); ok {
			left = leftText(d)
		}
		text = append(text, string(c.Level)+": "+c.Name+": "+left+": "+c.Detail)
	}
	return strings.Join(text, "\n")
}
