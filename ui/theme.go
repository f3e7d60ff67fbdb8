package ui

import (
	"image/color"
	"strings"

	"github.com/charmbracelet/colorprofile"
	"github.com/charmbracelet/x/ansi"

	"resurge/discovery"
	"resurge/recovery"
)

// tone is what a piece of text means. Every tone repeats what a word or a mark
// already says: without colours nothing is lost.
type tone uint8

const (
	plain tone = iota
	good
	warn
	danger
	muted
	accent
	strong
	shout  // a badge that must not be missed
	chosen // the selected row
	tones
)

// theme turns tones into escape sequences for one terminal.
type theme struct {
	ascii bool
	sgr   [tones]string
}

// palette256 is chosen for a contrast of at least 4.5 to 1 on the background it
// is for; a test computes it.
var palette256 = map[bool]map[tone]ansi.IndexedColor{
	true:  {good: 78, warn: 214, danger: 210, muted: 246, accent: 81},
	false: {good: 22, warn: 94, danger: 124, muted: 240, accent: 25},
}

// palette16 leaves muted text to the faint attribute: bright black cannot be
// read on several common backgrounds.
var palette16 = map[bool]map[tone]ansi.BasicColor{
	true:  {good: ansi.BrightGreen, warn: ansi.BrightYellow, danger: ansi.BrightRed, accent: ansi.BrightCyan},
	false: {good: ansi.Green, warn: ansi.Magenta, danger: ansi.Red, accent: ansi.Blue},
}

func newTheme(profile colorprofile.Profile, dark, ascii bool) *theme {
	th := &theme{ascii: ascii}
	if profile <= colorprofile.NoTTY {
		th.ascii = true
		return th
	}
	for t := good; t < tones; t++ {
		st := ansi.NewStyle()
		if c := toneColor(profile, dark, t); c != nil {
			st = st.ForegroundColor(c)
		}
		switch t {
		case strong, danger:
			st = st.Bold()
		case shout:
			st = st.Bold().Reverse(true)
		case chosen:
			st = st.Reverse(true)
		case muted:
			if profile <= colorprofile.ANSI {
				st = st.Faint()
			}
		case plain, good, warn, accent, tones:
		}
		if len(st) > 0 {
			th.sgr[t] = st.String()
		}
	}
	return th
}

func toneColor(profile colorprofile.Profile, dark bool, t tone) color.Color {
	switch {
	case profile >= colorprofile.ANSI256:
		if c, ok := palette256[dark][t]; ok {
			return c
		}
	case profile == colorprofile.ANSI:
		if c, ok := palette16[dark][t]; ok {
			return c
		}
	}
	return nil
}

// The marks. Unknown is never drawn as good.
const (
	markGood    = "✓"
	markLook    = "!"
	markBad     = "✗"
	markNothing = "·"
	markWorking = "…"
	markUnknown = "?"
)

// markMoved stands beside what moved since the look before.
const markMoved = "*"

// mark gives a mark as a piece of text, two cells wide in ASCII ("ok").
func (th *theme) mark(m string) span {
	t := map[string]tone{markGood: good, markLook: warn, markBad: danger, markNothing: muted, markWorking: accent, markUnknown: warn}[m]
	if th.ascii && m == markGood {
		m = "ok"
	}
	return txt(t, m)
}

// markWidth is the width of a column of marks.
func (th *theme) markWidth() int {
	if th.ascii {
		return 2
	}
	return 1
}

func levelMark(l discovery.Level) string {
	switch l {
	case discovery.LevelOK:
		return markGood
	case discovery.LevelInfo:
		return markNothing
	case discovery.LevelLook:
		return markLook
	case discovery.LevelBad:
		return markBad
	case discovery.LevelUnknown:
	}
	return markUnknown
}

func statusMark(s recovery.Status) string {
	switch s {
	case recovery.StatusPending:
		return markNothing
	case recovery.StatusRunning, recovery.StatusWaiting:
		return markWorking
	case recovery.StatusVerified, recovery.StatusSkipped:
		return markGood
	case recovery.StatusFailed:
		return markBad
	case recovery.StatusInDoubt:
	}
	return markUnknown
}

func resultMark(r recovery.Result) string {
	switch r {
	case recovery.ResultOK:
		return markGood
	case recovery.ResultFailed:
		return markBad
	case recovery.ResultSkipped:
		return markNothing
	}
	return markUnknown
}

// toASCII maps every character that we draw with to one ASCII character of the
// same width.
var toASCII = strings.NewReplacer(
	"…", "~", "·", "-", "✓", "+", "✗", "x", "─", "-", "│", "|", "›", ">", "▸", ">", "▶", ">", "→", ">", "×", "x", "–", "-",
	"█", "#", "▓", "=", "▒", ":", "░", ".", "▏", ".", "▎", ".", "▍", "-", "▌", "-", "▋", "=", "▊", "=", "▉", "#",
	"▁", "_", "▂", ".", "▃", "-", "▄", "=", "▅", "+", "▆", "*", "▇", "#",
)

// draw puts a line on the screen: cut to w cells, padded to w when pad is set.
// A selected line is one tone from edge to edge.
func (th *theme) draw(l line, w int, selected bool) string {
	var b strings.Builder
	b.Grow(w + 32)
	used, open := 0, ""
	for i := 0; i < len(l) && used < w; i++ {
		s := l[i]
		if s.width > w-used {
			s = s.cut(w - used)
		}
		used += s.width
		want := th.sgr[s.tone]
		if selected {
			want = th.sgr[chosen]
		}
		if want != open && strings.TrimSpace(s.text) == "" && open == "" {
			want = ""
		}
		if want != open {
			if open != "" {
				b.WriteString(ansi.ResetStyle)
			}
			b.WriteString(want)
			open = want
		}
		b.WriteString(th.glyphs(s.text))
	}
	if selected && used < w {
		b.WriteString(strings.Repeat(" ", w-used))
	}
	if open != "" {
		b.WriteString(ansi.ResetStyle)
	}
	return b.String()
}

func (th *theme) glyphs(s string) string {
	if !th.ascii || isASCII(s) {
		return s
	}
	s = toASCII.Replace(s)
	if isASCII(s) {
		return s
	}
	var b strings.Builder
	for _, r := range s {
		if r < 0x80 {
			b.WriteRune(r)
			continue
		}
		b.WriteString(strings.Repeat("?", width(string(r))))
	}
	return b.String()
}
