package kafka

import (
	"bytes"
	"crypto"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"os"
	"strings"

	"github.com/pavlo-v-chernykh/keystore-go/v4"
	"software.sslmate.com/src/go-pkcs12"

	"resurge/streams"
)

// storeKind is the format of a key or trust store, told by its first bytes and
// not by its name or by ssl.*store.type.
type storeKind int

const (
	storeUnknown storeKind = iota
	storeJKS
	storePKCS12
	storePEM
)

func kindOf(b []byte) storeKind {
	switch {
	case bytes.HasPrefix(b, []byte{0xfe, 0xed, 0xfe, 0xed}):
		return storeJKS
	case bytes.Contains(b, []byte("-----BEGIN ")):
		return storePEM
	case bytes.HasPrefix(b, []byte{0x30}):
		return storePKCS12
	}
	return storeUnknown
}

// openStore reads the file that a setting names.
func (s settings) openStore(key, typeKey string) (content []byte, kind storeKind, err error) {
	switch v := strings.ToUpper(strings.TrimSpace(s[typeKey])); v {
	case "", "JKS", "PKCS12", "PEM":
	default:
		return nil, 0, settingError(streams.FaultUnsupported, typeKey, "JKS, PKCS12 and PEM are supported", "%q is not supported", v)
	}
	content, err = os.ReadFile(s[key]) //nolint:gosec // the operator names the file
	if err != nil {
		return nil, 0, settingError(streams.FaultOther, key, "look whether the file is there and may be read", "%w", err)
	}
	if kind = kindOf(content); kind == storeUnknown {
		return nil, 0, settingError(streams.FaultUnsupported, key, "JKS, PKCS12 and PEM are supported", "%s is in none of the known formats", s[key])
	}
	return content, kind, nil
}

// trust reads the authorities. Without any, the system's count.
func (s settings) trust(t *TLS) error {
	inline, hasInline := s[keyTrustPEM]
	_, hasFile := s[keyTrustFile]
	key, content, kind := keyTrustPEM, []byte(inline), storePEM
	switch {
	case hasInline && hasFile:
		return settingError(streams.FaultOther, keyTrustPEM, "keep one of them", "both it and %s are set", keyTrustFile)
	case hasFile:
		var err error
		key = keyTrustFile
		if content, kind, err = s.openStore(keyTrustFile, keyTrustType); err != nil {
			return err
		}
	case !hasInline:
		return nil
	}
	certs, err := trusted(content, kind, s[keyTrustPassword])
	switch {
	case err != nil:
		return settingError(streams.FaultOther, key, "check the file, and "+keyTrustPassword+"; a PKCS12 trust store holds nothing but certificates that keytool -importcert put there", "%w", err)
	case len(certs) == 0:
		return settingError(streams.FaultOther, key, "import the authority as a trusted certificate, with keytool -importcert", "no trusted certificate in it")
	}
	t.Roots = x509.NewCertPool()
	for _, c := range certs {
		t.Roots.AddCert(c)
	}
	return nil
}

func trusted(content []byte, kind storeKind, password string) ([]*x509.Certificate, error) {
	switch kind {
	case storePEM:
		p, err := parsePEM(content, "")
		return p.chain, err
	case storePKCS12:
		certs, err := pkcs12.DecodeTrustStore(content, password)
		return certs, storeError(err)
	case storeJKS:
		ks, err := openJKS(content, password)
		if err != nil {
			return nil, err
		}
		var out []*x509.Certificate
		for _, alias := range ks.Aliases() {
			if !ks.IsTrustedCertificateEntry(alias) {
				continue
			}
			e, err := ks.GetTrustedCertificateEntry(alias)
			if err != nil {
				return nil, storeError(err)
			}
			c, err := x509.ParseCertificate(e.Certificate.Content)
			if err != nil {
				return nil, fmt.Errorf("certificate %q: %w", alias, err)
			}
			out = append(out, c)
		}
		return out, nil
	case storeUnknown:
	}
	return nil, errors.New("unknown format")
}

func openJKS(content []byte, password string) (*keystore.KeyStore, error) {
	ks := keystore.New(keystore.WithOrderedAliases())
	if err := ks.Load(bytes.NewReader(content), []byte(password)); err != nil {
		return nil, storeError(err)
	}
	return &ks, nil
}

// storeError says "wrong password" where the libraries speak of digests. Their
// errors carry no secret.
func storeError(err error) error {
	switch {
	case err == nil:
		return nil
	case errors.Is(err, pkcs12.ErrIncorrectPassword), strings.Contains(err.Error(), "invalid digest"):
		return errors.New("the password is wrong or missing, or the file is damaged")
	}
	return fmt.Errorf("read store: %w", err)
}

// identity reads the certificate that this client shows.
func (s settings) identity(t *TLS) error {
	chain, hasChain := s[keyStoreChainPEM]
	key, hasKey := s[keyStoreKeyPEM]
	_, hasFile := s[keyStoreFile]
	switch {
	case (hasChain || hasKey) && hasFile:
		return settingError(streams.FaultOther, keyStoreChainPEM, "keep one of them", "both it and %s are set", keyStoreFile)
	case hasChain != hasKey:
		return settingError(streams.FaultOther, keyStoreKeyPEM, "set both "+keyStoreChainPEM+" and "+keyStoreKeyPEM, "a chain and a key belong together")
	case hasChain:
		certs, err := pemIdentity([]byte(chain+"\n"+key), s[keyKeyPassword])
		if err != nil {
			return settingError(streams.FaultOther, keyStoreKeyPEM, "check "+keyStoreChainPEM+", "+keyStoreKeyPEM+" and "+keyKeyPassword, "%w", err)
		}
		t.Certificates = certs
		return nil
	case !hasFile:
		return nil
	}
	content, kind, err := s.openStore(keyStoreFile, keyStoreType)
	if err != nil {
		return err
	}
	t.Certificates, err = identities(content, kind, s[keyStorePassword], s[keyKeyPassword])
	if err == nil && len(t.Certificates) == 0 {
		err = errors.New("no private key in it")
	}
	if err != nil {
		return settingError(streams.FaultOther, keyStoreFile, "check the file, "+keyStorePassword+" and "+keyKeyPassword+"; a PKCS12 key store holds one key with its certificates", "%w", err)
	}
	return nil
}

func identities(content []byte, kind storeKind, password, keyPassword string) ([]tls.Certificate, error) {
	switch kind {
	case storePEM:
		return pemIdentity(content, keyPassword)
	case storePKCS12:
		key, leaf, rest, err := pkcs12.DecodeChain(content, password)
		if err != nil {
			return nil, storeError(err)
		}
		return certificate(key, append([]*x509.Certificate{leaf}, rest...))
	case storeJKS:
		return jksIdentities(content, password, keyPassword)
	case storeUnknown:
	}
	return nil, errors.New("unknown format")
}

func jksIdentities(content []byte, password, keyPassword string) ([]tls.Certificate, error) {
	ks, err := openJKS(content, password)
	if err != nil {
		return nil, err
	}
	if keyPassword == "" {
		keyPassword = password
	}
	var out []tls.Certificate
	for _, alias := range ks.Aliases() {
		if !ks.IsPrivateKeyEntry(alias) {
			continue
		}
		e, err := ks.GetPrivateKeyEntry(alias, []byte(keyPassword))
		if err != nil {
			return nil, fmt.Errorf("key %q: %w", alias, storeError(err))
		}
		key, err := x509.ParsePKCS8PrivateKey(e.PrivateKey)
		if err != nil {
			return nil, fmt.Errorf("key %q: %w", alias, err)
		}
		var chain []*x509.Certificate
		for _, c := range e.CertificateChain {
			cert, err := x509.ParseCertificate(c.Content)
			if err != nil {
				return nil, fmt.Errorf("certificate %q: %w", alias, err)
			}
			chain = append(chain, cert)
		}
		one, err := certificate(key, chain)
		if err != nil {
			return nil, fmt.Errorf("key %q: %w", alias, err)
		}
		out = append(out, one...)
	}
	return out, nil
}

// certificate joins a key and its chain, and refuses what does not belong
// together.
func certificate(key any, chain []*x509.Certificate) ([]tls.Certificate, error) {
	signer, ok := key.(crypto.Signer)
	if !ok {
		return nil, fmt.Errorf("a %T cannot sign", key)
	}
	if len(chain) == 0 {
		return nil, errors.New("the key has no certificate")
	}
	public, ok := chain[0].PublicKey.(interface{ Equal(crypto.PublicKey) bool })
	if !ok || !public.Equal(signer.Public()) {
		return nil, errors.New("the certificate is of another key")
	}
	c := tls.Certificate{PrivateKey: signer, Leaf: chain[0]}
	for _, cert := range chain {
		c.Certificate = append(c.Certificate, cert.Raw)
	}
	return []tls.Certificate{c}, nil
}
