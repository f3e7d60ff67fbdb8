package streams

import (
	"encoding/base64"
	"encoding/binary"
	"fmt"
	"maps"
	"slices"
)

// OffsetMetadata is what Kafka Streams keeps in the metadata string of a
// committed offset (Kafka's TopicPartitionMetadata): base64 of a magic byte, the
// partition time and, since magic 2, what processors keep.
type OffsetMetadata struct {
	// Magic is 2, or 1 from Kafka Streams 2.4 to 3.2; 0 for an empty string.
	Magic int
	// PartitionTime is the partition's stream time in ms; -1 is not known.
	PartitionTime int64
	// Processors maps a state store to the last window close time, in ms, that
	// an emit-on-close aggregation emitted.
	Processors map[string]int64
}

// DecodeOffsetMetadata reads a metadata string. The empty one is legal: nothing
// is known.
func DecodeOffsetMetadata(s string) (OffsetMetadata, error) {
	m := OffsetMetadata{PartitionTime: -1}
	if s == "" {
		return m, nil
	}
	raw, err := base64.StdEncoding.DecodeString(s)
	if err != nil {
		return m, fmt.Errorf("decode offset metadata: %w", err)
	}
	d := &decoder{b: raw}
	m.Magic = int(d.int8("magic"))
	if d.err == nil && m.Magic != 1 && m.Magic != 2 {
		return m, fmt.Errorf("decode offset metadata: magic %d", m.Magic)
	}
	m.PartitionTime = d.int64("partition time")
	if m.Magic == 2 && d.err == nil && len(d.b) > 0 {
		m.Processors = map[string]int64{}
		for range d.count("processors", 12) {
			k := d.utf8("processor", d.bytes32("processor"))
			m.Processors[k] = d.int64("processor time")
		}
	}
	return m, d.end("offset metadata")
}

// Encode writes the string as Kafka Streams does; magic 0 writes "".
func (m OffsetMetadata) Encode() string {
	if m.Magic == 0 {
		return ""
	}
	b := put64([]byte{byte(m.Magic)}, m.PartitionTime)
	if m.Magic >= 2 && len(m.Processors) > 0 {
		b = put32(b, int32(len(m.Processors)))
		for _, k := range slices.Sorted(maps.Keys(m.Processors)) {
			b = binary.BigEndian.AppendUint64(putBytes32(b, []byte(k)), uint64(m.Processors[k]))
		}
	}
	return base64.StdEncoding.EncodeToString(b)
}
