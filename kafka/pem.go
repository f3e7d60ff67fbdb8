package kafka

import (
	"bytes"
	"crypto/aes"
	"crypto/cipher"
	"crypto/des" //nolint:gosec // old keys are encrypted with triple DES
	"crypto/pbkdf2"
	"crypto/sha1" //nolint:gosec // PBKDF2's default
	"crypto/sha256"
	"crypto/sha512"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/asn1"
	"encoding/base64"
	"errors"
	"fmt"
	"hash"
	"regexp"
	"strings"
)

// pemContent is what PEM text holds.
type pemContent struct {
	chain []*x509.Certificate
	keys  []any
}

// pemBlock finds a block also where a properties file has joined its lines, as
// Java does.
var pemBlock = regexp.MustCompile(`(?s)-----BEGIN ([A-Z0-9 ]+)-----(.*?)-----END ([A-Z0-9 ]+)-----`)

// pemHeader is a header line of a block, like Proc-Type.
var pemHeader = regexp.MustCompile(`(?m)^\s*[A-Za-z-]+:.*$`)

func parsePEM(text []byte, keyPassword string) (pemContent, error) {
	var out pemContent
	blocks := pemBlock.FindAllSubmatch(text, -1)
	if len(blocks) == 0 {
		return out, errors.New("no PEM block in it")
	}
	for _, b := range blocks {
		kind := string(b[1])
		if kind != string(b[3]) {
			return out, fmt.Errorf("a block begins as %s and ends as %s", kind, b[3])
		}
		if bytes.Contains(b[2], []byte("ENCRYPTED")) && kind != "ENCRYPTED PRIVATE KEY" {
			return out, errors.New("the key is encrypted in the old form: convert it with openssl pkcs8 -topk8")
		}
		body := strings.Join(strings.Fields(pemHeader.ReplaceAllString(string(b[2]), "")), "")
		der, err := base64.StdEncoding.DecodeString(body)
		if err != nil {
			return out, fmt.Errorf("%s is not base64", kind)
		}
		if err := out.add(kind, der, keyPassword); err != nil {
			return out, err
		}
	}
	return out, nil
}

func (p *pemContent) add(kind string, der []byte, keyPassword string) error {
	var key any
	var err error
	switch kind {
	case "CERTIFICATE":
		c, err := x509.ParseCertificate(der)
		if err != nil {
			return fmt.Errorf("certificate: %w", err)
		}
		p.chain = append(p.chain, c)
		return nil
	case "PRIVATE KEY":
		key, err = x509.ParsePKCS8PrivateKey(der)
	case "RSA PRIVATE KEY":
		key, err = x509.ParsePKCS1PrivateKey(der)
	case "EC PRIVATE KEY":
		key, err = x509.ParseECPrivateKey(der)
	case "ENCRYPTED PRIVATE KEY":
		if der, err = decryptPKCS8(der, keyPassword); err == nil {
			key, err = x509.ParsePKCS8PrivateKey(der)
		}
		if err != nil && !errors.Is(err, errEncryption) {
			err = errors.New("ssl.key.password is wrong or missing, or the key is damaged")
		}
	default: // EC PARAMETERS and the like
		return nil
	}
	if err != nil {
		return fmt.Errorf("private key: %w", err)
	}
	p.keys = append(p.keys, key)
	return nil
}

func pemIdentity(text []byte, keyPassword string) ([]tls.Certificate, error) {
	p, err := parsePEM(text, keyPassword)
	if err != nil {
		return nil, err
	}
	if len(p.keys) != 1 {
		return nil, fmt.Errorf("%d private keys in it, want one", len(p.keys))
	}
	return certificate(p.keys[0], p.chain)
}

// errEncryption says that a key is encrypted in a way that is not known.
var errEncryption = errors.New("encryption of the key is not supported")

// encryptedKey is PKCS #8's EncryptedPrivateKeyInfo (RFC 5958) with PBES2 (RFC
// 8018), as openssl and Kafka's documentation make it.
type encryptedKey struct {
	Algorithm struct {
		ID     asn1.ObjectIdentifier
		Params struct {
			KDF struct {
				ID     asn1.ObjectIdentifier
				Params struct {
					Salt       []byte
					Iterations int
					KeyLength  int                      `asn1:"optional"`
					PRF        pkix.AlgorithmIdentifier `asn1:"optional"`
				}
			}
			Cipher struct {
				ID asn1.ObjectIdentifier
				IV []byte
			}
		}
	}
	Data []byte
}

const mostIterations = 10_000_000 // a hostile file must not stall the start

func decryptPKCS8(der []byte, password string) ([]byte, error) {
	var k encryptedKey
	if rest, err := asn1.Unmarshal(der, &k); err != nil || len(rest) > 0 {
		return nil, fmt.Errorf("%w: want PBES2", errEncryption)
	}
	kdf := k.Algorithm.Params.KDF
	prf, ok := prfs[kdf.Params.PRF.Algorithm.String()]
	if !ok || kdf.ID.String() != "1.2.840.113549.1.5.12" || kdf.Params.Iterations > mostIterations {
		return nil, fmt.Errorf("%w: want PBKDF2", errEncryption)
	}
	c, ok := ciphers[k.Algorithm.Params.Cipher.ID.String()]
	if !ok {
		return nil, fmt.Errorf("%w: cipher %s", errEncryption, k.Algorithm.Params.Cipher.ID)
	}
	secret, err := pbkdf2.Key(prf, password, kdf.Params.Salt, kdf.Params.Iterations, c.size)
	if err != nil {
		return nil, fmt.Errorf("derive key: %w", err)
	}
	block, err := c.make(secret)
	if err != nil {
		return nil, fmt.Errorf("decrypt: %w", err)
	}
	iv, data := k.Algorithm.Params.Cipher.IV, k.Data
	if len(iv) != block.BlockSize() || len(data) == 0 || len(data)%block.BlockSize() != 0 {
		return nil, errors.New("decrypt: wrong length")
	}
	cipher.NewCBCDecrypter(block, iv).CryptBlocks(data, data)
	pad := int(data[len(data)-1])
	if pad == 0 || pad > block.BlockSize() || pad > len(data) {
		return nil, errors.New("decrypt: wrong padding")
	}
	return data[:len(data)-pad], nil
}

// prfs are the functions of PBKDF2; none named means SHA-1.
var prfs = map[string]func() hash.Hash{
	"": sha1.New, "1.2.840.113549.2.7": sha1.New, "1.2.840.113549.2.9": sha256.New,
	"1.2.840.113549.2.10": sha512.New384, "1.2.840.113549.2.11": sha512.New,
}

type cbc struct {
	size int
	make func([]byte) (cipher.Block, error)
}

var ciphers = map[string]cbc{
	"2.16.840.1.101.3.4.1.2":  {16, aes.NewCipher},
	"2.16.840.1.101.3.4.1.22": {24, aes.NewCipher},
	"2.16.840.1.101.3.4.1.42": {32, aes.NewCipher},
	"1.2.840.113549.3.7":      {24, des.NewTripleDESCipher},
}
