package discovery

import (
	"fmt"
	"strings"

	"resurge/streams"
)

// noArchive is what the table of what to keep says of archives while none is
// configured.
const noArchive = "no archive"

// CommittedOffsets names the row of the group's own offsets in the table of what
// to keep.
const CommittedOffsets = "committed offsets"

// keeping says of everything that the application has on the cluster what it
// holds, and whether a backup needs it. Input, changelogs and offsets only work
// together.
func keeping(inv Inventory) []Keeping {
	if len(inv.Signs) == 0 {
		return nil
	}
	out := make([]Keeping, 0, len(inv.Topics)+1)
	out = append(out, Keeping{
		Topic: CommittedOffsets, Holds: "how far the application is, and its stream times", Backup: BackupYes,
		Why: "state without its offsets counts twice, or skips", Archived: noArchive,
	})
	for _, t := range inv.Topics {
		k := keep(t)
		k.Topic, k.Role, k.Archived = t.Name, t.Role, noArchive
		out = append(out, k)
	}
	return out
}

func keep(t Topic) Keeping {
	switch t.Role {
	case streams.RoleInput:
		if t.TableSource {
			return Keeping{Holds: "input, and the only copy of its table", Backup: BackupYes, Why: "there is no other changelog of the table"}
		}
		return Keeping{Holds: "what the state is made from", Backup: BackupYes, Why: "a rebuild and a point in time take it; a restore takes what was not read yet"}
	case streams.RoleGlobal:
		return Keeping{Holds: "a global table, read whole by every instance", Backup: BackupYes, Why: "it is the table's only copy"}
	case streams.RoleChangelog:
		return Keeping{Holds: storeText(t), Backup: BackupYes, Why: "the only copy of the state off the instances' disks"}
	case streams.RoleRepartition:
		return keepRepartition(t)
	case streams.RoleOutput:
		return Keeping{Holds: "results, for others", Backup: BackupOwn, Why: "a rebuild emits them again; a point in time cuts them as well" + readBy(t)}
	case streams.RoleLookalike:
		if t.Ambiguous {
			return Keeping{Holds: "not known: it may be the application's", Backup: BackupUnknown, Why: strings.Join(t.Evidence, "; ")}
		}
		return Keeping{Holds: "another application's", Backup: BackupOwn, Why: strings.Join(t.Evidence, "; ")}
	}
	return Keeping{Holds: "not known", Backup: BackupUnknown}
}

func keepRepartition(t Topic) Keeping {
	k := Keeping{Holds: "records on their way between two parts of the application"}
	switch lag, ok := t.Lag(); {
	case !ok:
		k.Backup, k.Why = BackupUnknown, "how much of it is unread is not known"
	case lag == 0:
		k.Backup, k.Why = BackupNo, "all of it was read; a rebuild writes it again"
	default:
		k.Backup, k.Why = BackupTail, fmt.Sprintf("%d offsets are not read yet: they are in no state and in no input that is unread", lag)
	}
	return k
}

func storeText(t Topic) string {
	if t.Store == "" {
		return "the state of a store"
	}
	text := "the state of " + streams.Quote(t.Store)
	if t.StoreKind != "" && streams.StoreKind(t.StoreKind) != streams.StoreUnknown {
		text += " (" + t.StoreKind + ")"
	}
	return text
}

func readBy(t Topic) string {
	if len(t.ReadBy) == 0 {
		return ""
	}
	return "; read by " + list(t.ReadBy)
}
