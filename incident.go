package main

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"time"
)

var (
	agoForm   = regexp.MustCompile(`^(\S+)\s+ago$`)
	epochForm = regexp.MustCompile(`^\d{10}$|^\d{13}$`)
	digits    = regexp.MustCompile(`^\d+$`)
)

// parseMoment reads a time as operators write it: RFC 3339 with a zone, "15m
// ago", "now", or a Unix time in seconds or milliseconds, told apart by its
// length. A time without a zone is refused, since during an incident nobody
// agrees on which one was meant (KAFKA-5644).
func parseMoment(text string, now time.Time) (time.Time, error) {
	text = strings.TrimSpace(text)
	switch {
	case text == "now":
		return now, nil
	case agoForm.MatchString(text):
		d, err := time.ParseDuration(agoForm.FindStringSubmatch(text)[1])
		if err != nil || d < 0 {
			return time.Time{}, fmt.Errorf("%q is not a time: write for example \"15m ago\"", text)
		}
		return now.Add(-d), nil
	case epochForm.MatchString(text):
		n, err := strconv.ParseInt(text, 10, 64)
		if err != nil {
			return time.Time{}, fmt.Errorf("%q is not a time: %w", text, err)
		}
		if len(text) == 10 {
			n *= 1000
		}
		return time.UnixMilli(n).UTC(), nil
	case digits.MatchString(text):
		return time.Time{}, fmt.Errorf("%q is neither seconds (10 digits) nor milliseconds (13 digits) since 1970", text)
	}
	for _, layout := range []string{time.RFC3339Nano, "2006-01-02T15:04:05.999Z0700", "2006-01-02T15:04:05.999Z07", "2006-01-02 15:04:05Z07:00", "2006-01-02T15:04Z07:00"} {
		if t, err := time.Parse(layout, text); err == nil {
			return t, nil
		}
	}
	for _, layout := range []string{"2006-01-02T15:04:05.999", "2006-01-02 15:04:05.999", "2006-01-02T15:04", "2006-01-02 15:04", "15:04", "15:04:05"} {
		if _, err := time.Parse(layout, text); err == nil {
			return time.Time{}, fmt.Errorf("%q has no time zone: write it with one, for example %sZ for UTC", text, text)
		}
	}
	return time.Time{}, fmt.Errorf("%q is not a time: write for example 2026-12-01T10:40:00Z, \"15m ago\" or now", text)
}

// parsePast is parseMoment for something that has happened.
func parsePast(text string, now time.Time) (time.Time, error) {
	t, err := parseMoment(text, now)
	switch {
	case err != nil:
		return t, err
	case t.After(now.Add(time.Second)):
		return t, fmt.Errorf("%q is %s, which lies in the future", text, bothZones(t))
	case t.Year() < 2000:
		return t, fmt.Errorf("%q is %s, long before Kafka: seconds or milliseconds mixed up?", text, bothZones(t))
	}
	return t, nil
}

// bothZones shows a moment in UTC and local time.
func bothZones(t time.Time) string {
	utc, local := t.UTC().Format("2006-01-02 15:04:05 UTC"), t.Local().Format("15:04:05 MST")
	if _, offset := t.Local().Zone(); offset == 0 {
		return utc
	}
	return utc + " (" + local + ")"
}

var isoDuration = regexp.MustCompile(`^(-?)P(?:(\d+)D)?(?:T(?:(\d+)H)?(?:(\d+)M)?(?:(\d+(?:\.\d+)?)S)?)?$`)

// parseSpan reads a duration as Kafka's tools take it (PnDTnHnMnS) or as Go
// writes it (36h, 15m).
func parseSpan(text string) (time.Duration, error) {
	m := isoDuration.FindStringSubmatch(text)
	if m == nil || strings.HasSuffix(text, "T") || strings.Join(m[2:], "") == "" {
		d, err := time.ParseDuration(text)
		if err != nil || d < 0 {
			return 0, fmt.Errorf("%q is not a duration: write for example PT15M, P1DT2H or 36h", text)
		}
		return d, nil
	}
	if m[1] == "-" {
		return 0, fmt.Errorf("%q is negative", text)
	}
	var total float64
	for i, unit := range []float64{86400, 3600, 60, 1} {
		if m[i+2] == "" {
			continue
		}
		v, err := strconv.ParseFloat(m[i+2], 64)
		if err != nil {
			return 0, fmt.Errorf("%q is not a duration: %w", text, err)
		}
		total += v * unit
	}
	return time.Duration(total * float64(time.Second)), nil
}
