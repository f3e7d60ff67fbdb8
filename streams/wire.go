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

var (
	errModifiedUTF8 = errors.New("not modified UTF-8")
	errUTF8         = errors.New("not UTF-8")
)

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

// index reads a number that is an identity, such as a partition's: it is never
// negative in Kafka, and a negative one could not be written as text and read
// back.
func (d *decoder) index(field string) int32 {
	n := d.int32(field)
	if n < 0 {
		d.fail(field, fmt.Errorf("%d is negative", n))
		return 0
	}
	return n
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

// string32 reads UTF-8 with an int32 length.
func (d *decoder) string32(field string) string { return d.utf8(field, d.bytes32(field)) }

// string16 reads UTF-8 with an int16 length; -1 is null and reads as "".
func (d *decoder) string16(field string) string {
	n := d.int16(field)
	if n == -1 {
		return ""
	}
	return d.utf8(field, d.take(field, int(n)))
}

func (d *decoder) utf8(field string, b []byte) string {
	if !utf8.Valid(b) {
		d.fail(field, errUTF8)
		return ""
	}
	return string(b)
}

// modifiedUTF reads Java's DataOutput.writeUTF: a uint16 length, then modified
// UTF-8, in which NUL takes two bytes and a character beyond the basic plane is
// two surrogates of three bytes each. It takes the writer's form only, so that
// equal strings are equal bytes.
func (d *decoder) modifiedUTF(field string) string {
	raw := d.take(field, int(uint16(d.int16(field))))
	units := make([]uint16, 0, len(raw))
	for len(raw) > 0 {
		u, n := modifiedUnit(raw)
		if n == 0 {
			d.fail(field, errModifiedUTF8)
			return ""
		}
		units = append(units, u)
		raw = raw[n:]
	}
	return d.utf16(field, units)
}

// modifiedUnit reads one UTF-16 unit of modified UTF-8 and says how many bytes it
// took; 0 when they are none.
func modifiedUnit(b []byte) (unit uint16, size int) {
	c := b[0]
	switch {
	case c > 0 && c < 0x80:
		return uint16(c), 1
	case c>>5 == 0b110 && len(b) >= 2 && b[1]>>6 == 0b10:
		u := uint16(c&0x1f)<<6 | uint16(b[1]&0x3f)
		if u >= 0x80 || u == 0 {
			return u, 2
		}
	case c>>4 == 0b1110 && len(b) >= 3 && b[1]>>6 == 0b10 && b[2]>>6 == 0b10:
		u := uint16(c&0x0f)<<12 | uint16(b[1]&0x3f)<<6 | uint16(b[2]&0x3f)
		if u >= 0x800 {
			return u, 3
		}
	}
	return 0, 0
}

// utf16 joins units to a string. A surrogate without its other half has no form
// in Go: it is an error, or two names could become one.
func (d *decoder) utf16(field string, units []uint16) string {
	for i := 0; i < len(units); i++ {
		if !utf16.IsSurrogate(rune(units[i])) {
			continue
		}
		if i+1 == len(units) || utf16.DecodeRune(rune(units[i]), rune(units[i+1])) == utf8.RuneError {
			d.fail(field, errors.New("half a surrogate pair"))
			return ""
		}
		i++
	}
	return string(utf16.Decode(units))
}

// end asks for the first error, and for bytes that nothing explains.
func (d *decoder) end(what string) error {
	if d.err == nil && len(d.b) > 0 {
		d.err = fmt.Errorf("end: %d bytes too many", len(d.b))
	}
	if d.err != nil {
		return fmt.Errorf("decode %s: %w", what, d.err)
	}
	return nil
}

// encoder writes what [decoder] reads, and refuses what it would not read back.
// The first error sticks.
type encoder struct {
	b   []byte
	err error
}

func (e *encoder) fail(field string, err error) {
	if e.err == nil {
		e.err = fmt.Errorf("%s: %w", field, err)
	}
}

func (e *encoder) int32(v int32) { e.b = put32(e.b, v) }

func (e *encoder) int64(v int64) { e.b = put64(e.b, v) }

func (e *encoder) index(field string, v int32) {
	if v < 0 {
		e.fail(field, fmt.Errorf("%d is negative", v))
	}
	e.int32(v)
}

func (e *encoder) count(field string, n int) {
	if n > math.MaxInt32 {
		e.fail(field, fmt.Errorf("%d elements: more than an int32", n))
	}
	e.int32(int32(n))
}

// string32 writes UTF-8 with an int32 length.
func (e *encoder) string32(field, s string) {
	e.valid(field, s)
	e.count(field, len(s))
	e.b = append(e.b, s...)
}

// nullable16 writes UTF-8 with an int16 length, "" as null.
func (e *encoder) nullable16(field, s string) {
	e.valid(field, s)
	if s == "" {
		e.b = binary.BigEndian.AppendUint16(e.b, math.MaxUint16)
		return
	}
	if len(s) > math.MaxInt16 {
		e.fail(field, fmt.Errorf("%d bytes: more than an int16", len(s)))
	}
	e.b = append(binary.BigEndian.AppendUint16(e.b, uint16(len(s))), s...)
}

// modifiedUTF writes Java's DataOutput.writeUTF.
func (e *encoder) modifiedUTF(field, s string) {
	e.valid(field, s)
	raw := make([]byte, 0, len(s))
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
	if len(raw) > math.MaxUint16 {
		e.fail(field, fmt.Errorf("%d bytes: more than a uint16", len(raw)))
	}
	e.b = append(binary.BigEndian.AppendUint16(e.b, uint16(len(raw))), raw...)
}

func (e *encoder) valid(field, s string) {
	if !utf8.ValidString(s) {
		e.fail(field, errUTF8)
	}
}

func (e *encoder) end(what string) ([]byte, error) {
	if e.err != nil {
		return nil, fmt.Errorf("encode %s: %w", what, e.err)
	}
	return e.b, nil
}

func put32(b []byte, v int32) []byte { return binary.BigEndian.AppendUint32(b, uint32(v)) }

func put64(b []byte, v int64) []byte { return binary.BigEndian.AppendUint64(b, uint64(v)) }
