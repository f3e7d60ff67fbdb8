package kafka

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"io"
	"net"
	"strings"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kgo"

	"resurge/streams"
)

// faultError is a [streams.Fault] with its cause.
type faultError struct {
	*streams.Fault
	cause error
}

// Unwrap gives errors.As the fault and errors.Is the cause.
func (e *faultError) Unwrap() []error { return []error{e.Fault, e.cause} }

// subject is what a request asks about.
type subject struct {
	what  string // "topic orders"
	needs string // the ACL that the answer takes: "DESCRIBE on topic orders"
}

func topicSubject(name, operation string) subject {
	return subject{what: "topic " + streams.Quote(name), needs: operation + " on topic " + streams.Quote(name)}
}

func partitionSubject(tp streams.TopicPartition) subject {
	return subject{what: "partition " + streams.Quote(tp.String()), needs: "DESCRIBE on topic " + streams.Quote(tp.Topic)}
}

func groupSubject(id, operation string) subject {
	return subject{what: "group " + streams.Quote(id), needs: operation + " on group " + streams.Quote(id)}
}

func clusterSubject(what string) subject {
	return subject{what: what, needs: "DESCRIBE on the cluster"}
}

// fail turns an error into one that carries a fault about s.
func (s subject) fail(err error) error {
	if err == nil {
		return nil
	}
	return &faultError{Fault: s.fault(err), cause: err}
}

// fault turns an error into data about s. A fault that err already carries is
// kept as it is.
func (s subject) fault(err error) *streams.Fault {
	if f := streams.FaultOf(err); f != nil {
		return f
	}
	kind, hint := classify(err)
	if kind == streams.FaultNotAllowed && s.needs != "" {
		hint = "this principal needs " + s.needs
	}
	return &streams.Fault{Kind: kind, What: s.what, Message: streams.Quote(message(err)), Hint: hint}
}

// code is fault for a broker's error code with the message that came with it.
func (s subject) code(code int16, detail *string) *streams.Fault {
	f := s.fault(kerr.ErrorForCode(code))
	if detail != nil && *detail != "" {
		f.Message = streams.Quote(kerr.ErrorForCode(code).Error() + " (" + *detail + ")")
	}
	return f
}

// asError is nil for a nil fault, unlike the fault itself in an error.
func asError(f *streams.Fault) error {
	if f == nil {
		return nil
	}
	return f
}

func message(err error) string {
	switch {
	case errors.Is(err, context.DeadlineExceeded):
		return "no answer in time"
	case errors.Is(err, context.Canceled):
		return "interrupted"
	}
	return strings.TrimSpace(err.Error())
}

// classify says what kind of fault an error is and what to do about it.
func classify(err error) (streams.FaultKind, string) {
	if ke, ok := errors.AsType[*kerr.Error](err); ok {
		return classifyCode(ke)
	}
	if kind, hint, ok := classifyTLS(err); ok {
		return kind, hint
	}
	var first *kgo.ErrFirstReadEOF
	var dns *net.DNSError
	var op *net.OpError
	switch {
	case errors.Is(err, context.Canceled):
		return streams.FaultOther, ""
	case errors.Is(err, errWriteRefused):
		return streams.FaultNotAllowed, "this is a defect of resurge; nothing was changed"
	case errors.Is(err, kgo.ErrClientClosed):
		return streams.FaultOther, ""
	case errors.As(err, &first):
		return streams.FaultUnreachable, "the listener and security.protocol do not match, or the broker closed the connection"
	case errors.As(err, &dns):
		return streams.FaultUnreachable, "the host name does not resolve here: check it, and the resolver or VPN"
	case errors.Is(err, context.DeadlineExceeded):
		return streams.FaultUnreachable, "look whether the broker runs and whether this host may reach it; the advertised listeners must be reachable from here too"
	case errors.As(err, &op), errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF), errors.Is(err, net.ErrClosed):
		return streams.FaultUnreachable, "look whether the broker runs and whether this host may reach it"
	case errors.Is(err, streams.ErrNewerVersion):
		return streams.FaultUnsupported, "a Kafka Streams newer than resurge knows wrote it"
	case isTooOld(err):
		return streams.FaultUnsupported, "the broker does not know this request; it came with a newer Kafka"
	}
	return streams.FaultOther, ""
}

// isTooOld recognises kgo's own refusal, which has no exported form; a test
// pins the text.
func isTooOld(err error) bool {
	return errors.Is(err, kerr.UnsupportedVersion) || err != nil && strings.Contains(err.Error(), "broker is too old")
}

// isAlert recognises a TLS alert from the other side; crypto/tls has no exported
// type for it outside QUIC.
func isAlert(err error) bool {
	var op *net.OpError
	return errors.As(err, &op) && op.Op == "remote error"
}

func classifyTLS(err error) (streams.FaultKind, string, bool) {
	var unknown x509.UnknownAuthorityError
	var host x509.HostnameError
	var invalid x509.CertificateInvalidError
	var record tls.RecordHeaderError
	switch {
	case errors.As(err, &unknown):
		return streams.FaultAuth, "the broker's certificate is signed by an authority that is not in ssl.truststore.location; without a trust store the system's authorities count", true
	case errors.As(err, &host):
		return streams.FaultAuth, "the broker's certificate does not name the host that was dialed; use a name that it has, or an empty ssl.endpoint.identification.algorithm to skip this check", true
	case errors.As(err, &invalid):
		return streams.FaultAuth, "look at the dates and usages of the broker's certificate", true
	case isAlert(err):
		return streams.FaultAuth, "the broker refused the TLS handshake: a mutual TLS listener wants a certificate that it trusts in ssl.keystore.location", true
	case errors.As(err, &record):
		return streams.FaultUnreachable, "the listener does not speak TLS: security.protocol is then PLAINTEXT or SASL_PLAINTEXT", true
	}
	return "", "", false
}

func classifyCode(ke *kerr.Error) (streams.FaultKind, string) {
	switch ke {
	case kerr.TopicAuthorizationFailed, kerr.GroupAuthorizationFailed, kerr.ClusterAuthorizationFailed,
		kerr.TransactionalIDAuthorizationFailed, kerr.DelegationTokenAuthorizationFailed:
		return streams.FaultNotAllowed, "this principal lacks an ACL"
	case kerr.UnknownTopicOrPartition, kerr.UnknownTopicID, kerr.GroupIDNotFound, kerr.TransactionalIDNotFound,
		kerr.ResourceNotFound, kerr.InvalidTopicException:
		return streams.FaultNotFound, ""
	case kerr.SaslAuthenticationFailed:
		return streams.FaultAuth, "check username and password in sasl.jaas.config"
	case kerr.UnsupportedSaslMechanism:
		return streams.FaultAuth, "the listener does not offer this sasl.mechanism"
	case kerr.IllegalSaslState:
		return streams.FaultAuth, "the listener does not use SASL: security.protocol is then PLAINTEXT or SSL"
	case kerr.UnknownMemberID, kerr.IllegalGeneration, kerr.NonEmptyGroup, kerr.GroupSubscribedToTopic,
		kerr.RebalanceInProgress, kerr.FencedInstanceID, kerr.StaleMemberEpoch, kerr.FencedMemberEpoch:
		return streams.FaultActive, "the group still has members: stop every instance, and wait for the session timeout of those that did not leave"
	case kerr.UnstableOffsetCommit:
		return streams.FaultOther, "an open transaction holds offsets of this group: wait for it to end, or look for a hanging one"
	case kerr.UnsupportedVersion:
		return streams.FaultUnsupported, "the broker does not know this request; it came with a newer Kafka"
	case kerr.RequestTimedOut, kerr.NotLeaderForPartition, kerr.LeaderNotAvailable, kerr.ReplicaNotAvailable,
		kerr.BrokerNotAvailable, kerr.NetworkException, kerr.CoordinatorLoadInProgress, kerr.CoordinatorNotAvailable,
		kerr.NotCoordinator, kerr.KafkaStorageError, kerr.OffsetNotAvailable, kerr.NotController:
		return streams.FaultUnreachable, "the cluster is not settled: look for brokers that are down or starting"
	case kerr.PolicyViolation, kerr.TopicDeletionDisabled:
		return streams.FaultNotAllowed, "the cluster's own policy forbids this"
	}
	return streams.FaultOther, ""
}

// interrupted reports whether the caller gave up, after which half answers are
// of no use.
func interrupted(ctx context.Context, s subject) error {
	if ctx.Err() == nil {
		return nil
	}
	return s.fail(ctx.Err())
}
