package ui

import (
	"image/color"
	"math"
	"strings"
	"testing"
	"time"
)

func luminance(c color.Color) float64 {
	r, g, b, _ := c.RGBA()
	f := func(v uint32) float64 {
		x := float64(v) / 65535
		if x <= 0.03928 {
			return x / 12.92
		}
		return math.Pow((x+0.055)/1.055, 2.4)
	}
	return 0.2126*f(r) + 0.7152*f(g) + 0.0722*f(b)
}

// TestContrast: every tone is readable on the backgrounds that terminals have.
func TestContrast(t *testing.T) {
	backgrounds := map[bool][]color.Color{
		true:  {color.Black, color.RGBA{0x28, 0x2c, 0x34, 255}, color.RGBA{0x00, 0x2b, 0x36, 255}},
		false: {color.White, color.RGBA{0xfd, 0xf6, 0xe3, 255}},
	}
	for dark, bgs := range backgrounds {
		for tone, c := range palette256[dark] {
			for _, bg := range bgs {
				a, b := luminance(c), luminance(bg)
				if ratio := (max(a, b) + 0.05) / (min(a, b) + 0.05); ratio < 4.5 {
					t.Errorf("tone %d in colour %d on %v: contrast %.1f", tone, c, bg, ratio)
				}
			}
		}
	}
}

func TestUnits(t *testing.T) {
	for in, want := range map[int64]string{0: "0", 999: "999", 41204: "41,204", -1234567: "-1,234,567", 1000: "1,000"} {
		if got := grouped(in); got != want {
			t.Errorf("grouped(%d) = %s", in, got)
		}
	}
	if number[int](nil) != "?" || known(0, false) != "?" || known(0, true) != "0" {
		t.Error("not known is never zero")
	}
	for d, want := range map[time.Duration]string{52 * time.Second: "52s", 579 * time.Second: "9m 39s", 3720 * time.Second: "1h 02m", 167 * time.Hour: "6d 23h", -time.Minute: "-1m 00s", 59600 * time.Millisecond: "1m 00s"} {
		if got := long(d); got != want {
			t.Errorf("long(%v) = %s, want %s", d, got, want)
		}
	}
	for d, want := range map[time.Duration]string{30 * time.Minute: "30m", 90 * time.Minute: "1h30m", 48 * time.Hour: "2d", 45 * time.Second: "45s"} {
		if got := short(d); got != want {
			t.Errorf("short(%v) = %s", d, got)
		}
	}
	for d, want := range map[time.Duration]string{1221 * time.Second: "+20:21", 3723 * time.Second: "+1:02:03", -5 * time.Second: "-00:05"} {
		if got := stopwatch(d); got != want {
			t.Errorf("stopwatch(%v) = %s", d, got)
		}
	}
	for _, w := range []int{1, 7, 20} {
		for done := range int64(11) {
			if b := bar(done, 10, w); width(b) != w {
				t.Errorf("bar(%d, 10, %d) = %q", done, w, b)
			}
		}
	}
	if bar(-5, 10, 4) != "░░░░" || bar(50, 10, 4) != "████" || bar(1, 0, 4) != "░░░░" || spark([]float64{0, 1, 2}) != "▁▄▇" {
		t.Error("bars", bar(-5, 10, 4), bar(50, 10, 4), spark([]float64{0, 1, 2}))
	}
	if got := txt(plain, "order-processor-KSTREAM-AGGREGATE-STATE-STORE-0000000003-changelog").cutMiddle(40); got.width != 40 || !strings.HasSuffix(got.text, "STORE-0000000003-changelog") {
		t.Errorf("%q", got.text)
	}
}

func TestParseMoment(t *testing.T) {
	for in, want := range map[string]string{
		"2026-12-01T10:40:00Z": "2026-12-01T10:40:00Z", "2026-12-01 11:40:00+01:00": "2026-12-01T10:40:00Z", "1796121600": "2026-12-01T10:40:00Z", "1796121600000": "2026-12-01T10:40:00Z",
		"2026-12-01T10:40:00": "the zone is missing", "yesterday": "is not a date and time", "1999-01-01T00:00:00Z": "before the year 2000", "2027-01-01T00:00:00Z": "in the future",
	} {
		at, err := parseMoment(in, now)
		got := at.Format(time.RFC3339)
		if err != nil {
			got = err.Error()
		}
		if !strings.Contains(got, want) {
			t.Errorf("%s: %s, want %s", in, got, want)
		}
	}
	for in, want := range map[string]time.Duration{"15m": 15 * time.Minute, "2h30m": 150 * time.Minute, "PT15M": 15 * time.Minute, "P1DT2H": 26 * time.Hour, "-5m": 0, "P": 0, "soon": 0, "pt5s": 5 * time.Second} {
		if got, err := parseSpan(in); got != want || (err == nil) != (want > 0) {
			t.Errorf("%s: %v, %v", in, got, err)
		}
	}
}

// TestKeyTable: every action has words, no key means two things on one screen,
// and no screen takes a key that works everywhere for something else.
func TestKeyTable(t *testing.T) {
	rows := KeyTable()
	screens := map[string]bool{}
	for _, r := range rows {
		screens[r.Screen] = true
		if r.Help == "" || r.Keys == "" {
			t.Errorf("%+v", r)
		}
	}
	if len(screens) != 14 {
		t.Errorf("%d screens: %v", len(screens), screens)
	}
	d := newDesk(Session{})
	for _, s := range everyScreen(d) {
		seen := map[string]string{}
		for _, a := range s.actions() {
			for _, k := range a.keys {
				if seen[k] != "" {
					t.Errorf("%s: %s is %s and %s", s.head().name, k, seen[k], a.help)
				}
				seen[k] = a.help
			}
		}
		for _, k := range []string{"?", ":", "q", "ctrl+c", "ctrl+z"} {
			if seen[k] != "" {
				t.Errorf("%s: %s is taken for %s", s.head().name, k, seen[k])
			}
		}
	}
}
