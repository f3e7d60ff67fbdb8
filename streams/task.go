package streams

import (
	"cmp"
	"encoding/hex"
	"fmt"
	"strconv"
	"strings"
)

// TaskID names one task: a subtopology over one partition (Kafka's TaskId).
// It is comparable and serves as a map key, in JSON too.
type TaskID struct {
	// Subtopology and Partition are never negative.
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

// Compare orders by named topology, subtopology, partition. It returns -1, 0 or 1.
func (t TaskID) Compare(o TaskID) int {
	return cmp.Or(strings.Compare(t.Named, o.Named), cmp.Compare(t.Subtopology, o.Subtopology), cmp.Compare(t.Partition, o.Partition))
}

// MarshalText implements encoding.TextMarshaler, also for map keys. It never
// fails; only what [ParseTaskID] reads can be read back.
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
// task's directory. The text may come from anywhere: the named topology is held
// to Kafka's rule for names, so that it is safe in a path.
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
	if err := checkNamed(t.Named); err != nil {
		return TaskID{}, fmt.Errorf("parse task %q: %w", Quote(s), err)
	}
	t.Subtopology, t.Partition = int32(a), int32(b)
	return t, nil
}

// checkNamed holds a named topology, "" for none, to the rule for topic names,
// into which it goes, and to Kafka's own: no "__", which ends it in a task's form.
func checkNamed(s string) error {
	if s != "" && (!legalName(s) || strings.Contains(s, "__")) {
		return fmt.Errorf("%q is no name of a topology", Quote(s))
	}
	return nil
}

// legalName reports whether Kafka allows the name for a topic (Kafka's
// Topic.validate).
func legalName(s string) bool {
	if s == "" || s == "." || s == ".." || len(s) > 249 {
		return false
	}
	for i := range len(s) {
		if !nameByte(s[i]) {
			return false
		}
	}
	return true
}

// nameByte reports whether Kafka allows the byte in the names of topics.
func nameByte(c byte) bool {
	return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || c == '.' || c == '_' || c == '-'
}

// ProcessID is the UUID of one instance, kept in its state directory (file
// kafka-streams-process-metadata, Kafka's StateDirectory).
type ProcessID [16]byte

// String gives the UUID form: 32 lower case hex digits and four hyphens.
func (p ProcessID) String() string {
	h := hex.EncodeToString(p[:])
	return h[:8] + "-" + h[8:12] + "-" + h[12:16] + "-" + h[16:20] + "-" + h[20:]
}

// MarshalText implements encoding.TextMarshaler.
func (p ProcessID) MarshalText() ([]byte, error) { return []byte(p.String()), nil }

// UnmarshalText implements encoding.TextUnmarshaler. It reads the UUID form only.
func (p *ProcessID) UnmarshalText(b []byte) error {
	s := string(b)
	raw, err := hex.DecodeString(strings.ReplaceAll(s, "-", ""))
	if err != nil || len(raw) != len(p) || ProcessID(raw).String() != strings.ToLower(s) {
		return fmt.Errorf("parse process id %q: want a UUID", Quote(s))
	}
	copy(p[:], raw)
	return nil
}
