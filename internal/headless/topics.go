package headless

import (
	"io"
	"strings"

	"resurge/discovery"
	"resurge/streams"
)

// Topics prints the topics of an application by role with why they are taken for
// that, and then what a backup has to hold.
func Topics(w io.Writer, inv discovery.Inventory, keeping []discovery.Keeping) error {
	p := &printer{w: w}
	p.f("topics of %s on cluster %s\n\n", streams.Quote(inv.Application), streams.Quote(inv.Cluster.ID))
	rows := append(make([][]string, 0, 1+len(inv.Topics)), []string{"ROLE", "TOPIC", "STORE", "KIND", "PARTS", "RECORDS", "OURS", "WHY"})
	for _, t := range inv.Topics {
		records := "?"
		if n, ok := t.Records(); ok {
			records = Group(n)
		}
		rows = append(rows, []string{roleName(t), t.Name, dash(t.Store), topicKind(t), Group(int64(len(t.Partitions))), records, ours(t), strings.Join(t.Evidence, "; ")})
	}
	p.table(rows)
	if len(inv.Topics) == 0 {
		p.f("  none that this principal may see\n")
	}
	if len(keeping) > 0 {
		p.f("\nwhat a backup has to hold:\n")
		rows = append(make([][]string, 0, 1+len(keeping)), []string{"TOPIC", "HOLDS", "BACK UP", "WHY", "IN THE ARCHIVE"})
		for _, k := range keeping {
			rows = append(rows, []string{k.Topic, k.Holds, string(k.Backup), k.Why, k.Archived})
		}
		p.table(rows)
	}
	p.gaps(inv.Gaps)
	p.unseen(inv.Unseen)
	return p.err
}

// ours says whether a topic is proven to be the application's to delete.
func ours(t discovery.Topic) string {
	switch {
	case t.Owned:
		return "proven"
	case t.Ambiguous:
		return "?"
	case t.Role == streams.RoleLookalike:
		return "no"
	}
	return "-"
}
