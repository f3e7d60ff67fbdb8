package streams

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Quote makes text from outside safe to show on a terminal, in a log or in a
// report, in one line: control characters, escape sequences, direction
// overrides, invisible characters, line breaks and bytes that are no UTF-8 become
// visible escapes: \x1b below 0x80 and for bytes, \u202e or \U000e0001 for other
// characters. Everything else stays as it is, the backslash too: what was escaped
// cannot be told from what looked like it, so Quote is for readers and not for
// parsers. Quoting twice is quoting once.
func Quote(s string) string {
	if !strings.ContainsFunc(s, hostile) && utf8.ValidString(s) {
		return s
	}
	var b strings.Builder
	for i := 0; i < len(s); {
		r, n := utf8.DecodeRuneInString(s[i:])
		switch {
		case r == utf8.RuneError && n == 1:
			fmt.Fprintf(&b, `\x%02x`, s[i])
		case !hostile(r):
			b.WriteString(s[i : i+n])
		case r < utf8.RuneSelf:
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
	if r < utf8.RuneSelf {
		return r < ' ' || r == 0x7f
	}
	return unicode.In(r,
		unicode.Cc, unicode.Cf, // C1, bidi controls, zero-width characters, tags
		unicode.Zl, unicode.Zp, unicode.Zs, // separators and blanks that look like a space
		unicode.Co, unicode.Noncharacter_Code_Point,
		unicode.Variation_Selector, unicode.Other_Default_Ignorable_Code_Point) // no ink
}

// ShellQuote writes s as one word of a POSIX shell: bare when no shell reads
// anything into it, else in single quotes. Text that [Quote] would change takes
// the $'…' form with octal escapes, so that what is shown is what will be run;
// bash, ksh, zsh and POSIX since 2024 read it, dash does not. A NUL byte cannot
// be in a shell's word: shells stop at it.
func ShellQuote(s string) string {
	switch {
	case Quote(s) != s:
		return ansiC(s)
	case shellSafe(s):
		return s
	}
	return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'"
}

func shellSafe(s string) bool {
	if s == "" || s[0] == '=' { // zsh looks up =command
		return false
	}
	for i := range len(s) {
		if !nameByte(s[i]) && strings.IndexByte("/:,=@%+", s[i]) < 0 {
			return false
		}
	}
	return true
}

// ansiC always writes three octal digits: hex escapes have no fixed end.
func ansiC(s string) string {
	var b strings.Builder
	b.WriteString("$'")
	for i := range len(s) {
		switch c := s[i]; {
		case c == '\'' || c == '\\':
			b.WriteByte('\\')
			b.WriteByte(c)
		case c < ' ' || c >= 0x7f:
			fmt.Fprintf(&b, `\%03o`, c)
		default:
			b.WriteByte(c)
		}
	}
	b.WriteString("'")
	return b.String()
}
