package streams_test

import (
	"maps"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"resurge/streams"
)

var quoted = map[string]string{
	"":                          "",
	"orders-v2.DLQ_1":           "orders-v2.DLQ_1",
	`back\slash "and" 'quotes'`: `back\slash "and" 'quotes'`,
	"ñandú 東京 привет 😀 e\u0301 £": "ñandú 東京 привет 😀 e\u0301 £",
	"\ufffd":                         "\ufffd", // a real replacement character is printable
	"a\nb\r\tc":                      `a\x0ab\x0d\x09c`,
	"\x00\x07\x1b[2J\x7f":            `\x00\x07\x1b[2J\x7f`,
	"\u0085\u009b31m":                `\u0085\u009b31m`, // C1
	"\x9b31m\xff\xc3":                `\x9b31m\xff\xc3`, // no UTF-8
	"\xed\xa0\x80":                   `\xed\xa0\x80`,    // a surrogate is none either
	"\u202a\u202b\u202c\u202d\u202e": `\u202a\u202b\u202c\u202d\u202e`,
	"\u2066\u2067\u2068\u2069":       `\u2066\u2067\u2068\u2069`,
	"\u200e\u200f\u061c":             `\u200e\u200f\u061c`,
	"a\u200bb\u200cc\u200dd\ufeff":   `a\u200bb\u200cc\u200dd\ufeff`,
	"\u2060\u180e\u00ad":             `\u2060\u180e\u00ad`,
	"\u2028\u2029":                   `\u2028\u2029`,
	"a\u00a0b\u3000":                 `a\u00a0b\u3000`,
	"\ufe0f\U000e0100\U000e0041":     `\ufe0f\U000e0100\U000e0041`, // variation selectors, tags
	"\u115f\u3164\u034f\u17b4":       `\u115f\u3164\u034f\u17b4`,   // no ink
	"\ue000\U0010ffff\ufffe":         `\ue000\U0010ffff\ufffe`,
}

func TestQuote(t *testing.T) {
	for in, want := range quoted {
		if got := streams.Quote(in); got != want {
			t.Errorf("%+q: %s, want %s", in, got, want)
		}
	}
	for r := rune(' '); r < 0x7f; r++ {
		if s := "x" + string(r); streams.Quote(s) != s {
			t.Errorf("%q is changed", s)
		}
	}
}

func TestShellQuote(t *testing.T) {
	for in, want := range map[string]string{
		"":                         "''",
		"orders-v2":                "orders-v2",
		"/var/lib/kafka-streams/a": "/var/lib/kafka-streams/a",
		"cleanup.policy=compact":   "cleanup.policy=compact",
		"orders:0,1":               "orders:0,1",
		"=ls":                      "'=ls'",
		"a b":                      "'a b'",
		"it's":                     `'it'\''s'`,
		"$(rm -rf /)":              "'$(rm -rf /)'",
		"`x`;&|<>*?[]{}~#!\\\"":    "'`x`;&|<>*?[]{}~#!\\\"'",
		"compact,delete":           "compact,delete",
		"東京":                       "'東京'",
		"a\nb":                     `$'a\012b'`,
		"\x1b[2J it's \\ 1":        `$'\033[2J it\'s \\ 1'`,
		"\x019":                    `$'\0019'`, // three digits, so that 9 stays 9
		"\u202e":                   `$'\342\200\256'`,
		"\xff":                     `$'\377'`,
		"<state.dir>/app":          "'<state.dir>/app'",
		"--delete":                 "--delete",
	} {
		if got := streams.ShellQuote(in); got != want {
			t.Errorf("%q: %s, want %s", in, got, want)
		}
	}
}

func TestShellsReadBackWhatIsQuoted(t *testing.T) {
	in := append(slices.Collect(maps.Keys(quoted)), "it's", "$HOME `x` \"y\" \\", "=ls", "a b", "-n", "*", "~", "!!", "\x019", "\x1ba", "'\n'", "\\\n")
	for _, shell := range []string{"bash", "sh", "zsh", "ksh"} {
		path, err := exec.LookPath(shell)
		if err != nil {
			t.Logf("no %s here", shell)
			continue
		}
		for _, s := range in {
			word := streams.ShellQuote(s)
			if strings.Contains(s, "\x00") || shell == "sh" && strings.HasPrefix(word, "$") {
				continue // no shell has NUL in a word, and dash no $'…'
			}
			out, err := exec.CommandContext(t.Context(), path, "-c", "printf %s. "+word).Output()
			if got := strings.TrimSuffix(string(out), "."); err != nil || got != s {
				t.Errorf("%s reads %s as %q, want %q (%v)", shell, word, got, s, err)
			}
		}
	}
}

func FuzzQuote(f *testing.F) {
	for s := range quoted {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		got := streams.Quote(s)
		if !utf8.ValidString(got) {
			t.Errorf("%+q: no UTF-8", s)
		}
		for _, r := range got {
			if unicode.IsControl(r) || unicode.In(r, unicode.Cf, unicode.Zl, unicode.Zp, unicode.Bidi_Control, unicode.Variation_Selector) {
				t.Errorf("%+q: %U is left", s, r)
			}
		}
		if streams.Quote(got) != got {
			t.Errorf("%+q: twice is not once", s)
		}
		if strings.IndexFunc(s, func(r rune) bool { return r < ' ' || r > '~' }) < 0 && got != s {
			t.Errorf("%q: plain ASCII became %q", s, got)
		}
	})
}

// unshell reads one word as a POSIX shell does, the forms of ShellQuote only.
func unshell(t *testing.T, word string) string {
	t.Helper()
	var out strings.Builder
	if body, ok := strings.CutPrefix(word, "$'"); ok {
		body, ok = strings.CutSuffix(body, "'")
		for ok && body != "" {
			switch {
			case body[0] == '\'':
				t.Fatalf("%s: a quote inside", word)
			case body[0] != '\\':
				out.WriteByte(body[0])
				body = body[1:]
			case len(body) >= 2 && (body[1] == '\'' || body[1] == '\\'):
				out.WriteByte(body[1])
				body = body[2:]
			default:
				n, err := strconv.ParseUint(body[1:4], 8, 8)
				if err != nil {
					t.Fatalf("%s: %v", word, err)
				}
				out.WriteByte(byte(n))
				body = body[4:]
			}
		}
		return out.String()
	}
	if !strings.Contains(word, "'") {
		if word == "" || strings.ContainsAny(word, " \t\n\"$`\\;&|<>()*?[]{}~#!") {
			t.Fatalf("%q is bare", word)
		}
		return word
	}
	for word != "" {
		body, ok := strings.CutPrefix(word, "'")
		end := strings.IndexByte(body, '\'')
		if !ok || end < 0 {
			t.Fatalf("%q: unbalanced", word)
		}
		out.WriteString(body[:end])
		word = body[end+1:]
		if rest, ok := strings.CutPrefix(word, `\'`); ok {
			out.WriteByte('\'')
			word = rest
		}
	}
	return out.String()
}

func FuzzShellQuote(f *testing.F) {
	for _, s := range []string{"", "a b", "it's", "\x1b'\\", "\u202e1", "'", "''"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		word := streams.ShellQuote(s)
		if got := unshell(t, word); got != s {
			t.Errorf("%q: %s reads as %q", s, word, got)
		}
		if streams.Quote(word) != word {
			t.Errorf("%q: %+q is not safe to show", s, word)
		}
	})
}
