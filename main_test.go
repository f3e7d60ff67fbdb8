package main

import (
	"context"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"resurge/plans"
	"resurge/recovery"
	"resurge/streams"
)

func TestB31_B32_B33_Times(t *testing.T) {
	now := time.Date(2026, 12, 1, 14, 0, 0, 0, time.UTC)
	for text, want := range map[string]string{
		"now": "2026-12-01T14:00:00Z", "15m ago": "2026-12-01T13:45:00Z",
		"2026-12-01T10:40:00Z": "2026-12-01T10:40:00Z",
		// B31: zones with minutes.
		"2026-03-01T10:00:00.000+05:30": "2026-03-01T04:30:00Z", "2026-03-01T10:00:00.000+0530": "2026-03-01T04:30:00Z",
		"2026-03-01T10:00:00.000+02": "2026-03-01T08:00:00Z", "2026-12-01 10:40:00+01:00": "2026-12-01T09:40:00Z",
		// B33: seconds and milliseconds.
		"1717230000": "2024-06-01T08:20:00Z", "1717230000123": "2024-06-01T08:20:00.123Z",
	} {
		got, err := parsePast(text, now)
		if err != nil || got.UTC().Format(time.RFC3339Nano) != want {
			t.Errorf("%s: got %s, %v, want %s", text, got.UTC().Format(time.RFC3339Nano), err, want)
		}
	}
	for text, says := range map[string]string{
		// B32: a time without a zone is never guessed.
		"10:40": "no time zone", "2026-12-01T10:40:00": "no time zone", "2026-12-01T10:40:00.000": "no time zone",
		"2027-01-01T00:00:00Z": "future", "1970-01-02T00:00:00Z": "long before Kafka", "123": "neither seconds", "yesterday": "is not a time", "-5m ago": "is not a time",
	} {
		if _, err := parsePast(text, now); err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("%s: got %v, want %q", text, err, says)
		}
	}
}

func TestParseSpan(t *testing.T) {
	for text, want := range map[string]time.Duration{
		"PT15M": 15 * time.Minute, "P1DT2H": 26 * time.Hour, "PT0.5S": 500 * time.Millisecond, "P2D": 48 * time.Hour, "36h": 36 * time.Hour,
	} {
		if got, err := parseSpan(text); err != nil || got != want {
			t.Errorf("%s: %s, %v", text, got, err)
		}
	}
	for _, text := range []string{"P", "PT", "-PT5M", "-5m", "5", "", "P1M"} {
		if got, err := parseSpan(text); err == nil {
			t.Errorf("%q is %s", text, got)
		}
	}
}

func TestParsePosition(t *testing.T) {
	now := time.Date(2026, 12, 1, 14, 0, 0, 0, time.UTC)
	for text, want := range map[string]recovery.PositionMode{
		"orders=earliest": recovery.ToEarliest, "orders:3=latest": recovery.ToLatest, "orders=12": recovery.ToOffset, "orders=offset:12345678901": recovery.ToOffset,
		"orders=-5": recovery.ShiftBy, "orders=+5": recovery.ShiftBy, "orders=2026-12-01T10:00:00Z": recovery.ToDatetime,
	} {
		p, err := parsePosition(text, now)
		if err != nil || p.Mode != want || p.Topic != "orders" || (p.Partition != nil) != strings.Contains(text, ":3=") {
			t.Errorf("%s: %+v, %v", text, p, err)
		}
	}
	for _, text := range []string{"orders", "=earliest", "orders:x=latest", "orders:-1=latest", "orders=2199-01-01T00:00:00Z"} {
		if p, err := parsePosition(text, now); err == nil {
			t.Errorf("%s: %+v", text, p)
		}
	}
}

func TestEveryOutcomeHasItsExitCode(t *testing.T) {
	codes := map[int]recovery.Outcome{}
	for _, o := range []recovery.Outcome{
		recovery.OutcomeVerified, recovery.OutcomeFailed, recovery.OutcomeUsage, recovery.OutcomeBlocked, recovery.OutcomeUnauthorised, recovery.OutcomeGroupActive,
		recovery.OutcomePartial, recovery.OutcomeUnverified, recovery.OutcomeRTOMissed, recovery.OutcomeStale, recovery.OutcomeUnreachable, recovery.OutcomeLeaseHeld, recovery.OutcomeInterrupted,
	} {
		c := exitCode(o)
		if was, taken := codes[c]; taken {
			t.Errorf("%s and %s both exit %d", o, was, c)
		}
		codes[c] = o
	}
}

func TestHooks(t *testing.T) {
	dir := t.TempDir()
	h := hooks{hooksConfig{
		Stop:       []string{"sh", "-c", "echo stopped; echo problem >&2"},
		ClearState: []string{"sh", "-c", "echo half done; exit 3"},
		Start:      []string{"sh", "-c", "(sleep 30; touch " + filepath.Join(dir, "late") + ") & echo started"},
	}}
	if out, err := h.Perform(t.Context(), plans.TaskStop); err != nil || !strings.Contains(out, "stopped") || !strings.Contains(out, "problem") {
		t.Errorf("%q, %v", out, err)
	}
	if _, err := h.Perform(t.Context(), plans.TaskClearState); err == nil || !strings.Contains(err.Error(), "half done") {
		t.Errorf("a hook that fails: %v", err)
	}
	begun := time.Now()
	if out, err := h.Perform(t.Context(), plans.TaskStart); err != nil || out != "started" || time.Since(begun) > 10*time.Second {
		t.Errorf("a hook that leaves something running: %q, %v", out, err)
	}
	if h.HasHook("dance") {
		t.Error("a hook for a task that does not exist")
	}
	slow := hooks{hooksConfig{Stop: []string{"sleep", "30"}, Timeout: duration(50 * time.Millisecond)}}
	if _, err := slow.Perform(t.Context(), plans.TaskStop); err == nil || !strings.Contains(err.Error(), "did not end") {
		t.Errorf("a hook that hangs: %v", err)
	}
}

func TestAppClient(t *testing.T) {
	var asked []string
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		asked = append(asked, r.URL.EscapedPath()+"?"+r.URL.RawQuery)
		switch r.URL.Path {
		case "/store/counts/a/b":
			_, _ = w.Write([]byte(`{"value": 9007199254740993}`))
		case "/store/counts/odd":
			_, _ = w.Write([]byte(`<html>`))
		case "/health":
			http.Error(w, "REBALANCING", http.StatusServiceUnavailable)
		default:
			http.NotFound(w, r)
		}
	}))
	defer server.Close()
	host := strings.TrimPrefix(server.URL, "http://")
	a := newAppClient(applicationConfig{
		Instances: []string{host}, Health: "http://{host}/health",
		Query: queryConfig{URL: "http://{host}/store/{store}/{key}?start={window_start}", Value: "$.value"},
	}, nil, "app")
	got, err := a.Query(t.Context(), "counts", "a/b", nil)
	if err != nil || !got.Found || got.Value != "9007199254740993" {
		t.Errorf("%+v, %v", got, err)
	}
	if asked[0] != "/store/counts/a%2Fb?start=" {
		t.Errorf("asked %s", asked[0])
	}
	if got, err := a.Query(t.Context(), "counts", "absent", nil); err != nil || got.Found {
		t.Errorf("an absent key: %+v, %v", got, err)
	}
	if _, err := a.Query(t.Context(), "counts", "odd", nil); err == nil || !strings.Contains(err.Error(), "not JSON") {
		t.Errorf("an answer that is no JSON: %v", err)
	}
	if err := a.Health(t.Context()); err == nil || !strings.Contains(err.Error(), "503") {
		t.Errorf("health: %v", err)
	}
}

// Endpoints come from the group's members, which anybody can be.
func TestHostileEndpoints(t *testing.T) {
	for host, want := range map[string]bool{
		"10.0.0.7:8080": true, "app-1.svc:80": true, "[::1]:80": true,
		"": false, "host": false, "user:pw@host:80": false, "host:80/path": false, "host:80?x=": false, "host:80#": false, "ho st:80": false,
	} {
		if got := validHost(host); got != want {
			t.Errorf("%q: %v", host, got)
		}
	}
}

func TestLockKeepsASecondRunAway(t *testing.T) {
	p := paths{Locks: filepath.Join(t.TempDir(), "locks")}
	l, err := lockApplication(p, "cluster", "app")
	if err != nil {
		t.Fatal(err)
	}
	if err := l.sign("run-1"); err != nil {
		t.Fatal(err)
	}
	_, err = lockApplication(p, "cluster", "app")
	if problem := problemOf(err); problem.Code != recovery.OutcomeLeaseHeld || !strings.Contains(problem.Message, "run-1") {
		t.Errorf("%+v", problem)
	}
	other, err := lockApplication(p, "cluster", "app-v2")
	if err != nil {
		t.Fatal(err)
	}
	if err := l.release(); err != nil {
		t.Fatal(err)
	}
	again, err := lockApplication(p, "cluster", "app")
	if err != nil {
		t.Fatal(err)
	}
	for _, l := range []*appLock{other, again} {
		if err := l.release(); err != nil {
			t.Error(err)
		}
	}
}

func TestSaveIsWholeOrNot(t *testing.T) {
	d := runDir{id: "x", path: t.TempDir()}
	if err := d.Save("a.json", []byte("one")); err != nil {
		t.Fatal(err)
	}
	if err := d.Save("a.json", []byte("two")); err != nil {
		t.Fatal(err)
	}
	if b, err := d.Load("a.json"); err != nil || string(b) != "two" {
		t.Errorf("%q, %v", b, err)
	}
	entries, err := os.ReadDir(d.path)
	if err != nil || len(entries) != 1 {
		t.Errorf("%d files, %v", len(entries), err)
	}
}

// Nothing from outside reaches the terminal as it is.
func TestComplaintsAreSanitised(t *testing.T) {
	var b strings.Builder
	c := &cli{stderr: &b}
	c.complain(&recovery.Problem{Message: "topic \x1b]52;c;aGk=\x07 is gone\nsecond", Hint: "look \u202eback"})
	if s := b.String(); strings.ContainsAny(s, "\x1b\x07\u202e") || strings.Count(s, "\n") != 3 {
		t.Errorf("%q", s)
	}
}

func TestProblemOfInterrupt(t *testing.T) {
	if p := problemOf(context.Canceled); exitCode(p.Code) != 130 {
		t.Errorf("%+v", p)
	}
	if p := problemOf(&streams.Fault{Kind: streams.FaultAuth, Message: "no"}); exitCode(p.Code) != 4 {
		t.Errorf("%+v", p)
	}
}
