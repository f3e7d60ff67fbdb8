package ui

import (
	"context"
	"slices"
	"strings"
	"time"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/colorprofile"

	"resurge/plans"
	"resurge/recovery"
	"resurge/streams"
)

// screen is one view with its keys. handle gets every message that is not a key;
// keys are in actions.
type screen interface {
	handle(msg tea.Msg) tea.Cmd
	view(w, h int) string
	actions() []action
	head() head
}

// head is what a screen says about itself above its body.
type head struct {
	name   string // in the path and in the help
	title  string // in the path, when it is more than the name
	status line   // at the right of the path
	// unlocked says that the next key can change the cluster.
	unlocked bool
}

// desk is what the screens share: the session, the theme, the time, the stack of
// screens and the run. Only Update's goroutine touches it.
type desk struct {
	s     Session
	ctx   context.Context //nolint:containedctx // commands outlive the call that makes them; ended when the console quits
	end   context.CancelFunc
	th    *theme
	look  look
	w, h  int
	now   time.Time
	local *time.Location

	stack  []screen
	prompt *prompt
	help   *scroller
	note   note
	number int // of the last question

	cluster streams.Cluster
	apps    []string // names, for completion
	plan    plans.Plan
	run     follower
	mux     string // tmux, screen or empty
	leave   int    // how often ctrl-c was pressed in this run
	resume  string
}

// look is what the terminal told about itself.
type look struct {
	profile colorprofile.Profile
	light   bool
	ascii   bool
}

// note is the message line.
type note struct {
	mark string
	text string
}

func newDesk(s Session) *desk {
	if s.Now == nil {
		s.Now = time.Now
	}
	d := &desk{s: s, ctx: context.TODO(), end: func() {}, look: look{profile: colorprofile.ANSI256, ascii: s.ASCII}}
	d.now = s.Now()
	d.local = d.now.Location()
	d.retheme()
	return d
}

func (d *desk) retheme() { d.th = newTheme(d.look.profile, !d.look.light, d.look.ascii) }

// frameHeight is the number of lines around the body: header, path, rule,
// message and keys.
const frameHeight = 5

func (d *desk) body() (w, h int) { return d.w, max(d.h-frameHeight, 1) }

func (d *desk) top() screen { return d.stack[len(d.stack)-1] }

func (d *desk) push(s screen) { d.stack = append(d.stack, s) }

// pop goes back one level; the first screen stays.
func (d *desk) pop() { d.keep(len(d.stack) - 1) }

// keep leaves the first n screens and tells the others that they are gone.
func (d *desk) keep(n int) {
	n = max(min(n, len(d.stack)), 1)
	for _, s := range d.stack[n:] {
		s.handle(leftMsg{})
	}
	d.stack = d.stack[:n:n]
}

// leftMsg tells a screen that it was left: its questions need no answer.
type leftMsg struct{}

func (d *desk) say(mark, text string) { d.note = note{mark: mark, text: text} }

// since is the time that has passed, never less than none: clocks differ.
func (d *desk) since(t time.Time) time.Duration { return max(d.now.Sub(t), 0) }

// request is a question that is out, or the last one that was.
type request struct {
	number int
	since  time.Time
	cancel context.CancelFunc
	out    bool
	took   time.Duration // until the answer came
}

// answer is what came back for a question.
type answer[T any] struct {
	number int
	value  T
	err    error
}

// ask puts a question in a command of its own. A question that is still out is
// ended, and its answer will be dropped for its number.
func ask[T any](d *desk, r *request, do func(context.Context) (T, error)) tea.Cmd {
	r.drop()
	d.number++
	ctx, cancel := context.WithCancel(d.ctx)
	*r = request{number: d.number, since: d.now, cancel: cancel, out: true}
	n := d.number
	return func() tea.Msg {
		defer cancel()
		v, err := do(ctx)
		return answer[T]{number: n, value: v, err: err}
	}
}

// drop ends the question, if one is out.
func (r *request) drop() {
	if r.cancel != nil {
		r.cancel()
	}
	r.out = false
}

// done notes when the answer came.
func (r *request) done(now time.Time) { r.took, r.since = now.Sub(r.since), now }

// rest is how many times longer than a question took nothing is asked by itself: a
// cluster that answers slowly is asked less often.
const rest = 4

// due reports whether it is time to ask again by itself: not while the question is
// out, and not while the operator types or reads the help.
func (d *desk) due(r request, every time.Duration) bool {
	return !r.out && d.prompt == nil && d.help == nil && d.now.Sub(r.since) >= max(every, rest*r.took)
}

// is reports whether a number answers this question, and closes it.
func (r *request) is(number int) bool {
	if !r.out || r.number != number {
		return false
	}
	r.out = false
	return true
}

// waiting draws a question that is out.
func (d *desk) waiting(r request, what string) line {
	l := line{gap(1), d.th.mark(markWorking), txt(plain, " "+what)}
	if s := d.since(r.since); s >= 2*time.Second {
		l = append(l, txt(muted, "  "+long(s)))
	}
	return l
}

// trouble draws an error with what to do about it.
func (d *desk) trouble(what string, err error, w int) []line {
	p := recovery.ProblemOf(err)
	out := hang(line{gap(1), d.th.mark(markBad), gap(1)}, danger, what, w)
	out = append(out, hang(line{gap(3)}, plain, p.Message, w)...)
	if p.Hint != "" {
		out = append(out, line{})
		out = append(out, hang(line{gap(3), txt(accent, "→ ")}, plain, p.Hint, w)...)
	}
	return out
}

// brief is an error in one line.
func brief(err error) string {
	p := recovery.ProblemOf(err)
	if p.Hint == "" {
		return p.Message
	}
	return p.Message + " → " + p.Hint
}

// rto writes the clock since the incident, empty without one.
func (d *desk) rto() line {
	incident, target := d.s.Incident, d.target()
	now := d.now
	if h := d.run.fold.Header; !h.Incident.IsZero() && d.onRun() {
		incident = h.Incident
		now = incident.Add(d.run.clock(d.now))
	}
	if incident.IsZero() {
		return nil
	}
	passed := now.Sub(incident)
	l := line{txt(strong, stopwatch(passed))}
	switch {
	case target > 0 && d.w < 60:
		return append(l, txt(map[bool]tone{true: danger, false: plain}[passed > target], "/"+short(target)))
	case target <= 0:
		return append(l, txt(muted, " no RTO set"))
	case passed > target:
		return append(l, txt(danger, " over RTO "+short(target)))
	}
	return append(l, txt(plain, " of RTO "+short(target)))
}

// onRun reports whether the clock is the run's: while it is active, and where it
// is looked at.
func (d *desk) onRun() bool {
	return d.run.shown() && (d.run.active() || d.runOpen())
}

// runOpen reports whether the run's screen is among the open ones.
func (d *desk) runOpen() bool {
	return slices.ContainsFunc(d.stack, func(s screen) bool { _, ok := s.(*runScreen); return ok })
}

// target is the RTO: the run's own, the open application's, or the session's.
func (d *desk) target() time.Duration {
	if d.onRun() {
		return d.run.fold.Header.RTO
	}
	if d.s.TargetOf != nil {
		for _, s := range d.stack {
			if a, ok := s.(*applicationScreen); ok {
				return d.s.TargetOf(a.app)
			}
		}
	}
	return d.s.RTO
}

// planStart is a plan's ID as far as it is shown, as in "sha256:4be1 90c2 …".
func planStart(id string) string {
	algorithm, hex, ok := strings.Cut(id, ":")
	if !ok || len(hex) < 8 {
		return id
	}
	return algorithm + ":" + hex[:4] + " " + hex[4:8] + " …"
}
