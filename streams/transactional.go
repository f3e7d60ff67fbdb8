package streams

import "strings"

// TransactionOwner is the application ID in a transactional ID of Kafka Streams:
// <app>-<process UUID>-<thread> since exactly-once v2 (KIP-447), and
// <app>-<subtopology>_<partition> before; empty for any other.
func TransactionOwner(id string) string {
	if i := strings.LastIndexByte(id, '-'); i > 37 && allDigits(id[i+1:]) && isUUID(id[i-36:i]) && id[i-37] == '-' {
		return id[:i-37]
	}
	i := strings.LastIndexByte(id, '-')
	if i <= 0 {
		return ""
	}
	sub, part, ok := strings.Cut(id[i+1:], "_")
	if !ok || !allDigits(sub) || !allDigits(part) {
		return ""
	}
	return id[:i]
}

func isUUID(s string) bool {
	if len(s) != 36 {
		return false
	}
	for i, c := range s {
		if dash := i == 8 || i == 13 || i == 18 || i == 23; dash != (c == '-') {
			return false
		} else if !dash && !strings.ContainsRune("0123456789abcdefABCDEF", c) {
			return false
		}
	}
	return true
}

func allDigits(s string) bool {
	return s != "" && strings.Trim(s, "0123456789") == ""
}
