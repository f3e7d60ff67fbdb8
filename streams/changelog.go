package streams

import (
	"encoding/binary"
	"fmt"
)

// WindowKey is the key of a windowed store in its changelog: the user's key, the
// window start and a sequence number (Kafka's WindowKeySchema). The window's size
// is not on the wire.
type WindowKey struct {
	// Key is the user's serialized key. What a decoder answers shares its bytes.
	Key []byte
	// StartMillis is the window start, or in a stream-stream join the record's
	// timestamp, in ms since 1970.
	StartMillis int64
	// Seq is 0 but for stream-stream joins, which number their duplicates.
	Seq int32
}

// DecodeWindowKey reads key ‖ int64 start ‖ int32 seq. Any 12 bytes or more are
// such a key: that the topic holds windows has to be known from elsewhere.
func DecodeWindowKey(b []byte) (WindowKey, error) {
	key, tail, err := cutTail("window key", b, 12)
	if err != nil {
		return WindowKey{}, err
	}
	return WindowKey{Key: key, StartMillis: beInt64(tail), Seq: int32(binary.BigEndian.Uint32(tail[8:]))}, nil
}

// EncodeWindowKey writes what [DecodeWindowKey] reads.
func EncodeWindowKey(k WindowKey) []byte {
	b := append(make([]byte, 0, len(k.Key)+12), k.Key...)
	return put32(put64(b, k.StartMillis), k.Seq)
}

// DecodeWindowedUserKey reads a time-windowed key in a topic of the user, which
// has no sequence number: key ‖ int64 start (Kafka's TimeWindowedSerializer). Seq
// is 0.
func DecodeWindowedUserKey(b []byte) (WindowKey, error) {
	key, tail, err := cutTail("windowed key", b, 8)
	if err != nil {
		return WindowKey{}, err
	}
	return WindowKey{Key: key, StartMillis: beInt64(tail)}, nil
}

// SessionKey is the key of a session store in its changelog, and of a session in
// a topic of the user (Kafka's SessionKeySchema). The end comes first.
type SessionKey struct {
	// Key is the user's serialized key. What a decoder answers shares its bytes.
	Key []byte
	// EndMillis and StartMillis are the times of the session's last and first
	// records, in ms since 1970.
	EndMillis   int64
	StartMillis int64
}

// DecodeSessionKey reads key ‖ int64 end ‖ int64 start. Any 16 bytes or more are
// such a key, also when the end lies before the start: callers that guess check.
func DecodeSessionKey(b []byte) (SessionKey, error) {
	key, tail, err := cutTail("session key", b, 16)
	if err != nil {
		return SessionKey{}, err
	}
	return SessionKey{Key: key, EndMillis: beInt64(tail), StartMillis: beInt64(tail[8:])}, nil
}

// EncodeSessionKey writes what [DecodeSessionKey] reads.
func EncodeSessionKey(k SessionKey) []byte {
	b := append(make([]byte, 0, len(k.Key)+16), k.Key...)
	return put64(put64(b, k.EndMillis), k.StartMillis)
}

// cutTail splits off the last n bytes.
func cutTail(what string, b []byte, n int) (key, tail []byte, err error) {
	i := len(b) - n
	if i < 0 {
		return nil, nil, fmt.Errorf("decode %s: %d of at least %d bytes: %w", what, len(b), n, ErrTruncated)
	}
	return b[:i:i], b[i:], nil
}

func beInt64(b []byte) int64 { return int64(binary.BigEndian.Uint64(b)) }
