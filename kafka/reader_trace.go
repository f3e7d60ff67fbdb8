package kafka

import (
	"context"
	"errors"
	"slices"
	"strconv"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"

	"resurge/streams"
)

// Producers returns the producers that are remembered on each partition, with
// one request to each leader (DescribeProducers, KIP-664). Each partition has an
// entry; one that cannot be asked has a Fault and leaves the others alone.
func (r *Reader) Producers(ctx context.Context, partitions []streams.TopicPartition) (map[streams.TopicPartition]streams.Producers, error) {
	out := make(map[streams.TopicPartition]streams.Producers, len(partitions))
	if len(partitions) == 0 {
		return out, nil
	}
	for _, shard := range r.cl.RequestSharded(ctx, producersRequest(once(partitions))) {
		takeProducers(shard, out)
	}
	if err := interrupted(ctx, subject{what: "producers"}); err != nil {
		return nil, err
	}
	for _, tp := range partitions {
		if _, ok := out[tp]; !ok {
			out[tp] = streams.Producers{Fault: producersSubject(tp).fault(errors.New("the broker did not answer for it"))}
		}
	}
	return out, nil
}

func producersSubject(tp streams.TopicPartition) subject {
	s := topicSubject(tp.Topic, "READ")
	s.what = "producers of " + partitionSubject(tp).what
	return s
}

func producersRequest(tps []streams.TopicPartition) *kmsg.DescribeProducersRequest {
	req := kmsg.NewPtrDescribeProducersRequest()
	index := map[string]int{}
	for _, tp := range tps {
		i, ok := index[tp.Topic]
		if !ok {
			t := kmsg.NewDescribeProducersRequestTopic()
			t.Topic = tp.Topic
			i = len(req.Topics)
			index[tp.Topic] = i
			req.Topics = append(req.Topics, t)
		}
		req.Topics[i].Partitions = append(req.Topics[i].Partitions, tp.Partition)
	}
	return req
}

func takeProducers(shard kgo.ResponseShard, out map[streams.TopicPartition]streams.Producers) {
	if shard.Err != nil {
		req, ok := shard.Req.(*kmsg.DescribeProducersRequest)
		if !ok {
			return
		}
		for _, t := range req.Topics {
			for _, p := range t.Partitions {
				tp := streams.TopicPartition{Topic: t.Topic, Partition: p}
				out[tp] = streams.Producers{Fault: producersSubject(tp).fault(shard.Err)}
			}
		}
		return
	}
	resp, ok := shard.Resp.(*kmsg.DescribeProducersResponse)
	if !ok {
		return
	}
	for _, t := range resp.Topics {
		for _, p := range t.Partitions {
			tp := streams.TopicPartition{Topic: t.Topic, Partition: p.Partition}
			out[tp] = producersOf(tp, p)
		}
	}
}

func producersOf(tp streams.TopicPartition, p kmsg.DescribeProducersResponseTopicPartition) streams.Producers {
	if p.ErrorCode != 0 {
		return streams.Producers{Fault: producersSubject(tp).code(p.ErrorCode, p.ErrorMessage)}
	}
	var out streams.Producers
	for _, a := range p.ActiveProducers {
		producer := streams.Producer{ID: a.ProducerID, Epoch: a.ProducerEpoch, TransactionStart: max(a.CurrentTxnStartOffset, -1)}
		if a.LastTimestamp >= 0 {
			producer.Last = time.UnixMilli(a.LastTimestamp).UTC()
		}
		out.Active = append(out.Active, producer)
	}
	sortBy(out.Active, func(p streams.Producer) int64 { return p.ID })
	return out
}

// BrokerConfigs returns the settings of one broker: of the controller, or of the
// first one where the cluster names no broker as such. Dynamic are those that
// were set, at run time or in the broker's file. A setting that the broker keeps
// secret has no value.
func (r *Reader) BrokerConfigs(ctx context.Context) (streams.TopicConfigs, error) {
	cluster, err := r.Cluster(ctx)
	if err != nil {
		return streams.TopicConfigs{}, err
	}
	node := cluster.Brokers[0].ID
	for _, b := range cluster.Brokers {
		if b.ID == cluster.Controller {
			node = b.ID
		}
	}
	name := strconv.Itoa(int(node))
	s := subject{what: "configs of broker " + name, needs: "DESCRIBE_CONFIGS on the cluster"}
	req := kmsg.NewPtrDescribeConfigsRequest()
	res := kmsg.NewDescribeConfigsRequestResource()
	res.ResourceType, res.ResourceName = kmsg.ConfigResourceTypeBroker, name
	req.Resources = append(req.Resources, res)
	resp, err := req.RequestWith(ctx, r.cl)
	if err := interrupted(ctx, s); err != nil {
		return streams.TopicConfigs{}, err
	}
	if err != nil {
		return streams.TopicConfigs{Fault: s.fault(err)}, nil
	}
	got := first(resp.Resources)
	switch {
	case len(resp.Resources) != 1:
		return streams.TopicConfigs{Fault: s.fault(errUnexpected)}, nil
	case got.ErrorCode != 0:
		return streams.TopicConfigs{Fault: s.code(got.ErrorCode, got.ErrorMessage)}, nil
	}
	return streams.TopicConfigs{Values: valuesOf(got, setOnBroker)}, nil
}

// setOnBroker reports whether somebody set it, at run time or in the broker's file.
func setOnBroker(e kmsg.DescribeConfigsResponseResourceConfig) bool {
	set := []kmsg.ConfigSource{kmsg.ConfigSourceDynamicBrokerConfig, kmsg.ConfigSourceDynamicDefaultBrokerConfig, kmsg.ConfigSourceStaticBrokerConfig}
	return slices.Contains(set, e.Source) || e.Source < 0 && !e.IsDefault // version 0 has no source
}
