package kafka

import (
	"context"
	"net"
	"strconv"
	"sync"
	"time"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"

	"resurge/streams"
)

// Reader answers questions about a cluster. It has no method that changes
// anything, and its connections refuse to.
type Reader struct {
	cl        *kgo.Client
	principal string // see [streams.Cluster]

	mu           sync.Mutex                       // guards the rest
	protocols    map[string]streams.GroupProtocol // of groups, as last seen
	coordinators map[string]int32                 // of groups, as last seen
	manyLookups  bool                             // FindCoordinator takes many groups
}

func newReader(cl *kgo.Client, principal string) *Reader {
	return &Reader{cl: cl, principal: principal, protocols: map[string]streams.GroupProtocol{}, coordinators: map[string]int32{}}
}

// metadata asks any broker for brokers and for the named topics; with nil it
// asks for no topic, with an empty list for all.
func (r *Reader) metadata(ctx context.Context, topics []string) (*kmsg.MetadataResponse, error) {
	return metadataOf(ctx, r.cl, topics)
}

func metadataOf(ctx context.Context, to kmsg.Requestor, topics []string) (*kmsg.MetadataResponse, error) {
	req := kmsg.NewPtrMetadataRequest()
	switch {
	case topics == nil:
		req.Topics = []kmsg.MetadataRequestTopic{}
	case len(topics) == 0:
		req.Topics = nil
	}
	for _, name := range topics {
		t := kmsg.NewMetadataRequestTopic()
		t.Topic = new(name)
		req.Topics = append(req.Topics, t)
	}
	resp, err := req.RequestWith(ctx, to)
	if err != nil {
		return nil, err
	}
	if err := kerr.ErrorForCode(resp.ErrorCode); err != nil {
		return nil, err
	}
	return resp, nil
}

// Cluster identifies the cluster that answers.
func (r *Reader) Cluster(ctx context.Context) (streams.Cluster, error) {
	s := clusterSubject("cluster")
	resp, err := r.metadata(ctx, nil)
	if err != nil {
		return streams.Cluster{}, s.fail(err)
	}
	if err := settled(resp); err != nil {
		return streams.Cluster{}, err
	}
	c := streams.Cluster{Controller: resp.ControllerID, Principal: r.principal}
	if resp.ClusterID != nil {
		c.ID = *resp.ClusterID
	}
	for _, b := range resp.Brokers {
		nb := streams.Broker{ID: b.NodeID, Host: b.Host, Port: b.Port}
		if b.Rack != nil {
			nb.Rack = *b.Rack
		}
		c.Brokers = append(c.Brokers, nb)
	}
	sortBy(c.Brokers, func(b streams.Broker) int32 { return b.ID })
	return c, nil
}

// settled refuses an answer without brokers: it comes from one that is still
// starting, and its empty lists prove nothing (public report B19).
func settled(resp *kmsg.MetadataResponse) error {
	if len(resp.Brokers) > 0 {
		return nil
	}
	return asError(&streams.Fault{
		Kind: streams.FaultUnreachable, What: "cluster", Message: "the broker that answered knows no brokers",
		Hint: "it is still starting: wait and try again",
	})
}

// pause waits before another try and reports whether there is time for one.
func pause(ctx context.Context, tries int, until time.Time) bool {
	wait := backoff(tries)
	if time.Now().Add(wait).After(until) {
		return false
	}
	t := time.NewTimer(wait)
	defer t.Stop()
	select {
	case <-t.C:
		return true
	case <-ctx.Done():
		return false
	}
}

func addressOf(host string, port int32) string {
	return net.JoinHostPort(host, strconv.Itoa(int(port)))
}
