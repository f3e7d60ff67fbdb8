package kafka

import (
	"strings"
	"testing"

	"resurge/streams"
)

func TestJAAS(t *testing.T) {
	const scram = "org.apache.kafka.common.security.scram.ScramLoginModule"
	for text, want := range map[string][2]string{
		scram + ` required username="ops" password="s3cret";`:                         {"ops", "s3cret"},
		scram + " REQUIRED\n  username=\"ops\"\n  password=\"s3cret\"\n;":             {"ops", "s3cret"},
		scram + ` required username=ops password=s3-cret.x;`:                          {"ops", "s3-cret.x"},
		scram + ` required username='ops' password="a\"b\\c;d=e";`:                    {"ops", `a"b\c;d=e`},
		scram + ` required username="ops" password="\101\t\z";`:                       {"ops", "A\tz"},
		scram + " required /* by hand */ username=\"ops\" password=\"x\"; // end":     {"ops", "x"},
		scram + " required // by hand\n username=\"ops\" password=\"// no comment\";": {"ops", "// no comment"},
		scram + ` required username="" password="";`:                                  {"", ""},
		`shaded.` + scram + ` required username="ü" password="p" user_admin="x";`:     {"ü", "p"},
	} {
		l, err := parseJAAS(text)
		if err != nil {
			t.Errorf("%s: %v", text, err)
			continue
		}
		got, err := l.sasl(MechanismScramSHA256)
		if err != nil || got.Username != want[0] || got.Password.Reveal() != want[1] {
			t.Errorf("%s: got %q %q, %v", text, got.Username, got.Password.Reveal(), err)
		}
	}
}

func TestJAASThatIsWrong(t *testing.T) {
	const plain = "org.apache.kafka.common.security.plain.PlainLoginModule"
	for text, want := range map[string]string{
		"": "want a login module",
		plain + ` required username="hunter2" password="hunter2"`:                          "semicolon",
		plain + ` username="hunter2" password="hunter2";`:                                  "control flag",
		plain + ` required username="hunter2" password="hunter2;`:                          "does not end",
		plain + " required username=\"hunter2\" password=\"hunter2\n\";":                   "does not end",
		plain + ` required username "hunter2";`:                                            "of the form",
		plain + ` required username="hunter2" username="hunter2";`:                         "twice",
		plain + ` required username="hunter2" password="hunter2"; ` + plain + ` required;`: "more than one",
		plain + ` required /* username="hunter2";`:                                         "comment",
		plain + ` required password="hunter2";`:                                            "username is missing",
		plain + ` required username="u";`:                                                  "password is missing",
		plain + ` required username="u" password="hunter2" tokenauth="true";`:              "tokenauth",
		"com.sun.security.auth.module.Krb5LoginModule required useKeyTab=true;":            "Krb5LoginModule is not supported",
	} {
		l, err := parseJAAS(text)
		if err == nil {
			_, err = l.sasl(MechanismPlain)
		}
		if err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "hunter2") {
			t.Errorf("%s: %v, want %q and no secret", text, err, want)
		}
	}
}

func FuzzJAAS(f *testing.F) {
	f.Add(`a.B required x="y\n\101" /* c */ z='w'; // d`)
	f.Add("a required //")
	f.Add("//")
	f.Fuzz(func(t *testing.T, text string) {
		if l, err := parseJAAS(text); err == nil && (l.module == "" || l.options == nil) {
			t.Errorf("%q: %+v", text, l)
		}
	})
}

func TestB111_UnsupportedSecuritySettings(t *testing.T) {
	for _, key := range []string{
		"sasl.login.callback.handler.class", "sasl.kerberos.service.name", "ssl.cipher.suites", "ssl.provider", "security.providers",
		"ssl.engine.factory.class", "sasl.oauthbearer.token.endpoint.url", "sasl.jaas.confg", "ssl.truststore.loaction",
	} {
		_, err := ParseProperties([]byte("bootstrap.servers=k:9092\n" + key + "=hunter2\n"))
		f := streams.FaultOf(err)
		if f == nil || f.Kind != streams.FaultUnsupported || !strings.Contains(f.What, key) || strings.Contains(err.Error(), "hunter2") {
			t.Errorf("%s: %v", key, err)
		}
	}
}
