package ui

import (
	tea "charm.land/bubbletea/v2"
)

// reading is a text to read: it is laid out anew for every width.
type reading struct {
	name, title string
	asOf        string // when what it says was read, empty when that does not matter
	lines       func(th *theme, w int) []line
	what        string // what y copies
	copy        func() string
}

// textScreen shows a reading.
type textScreen struct {
	d    *desk
	r    reading
	body scroller
	// turn, when set, gives the reading before (-1) or after (1) this one.
	turn func(by int) (reading, bool)
}

func newTextScreen(d *desk, r reading) *textScreen {
	s := &textScreen{d: d, r: r}
	s.resize()
	return s
}

func (s *textScreen) resize() {
	w, h := s.d.body()
	s.body.resize(h)
	s.body.set(s.r.lines(s.d.th, w))
}

func (s *textScreen) handle(msg tea.Msg) tea.Cmd {
	switch msg.(type) {
	case tea.WindowSizeMsg, relookMsg, runMsg:
		s.resize()
	}
	return nil
}

func (s *textScreen) view(w, h int) string {
	p := newPage(s.d.th, w, h)
	s.body.draw(p, h)
	return p.String()
}

func (s *textScreen) actions() []action {
	var out []action
	if s.r.copy != nil {
		out = append(out, action{keys: []string{"y"}, label: "copy", help: "copy " + s.r.what, do: func() tea.Cmd {
			return s.d.copyText(s.r.what, s.r.copy())
		}})
	}
	if s.turn != nil {
		out = append(out,
			action{keys: []string{"n", "right"}, label: "next step", help: "the next step", do: func() tea.Cmd { s.goTo(1); return nil }},
			action{keys: []string{"N", "left"}, label: "step before", help: "the step before", do: func() tea.Cmd { s.goTo(-1); return nil }},
		)
	}
	return append(out, moves(&s.body)...)
}

func (s *textScreen) goTo(by int) {
	if r, ok := s.turn(by); ok {
		s.r = r
		s.body.top = 0
		s.resize()
	}
}

func (s *textScreen) head() head {
	h := head{name: s.r.name, title: s.r.title, status: line{txt(muted, s.body.place())}}
	if s.r.asOf == "" {
		return h
	}
	read := txt(muted, "read "+s.r.asOf)
	if h.status.width() > 0 && read.width+h.status.width()+3 <= s.d.w/2 {
		h.status = append(line{read, txt(muted, " · ")}, h.status...)
	} else if h.status.width() == 0 {
		h.status = line{read}
	}
	return h
}

// facts lays out names and values.
type facts struct {
	w     int
	name  int // width of the names
	lines []line
}

func (f *facts) add(name, value string) { f.toned(name, plain, value) }

func (f *facts) toned(name string, t tone, value string) {
	if value != "" {
		f.lines = append(f.lines, hang(line{gap(1), txt(muted, name).left(f.name), gap(1)}, t, value, f.w)...)
	}
}

func (f *facts) blank() { f.lines = append(f.lines, line{}) }

func (f *facts) title(s string) { f.lines = append(f.lines, line{gap(1), txt(accent, s)}) }

// grid adds rows of cells under titles; columns that do not fit are left out.
func (f *facts) grid(cols []column, n int, cells func(i int) []string) {
	widths := layout(cols, f.w-2)
	row := func(t tone, texts []string) {
		l := line{gap(1)}
		for i, c := range texts {
			if widths[i] >= 0 {
				l = append(l, cell(txt(t, c), cols[i], widths[i]), gap(1))
			}
		}
		f.lines = append(f.lines, l)
	}
	titles := make([]string, 0, len(cols))
	for _, c := range cols {
		titles = append(titles, c.title)
	}
	row(muted, titles)
	for i := range n {
		row(plain, cells(i))
	}
}
