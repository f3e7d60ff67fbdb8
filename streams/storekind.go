package streams

import (
	"strconv"
	"strings"
	"time"
)

// StoreKind is what a changelog's store is, as far as it can be told from
// outside.
type StoreKind string

// The store kinds. A key-value store may be plain, timestamped or with headers:
// they are the same on the wire. [GuessStoreKind] never answers StoreSession,
// which takes a look at records.
const (
	StoreKeyValue       StoreKind = "key-value"
	StoreWindow         StoreKind = "window"
	StoreSession        StoreKind = "session"
	StoreJoinWindow     StoreKind = "join-window"
	StoreVersioned      StoreKind = "versioned"
	StoreSuppress       StoreKind = "suppress"
	StoreFKSubscription StoreKind = "fk-subscription"
	StoreOuterShared    StoreKind = "outer-shared"
	StoreGraceBuffer    StoreKind = "grace-buffer"
	StoreUnknown        StoreKind = "unknown"
)

// aDayMillis is Streams' additional retention for windowed and versioned
// changelogs, in ms.
const aDayMillis = 86_400_000

// GuessStoreKind guesses a store's kind from its changelog's name, then from the
// topic's settings, in this order, and says from what; the evidence is empty when
// there is none. Names that Streams generates are sure. Settings are a hint:
// users override them and copies lose them. Window and session stores cannot be
// told apart without their records: both read as window here. A broker whose own
// default of min.compaction.lag.ms is a day or more makes every key-value store
// read as versioned, unless configs leaves out what was not set on the topic.
func GuessStoreKind(n InternalName, configs map[string]string) (kind StoreKind, evidence string) {
	if n.Kind != "" && n.Kind != KindChangelog {
		return StoreUnknown, "a repartition topic belongs to no store"
	}
	if kind, evidence := kindByName(n.Name); kind != "" {
		return kind, evidence
	}
	policy := configs["cleanup.policy"]
	compacted, deleted := strings.Contains(policy, "compact"), strings.Contains(policy, "delete")
	switch {
	case deleted && !compacted:
		return StoreJoinWindow, "cleanup.policy is delete alone"
	case deleted:
		return StoreWindow, "cleanup.policy is compact,delete: a window or session store"
	case compacted && compactionLag(configs) >= aDayMillis:
		return StoreVersioned, "min.compaction.lag.ms is a day or more"
	case compacted:
		return StoreKeyValue, "cleanup.policy is compact"
	}
	return StoreUnknown, ""
}

// kindByName knows the names that Streams generates, whole or at their ends, and
// answers "" for any other.
func kindByName(name string) (kind StoreKind, evidence string) {
	switch {
	case strings.Contains(name, "KTABLE-SUPPRESS-STATE-STORE-"):
		return StoreSuppress, "name of a suppress buffer"
	case strings.Contains(name, "KSTREAM-OUTERSHARED-"), hasSuffix(name, "-left-shared-join-store", "-outer-shared-join-store"):
		return StoreOuterShared, "name of a shared outer join store"
	case isJoinWindow(name):
		return StoreJoinWindow, "name of a join window store"
	case strings.Contains(name, "KTABLE-FK-JOIN-SUBSCRIPTION-STATE-STORE-"), hasSuffix(name, "-subscription-store"):
		return StoreFKSubscription, "name of a foreign-key subscription store"
	case hasSuffix(name, "-Buffer"):
		return StoreGraceBuffer, "name of a join grace buffer"
	}
	return "", ""
}

func isJoinWindow(name string) bool {
	for _, token := range []string{"KSTREAM-JOINTHIS-", "KSTREAM-JOINOTHER-", "KSTREAM-OUTERTHIS-", "KSTREAM-OUTEROTHER-"} {
		if strings.Contains(name, token) {
			return true
		}
	}
	return hasSuffix(name, "-this-join-store", "-other-join-store") // also -outer-this-join-store
}

// hasSuffix reports whether s ends in one of the suffixes and begins with more.
func hasSuffix(s string, suffixes ...string) bool {
	for _, suffix := range suffixes {
		if len(s) > len(suffix) && strings.HasSuffix(s, suffix) {
			return true
		}
	}
	return false
}

func compactionLag(configs map[string]string) int64 {
	n, err := strconv.ParseInt(configs["min.compaction.lag.ms"], 10, 64)
	if err != nil {
		return 0
	}
	return n
}

// TellsByRecords reports whether a look at records may say more of a store's kind
// than its name and settings do.
func TellsByRecords(store string, kind StoreKind) bool {
	if named, _ := kindByName(store); named != "" {
		return false
	}
	return kind == StoreWindow || kind == StoreKeyValue
}

// sinceMillis is 2000-01-01: no window of an application is older.
const sinceMillis = 946_684_800_000

// GuessByRecords looks at records of a changelog whose kind was guessed from its
// settings: a window store may be a session store, and a key-value store a
// suppress buffer. The evidence is empty when the records do not tell. Every
// record of the sample has to agree (WindowKeySchema, SessionKeySchema;
// InMemoryTimeOrderedKeyValueChangeBuffer marks its records with header v).
func GuessByRecords(kind StoreKind, records []Record, now time.Time) (guess StoreKind, evidence string) {
	if len(records) == 0 {
		return kind, ""
	}
	switch kind {
	case StoreKeyValue:
		if allRecords(records, isSuppressed) {
			return StoreSuppress, "its records carry the header of a suppress buffer"
		}
	case StoreWindow:
		return guessWindow(records, now)
	case StoreSession, StoreJoinWindow, StoreVersioned, StoreSuppress, StoreFKSubscription, StoreOuterShared, StoreGraceBuffer, StoreUnknown:
	}
	return kind, ""
}

// guessWindow tells windows from sessions by the keys.
func guessWindow(records []Record, now time.Time) (guess StoreKind, evidence string) {
	latest := now.Add(24 * time.Hour).UnixMilli()
	plausible := func(ms int64) bool { return ms >= sinceMillis && ms <= latest }
	session := func(r Record) bool {
		k, err := DecodeSessionKey(r.Key)
		return err == nil && plausible(k.StartMillis) && plausible(k.EndMillis) && k.EndMillis >= k.StartMillis
	}
	window := func(r Record) bool {
		k, err := DecodeWindowKey(r.Key)
		return err == nil && k.Seq == 0 && k.StartMillis >= 0 && k.StartMillis <= latest
	}
	switch {
	case allRecords(records, session) && !allRecords(records, window):
		return StoreSession, "the keys of its records end in two times"
	case allRecords(records, window) && !allRecords(records, session):
		return StoreWindow, "the keys of its records end in a window start"
	}
	return StoreWindow, ""
}

// isSuppressed tells records of a suppress buffer; its tombstones have no header.
func isSuppressed(r Record) bool {
	v, ok := r.Headers["v"]
	return r.Value != nil && ok && len(v) == 1 && v[0] >= 1 && v[0] <= 3
}

// allRecords reports whether every record passes, tombstones aside when there
// are others.
func allRecords(records []Record, pass func(Record) bool) bool {
	seen := false
	for _, r := range records {
		if pass(r) {
			seen = true
			continue
		}
		if r.Value != nil {
			return false
		}
	}
	return seen
}
