package ui

import (
	"fmt"
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"

	"resurge/discovery"
)

// bigList is a console on a cluster with a thousand applications.
func bigList(tb testing.TB, w, h int) *driver {
	tb.Helper()
	return drive(tb, w, h, func(f *fake, _ *Session) {
		f.survey.Rows = nil
		for i := range 1000 {
			l := discovery.LevelOK
			if i%7 == 0 {
				l = discovery.LevelLook
			}
			f.survey.Rows = append(f.survey.Rows, discovery.SurveyRow{
				Application: fmt.Sprintf("application-%04d", i), State: "Stable", Members: new(3), Stores: new(2), Lag: new(int64(i * 1000)), Level: l, Worst: "fine",
				Evidence: []string{"the group has the stream assignor"},
			})
		}
	}).settle()
}

// BenchmarkList is one key and one frame of the big list.
func BenchmarkList(b *testing.B) {
	for _, sz := range sizes[:2] {
		b.Run(fmt.Sprintf("%dx%d", sz[0], sz[1]), func(b *testing.B) {
			d := bigList(b, sz[0], sz[1])
			b.ReportAllocs()
			for b.Loop() {
				d.press("j")
				_ = d.m.View()
			}
		})
	}
}

// BenchmarkListFilter is one typed character in the filter and one frame.
func BenchmarkListFilter(b *testing.B) {
	d := bigList(b, 120, 40)
	d.press("/")
	b.ReportAllocs()
	for b.Loop() {
		d.send(tea.KeyPressMsg{Code: '7', Text: "7"})
		d.send(keyMsg("backspace"))
		_ = d.m.View()
	}
}

// BenchmarkRun is one progress event and one frame of the run screen.
func BenchmarkRun(b *testing.B) {
	for _, sz := range sizes[:2] {
		b.Run(fmt.Sprintf("%dx%d", sz[0], sz[1]), func(b *testing.B) {
			s := newScript().toWatch()
			clock := s.events[len(s.events)-1].Time
			d := drive(b, sz[0], sz[1], func(_ *fake, se *Session) { se.RunID = runID; se.Now = func() time.Time { return clock } }).settle()
			d.events(s.events...)
			e := s.events[len(s.events)-1]
			b.ReportAllocs()
			for b.Loop() {
				e.Done++
				d.events(e)
				_ = d.m.View()
			}
		})
	}
}

// BenchmarkRunManySteps is a frame of a run with five hundred steps.
func BenchmarkRunManySteps(b *testing.B) {
	s := newScript()
	s.events[0].Header.Plan = manySteps(500)
	d := drive(b, 120, 40, func(_ *fake, se *Session) { se.RunID = runID }).settle()
	d.events(s.events...)
	b.ReportAllocs()
	for b.Loop() {
		_ = d.m.View()
	}
}
