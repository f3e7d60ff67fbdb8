package streams

import (
	"encoding/binary"
	"fmt"
)

// WindowKey is the key of a windowed store in its changelog: the user's key, the
// window start and a sequence number (Kafka's WindowKeySchema).
type WindowKey struct {
	Key         []byte
	StartMillis int64
	Seq         int32 // 0 but for stream-stream joins
}

// DecodeWindowKey reads key ‖ int64 start ‖ int32 seq.
func DecodeWindowKey(b []byte) (WindowKey, error) {
	if len(b) < 12 {
		return WindowKey{}, fmt.Errorf("decode window key of %d bytes: %w", len(b), ErrTruncated)
	}
	n := len(b) - 12
	return WindowKey{
		Key: b[:n:n], StartMillis: int64(binary.BigEndian.Uint64(b[n:])), Seq: int32(binary.BigEndian.Uint32(b[n+8:])),
	}, nil
}

// EncodeWindowKey writes what [DecodeWindowKey] reads.
func EncodeWindowKey(k WindowKey) []byte {
	return put32(put64(append([]byte(nil), k.Key...), k.StartMillis), k.Seq)
}

// DecodeWindowedUserKey reads a time-windowed key in a topic of the user, which
// has no sequence number (Kafka's TimeWindowedSerializer).
func DecodeWindowedUserKey(b []byte) (WindowKey, error) {
	if len(b) < 8 {
		return WindowKey{}, fmt.Errorf("decode windowed key of %d bytes: %w", len(b), ErrTruncated)
	}
	n := len(b) - 8
	return WindowKey{Key: b[:n:n], StartMillis: int64(binary.BigEndian.Uint64(b[n:]))}, nil
}

// SessionKey is the key of a session store in its changelog, and of a session in
// a topic of the user (Kafka's SessionKeySchema). The end comes first.
type SessionKey struct {
	Key         []byte
	EndMillis   int64
	StartMillis int64
}

// DecodeSessionKey reads key ‖ int64 end ‖ int64 start.
func DecodeSessionKey(b []byte) (SessionKey, error) {
	if len(b) < 16 {
		return SessionKey{}, fmt.Errorf("decode session key of %d bytes: %w", len(b), ErrTruncated)
	}
	n := len(b) - 16
	return SessionKey{
		Key: b[:n:n], EndMillis: int64(binary.BigEndian.Uint64(b[n:])), StartMillis: int64(binary.BigEndian.Uint64(b[n+8:])),
	}, nil
}

// EncodeSessionKey writes what [DecodeSessionKey] reads.
func EncodeSessionKey(k SessionKey) []byte {
	return put64(put64(append([]byte(nil), k.Key...), k.EndMillis), k.StartMillis)
}
