package recovery

import (
	"time"

	"resurge/discovery"
)

// Assessment is what an inventory means: what was found, then the ways back.
type Assessment struct {
	discovery.Diagnosis
	Options []Option `json:"options"`
}

// Option is one strategy weighed for this application.
type Option struct {
	Strategy  string `json:"strategy"`
	Available bool   `json:"available"`
	// Reason says why it is not available, or what it is good for here.
	Reason string `json:"reason"`
	// Estimate is nil when nothing is known.
	Estimate *Estimate `json:"estimate,omitempty"`
	// Notes are the costs: outputs emitted again, history that is gone.
	Notes []string `json:"notes,omitempty"`
}

// Estimate is how long the strategy takes, as a range, and from what.
type Estimate struct {
	Low     time.Duration `json:"low_ns"`
	High    time.Duration `json:"high_ns"`
	Records int64         `json:"records"`
	// From names the rate's source; Assumed says that it was not measured.
	From    string `json:"from"`
	Assumed bool   `json:"assumed"`
}
