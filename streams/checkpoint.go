package streams

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"maps"
	"slices"
	"strconv"
	"strings"
)

// CheckpointUnknown is the offset of a changelog whose position is not known
// (Kafka's OffsetCheckpoint.OFFSET_UNKNOWN).
const CheckpointUnknown int64 = -4

// DecodeCheckpoint reads a task's .checkpoint file: the last applied changelog
// offset per partition; a restore goes on after it.
func DecodeCheckpoint(r io.Reader) (map[TopicPartition]int64, error) {
	lines := bufio.NewScanner(r)
	next := func(what string) (string, error) {
		if !lines.Scan() {
			if err := lines.Err(); err != nil {
				return "", fmt.Errorf("read checkpoint: %w", err)
			}
			return "", fmt.Errorf("read checkpoint: %s: %w", what, ErrTruncated)
		}
		return strings.TrimSpace(lines.Text()), nil
	}
	version, err := next("version")
	if err != nil {
		return nil, err
	}
	if version != "0" {
		return nil, fmt.Errorf("read checkpoint: version %q", Quote(version))
	}
	text, err := next("count")
	if err != nil {
		return nil, err
	}
	count, err := strconv.Atoi(text)
	if err != nil || count < 0 {
		return nil, fmt.Errorf("read checkpoint: count %q", Quote(text))
	}
	out := map[TopicPartition]int64{}
	for range count {
		line, err := next("entry")
		if err != nil {
			return nil, err
		}
		tp, offset, err := checkpointEntry(line)
		if err != nil {
			return nil, err
		}
		out[tp] = offset
	}
	if lines.Scan() {
		return nil, fmt.Errorf("read checkpoint: more than %d entries", count)
	}
	return out, nil
}

func checkpointEntry(line string) (TopicPartition, int64, error) {
	f := strings.Fields(line)
	if len(f) != 3 {
		return TopicPartition{}, 0, fmt.Errorf("read checkpoint: entry %q", Quote(line))
	}
	p, errP := strconv.ParseInt(f[1], 10, 32)
	o, errO := strconv.ParseInt(f[2], 10, 64)
	if errP != nil || errO != nil || p < 0 || o < 0 && o != CheckpointUnknown {
		return TopicPartition{}, 0, fmt.Errorf("read checkpoint: entry %q", Quote(line))
	}
	return TopicPartition{Topic: f[0], Partition: int32(p)}, o, nil
}

// EncodeCheckpoint writes the file, partitions in order.
func EncodeCheckpoint(m map[TopicPartition]int64) []byte {
	var b bytes.Buffer
	fmt.Fprintf(&b, "0\n%d\n", len(m))
	for _, tp := range slices.SortedFunc(maps.Keys(m), TopicPartition.Compare) {
		fmt.Fprintf(&b, "%s %d %d\n", tp.Topic, tp.Partition, m[tp])
	}
	return b.Bytes()
}
