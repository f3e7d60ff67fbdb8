package plans

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"
)

// What is wrong with a plan that cannot be used.
var (
	// ErrAltered says that a plan's content does not have the hash it claims.
	ErrAltered = errors.New("plan was changed after it was made")
	// ErrInvalid says that a plan is not one that resurge could have made.
	ErrInvalid = errors.New("plan is not valid")
)

const idPrefix = "sha256:"

// Seal numbers nothing and decides nothing: it returns p with its ID set.
func (p Plan) Seal() Plan {
	p.ID = p.identity()
	return p
}

// identity is the hash of the plan's JSON with an empty ID. Struct fields keep
// their order and maps are sorted by key, so equal plans have equal bytes.
func (p Plan) identity() string {
	p.ID = ""
	b, err := json.Marshal(p)
	if err != nil { // only strings, numbers, times and maps of strings inside
		panic("plans: encode plan: " + err.Error())
	}
	sum := sha256.Sum256(b)
	return idPrefix + hex.EncodeToString(sum[:])
}

// Encode returns the plan file: indented JSON, one newline at the end.
func (p Plan) Encode() ([]byte, error) {
	b, err := json.MarshalIndent(p, "", "  ")
	if err != nil {
		return nil, fmt.Errorf("encode plan: %w", err)
	}
	return append(b, '\n'), nil
}

// Decode reads a plan file. It refuses unknown fields, unknown kinds, a newer
// format and a plan whose content does not match its ID ([ErrAltered]).
func Decode(b []byte) (Plan, error) {
	var p Plan
	d := json.NewDecoder(bytes.NewReader(b))
	d.DisallowUnknownFields()
	if err := d.Decode(&p); err != nil {
		return Plan{}, fmt.Errorf("decode plan: %w: %w", ErrInvalid, err)
	}
	if d.More() {
		return Plan{}, fmt.Errorf("decode plan: %w: more than one JSON value", ErrInvalid)
	}
	if err := p.Validate(); err != nil {
		return Plan{}, err
	}
	return p, nil
}

// Validate checks that the plan is whole and is the one that its ID names.
func (p Plan) Validate() error {
	if p.Format != FormatVersion {
		return fmt.Errorf("plan format %d, this resurge reads %d: %w", p.Format, FormatVersion, ErrInvalid)
	}
	if !strings.HasPrefix(p.ID, idPrefix) {
		return fmt.Errorf("plan has no ID: %w", ErrInvalid)
	}
	if got := p.identity(); got != p.ID {
		return fmt.Errorf("plan says it is %s, its content is %s: %w", Short(p.ID), Short(got), ErrAltered)
	}
	if p.Application == "" || p.ClusterID == "" || len(p.Steps) == 0 {
		return fmt.Errorf("plan names no application, cluster or step: %w", ErrInvalid)
	}
	for i, s := range p.Steps {
		if err := s.validate(i); err != nil {
			return fmt.Errorf("step %d: %w: %w", i+1, ErrInvalid, err)
		}
	}
	return nil
}

func (s Step) validate(i int) error {
	if s.ID != strconv.Itoa(i+1) {
		return fmt.Errorf("has ID %q", s.ID)
	}
	switch s.Kind {
	case CommitOffsets:
		return s.validateOffsets()
	case DeleteTopic, CreateTopic:
		if len(s.Topics) != 1 || s.Topics[0].Name == "" {
			return errors.New("wants exactly one topic")
		}
		if s.Topics[0].Partitions <= 0 {
			return errors.New("topic has no partitions")
		}
	case OperatorTask:
		if s.Task == nil || s.Task.Name == "" {
			return errors.New("names no task")
		}
	case RemoveMembers:
		if len(s.Members) == 0 {
			return errors.New("names no member")
		}
	case SaveState, AwaitEmpty, AwaitTransactions, AwaitCaughtUp, ProveState:
	default:
		return fmt.Errorf("kind %q is not known", s.Kind)
	}
	return nil
}

func (s Step) validateOffsets() error {
	if len(s.Offsets) == 0 {
		return errors.New("moves no offset")
	}
	seen := map[string]bool{}
	for _, c := range s.Offsets {
		name := c.TopicPartition().String()
		if c.Topic == "" || c.Partition < 0 || seen[name] {
			return fmt.Errorf("partition %q is empty, negative or named twice", name)
		}
		if c.After != nil && *c.After < 0 {
			return fmt.Errorf("partition %q would get offset %d", name, *c.After)
		}
		seen[name] = true
	}
	return nil
}

// Short is the beginning of a plan ID, for people: "sha256:4be190c2".
func Short(id string) string {
	if len(id) > len(idPrefix)+8 {
		return id[:len(idPrefix)+8]
	}
	return id
}

// Difference is one fact that is no longer as the plan has it.
type Difference struct {
	Name string `json:"name"`
	Then string `json:"then"` // empty: the fact was not there
	Now  string `json:"now"`  // empty: the fact is gone
}

// String gives the difference as a line for people.
func (d Difference) String() string {
	show := func(s string) string {
		if s == "" {
			return "nothing"
		}
		return s
	}
	return fmt.Sprintf("%s: was %s, is %s", d.Name, show(d.Then), show(d.Now))
}

// Compare lists what differs between the facts of a plan and those of now, in
// the order of then followed by facts that are new.
func Compare(then, now []Fact) []Difference {
	current := make(map[string]string, len(now))
	for _, f := range now {
		current[f.Name] = f.Value
	}
	var out []Difference
	known := make(map[string]bool, len(then))
	for _, f := range then {
		known[f.Name] = true
		if v := current[f.Name]; v != f.Value {
			out = append(out, Difference{Name: f.Name, Then: f.Value, Now: v})
		}
	}
	for _, f := range now {
		if !known[f.Name] {
			out = append(out, Difference{Name: f.Name, Now: f.Value})
		}
	}
	return out
}
