package kafka

import (
	"cmp"
	"context"
	"errors"
	"slices"

	"github.com/twmb/franz-go/pkg/kmsg"

	"resurge/streams"
)

// configsPerRequest bounds the answer of one request: a topic has some forty
// settings.
const configsPerRequest = 500

func sortBy[T any, K cmp.Ordered](s []T, key func(T) K) {
	slices.SortFunc(s, func(a, b T) int { return cmp.Compare(key(a), key(b)) })
}

func unique(names []string) []string {
	return slices.Compact(slices.Sorted(slices.Values(names)))
}

// Topics returns the named topics, or all when none is named, sorted by name. A
// named topic that does not exist, or may not be seen, is in the answer with
// its Fault. A principal without rights is answered with no topics and no
// error: an empty list proves nothing.
func (r *Reader) Topics(ctx context.Context, names ...string) ([]streams.Topic, error) {
	s := clusterSubject("topics")
	asked := unique(names)
	if asked == nil {
		asked = []string{} // all
	}
	resp, err := r.metadata(ctx, asked)
	if err != nil {
		return nil, s.fail(err)
	}
	if err := settled(resp); err != nil {
		return nil, err
	}
	var out []streams.Topic
	for _, t := range resp.Topics {
		if t.Topic != nil {
			out = append(out, topicOf(*t.Topic, t))
		}
	}
	for _, name := range asked {
		if !slices.ContainsFunc(out, func(t streams.Topic) bool { return t.Name == name }) {
			out = append(out, streams.Topic{Name: name, Fault: topicSubject(name, "DESCRIBE").fault(errors.New("the broker did not answer for it"))})
		}
	}
	sortBy(out, func(t streams.Topic) string { return t.Name })
	return out, nil
}

func topicOf(name string, t kmsg.MetadataResponseTopic) streams.Topic {
	out := streams.Topic{Name: name, ID: t.TopicID, Internal: t.IsInternal}
	if t.ErrorCode != 0 {
		out.Fault = topicSubject(name, "DESCRIBE").code(t.ErrorCode, nil)
	}
	for _, p := range t.Partitions {
		np := streams.Partition{Partition: p.Partition, Leader: p.Leader, Replicas: p.Replicas, ISR: p.ISR}
		if p.ErrorCode != 0 {
			np.Fault = partitionSubject(streams.TopicPartition{Topic: name, Partition: p.Partition}).code(p.ErrorCode, nil)
		}
		out.Partitions = append(out.Partitions, np)
	}
	sortBy(out.Partitions, func(p streams.Partition) int32 { return p.Partition })
	return out
}

// TopicConfigs returns the settings of the named topics. A topic whose settings
// may not be seen has a Fault and hides no other (public report B15).
func (r *Reader) TopicConfigs(ctx context.Context, names ...string) (map[string]streams.TopicConfigs, error) {
	out := map[string]streams.TopicConfigs{}
	for chunk := range slices.Chunk(unique(names), configsPerRequest) {
		r.describeConfigs(ctx, chunk, out)
		if err := interrupted(ctx, subject{what: "topic configs"}); err != nil {
			return nil, err
		}
	}
	return out, nil
}

func (r *Reader) describeConfigs(ctx context.Context, names []string, out map[string]streams.TopicConfigs) {
	req := kmsg.NewPtrDescribeConfigsRequest()
	for _, name := range names {
		res := kmsg.NewDescribeConfigsRequestResource()
		res.ResourceType, res.ResourceName = kmsg.ConfigResourceTypeTopic, name
		req.Resources = append(req.Resources, res)
	}
	failed := errors.New("the broker did not answer for it")
	for _, shard := range r.cl.RequestSharded(ctx, req) {
		if shard.Err != nil {
			failed = shard.Err
			continue
		}
		resp, ok := shard.Resp.(*kmsg.DescribeConfigsResponse)
		if !ok {
			continue
		}
		for _, res := range resp.Resources {
			out[res.ResourceName] = configsOf(res)
		}
	}
	for _, name := range names {
		if _, ok := out[name]; !ok {
			out[name] = streams.TopicConfigs{Fault: configSubject(name).fault(failed)}
		}
	}
}

func configSubject(name string) subject {
	s := topicSubject(name, "DESCRIBE_CONFIGS")
	s.what = "configs of " + s.what
	return s
}

func configsOf(res kmsg.DescribeConfigsResponseResource) streams.TopicConfigs {
	if res.ErrorCode != 0 {
		return streams.TopicConfigs{Fault: configSubject(res.ResourceName).code(res.ErrorCode, res.ErrorMessage)}
	}
	return streams.TopicConfigs{Values: valuesOf(res, func(e kmsg.DescribeConfigsResponseResourceConfig) bool {
		return e.Source == kmsg.ConfigSourceDynamicTopicConfig
	})}
}

func valuesOf(res kmsg.DescribeConfigsResponseResource, dynamic func(kmsg.DescribeConfigsResponseResourceConfig) bool) map[string]streams.Config {
	out := make(map[string]streams.Config, len(res.Configs))
	for _, e := range res.Configs {
		out[e.Name] = streams.Config{Value: text(e.Value), Dynamic: dynamic(e)}
	}
	return out
}

// partitionsOf lists the partitions of the named topics. A topic that cannot be
// had stands in faults.
func (r *Reader) partitionsOf(ctx context.Context, names []string) ([]streams.TopicPartition, map[string]*streams.Fault, error) {
	topics, err := r.Topics(ctx, names...)
	if err != nil {
		return nil, nil, err
	}
	var out []streams.TopicPartition
	faults := map[string]*streams.Fault{}
	for _, t := range topics {
		if t.Fault != nil {
			faults[t.Name] = t.Fault
			continue
		}
		for _, p := range t.Partitions {
			out = append(out, streams.TopicPartition{Topic: t.Name, Partition: p.Partition})
		}
	}
	return out, faults, nil
}
