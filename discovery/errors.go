package discovery

import (
	"maps"
	"slices"
	"strings"

	"resurge/streams"
)

// UnknownError says that nothing on the cluster speaks for an application or
// group.
type UnknownError struct {
	// Message names it; Hint says what to look at or type next.
	Message, Hint string
}

// Error implements error.
func (e *UnknownError) Error() string { return e.Message }

// unknown is the refusal for an application that nothing speaks for, with the
// names that are near.
func unknown(app string, list streams.GroupList, seesTopics bool) error {
	ids := map[string]bool{}
	for _, g := range list.Groups {
		ids[g.ID] = true
	}
	e := &UnknownError{
		Message: "no group " + streams.Quote(app) + " and no internal topic named after it on this cluster",
		Hint:    "resurge apps lists the applications of this cluster",
	}
	switch near := Near(app, slices.Collect(maps.Keys(ids))); {
	case !seesTopics:
		e.Message += "; it shows no topics at all, so either it is empty or this principal may not see them"
		e.Hint = "check that this is the right cluster, and that the principal has DESCRIBE on the application's group and topics"
	case len(near) > 0:
		for i := range near {
			near[i] = streams.Quote(near[i])
		}
		e.Hint = "did you mean " + strings.Join(near, " or ") + "? " + e.Hint
	}
	return e
}

// Near returns up to three of the names that are closest to the one given, the
// closest first; none when all are far.
func Near(name string, names []string) []string {
	type scored struct {
		name string
		d    int
	}
	var close []scored
	for _, n := range names {
		d := distance(strings.ToLower(name), strings.ToLower(n))
		if strings.HasPrefix(n, name) || strings.HasPrefix(name, n) {
			d = min(d, 2)
		}
		if n != name && d <= max(2, len(name)/3) {
			close = append(close, scored{n, d})
		}
	}
	slices.SortFunc(close, func(a, b scored) int {
		if a.d != b.d {
			return a.d - b.d
		}
		return strings.Compare(a.name, b.name)
	})
	close = close[:min(3, len(close))]
	out := make([]string, 0, len(close))
	for _, c := range close {
		out = append(out, c.name)
	}
	return out
}

// distance is the Damerau-Levenshtein distance (optimal string alignment) in
// bytes.
func distance(a, b string) int {
	prev2, prev, cur := make([]int, len(b)+1), make([]int, len(b)+1), make([]int, len(b)+1)
	for j := range prev {
		prev[j] = j
	}
	for i := 1; i <= len(a); i++ {
		cur[0] = i
		for j := 1; j <= len(b); j++ {
			cost := 1
			if a[i-1] == b[j-1] {
				cost = 0
			}
			cur[j] = min(prev[j]+1, cur[j-1]+1, prev[j-1]+cost)
			if i > 1 && j > 1 && a[i-1] == b[j-2] && a[i-2] == b[j-1] {
				cur[j] = min(cur[j], prev2[j-2]+1)
			}
		}
		prev2, prev, cur = prev, cur, prev2
	}
	return prev[len(b)]
}

// plural is a word for one or more; without a second word it takes an s.
func plural(n int, one string, more ...string) string {
	switch {
	case n == 1:
		return one
	case len(more) > 0:
		return more[0]
	}
	return one + "s"
}
