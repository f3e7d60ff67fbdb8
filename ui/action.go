package ui

import (
	"slices"
	"strings"

	tea "charm.land/bubbletea/v2"
)

// action is what a key does, as a record: the line of keys, the help and the
// documentation's table are made from it.
type action struct {
	keys  []string // as Bubble Tea names them
	short string   // in the line of keys, instead of the first key
	label string   // in the line of keys; empty: in the help only
	help  string
	off   string // why it cannot be used now; empty: it can
	do    func() tea.Cmd
	// move says that the key is one of those that every list has.
	move bool
}

// on finds the action for a key.
func on(actions []action, key string) (action, bool) {
	for _, a := range actions {
		if slices.Contains(a.keys, key) {
			return a, true
		}
	}
	return action{}, false
}

var keyNames = strings.NewReplacer("ctrl+", "ctrl-", "shift+", "shift-", "pgdown", "PgDn", "pgup", "PgUp", "space", "space")

func keyName(k string) string { return keyNames.Replace(k) }

func (a action) names() string {
	out := make([]string, 0, len(a.keys))
	for _, k := range a.keys {
		out = append(out, keyName(k))
	}
	return strings.Join(out, " ")
}

// footer is the line of keys. What cannot be used now stands in parentheses and
// says why when it is pressed. The last keys, the way out and the help, stay
// when the line is short.
func footer(actions, always []action, w int) line {
	tail := make(line, 0, 3*len(always))
	for _, a := range always {
		tail = append(tail, keyLabel(a)...)
	}
	out := line{gap(1)}
	for _, a := range actions {
		if a.label == "" {
			continue
		}
		l := keyLabel(a)
		if out.width()+l.width()+tail.width() > w {
			continue
		}
		out = append(out, l...)
	}
	return append(out, tail...)
}

func keyLabel(a action) line {
	key := a.short
	if key == "" {
		key = keyName(a.keys[0])
	}
	if a.off != "" {
		return line{txt(muted, "("+key+" "+a.label+")"), gap(2)}
	}
	return line{txt(strong, key), txt(plain, " "+a.label), gap(2)}
}

// KeyHelp is one row of the table of keys in the documentation.
type KeyHelp struct {
	Screen string
	Keys   string
	Help   string
}

// KeyTable lists every key of every screen, for the documentation. It is made
// from the records that the console itself uses.
func KeyTable() []KeyHelp {
	d := newDesk(Session{})
	var out []KeyHelp
	add := func(name string, actions []action) {
		for _, a := range actions {
			out = append(out, KeyHelp{Screen: name, Keys: a.names(), Help: a.help})
		}
	}
	add("everywhere", (&Model{d: d}).actions())
	add("lists", moves(&scroller{}))
	for _, s := range everyScreen(d) {
		var own []action
		for _, a := range s.actions() {
			if !a.move {
				own = append(own, a)
			}
		}
		add(s.head().name, own)
	}
	return out
}
