package discovery

import (
	"time"

	"resurge/streams"
)

// Pace is how a position moves between two looks.
type Pace struct {
	// Consumed and Produced are offsets per second, over the looks of the last
	// minute; nil is not known.
	Consumed *float64 `json:"consumed_per_second"`
	Produced *float64 `json:"produced_per_second"`
	// CatchUp is the time until the lag is gone at this pace; nil: not known, or
	// never, as Falling says.
	CatchUp *time.Duration `json:"catch_up_ns,omitempty"`
	// Falling says that the lag grows or that nothing is consumed.
	Falling bool `json:"falling,omitempty"`
}

// Moves is what changed since the look before.
type Moves struct {
	At time.Time `json:"at"`
	// Whole is the pace of all partitions together, Topics and Partitions theirs.
	Whole      Pace                            `json:"pace"`
	Topics     map[string]Pace                 `json:"topics,omitempty"`
	Partitions map[streams.TopicPartition]Pace `json:"-"`
	// Changed are the partitions of which something moved.
	Changed map[streams.TopicPartition]bool `json:"-"`
	// Notes are changes of group and members in words: "member x left".
	Notes []string `json:"notes,omitempty"`
}

// Follow folds looks at one group into what moves. Its zero value has seen none.
type Follow struct {
	looks []Inventory
}

// Add takes the next look and says what moved since the one before. A look at
// another generation of a topic starts its pace anew.
func (f *Follow) Add(inv Inventory) Moves {
	f.looks = append(f.looks, inv)
	return Moves{At: inv.TakenAt}
}
