package crowd

import (
	"context"
	"fmt"
	"net"
	"time"

	"github.com/twmb/franz-go/pkg/kfake"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"
	"github.com/twmb/franz-go/pkg/kversion"
	"golang.org/x/sync/errgroup"
)

// session is how long members live without a heartbeat.
const session = 24 * time.Hour

// firstPort is the first broker's, on a network that was given.
const firstPort = 9092

// epoch is the time of every record.
var epoch = time.Date(2026, 11, 2, 8, 0, 0, 0, time.UTC)

// Options say what to start.
type Options struct {
	Size Size
	// Listen and Dial replace the network. They go together.
	Listen func(network, address string) (net.Listener, error)
	Dial   func(ctx context.Context, network, host string) (net.Conn, error)
}

// Crowd is a running cluster. Close it.
type Crowd struct {
	cluster *kfake.Cluster
	layout  layout
}

// Start brings the cluster up and fills it. The context ends the start only.
func Start(ctx context.Context, o Options) (*Crowd, error) {
	l, err := plan(o.Size)
	if err != nil {
		return nil, err
	}
	opts := []kfake.Opt{
		kfake.NumBrokers(o.Size.Brokers), kfake.ClusterID("UmVzdXJnZUNyb3dkMDAwMQ"), kfake.GroupMaxSessionTimeout(session),
	}
	if o.Listen != nil {
		ports := make([]int, o.Size.Brokers) // a network that is replaced has none to give
		for i := range ports {
			ports[i] = firstPort + i
		}
		opts = append(opts, kfake.ListenFn(o.Listen), kfake.Ports(ports...))
	}
	c := &Crowd{layout: l}
	if c.cluster, err = kfake.NewCluster(opts...); err != nil {
		return nil, fmt.Errorf("start cluster: %w", err)
	}
	if err := c.fill(ctx, o); err != nil {
		c.Close()
		return nil, fmt.Errorf("fill cluster: %w", err)
	}
	return c, nil
}

// Cluster is the fake cluster, for faults and for a look inside.
func (c *Crowd) Cluster() *kfake.Cluster { return c.cluster }

// Bootstrap lists the brokers to connect to.
func (c *Crowd) Bootstrap() []string { return c.cluster.ListenAddrs() }

// Application is the ID of one that runs, reads repartition topics and writes in
// transactions.
func (c *Crowd) Application() string { return c.layout.groups[0].id }

// Close ends the cluster.
func (c *Crowd) Close() { c.cluster.Close() }

func (c *Crowd) fill(ctx context.Context, o Options) error {
	if err := c.createTopics(o.Size.Brokers); err != nil {
		return err
	}
	f := filler{joining: make(chan struct{}, 1)}
	for i := range f.clients {
		cl, err := kgo.NewClient(clientOpts(c.Bootstrap(), o)...)
		if err != nil {
			return fmt.Errorf("create client: %w", err)
		}
		defer cl.Close()
		f.clients[i] = cl
	}
	if err := f.records(ctx, c.layout.topics, o.Size.Brokers); err != nil {
		return err
	}
	work, wctx := errgroup.WithContext(ctx)
	work.SetLimit(groupsAtOnce)
	for _, g := range c.layout.groups {
		work.Go(func() error {
			if err := f.group(wctx, g); err != nil {
				return fmt.Errorf("group %s: %w", g.id, err)
			}
			return nil
		})
	}
	if err := work.Wait(); err != nil {
		return err
	}
	return f.notes(ctx, c.layout, o.Size.Brokers)
}

// groupsAtOnce is how many groups are filled at the same time.
const groupsAtOnce = 16

func clientOpts(bootstrap []string, o Options) []kgo.Opt {
	versions := kversion.Stable()
	versions.SetMaxKeyVersion(kmsg.OffsetCommit.Int16(), 9) // newer ones go by topic ID
	versions.SetMaxKeyVersion(kmsg.Produce.Int16(), 12)
	opts := []kgo.Opt{
		kgo.SeedBrokers(bootstrap...), kgo.ClientID("crowd"), kgo.MaxVersions(versions), kgo.DisableClientMetrics(),
		kgo.MetadataMinAge(50 * time.Millisecond),
	}
	if o.Dial != nil {
		opts = append(opts, kgo.Dialer(o.Dial))
	}
	return opts
}

// createTopics creates the topics and gives each partition its leader.
func (c *Crowd) createTopics(brokers int) error {
	brokersOwn := topic{offsetsTopic, offsetsPartitions, map[string]string{"cleanup.policy": "compact", "kfake.is_internal": "true"}}
	for i, t := range append(c.layout.topics, brokersOwn) {
		if err := c.cluster.CreateTopic(t.name, t.partitions, t.configs); err != nil {
			return fmt.Errorf("create topic %s: %w", t.name, err)
		}
		for p := range t.partitions {
			if err := c.cluster.MoveTopicPartition(t.name, p, leaderOf(i, p, brokers)); err != nil {
				return fmt.Errorf("lead topic %s: %w", t.name, err)
			}
		}
	}
	return nil
}

// leaderOf is the broker that leads a partition of the topic with that number.
func leaderOf(number int, partition int32, brokers int) int32 {
	return int32((number + int(partition)) % brokers)
}
