package kafka

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"resurge/streams"
)

// login is the one entry of a sasl.jaas.config.
type login struct {
	module  string
	options map[string]Secret
}

// parseJAAS reads a JAAS configuration as Kafka's JaasConfig does: module class,
// control flag, options as key=value, and a semicolon. Its errors never show an
// option's value.
func parseJAAS(text string) (login, error) {
	tokens, err := jaasTokens(text)
	if err != nil {
		return login{}, err
	}
	if len(tokens) < 3 {
		return login{}, errors.New("want a login module, a flag and a semicolon")
	}
	out := login{module: tokens[0].text, options: map[string]Secret{}}
	flags := []string{"required", "requisite", "sufficient", "optional"}
	if !slices.Contains(flags, strings.ToLower(tokens[1].text)) {
		return login{}, errors.New("the second word is not a control flag like required")
	}
	rest := tokens[2:]
	for len(rest) > 0 && !rest[0].is(";") {
		if len(rest) < 3 || rest[0].quoted || !rest[1].is("=") || rest[2].is(";") {
			return login{}, errors.New(`want options of the form key="value", and a semicolon at the end`)
		}
		if _, twice := out.options[rest[0].text]; twice {
			return login{}, fmt.Errorf("option %q is there twice", rest[0].text)
		}
		out.options[rest[0].text] = Secret(rest[2].text)
		rest = rest[3:]
	}
	switch {
	case len(rest) == 0:
		return login{}, errors.New("the semicolon at the end is missing")
	case len(rest) > 1:
		return login{}, errors.New("more than one login module")
	}
	return out, nil
}

type jaasToken struct {
	text   string
	quoted bool
}

func (t jaasToken) is(sign string) bool { return !t.quoted && t.text == sign }

// jaasTokens splits as java.io.StreamTokenizer does with the settings of
// JaasConfig: words, quoted strings, single signs, and comments.
func jaasTokens(s string) ([]jaasToken, error) {
	var out []jaasToken
	for i := 0; i < len(s); {
		c := s[i]
		switch {
		case c <= ' ':
			i++
		case strings.HasPrefix(s[i:], "//"):
			line, _, _ := strings.Cut(s[i:], "\n")
			i += len(line)
		case strings.HasPrefix(s[i:], "/*"):
			end := strings.Index(s[i+2:], "*/")
			if end < 0 {
				return nil, errors.New("a comment does not end")
			}
			i += end + 4
		case c == '"' || c == '\'':
			text, n, err := jaasQuoted(s[i:])
			if err != nil {
				return nil, err
			}
			out = append(out, jaasToken{text, true})
			i += n
		case isWord(c):
			n := i
			for n < len(s) && isWord(s[n]) {
				n++
			}
			out = append(out, jaasToken{text: s[i:n]})
			i = n
		default:
			out = append(out, jaasToken{text: s[i : i+1]})
			i++
		}
	}
	return out, nil
}

func isWord(c byte) bool {
	return c >= '0' && c <= '9' || c >= 'A' && c <= 'Z' || c >= 'a' && c <= 'z' || c == '_' || c == '$' || c == '.' || c == '-' || c >= 0xa0
}

// jaasQuoted reads a quoted string with Java's escapes and returns its length
// in s. A line end ends it too, as in Java.
func jaasQuoted(s string) (string, int, error) {
	var b strings.Builder
	for i := 1; i < len(s); i++ {
		switch c := s[i]; {
		case c == s[0]:
			return b.String(), i + 1, nil
		case c == '\n' || c == '\r':
			return "", 0, errors.New("a quoted value does not end on its line")
		case c != '\\' || i+1 == len(s):
			b.WriteByte(c)
		default:
			i++
			n := writeEscape(&b, s[i:])
			i += n - 1
		}
	}
	return "", 0, errors.New("a quoted value does not end")
}

// writeEscape writes what stands after a backslash and returns its length.
func writeEscape(b *strings.Builder, s string) int {
	const signs, meanings = "abfnrtv", "\a\b\f\n\r\t\v"
	if i := strings.IndexByte(signs, s[0]); i >= 0 {
		b.WriteByte(meanings[i])
		return 1
	}
	n, v := 0, 0
	for n < len(s) && n < 3 && s[n] >= '0' && s[n] <= '7' && (n < 2 || s[0] <= '3') {
		v = v*8 + int(s[n]-'0')
		n++
	}
	if n == 0 {
		b.WriteByte(s[0])
		return 1
	}
	b.WriteRune(rune(v))
	return n
}

// sasl takes username and password from a login module that has them.
func (l login) sasl(mechanism string) (*SASL, error) {
	class := l.module[strings.LastIndex(l.module, ".")+1:]
	if class != "PlainLoginModule" && class != "ScramLoginModule" {
		return nil, settingError(streams.FaultUnsupported, keyJAAS, "PlainLoginModule and ScramLoginModule are supported", "login module %s is not supported", l.module)
	}
	for name := range l.options {
		switch {
		case name == "username", name == "password", strings.HasPrefix(name, "user_"): // user_ is for brokers
		default:
			return nil, settingError(streams.FaultUnsupported, keyJAAS, "", "option %s of %s is not supported", name, class)
		}
	}
	user, ok := l.options["username"]
	if !ok {
		return nil, settingError(streams.FaultOther, keyJAAS, "", "option username is missing")
	}
	pass, ok := l.options["password"]
	if !ok {
		return nil, settingError(streams.FaultOther, keyJAAS, "", "option password is missing")
	}
	return &SASL{Mechanism: mechanism, Username: user.Reveal(), Password: pass}, nil
}
