//go:build integration

package integration

import (
	"context"
	"crypto/rand"
	"encoding/base64"
	"errors"
	"fmt"
	mathrand "math/rand/v2"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kgo"
)

// broker is one Kafka node that is broker and controller.
type broker struct {
	addr  string
	proc  *process
	cl    *kgo.Client
	admin *kadm.Client
}

type brokerOptions struct {
	sasl  bool              // SASL_PLAINTEXT with PLAIN: admin/admin-secret is a super user, ops/ops-secret has no rights
	props map[string]string // beyond or instead of the usual ones
}

var shared struct {
	sync.Mutex
	broker *broker // guarded by the mutex
	err    error   // guarded by the mutex
}

// sharedBroker is the one that tests with names of their own use together. TestMain stops it.
func sharedBroker(t *testing.T) *broker {
	t.Helper()
	tc := java(t)
	shared.Lock()
	defer shared.Unlock()
	if shared.broker == nil && shared.err == nil {
		shared.broker, shared.err = launchBroker(tc, filepath.Join(scratch, "broker"), brokerOptions{})
	}
	if shared.err != nil {
		t.Fatalf("start the shared broker: %v", shared.err)
	}
	if err := shared.broker.proc.died(); err != nil {
		t.Fatal(err)
	}
	return shared.broker
}

func stopSharedBroker() {
	shared.Lock()
	defer shared.Unlock()
	if shared.broker != nil {
		shared.broker.close()
	}
}

// startBroker starts one for this test alone.
func startBroker(t *testing.T, opts brokerOptions) *broker {
	t.Helper()
	b, err := launchBroker(java(t), t.TempDir(), opts)
	if err != nil {
		t.Fatalf("start a broker: %v", err)
	}
	t.Cleanup(b.close)
	return b
}

func (b *broker) close() {
	b.cl.Close()
	if err := b.proc.stop(20 * time.Second); err != nil {
		fmt.Fprintln(os.Stderr, err)
	}
}

var errAddressInUse = errors.New("address already in use")

func launchBroker(tc *toolchain, dir string, opts brokerOptions) (*broker, error) {
	template, archive, err := tc.prepared()
	if err != nil {
		return nil, err
	}
	for attempt := 1; ; attempt++ {
		data := filepath.Join(dir, fmt.Sprintf("data%d", attempt))
		if err := copyFormatted(template, data, newClusterID()); err != nil {
			return nil, err
		}
		b, err := launchOnce(tc, jvm{heap: "768m", archive: archive}, data, opts)
		if err == nil || attempt == 3 || !errors.Is(err, errAddressInUse) {
			return b, err
		}
	}
}

func launchOnce(tc *toolchain, j jvm, data string, opts brokerOptions) (*broker, error) {
	ports, err := freePorts(2)
	if err != nil {
		return nil, err
	}
	file := data + ".properties"
	if err := os.WriteFile(file, brokerProperties(ports[0], ports[1], data, opts), 0o600); err != nil {
		return nil, err
	}
	j.main, j.args, j.log = "kafka.Kafka", []string{file}, []string{"log.kafka.server=info"}
	proc, err := startProcess("broker", tc.command(j), nil)
	if err != nil {
		return nil, err
	}
	b := &broker{addr: loopback(ports[0]), proc: proc}
	kopts := []kgo.Opt{
		kgo.SeedBrokers(b.addr), kgo.DialTimeout(time.Second), kgo.RetryTimeout(10 * time.Second),
		kgo.MetadataMinAge(50 * time.Millisecond), kgo.DisableClientMetrics(),
		kgo.RecordPartitioner(kgo.StickyKeyPartitioner(nil)), kgo.ProducerBatchMaxBytes(512 << 10),
		kgo.UnknownTopicRetries(100), // a topic just created is not on every list yet
	}
	if opts.sasl {
		kopts = append(kopts, kgo.SASL(plainAuth("admin")))
	}
	if b.cl, err = kgo.NewClient(kopts...); err != nil {
		proc.kill()
		return nil, err
	}
	b.admin = kadm.NewClient(b.cl)
	if err := b.ready(60 * time.Second); err != nil {
		b.cl.Close()
		proc.kill()
		return nil, err
	}
	return b, nil
}

// ready waits for a metadata answer that names a controller. A dead JVM is seen at once.
func (b *broker) ready(limit time.Duration) error {
	var died error
	err := poll(limit, "broker ready", func() (bool, string) {
		if died = b.proc.died(); died != nil {
			return true, ""
		}
		ctx, cancel := context.WithTimeout(context.Background(), 2*time.Second)
		defer cancel()
		meta, err := b.admin.BrokerMetadata(ctx)
		if err != nil {
			return false, err.Error()
		}
		return meta.Controller >= 0 && len(meta.Brokers) > 0, "no controller yet"
	})
	if died != nil {
		if b.proc.out.contains("Address already in use") {
			return fmt.Errorf("%w\n%w", errAddressInUse, died)
		}
		return died
	}
	if err != nil {
		return fmt.Errorf("%w\n%s", err, b.proc.out.last(40))
	}
	return nil
}

func loopback(port int) string { return net.JoinHostPort("127.0.0.1", strconv.Itoa(port)) }

// freePorts finds n ports below the range that outgoing connections take theirs from.
func freePorts(n int) ([]int, error) {
	var ports []int
	var held []net.Listener
	defer func() {
		for _, l := range held {
			l.Close()
		}
	}()
	for attempt := 0; len(ports) < n; attempt++ {
		port := 20000 + mathrand.IntN(12000)
		l, err := net.Listen("tcp4", loopback(port)) //nolint:noctx // a local port is free or not: nothing to wait for
		if err != nil {
			if attempt == 200 {
				return nil, fmt.Errorf("find a free port: %w", err)
			}
			continue
		}
		held = append(held, l)
		ports = append(ports, port)
	}
	return ports, nil
}

func newClusterID() string {
	id := make([]byte, 16)
	if _, err := rand.Read(id); err != nil {
		panic(err) // crypto/rand does not fail
	}
	id[0] &= 0x7f // a first character that is no dash
	return base64.RawURLEncoding.EncodeToString(id)
}

// copyFormatted copies a formatted log directory and gives it a cluster ID of its own.
func copyFormatted(template, dir, clusterID string) error {
	if err := os.CopyFS(dir, os.DirFS(template)); err != nil {
		return fmt.Errorf("copy the formatted directory: %w", err)
	}
	file := filepath.Join(dir, "meta.properties")
	text, err := os.ReadFile(file)
	if err != nil {
		return err
	}
	lines := strings.Split(string(text), "\n")
	for i, line := range lines {
		if strings.HasPrefix(line, "cluster.id=") {
			lines[i] = "cluster.id=" + clusterID
		}
	}
	return os.WriteFile(file, []byte(strings.Join(lines, "\n")), 0o644)
}
