package streams_test

import (
	"encoding/base64"
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"resurge/streams"
)

// offsetVectors are strings that Kafka's own class wrote.
var offsetVectors = map[string]streams.OffsetMetadata{
	"AgAAAYvP5WgA": {Magic: 2, PartitionTime: 1700000000000},
	"Av//////////": {Magic: 2, PartitionTime: -1},
	"AgAAAYvP5WgAAAAAAQAAABxLU1RSRUFNLUFHR1JFR0FURS0wMDAwMDAwMDAxAAABi8/lZBg=": {
		Magic: 2, PartitionTime: 1700000000000, Processors: map[string]int64{"KSTREAM-AGGREGATE-0000000001": 1699999999000},
	},
}

func TestOffsetMetadataVectors(t *testing.T) {
	for text, want := range offsetVectors {
		got, err := streams.DecodeOffsetMetadata(text)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s: %s", text, diff)
		}
		if again := got.Encode(); again != text {
			t.Errorf("encode: %s, want %s", again, text)
		}
		for cut := range text {
			_, err := streams.DecodeOffsetMetadata(text[:cut])
			// Nothing at all is legal, and so are nine bytes: no processors.
			if legal := cut == 0 || cut == 12; legal != (err == nil) {
				t.Errorf("%s cut at %d: %v", text, cut, err)
			}
		}
		raw, err := base64.StdEncoding.DecodeString(text)
		if err != nil {
			t.Fatal(err)
		}
		for cut := 1; cut < len(raw); cut++ {
			_, err := streams.DecodeOffsetMetadata(base64.StdEncoding.EncodeToString(raw[:cut]))
			if cut != 9 && (!errors.Is(err, streams.ErrTruncated) || strings.Count(err.Error(), ": ") < 2) {
				t.Errorf("%s cut at byte %d: %v", text, cut, err)
			}
		}
	}
}

func TestOffsetMetadataOfOtherKinds(t *testing.T) {
	enc := base64.StdEncoding.EncodeToString
	time := "\x00\x00\x00\x00\x00\x00\x00\x05"
	for name, c := range map[string]struct {
		text, err string
		want      streams.OffsetMetadata
	}{
		"empty":                     {"", "", streams.OffsetMetadata{PartitionTime: -1}},
		"magic 1":                   {enc([]byte("\x01" + time)), "", streams.OffsetMetadata{Magic: 1, PartitionTime: 5}},
		"magic 1, a byte too many":  {enc([]byte("\x01" + time + "\x00")), "end", streams.OffsetMetadata{PartitionTime: -1}},
		"magic 0":                   {enc([]byte("\x00" + time)), "magic", streams.OffsetMetadata{PartitionTime: -1}},
		"magic 3":                   {enc([]byte("\x03" + time)), "newer", streams.OffsetMetadata{PartitionTime: -1}},
		"magic -1":                  {enc([]byte("\xff" + time)), "magic", streams.OffsetMetadata{PartitionTime: -1}},
		"somebody else's":           {"mm2-checkpoint", "base64", streams.OffsetMetadata{PartitionTime: -1}},
		"a line break":              {"AgAAAYvP\n5WgA", "base64", streams.OffsetMetadata{PartitionTime: -1}},
		"padding bits":              {"AR==", "base64", streams.OffsetMetadata{PartitionTime: -1}},
		"no processors, spelt out":  {enc([]byte("\x02" + time + "\x00\x00\x00\x00")), "", streams.OffsetMetadata{Magic: 2, PartitionTime: 5}},
		"2^31-1 processors":         {enc([]byte("\x02" + time + "\x7f\xff\xff\xff")), "processors", streams.OffsetMetadata{PartitionTime: -1}},
		"-1 processors":             {enc([]byte("\x02" + time + "\xff\xff\xff\xff")), "processors", streams.OffsetMetadata{PartitionTime: -1}},
		"processor of 2^31-1 bytes": {enc([]byte("\x02" + time + "\x00\x00\x00\x01\x7f\xff\xff\xff" + time)), "processor", streams.OffsetMetadata{PartitionTime: -1}},
		"processor not UTF-8":       {enc([]byte("\x02" + time + "\x00\x00\x00\x01\x00\x00\x00\x01\xff" + time)), "processor: not UTF-8", streams.OffsetMetadata{PartitionTime: -1}},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := streams.DecodeOffsetMetadata(c.text)
			if diff := cmp.Diff(c.want, got); diff != "" {
				t.Error(diff)
			}
			if (err == nil) != (c.err == "") || err != nil && !strings.Contains(err.Error(), c.err) {
				t.Errorf("got %v, want %q", err, c.err)
			}
			if want := c.err == "newer"; errors.Is(err, streams.ErrNewerVersion) != want {
				t.Errorf("newer version: %v", err)
			}
		})
	}
	if s := (streams.OffsetMetadata{PartitionTime: -1}).Encode(); s != "" {
		t.Errorf("nothing known is %q", s)
	}
	if s := (streams.OffsetMetadata{Magic: 1, PartitionTime: 5, Processors: map[string]int64{"s": 1}}).Encode(); s != enc([]byte("\x01"+time)) {
		t.Errorf("magic 1 is %q", s)
	}
}

func FuzzOffsetMetadata(f *testing.F) {
	for s := range offsetVectors {
		f.Add(s)
	}
	f.Add("")
	f.Fuzz(func(t *testing.T, s string) {
		m, err := streams.DecodeOffsetMetadata(s)
		if err != nil {
			return
		}
		if back, err := streams.DecodeOffsetMetadata(m.Encode()); err != nil || !cmp.Equal(m, back) {
			t.Errorf("round trip: %v\n%s", err, cmp.Diff(m, back))
		}
	})
}
