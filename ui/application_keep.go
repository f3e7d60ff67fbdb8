package ui

import (
	"cmp"
	"strings"
	"time"

	"resurge/discovery"
)

// left is the time until a clock has run out, as of now; ok is false when it does
// not run or that is not known.
func (s *applicationScreen) left(c discovery.Clock) (time.Duration, bool) {
	switch {
	case !c.Due.IsZero():
		return c.Due.Sub(s.d.now), true
	case c.Left != nil:
		return *c.Left - s.d.since(s.full.inv.TakenAt), true
	}
	return 0, false
}

// leftText is the time left in words.
func leftText(left time.Duration) string {
	if left <= 0 {
		return "ran out " + short(-left) + " ago"
	}
	return "in " + long(left)
}

// clockLines are what runs out, the nearest first, each with the time left.
func (s *applicationScreen) clockLines() []line {
	w, _ := s.d.body()
	if len(s.data.as.Clocks) == 0 {
		return hang(line{gap(1), s.d.th.mark(markUnknown), gap(1)}, plain, "No clock was read: what runs out, and when, is not known. r reads it again.", w)
	}
	clocks := sorted(s.data.as.Clocks, func(a, b discovery.Clock) int {
		x, okX := s.left(a)
		y, okY := s.left(b)
		switch {
		case okX && okY:
			return cmp.Compare(x, y)
		case okX:
			return -1
		case okY:
			return 1
		}
		return cmp.Compare(severity(b.Level), severity(a.Level))
	})
	var out []line
	for _, c := range clocks {
		out = append(out, s.clock(c, w)...)
	}
	return out
}

func (s *applicationScreen) clock(c discovery.Clock, w int) []line {
	text, level := "does not run", c.Level
	left, runs := s.left(c)
	switch {
	case runs:
		text = leftText(left)
		if left <= 0 && severity(level) < severity(discovery.LevelLook) {
			level = discovery.LevelLook // it ran out since it was read
		}
	case level == discovery.LevelUnknown:
		text = "not known when"
	}
	detail := text
	if runs && !c.Due.IsZero() {
		detail += ", " + moment(c.Due, s.d.local)
	}
	if c.Detail != "" {
		detail += "\n" + c.Detail
	}
	return s.advised(level, c.Name, detail, c.Advice, w)
}

var keepColumns = []column{
	{title: "TOPIC", width: 20, flex: 2, mid: true},
	{title: "ROLE", width: 11, drop: 3},
	{title: "BACK UP", width: 7},
	{title: "ARCHIVED", width: 12, flex: 1, drop: 1},
	{title: "HOLDS", width: 16, flex: 2, drop: 2},
}

func keepSearch(k discovery.Keeping) string {
	return strings.Join([]string{k.Topic, roleName(k.Role), string(k.Backup), k.Archived, k.Holds}, " ")
}

// backupText is the answer in words; what is not known is never "no".
func backupText(b discovery.Backup) (string, tone) {
	switch b {
	case discovery.BackupYes:
		return "yes", strong
	case discovery.BackupTail:
		return "tail", strong
	case discovery.BackupNo:
		return "no", plain
	case discovery.BackupOwn:
		return "its own", muted
	case discovery.BackupUnknown:
	}
	return unknown, warn
}

func (s *applicationScreen) keepCells(k discovery.Keeping) []span {
	text, t := backupText(k.Backup)
	return []span{
		txt(plain, k.Topic), txt(muted, roleName(k.Role)), txt(t, text), txt(plain, cmp.Or(k.Archived, unknown)), txt(plain, cmp.Or(k.Holds, unknown)),
	}
}

func (s *applicationScreen) viewKeep(p *page) {
	if len(s.keep.rows) == 0 {
		p.addLines(hang(line{gap(1), s.d.th.mark(markUnknown), gap(1)}, plain, "What to keep was not worked out: nothing is known of what its topics hold. r reads it again.", p.w)...)
		return
	}
	details := detailHeight(p.h)
	s.keep.draw(p, p.room()-details)
	if details == 0 {
		return
	}
	p.add()
	k, ok := s.keep.selected()
	if !ok {
		s.keep.nothing(p)
		return
	}
	p.add(gap(1), txt(strong, k.Topic).cutMiddle(max(p.w-2, 8)))
	f := &facts{w: p.w, name: 8}
	f.add("holds", cmp.Or(k.Holds, unknown))
	f.keeping(k)
	p.addLines(f.lines...)
}

// keeping adds whether a backup needs the topic, why, and what is archived.
func (f *facts) keeping(k discovery.Keeping) {
	text, t := backupText(k.Backup)
	words := map[string]string{
		"yes": "yes", "tail": "the tail: what is not consumed yet", "no": "no", "its own": "not with this application: it is another's, for its own backup", unknown: "not known",
	}
	f.toned("back up", t, words[text])
	f.add("why", cmp.Or(k.Why, unknown))
	f.add("archive", cmp.Or(k.Archived, "not known whether the newest archive has it"))
}

// keepText is everything about one row of what to keep.
func (s *applicationScreen) keepText(k discovery.Keeping) reading {
	return reading{
		name: "keep", title: k.Topic, what: "the row as text",
		copy: func() string { return keepLine(k) },
		lines: func(_ *theme, w int) []line {
			f := &facts{w: w, name: 9}
			f.add("topic", k.Topic)
			f.add("role", roleName(k.Role))
			f.add("holds", cmp.Or(k.Holds, unknown))
			f.keeping(k)
			if t, ok := s.data.inv.Topic(k.Topic); ok {
				f.blank()
				for _, e := range t.Evidence {
					f.add("evidence", e)
				}
			}
			return f.lines
		},
	}
}

func keepLine(k discovery.Keeping) string {
	backup, _ := backupText(k.Backup)
	return strings.Join([]string{k.Topic, roleName(k.Role), "back up: " + backup, k.Why, "archive: " + cmp.Or(k.Archived, unknown)}, "\t")
}
