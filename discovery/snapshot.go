package discovery

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"time"

	"resurge/streams"
)

// SnapshotFormat and SnapshotVersion name the format of a snapshot. A snapshot of
// a newer version is refused: what it says could not be compared.
const (
	SnapshotFormat  = "resurge/snapshot"
	SnapshotVersion = 1
)

// MaxSnapshot is the size up to which a snapshot is read.
const MaxSnapshot = 256 << 20

// Snapshot is an inventory kept for later, with where and when it was taken.
type Snapshot struct {
	Format  string `json:"format"`
	Version int    `json:"version"`
	// Program is the version of resurge that took it.
	Program   string    `json:"program"`
	ClusterID string    `json:"cluster_id"`
	TakenAt   time.Time `json:"taken_at"`
	Inventory Inventory `json:"inventory"`
}

// NewSnapshot keeps an inventory.
func NewSnapshot(inv Inventory, program string) Snapshot {
	inv.TakenAt = inv.TakenAt.UTC()
	return Snapshot{Format: SnapshotFormat, Version: SnapshotVersion, Program: program, ClusterID: inv.Cluster.ID, TakenAt: inv.TakenAt, Inventory: inv}
}

// SnapshotError says why a file is no snapshot that can be read here.
type SnapshotError struct {
	// Message says what is wrong; Hint what to do next.
	Message, Hint string
	Err           error
}

// Error implements error.
func (e *SnapshotError) Error() string {
	if e.Err != nil {
		return e.Message + ": " + e.Err.Error()
	}
	return e.Message
}

// Unwrap returns the cause.
func (e *SnapshotError) Unwrap() error { return e.Err }

const takeAnother = "resurge snapshot APPLICATION -o FILE takes one"

// Encode writes the snapshot as JSON.
func (s Snapshot) Encode() ([]byte, error) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetIndent("", " ")
	e.SetEscapeHTML(false)
	if err := e.Encode(s); err != nil {
		return nil, fmt.Errorf("encode snapshot: %w", err)
	}
	if b.Len() > MaxSnapshot {
		return nil, fmt.Errorf("encode snapshot: it has %d bytes, and no more than %d are read again", b.Len(), MaxSnapshot)
	}
	return b.Bytes(), nil
}

// ReadSnapshot reads a snapshot that somebody else may have written. Its errors
// are [SnapshotError], or those of the reader.
func ReadSnapshot(r io.Reader) (Snapshot, error) {
	b, err := io.ReadAll(io.LimitReader(r, MaxSnapshot+1))
	if err != nil {
		return Snapshot{}, fmt.Errorf("read snapshot: %w", err)
	}
	if len(b) > MaxSnapshot {
		return Snapshot{}, &SnapshotError{Message: fmt.Sprintf("it is larger than the %d MiB that are read", MaxSnapshot>>20), Hint: takeAnother}
	}
	return DecodeSnapshot(b)
}

// DecodeSnapshot reads a snapshot from bytes.
func DecodeSnapshot(b []byte) (Snapshot, error) {
	var head struct {
		Format  string `json:"format"`
		Version int    `json:"version"`
		Program string `json:"program"`
	}
	if err := json.Unmarshal(b, &head); err != nil {
		return Snapshot{}, &SnapshotError{Message: "it is no snapshot, or a part of one", Err: plainJSON(err), Hint: takeAnother}
	}
	switch {
	case head.Format != SnapshotFormat:
		return Snapshot{}, &SnapshotError{Message: fmt.Sprintf("it is no snapshot: its format is %q, not %q", streams.Quote(head.Format), SnapshotFormat), Hint: takeAnother}
	case head.Version > SnapshotVersion:
		return Snapshot{}, &SnapshotError{
			Message: fmt.Sprintf("it has version %d, this resurge reads version %d", head.Version, SnapshotVersion),
			Hint:    "compare it with the resurge that took it (" + streams.Quote(head.Program) + ") or a newer one",
		}
	case head.Version != SnapshotVersion:
		return Snapshot{}, &SnapshotError{Message: fmt.Sprintf("it has version %d, which there never was", head.Version), Hint: takeAnother}
	}
	var s Snapshot
	if err := json.Unmarshal(b, &s); err != nil {
		return Snapshot{}, &SnapshotError{Message: "what it says cannot be read", Err: plainJSON(err), Hint: takeAnother}
	}
	return s, s.check()
}

// check refuses a snapshot that contradicts itself: somebody changed it, and no
// comparison could be believed.
func (s Snapshot) check() error {
	var wrong error
	switch {
	case s.ClusterID == "" || s.ClusterID != s.Inventory.Cluster.ID:
		wrong = errors.New("its cluster ID is not that of its inventory")
	case s.TakenAt.IsZero() || !s.TakenAt.Equal(s.Inventory.TakenAt):
		wrong = errors.New("its time is not that of its inventory")
	case s.Inventory.Application == "":
		wrong = errors.New("it names no application")
	default:
		wrong = twice(s.Inventory.Topics)
	}
	if wrong == nil {
		return nil
	}
	return &SnapshotError{Message: "it contradicts itself", Err: wrong, Hint: takeAnother}
}

func twice(topics []Topic) error {
	seen := map[string]bool{}
	for _, t := range topics {
		if seen[t.Name] {
			return fmt.Errorf("topic %s is in it twice", streams.Quote(t.Name))
		}
		seen[t.Name] = true
		parts := map[int32]bool{}
		for _, p := range t.Partitions {
			if parts[p.Partition] || p.Partition < 0 {
				return fmt.Errorf("partition %d of topic %s is in it twice, or is none", p.Partition, streams.Quote(t.Name))
			}
			parts[p.Partition] = true
		}
	}
	return nil
}

// plainJSON says where the JSON is wrong, in words that say nothing of Go.
func plainJSON(err error) error {
	if e, ok := errors.AsType[*json.SyntaxError](err); ok {
		return fmt.Errorf("%s, at byte %d", e.Error(), e.Offset)
	}
	if e, ok := errors.AsType[*json.UnmarshalTypeError](err); ok {
		return fmt.Errorf("field %s is a %s", streams.Quote(e.Field), e.Value)
	}
	return err
}
