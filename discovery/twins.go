package discovery

import (
	"regexp"
	"slices"
	"strings"

	"resurge/streams"
)

// versionLike matches the segment by which a copy of an application is named.
var versionLike = regexp.MustCompile(`^(?i:v\d+|\d+|new|old|next|test|copy|dr|drill|backup|bak|dev|staging|stage|prod|blue|green|canary)$`)

// markTwins looks for a twin whose group is gone: changelogs that read like
// those of an application named app-X. Without its group only the names can
// tell, so a suspicion is enough to leave a topic alone (streams-internals 2.4,
// KAFKA-14922). A streams group's topology makes this unnecessary, and so does the
// application's own transactional ID on the topic, or an imported topology that has
// the store.
func (s *sighting) markTwins(topics []Topic) {
	if len(s.group.Topology) > 0 {
		return
	}
	for i := range topics {
		t := &topics[i]
		if !t.Owned || t.Role != streams.RoleChangelog || len(t.Writers) > 0 || s.importedStore(t.Store) {
			continue
		}
		if twin := s.twinOf(t.Store, topics); twin != "" {
			s.doubt(t, "may belong to an application "+streams.Quote(s.app+"-"+twin)+" whose group is gone")
		}
	}
}

// twinOf returns the X of a suspected application app-X that the store would
// belong to, or "".
func (s *sighting) twinOf(store string, topics []Topic) string {
	for i, c := range store {
		if c != '-' || i == 0 {
			continue
		}
		segment, rest := store[:i], store[i+1:]
		if streams.IsDSLStoreName(rest) && !streams.IsDSLStoreName(store) {
			return segment
		}
		if !hasStore(topics, rest) {
			continue
		}
		if versionLike.MatchString(segment) || s.unownedRepartition(segment, topics) || countTwins(segment, topics) > 1 {
			return segment
		}
	}
	return ""
}

func hasStore(topics []Topic, store string) bool {
	return slices.ContainsFunc(topics, func(t Topic) bool {
		return t.Store == store && t.Role != streams.RoleRepartition
	})
}

// unownedRepartition reports whether a repartition topic carries the segment
// that the group does not read.
func (s *sighting) unownedRepartition(segment string, topics []Topic) bool {
	return slices.ContainsFunc(topics, func(t Topic) bool {
		return t.Role == streams.RoleLookalike && strings.HasPrefix(t.Name, s.app+"-"+segment+"-") &&
			!strings.HasSuffix(t.Name, "-changelog")
	})
}

// countTwins counts the stores segment-X for which there is a store X too.
func countTwins(segment string, topics []Topic) int {
	n := 0
	for _, t := range topics {
		if rest, ok := strings.CutPrefix(t.Store, segment+"-"); ok && hasStore(topics, rest) {
			n++
		}
	}
	return n
}
