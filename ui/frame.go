package ui

import (
	"slices"
	"strings"

	tea "charm.land/bubbletea/v2"
)

// The floor below which nothing useful can be drawn.
const (
	minWidth  = 40
	minHeight = 12
)

func (d *desk) tooSmall() bool { return d.w < minWidth || d.h < minHeight }

// View implements tea.Model.
func (m *Model) View() tea.View {
	d := m.d
	content, caret := d.frame(m)
	v := tea.NewView(content)
	v.AltScreen = true
	v.WindowTitle = d.windowTitle()
	if caret >= 0 {
		v.Cursor = tea.NewCursor(caret, d.h-2)
		v.Cursor.Blink = false
	}
	return v
}

func (d *desk) windowTitle() string {
	badge, _ := d.badge(d.top().head())
	return txt(plain, "resurge "+d.s.Context+" "+badge).text
}

// frame draws the whole screen and says in which column of the message line the
// caret stands, -1 when nothing is typed.
func (d *desk) frame(m *Model) (string, int) {
	if d.w <= 0 || d.h <= 0 {
		return "", -1
	}
	if d.tooSmall() {
		return d.th.draw(line{txt(plain, "terminal too small (need 40×12)")}, d.w, false), -1
	}
	h := d.top().head()
	p := newPage(d.th, d.w, d.h)
	p.add(d.header(h)...)
	p.add(d.pathLine(h)...)
	p.rule()
	w, height := d.body()
	p.rows = append(p.rows, d.bodyRows(w, height)...)
	caret := -1
	if d.prompt != nil {
		l, at := d.prompt.line(d.w)
		p.add(l...)
		caret = at
	} else {
		p.add(d.message()...)
	}
	p.add(d.keys(m)...)
	return p.String(), caret
}

// bodyRows is the body, cut or filled to exactly height lines.
func (d *desk) bodyRows(w, height int) []string {
	var text string
	if d.help != nil {
		p := newPage(d.th, w, height)
		d.help.draw(p, height)
		text = p.String()
	} else {
		text = d.top().view(w, height)
	}
	rows := strings.Split(text, "\n")
	for len(rows) < height {
		rows = append(rows, "")
	}
	return rows[:height]
}

// header says who and where am I, may I write, what time is it.
func (d *desk) header(h head) line {
	id := d.cluster.ID
	if id == "" {
		id = "cluster ?"
	}
	badge, tone := d.badge(h)
	if d.w < 60 {
		badge, _, _ = strings.Cut(strings.TrimPrefix(badge, "DRILL "), " ")
		if d.drill() {
			badge = "DRILL " + badge
		}
	}
	clock := line{txt(tone, badge), gap(3), txt(plain, hms(d.now)+" UTC"), gap(1)}
	wide := clock
	if rto := d.rto(); rto != nil && !h.showsClock() {
		wide = append(append(line{txt(tone, badge), gap(3), txt(plain, hms(d.now)+" UTC"), gap(2)}, rto...), gap(1))
	}
	context := txt(strong, d.s.Context).cutMiddle(24)
	if d.s.Context == "" {
		context = txt(strong, "no context")
	}
	where := func(idWidth int) line {
		return line{context, txt(muted, " · "), txt(plain, id).cut(idWidth)}
	}
	full := append(line{gap(1), txt(accent, "resurge"), gap(2)}, where(22)...)
	if n := len(d.cluster.Brokers); n > 0 {
		full = append(full, txt(muted, "  "+plural(n, "broker")))
	}
	lefts := []line{
		full,
		append(line{gap(1), txt(accent, "resurge"), gap(2)}, where(22)...),
		append(line{gap(1), txt(accent, "resurge"), gap(2)}, where(13)...),
		append(line{gap(1)}, where(13)...),
		append(line{gap(1)}, where(6)...),
	}
	for i, right := range []line{wide, d.compact(clock, h), clock, clock} {
		n := len(lefts) - 1
		if i == 3 {
			n++
		}
		for _, left := range lefts[:n] {
			if left.width()+2+right.width() <= d.w {
				return spread(left, right, d.w)
			}
		}
	}
	least := line{txt(tone, badge), gap(1), txt(plain, hms(d.now))}
	return spread(line{gap(1), context.cut(7), gap(1), txt(muted, id).cut(6)}, least, d.w)
}

// compact adds the RTO clock in its short form.
func (d *desk) compact(clock line, h head) line {
	rto := d.rto()
	if rto == nil || h.showsClock() {
		return clock
	}
	return append(append(slices.Clone(clock), gap(1), rto[0], txt(plain, "/"+short(d.target()))), gap(1))
}

// showsClock says that the screen has the RTO clock on its own.
func (h head) showsClock() bool { return h.name == "run" || h.name == "result" }

func (d *desk) drill() bool { return d.s.Drill || d.run.fold.Header.Drill }

// badge says whether the console can change the cluster now.
func (d *desk) badge(h head) (string, tone) {
	drill := ""
	if d.drill() {
		drill = "DRILL "
	}
	app := d.run.fold.Header.Plan.Application
	if app == "" {
		app = d.plan.Application
	}
	switch {
	case d.run.active():
		return strings.TrimSpace(drill + "RECOVERY " + txt(plain, app).cutMiddle(24).text), shout
	case h.unlocked:
		return drill + "UNLOCKED for this run", shout
	case h.showsClock() && d.run.fold.Outcome != "":
		word := "ENDED "
		if d.run.fold.Proven() {
			word = "DONE "
		}
		return strings.TrimSpace(drill + word + txt(plain, app).cutMiddle(24).text), strong
	case drill != "":
		return "DRILL READ-ONLY", accent
	}
	return "READ-ONLY", strong
}

// pathLine is where the screen stands, and what it says about itself.
func (d *desk) pathLine(h head) line {
	titles := make([]string, 0, len(d.stack))
	for _, s := range d.stack {
		sh := s.head()
		t := sh.title
		if t == "" {
			t = sh.name
		}
		titles = append(titles, t)
	}
	last := titles[len(titles)-1]
	if d.help != nil {
		last, h.status = last+" › help", line{txt(muted, d.help.place())}
	}
	titles[len(titles)-1] = last
	room := d.w - h.status.width() - 3
	path := strings.Join(titles, " › ")
	for i := 1; width(path) > room && i < len(titles); i++ {
		path = "… › " + strings.Join(titles[i:], " › ")
	}
	if width(path) > room {
		path = last
	}
	left := line{gap(1), txt(strong, path).cutMiddle(max(room, 8))}
	return spread(left, append(h.status, gap(1)), d.w)
}

// message is the one line for what just happened, or for what must not be missed
// on another screen.
func (d *desk) message() line {
	if d.note.text != "" {
		return line{gap(1), d.th.mark(d.note.mark), txt(plain, " "+d.note.text)}
	}
	h := d.top().head()
	if !d.run.active() || h.showsClock() {
		return nil
	}
	key := ":run"
	if d.runOpen() {
		key = "esc"
	}
	there := line{txt(strong, key), txt(plain, " goes there")}
	switch {
	case d.run.fold.Waiting != nil:
		return append(line{gap(1), txt(shout, " ▶ YOUR TURN "), txt(plain, "  the run waits for you; ")}, there...)
	case key == "esc":
		return nil
	}
	return append(line{gap(1), d.th.mark(markWorking), txt(plain, " the run goes on; ")}, there...)
}

// keys is the line of keys.
func (d *desk) keys(m *Model) line {
	switch {
	case d.prompt != nil:
		return line{gap(1), txt(muted, d.prompt.keys)}
	case d.help != nil:
		return line{gap(1), txt(strong, "esc"), txt(plain, " close the help  "), txt(strong, "j k"), txt(plain, " scroll")}
	}
	var always []action
	for _, a := range m.actions() {
		if a.label != "" {
			always = append(always, a)
		}
	}
	return footer(d.top().actions(), always, d.w)
}
