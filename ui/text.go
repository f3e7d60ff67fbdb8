package ui

import (
	"fmt"
	"strings"
	"unicode"

	"github.com/charmbracelet/x/ansi"

	"resurge/streams"
)

// span is a piece of safe text in one tone. Only txt makes one, so that nothing
// from outside reaches the terminal as it came.
type span struct {
	text  string
	width int
	tone  tone
}

// line is one line of the screen before it is drawn.
type line []span

// txt is the choke point: the only way from a string to the screen.
func txt(t tone, s string) span {
	if n, ok := steady(s); ok {
		return span{text: s, width: n, tone: t}
	}
	s = safe(s)
	return span{text: s, width: width(s), tone: t}
}

// lower writes text from outside in lower case, once it is safe: bytes that are no
// UTF-8 would else turn into other characters.
func lower(s string) string { return strings.ToLower(txt(plain, s).text) }

func txtf(t tone, format string, args ...any) span { return txt(t, fmt.Sprintf(format, args...)) }

// steady reports whether s is printable ASCII and what we draw with, which is
// almost everything, and how many cells that takes: one for each character.
func steady(s string) (cells int, ok bool) {
	for _, r := range s {
		if (r < 0x20 || r > 0x7e) && !drawn(r) {
			return 0, false
		}
		cells++
	}
	return cells, true
}

// drawn reports whether the character is one of those that we draw with.
func drawn(r rune) bool {
	switch r {
	case '…', '·', '✓', '✗', '›', '▸', '▶', '→', '×', '–', '─', '│':
		return true
	}
	return r >= '▁' && r <= '▓'
}

func isASCII(s string) bool {
	for i := range len(s) {
		if s[i] >= 0x80 {
			return false
		}
	}
	return true
}

// safe escapes what a terminal would obey (controls, bidirectional overrides)
// and what terminals draw at different widths (emoji, joiners, combining marks),
// which would leave ghost rows behind.
func safe(s string) string {
	s = streams.Quote(s)
	if isASCII(s) {
		return s
	}
	var b strings.Builder
	for _, r := range s {
		if unsteady(r) {
			fmt.Fprintf(&b, `\u{%x}`, r)
			continue
		}
		b.WriteRune(r)
	}
	return b.String()
}

func unsteady(r rune) bool {
	if r < 0xa0 {
		return r < 0x20 || r > 0x7e
	}
	if !unicode.IsPrint(r) || unicode.Is(unicode.M, r) {
		return true
	}
	if width(string(r)) == 1 {
		return false
	}
	return !unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Hangul) && (r < 0x3000 || r > 0x303f) && (r < 0xff01 || r > 0xff60)
}

func width(s string) int {
	if n, ok := steady(s); ok {
		return n
	}
	return ansi.StringWidth(s)
}

const ellipsis = "…"

// cut shortens the text to w cells.
func (s span) cut(w int) span {
	if s.width <= w {
		return s
	}
	switch {
	case w <= 0:
		s.text = ""
	case w == 1:
		s.text = ellipsis
	default:
		s.text = ansi.Truncate(s.text, w, ellipsis)
	}
	s.width = width(s.text)
	return s
}

// cutMiddle shortens the text to w cells and keeps both ends, most of the tail:
// what tells Streams' internal topics apart stands there.
func (s span) cutMiddle(w int) span {
	if s.width <= w || w < 8 {
		return s.cut(w)
	}
	head := (w - 1) / 4
	tail := w - 1 - head
	s.text = ansi.Truncate(s.text, head, "") + ellipsis + ansi.TruncateLeft(s.text, s.width-tail, "")
	s.width = width(s.text)
	return s
}

const blanks = "                                                                                                                                                                "

func spaces(n int) string {
	switch {
	case n <= 0:
		return ""
	case n <= len(blanks):
		return blanks[:n]
	}
	return strings.Repeat(" ", n)
}

// left and right fill a cell of w.
func (s span) left(w int) span {
	s = s.cut(w)
	s.text, s.width = s.text+spaces(w-s.width), w
	return s
}

func (s span) right(w int) span {
	s = s.cut(w)
	s.text, s.width = spaces(w-s.width)+s.text, w
	return s
}

func (s span) in(t tone) span { s.tone = t; return s }

func (l line) width() int {
	n := 0
	for _, s := range l {
		n += s.width
	}
	return n
}

// gap is n blank cells.
func gap(n int) span { n = max(n, 0); return span{text: spaces(n), width: n} }

// spread puts a on the left and b on the right of w cells; a gives way.
func spread(a, b line, w int) line {
	room := w - b.width()
	if len(b) > 0 {
		room--
	}
	out := make(line, 0, len(a)+len(b)+1)
	used := 0
	for _, s := range a {
		s = s.cut(max(room-used, 0))
		used += s.width
		out = append(out, s)
	}
	out = append(out, gap(w-used-b.width()))
	return append(out, b...)
}

// wrap breaks a text into lines of at most w cells; line feeds in it break too.
func wrap(t tone, text string, w int) []span {
	w = max(w, 4)
	var out []span
	for para := range strings.SplitSeq(strings.TrimRight(text, "\n"), "\n") {
		s := txt(t, para)
		if s.width <= w {
			out = append(out, s)
			continue
		}
		for _, part := range breakWords(s.text, w) {
			out = append(out, span{text: part, width: width(part), tone: t})
		}
	}
	return out
}

// breakWords breaks at blanks only: a name that is broken at a hyphen reads like
// another name. What is longer than a line is cut at its end.
func breakWords(text string, w int) []string {
	var out []string
	cur, used := "", 0
	for i, word := range strings.Split(text, " ") {
		n := width(word)
		if i > 0 && used+1+n <= w {
			cur, used = cur+" "+word, used+1+n
			continue
		}
		if i > 0 {
			out = append(out, cur)
		}
		for n > w {
			piece := ansi.Truncate(word, w, "")
			if piece == "" {
				break
			}
			out = append(out, piece)
			word = word[len(piece):]
			n = width(word)
		}
		cur, used = word, n
	}
	return append(out, cur)
}

// page collects the lines of a view and never holds more than fit.
type page struct {
	th   *theme
	w, h int
	rows []string
}

func newPage(th *theme, w, h int) *page {
	return &page{th: th, w: w, h: h, rows: make([]string, 0, max(h, 0))}
}

func (p *page) room() int { return p.h - len(p.rows) }

func (p *page) add(spans ...span) {
	if p.room() > 0 {
		p.rows = append(p.rows, p.th.draw(spans, p.w, false))
	}
}

func (p *page) addLines(ls ...line) {
	for _, l := range ls {
		p.add(l...)
	}
}

func (p *page) rule() { p.add(txt(muted, strings.Repeat("─", p.w))) }

// fill adds blank lines until only n lines are left.
func (p *page) fill(left int) {
	for p.room() > left {
		p.rows = append(p.rows, "")
	}
}

func (p *page) String() string { return strings.Join(p.rows, "\n") }

// hang lays out text behind a head of fixed width, wrapped, the further lines
// under the first one.
func hang(head line, t tone, text string, w int) []line {
	indent := head.width()
	var out []line
	for i, s := range wrap(t, text, w-indent) {
		if i == 0 {
			out = append(out, append(append(line{}, head...), s))
			continue
		}
		out = append(out, line{gap(indent), s})
	}
	return out
}
