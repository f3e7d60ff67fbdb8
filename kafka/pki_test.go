package kafka

import (
	"bytes"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"math/big"
	"net"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/pavlo-v-chernykh/keystore-go/v4"
	"software.sslmate.com/src/go-pkcs12"
)

// authority signs certificates of brokers and clients.
type authority struct {
	cert *x509.Certificate
	key  *ecdsa.PrivateKey
}

// pair is a certificate with its key.
type pair struct {
	cert *x509.Certificate
	key  *ecdsa.PrivateKey
}

func newKey(t *testing.T) *ecdsa.PrivateKey {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	return key
}

func sign(t *testing.T, template, parent *x509.Certificate, key, signer *ecdsa.PrivateKey) *x509.Certificate {
	t.Helper()
	der, err := x509.CreateCertificate(rand.Reader, template, parent, &key.PublicKey, signer)
	if err != nil {
		t.Fatal(err)
	}
	cert, err := x509.ParseCertificate(der)
	if err != nil {
		t.Fatal(err)
	}
	return cert
}

func newAuthority(t *testing.T, name string) authority {
	t.Helper()
	key := newKey(t)
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: name}, IsCA: true, BasicConstraintsValid: true,
		NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour), KeyUsage: x509.KeyUsageCertSign,
	}
	return authority{sign(t, template, template, key, key), key}
}

func (a authority) issue(t *testing.T, name string, ips ...net.IP) pair {
	t.Helper()
	key := newKey(t)
	template := &x509.Certificate{
		SerialNumber: big.NewInt(2), Subject: pkix.Name{CommonName: name}, DNSNames: []string{name}, IPAddresses: ips,
		NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour),
		ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth, x509.ExtKeyUsageClientAuth},
	}
	return pair{sign(t, template, a.cert, key, a.key), key}
}

func (a authority) pool() *x509.CertPool {
	p := x509.NewCertPool()
	p.AddCert(a.cert)
	return p
}

// server is a broker's configuration.
func (p pair) server() *tls.Config {
	return &tls.Config{Certificates: []tls.Certificate{{Certificate: [][]byte{p.cert.Raw}, PrivateKey: p.key}}}
}

func (p pair) pkcs8(t *testing.T) []byte {
	t.Helper()
	der, err := x509.MarshalPKCS8PrivateKey(p.key)
	if err != nil {
		t.Fatal(err)
	}
	return der
}

func certPEM(c *x509.Certificate) []byte {
	return pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: c.Raw})
}

func (p pair) keyPEM(t *testing.T) []byte {
	t.Helper()
	return pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: p.pkcs8(t)})
}

func file(t *testing.T, name string, content []byte) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(path, content, 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

func trustPKCS12(t *testing.T, password string, certs ...*x509.Certificate) []byte {
	t.Helper()
	b, err := pkcs12.Modern.EncodeTrustStore(certs, password)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func (p pair) pkcs12(t *testing.T, password string, rest ...*x509.Certificate) []byte {
	t.Helper()
	b, err := pkcs12.Modern.Encode(p.key, p.cert, rest, password)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func storeJKSBytes(t *testing.T, ks keystore.KeyStore, password string) []byte {
	t.Helper()
	var b bytes.Buffer
	if err := ks.Store(&b, []byte(password)); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func trustJKS(t *testing.T, password string, cert *x509.Certificate) []byte {
	t.Helper()
	ks := keystore.New()
	entry := keystore.TrustedCertificateEntry{CreationTime: time.Now(), Certificate: keystore.Certificate{Type: "X509", Content: cert.Raw}}
	if err := ks.SetTrustedCertificateEntry("ca", entry); err != nil {
		t.Fatal(err)
	}
	return storeJKSBytes(t, ks, password)
}

// jks makes a key store whose own password is pwstore.
func (p pair) jks(t *testing.T, keyPassword string) []byte {
	t.Helper()
	ks := keystore.New()
	entry := keystore.PrivateKeyEntry{
		CreationTime: time.Now(), PrivateKey: p.pkcs8(t), CertificateChain: []keystore.Certificate{{Type: "X509", Content: p.cert.Raw}},
	}
	if err := ks.SetPrivateKeyEntry("me", entry, []byte(keyPassword)); err != nil {
		t.Fatal(err)
	}
	return storeJKSBytes(t, ks, "pwstore")
}
