package ui

import (
	"fmt"
	"math"
	"strings"
	"time"

	tea "charm.land/bubbletea/v2"

	"resurge/plans"
	"resurge/recovery"
)

// strategiesScreen compares the ways back.
type strategiesScreen struct {
	d    *desk
	data inspected
	at   int
}

func newStrategiesScreen(d *desk, data inspected) *strategiesScreen {
	s := &strategiesScreen{d: d, data: data}
	for i, o := range data.as.Options {
		if o.Available {
			s.at = i
			break
		}
	}
	return s
}

// strategyName is the strategy in the words of the field.
func strategyName(s string) string {
	switch plans.Strategy(s) {
	case plans.Rebuild:
		return "rebuild from input"
	case plans.ChangelogRestore:
		return "changelog restore"
	case plans.PITRRebuild:
		return "PITR rebuild"
	case plans.StandbyPromotion:
		return "standby promotion"
	case plans.Undo:
		return "undo"
	}
	return s
}

func (s *strategiesScreen) by(n int)  { s.to(s.at + n) }
func (s *strategiesScreen) to(i int)  { s.at = max(min(i, len(s.data.as.Options)-1), 0) }
func (s *strategiesScreen) size() int { return len(s.data.as.Options) }
func (s *strategiesScreen) page() int { return max(len(s.data.as.Options), 1) }

func (s *strategiesScreen) handle(tea.Msg) tea.Cmd { return nil }

func (s *strategiesScreen) selected() (recovery.Option, bool) {
	if s.at >= len(s.data.as.Options) {
		return recovery.Option{}, false
	}
	return s.data.as.Options[s.at], true
}

func (s *strategiesScreen) actions() []action {
	o, ok := s.selected()
	off := ""
	switch {
	case !ok:
		off = "there is no way back to choose"
	case !o.Available:
		off = o.Reason
	case s.d.run.active():
		off = "a run is active"
	}
	out := []action{{keys: []string{"enter"}, label: "plan it", help: "choose where to read from, then plan", off: off, do: func() tea.Cmd {
		s.d.push(newRequestScreen(s.d, s.data, o))
		return nil
	}}}
	n := min(len(s.data.as.Options), 9)
	for i := range n {
		label := ""
		if i == 0 {
			label = "choose"
		}
		out = append(out, action{keys: []string{string(rune('1' + i))}, short: fmt.Sprintf("1-%d", n), label: label, help: fmt.Sprintf("choose way %d", i+1), do: func() tea.Cmd { s.to(i); return nil }})
	}
	out = append(out, action{keys: []string{"y"}, label: "copy", help: "copy the comparison as text", do: s.copy})
	return append(out, moves(s)...)
}

func (s *strategiesScreen) copy() tea.Cmd {
	var b strings.Builder
	for i, o := range s.data.as.Options {
		fmt.Fprintf(&b, "%d %s: %s\n", i+1, strategyName(o.Strategy), o.Reason)
	}
	return s.d.copyText("the comparison", b.String())
}

func (s *strategiesScreen) head() head {
	n := 0
	for _, o := range s.data.as.Options {
		if o.Available {
			n++
		}
	}
	return head{name: "compare", status: line{txtf(muted, "%d of %d possible now", n, len(s.data.as.Options))}}
}

func (s *strategiesScreen) view(w, h int) string {
	p := newPage(s.d.th, w, h)
	if len(s.data.as.Options) == 0 {
		p.add(gap(1), s.d.th.mark(markUnknown), txt(plain, " No way back was weighed for this application."))
		return p.String()
	}
	ax := s.axis(w)
	if ax.width > 0 {
		p.add(ax.scale()...)
	}
	for i, o := range s.data.as.Options {
		l := line{gap(2)}
		if i == s.at {
			l = line{txt(accent, "▸ ")}
		}
		number := txtf(muted, "%d ", i+1)
		name := txt(plain, strategyName(o.Strategy)).left(20)
		l = append(l, number, name, gap(1))
		switch {
		case !o.Available:
			l = append(l, s.d.th.mark(markNothing), txt(muted, " not possible: "+o.Reason))
		case ax.width > 0:
			l = append(append(append(l, ax.bar(o)...), gap(1)), s.fits(o)...)
		default:
			l = append(l, s.fits(o)...)
		}
		p.add(l...)
	}
	p.add()
	s.details(p)
	return p.String()
}

// rtoLeft is the time until the target; ok is false without one.
func (s *strategiesScreen) rtoLeft() (time.Duration, bool) {
	target := s.d.target()
	if target <= 0 || s.d.s.Incident.IsZero() {
		return 0, false
	}
	return target - s.d.now.Sub(s.d.s.Incident), true
}

func (s *strategiesScreen) fits(o recovery.Option) line {
	left, ok := s.rtoLeft()
	switch {
	case o.Estimate == nil:
		return line{s.d.th.mark(markUnknown), txt(plain, " time not known")}
	case !ok:
		return line{txt(plain, long(o.Estimate.Low)+" to "+long(o.Estimate.High))}
	case o.Estimate.High <= left:
		return line{s.d.th.mark(markGood), txt(plain, " fits")}
	case o.Estimate.Low <= left:
		return line{s.d.th.mark(markLook), txt(plain, " may be late")}
	}
	return line{s.d.th.mark(markBad), txt(plain, " late")}
}

// axis is the scale of minutes from now that the ways are drawn on.
type axis struct {
	width int
	span  time.Duration
	step  time.Duration
	rto   int // column of the target, -1: none or beyond
}

const axisIndent = 25

func (s *strategiesScreen) axis(w int) axis {
	a := axis{width: w - axisIndent - 16, rto: -1}
	var longest time.Duration
	for _, o := range s.data.as.Options {
		if o.Available && o.Estimate != nil {
			longest = max(longest, o.Estimate.High)
		}
	}
	left, ok := s.rtoLeft()
	if longest == 0 || a.width < 20 {
		return axis{rto: -1}
	}
	if ok {
		longest = max(longest, left)
	}
	a.step = time.Minute
	for _, st := range []time.Duration{time.Minute, 5 * time.Minute, 10 * time.Minute, 30 * time.Minute, time.Hour, 3 * time.Hour, 12 * time.Hour, 24 * time.Hour} {
		a.step = st
		if longest/st <= 8 {
			break
		}
	}
	a.span = a.step
	for a.span < longest {
		a.span += a.step
	}
	if ok && left > 0 && left < a.span {
		a.rto = a.column(left)
	}
	return a
}

func (a axis) column(d time.Duration) int {
	return min(int(math.Round(float64(d)/float64(a.span)*float64(a.width))), a.width)
}

func (a axis) scale() line {
	cells := []rune(strings.Repeat(" ", a.width+6))
	put := func(at int, text string) {
		for i, r := range []rune(text) {
			if at+i < len(cells) {
				cells[at+i] = r
			}
		}
	}
	for t := time.Duration(0); t <= a.span; t += a.step {
		at, text := a.column(t), short(t)
		if a.rto >= 0 && at+len(text) >= a.rto && at <= a.rto+5 {
			continue
		}
		put(at, text)
	}
	if a.rto >= 0 {
		put(a.rto, "│RTO")
	}
	return line{txt(muted, "  time from now"), gap(axisIndent - 15), txt(muted, string(cells))}
}

func (a axis) bar(o recovery.Option) line {
	if o.Estimate == nil {
		return line{gap(a.width + 1)}
	}
	low, high := a.column(o.Estimate.Low), a.column(o.Estimate.High)
	high = max(high, low, 1)
	cells := []rune(strings.Repeat("▒", low) + strings.Repeat("▓", high-low) + strings.Repeat(" ", a.width+1-high))
	if a.rto >= 0 {
		cells[a.rto] = '│'
	}
	return line{txt(accent, string(cells))}
}

func (s *strategiesScreen) details(p *page) {
	o, ok := s.selected()
	if !ok {
		return
	}
	p.add(gap(1), txtf(strong, "%d %s", s.at+1, strategyName(o.Strategy)))
	row := func(name, text string) {
		p.addLines(hang(line{gap(3), txt(muted, name).left(13)}, plain, text, p.w)...)
	}
	if !o.Available {
		row("not now", o.Reason)
	} else {
		row("good for", o.Reason)
	}
	if e := o.Estimate; e != nil {
		row("time", long(e.Low)+" to "+long(e.High)+", "+grouped(e.Records)+" records")
		if left, ok := s.rtoLeft(); ok {
			row("", s.againstTarget(*e, left))
		}
		from := e.From
		if e.Assumed {
			from = "assumed, not measured: " + from
		}
		row("estimated", from)
	} else if o.Available {
		row("time", "? not known: nothing was measured yet")
	}
	for i, n := range o.Notes {
		name := ""
		if i == 0 {
			name = "it costs"
		}
		row(name, n)
	}
}

func (s *strategiesScreen) againstTarget(e recovery.Estimate, left time.Duration) string {
	at := "done between " + hms(s.d.now.Add(e.Low)) + " and " + hms(s.d.now.Add(e.High)) + " UTC; "
	switch {
	case left <= 0:
		return at + "the RTO was missed " + long(-left) + " ago"
	case e.High <= left:
		return at + "the RTO ends in " + long(left)
	}
	return at + "the RTO ends before, in " + long(left)
}
