package streams_test

import (
	"bytes"
	"encoding/hex"
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"

	"resurge/streams"
)

// windowKeys are record keys that Kafka Streams wrote to its changelogs.
var windowKeys = map[string]streams.WindowKey{
	"6b00000000000003e800000000":   {Key: []byte("k"), StartMillis: 1000},         // window of 100 ms
	"6b 00000000000003e8 00000001": {Key: []byte("k"), StartMillis: 1000, Seq: 1}, // join window
	"6b 00000000000003e8 00000002": {Key: []byte("k"), StartMillis: 1000, Seq: 2},
}

var sessionKeys = map[string]streams.SessionKey{
	"6b 000000000000041a 000000000000041a": {Key: []byte("k"), EndMillis: 1050, StartMillis: 1050},
	"6b 0000000000000424 000000000000041a": {Key: []byte("k"), EndMillis: 1060, StartMillis: 1050},
}

func TestWindowKeyVectors(t *testing.T) {
	for text, want := range windowKeys {
		raw := unhex(t, text)
		got, err := streams.DecodeWindowKey(raw)
		if diff := cmp.Diff(want, got); err != nil || diff != "" {
			t.Errorf("%s: %v %s", text, err, diff)
		}
		if again := streams.EncodeWindowKey(got); !bytes.Equal(raw, again) {
			t.Errorf("encode: %x, want %x", again, raw)
		}
		user, err := streams.DecodeWindowedUserKey(raw[:len(raw)-4])
		want.Seq = 0
		if diff := cmp.Diff(want, user); err != nil || diff != "" {
			t.Errorf("%s in a user's topic: %v %s", text, err, diff)
		}
	}
}

func TestSessionKeyVectors(t *testing.T) {
	for text, want := range sessionKeys {
		raw := unhex(t, text)
		got, err := streams.DecodeSessionKey(raw)
		if diff := cmp.Diff(want, got); err != nil || diff != "" {
			t.Errorf("%s: %v %s", text, err, diff)
		}
		if again := streams.EncodeSessionKey(got); !bytes.Equal(raw, again) {
			t.Errorf("encode: %x, want %x", again, raw)
		}
	}
}

// Any bytes are a key of the user's, so a cut shows only where the times are.
func TestShortKeysAreRefused(t *testing.T) {
	for name, c := range map[string]struct {
		least  int
		decode func([]byte) error
	}{
		"window":   {12, func(b []byte) error { _, err := streams.DecodeWindowKey(b); return err }},
		"session":  {16, func(b []byte) error { _, err := streams.DecodeSessionKey(b); return err }},
		"windowed": {8, func(b []byte) error { _, err := streams.DecodeWindowedUserKey(b); return err }},
	} {
		for n := range 20 {
			err := c.decode(make([]byte, n))
			if n < c.least && !errors.Is(err, streams.ErrTruncated) || n >= c.least && err != nil {
				t.Errorf("%s key of %d bytes: %v", name, n, err)
			}
		}
	}
}

func TestDecodedKeyCannotGrowIntoItsTimes(t *testing.T) {
	raw := unhex(t, "6b00000000000003e800000000")
	got, err := streams.DecodeWindowKey(raw)
	if err != nil {
		t.Fatal(err)
	}
	_ = append(got.Key, 0xff)
	if s := hex.EncodeToString(raw); s != "6b00000000000003e800000000" {
		t.Errorf("the record is now %s", s)
	}
}

func FuzzWindowKey(f *testing.F) {
	for text := range windowKeys {
		f.Add(unhex(f, text))
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		if k, err := streams.DecodeWindowKey(b); err == nil && !bytes.Equal(streams.EncodeWindowKey(k), b) {
			t.Errorf("%x: %+v", b, k)
		}
		if k, err := streams.DecodeWindowedUserKey(b); err == nil && !bytes.Equal(streams.EncodeWindowKey(k)[:len(b)], b) {
			t.Errorf("%x: %+v", b, k)
		}
	})
}

func FuzzSessionKey(f *testing.F) {
	for text := range sessionKeys {
		f.Add(unhex(f, text))
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		if k, err := streams.DecodeSessionKey(b); err == nil && !bytes.Equal(streams.EncodeSessionKey(k), b) {
			t.Errorf("%x: %+v", b, k)
		}
	})
}
