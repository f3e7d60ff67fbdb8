package discovery

import (
	"time"

	"resurge/streams"
)

// Survey is the list of Streams applications on a cluster.
type Survey struct {
	Cluster streams.Cluster `json:"cluster"`
	TakenAt time.Time       `json:"taken_at"`
	Rows    []SurveyRow     `json:"applications"`
	Others  int             `json:"other_groups"` // groups that are not Streams applications
	// Partial says that only names were read: numbers are still being asked for.
	Partial bool             `json:"partial,omitempty"`
	Gaps    []*streams.Fault `json:"gaps,omitempty"`
}

// SurveyRow is one application at a glance. A nil number is not known.
type SurveyRow struct {
	Application string                `json:"application"`
	Protocol    streams.GroupProtocol `json:"protocol"`
	State       string                `json:"state"`
	Members     *int                  `json:"members"`
	Stores      *int                  `json:"stores"`
	Lag         *int64                `json:"lag"`
	Level       Level                 `json:"level"`
	// Orphan says that there is no group, only internal topics named after one.
	Orphan bool `json:"orphan,omitempty"`
	// Worst is the worst finding in two words.
	Worst string `json:"worst"`
	// Evidence says why this is taken for a Streams application.
	Evidence []string       `json:"evidence"`
	Fault    *streams.Fault `json:"fault,omitempty"`
}

// GroupSurvey is the list of all groups of a cluster.
type GroupSurvey struct {
	Cluster streams.Cluster  `json:"cluster"`
	TakenAt time.Time        `json:"taken_at"`
	Rows    []GroupRow       `json:"groups"`
	Gaps    []*streams.Fault `json:"gaps,omitempty"`
}

// GroupRow is one group of any kind at a glance. A nil number is not known.
type GroupRow struct {
	Group string            `json:"group"`
	Kind  streams.GroupKind `json:"kind"`
	State string            `json:"state"`
	// Streams says that it is taken for a Kafka Streams application.
	Streams bool `json:"streams"`
	Members *int `json:"members"`
	// Topics and Partitions are those with a committed offset.
	Topics     *int           `json:"topics"`
	Partitions *int           `json:"partitions"`
	Lag        *int64         `json:"lag"`
	Fault      *streams.Fault `json:"fault,omitempty"`
}
