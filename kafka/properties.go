package kafka

import (
	"crypto/tls"
	"errors"
	"fmt"
	"maps"
	"net"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/magiconair/properties"

	"resurge/streams"
)

// The settings that are understood.
const (
	keyBootstrap      = "bootstrap.servers"
	keyClientID       = "client.id"
	keyRequestTimeout = "request.timeout.ms"
	keyProtocol       = "security.protocol"
	keyMechanism      = "sasl.mechanism"
	keyJAAS           = "sasl.jaas.config"
	keyTrustFile      = "ssl.truststore.location"
	keyTrustPassword  = "ssl.truststore.password" //nolint:gosec // the setting's name
	keyTrustType      = "ssl.truststore.type"
	keyTrustPEM       = "ssl.truststore.certificates"
	keyStoreFile      = "ssl.keystore.location"
	keyStorePassword  = "ssl.keystore.password" //nolint:gosec // the setting's name
	keyStoreType      = "ssl.keystore.type"
	keyStoreChainPEM  = "ssl.keystore.certificate.chain"
	keyStoreKeyPEM    = "ssl.keystore.key"
	keyKeyPassword    = "ssl.key.password"
	keyHostCheck      = "ssl.endpoint.identification.algorithm"
	keyTLSProtocol    = "ssl.protocol"
	keyTLSProtocols   = "ssl.enabled.protocols"
)

var plainKeys = []string{keyBootstrap, keyClientID, keyRequestTimeout}

var saslKeys = []string{keyMechanism, keyJAAS}

var tlsKeys = []string{
	keyTrustFile, keyTrustPassword, keyTrustType, keyTrustPEM, keyStoreFile, keyStorePassword, keyStoreType,
	keyStoreChainPEM, keyStoreKeyPEM, keyKeyPassword, keyHostCheck, keyTLSProtocol, keyTLSProtocols,
}

// placeholder is what Java's config providers replace (KIP-297).
var placeholder = regexp.MustCompile(`\$\{[^}]*\}`)

// settingError is about one setting. It never shows the value.
func settingError(kind streams.FaultKind, key, hint, format string, args ...any) error {
	cause := fmt.Errorf(format, args...)
	return &faultError{cause: cause, Fault: &streams.Fault{Kind: kind, What: "setting " + streams.Quote(key), Message: streams.Quote(cause.Error()), Hint: hint}}
}

// ReadProperties reads a Java client's properties file.
func ReadProperties(path string) (ClientConfig, error) {
	content, err := os.ReadFile(path)
	if err != nil {
		return ClientConfig{}, subject{what: "client properties " + streams.Quote(path)}.fail(errors.Unwrap(err))
	}
	return ParseProperties(content)
}

// ParseProperties reads the properties of a Java client as operators have them.
// A security setting that is not supported is an error that names it, and never
// ignored (public report B111). Other settings that are of no use here, and
// security settings that security.protocol does not use, are listed as Ignored.
func ParseProperties(content []byte) (ClientConfig, error) {
	loader := properties.Loader{Encoding: properties.ISO_8859_1, DisableExpansion: true} // as java.util.Properties
	p, err := loader.LoadBytes(content)
	if err != nil {
		return ClientConfig{}, subject{what: "client properties"}.fail(errors.New("not a Java properties file"))
	}
	s := settings(p.Map())
	if err := s.refuse(); err != nil {
		return ClientConfig{}, err
	}
	var c ClientConfig
	usesTLS, usesSASL, err := s.protocol()
	if err != nil {
		return ClientConfig{}, err
	}
	if err := s.plain(&c); err != nil {
		return ClientConfig{}, err
	}
	if usesTLS {
		if c.TLS, err = s.tls(); err != nil {
			return ClientConfig{}, err
		}
	}
	if usesSASL {
		if c.SASL, err = s.sasl(); err != nil {
			return ClientConfig{}, err
		}
	}
	c.Ignored = s.ignored(usesTLS, usesSASL)
	return c, nil
}

// settings are a file's keys and values.
type settings map[string]string

func (s settings) keys() []string {
	return slices.Sorted(maps.Keys(s))
}

func known(key string) bool {
	return key == keyProtocol || slices.Contains(plainKeys, key) || slices.Contains(saslKeys, key) || slices.Contains(tlsKeys, key)
}

func isSecurity(key string) bool {
	return strings.HasPrefix(key, "sasl.") || strings.HasPrefix(key, "ssl.") || strings.HasPrefix(key, "security.")
}

// refuse finds what must not be passed over in silence.
func (s settings) refuse() error {
	for _, k := range s.keys() {
		switch {
		case known(k) && placeholder.MatchString(s[k]):
			return settingError(streams.FaultUnsupported, k, "put the value itself in a file that only you can read", "config providers (${...}) are not supported")
		case isSecurity(k) && !known(k):
			return settingError(streams.FaultUnsupported, k, "take it out if the connection works without it, or connect with another principal", "this security setting is not supported")
		}
	}
	return nil
}

func (s settings) ignored(usesTLS, usesSASL bool) []string {
	var out []string
	for _, k := range s.keys() {
		if !known(k) || slices.Contains(tlsKeys, k) && !usesTLS || slices.Contains(saslKeys, k) && !usesSASL {
			out = append(out, k)
		}
	}
	return out
}

func (s settings) protocol() (usesTLS, usesSASL bool, err error) {
	v, ok := s[keyProtocol]
	if !ok {
		v = "PLAINTEXT"
	}
	switch strings.ToUpper(strings.TrimSpace(v)) {
	case "PLAINTEXT":
		return false, false, nil
	case "SSL":
		return true, false, nil
	case "SASL_PLAINTEXT":
		return false, true, nil
	case "SASL_SSL":
		return true, true, nil
	}
	return false, false, settingError(streams.FaultOther, keyProtocol, "it is PLAINTEXT, SSL, SASL_PLAINTEXT or SASL_SSL", "unknown protocol %q", v)
}

// schemed takes the scheme off that Java allows before a bootstrap server.
var schemed = regexp.MustCompile(`^[0-9A-Za-z_.%-]*://`)

func (s settings) plain(c *ClientConfig) error {
	c.ClientID = strings.TrimSpace(s[keyClientID])
	for b := range strings.SplitSeq(s[keyBootstrap], ",") {
		b = schemed.ReplaceAllString(strings.TrimSpace(b), "")
		if b == "" {
			continue
		}
		if _, port, err := net.SplitHostPort(b); err != nil || port == "" {
			return settingError(streams.FaultOther, keyBootstrap, "it is host:port,host:port", "%q is not host:port", b)
		}
		c.Bootstrap = append(c.Bootstrap, b)
	}
	if v, ok := s[keyRequestTimeout]; ok {
		ms, err := strconv.ParseInt(strings.TrimSpace(v), 10, 32)
		c.RequestTimeout = time.Duration(ms) * time.Millisecond
		if err != nil || c.RequestTimeout < 100*time.Millisecond || c.RequestTimeout > 15*time.Minute {
			return settingError(streams.FaultOther, keyRequestTimeout, "it is in milliseconds, from 100 to 900000", "%q is out of range", v)
		}
	}
	return nil
}

func (s settings) sasl() (*SASL, error) {
	m := strings.TrimSpace(s[keyMechanism])
	switch m {
	case MechanismPlain, MechanismScramSHA256, MechanismScramSHA512:
	case "":
		return nil, settingError(streams.FaultUnsupported, keyMechanism, "set it to PLAIN, SCRAM-SHA-256 or SCRAM-SHA-512", "it is missing; Java's default GSSAPI is not supported")
	default:
		return nil, settingError(streams.FaultUnsupported, keyMechanism, "PLAIN, SCRAM-SHA-256 and SCRAM-SHA-512 are supported", "%q is not supported", m)
	}
	text, ok := s[keyJAAS]
	if !ok {
		return nil, settingError(streams.FaultOther, keyJAAS, "a JAAS file of java.security.auth.login.config is not read: put its entry here", "it is missing")
	}
	login, err := parseJAAS(text)
	if err != nil {
		return nil, settingError(streams.FaultOther, keyJAAS, `it reads: org.apache.kafka.common.security.scram.ScramLoginModule required username="…" password="…";`, "%w", err)
	}
	return login.sasl(m)
}

func (s settings) tls() (*TLS, error) {
	t := &TLS{}
	switch v, ok := s[keyHostCheck]; {
	case ok && strings.TrimSpace(v) == "":
		t.SkipHostName = true
	case ok && !strings.EqualFold(strings.TrimSpace(v), "https"):
		return nil, settingError(streams.FaultUnsupported, keyHostCheck, "it is https, or empty to accept any host name", "%q is not supported", v)
	}
	if err := s.tlsVersions(t); err != nil {
		return nil, err
	}
	if err := s.trust(t); err != nil {
		return nil, err
	}
	return t, s.identity(t)
}

// tlsVersions reads ssl.protocol and ssl.enabled.protocols.
func (s settings) tlsVersions(t *TLS) error {
	versions := map[string]uint16{"TLSV1.2": tls.VersionTLS12, "TLSV1.3": tls.VersionTLS13}
	if v := strings.TrimSpace(s[keyTLSProtocol]); v != "" && !strings.EqualFold(v, "TLS") {
		if t.MaxVersion = versions[strings.ToUpper(v)]; t.MaxVersion == 0 {
			return settingError(streams.FaultUnsupported, keyTLSProtocol, "it is TLS, TLSv1.2 or TLSv1.3", "%q is not supported", v)
		}
	}
	enabled, ok := s[keyTLSProtocols]
	if !ok {
		return nil
	}
	var all []uint16
	for v := range strings.SplitSeq(enabled, ",") {
		n := versions[strings.ToUpper(strings.TrimSpace(v))]
		if n == 0 {
			return settingError(streams.FaultUnsupported, keyTLSProtocols, "TLSv1.2 and TLSv1.3 are supported", "%q is not supported", v)
		}
		all = append(all, n)
	}
	t.MinVersion, t.MaxVersion = slices.Min(all), slices.Max(all)
	return nil
}
