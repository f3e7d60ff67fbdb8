package discovery

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"resurge/streams"
)

// sortTopics gives each topic that is named like an internal one to the group
// with the longest ID that it is named after, and keeps the others as orphans.
func (c *crowd) sortTopics(topics []streams.Topic) {
	groups := make(map[string]bool, len(c.list.Groups))
	for _, g := range c.list.Groups {
		groups[g.ID] = true
	}
	c.owned = map[string][]streams.InternalName{}
	for _, t := range topics {
		if !streams.LooksInternal(t.Name) {
			continue
		}
		app := longestPrefix(t.Name, groups)
		if app == "" {
			c.orphaned = append(c.orphaned, t)
			continue
		}
		if n, ok := streams.ParseInternal(app, t.Name); ok {
			c.owned[app] = append(c.owned[app], n)
		}
	}
}

// longestPrefix is the longest of the IDs that the name starts with, followed by
// a hyphen; empty for none.
func longestPrefix(name string, ids map[string]bool) string {
	for i := len(name) - 1; i > 0; i-- {
		if name[i] == '-' && ids[name[:i]] {
			return name[:i]
		}
	}
	return ""
}

// orphans are applications of which only internal topics are left: their group
// expired or was deleted. Where an application ID ends and a store's name begins
// is known for generated names; for others it is the longest part, up to a
// hyphen, that the names have in common.
func (c *crowd) orphans() []SurveyRow {
	names := make([]string, len(c.orphaned))
	for i, t := range c.orphaned {
		names[i] = t.Name
	}
	byID, guessed := ownersOf(names)
	out := make([]SurveyRow, 0, len(byID))
	for _, id := range slices.Sorted(maps.Keys(byID)) {
		out = append(out, orphanRow(id, byID[id], guessed[id]))
	}
	return out
}

// ownersOf groups names of internal topics by the application ID that they begin
// with; guessed are those IDs of which only names that people gave tell.
func ownersOf(names []string) (byID map[string][]string, guessed map[string]bool) {
	var left, rest []string
	byID, guessed = map[string][]string{}, map[string]bool{}
	for _, n := range names {
		if id := generatedOwner(n); id != "" {
			byID[id] = append(byID[id], n)
		} else {
			left = append(left, n)
		}
	}
	known := map[string]bool{}
	for id := range byID {
		known[id] = true
	}
	for _, n := range left {
		if id := longestPrefix(n, known); id != "" {
			byID[id] = append(byID[id], n)
		} else {
			rest = append(rest, n)
		}
	}
	for id, names := range byCommonPrefix(rest) {
		byID[id] = append(byID[id], names...)
		guessed[id] = true
	}
	return byID, guessed
}

func orphanRow(id string, names []string, guessed bool) SurveyRow {
	stores := 0
	for _, n := range names {
		if strings.HasSuffix(n, "-changelog") {
			stores++
		}
	}
	none := 0
	row := SurveyRow{
		Application: id, Protocol: streams.ProtocolUnknown, Orphan: true, Members: &none, Stores: &stores, Level: LevelLook, Worst: "orphan",
		Evidence: []string{fmt.Sprintf("%d internal %s named so and no group of that name exists, or none that may be seen", len(names), plural(len(names), "topic"))},
	}
	if guessed {
		row.Evidence = append(row.Evidence, "where the application ID ends is a guess: "+streams.Quote(names[0]))
	}
	return row
}

// generatedOwner is what stands before a store's or node's generated name.
func generatedOwner(topic string) string {
	for i := range len(topic) {
		if topic[i] != '-' || i == 0 {
			continue
		}
		n, ok := streams.ParseInternal(topic[:i], topic)
		if ok && streams.IsGenerated(n) {
			return topic[:i]
		}
	}
	return ""
}

// byCommonPrefix groups names by the longest part up to a hyphen that at least
// two share; one alone is cut before its last part.
func byCommonPrefix(names []string) map[string][]string {
	names = slices.Sorted(slices.Values(names))
	out := map[string][]string{}
	for len(names) > 0 {
		id := ""
		if len(names) > 1 {
			id = commonPrefix(names[0], names[1])
		}
		if id == "" {
			out[alonePrefix(names[0])] = append(out[alonePrefix(names[0])], names[0])
			names = names[1:]
			continue
		}
		n := 0
		for n < len(names) && strings.HasPrefix(names[n], id+"-") {
			n++
		}
		out[id] = append(out[id], names[:n]...)
		names = names[n:]
	}
	return out
}

// commonPrefix ends before a hyphen, and leaves a store's name in both.
func commonPrefix(a, b string) string {
	best := ""
	for i := range min(len(a), len(b)) {
		if a[i] != b[i] {
			break
		}
		if a[i] != '-' || i == 0 {
			continue
		}
		_, okA := streams.ParseInternal(a[:i], a)
		_, okB := streams.ParseInternal(b[:i], b)
		if okA && okB {
			best = a[:i]
		}
	}
	return best
}

func alonePrefix(name string) string {
	best := name
	for i := range len(name) {
		if name[i] != '-' || i == 0 {
			continue
		}
		if _, ok := streams.ParseInternal(name[:i], name); ok {
			return name[:i] // the shortest: most stores have hyphens in their names
		}
	}
	return best
}
