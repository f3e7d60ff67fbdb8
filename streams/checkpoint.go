package streams

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"
)

// CheckpointUnknown is the offset of a changelog whose position is not known
// (Kafka's OffsetCheckpoint.OFFSET_UNKNOWN).
const CheckpointUnknown int64 = -4

// checkpointVersion is the first line of a .checkpoint file, the only one that
// Kafka ever wrote.
const checkpointVersion = "0"

// DecodeCheckpoint reads a task's .checkpoint file (Kafka's OffsetCheckpoint, up
// to 4.2): per changelog partition the offset last applied, so that a restore
// goes on at the next one, or [CheckpointUnknown]. Kafka moves the file into
// place whole, with a line break at its end: without one, or with another number
// of entries than it says, it was cut. Such errors wrap [ErrTruncated].
func DecodeCheckpoint(r io.Reader) (map[TopicPartition]int64, error) {
	lines := bufio.NewScanner(r)
	lines.Split(wholeLines)
	version, err := checkpointLine(lines, "version")
	if err != nil {
		return nil, err
	}
	if version != checkpointVersion {
		return nil, fmt.Errorf("decode checkpoint: version %q: want %s", Quote(version), checkpointVersion)
	}
	text, err := checkpointLine(lines, "count")
	if err != nil {
		return nil, err
	}
	count, err := strconv.ParseInt(text, 10, 32)
	if err != nil || count < 0 {
		return nil, fmt.Errorf("decode checkpoint: count %q: want a number", Quote(text))
	}
	out := map[TopicPartition]int64{}
	for range count {
		line, err := checkpointLine(lines, "entry")
		if err != nil {
			return nil, err
		}
		tp, offset, err := checkpointEntry(line)
		if err != nil {
			return nil, fmt.Errorf("decode checkpoint: entry %q: %w", Quote(line), err)
		}
		if _, twice := out[tp]; twice {
			return nil, fmt.Errorf("decode checkpoint: entry %q: partition is there twice", Quote(line))
		}
		out[tp] = offset
	}
	if lines.Scan() {
		return nil, fmt.Errorf("decode checkpoint: count: more than %d entries", count)
	}
	if err := lines.Err(); err != nil {
		return nil, fmt.Errorf("decode checkpoint: end: %w", err)
	}
	return out, nil
}

// wholeLines splits like bufio.ScanLines, but takes no line without its break.
func wholeLines(data []byte, atEOF bool) (advance int, token []byte, err error) {
	if i := bytes.IndexByte(data, '\n'); i >= 0 {
		return i + 1, bytes.TrimSuffix(data[:i], []byte("\r")), nil
	}
	if atEOF && len(data) > 0 {
		return 0, nil, ErrTruncated
	}
	return 0, nil, nil
}

func checkpointLine(lines *bufio.Scanner, field string) (string, error) {
	if lines.Scan() {
		return lines.Text(), nil
	}
	err := lines.Err()
	if err == nil {
		err = ErrTruncated
	}
	return "", fmt.Errorf("decode checkpoint: %s: %w", field, err)
}

func checkpointEntry(line string) (TopicPartition, int64, error) {
	f := strings.Fields(line)
	if len(f) != 3 || !utf8.ValidString(line) {
		return TopicPartition{}, 0, errors.New("want topic, partition, offset")
	}
	p, err := strconv.ParseInt(f[1], 10, 32)
	if err != nil || p < 0 {
		return TopicPartition{}, 0, errors.New("partition is no number")
	}
	o, err := strconv.ParseInt(f[2], 10, 64)
	if err != nil || o < 0 && o != CheckpointUnknown {
		return TopicPartition{}, 0, errors.New("offset is no number")
	}
	return TopicPartition{Topic: f[0], Partition: int32(p)}, o, nil
}

// EncodeCheckpoint writes the file, partitions in order. It trusts its caller:
// topics without white space, numbers that [DecodeCheckpoint] takes.
func EncodeCheckpoint(m map[TopicPartition]int64) []byte {
	var b bytes.Buffer
	fmt.Fprintf(&b, "%s\n%d\n", checkpointVersion, len(m))
	for _, tp := range slices.SortedFunc(maps.Keys(m), TopicPartition.Compare) {
		fmt.Fprintf(&b, "%s %d %d\n", tp.Topic, tp.Partition, m[tp])
	}
	return b.Bytes()
}
