package discovery

import (
	"time"

	"resurge/streams"
)

// Level grades a finding or a row.
type Level string

// The levels, from good to bad. Unknown is never drawn as good.
const (
	LevelOK      Level = "ok"
	LevelInfo    Level = "info"
	LevelLook    Level = "look"
	LevelBad     Level = "bad"
	LevelUnknown Level = "unknown"
)

// Finding is one thing that an operator should know, with its evidence.
type Finding struct {
	Level Level `json:"level"`
	// Name is stable and short: "changelog missing".
	Name string `json:"name"`
	// Detail names exact things.
	Detail string `json:"detail"`
	// Advice is what to do; may be empty.
	Advice string `json:"advice,omitempty"`
}

// Diagnosis is what an inventory means, without a word of ways back.
type Diagnosis struct {
	Findings []Finding `json:"findings"`
	// Clocks are what runs out, the nearest first.
	Clocks []Clock `json:"clocks"`
	// Keeping is what each topic holds and whether a backup needs it.
	Keeping []Keeping `json:"keeping"`
}

// Clock is something that runs out and then makes a recovery harder.
type Clock struct {
	Level Level `json:"level"`
	// Name is stable and short: "offsets expire".
	Name string `json:"name"`
	// Due is when it runs out; zero: nothing runs now, or it is not known.
	Due time.Time `json:"due,omitzero"`
	// Left is the time to Due when the inventory was taken, below zero when it
	// has passed; nil: nothing runs, or it is not known, as Detail says.
	Left   *time.Duration `json:"left_ns,omitempty"`
	Detail string         `json:"detail"`
	Advice string         `json:"advice,omitempty"`
}

// Backup says whether a backup of the application needs a topic.
type Backup string

// The answers. BackupOwn is somebody else's topic, for its own backup.
const (
	BackupYes     Backup = "yes"
	BackupTail    Backup = "tail" // what is not consumed yet
	BackupNo      Backup = "no"
	BackupOwn     Backup = "its own"
	BackupUnknown Backup = "?"
)

// Keeping is one topic in the table of what to keep.
type Keeping struct {
	Topic string       `json:"topic"`
	Role  streams.Role `json:"role"`
	// Holds is what the topic holds, for people.
	Holds  string `json:"holds"`
	Backup Backup `json:"backup"`
	Why    string `json:"why"`
	// Archived says whether the newest archive has it.
	Archived string `json:"archived"`
}
