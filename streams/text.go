package streams

import (
	"fmt"
	"regexp"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Quote makes text from outside safe to show on a terminal, in a log or in a
// report: control characters, escape sequences, direction overrides, invisible
// characters and bytes that are no UTF-8 become visible escapes. Everything else
// stays as it is.
func Quote(s string) string {
	clean := true
	for _, r := range s {
		if r == utf8.RuneError || hostile(r) {
			clean = false
			break
		}
	}
	if clean {
		return s
	}
	var b strings.Builder
	for i := 0; i < len(s); {
		r, n := utf8.DecodeRuneInString(s[i:])
		switch {
		case r == utf8.RuneError && n == 1:
			fmt.Fprintf(&b, `\x%02x`, s[i])
		case !hostile(r):
			b.WriteRune(r)
		case r < 0x100:
			fmt.Fprintf(&b, `\x%02x`, r)
		case r < 0x10000:
			fmt.Fprintf(&b, `\u%04x`, r)
		default:
			fmt.Fprintf(&b, `\U%08x`, r)
		}
		i += n
	}
	return b.String()
}

// hostile reports whether a terminal might act on the character, or not show it.
func hostile(r rune) bool {
	switch {
	case r == utf8.RuneError:
		return false
	case unicode.IsControl(r), unicode.Is(unicode.Cf, r), unicode.Is(unicode.Zl, r), unicode.Is(unicode.Zp, r):
		return true
	case unicode.Is(unicode.Co, r), unicode.Is(unicode.Variation_Selector, r):
		return true
	case r != ' ' && unicode.Is(unicode.Zs, r):
		return true
	}
	return r == 0x115f || r == 0x1160 || r == 0x3164 || r == 0xffa0 // fillers without ink
}

var (
	shellSafe    = regexp.MustCompile(`^[a-zA-Z0-9._/:,=@%+-]+$`)
	shellControl = regexp.MustCompile(`[^ -~]`)
)

// ShellQuote writes s as one word of a POSIX shell. Text with control bytes
// takes the $'…' form, which bash, zsh and ksh read.
func ShellQuote(s string) string {
	switch {
	case shellSafe.MatchString(s):
		return s
	case !shellControl.MatchString(s):
		return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'"
	}
	var b strings.Builder
	b.WriteString("$'")
	for i := range len(s) {
		switch c := s[i]; {
		case c == '\'' || c == '\\':
			b.WriteByte('\\')
			b.WriteByte(c)
		case c < 0x20 || c >= 0x7f:
			fmt.Fprintf(&b, `\x%02x`, c)
		default:
			b.WriteByte(c)
		}
	}
	b.WriteString("'")
	return b.String()
}
