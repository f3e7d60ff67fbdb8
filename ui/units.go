package ui

import (
	"fmt"
	"strconv"
	"strings"
	"time"
)

// unknown is how a value that was not learned is drawn. It is never zero.
const unknown = "?"

// grouped writes a number with thousands separated: 41,204.
func grouped(n int64) string {
	s := strconv.FormatInt(n, 10)
	sign := ""
	if n < 0 {
		sign, s = "-", s[1:]
	}
	if len(s) <= 3 {
		return sign + s
	}
	var b strings.Builder
	b.WriteString(sign)
	lead := len(s) % 3
	if lead > 0 {
		b.WriteString(s[:lead])
	}
	for i := lead; i < len(s); i += 3 {
		if i > 0 {
			b.WriteByte(',')
		}
		b.WriteString(s[i : i+3])
	}
	return b.String()
}

func number[T int | int32 | int64](n *T) string {
	if n == nil {
		return unknown
	}
	return grouped(int64(*n))
}

func known(n int64, ok bool) string {
	if !ok {
		return unknown
	}
	return grouped(n)
}

func plural(n int, one string) string {
	if n == 1 {
		return "1 " + one
	}
	return grouped(int64(n)) + " " + one + "s"
}

// long writes a duration for reading: 52s, 9m 39s, 1h 02m, 6d 23h.
func long(d time.Duration) string {
	sign := ""
	if d < 0 {
		sign, d = "-", -d
	}
	d = d.Round(time.Second)
	s := int64(d / time.Second)
	switch {
	case s < 60:
		return fmt.Sprintf("%s%ds", sign, s)
	case s < 3600:
		return fmt.Sprintf("%s%dm %02ds", sign, s/60, s%60)
	case s < 86400:
		return fmt.Sprintf("%s%dh %02dm", sign, s/3600, s%3600/60)
	}
	return fmt.Sprintf("%s%dd %dh", sign, s/86400, s%86400/3600)
}

// short writes an age or a target: 4s, 11m, 2h, 9d, and both parts only where
// the second one is not nothing: 1h30m.
func short(d time.Duration) string {
	s := int64(d.Round(time.Second) / time.Second)
	pair := func(a int64, au string, b int64, bu string) string {
		if b == 0 {
			return fmt.Sprintf("%d%s", a, au)
		}
		return fmt.Sprintf("%d%s%d%s", a, au, b, bu)
	}
	switch {
	case s < 60:
		return fmt.Sprintf("%ds", s)
	case s < 3600:
		return pair(s/60, "m", s%60, "s")
	case s < 86400:
		return pair(s/3600, "h", s%3600/60, "m")
	}
	return fmt.Sprintf("%dd", s/86400)
}

// age is how long ago something was, in one unit.
func age(d time.Duration) string {
	switch {
	case d < time.Minute:
		return fmt.Sprintf("%ds", max(int64(d/time.Second), 0))
	case d < time.Hour:
		return fmt.Sprintf("%dm", int64(d/time.Minute))
	case d < 24*time.Hour:
		return fmt.Sprintf("%dh", int64(d/time.Hour))
	}
	return fmt.Sprintf("%dd", int64(d/(24*time.Hour)))
}

// stopwatch is the clock since the incident: +20:21, +1:02:03.
func stopwatch(d time.Duration) string {
	sign := "+"
	if d < 0 {
		sign, d = "-", -d
	}
	s := int64(d / time.Second)
	if s < 3600 {
		return fmt.Sprintf("%s%02d:%02d", sign, s/60, s%60)
	}
	return fmt.Sprintf("%s%d:%02d:%02d", sign, s/3600, s%3600/60, s%60)
}

// hms is a time of day in UTC.
func hms(t time.Time) string {
	if t.IsZero() {
		return unknown
	}
	return t.UTC().Format("15:04:05")
}

// moment is a point in time in UTC with the operator's own beside it, for where
// a decision hangs on it.
func moment(t time.Time, local *time.Location) string {
	if t.IsZero() {
		return unknown
	}
	utc := t.UTC().Format("2006-01-02 15:04:05") + " UTC"
	if local == nil || local == time.UTC {
		return utc
	}
	if l := t.In(local); l.Format("-07:00") != "+00:00" {
		return utc + " (" + l.Format("15:04:05 MST") + " here)"
	}
	return utc
}

// percent is the share done; ok is false when the whole is not known.
func percent(done, total int64) (int, bool) {
	if total <= 0 {
		return 0, false
	}
	return int(min(max(done, 0), total) * 100 / total), true
}

// bar draws a share of w cells in eighths, so that slow progress shows.
func bar(done, total int64, w int) string {
	if total <= 0 || w <= 0 {
		return strings.Repeat("░", max(w, 0))
	}
	eighths := int(float64(min(max(done, 0), total)) / float64(total) * float64(w*8))
	full, rest := eighths/8, eighths%8
	s := strings.Repeat("█", full)
	if rest > 0 {
		s += string([]rune("▏▎▍▌▋▊▉")[rest-1])
		full++
	}
	return s + strings.Repeat("░", w-full)
}

// spark draws values from nothing to the largest of them.
func spark(values []float64) string {
	levels := []rune("▁▂▃▄▅▆▇")
	top := 0.0
	for _, v := range values {
		top = max(top, v)
	}
	var b strings.Builder
	for _, v := range values {
		i := 0
		if top > 0 {
			i = int(max(v, 0) / top * float64(len(levels)-1))
		}
		b.WriteRune(levels[i])
	}
	return b.String()
}
