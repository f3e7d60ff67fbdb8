package ui

import (
	"errors"
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"time"

	"resurge/recovery"
	"resurge/streams"
)

// positionModes are the choices in the order in which they are offered.
var positionModes = []recovery.PositionMode{
	recovery.ToEarliest, recovery.ToLatest, recovery.ToOffset, recovery.ToDatetime, recovery.ByDuration, recovery.ShiftBy,
}

// modeText says a mode in words, and what its value is; empty: it has none.
func modeText(m recovery.PositionMode) (name, value string) {
	switch m {
	case recovery.ToEarliest:
		return "the earliest record", ""
	case recovery.ToLatest:
		return "the end, skip what is there", ""
	case recovery.ToOffset:
		return "offset", "an offset: 41204"
	case recovery.ToDatetime:
		return "date and time", "with a zone: 2026-12-01T10:40:00Z"
	case recovery.ByDuration:
		return "this long ago", "15m, 2h30m or PT15M"
	case recovery.ShiftBy:
		return "moved by", "records from the commit: -5000 or 5000"
	}
	return string(m), ""
}

// position makes the position for what the operator wrote, or says what is
// wrong with it.
func position(topic string, m recovery.PositionMode, text string, now time.Time) (recovery.Position, error) {
	p := recovery.Position{Topic: topic, Mode: m}
	text = strings.TrimSpace(text)
	if _, needs := modeText(m); needs == "" {
		return p, nil
	} else if text == "" {
		return p, errors.New("a value is missing: " + needs)
	}
	p.Text = text
	switch m {
	case recovery.ToOffset:
		n, err := strconv.ParseInt(strings.ReplaceAll(text, ",", ""), 10, 64)
		if err != nil || n < 0 {
			return p, errors.New(streams.Quote(text) + " is not an offset: a whole number from 0")
		}
		p.Offset = n
	case recovery.ShiftBy:
		n, err := strconv.ParseInt(strings.ReplaceAll(text, ",", ""), 10, 64)
		if err != nil {
			return p, errors.New(streams.Quote(text) + " is not a number of records: -5000 or 5000")
		}
		p.Offset = n
	case recovery.ToDatetime:
		at, err := parseMoment(text, now)
		if err != nil {
			return p, err
		}
		p.At = at
	case recovery.ByDuration:
		d, err := parseSpan(text)
		if err != nil {
			return p, err
		}
		p.At = now.Add(-d).UTC().Truncate(time.Millisecond)
	case recovery.ToEarliest, recovery.ToLatest:
	}
	return p, nil
}

// parseMoment reads a date and time with its zone, or seconds or milliseconds
// since 1970. What it makes of it is shown before anything is planned.
func parseMoment(text string, now time.Time) (time.Time, error) {
	var at time.Time
	if n, err := strconv.ParseInt(text, 10, 64); err == nil {
		at = time.UnixMilli(n)
		if n < 100_000_000_000 {
			at = time.Unix(n, 0)
		}
	} else if at, err = time.Parse(time.RFC3339Nano, strings.Replace(text, " ", "T", 1)); err != nil {
		if _, err := time.Parse("2006-01-02T15:04:05", strings.Replace(text, " ", "T", 1)); err == nil {
			return at, errors.New("the zone is missing: add Z for UTC, or an offset as +01:00")
		}
		return at, errors.New(streams.Quote(text) + " is not a date and time as 2026-12-01T10:40:00Z")
	}
	switch {
	case at.Year() < 2000:
		return at, fmt.Errorf("%s lies before the year 2000", at.UTC().Format(time.RFC3339))
	case at.After(now):
		return at, fmt.Errorf("%s lies in the future", at.UTC().Format(time.RFC3339))
	}
	return at.UTC(), nil
}

var isoSpan = regexp.MustCompile(`^P(?:(\d+)D)?(?:T(?:(\d+)H)?(?:(\d+)M)?(?:(\d+)S)?)?$`)

// parseSpan reads 2h30m, or PT2H30M as Kafka's tools take it.
func parseSpan(text string) (time.Duration, error) {
	bad := errors.New(streams.Quote(text) + " is not a duration: 15m, 2h30m or PT15M")
	d, err := time.ParseDuration(text)
	if err != nil {
		m := isoSpan.FindStringSubmatch(strings.ToUpper(text))
		if m == nil {
			return 0, bad
		}
		for i, unit := range []time.Duration{24 * time.Hour, time.Hour, time.Minute, time.Second} {
			if m[i+1] == "" {
				continue
			}
			n, err := strconv.Atoi(m[i+1])
			if err != nil || n > 100_000 {
				return 0, bad
			}
			d += time.Duration(n) * unit
		}
	}
	if d <= 0 {
		return 0, bad
	}
	return d, nil
}
