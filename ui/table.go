package ui

import (
	"slices"
	"strings"

	tea "charm.land/bubbletea/v2"
)

// column is one column of a table. Exactly those that fit are drawn: the ones
// with the highest drop leave first, drop 0 never does.
type column struct {
	title string
	width int // the least for a flexible column
	flex  int // share of the width that is left; 0: fixed
	right bool
	mid   bool // shorten in the middle
	drop  int
}

// ordering is one way to sort, with the name that the screen shows.
type ordering[T any] struct {
	name string
	cmp  func(a, b T) int
}

// table is a windowed list: only rows that are seen are drawn. The selection is
// an identity; rows may come, go and change places beneath it.
type table[T any] struct {
	cols  []column
	key   func(T) string
	text  func(T) string // what the filter looks at
	cells func(T) []span // one for each column
	// orders are the ways to sort, the first at the start; none: as they come.
	orders []ordering[T]

	order  int
	moved  bool // the selection was moved by a person
	rows   []T
	lower  []string // what the filter looks at, in lower case
	shown  []int    // rows that pass the filter
	filter string
	chosen string // key of the selection
	at     int    // its place in shown
	top    int
	height int // rows that fit, from the last size message
}

// set replaces the rows. The selection stays with its row; when that is gone,
// the row in its place is selected.
func (t *table[T]) set(rows []T) {
	if len(t.orders) > 0 {
		rows = sorted(rows, t.orders[t.order].cmp)
	}
	t.rows, t.lower = rows, t.lower[:0]
	for _, r := range rows {
		t.lower = append(t.lower, strings.ToLower(t.text(r)))
	}
	t.refilter()
}

func (t *table[T]) refilter() {
	t.shown = t.shown[:0]
	want, negate := strings.CutPrefix(strings.ToLower(t.filter), "!")
	found := -1
	for i, r := range t.rows {
		if want != "" && strings.Contains(t.lower[i], want) == negate {
			continue
		}
		if t.key(r) == t.chosen {
			found = len(t.shown)
		}
		t.shown = append(t.shown, i)
	}
	if found < 0 {
		found = min(t.at, len(t.shown)-1)
	}
	t.choose(max(found, 0))
}

func (t *table[T]) choose(i int) {
	if len(t.shown) == 0 {
		t.at, t.top = 0, 0
		return
	}
	t.at = min(max(i, 0), len(t.shown)-1)
	t.chosen = t.key(t.rows[t.shown[t.at]])
	t.top = windowTop(t.top, t.at, len(t.shown), t.height)
}

// windowTop is the first row to draw so that the selected one is seen.
func windowTop(top, at, n, height int) int {
	height = max(height, 1)
	top = min(top, at, max(n-height, 0))
	return max(top, at-height+1, 0)
}

// selected is the row under the cursor; ok is false in an empty table.
func (t *table[T]) selected() (row T, ok bool) {
	if len(t.shown) == 0 {
		return row, false
	}
	return t.rows[t.shown[t.at]], true
}

func (t *table[T]) resize(height int) {
	t.height = max(height, 1)
	t.choose(t.at)
}

// count says how many rows are seen of how many.
func (t *table[T]) count() string {
	if t.filter == "" {
		return grouped(int64(len(t.rows)))
	}
	return grouped(int64(len(t.shown))) + " of " + grouped(int64(len(t.rows)))
}

// sort goes to the next way to sort.
func (t *table[T]) sort() {
	t.order = (t.order + 1) % len(t.orders)
	t.set(t.rows)
	if !t.moved { // nothing was chosen yet: the first is what to look at
		t.choose(0)
	}
}

// hidden says how many rows the filter hides; empty: none.
func (t *table[T]) hidden() string {
	if n := len(t.rows) - len(t.shown); n > 0 {
		return grouped(int64(n)) + " hidden"
	}
	return ""
}

func (t *table[T]) by(n int)  { t.to(t.at + n) }
func (t *table[T]) to(i int)  { t.moved = true; t.choose(i) }
func (t *table[T]) size() int { return len(t.shown) }
func (t *table[T]) page() int { return max(t.height, 1) }

// search opens the filter's prompt. The filter stays over refreshes.
func (t *table[T]) search(d *desk) tea.Cmd {
	before := t.filter
	set := func(v string) { t.filter = v; t.refilter() }
	d.prompt = &prompt{
		label: "/", field: newField(t.filter), keys: "enter keep  esc as before  !text leaves out",
		note:   func(string) string { return t.count() },
		change: set,
		cancel: func() tea.Cmd { set(before); return nil },
	}
	return nil
}

// clear takes the filter away; false when there is none.
func (t *table[T]) clear() bool {
	if t.filter == "" {
		return false
	}
	t.filter = ""
	t.refilter()
	return true
}

// tools are the keys that a list has besides those that move.
func (t *table[T]) tools(d *desk, off string) []action {
	out := []action{{keys: []string{"/"}, label: "filter", help: "filter by text, !text leaves out", off: off, do: func() tea.Cmd { return t.search(d) }}}
	if len(t.orders) > 1 {
		names := make([]string, 0, len(t.orders))
		for _, o := range t.orders {
			names = append(names, o.name)
		}
		out = append(out, action{keys: []string{"s"}, label: "sort", help: "sort: " + strings.Join(names, ", "), off: off, do: func() tea.Cmd { t.sort(); return nil }})
	}
	if t.filter != "" {
		out = append(out, action{keys: []string{"esc"}, label: "show all", help: "take the filter away", do: func() tea.Cmd { t.clear(); return nil }})
	}
	return out
}

// status says how many rows are seen, and in which order.
func (t *table[T]) status() string { return t.count() + t.way() }

// way says how many rows are hidden, and in which order the others are.
func (t *table[T]) way() string {
	out := ""
	if h := t.hidden(); h != "" {
		out += " · " + h
	}
	if len(t.orders) > 1 {
		out += " · " + t.orders[t.order].name
	}
	return out
}

// nothing says why no row is seen, and what to do about it.
func (t *table[T]) nothing(p *page) {
	p.add(gap(1), txt(plain, "Nothing matches "), txt(strong, t.filter).cut(max(p.w-36, 8)), txt(plain, ". esc shows all."))
}

// layout chooses the columns that fit into w cells and their widths; -1 is a
// column that is left out. Columns stand one cell apart.
func layout(cols []column, w int) []int {
	widths := make([]int, len(cols))
	total := -1
	for i, c := range cols {
		widths[i] = c.width
		total += c.width + 1
	}
	for total > w {
		worst := -1
		for i, c := range cols {
			if widths[i] >= 0 && c.drop > 0 && (worst < 0 || c.drop > cols[worst].drop) {
				worst = i
			}
		}
		if worst < 0 {
			break
		}
		total -= widths[worst] + 1
		widths[worst] = -1
	}
	share := 0
	for i, c := range cols {
		if widths[i] >= 0 {
			share += c.flex
		}
	}
	left := w - total
	for i, c := range cols {
		if widths[i] < 0 || c.flex == 0 || share == 0 {
			continue
		}
		part := left * c.flex / share
		share -= c.flex
		left -= part
		widths[i] = max(widths[i]+part, 1)
	}
	return widths
}

// draw adds the head and up to h-1 rows to the page.
func (t *table[T]) draw(p *page, h int) {
	h = min(h, p.room())
	widths := layout(t.cols, p.w-2)
	head := line{gap(2)}
	for i, c := range t.cols {
		if widths[i] >= 0 {
			head = append(head, cell(txt(muted, c.title), c, widths[i]), gap(1))
		}
	}
	p.add(head...)
	rows := h - 1
	top := windowTop(t.top, t.at, len(t.shown), rows)
	buf := make(line, 0, 2*len(t.cols)+1)
	for i := top; i < min(top+rows, len(t.shown)); i++ {
		buf = buf[:0]
		selected := i == t.at
		if selected {
			buf = append(buf, txt(plain, "▸ "))
		} else {
			buf = append(buf, gap(2))
		}
		for j, s := range t.cells(t.rows[t.shown[i]]) {
			if widths[j] >= 0 {
				buf = append(buf, cell(s, t.cols[j], widths[j]), gap(1))
			}
		}
		p.rows = append(p.rows, p.th.draw(buf, p.w, selected))
	}
}

// without leaves a column out at every width.
func (c column) without() column {
	c.width, c.flex, c.drop = 1<<16, 0, 1<<16
	return c
}

// numberWidth is the width of a column of numbers: no figure is ever cut off.
func numberWidth(least int, values ...*int64) int {
	for _, v := range values {
		if v != nil {
			least = max(least, len(grouped(*v)))
		}
	}
	return least
}

func cell(s span, c column, w int) span {
	if c.mid {
		s = s.cutMiddle(w)
	}
	if c.right {
		return s.right(w)
	}
	return s.left(w)
}

// scroller shows prepared lines through a window.
type scroller struct {
	lines  []line
	top    int
	height int
}

func (s *scroller) set(lines []line) { s.lines = lines; s.to(s.top) }

func (s *scroller) resize(height int) { s.height = max(height, 1); s.to(s.top) }

func (s *scroller) by(n int)  { s.to(s.top + n) }
func (s *scroller) to(i int)  { s.top = max(min(i, len(s.lines)-s.page()), 0) }
func (s *scroller) size() int { return len(s.lines) }
func (s *scroller) page() int { return max(s.height, 1) }

// place says what part is seen, empty when all is.
func (s *scroller) place() string {
	if len(s.lines) <= s.page() {
		return ""
	}
	return "lines " + grouped(int64(s.top+1)) + "–" + grouped(int64(min(s.top+s.page(), len(s.lines)))) + " of " + grouped(int64(len(s.lines)))
}

func (s *scroller) draw(p *page, h int) {
	h = min(h, p.room())
	top := max(min(s.top, len(s.lines)-h), 0)
	p.addLines(s.lines[top:min(top+h, len(s.lines))]...)
}

// mover is what the movement keys move.
type mover interface {
	by(n int)
	to(i int)
	size() int
	page() int
}

// lister is a table, whatever its rows are.
type lister interface {
	mover
	tools(d *desk, off string) []action
	way() string
}

// moves are the movement keys, the same everywhere: j is down, k is up.
func moves(m mover) []action {
	step := func(keys, help string, f func()) action {
		return action{keys: words(keys), help: help, do: func() tea.Cmd { f(); return nil }, move: true}
	}
	return []action{
		step("j down", "down", func() { m.by(1) }),
		step("k up", "up", func() { m.by(-1) }),
		step("g home", "to the first", func() { m.to(0) }),
		step("G end", "to the last", func() { m.to(m.size() - 1) }),
		step("pgdown space", "a page down", func() { m.by(m.page()) }),
		step("pgup", "a page up", func() { m.by(-m.page()) }),
		step("ctrl+d", "half a page down", func() { m.by(max(m.page()/2, 1)) }),
		step("ctrl+u", "half a page up", func() { m.by(-max(m.page()/2, 1)) }),
	}
}

// movesBesides are the movement keys of a list that has another use for one key.
func movesBesides(m mover, key string) []action {
	out := moves(m)
	for i := range out {
		out[i].keys = slices.DeleteFunc(out[i].keys, func(k string) bool { return k == key })
	}
	return out
}

// sorted returns rows in the order of cmp, without changing the argument.
func sorted[T any](rows []T, cmp func(a, b T) int) []T {
	out := slices.Clone(rows)
	slices.SortStableFunc(out, cmp)
	return out
}
