package ui

import (
	"strings"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/x/ansi"
)

// maxCopy is what terminals and multiplexers are known to take by OSC 52: 100,000
// bytes with the sequence, in base64.
const maxCopy = 74_000

// copied is the answer of the second route.
type copied struct {
	place string
	err   error
}

// copyText sends text to the clipboard of the terminal that the operator sits
// at. Nothing answers, so nothing is claimed: the message names the route. What
// is copied is what is seen, with escapes in the place of controls.
func (d *desk) copyText(what, text string) tea.Cmd {
	lines := strings.Split(strings.TrimRight(text, "\n"), "\n")
	for i, l := range lines {
		lines[i] = txt(plain, l).text
	}
	text = strings.Join(lines, "\n")
	var cmds []tea.Cmd
	if len(text) > maxCopy {
		d.say(markLook, what+" is too long for a clipboard by OSC 52 ("+grouped(int64(len(text)))+" bytes)")
	} else {
		seq, route := d.clipboard(text)
		cmds = append(cmds, tea.Raw(seq))
		d.say(markNothing, "Sent "+what+" to the clipboard by "+route+".")
	}
	if d.s.Copy != nil {
		keep := d.s.Copy
		cmds = append(cmds, func() tea.Msg {
			place, err := keep(text)
			return copied{place: place, err: err}
		})
	}
	return tea.Batch(cmds...)
}

// clipboard is the sequence and how it goes.
func (d *desk) clipboard(text string) (seq, route string) {
	seq = ansi.SetSystemClipboard(text)
	switch d.mux {
	case "tmux":
		return ansi.TmuxPassthrough(seq), "OSC 52 through tmux; it needs allow-passthrough"
	case "screen":
		return ansi.ScreenPassthrough(seq, 0), "OSC 52 through screen; the terminal may refuse"
	}
	return seq, "OSC 52; the terminal may refuse"
}

// onCopied says where the text is too.
func (d *desk) onCopied(msg copied) {
	if msg.err != nil {
		d.say(markLook, "Not kept in a file: "+msg.err.Error()+". "+d.note.text)
		return
	}
	d.say(markNothing, "Kept in "+msg.place+". "+d.note.text)
}
