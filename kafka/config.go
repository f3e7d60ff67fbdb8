package kafka

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"strings"
	"time"

	"github.com/twmb/franz-go/pkg/sasl"
	"github.com/twmb/franz-go/pkg/sasl/plain"
	"github.com/twmb/franz-go/pkg/sasl/scram"
)

// The SASL mechanisms.
const (
	MechanismPlain       = "PLAIN"
	MechanismScramSHA256 = "SCRAM-SHA-256"
	MechanismScramSHA512 = "SCRAM-SHA-512"
)

// ClientConfig says how to reach a cluster. Transport and authentication are
// independent of each other.
type ClientConfig struct {
	Bootstrap []string
	ClientID  string
	// RequestTimeout is how long a broker may take to answer; 0 means ten
	// seconds.
	RequestTimeout time.Duration
	TLS            *TLS  // nil: plaintext
	SASL           *SASL // nil: no authentication
	// Ignored are the settings of a properties file that are of no use here,
	// like acks or group.id.
	Ignored []string
}

// principal is who the client is to the broker's ACLs, with Kafka's own principal
// builder (DefaultKafkaPrincipalBuilder); empty where a certificate says it, which
// the broker's mapping rules may change.
func (c ClientConfig) principal() string {
	switch {
	case c.SASL != nil:
		return "User:" + c.SASL.Username
	case c.TLS != nil && len(c.TLS.Certificates) > 0:
		return ""
	}
	return "User:ANONYMOUS"
}

// TLS is how the transport is protected.
type TLS struct {
	// Roots are the trusted authorities; nil means the system's.
	Roots *x509.CertPool `json:"-"`
	// Certificates are shown to a broker that asks for one.
	Certificates []tls.Certificate `json:"-"`
	// SkipHostName checks the chain of the broker's certificate but not its
	// names, as an empty ssl.endpoint.identification.algorithm does.
	SkipHostName bool
	// MinVersion and MaxVersion are of crypto/tls; 0 means its default.
	MinVersion, MaxVersion uint16
}

// SASL is how this client says who it is.
type SASL struct {
	Mechanism string
	Username  string
	Password  Secret
}

// Secret is text that no log, report or error may show.
type Secret string

const redacted = "[redacted]"

// String implements fmt.Stringer without the secret.
func (Secret) String() string { return redacted }

// Format implements fmt.Formatter for every verb without the secret.
func (Secret) Format(f fmt.State, _ rune) { _, _ = f.Write([]byte(redacted)) }

// LogValue implements slog.LogValuer without the secret.
func (Secret) LogValue() slog.Value { return slog.StringValue(redacted) }

// MarshalJSON implements json.Marshaler without the secret.
func (Secret) MarshalJSON() ([]byte, error) { return []byte(`"` + redacted + `"`), nil }

// Reveal returns the secret itself.
func (s Secret) Reveal() string { return string(s) }

// Protocol is the Java client's name for the way to connect.
func (c ClientConfig) Protocol() string { return protocolName(c.TLS != nil, c.SASL != nil) }

func protocolName(usesTLS, usesSASL bool) string {
	switch {
	case usesSASL && usesTLS:
		return "SASL_SSL"
	case usesSASL:
		return "SASL_PLAINTEXT"
	case usesTLS:
		return "SSL"
	}
	return "PLAINTEXT"
}

// LogValue implements slog.LogValuer: where and how, no keys and no secrets.
func (c ClientConfig) LogValue() slog.Value {
	attrs := []slog.Attr{slog.String("bootstrap", strings.Join(c.Bootstrap, ",")), slog.String("protocol", c.Protocol())}
	if c.SASL != nil {
		attrs = append(attrs, slog.String("mechanism", c.SASL.Mechanism), slog.String("username", c.SASL.Username))
	}
	return slog.GroupValue(attrs...)
}

// String implements fmt.Stringer as LogValue does.
func (c ClientConfig) String() string {
	return c.Protocol() + " " + strings.Join(c.Bootstrap, ",")
}

func (s *SASL) mechanism() (sasl.Mechanism, error) {
	switch s.Mechanism {
	case MechanismPlain:
		return plain.Auth{User: s.Username, Pass: s.Password.Reveal()}.AsMechanism(), nil
	case MechanismScramSHA256:
		return scram.Auth{User: s.Username, Pass: s.Password.Reveal()}.AsSha256Mechanism(), nil
	case MechanismScramSHA512:
		return scram.Auth{User: s.Username, Pass: s.Password.Reveal()}.AsSha512Mechanism(), nil
	}
	return nil, fmt.Errorf("sasl.mechanism %q is not supported", s.Mechanism)
}

// client returns the configuration for a connection to one address.
func (t *TLS) client(address string) (*tls.Config, error) {
	host, _, err := net.SplitHostPort(address)
	if err != nil {
		return nil, fmt.Errorf("split %q: %w", address, err)
	}
	c := &tls.Config{
		ServerName: host, RootCAs: t.Roots, Certificates: t.Certificates,
		MinVersion: max(t.MinVersion, tls.VersionTLS12), MaxVersion: t.MaxVersion,
	}
	if t.SkipHostName {
		c.InsecureSkipVerify = true // the chain is checked below
		c.VerifyConnection = t.verifyChain
	}
	return c, nil
}

// verifyChain checks all but the names in the broker's certificate.
func (t *TLS) verifyChain(cs tls.ConnectionState) error {
	if len(cs.PeerCertificates) == 0 {
		return errors.New("the broker showed no certificate")
	}
	rest := x509.NewCertPool()
	for _, c := range cs.PeerCertificates[1:] {
		rest.AddCert(c)
	}
	_, err := cs.PeerCertificates[0].Verify(x509.VerifyOptions{Roots: t.Roots, Intermediates: rest})
	if err != nil {
		return &tls.CertificateVerificationError{UnverifiedCertificates: cs.PeerCertificates, Err: err}
	}
	return nil
}
