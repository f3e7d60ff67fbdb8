package streams

import (
	"encoding/base64"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
)

// offsetMagic is the newest magic byte of offset metadata.
const offsetMagic = 2

// OffsetMetadata is what Kafka Streams keeps in the metadata string of a
// committed offset (Kafka's TopicPartitionMetadata): base64 of a magic byte, the
// partition time (KIP-539) and, since magic 2, what processors keep.
type OffsetMetadata struct {
	// Magic is 2, or 1 from Kafka Streams 2.4 to 3.2; 0 for an empty string.
	Magic int
	// PartitionTime is the partition's stream time in ms; -1 is not known.
	PartitionTime int64
	// Processors maps a state store to the last window close time, in ms, that
	// an emit-on-close aggregation emitted (KIP-825); nil when there is none.
	Processors map[string]int64
}

// DecodeOffsetMetadata reads a metadata string. The empty one is legal: nothing
// is known, and magic is 0. A magic beyond 2 is an error that wraps
// [ErrNewerVersion]; bytes that end early one that wraps [ErrTruncated]. On an
// error the partition time is -1. To commit the same position again, write the
// string that was read, not what Encode makes of it.
func DecodeOffsetMetadata(s string) (OffsetMetadata, error) {
	const what = "offset metadata"
	unknown := OffsetMetadata{PartitionTime: -1}
	if s == "" {
		return unknown, nil
	}
	if strings.ContainsAny(s, "\r\n") { // which Go's decoder skips and Java's does not
		return unknown, fmt.Errorf("decode %s: base64: %w", what, errors.New("line break"))
	}
	raw, err := base64.StdEncoding.Strict().DecodeString(s)
	if err != nil {
		return unknown, fmt.Errorf("decode %s: base64: %w", what, err)
	}
	d := &decoder{b: raw}
	magic := int(d.int8("magic"))
	switch {
	case d.err != nil:
		return unknown, d.end(what)
	case magic > offsetMagic:
		return unknown, fmt.Errorf("decode %s: magic %d: %w", what, magic, ErrNewerVersion)
	case magic < 1:
		return unknown, fmt.Errorf("decode %s: magic: %d is not positive", what, magic)
	}
	m := OffsetMetadata{Magic: magic, PartitionTime: d.int64("partition time")}
	if magic >= 2 && len(d.b) > 0 {
		m.Processors = d.processors()
	}
	if err := d.end(what); err != nil {
		return unknown, err
	}
	return m, nil
}

func (d *decoder) processors() map[string]int64 {
	n := d.count("processors", 12)
	if n == 0 {
		return nil
	}
	out := make(map[string]int64, n)
	for range n {
		k := d.string32("processor")
		out[k] = d.int64("processor time")
	}
	return out
}

// Encode writes the string as Kafka Streams does, processors in order; magic 0
// writes "", whatever the other fields hold, and magic 1 has no processors. A
// broker refuses more than offset.metadata.max.bytes, 4096 unless it is set.
func (m OffsetMetadata) Encode() string {
	if m.Magic == 0 {
		return ""
	}
	e := &encoder{b: []byte{byte(m.Magic)}}
	e.int64(m.PartitionTime)
	if m.Magic >= 2 && len(m.Processors) > 0 {
		e.count("processors", len(m.Processors))
		for _, k := range slices.Sorted(maps.Keys(m.Processors)) {
			e.string32("processor", k)
			e.int64(m.Processors[k])
		}
	}
	return base64.StdEncoding.EncodeToString(e.b)
}
