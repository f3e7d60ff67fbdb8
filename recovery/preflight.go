package recovery

import (
	"resurge/plans"
	"resurge/streams"
)

// Purpose is what rights are needed for.
type Purpose string

// The purposes. A backup is no strategy, the others are.
const (
	ForRebuild = Purpose(plans.Rebuild)
	ForRestore = Purpose(plans.ChangelogRestore)
	ForPITR    = Purpose(plans.PITRRebuild)
	ForBackup  = Purpose("backup")
)

// Held says whether the principal has a right.
type Held string

// The answers. Unknown is what the broker did not say.
const (
	HeldYes     Held = "yes"
	HeldNo      Held = "no"
	HeldUnknown Held = "unknown"
)

// Need is one right that a purpose takes.
type Need struct {
	Operation streams.Operation `json:"operation"`
	// Resource is TOPIC, GROUP, CLUSTER or TRANSACTIONAL_ID (Kafka's ResourceType).
	Resource string `json:"resource"`
	Name     string `json:"name"`
	// Why is the step that takes it, for people.
	Why  string `json:"why"`
	Held Held   `json:"held"`
	// Optional says that without it the purpose works and something is not shown.
	Optional bool           `json:"optional,omitempty"`
	Fault    *streams.Fault `json:"fault,omitempty"` // why it is not known
	// Command adds the right (kafka-acls.sh); empty when it is held.
	Command string `json:"command,omitempty"`
}

// Preflight is every right that a purpose takes, and whether it is there.
type Preflight struct {
	Application string            `json:"application"`
	Purpose     Purpose           `json:"for"`
	Cluster     streams.Cluster   `json:"cluster"`
	Needs       []Need            `json:"needs"`
	Gaps        []*streams.Fault  `json:"gaps,omitempty"`
	Brokers     map[string]string `json:"broker,omitempty"`
}

// Missing are the needs without which it does not work, and which are refused or
// not known.
func (p Preflight) Missing() []Need {
	var out []Need
	for _, n := range p.Needs {
		if n.Held != HeldYes && !n.Optional {
			out = append(out, n)
		}
	}
	return out
}
