package kafka

import (
	"context"
	"crypto/tls"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net"
	"slices"
	"strings"
	"time"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kmsg"

	"resurge/streams"
)

// probeTimeout bounds each of the two looks at a listener.
const probeTimeout = 2 * time.Second

// explain says why no bootstrap server answered: which addresses were tried and
// what each said, and where the listener and the settings do not match. For the
// latter it asks the listener itself, since a closed connection alone does not
// tell (public reports B115, B117, B119).
func (c *Cluster) explain(ctx context.Context, s subject, causes []error) error {
	telling := 0
	said := make([]string, 0, len(causes))
	for i, cause := range causes {
		said = append(said, streams.Quote(c.config.Bootstrap[i]+": "+message(cause)))
		if kind, _ := classify(cause); kind == streams.FaultAuth {
			telling = i
		}
	}
	cause, address := causes[telling], c.config.Bootstrap[telling]
	f := s.fault(cause)
	if len(said) > 1 { // else What names the address
		f.Message = some(said)
	}
	if worthAProbe(cause) {
		if kind, hint := c.listenerSays(ctx, address, cause); hint != "" {
			f.Kind, f.Hint = kind, hint
		}
	}
	if err := interrupted(ctx, s); err != nil {
		return err
	}
	return &faultError{Fault: f, cause: cause}
}

// handshakeError is a TLS handshake that failed after the connection was made.
type handshakeError struct{ cause error }

// Error implements error.
func (e *handshakeError) Error() string { return "TLS handshake: " + e.cause.Error() }

// Unwrap returns the cause.
func (e *handshakeError) Unwrap() error { return e.cause }

// dialError is a connection that could not be made.
type dialError struct{ cause error }

// Error implements error.
func (e *dialError) Error() string { return e.cause.Error() }

// Unwrap returns the cause.
func (e *dialError) Unwrap() error { return e.cause }

// worthAProbe leaves out what says enough by itself.
func worthAProbe(err error) bool {
	var dial *dialError
	var certificate *tls.CertificateVerificationError
	switch {
	case errors.As(err, &dial), errors.As(err, &certificate), isAlert(err),
		errors.Is(err, kerr.SaslAuthenticationFailed), errors.Is(err, context.Canceled):
		return false
	}
	return true
}

// listenerSays asks a listener and compares its answers with the settings.
func (c *Cluster) listenerSays(ctx context.Context, address string, cause error) (streams.FaultKind, string) {
	l, ok := c.probe(ctx, address)
	if !ok {
		return "", ""
	}
	kind, hint := c.mismatch(l)
	if hint == "" && c.config.SASL != nil && errors.Is(cause, io.EOF) {
		kind, hint = streams.FaultAuth, "offers "+c.config.SASL.Mechanism+" and closed the connection: username or password in sasl.jaas.config is wrong"
	}
	if hint == "" {
		return "", ""
	}
	return kind, streams.Quote(address) + " " + hint
}

// listener is what a probe found out.
type listener struct {
	tls        bool
	sasl       bool
	mechanisms []string
	asked      bool // it answered about SASL
}

// mismatch compares a listener with the settings; no hint means that they match.
func (c *Cluster) mismatch(l listener) (streams.FaultKind, string) {
	want := func(usesTLS, usesSASL bool) string {
		return fmt.Sprintf("security.protocol is %s, it should be %s", c.config.Protocol(), protocolName(usesTLS, usesSASL))
	}
	usesTLS, usesSASL := c.config.TLS != nil, c.config.SASL != nil
	offers := streams.Quote(strings.Join(l.mechanisms, ", "))
	switch {
	case l.tls && !usesTLS:
		return streams.FaultUnreachable, "speaks TLS: " + want(true, usesSASL || l.sasl)
	case !l.tls && usesTLS:
		return streams.FaultUnreachable, "does not speak TLS: " + want(false, usesSASL || l.sasl)
	case !l.asked:
		return "", ""
	case l.sasl && !usesSASL:
		return streams.FaultAuth, "wants SASL (it offers " + offers + "): " + want(usesTLS, true)
	case !l.sasl && usesSASL:
		return streams.FaultAuth, "does not use SASL: " + want(usesTLS, false)
	case l.sasl && !slices.Contains(l.mechanisms, c.config.SASL.Mechanism):
		return streams.FaultAuth, "offers " + offers + ", and sasl.mechanism is " + c.config.SASL.Mechanism
	}
	return "", ""
}

// probe asks one address what it speaks. It sends no credentials.
func (c *Cluster) probe(ctx context.Context, address string) (listener, bool) {
	if l, ok := c.probeTLS(ctx, address); ok {
		return l, true
	}
	ctx, cancel := context.WithTimeout(ctx, probeTimeout)
	defer cancel()
	var l listener
	conn, err := c.open(ctx, address)
	if err != nil {
		return l, false
	}
	defer func() { _ = conn.Close() }() // nothing is kept of it
	l.ask(conn, c.config.SASL)
	return l, l.asked
}

// probeTLS reports whether the address speaks TLS, and if so what it says of
// SASL.
func (c *Cluster) probeTLS(ctx context.Context, address string) (listener, bool) {
	ctx, cancel := context.WithTimeout(ctx, probeTimeout)
	defer cancel()
	l := listener{tls: true}
	conn, err := c.open(ctx, address)
	if err != nil {
		return l, false
	}
	defer func() { _ = conn.Close() }()                                                             // nothing is kept of it
	secure := tls.Client(conn, &tls.Config{InsecureSkipVerify: true, MinVersion: tls.VersionTLS12}) //nolint:gosec // nothing secret is sent
	switch err := secure.HandshakeContext(ctx); {
	case err == nil:
		l.ask(secure, c.config.SASL)
	case !isAlert(err):
		return l, false
	}
	return l, true
}

// open dials below TLS, for as long as ctx lasts.
func (c *Cluster) open(ctx context.Context, address string) (net.Conn, error) {
	dial := c.options.Dialer
	if dial == nil {
		dial = (&net.Dialer{}).DialContext
	}
	conn, err := dial(ctx, "tcp", address)
	if err != nil {
		return nil, err
	}
	if deadline, ok := ctx.Deadline(); ok {
		if err := conn.SetDeadline(deadline); err != nil {
			return nil, errors.Join(err, conn.Close())
		}
	}
	return conn, nil
}

// ask begins a SASL handshake (KIP-43), whose answer names the mechanisms or
// says that there is no SASL here.
func (l *listener) ask(conn net.Conn, own *SASL) {
	req := kmsg.NewPtrSASLHandshakeRequest()
	req.Version, req.Mechanism = 1, MechanismPlain
	if own != nil {
		req.Mechanism = own.Mechanism
	}
	const correlation = 1
	if _, err := conn.Write(kmsg.NewRequestFormatter(kmsg.FormatterClientID("resurge")).AppendRequest(nil, req, correlation)); err != nil {
		return
	}
	var head [8]byte // size and correlation ID
	if _, err := io.ReadFull(conn, head[:]); err != nil {
		return
	}
	const most = 64 << 10
	size := binary.BigEndian.Uint32(head[:])
	if size < 4 || size > most || binary.BigEndian.Uint32(head[4:]) != correlation {
		return
	}
	body := make([]byte, size-4)
	if _, err := io.ReadFull(conn, body); err != nil {
		return
	}
	resp := kmsg.NewPtrSASLHandshakeResponse()
	resp.Version = req.Version
	if err := resp.ReadFrom(body); err != nil {
		return
	}
	l.asked = true
	l.mechanisms = resp.SupportedMechanisms
	switch resp.ErrorCode {
	case 0:
		l.sasl = true
		l.mechanisms = append(l.mechanisms, req.Mechanism)
	case kerr.UnsupportedSaslMechanism.Code:
		l.sasl = true
	}
	l.mechanisms = unique(l.mechanisms)
}
