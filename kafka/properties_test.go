package kafka

import (
	"bytes"
	"crypto/ecdsa"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"encoding/pem"
	"fmt"
	"log/slog"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"resurge/streams"
)

func parse(t *testing.T, lines ...string) ClientConfig {
	t.Helper()
	c, err := ParseProperties([]byte(strings.Join(lines, "\n")))
	if err != nil {
		t.Fatalf("%v (hint: %s)", err, streams.FaultOf(err).Hint)
	}
	return c
}

func TestProperties(t *testing.T) {
	c := parse(t,
		"# written by hand", "bootstrap.servers = PLAINTEXT://k1:9092, \\", "   [::1]:9093", "client.id=ops", "request.timeout.ms: 4000",
		"acks=all", "group.id=shop", "config.providers=file")
	if !slices.Equal(c.Bootstrap, []string{"k1:9092", "[::1]:9093"}) || c.ClientID != "ops" || c.RequestTimeout != 4*time.Second || c.TLS != nil || c.SASL != nil {
		t.Errorf("got %+v", c)
	}
	if !slices.Equal(c.Ignored, []string{"acks", "config.providers", "group.id"}) {
		t.Errorf("ignored %v", c.Ignored)
	}
	if c.Protocol() != "PLAINTEXT" {
		t.Errorf("protocol %s", c.Protocol())
	}
}

const jaas = `sasl.jaas.config=org.apache.kafka.common.security.scram.ScramLoginModule required username="ops" password="hunter2";`

// TestB120_TransportAndAuthenticationAreIndependent goes through all four
// protocols.
func TestB120_TransportAndAuthenticationAreIndependent(t *testing.T) {
	for protocol, want := range map[string][2]bool{"PLAINTEXT": {}, "SSL": {true, false}, "SASL_PLAINTEXT": {false, true}, "SASL_SSL": {true, true}} {
		c := parse(t, "security.protocol="+protocol, "sasl.mechanism=SCRAM-SHA-512", jaas, "ssl.endpoint.identification.algorithm=")
		if (c.TLS != nil) != want[0] || (c.SASL != nil) != want[1] || c.Protocol() != protocol {
			t.Errorf("%s: TLS %v, SASL %v", protocol, c.TLS, c.SASL)
		}
		if slices.Contains(c.Ignored, "sasl.jaas.config") == want[1] || slices.Contains(c.Ignored, keyHostCheck) == want[0] {
			t.Errorf("%s: ignored %v", protocol, c.Ignored)
		}
		if want[1] && (*c.SASL != SASL{MechanismScramSHA512, "ops", "hunter2"}) {
			t.Errorf("%s: %+v", protocol, c.SASL)
		}
		if want[0] && !c.TLS.SkipHostName {
			t.Errorf("%s: an empty algorithm checks no host name", protocol)
		}
	}
}

func TestPropertiesThatAreWrong(t *testing.T) {
	for text, want := range map[string]string{
		"bootstrap.servers=k1":                                                              "host:port",
		"request.timeout.ms=soon":                                                           "out of range",
		"request.timeout.ms=1":                                                              "out of range",
		"security.protocol=TLS":                                                             "unknown protocol",
		"security.protocol=SASL_SSL\n" + jaas:                                               "GSSAPI",
		"security.protocol=SASL_SSL\nsasl.mechanism=GSSAPI\n" + jaas:                        `"GSSAPI" is not supported`,
		"security.protocol=SASL_SSL\nsasl.mechanism=PLAIN":                                  "sasl.jaas.config",
		"security.protocol=SASL_SSL\nsasl.mechanism=PLAIN\nsasl.jaas.config=a":              "login module",
		"security.protocol=SSL\nssl.endpoint.identification.algorithm=dns":                  "ssl.endpoint",
		"security.protocol=SSL\nssl.protocol=SSLv3":                                         "SSLv3",
		"security.protocol=SSL\nssl.enabled.protocols=TLSv1.2,TLSv1":                        `"TLSv1"`,
		"security.protocol=SSL\nssl.truststore.location=/no/such":                           "no such file",
		"security.protocol=SSL\nssl.truststore.location=/dev/null":                          "none of the known formats",
		"security.protocol=SSL\nssl.truststore.type=BKS\nssl.truststore.location=/dev/null": "BKS",
		"security.protocol=SSL\nssl.truststore.certificates=x":                              "no PEM block",
		"security.protocol=SSL\nssl.keystore.key=x":                                         "belong together",
		"ssl.truststore.password=${file:/etc/secret:pw}":                                    "config providers",
		"sasl.jaas.config=a required password=\"${env:PW}\";":                               "config providers",
		"bad\\u00zz=x": "not a Java properties file",
	} {
		_, err := ParseProperties([]byte(text))
		f := streams.FaultOf(err)
		if f == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "hunter2") || f.What == "" {
			t.Errorf("%s: %v, want %q", text, err, want)
		}
	}
	if _, err := ReadProperties("/no/such/file"); streams.FaultOf(err) == nil || !strings.Contains(err.Error(), "no such file") {
		t.Errorf("got %v", err)
	}
}

func TestSecretsAreNotShown(t *testing.T) {
	c := parse(t, "security.protocol=SASL_PLAINTEXT", "sasl.mechanism=PLAIN", jaas)
	var log bytes.Buffer
	slog.New(slog.NewJSONHandler(&log, nil)).Info("config", "config", c, "sasl", c.SASL, "secret", c.SASL.Password)
	encoded, err := json.Marshal(c) //nolint:musttag // nothing reads it back
	if err != nil {
		t.Fatal(err)
	}
	shown := log.String() + string(encoded)
	for _, format := range []string{"%v", "%+v", "%#v", "%s", "%q", "%d", "%x"} {
		shown += fmt.Sprintf(format, c) + fmt.Sprintf(format, *c.SASL) + fmt.Sprintf(format, c.SASL)
	}
	for _, secret := range []string{"hunter2", fmt.Sprintf("%x", "hunter2")} {
		if strings.Contains(shown, secret) {
			t.Errorf("a secret is shown: %s", shown)
		}
	}
	if c.SASL.Password.Reveal() != "hunter2" {
		t.Error("the secret is lost")
	}
}

func TestTLSVersions(t *testing.T) {
	c := parse(t, "security.protocol=SSL", "ssl.enabled.protocols=TLSv1.2, TLSv1.3")
	if c.TLS.MinVersion != tls.VersionTLS12 || c.TLS.MaxVersion != tls.VersionTLS13 {
		t.Errorf("got %+v", c.TLS)
	}
	if c := parse(t, "security.protocol=SSL", "ssl.protocol=TLSv1.2"); c.TLS.MaxVersion != tls.VersionTLS12 {
		t.Errorf("got %+v", c.TLS)
	}
}

func oneLine(pem []byte) string {
	return strings.ReplaceAll(strings.TrimSpace(string(pem)), "\n", "\\n")
}

// joined is PEM as backslashes at the line ends leave it: in one line.
func joined(pem []byte) string {
	return strings.ReplaceAll(strings.TrimSpace(string(pem)), "\n", "\\\n  ")
}

func TestStores(t *testing.T) {
	ca := newAuthority(t, "ca")
	me := ca.issue(t, "ops")
	chain, key := append(certPEM(me.cert), certPEM(ca.cert)...), me.keyPEM(t)
	trust := map[string][]string{
		"PKCS12":     {"ssl.truststore.location=" + file(t, "trust.jks", trustPKCS12(t, "pw", ca.cert)), "ssl.truststore.password=pw"},
		"JKS":        {"ssl.truststore.location=" + file(t, "trust.p12", trustJKS(t, "pw", ca.cert)), "ssl.truststore.password=pw", "ssl.truststore.type=JKS"},
		"PEM":        {"ssl.truststore.location=" + file(t, "trust", append([]byte("the authority\n"), certPEM(ca.cert)...)), "ssl.truststore.type=PEM"},
		"inline":     {"ssl.truststore.type=PEM", "ssl.truststore.certificates=" + oneLine(certPEM(ca.cert))},
		"one inline": {"ssl.truststore.certificates=" + joined(certPEM(ca.cert))},
	}
	for name, lines := range trust {
		c := parse(t, append(lines, "security.protocol=SSL")...)
		if c.TLS.Roots == nil || !c.TLS.Roots.Equal(ca.pool()) {
			t.Errorf("trust store %s: another set of authorities", name)
		}
	}
	identity := map[string][]string{
		"PKCS12":       {"ssl.keystore.location=" + file(t, "k", me.pkcs12(t, "pw", ca.cert)), "ssl.keystore.password=pw", "ssl.key.password=pw"},
		"JKS":          {"ssl.keystore.location=" + file(t, "k", me.jks(t, "pwstore")), "ssl.keystore.password=pwstore"},
		"JKS, own key": {"ssl.keystore.location=" + file(t, "k", me.jks(t, "pwother")), "ssl.keystore.password=pwstore", "ssl.key.password=pwother"},
		"PEM":          {"ssl.keystore.location=" + file(t, "k", append(key, chain...)), "ssl.keystore.type=PEM"},
		"inline":       {"ssl.keystore.certificate.chain=" + oneLine(chain), "ssl.keystore.key=" + oneLine(key)},
		"one inline":   {"ssl.keystore.certificate.chain=" + joined(chain), "ssl.keystore.key=" + joined(key)},
	}
	for name, lines := range identity {
		c := parse(t, append(lines, "security.protocol=SSL")...)
		if len(c.TLS.Certificates) != 1 || !c.TLS.Certificates[0].Leaf.Equal(me.cert) || !me.key.Equal(c.TLS.Certificates[0].PrivateKey) {
			t.Errorf("key store %s: another identity", name)
		}
	}
}

func TestStoresThatDoNotOpen(t *testing.T) {
	ca := newAuthority(t, "ca")
	me, other := ca.issue(t, "ops"), ca.issue(t, "other")
	for name, c := range map[string]struct{ lines, want string }{
		"PKCS12 trust":      {"ssl.truststore.location=" + file(t, "t", trustPKCS12(t, "pw", ca.cert)) + "\nssl.truststore.password=hunter2", "password is wrong"},
		"JKS trust":         {"ssl.truststore.location=" + file(t, "t", trustJKS(t, "pwstore", ca.cert)) + "\nssl.truststore.password=hunter2", "password is wrong"},
		"JKS without":       {"ssl.truststore.location=" + file(t, "t", trustJKS(t, "pwstore", ca.cert)), "password is wrong or missing"},
		"PKCS12 key":        {"ssl.keystore.location=" + file(t, "k", me.pkcs12(t, "pw")) + "\nssl.keystore.password=hunter2", "password is wrong"},
		"JKS key":           {"ssl.keystore.location=" + file(t, "k", me.jks(t, "pwother")) + "\nssl.keystore.password=pwstore", "password is wrong"},
		"JKS without a key": {"ssl.keystore.location=" + file(t, "k", trustJKS(t, "pwstore", ca.cert)) + "\nssl.keystore.password=pwstore", "no private key"},
		"JKS without trust": {"ssl.truststore.location=" + file(t, "k", me.jks(t, "pwstore")) + "\nssl.truststore.password=pwstore", "no trusted certificate"},
		"PEM of two":        {"ssl.keystore.certificate.chain=" + oneLine(certPEM(me.cert)) + "\nssl.keystore.key=" + oneLine(other.keyPEM(t)), "of another key"},
		"PEM without a key": {"ssl.keystore.location=" + file(t, "k", certPEM(me.cert)), "0 private keys"},
		"both":              {"ssl.truststore.location=/x\nssl.truststore.certificates=" + oneLine(certPEM(ca.cert)), "both it and"},
	} {
		_, err := ParseProperties([]byte("security.protocol=SSL\n" + c.lines))
		if streams.FaultOf(err) == nil || !strings.Contains(err.Error(), c.want) || strings.Contains(err.Error(), "hunter2") {
			t.Errorf("%s: %v, want %q", name, err, c.want)
		}
	}
}

// TestEncryptedPEMKeys reads keys as openssl pkcs8 makes them for operators; the
// password of those in testdata/encrypted is hunter2.
func TestEncryptedPEMKeys(t *testing.T) {
	const dir = "testdata/encrypted/"
	read := func(name string) []byte {
		b, err := os.ReadFile(dir + name)
		if err != nil {
			t.Fatal(err)
		}
		return b
	}
	block, _ := pem.Decode(read("key.pem"))
	key, err := x509.ParsePKCS8PrivateKey(block.Bytes)
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"aes-256-cbc.pem", "aes-128-cbc-sha1.pem", "aes-256-cbc-sha512.pem", "des3.pem"} {
		lines := []string{"security.protocol=SSL", "ssl.keystore.location=" + both(t, dir+name, read("cert.pem")), "ssl.key.password=hunter2"}
		c := parse(t, lines...)
		if !key.(*ecdsa.PrivateKey).Equal(c.TLS.Certificates[0].PrivateKey) {
			t.Errorf("%s: another key", name)
		}
		lines[2] = "ssl.key.password=wrong"
		if _, err := ParseProperties([]byte(strings.Join(lines, "\n"))); err == nil || !strings.Contains(err.Error(), "ssl.key.password is wrong") {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// both adds a certificate to a key file.
func both(t *testing.T, key string, cert []byte) string {
	t.Helper()
	b, err := os.ReadFile(key)
	if err != nil {
		t.Fatal(err)
	}
	return file(t, "both.pem", append(b, cert...))
}

func FuzzProperties(f *testing.F) {
	f.Add([]byte("security.protocol=SASL_SSL\nsasl.mechanism=PLAIN\n" + jaas))
	f.Add([]byte("security.protocol=SSL\nssl.keystore.certificate.chain=-----BEGIN CERTIFICATE-----AAAA-----END CERTIFICATE-----\nssl.keystore.key=-----BEGIN ENCRYPTED PRIVATE KEY-----MAAA-----END ENCRYPTED PRIVATE KEY-----"))
	f.Fuzz(func(t *testing.T, b []byte) {
		if bytes.Contains(b, []byte("location")) {
			return // opens files
		}
		if _, err := ParseProperties(b); err != nil && streams.FaultOf(err) == nil {
			t.Errorf("not a fault: %v", err)
		}
	})
}
