package ui

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"
	"unicode"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/colorprofile"
	"github.com/charmbracelet/x/ansi"

	"resurge/plans"
	"resurge/recovery"
	"resurge/streams"
)

// hostile are names that a cluster may hold.
var hostile = []string{
	"\x1b[2J\x1b[Hgone", "\x1b]52;c;cm0gLXJmIC8K\x07", "\x1b]0;title\x07", "a\nb\rc\td", "\u202eevil\u202c", "\u2066iso\u2069", "\x9b31mC1",
	"👩‍👩‍👧‍👦 family", "e\u0301\u0301\u0301 combining", "\xff\xfe invalid", "\u200bzero\u200dwidth", "注文処理", "ＦＵＬＬ", strings.Repeat("long-", 60), "", " ", "[2K", "\u2028line", "ﷺ", "🇩🇪", "✅",
}

var sgr = regexp.MustCompile("\x1b\\[[0-9;]*m")

// clean checks that nothing but our own colours is an escape, and nothing else
// is unseen.
func clean(tb testing.TB, where, content string) {
	tb.Helper()
	text := sgr.ReplaceAllString(content, "")
	for _, r := range text {
		if r != '\n' && (unicode.IsControl(r) || unicode.In(r, unicode.Cf, unicode.M, unicode.Zl, unicode.Zp, unicode.Co) || r == unicode.ReplacementChar) {
			tb.Fatalf("%s: %U on screen:\n%q", where, r, text)
		}
	}
}

// poison puts a hostile text everywhere where text comes from outside.
func poison(f *fake, s string) {
	n := 0
	name := func() string { n++; return s + fmt.Sprint(n) }
	f.survey.Cluster.ID, f.inv.Cluster.ID, f.plan.ClusterID = s, s, s
	for i := range f.survey.Rows {
		r := &f.survey.Rows[i]
		r.Application, r.State, r.Worst, r.Evidence = name(), s, s, []string{s, s}
		r.Protocol = streams.GroupProtocol(s)
	}
	f.survey.Rows[1].Fault = fault(streams.FaultKind(s), s, s, s)
	f.survey.Gaps = []*streams.Fault{fault(streams.FaultOther, s, s, s)}
	f.inv.Group = busyGroup()
	f.inv.Group.State = s
	for i := range f.inv.Group.Members {
		m := &f.inv.Group.Members[i]
		m.ID, m.ClientID, m.Host, m.InstanceID, m.Endpoint = name(), s, s, s, s
	}
	for i := range f.inv.Topics {
		t := &f.inv.Topics[i]
		t.Name, t.Store, t.StoreKind, t.Evidence, t.ReadBy = name(), s, s, []string{s}, []string{s}
		t.Configs = map[string]streams.Config{s: {Value: s, Dynamic: true}}
	}
	f.inv.Gaps = []*streams.Fault{fault(streams.FaultOther, s, s, s)}
	f.inv.Transactions = []streams.Transaction{{TransactionalID: s, State: s, Started: now}}
	for i := range f.as.Findings {
		f.as.Findings[i].Name, f.as.Findings[i].Detail, f.as.Findings[i].Advice = s, s, s
	}
	for i := range f.as.Options {
		f.as.Options[i].Reason, f.as.Options[i].Notes = s, []string{s}
	}
	f.as.Options[0].Estimate.From = s
	poisonPlan(&f.plan, s)
	poisonLook(f, s, name)
}

func poisonPlan(p *plans.Plan, s string) {
	p.Application, p.Summary, p.Warnings, p.Program = s, s, []string{s}, s
	p.Basis = []plans.Fact{{Name: s, Value: s}}
	for i := range p.Steps {
		st := &p.Steps[i]
		st.Title, st.Undo, st.CLI = s, s, []string{s}
		if st.Task != nil {
			st.Task = &plans.Task{Name: s, Ask: s, Why: s, Details: []string{s, s}}
		}
		for j := range st.Topics {
			st.Topics[j].Name, st.Topics[j].Why = s, s
		}
		for j := range st.Offsets {
			st.Offsets[j].Topic, st.Offsets[j].Note = s, s
		}
		st.Members = []plans.Member{{ID: s, ClientID: s, Host: s}}
	}
}

// poisonEvents does the same to what a run tells.
func poisonEvents(events []recovery.Event, s string) []recovery.Event {
	out := append([]recovery.Event(nil), events...)
	for i := range out {
		e := &out[i]
		e.Message, e.Unit, e.By = s, s, s
		for j := range e.Evidence {
			e.Evidence[j] = recovery.Evidence{Check: s, Result: e.Evidence[j].Result, Detail: s}
		}
		e.Parts = append([]recovery.Part(nil), e.Parts...)
		for j := range e.Parts {
			e.Parts[j].Name = s
		}
		if e.Error != nil {
			e.Error = &recovery.Problem{Code: e.Error.Code, Message: s, Hint: s}
		}
		if e.Task != nil {
			e.Task = &plans.Task{Name: s, Ask: s, Why: s, Details: []string{s}}
		}
		if e.Header != nil {
			h := *e.Header
			poisonPlan(&h.Plan, s)
			h.Context, h.Operator = s, s
			e.Header, e.Run = &h, s
		}
	}
	return out
}

// TestB99_HostileText: no byte from outside reaches the terminal as it came, on
// any screen, at any size.
func TestB99_HostileText(t *testing.T) {
	routes := [][]string{
		{},
		{"?"},
		{"/", "x"},
		{"enter"},
		{"enter", "2"},
		{"enter", "2", "enter"},
		{"enter", "c"},
		{"enter", "c", "enter"},
		{"enter", "c", "enter", "j", "e"},
		{"enter", "c", "enter", "p"},
		{"enter", "c", "enter", "p", "w"},
		{"enter", "c", "enter", "p", "y"},
		{"enter", "c", "enter", "p", "enter", "n", "n", "n", "n"},
		{"enter", "c", "enter", "p", "a"},
		{"enter", "c", "enter", "p", "a", "enter"},
		{"enter", "y"},
	}
	for _, s := range hostile {
		for _, sz := range sizes {
			for _, keys := range append(routes, lookRoutes...) {
				d := drive(t, sz[0], sz[1], func(f *fake, se *Session) { poison(f, s); se.Context, se.Operator = s, s }).settle()
				for _, k := range keys {
					d.press(k)
					d.settle()
				}
				v := d.m.View()
				clean(t, fmt.Sprint(keys), v.Content)
				clean(t, "window title", v.WindowTitle)
				fits(t, d.text(), sz[0], sz[1])
			}
			for _, sc := range []*script{newScript().toStop(), newScript().toWatch(), newScript().toEnd(recovery.OutcomeUnverified, badProof()...), partial()} {
				for _, keys := range [][]string{{}, {"l"}, {"t"}, {"t", "enter"}, {"d"}} {
					d := atEnd(&script{events: poisonEvents(sc.events, s)}, time.Minute)(t, sz[0], sz[1])
					d.press(keys...)
					v := d.m.View()
					clean(t, fmt.Sprint("run ", keys), v.Content)
					clean(t, "window title", v.WindowTitle)
					fits(t, d.text(), sz[0], sz[1])
				}
			}
		}
	}
}

// TestCopiedTextIsWhatIsSeen: a name cannot carry a line feed into a shell.
func TestCopiedTextIsWhatIsSeen(t *testing.T) {
	d := drive(t, 80, 24).settle()
	seq, _ := d.m.d.clipboard("x")
	if !strings.HasPrefix(seq, "\x1b]52;c;") {
		t.Errorf("%q", seq)
	}
	d.m.d.s.Copy = func(text string) (string, error) {
		if strings.ContainsAny(text, "\n\x1b\u202e") {
			t.Errorf("copied %q", text)
		}
		return "/tmp/resurge-copied.txt", nil
	}
	msgs := run(t, d.m.d.copyText("the name", "orders\u202e\x1b[2J\rrm -rf ~"))
	for _, m := range msgs {
		d.send(m)
	}
	d.sees("Kept in /tmp/resurge-copied.txt. Sent the name to the clipboard by OSC")
}

func TestCopyRoutes(t *testing.T) {
	for env, want := range map[string]string{"": "by OSC 52;", "TMUX=/tmp/tmux-0/default,1,0": "through tmux", "STY=1.pts": "through screen"} {
		d := drive(t, 120, 24).settle()
		d.send(tea.EnvMsg{env})
		d.press("y")
		d.sees("Sent the application ID to the clipboard", want)
	}
	d := drive(t, 120, 24).settle()
	if cmd := d.m.d.copyText("the log", strings.Repeat("x", maxCopy+1)); cmd != nil {
		t.Error("too long a text was sent")
	}
	d.sees("the log is too long for a clipboard")
}

// TestB91_Widths: what we draw with is one cell wide, nothing of it is an emoji,
// and names that terminals disagree on are escaped.
func TestB91_Widths(t *testing.T) {
	ours := markGood + markLook + markBad + markNothing + markWorking + markUnknown + "─│›▸▶→×–█▓▒░▏▎▍▌▋▊▉▁▂▃▄▅▆▇"
	for _, r := range ours {
		if n := ansi.StringWidth(string(r)); n != 1 || !drawn(r) && r >= 0x80 {
			t.Errorf("%q is %d cells wide, known %v", r, n, drawn(r))
		}
		if r >= 0x80 && (toASCII.Replace(string(r)) == string(r) || len(toASCII.Replace(string(r))) != 1) {
			t.Errorf("%q has no ASCII form of one character", r)
		}
		if r >= 0x1f000 || r >= 0x2600 && r < 0x2700 {
			t.Errorf("%q is an emoji in some terminals", r)
		}
	}
	for r := rune(0x80); r < 0x3000; r++ {
		if drawn(r) && ansi.StringWidth(string(r)) != 1 {
			t.Errorf("%q is not one cell wide", r)
		}
	}
	for in, want := range map[string]string{"orders": "orders", "注文": "注文", "✅ done": `\u{2705} done`, "e\u0301": `e\u{301}`, "🇩🇪": `\u{1f1e9}\u{1f1ea}`, "naïve": "naïve"} {
		if got := txt(plain, in); got.text != want || got.width != width(want) {
			t.Errorf("txt(%q) = %q, %d cells", in, got.text, got.width)
		}
	}
}

// TestASCII: with the ASCII set no other character is drawn, and nothing is
// wider for it.
func TestASCII(t *testing.T) {
	for _, env := range [][]string{{"TERM=linux"}, {"TERM=dumb"}, {"LANG=C", "TERM=xterm"}, {"LANG=de_DE.UTF-8", "LC_ALL=POSIX"}} {
		for name, open := range golden() {
			for _, sz := range sizes {
				d := open(t, sz[0], sz[1])
				d.send(tea.EnvMsg(env))
				text := d.text()
				if !isASCII(text) {
					t.Fatalf("%s with %v:\n%s", name, env, text)
				}
				fits(t, text, sz[0], sz[1])
			}
		}
	}
	d := golden()["01-apps"](t, 80, 24)
	d.send(tea.EnvMsg{"LANG=en_US.utf8", "TERM=xterm-256color"})
	d.sees("✗ order-processor")
	d.send(tea.EnvMsg{"TERM=linux"})
	d.sees("x  order-processor", "ok session-builder")
}

// TestColoursAreNotNeeded: without colours the text is the same.
func TestColoursAreNotNeeded(t *testing.T) {
	for name, open := range golden() {
		d := open(t, 80, 24)
		want := d.text()
		for _, p := range []colorprofile.Profile{colorprofile.ANSI, colorprofile.Ascii, colorprofile.TrueColor} {
			d.send(tea.ColorProfileMsg{Profile: p})
			if got := d.text(); got != want {
				t.Errorf("%s: another text with profile %v", name, p)
			}
			if c := d.m.View().Content; p == colorprofile.Ascii && regexp.MustCompile(`\x1b\[[0-9;]*(3[0-9]|4[0-9]|9[0-7])`).MatchString(c) {
				t.Errorf("%s: a colour with NO_COLOR", name)
			}
		}
		d.send(tea.ColorProfileMsg{Profile: colorprofile.NoTTY})
		if c := d.m.View().Content; strings.Contains(c, "\x1b") {
			t.Errorf("%s: an escape on a terminal that takes none", name)
		}
	}
}

// TestChokePoint: spans are made in text.go only, so that every text is escaped.
func TestChokePoint(t *testing.T) {
	names, err := filepath.Glob("*.go")
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range names {
		if strings.HasSuffix(name, "_test.go") || name == "text.go" {
			continue
		}
		file, err := parser.ParseFile(token.NewFileSet(), name, nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		ast.Inspect(file, func(n ast.Node) bool {
			if lit, ok := n.(*ast.CompositeLit); ok {
				if id, ok := lit.Type.(*ast.Ident); ok && id.Name == "span" && len(lit.Elts) > 0 {
					t.Errorf("%s makes a span by itself: use txt", name)
				}
			}
			return true
		})
	}
}

// TestAnySizeAnyEvents: whatever happens, no line is wider than the terminal and
// no more lines than it has, and nothing panics.
func TestAnySizeAnyEvents(t *testing.T) {
	rounds := 60
	if n, err := strconv.Atoi(os.Getenv("RESURGE_UI_ROUNDS")); err == nil {
		rounds = n
	}
	keys := append(strings.Split("abcdefghijklmnoprstuvwxyzGNY1234567/:+-= ", ""), "enter", "enter", "enter", "esc", "tab", "up", "down", "left", "right", "pgup", "pgdown", "ctrl+d", "ctrl+u")
	for seed := range uint64(rounds) {
		r := rand.New(rand.NewPCG(seed, 7))
		clock := now
		s := newScript().toEnd(recovery.OutcomeUnverified, badProof()...)
		events := s.events
		if seed%2 == 0 {
			events = poisonEvents(events, hostile[r.IntN(len(hostile))])
		}
		d := drive(t, 80, 24, func(f *fake, se *Session) {
			se.Now = func() time.Time { return clock.In(cet) }
			if seed%3 == 0 {
				se.RunID = runID
			}
			if seed%5 == 0 {
				poison(f, hostile[r.IntN(len(hostile))])
			}
		})
		for range 60 {
			switch r.IntN(6) {
			case 0:
				d.send(tea.WindowSizeMsg{Width: 1 + r.IntN(160), Height: 1 + r.IntN(60)})
			case 1:
				n := r.IntN(len(events))
				d.events(events[n:min(n+r.IntN(8), len(events))]...)
			case 2:
				d.events(events[:r.IntN(len(events))]...)
			case 3:
				d.settle()
				clock = clock.Add(time.Duration(r.IntN(90)) * time.Second)
				d.send(tickMsg{})
			default:
				d.press(keys[r.IntN(len(keys))])
			}
			text := d.text()
			fits(t, text, max(d.m.d.w, 1), max(d.m.d.h, 1))
			clean(t, fmt.Sprint("seed ", seed), d.m.View().Content)
			if t.Failed() {
				t.Fatalf("seed %d", seed)
			}
		}
	}
}
