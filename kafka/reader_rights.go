package kafka

import (
	"context"
	"errors"
	"math"
	"slices"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kmsg"

	"resurge/streams"
)

// rightsOmitted is the bit field of a broker that does not tell (Kafka's
// AUTHORIZED_OPERATIONS_OMITTED).
const rightsOmitted int32 = math.MinInt32

// operations are the ACL operations by their bit, which is their code in Kafka's
// AclOperation.
var operations = map[int]streams.Operation{
	3: streams.OpRead, 4: streams.OpWrite, 5: streams.OpCreate, 6: streams.OpDelete, 7: streams.OpAlter, 8: streams.OpDescribe,
	9: streams.OpClusterAction, 10: streams.OpDescribeConfigs, 11: streams.OpAlterConfigs, 12: streams.OpIdempotentWrite,
	13: "CREATE_TOKENS", 14: "DESCRIBE_TOKENS", 15: "TWO_PHASE_COMMIT",
}

// rightsOf reads a bit field of authorized operations (KIP-430).
func rightsOf(s subject, bits int32) streams.Rights {
	if bits == rightsOmitted {
		return streams.Rights{Fault: s.fault(kerr.UnsupportedVersion)}
	}
	out := streams.Rights{Allowed: []streams.Operation{}}
	for bit := range 32 {
		if op, ok := operations[bit]; ok && bits&(1<<bit) != 0 {
			out.Allowed = append(out.Allowed, op)
		}
	}
	return out
}

func rightsSubject(s subject) subject {
	s.what = "rights on " + s.what
	return s
}

// TopicRights returns the rights on the named topics, from one request (Metadata
// version 8, KIP-430, Kafka 2.3). Of a topic that does not exist they are what
// the principal could do with one of that name. A principal without DESCRIBE on
// a topic is told nothing: a Fault.
func (r *Reader) TopicRights(ctx context.Context, names ...string) (map[string]streams.Rights, error) {
	out := make(map[string]streams.Rights, len(names))
	if len(names) == 0 {
		return out, nil
	}
	req := kmsg.NewPtrMetadataRequest()
	req.IncludeTopicAuthorizedOperations = true
	for _, name := range unique(names) {
		t := kmsg.NewMetadataRequestTopic()
		t.Topic = new(name)
		req.Topics = append(req.Topics, t)
	}
	resp, err := req.RequestWith(ctx, r.cl)
	if err != nil {
		return nil, subject{what: "rights on topics"}.fail(err)
	}
	if err := settled(resp); err != nil {
		return nil, err
	}
	for _, t := range resp.Topics {
		if t.Topic == nil {
			continue
		}
		s := rightsSubject(topicSubject(*t.Topic, "DESCRIBE"))
		if t.ErrorCode == kerr.TopicAuthorizationFailed.Code || t.ErrorCode != 0 && t.AuthorizedOperations == rightsOmitted {
			out[*t.Topic] = streams.Rights{Fault: s.code(t.ErrorCode, nil)}
			continue
		}
		out[*t.Topic] = rightsOf(s, t.AuthorizedOperations)
	}
	for _, name := range names {
		if _, ok := out[name]; !ok {
			out[name] = streams.Rights{Fault: rightsSubject(topicSubject(name, "DESCRIBE")).fault(errors.New("the broker did not answer for it"))}
		}
	}
	return out, nil
}

// GroupRights returns the rights on one group. Brokers answer them with
// DescribeGroups up to version 5, which gives them for groups of every type and
// for those that do not exist. Where that is not to be had the calls of the other
// types are asked, which know their own groups only. A principal without DESCRIBE
// on the group is told nothing: a Fault.
func (r *Reader) GroupRights(ctx context.Context, group string) (streams.Rights, error) {
	s := rightsSubject(groupSubject(group, "DESCRIBE"))
	for _, p := range slices.Backward(groupTypes) { // classic first
		a := askGroups(ctx, r, []string{group}, r.describeCall(p, true))[group]
		if err := interrupted(ctx, s); err != nil {
			return streams.Rights{}, err
		}
		switch d := descriptionOf(s, a); {
		case d.fault != nil && d.fault.Kind != streams.FaultUnsupported:
			return streams.Rights{Fault: d.fault}, nil
		case d.fault == nil && a.entry.rights != rightsOmitted:
			return rightsOf(s, a.entry.rights), nil
		}
	}
	return rightsOf(s, rightsOmitted), nil
}

// ClusterRights returns the rights on the cluster itself: with DescribeCluster
// (KIP-700, Kafka 2.8), before with Metadata. Brokers answer "none" to a
// principal without DESCRIBE on the cluster, whatever else it may do: a Fault.
func (r *Reader) ClusterRights(ctx context.Context) (streams.Rights, error) {
	s := rightsSubject(clusterSubject("the cluster"))
	bits, err := r.clusterBits(ctx)
	if isTooOld(err) {
		req := kmsg.NewPtrMetadataRequest()
		req.Topics, req.IncludeClusterAuthorizedOperations = []kmsg.MetadataRequestTopic{}, true
		var resp *kmsg.MetadataResponse
		if resp, err = req.RequestWith(ctx, r.cl); err == nil {
			bits = resp.AuthorizedOperations
		}
	}
	if err := interrupted(ctx, s); err != nil {
		return streams.Rights{}, err
	}
	switch {
	case err != nil:
		return streams.Rights{Fault: s.fault(err)}, nil
	case bits == 0:
		return streams.Rights{Fault: s.fault(kerr.ClusterAuthorizationFailed)}, nil
	}
	return rightsOf(s, bits), nil
}

func (r *Reader) clusterBits(ctx context.Context) (int32, error) {
	req := kmsg.NewPtrDescribeClusterRequest()
	req.IncludeClusterAuthorizedOperations = true
	resp, err := req.RequestWith(ctx, r.cl)
	if err != nil {
		return 0, err
	}
	return resp.ClusterAuthorizedOperations, kerr.ErrorForCode(resp.ErrorCode)
}
