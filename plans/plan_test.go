package plans_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"resurge/plans"
	"resurge/streams"
)

func sample() plans.Plan {
	zero, nine := int64(0), int64(9)
	return plans.Plan{
		Format: plans.FormatVersion, Strategy: plans.Rebuild, Application: "orders", ClusterID: "MkU3OEVBNTcwNTJENDM2Qg",
		Created: time.Date(2026, 12, 1, 10, 40, 0, 0, time.UTC), Program: "test", Summary: "replay",
		Basis: []plans.Fact{{Name: "cluster", Value: "MkU3OEVBNTcwNTJENDM2Qg"}},
		Steps: []plans.Step{
			{ID: "1", Kind: plans.SaveState, Title: "save", Risk: plans.ReadOnly},
			{ID: "2", Kind: plans.CommitOffsets, Title: "commit", Risk: plans.Reversible, Offsets: []plans.OffsetChange{
				{Topic: "in", Partition: 0, Before: &nine, After: &zero}, {Topic: "in", Partition: 1, After: &zero},
			}},
			{ID: "3", Kind: plans.DeleteTopic, Title: "delete", Risk: plans.Destructive, Topics: []plans.Topic{
				{Name: "orders-counts-changelog", ID: streams.TopicID{1}, Role: streams.RoleChangelog, Partitions: 2},
			}},
		},
	}.Seal()
}

func TestPlanSurvivesItsFile(t *testing.T) {
	p := sample()
	b, err := p.Encode()
	if err != nil {
		t.Fatal(err)
	}
	got, err := plans.Decode(b)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(p, got); diff != "" {
		t.Error(diff)
	}
}

// Whatever is edited in a plan file, the plan is refused or is the same plan.
func TestEditedPlanIsRefused(t *testing.T) {
	b, err := sample().Encode()
	if err != nil {
		t.Fatal(err)
	}
	for _, edit := range [][2]string{
		{`"after": 0`, `"after": 1`},
		{`"in"`, `"out"`},
		{`"orders-counts-changelog"`, `"payments-changelog"`},
		{`"application": "orders"`, `"application": "orders2"`},
		{`MkU3OEVBNTcwNTJENDM2Qg`, `AAAAAAAAAAAAAAAAAAAAAA`},
		{`"risk": "destructive"`, `"risk": "read-only"`},
		{`"kind": "delete-topic"`, `"kind": "save-state"`},
	} {
		edited := bytes.Replace(b, []byte(edit[0]), []byte(edit[1]), 1)
		if bytes.Equal(edited, b) {
			t.Fatalf("%q is not in the plan", edit[0])
		}
		if _, err := plans.Decode(edited); !errors.Is(err, plans.ErrAltered) {
			t.Errorf("%s -> %s: got %v, want ErrAltered", edit[0], edit[1], err)
		}
	}
}

func TestPlanThatResurgeCouldNotHaveMade(t *testing.T) {
	minus := int64(-1)
	for name, change := range map[string]func(*plans.Plan){
		"newer format":      func(p *plans.Plan) { p.Format = 2 },
		"unknown kind":      func(p *plans.Plan) { p.Steps[0].Kind = "format-disk" },
		"no steps":          func(p *plans.Plan) { p.Steps = nil },
		"no application":    func(p *plans.Plan) { p.Application = "" },
		"numbers wrong":     func(p *plans.Plan) { p.Steps[1].ID = "7" },
		"negative offset":   func(p *plans.Plan) { p.Steps[1].Offsets[0].After = &minus },
		"partition twice":   func(p *plans.Plan) { p.Steps[1].Offsets[1].Partition = 0 },
		"delete nothing":    func(p *plans.Plan) { p.Steps[2].Topics = nil },
		"delete two":        func(p *plans.Plan) { p.Steps[2].Topics = append(p.Steps[2].Topics, p.Steps[2].Topics[0]) },
		"task without name": func(p *plans.Plan) { p.Steps[0].Kind = plans.OperatorTask },
	} {
		p := sample()
		change(&p)
		b, err := p.Seal().Encode()
		if err != nil {
			t.Fatal(err)
		}
		if _, err := plans.Decode(b); !errors.Is(err, plans.ErrInvalid) {
			t.Errorf("%s: got %v, want ErrInvalid", name, err)
		}
	}
	for name, file := range map[string]string{"empty": "", "not JSON": "hello", "two": "{}{}", "unknown field": `{"formatt":1}`} {
		if _, err := plans.Decode([]byte(file)); !errors.Is(err, plans.ErrInvalid) {
			t.Errorf("%s: got %v, want ErrInvalid", name, err)
		}
	}
}

func TestEveryFieldCountsInTheHash(t *testing.T) {
	p := sample()
	q := p
	q.Warnings = []string{"look"}
	if q.Seal().ID == p.ID {
		t.Error("a warning does not change the ID")
	}
	if p.Seal().ID != p.ID {
		t.Error("sealing twice changes the ID")
	}
	if !strings.HasPrefix(p.ID, "sha256:") || len(p.ID) != len("sha256:")+64 {
		t.Errorf("ID %q", p.ID)
	}
}

func TestCompare(t *testing.T) {
	got := plans.Compare(
		[]plans.Fact{{Name: "a", Value: "1"}, {Name: "b", Value: "2"}, {Name: "c", Value: "3"}},
		[]plans.Fact{{Name: "a", Value: "1"}, {Name: "b", Value: "9"}, {Name: "d", Value: "4"}},
	)
	want := []plans.Difference{{Name: "b", Then: "2", Now: "9"}, {Name: "c", Then: "3"}, {Name: "d", Now: "4"}}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	if s := got[1].String(); s != "c: was 3, is nothing" {
		t.Errorf("got %q", s)
	}
}

func FuzzDecode(f *testing.F) {
	b, err := sample().Encode()
	if err != nil {
		f.Fatal(err)
	}
	f.Add(b)
	f.Fuzz(func(t *testing.T, b []byte) {
		p, err := plans.Decode(b)
		if err != nil {
			return
		}
		if p.Seal().ID != p.ID {
			t.Error("a decoded plan is not the one its ID names")
		}
		if _, err := json.Marshal(p); err != nil {
			t.Error(err)
		}
	})
}
