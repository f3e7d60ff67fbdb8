package ui

import (
	"slices"
	"strings"
	"unicode"

	tea "charm.land/bubbletea/v2"
)

// field is a line of text that is being typed.
type field struct {
	runes []rune
	at    int
}

func newField(text string) field {
	r := []rune(text)
	return field{runes: r, at: len(r)}
}

func (f *field) String() string { return string(f.runes) }

// insert takes what can be printed; pasted line feeds and controls are dropped.
func (f *field) insert(text string) {
	var in []rune
	for _, r := range text {
		if unicode.IsPrint(r) && !unsteady(r) {
			in = append(in, r)
		}
	}
	f.runes = slices.Insert(f.runes, f.at, in...)
	f.at += len(in)
}

// key edits and reports whether the key was one for editing.
func (f *field) key(msg tea.KeyPressMsg) bool {
	switch msg.String() {
	case "left", "ctrl+b":
		f.at = max(f.at-1, 0)
	case "right", "ctrl+f":
		f.at = min(f.at+1, len(f.runes))
	case "home", "ctrl+a":
		f.at = 0
	case "end", "ctrl+e":
		f.at = len(f.runes)
	case "backspace", "ctrl+h":
		f.remove(f.at-1, f.at)
	case "delete":
		f.remove(f.at, f.at+1)
	case "ctrl+u":
		f.remove(0, f.at)
	case "ctrl+k":
		f.remove(f.at, len(f.runes))
	case "ctrl+w":
		f.remove(f.wordStart(), f.at)
	default:
		if msg.Text == "" || msg.Mod&(tea.ModCtrl|tea.ModAlt) != 0 {
			return false
		}
		f.insert(msg.Text)
	}
	return true
}

func (f *field) remove(from, to int) {
	from, to = max(from, 0), min(to, len(f.runes))
	if from >= to {
		return
	}
	f.runes = slices.Delete(f.runes, from, to)
	if f.at > from {
		f.at = max(f.at-(to-from), from)
	}
}

func (f *field) wordStart() int {
	i := f.at
	for i > 0 && f.runes[i-1] == ' ' {
		i--
	}
	for i > 0 && f.runes[i-1] != ' ' {
		i--
	}
	return i
}

// show returns the part of the text that fits into w cells around the caret,
// and the caret's column in it.
func (f *field) show(w int) (string, int) {
	w = max(w, 2)
	from := 0
	for width(string(f.runes[from:f.at])) > w-1 {
		from++
	}
	to := f.at
	for to < len(f.runes) && width(string(f.runes[from:to+1])) < w {
		to++
	}
	return string(f.runes[from:to]), width(string(f.runes[from:f.at]))
}

// prompt takes a line of text on the message line. Keys that are not for typing
// go on to the screen, so that a list can still be moved.
type prompt struct {
	label  string
	field  field
	keys   string                    // for the line of keys
	note   func(value string) string // shown behind the value
	change func(value string)
	accept func(value string) tea.Cmd
	cancel func() tea.Cmd
	// complete finishes a value that was begun, on tab.
	complete func(value string) string
	// bare takes no text: enter and esc only.
	bare bool
	// stays keeps the prompt open after enter; accept closes it itself.
	stays bool
}

// handle takes a key; false hands it on.
func (p *prompt) handle(d *desk, msg tea.KeyPressMsg) (tea.Cmd, bool) {
	switch msg.String() {
	case "enter":
		if !p.stays {
			d.prompt = nil
		}
		if p.accept != nil {
			return p.accept(p.field.String()), true
		}
		return nil, true
	case "esc":
		d.prompt = nil
		if p.cancel != nil {
			return p.cancel(), true
		}
		return nil, true
	case "tab":
		if p.complete == nil {
			return nil, false
		}
		p.field = newField(p.complete(p.field.String()))
		p.changed()
		return nil, true
	}
	if p.bare {
		return nil, true
	}
	if !p.field.key(msg) {
		return nil, false
	}
	p.changed()
	return nil, true
}

func (p *prompt) changed() {
	if p.change != nil {
		p.change(p.field.String())
	}
}

// line draws the prompt and says where its caret stands.
func (p *prompt) line(w int) (line, int) {
	if p.bare {
		return line{txt(strong, " "+p.label)}, -1
	}
	label := txt(strong, " "+p.label)
	note := span{}
	if p.note != nil {
		note = txt(muted, p.note(p.field.String()))
	}
	label = label.cut(max(w-12, 8))
	if label.width+note.width+14 > w {
		note = span{}
	}
	text, caret := p.field.show(w - label.width - note.width - 2)
	left := line{label, txt(plain, text)}
	if note.width == 0 {
		return left, label.width + caret
	}
	return spread(left, line{note, gap(1)}, w), label.width + caret
}

// words splits a command line at blanks.
func words(s string) []string { return strings.Fields(s) }
