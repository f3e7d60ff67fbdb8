package kafka

import (
	"context"
	"crypto/tls"
	"errors"
	"net"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kfake"
	"github.com/twmb/franz-go/pkg/kmsg"

	"resurge/streams"
)

var loopback = net.IPv4(127, 0, 0, 1)

// dialWith reads properties and dials.
func dialWith(t *testing.T, f *kfake.Cluster, lines ...string) (*Cluster, error) {
	t.Helper()
	config := parse(t, append(lines, "bootstrap.servers="+strings.Join(f.ListenAddrs(), ","))...)
	c, err := Dial(t.Context(), config, Options{})
	if err == nil {
		t.Cleanup(c.Close)
	}
	return c, err
}

func scramLogin(mechanism, password string) string {
	return "sasl.mechanism=" + mechanism + "\nsasl.jaas.config=org.apache.kafka.common.security.scram.ScramLoginModule required username=\"ops\" password=\"" + password + "\";"
}

func TestDialWithEveryMechanism(t *testing.T) {
	ca := newAuthority(t, "ca")
	trust := "ssl.truststore.certificates=" + oneLine(certPEM(ca.cert))
	broker := ca.issue(t, "broker", loopback).server()
	for _, mechanism := range []string{MechanismPlain, MechanismScramSHA256, MechanismScramSHA512} {
		f := fake(t, kfake.EnableSASL(), kfake.Superuser(mechanism, "ops", "hunter2"))
		c, err := dialWith(t, f, "security.protocol=SASL_PLAINTEXT", scramLogin(mechanism, "hunter2"))
		if err != nil {
			t.Errorf("%s: %v", mechanism, err)
			continue
		}
		if err := c.Writer().CommitOffsets(t.Context(), "g", nil); err != nil {
			t.Errorf("%s: writer: %v", mechanism, err)
		}
		f = fake(t, kfake.EnableSASL(), kfake.Superuser(mechanism, "ops", "hunter2"), kfake.TLS(broker.Clone()))
		if _, err := dialWith(t, f, "security.protocol=SASL_SSL", scramLogin(mechanism, "hunter2"), trust); err != nil {
			t.Errorf("%s over TLS: %v", mechanism, err)
		}
	}
}

func TestDialWithMutualTLS(t *testing.T) {
	ca, stranger := newAuthority(t, "ca"), newAuthority(t, "stranger")
	me, other := ca.issue(t, "ops"), stranger.issue(t, "ops")
	server := ca.issue(t, "broker", loopback).server()
	server.ClientAuth, server.ClientCAs = tls.RequireAndVerifyClientCert, ca.pool()
	f := fake(t, kfake.TLS(server))
	base := []string{"security.protocol=SSL", "ssl.truststore.certificates=" + oneLine(certPEM(ca.cert))}
	identity := func(p pair) []string {
		return append(base, "ssl.keystore.certificate.chain="+oneLine(certPEM(p.cert)), "ssl.keystore.key="+oneLine(p.keyPEM(t)))
	}
	if _, err := dialWith(t, f, identity(me)...); err != nil {
		t.Errorf("own certificate: %v", err)
	}
	for name, lines := range map[string][]string{"no certificate": base, "a stranger's": identity(other)} {
		_, err := dialWith(t, f, lines...)
		if !streams.IsFault(err, streams.FaultAuth) || !strings.Contains(streams.FaultOf(err).Hint, "ssl.keystore") {
			t.Errorf("%s: %v (%+v)", name, err, streams.FaultOf(err))
		}
	}
}

func TestB114_AuthoritiesAreUsed(t *testing.T) {
	ca, stranger := newAuthority(t, "ca"), newAuthority(t, "stranger")
	f := fake(t, kfake.TLS(ca.issue(t, "broker", loopback).server()))
	_, err := dialWith(t, f, "security.protocol=SSL", "ssl.truststore.certificates="+oneLine(certPEM(stranger.cert)))
	if !streams.IsFault(err, streams.FaultAuth) || !strings.Contains(streams.FaultOf(err).Hint, "ssl.truststore.location") {
		t.Errorf("another authority: %v", err)
	}
	trust := "ssl.truststore.certificates=" + oneLine(certPEM(ca.cert))
	f = fake(t, kfake.TLS(ca.issue(t, "another-name").server()))
	_, err = dialWith(t, f, "security.protocol=SSL", trust)
	if !streams.IsFault(err, streams.FaultAuth) || !strings.Contains(streams.FaultOf(err).Hint, "ssl.endpoint.identification.algorithm") {
		t.Errorf("another host name: %v", err)
	}
	if _, err = dialWith(t, f, "security.protocol=SSL", trust, "ssl.endpoint.identification.algorithm="); err != nil {
		t.Errorf("the names are not checked: %v", err)
	}
	_, err = dialWith(t, f, "security.protocol=SSL", "ssl.truststore.certificates="+oneLine(certPEM(stranger.cert)), "ssl.endpoint.identification.algorithm=")
	if !streams.IsFault(err, streams.FaultAuth) {
		t.Errorf("the chain is still checked: %v", err)
	}
}

// answerHandshakes makes kfake answer as Kafka does: it names what is enabled,
// and without SASL it says so. kfake goes along with any handshake.
func answerHandshakes(f *kfake.Cluster, mechanisms ...string) {
	f.ControlKey(kmsg.SASLHandshake.Int16(), func(kreq kmsg.Request) (kmsg.Response, error, bool) {
		f.KeepControl()
		req := kreq.(*kmsg.SASLHandshakeRequest)
		if slices.Contains(mechanisms, req.Mechanism) {
			return nil, nil, false
		}
		resp := req.ResponseKind().(*kmsg.SASLHandshakeResponse)
		resp.ErrorCode, resp.SupportedMechanisms = kerr.IllegalSaslState.Code, nil
		if len(mechanisms) > 0 {
			resp.ErrorCode, resp.SupportedMechanisms = kerr.UnsupportedSaslMechanism.Code, mechanisms
		}
		return resp, nil, true
	})
}

// listenStrictly closes connections that begin with a request of more than 100
// MB, as Kafka does: a TLS client's first bytes read as 369 MB. kfake would wait
// for them.
func listenStrictly(network, address string) (net.Listener, error) {
	l, err := new(net.ListenConfig).Listen(context.Background(), network, address)
	return strictListener{l}, err
}

type strictListener struct{ net.Listener }

func (l strictListener) Accept() (net.Conn, error) {
	conn, err := l.Listener.Accept()
	return &strictConn{Conn: conn}, err
}

type strictConn struct {
	net.Conn
	begun bool
}

func (c *strictConn) Read(b []byte) (int, error) {
	n, err := c.Conn.Read(b)
	if !c.begun && n > 0 && b[0] > 6 {
		return 0, errors.Join(errors.New("too large a request"), c.Close())
	}
	c.begun = true
	return n, err
}

// TestB115_SettingsThatDoNotMatchTheListener goes through what operators mix up.
func TestB115_SettingsThatDoNotMatchTheListener(t *testing.T) {
	ca := newAuthority(t, "ca")
	trust := "ssl.truststore.certificates=" + oneLine(certPEM(ca.cert))
	server := ca.issue(t, "broker", loopback).server()
	plaintext := fake(t, kfake.ListenFn(listenStrictly))
	secure := fake(t, kfake.TLS(server))
	sasl := fake(t, kfake.ListenFn(listenStrictly), kfake.EnableSASL(), kfake.Superuser(MechanismScramSHA512, "ops", "hunter2"))
	plain := fake(t, kfake.EnableSASL(), kfake.Superuser(MechanismPlain, "ops", "hunter2"))
	saslTLS := fake(t, kfake.EnableSASL(), kfake.Superuser(MechanismScramSHA512, "ops", "hunter2"), kfake.TLS(server.Clone()))
	answerHandshakes(plaintext)
	answerHandshakes(secure)
	answerHandshakes(sasl, MechanismScramSHA512)
	answerHandshakes(saslTLS, MechanismScramSHA512)
	answerHandshakes(plain, MechanismPlain)
	for name, c := range map[string]struct {
		f     *kfake.Cluster
		lines []string
		kind  streams.FaultKind
		hint  string
	}{
		"TLS to plaintext":           {plaintext, []string{"security.protocol=SSL", trust}, streams.FaultUnreachable, "security.protocol is SSL, it should be PLAINTEXT"},
		"TLS to SASL plaintext":      {sasl, []string{"security.protocol=SASL_SSL", trust, scramLogin(MechanismScramSHA512, "hunter2")}, streams.FaultUnreachable, "it should be SASL_PLAINTEXT"},
		"plaintext to TLS":           {secure, nil, streams.FaultUnreachable, "security.protocol is PLAINTEXT, it should be SSL"},
		"plaintext to SASL over TLS": {saslTLS, nil, streams.FaultUnreachable, "it should be SASL_SSL"},
		"no SASL to SASL":            {sasl, nil, streams.FaultAuth, "it should be SASL_PLAINTEXT"},
		"no SASL to SASL over TLS":   {saslTLS, []string{"security.protocol=SSL", trust}, streams.FaultAuth, "it should be SASL_SSL"},
		"SASL to no SASL":            {plaintext, []string{"security.protocol=SASL_PLAINTEXT", scramLogin(MechanismScramSHA512, "hunter2")}, streams.FaultAuth, "it should be PLAINTEXT"},
		"another mechanism":          {sasl, []string{"security.protocol=SASL_PLAINTEXT", scramLogin(MechanismPlain, "hunter2")}, streams.FaultAuth, "offers SCRAM-SHA-512"},
		"wrong SCRAM password":       {sasl, []string{"security.protocol=SASL_PLAINTEXT", scramLogin(MechanismScramSHA512, "wrong-secret")}, streams.FaultAuth, "password"},
		"wrong PLAIN password":       {plain, []string{"security.protocol=SASL_PLAINTEXT", scramLogin(MechanismPlain, "wrong-secret")}, streams.FaultAuth, "password"},
	} {
		t.Run(name, func(t *testing.T) {
			before := time.Now()
			_, err := dialWith(t, c.f, c.lines...)
			f := streams.FaultOf(err)
			if f == nil || f.Kind != c.kind || !strings.Contains(f.Hint, c.hint) || !strings.Contains(err.Error(), c.f.ListenAddrs()[0]) {
				t.Errorf("got %v (%+v), want %s and %q", err, f, c.kind, c.hint)
			}
			if f != nil && strings.Contains(f.Message+f.Hint, "secret") {
				t.Errorf("a secret is shown: %+v", f)
			}
			if took := time.Since(before); took > proofTimeout {
				t.Errorf("took %s", took)
			}
		})
	}
}

func TestDialNamesTheAddressesTried(t *testing.T) {
	_, err := Dial(t.Context(), ClientConfig{Bootstrap: []string{"127.0.0.1:1", "no-such-host.invalid:9092"}}, Options{})
	f := streams.FaultOf(err)
	if f == nil || f.Kind != streams.FaultUnreachable || f.Hint == "" || !strings.Contains(err.Error(), "127.0.0.1:1") {
		t.Errorf("got %v (%+v)", err, f)
	}
	if _, err := Dial(t.Context(), ClientConfig{}, Options{}); streams.FaultOf(err) == nil {
		t.Errorf("no bootstrap server: %v", err)
	}
}

func TestDialGivesUpInTime(t *testing.T) {
	virtual(t, func(t *testing.T, _ *kfake.Cluster, _ *Cluster) {
		t.Helper()
		silent := func(ctx context.Context, _, _ string) (net.Conn, error) {
			<-ctx.Done()
			return nil, ctx.Err()
		}
		before := time.Now()
		_, err := Dial(t.Context(), ClientConfig{Bootstrap: []string{"k:9092"}}, Options{Dialer: silent})
		if took := time.Since(before); !streams.IsFault(err, streams.FaultUnreachable) || took > proofTimeout+2*probeTimeout {
			t.Errorf("%v after %s", err, took)
		}
		// A listener that accepts and never answers.
		mute := func(context.Context, string, string) (net.Conn, error) {
			here, there := net.Pipe()
			go func() {
				b := make([]byte, 1024)
				for {
					if _, err := there.Read(b); err != nil {
						_ = there.Close()
						return
					}
				}
			}()
			return here, nil
		}
		before = time.Now()
		_, err = Dial(t.Context(), ClientConfig{Bootstrap: []string{"k:9092"}}, Options{Dialer: mute})
		if took := time.Since(before); !streams.IsFault(err, streams.FaultUnreachable) || took > proofTimeout+2*probeTimeout {
			t.Errorf("%v after %s", err, took)
		}
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		if _, err = Dial(ctx, ClientConfig{Bootstrap: []string{"k:9092"}}, Options{Dialer: mute}); !errors.Is(err, context.Canceled) || streams.FaultOf(err) == nil {
			t.Errorf("the caller gave up: %v", err)
		}
	})
}

// allow is one ACL.
func allow(resource kmsg.ACLResourceType, name string, op kmsg.ACLOperation) kfake.ACL {
	return kfake.ACL{Resource: resource, Name: name, Pattern: kmsg.ACLResourcePatternTypeLiteral, Operation: op, Allow: true}
}

func restricted(t *testing.T, acls ...kfake.ACL) *Cluster {
	t.Helper()
	f := fake(t, kfake.EnableSASL(), kfake.EnableACLs(), kfake.SeedTopics(1, "team-in", "other"),
		kfake.Superuser(MechanismPlain, "root", "x"), kfake.User(MechanismPlain, "ops", "hunter2", acls...))
	c, err := dialWith(t, f, "security.protocol=SASL_PLAINTEXT", scramLogin(MechanismPlain, "hunter2"))
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// TestB15_OneTopicWithoutRights hides no other.
func TestB15_OneTopicWithoutRights(t *testing.T) {
	c := restricted(t, allow(kmsg.ACLResourceTypeTopic, "team-in", kmsg.ACLOperationDescribe), allow(kmsg.ACLResourceTypeTopic, "team-in", kmsg.ACLOperationDescribeConfigs),
		allow(kmsg.ACLResourceTypeTopic, "other", kmsg.ACLOperationDescribe))
	r := c.Reader()
	topics, err := r.Topics(t.Context(), "team-in", "other", "hidden")
	if err != nil {
		t.Fatal(err)
	}
	if topics[1].Fault != nil || topics[2].Fault != nil {
		t.Errorf("topics %+v", topics)
	}
	wantFault(t, topics[0].Fault, streams.FaultNotAllowed)
	configs, err := r.TopicConfigs(t.Context(), "team-in", "other")
	if err != nil {
		t.Fatal(err)
	}
	if configs["team-in"].Fault != nil {
		t.Errorf("team-in: %+v", configs["team-in"].Fault)
	}
	wantFault(t, configs["other"].Fault, streams.FaultNotAllowed)
	if hint := configs["other"].Fault.Hint; !strings.Contains(hint, "DESCRIBE_CONFIGS on topic other") {
		t.Errorf("the hint does not name the ACL: %s", hint)
	}
}

// TestB19_NoRightsIsNotAnEmptyCluster: lists come back empty without an error,
// the named thing does not.
func TestB19_NoRightsIsNotAnEmptyCluster(t *testing.T) {
	c := restricted(t)
	r := c.Reader()
	if topics, err := r.Topics(t.Context()); err != nil || len(topics) != 0 {
		t.Fatalf("the list: %+v %v", topics, err)
	}
	g, err := r.Group(t.Context(), "shop")
	if err != nil {
		t.Fatal(err)
	}
	wantFault(t, g.Fault, streams.FaultNotAllowed)
	if g.Empty() || !strings.Contains(g.Fault.Hint, "DESCRIBE on group shop") {
		t.Errorf("not allowed is not empty: %+v", g)
	}
	if _, err := r.Commits(t.Context(), "shop", true); !streams.IsFault(err, streams.FaultNotAllowed) {
		t.Errorf("commits: %v", err)
	}
	marks, err := r.Watermarks(t.Context(), "team-in")
	if err != nil {
		t.Fatal(err)
	}
	wantFault(t, marks[tp("team-in", -1)].Fault, streams.FaultNotAllowed)
	if _, err := r.BrokersWithTopic(t.Context(), "team-in"); !streams.IsFault(err, streams.FaultNotAllowed) {
		t.Errorf("brokers with the topic: %v", err)
	}
	w := c.Writer()
	if err := w.CommitOffsets(t.Context(), "shop", map[streams.TopicPartition]streams.Commit{tp("team-in", 0): {LeaderEpoch: -1}}); !streams.IsFault(err, streams.FaultNotAllowed) {
		t.Errorf("commit: %v", err)
	}
	if err := w.DeleteTopic(t.Context(), "team-in", streams.TopicID{}); !streams.IsFault(err, streams.FaultNotAllowed) {
		t.Errorf("delete topic: %v", err)
	}
	if _, err := w.CreateTopic(t.Context(), NewTopic{Name: "x", Partitions: 1, ReplicationFactor: 1}); !streams.IsFault(err, streams.FaultNotAllowed) {
		t.Errorf("create topic: %v", err)
	}
	if err := w.DeleteCommits(t.Context(), "shop", []streams.TopicPartition{tp("team-in", 0)}); !streams.IsFault(err, streams.FaultNotAllowed) {
		t.Errorf("delete commits: %v", err)
	}
	if err := w.RemoveMembers(t.Context(), "shop", []MemberRef{{ID: "m"}}); !streams.IsFault(err, streams.FaultNotAllowed) {
		t.Errorf("remove members: %v", err)
	}
}
