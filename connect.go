package main

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"resurge/discovery"
	"resurge/kafka"
	"resurge/plans"
	"resurge/recovery"
	"resurge/streams"
)

// link is a connection to one cluster and what main knows about it.
type link struct {
	cluster    *kafka.Cluster
	reader     *kafka.Reader
	context    string
	production bool
	drill      bool
}

func (l *link) discoverer() discovery.Discoverer {
	return discovery.Discoverer{Reader: l.reader, Now: now}
}

// The adapter satisfies the engine's ports.
var (
	_ recovery.Reader      = (*kafka.Reader)(nil)
	_ recovery.Writer      = writer{}
	_ recovery.Operator    = hooks{}
	_ recovery.Application = (*appClient)(nil)
	_ recovery.Store       = runDir{}
)

// connect dials the cluster that flags, context or properties name.
func (c *cli) connect(ctx context.Context) (*link, error) {
	cc, name, err := c.context()
	if err != nil {
		return nil, err
	}
	l := &link{context: name, production: cc.Production}
	file := cc.CommandConfig
	if c.commandConfig != "" {
		file = c.commandConfig
	}
	var client kafka.ClientConfig
	if file != "" {
		if client, err = kafka.ReadProperties(file); err != nil {
			return nil, usageError("client properties "+file, err, "")
		}
	}
	switch {
	case len(c.bootstrap) > 0:
		client.Bootstrap = c.bootstrap
	case len(cc.BootstrapServers) > 0:
		client.Bootstrap = cc.BootstrapServers
	}
	if len(client.Bootstrap) == 0 {
		return nil, usageError("connect", errors.New("no cluster is named"), "give --bootstrap-server host:port or --context NAME, or try resurge rehearse")
	}
	l.cluster, err = kafka.Dial(ctx, client, kafka.Options{})
	if err != nil {
		return nil, err
	}
	l.reader = l.cluster.Reader()
	return l, nil
}

// context picks the context: by flag, else the current one of the configuration
// unless a bootstrap server says where to go.
func (c *cli) context() (contextConfig, string, error) {
	name := c.contextName
	if name == "" && len(c.bootstrap) == 0 {
		name = c.config.Current
	}
	if name == "" {
		return contextConfig{}, "", nil
	}
	cc, ok := c.config.Contexts[name]
	if !ok {
		var names []string
		for n := range c.config.Contexts {
			names = append(names, n)
		}
		slices.Sort(names)
		return cc, name, usageError("context "+name, errors.New("is not in the configuration"), fmt.Sprintf("it has %v", names))
	}
	return cc, name, nil
}

// writer turns the engine's words into the adapter's.
type writer struct{ w *kafka.Writer }

func (w writer) CommitOffsets(ctx context.Context, group string, offsets map[streams.TopicPartition]streams.Commit) error {
	return w.w.CommitOffsets(ctx, group, offsets)
}

func (w writer) DeleteCommits(ctx context.Context, group string, partitions []streams.TopicPartition) error {
	return w.w.DeleteCommits(ctx, group, partitions)
}

func (w writer) DeleteTopic(ctx context.Context, name string, id streams.TopicID) error {
	return w.w.DeleteTopic(ctx, name, id)
}

func (w writer) CreateTopic(ctx context.Context, t plans.Topic) (streams.TopicID, error) {
	return w.w.CreateTopic(ctx, kafka.NewTopic{Name: t.Name, Partitions: t.Partitions, ReplicationFactor: t.ReplicationFactor, Configs: t.Configs})
}

func (w writer) RemoveMembers(ctx context.Context, group string, members []plans.Member) error {
	refs := make([]kafka.MemberRef, len(members))
	for i, m := range members {
		refs[i] = kafka.MemberRef{ID: m.ID, InstanceID: m.InstanceID}
	}
	return w.w.RemoveMembers(ctx, group, refs)
}
