package streams

import (
	"cmp"
	"encoding/hex"
	"fmt"
	"strconv"
	"strings"
)

// TaskID names one task: a subtopology over one partition (Kafka's TaskId).
type TaskID struct {
	Subtopology int32
	Partition   int32
	// Named is the named topology, "" for the usual one.
	Named string
}

// String gives Kafka's form: "0_1", or "name__0_1" in a named topology.
func (t TaskID) String() string {
	s := strconv.Itoa(int(t.Subtopology)) + "_" + strconv.Itoa(int(t.Partition))
	if t.Named != "" {
		s = t.Named + "__" + s
	}
	return s
}

// Compare orders by named topology, subtopology, partition.
func (t TaskID) Compare(o TaskID) int {
	return cmp.Or(strings.Compare(t.Named, o.Named), cmp.Compare(t.Subtopology, o.Subtopology), cmp.Compare(t.Partition, o.Partition))
}

// MarshalText implements encoding.TextMarshaler, also for map keys.
func (t TaskID) MarshalText() ([]byte, error) { return []byte(t.String()), nil }

// UnmarshalText implements encoding.TextUnmarshaler.
func (t *TaskID) UnmarshalText(b []byte) error {
	got, err := ParseTaskID(string(b))
	if err == nil {
		*t = got
	}
	return err
}

// ParseTaskID reads what [TaskID.String] writes, which is also the name of a
// task's directory.
func ParseTaskID(s string) (TaskID, error) {
	var t TaskID
	rest := s
	if i := strings.LastIndex(s, "__"); i > 0 {
		t.Named, rest = s[:i], s[i+2:]
	}
	sub, part, ok := strings.Cut(rest, "_")
	a, errA := strconv.ParseUint(sub, 10, 31)
	b, errB := strconv.ParseUint(part, 10, 31)
	if !ok || errA != nil || errB != nil {
		return TaskID{}, fmt.Errorf("parse task %q: want subtopology_partition", Quote(s))
	}
	t.Subtopology, t.Partition = int32(a), int32(b)
	return t, nil
}

// ProcessID is the UUID of one instance, kept in its state directory.
type ProcessID [16]byte

// String gives the UUID form.
func (p ProcessID) String() string {
	h := hex.EncodeToString(p[:])
	return h[:8] + "-" + h[8:12] + "-" + h[12:16] + "-" + h[16:20] + "-" + h[20:]
}

// MarshalText implements encoding.TextMarshaler.
func (p ProcessID) MarshalText() ([]byte, error) { return []byte(p.String()), nil }

// UnmarshalText implements encoding.TextUnmarshaler.
func (p *ProcessID) UnmarshalText(b []byte) error {
	raw, err := hex.DecodeString(strings.ReplaceAll(string(b), "-", ""))
	if err != nil || len(raw) != len(p) {
		return fmt.Errorf("parse process id %q: want a UUID", Quote(string(b)))
	}
	copy(p[:], raw)
	return nil
}
