package streams_test

import (
	"bytes"
	"errors"
	"io"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/google/go-cmp/cmp"

	"resurge/streams"
)

const checkpointText = "0\n3\napp-counts-changelog 0 41\napp-counts-changelog 10 -4\napp-totals-changelog 2 9223372036854775807\n"

func TestCheckpoint(t *testing.T) {
	want := map[streams.TopicPartition]int64{
		{Topic: "app-counts-changelog"}:                41,
		{Topic: "app-counts-changelog", Partition: 10}: streams.CheckpointUnknown,
		{Topic: "app-totals-changelog", Partition: 2}:  9223372036854775807,
	}
	for name, text := range map[string]string{
		"as written": checkpointText,
		"on Windows": strings.ReplaceAll(checkpointText, "\n", "\r\n"),
	} {
		got, err := streams.DecodeCheckpoint(iotest.OneByteReader(strings.NewReader(text)))
		if diff := cmp.Diff(want, got); err != nil || diff != "" {
			t.Errorf("%s: %v %s", name, err, diff)
		}
	}
	if diff := cmp.Diff(checkpointText, string(streams.EncodeCheckpoint(want))); diff != "" {
		t.Error(diff)
	}
	if got := string(streams.EncodeCheckpoint(nil)); got != "0\n0\n" {
		t.Errorf("nothing is %q", got)
	}
	for cut := range checkpointText {
		if got, err := streams.DecodeCheckpoint(strings.NewReader(checkpointText[:cut])); !errors.Is(err, streams.ErrTruncated) {
			t.Errorf("cut at %d: %v %v", cut, got, err)
		}
	}
}

func TestCheckpointThatIsNone(t *testing.T) {
	for name, c := range map[string]struct{ text, want string }{
		"newer version":     {"1\n0\n", `version "1"`},
		"no count":          {"0\nx\n", `count "x"`},
		"negative count":    {"0\n-1\n", `count "-1"`},
		"count of 2^31":     {"0\n2147483648\n", "count"},
		"far fewer entries": {"0\n2147483647\n", "entry: truncated"},
		"more entries":      {"0\n0\nt 0 1\n", "more than 0"},
		"blank line":        {"0\n1\n\nt 0 1\n", "entry"},
		"blank line after":  {"0\n1\nt 0 1\n\n", "more than 1"},
		"text after":        {"0\n1\nt 0 1\nt", "end: truncated"},
		"two fields":        {"0\n1\nt 0\n", "entry"},
		"four fields":       {"0\n1\nt 0 1 2\n", "entry"},
		"partition":         {"0\n1\nt x 1\n", "partition"},
		"negative":          {"0\n1\nt -1 1\n", "partition"},
		"offset -1":         {"0\n1\nt 0 -1\n", "offset"},
		"offset 2^63":       {"0\n1\nt 0 9223372036854775808\n", "offset"},
		"twice":             {"0\n2\nt 0 1\nt 0 2\n", "twice"},
		"not UTF-8":         {"0\n1\n\xff 0 1\n", `entry "\\xff 0 1"`},
		"endless line":      {"0\n1\n" + strings.Repeat("t", 1<<17), "too long"},
		"escape sequence":   {"\x1b[2J\n", `version "\\x1b[2J"`},
	} {
		got, err := streams.DecodeCheckpoint(strings.NewReader(c.text))
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v %v, want %q", name, got, err, c.want)
		}
	}
	broken := errors.New("disk")
	for _, head := range []string{"", "0\n", "0\n1\n", "0\n0\n"} {
		r := io.MultiReader(strings.NewReader(head), iotest.ErrReader(broken))
		if _, err := streams.DecodeCheckpoint(r); !errors.Is(err, broken) {
			t.Errorf("read error after %q: %v", head, err)
		}
	}
}

func FuzzCheckpoint(f *testing.F) {
	f.Add([]byte(checkpointText))
	f.Add([]byte("0\n0\n"))
	f.Fuzz(func(t *testing.T, b []byte) {
		m, err := streams.DecodeCheckpoint(bytes.NewReader(b))
		if err != nil {
			return
		}
		back, err := streams.DecodeCheckpoint(bytes.NewReader(streams.EncodeCheckpoint(m)))
		if diff := cmp.Diff(m, back); err != nil || diff != "" {
			t.Errorf("round trip: %v %s", err, diff)
		}
	})
}
