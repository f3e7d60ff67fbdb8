package kafka

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"strings"
	"sync"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"
	"github.com/twmb/franz-go/pkg/kversion"

	"resurge/streams"
)

// Limits of one request. An operator waits in front of them.
const (
	proofTimeout   = 5 * time.Second // of the first answer; two probes may follow
	dialTimeout    = 3 * time.Second
	requestTimeout = 10 * time.Second
	retryTimeout   = 10 * time.Second
	firstBackoff   = 50 * time.Millisecond
	longestBackoff = time.Second
	metadataMinAge = 100 * time.Millisecond
)

// Options are what tests and the sandbox change.
type Options struct {
	// Dialer opens the connection below TLS; nil means TCP.
	Dialer func(ctx context.Context, network, address string) (net.Conn, error)
	// OnRequest is called with the API key of every request that was sent, from
	// many goroutines.
	OnRequest func(key int16)
}

// Cluster is a connection to one cluster.
type Cluster struct {
	config  ClientConfig
	options Options
	reader  *Reader

	mu     sync.Mutex // guards the rest
	writer *kgo.Client
	closed bool
}

// Dial connects to a cluster and proves the connection with one answer. Its
// errors say which addresses were tried and what looks wrong.
func Dial(ctx context.Context, config ClientConfig, options Options) (*Cluster, error) {
	s := subject{what: "cluster at " + streams.Quote(strings.Join(config.Bootstrap, ","))}
	if len(config.Bootstrap) == 0 {
		return nil, asError(&streams.Fault{Kind: streams.FaultOther, What: "connect", Message: "no bootstrap server is named", Hint: "set bootstrap.servers or give --bootstrap-server host:port"})
	}
	c := &Cluster{config: config, options: options}
	cl, err := c.newClient(true)
	if err != nil {
		return nil, s.fail(err)
	}
	c.reader = newReader(cl, config.principal())
	if err := c.prove(ctx, s); err != nil {
		c.Close()
		return nil, err
	}
	return c, nil
}

// prove asks every bootstrap server once, all together, until one answers.
func (c *Cluster) prove(ctx context.Context, s subject) error {
	bounded, cancel := context.WithTimeout(ctx, proofTimeout)
	defer cancel()
	seeds := c.reader.cl.SeedBrokers()
	type answer struct {
		seed int
		err  error
	}
	answers := make(chan answer, len(seeds))
	for i, b := range seeds {
		go func() {
			_, err := metadataOf(bounded, b, nil)
			answers <- answer{i, err}
		}()
	}
	causes := make([]error, len(seeds))
	answered := false
	for range seeds {
		a := <-answers
		causes[a.seed] = a.err
		if a.err == nil {
			answered = true
			cancel() // the others may still be dialing
		}
	}
	if answered {
		_, err := c.reader.metadata(ctx, nil) // loads the brokers
		return s.fail(err)
	}
	if err := interrupted(ctx, s); err != nil {
		return err
	}
	return c.explain(ctx, s, causes)
}

// Reader returns the cluster's reader. It cannot change the cluster.
func (c *Cluster) Reader() *Reader { return c.reader }

// Writer returns a writer. Its connections open when it is first used.
func (c *Cluster) Writer() *Writer { return &Writer{cluster: c} }

// Close ends all connections.
func (c *Cluster) Close() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.closed = true
	c.reader.cl.Close()
	if c.writer != nil {
		c.writer.Close()
	}
}

// writeClient returns the client that may write.
func (c *Cluster) writeClient() (*kgo.Client, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.closed {
		return nil, kgo.ErrClientClosed
	}
	if c.writer == nil {
		cl, err := c.newClient(false)
		if err != nil {
			return nil, err
		}
		c.writer = cl
	}
	return c.writer, nil
}

// newClient makes a client. Nothing is dialed yet.
func (c *Cluster) newClient(readOnly bool) (*kgo.Client, error) {
	timeout := c.config.RequestTimeout
	if timeout <= 0 {
		timeout = requestTimeout
	}
	opts := []kgo.Opt{
		kgo.SeedBrokers(c.config.Bootstrap...),
		kgo.Dialer(c.dialer(readOnly)),
		kgo.DisableClientMetrics(),
		kgo.MaxVersions(versions()),
		kgo.RequestTimeoutOverhead(timeout),
		kgo.RetryTimeout(retryTimeout),
		kgo.RetryBackoffFn(backoff),
		kgo.MetadataMinAge(metadataMinAge),
		kgo.WithHooks(requestHook(c.options.OnRequest)),
	}
	if c.config.ClientID != "" {
		opts = append(opts, kgo.ClientID(c.config.ClientID))
	} else {
		opts = append(opts, kgo.ClientID("resurge"))
	}
	if c.config.SASL != nil {
		m, err := c.config.SASL.mechanism()
		if err != nil {
			return nil, err
		}
		opts = append(opts, kgo.SASL(m))
	}
	cl, err := kgo.NewClient(opts...)
	if err != nil {
		return nil, fmt.Errorf("configure client: %w", err)
	}
	return cl, nil
}

// versions keeps commits by topic name: from version 10 they go by topic ID
// (KIP-848), which hides the commits of deleted topics. DescribeGroups from
// version 6 (KIP-1043) answers an error for groups that do not exist, and leaves
// out the rights on them that a restore needs to know.
func versions() *kversion.Versions {
	v := kversion.Stable()
	v.SetMaxKeyVersion(kmsg.OffsetCommit.Int16(), 9)
	v.SetMaxKeyVersion(kmsg.OffsetFetch.Int16(), 9)
	v.SetMaxKeyVersion(kmsg.DescribeGroups.Int16(), 5)
	return v
}

func backoff(fails int) time.Duration {
	return min(firstBackoff<<min(max(fails-1, 0), 10), longestBackoff)
}

// dialer opens connections: TCP or what the options give, then TLS, then the
// guard against writes.
func (c *Cluster) dialer(readOnly bool) func(context.Context, string, string) (net.Conn, error) {
	base := c.options.Dialer
	if base == nil {
		base = (&net.Dialer{}).DialContext
	}
	return func(ctx context.Context, network, address string) (net.Conn, error) {
		ctx, cancel := context.WithTimeout(ctx, dialTimeout)
		defer cancel()
		conn, err := base(ctx, network, address)
		if err != nil {
			return nil, &dialError{err}
		}
		if c.config.TLS != nil {
			if conn, err = c.handshake(ctx, conn, address); err != nil {
				return nil, err
			}
		}
		if readOnly {
			return &readOnlyConn{Conn: conn}, nil
		}
		return conn, nil
	}
}

func (c *Cluster) handshake(ctx context.Context, conn net.Conn, address string) (net.Conn, error) {
	config, err := c.config.TLS.client(address)
	if err != nil {
		return nil, errors.Join(err, conn.Close())
	}
	secure := tls.Client(conn, config)
	if err := secure.HandshakeContext(ctx); err != nil {
		_ = conn.Close() // the handshake's error is the one to tell
		return nil, &handshakeError{err}
	}
	return secure, nil
}

// requestHook tells an observer of every request that is sent.
type requestHook func(key int16)

// OnBrokerWrite implements kgo.HookBrokerWrite.
func (h requestHook) OnBrokerWrite(_ kgo.BrokerMetadata, key int16, _ int, _, _ time.Duration, _ error) {
	if h != nil {
		h(key)
	}
}
