package streams

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"unicode/utf16"
	"unicode/utf8"
)

// ErrTruncated says that bytes ended before a field did.
var ErrTruncated = errors.New("truncated")

// decoder reads big-endian fields of hostile bytes. The first error sticks and
// every later read answers zero, so that a codec reads straight through and
// asks once at the end.
type decoder struct {
	b   []byte
	err error
}

func (d *decoder) fail(field string, err error) {
	if d.err == nil {
		d.err = fmt.Errorf("%s: %w", field, err)
	}
}

func (d *decoder) take(field string, n int) []byte {
	if d.err != nil {
		return nil
	}
	if n < 0 || n > len(d.b) {
		d.fail(field, ErrTruncated)
		return nil
	}
	out := d.b[:n]
	d.b = d.b[n:]
	return out
}

func (d *decoder) int8(field string) int8 {
	if b := d.take(field, 1); b != nil {
		return int8(b[0])
	}
	return 0
}

func (d *decoder) int16(field string) int16 {
	if b := d.take(field, 2); b != nil {
		return int16(binary.BigEndian.Uint16(b))
	}
	return 0
}

func (d *decoder) int32(field string) int32 {
	if b := d.take(field, 4); b != nil {
		return int32(binary.BigEndian.Uint32(b))
	}
	return 0
}

func (d *decoder) int64(field string) int64 {
	if b := d.take(field, 8); b != nil {
		return int64(binary.BigEndian.Uint64(b))
	}
	return 0
}

// count reads an array's length and refuses one whose elements, of at least
// size bytes each, cannot follow.
func (d *decoder) count(field string, size int) int {
	n := int(d.int32(field))
	if d.err == nil && (n < 0 || n > len(d.b)/size) {
		d.fail(field, fmt.Errorf("%d elements: %w", n, ErrTruncated))
		return 0
	}
	return n
}

// bytes32 reads bytes with an int32 length.
func (d *decoder) bytes32(field string) []byte { return d.take(field, int(d.int32(field))) }

// string16 reads a string with an int16 length; -1 is null and reads as "".
func (d *decoder) string16(field string) string {
	n := d.int16(field)
	if n == -1 {
		return ""
	}
	return d.utf8(field, d.take(field, int(n)))
}

func (d *decoder) utf8(field string, b []byte) string {
	if !utf8.Valid(b) {
		d.fail(field, errors.New("not UTF-8"))
		return ""
	}
	return string(b)
}

// modifiedUTF reads Java's DataOutput.writeUTF: a uint16 length, then modified
// UTF-8, in which characters beyond the basic plane are two surrogates.
func (d *decoder) modifiedUTF(field string) string {
	raw := d.take(field, int(uint16(d.int16(field))))
	var units []uint16
	for i := 0; i < len(raw); {
		switch c := raw[i]; {
		case c < 0x80:
			units = append(units, uint16(c))
			i++
		case c>>5 == 0b110 && i+1 < len(raw):
			units = append(units, uint16(c&0x1f)<<6|uint16(raw[i+1]&0x3f))
			i += 2
		case c>>4 == 0b1110 && i+2 < len(raw):
			units = append(units, uint16(c&0x0f)<<12|uint16(raw[i+1]&0x3f)<<6|uint16(raw[i+2]&0x3f))
			i += 3
		default:
			d.fail(field, errors.New("not modified UTF-8"))
			return ""
		}
	}
	return string(utf16.Decode(units))
}

// end asks for the first error, and for bytes that nothing explains.
func (d *decoder) end(what string) error {
	if d.err == nil && len(d.b) > 0 {
		d.err = fmt.Errorf("%d bytes too many", len(d.b))
	}
	if d.err != nil {
		return fmt.Errorf("decode %s: %w", what, d.err)
	}
	return nil
}

func putBytes32(b, v []byte) []byte {
	b = binary.BigEndian.AppendUint32(b, uint32(len(v)))
	return append(b, v...)
}

func put32(b []byte, v int32) []byte { return binary.BigEndian.AppendUint32(b, uint32(v)) }

func put64(b []byte, v int64) []byte { return binary.BigEndian.AppendUint64(b, uint64(v)) }

// putNullable16 writes a string with an int16 length, "" as null.
func putNullable16(b []byte, s string) []byte {
	if s == "" {
		return binary.BigEndian.AppendUint16(b, math.MaxUint16)
	}
	return append(binary.BigEndian.AppendUint16(b, uint16(len(s))), s...)
}

// putModifiedUTF writes Java's DataOutput.writeUTF.
func putModifiedUTF(b []byte, s string) []byte {
	var raw []byte
	for _, u := range utf16.Encode([]rune(s)) {
		switch {
		case u != 0 && u < 0x80:
			raw = append(raw, byte(u))
		case u < 0x800:
			raw = append(raw, 0b11000000|byte(u>>6), 0x80|byte(u&0x3f))
		default:
			raw = append(raw, 0b11100000|byte(u>>12), 0x80|byte(u>>6&0x3f), 0x80|byte(u&0x3f))
		}
	}
	return append(binary.BigEndian.AppendUint16(b, uint16(len(raw))), raw...)
}
