//go:build integration

package integration

import (
	"encoding/json"
	"testing"
	"time"
)

// description is the part of "describe --output json" that tests look at.
type description struct {
	Schema      string `json:"schema"`
	Application string `json:"application"`
	Group       struct {
		Protocol string              `json:"protocol"`
		State    string              `json:"state"`
		Members  []memberDescription `json:"members"`
	} `json:"group"`
	Kind         string             `json:"kind"`
	Signs        []string           `json:"signs"`
	Topics       []topicDescription `json:"topics"`
	Tasks        []taskDescription  `json:"tasks"`
	LongerIDs    []string           `json:"longer_ids"`
	Transactions []any              `json:"transactions"`
	CommitsFault any                `json:"commits_fault"`
	Gaps         []any              `json:"gaps"`
	Unseen       []struct {
		What    string `json:"what"`
		Message string `json:"message"`
	} `json:"unseen"`
	Findings []findingDescription `json:"findings"`
}

type findingDescription struct {
	Level  string `json:"level"`
	Name   string `json:"name"`
	Detail string `json:"detail"`
}

type memberDescription struct {
	ID        string   `json:"id"`
	ClientID  string   `json:"client_id"`
	Host      string   `json:"host"`
	ProcessID string   `json:"process_id"`
	Endpoint  string   `json:"endpoint"`
	Active    []string `json:"active"`
	Standby   []string `json:"standby"`
}

type topicDescription struct {
	Name          string                 `json:"name"`
	Role          string                 `json:"role"`
	Owned         bool                   `json:"owned"`
	Ambiguous     bool                   `json:"ambiguous"`
	Evidence      []string               `json:"evidence"`
	Store         string                 `json:"store"`
	StoreKind     string                 `json:"store_kind"`
	InternalKind  string                 `json:"internal_kind"`
	TableSource   bool                   `json:"table_source"`
	Subtopologies []string               `json:"subtopologies"`
	Writers       []string               `json:"writers"` // transactional IDs
	ReadBy        []string               `json:"read_by"` // other groups
	Fault         any                    `json:"fault"`
	Partitions    []partitionDescription `json:"partitions"`
}

type partitionDescription struct {
	Partition int32  `json:"partition"`
	Start     *int64 `json:"start"`
	End       *int64 `json:"end"`
	Stable    *int64 `json:"stable"`
	Committed *struct {
		Offset      int64  `json:"offset"`
		LeaderEpoch int32  `json:"leader_epoch"`
		Metadata    string `json:"metadata"`
	} `json:"committed"`
	Lag     *int64 `json:"lag"`
	Streams struct {
		PartitionTime time.Time `json:"partition_time"`
	} `json:"streams"`
	Owner string `json:"owner"` // a member ID
}

type taskDescription struct {
	Task    string `json:"task"`
	Sources []struct {
		Topic     string `json:"topic"`
		Partition int32  `json:"partition"`
	} `json:"sources"`
	Active  []string `json:"active"` // member IDs, as below
	Standby []string `json:"standby"`
	Warmup  []string `json:"warmup"`
}

func (c *console) describe(t *testing.T, app string, more ...string) description {
	t.Helper()
	r := c.run(t, append([]string{"describe", app, "--output", "json"}, more...)...).requireCode(t, exitVerified)
	var d description
	if err := json.Unmarshal([]byte(r.stdout), &d); err != nil {
		t.Fatalf("decode the description: %v in %v", err, r)
	}
	if d.Schema != "resurge/describe/v1" || d.Application != app {
		t.Errorf("describe says schema %q, application %q", d.Schema, d.Application)
	}
	return d
}
