package kafka

import (
	"math"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kfake"
	"github.com/twmb/franz-go/pkg/kmsg"
	"github.com/twmb/franz-go/pkg/kversion"

	"resurge/streams"
)

// principal connects as a user with the given ACLs.
func principal(t *testing.T, acls []kfake.ACL, opts ...kfake.Opt) (*kfake.Cluster, *Reader) {
	t.Helper()
	f := fake(t, append([]kfake.Opt{
		kfake.EnableSASL(), kfake.EnableACLs(), kfake.Superuser(MechanismPlain, "root", "x"), kfake.User(MechanismPlain, "ops", "hunter2", acls...),
	}, opts...)...)
	c, err := Dial(t.Context(), ClientConfig{Bootstrap: f.ListenAddrs(), SASL: &SASL{Mechanism: MechanismPlain, Username: "ops", Password: "hunter2"}}, Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.Close)
	return f, c.Reader()
}

func grant(resource kmsg.ACLResourceType, name string, ops ...kmsg.ACLOperation) []kfake.ACL {
	out := make([]kfake.ACL, 0, len(ops))
	for _, op := range ops {
		out = append(out, kfake.ACL{Resource: resource, Name: name, Pattern: kmsg.ACLResourcePatternTypeLiteral, Operation: op, Allow: true})
	}
	return out
}

func TestRights(t *testing.T) {
	acls := slices.Concat(
		grant(kmsg.ACLResourceTypeTopic, "in", kmsg.ACLOperationRead),
		grant(kmsg.ACLResourceTypeTopic, "planned", kmsg.ACLOperationCreate, kmsg.ACLOperationDescribe),
		grant(kmsg.ACLResourceTypeGroup, "shop", kmsg.ACLOperationRead, kmsg.ACLOperationDelete),
		grant(kmsg.ACLResourceTypeCluster, "kafka-cluster", kmsg.ACLOperationDescribe, kmsg.ACLOperationIdempotentWrite),
	)
	f, r := principal(t, acls, kfake.SeedTopics(1, "in", "secret"))
	asked := f.Fault(kfake.Fault{Keys: []kmsg.Key{kmsg.Metadata, kmsg.DescribeGroups, kmsg.DescribeCluster}, Observe: true, Count: -1})
	topics, err := r.TopicRights(t.Context(), "in", "planned", "secret", "in")
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff([]streams.Operation{streams.OpRead, streams.OpDescribe}, topics["in"].Allowed); d != "" || topics["in"].Fault != nil {
		t.Errorf("in: %s %+v", d, topics["in"])
	}
	if got := topics["planned"]; got.Fault != nil || !slices.Equal(got.Allowed, []streams.Operation{streams.OpCreate, streams.OpDescribe}) {
		t.Errorf("a topic that does not exist: %+v", got)
	}
	wantFault(t, topics["secret"].Fault, streams.FaultNotAllowed)
	group, err := r.GroupRights(t.Context(), "shop")
	if err != nil || group.Fault != nil || !slices.Equal(group.Allowed, []streams.Operation{streams.OpRead, streams.OpDelete, streams.OpDescribe}) {
		t.Errorf("a group that does not exist: %+v %v", group, err)
	}
	if who, err := r.Cluster(t.Context()); err != nil || who.Principal != "User:ops" {
		t.Errorf("principal %q, %v", who.Principal, err)
	}
	cluster, err := r.ClusterRights(t.Context())
	if err != nil || cluster.Fault != nil || !slices.Equal(cluster.Allowed, []streams.Operation{streams.OpDescribe, streams.OpIdempotentWrite}) {
		t.Errorf("cluster: %+v %v", cluster, err)
	}
	if asked.Hits() != 3 {
		t.Errorf("B14: one request for each kind, sent %d", asked.Hits())
	}
	hidden, err := r.GroupRights(t.Context(), "hidden")
	if err != nil {
		t.Fatal(err)
	}
	wantFault(t, hidden.Fault, streams.FaultNotAllowed)
}

// TestB17_RightsThatAreNotToldAreUnknown: without DESCRIBE on the cluster brokers
// answer no rights at all (KafkaApis, AuthHelper).
func TestB17_RightsThatAreNotToldAreUnknown(t *testing.T) {
	f, r := principal(t, nil)
	f.ControlKey(kmsg.DescribeCluster.Int16(), func(kreq kmsg.Request) (kmsg.Response, error, bool) {
		resp := kreq.(*kmsg.DescribeClusterRequest).ResponseKind().(*kmsg.DescribeClusterResponse)
		resp.ClusterAuthorizedOperations = 0
		return resp, nil, true
	})
	got, err := r.ClusterRights(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	wantFault(t, got.Fault, streams.FaultNotAllowed)
	configs, err := r.BrokerConfigs(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	wantFault(t, configs.Fault, streams.FaultNotAllowed)
}

func TestRightsOnOldBrokers(t *testing.T) {
	for version, known := range map[*kversion.Versions]bool{kversion.V2_2_0(): false, kversion.V2_7_0(): true} {
		f := fake(t, kfake.SeedTopics(1, "in"), kfake.MaxVersions(version))
		c, _ := dial(t, f)
		topics, err := c.Reader().TopicRights(t.Context(), "in")
		group, err2 := c.Reader().GroupRights(t.Context(), "shop")
		cluster, err3 := c.Reader().ClusterRights(t.Context())
		if err != nil || err2 != nil || err3 != nil {
			t.Fatal(err, err2, err3)
		}
		for name, got := range map[string]streams.Rights{"topic": topics["in"], "group": group, "cluster": cluster} {
			if known && (got.Fault != nil || len(got.Allowed) == 0) {
				t.Errorf("%s: %+v", name, got)
			}
			if !known {
				wantFault(t, got.Fault, streams.FaultUnsupported)
			}
		}
	}
}

// TestGroupRightsOfABrokerThatDeniesOtherTypes: one that knows no DescribeGroups
// before version 6.
func TestGroupRightsOfABrokerThatDeniesOtherTypes(t *testing.T) {
	f := fake(t)
	g := streamsGroup()
	g.AuthorizedOperations = 1<<3 | 1<<8
	emulateStreams(t, f, g)
	f.ControlKey(kmsg.DescribeGroups.Int16(), func(kreq kmsg.Request) (kmsg.Response, error, bool) {
		f.KeepControl()
		req := kreq.(*kmsg.DescribeGroupsRequest)
		resp := req.ResponseKind().(*kmsg.DescribeGroupsResponse)
		for _, id := range req.Groups {
			g := kmsg.NewDescribeGroupsResponseGroup()
			g.Group, g.ErrorCode = id, kerr.GroupIDNotFound.Code
			resp.Groups = append(resp.Groups, g)
		}
		return resp, nil, true
	})
	f.ControlKey(kmsg.ConsumerGroupDescribe.Int16(), func(kreq kmsg.Request) (kmsg.Response, error, bool) {
		f.KeepControl()
		req := kreq.(*kmsg.ConsumerGroupDescribeRequest)
		resp := req.ResponseKind().(*kmsg.ConsumerGroupDescribeResponse)
		for _, id := range req.Groups {
			g := kmsg.NewConsumerGroupDescribeResponseGroup()
			g.Group, g.ErrorCode = id, kerr.GroupIDNotFound.Code
			resp.Groups = append(resp.Groups, g)
		}
		return resp, nil, true
	})
	c, _ := dial(t, f)
	got, err := c.Reader().GroupRights(t.Context(), "shop")
	if err != nil || got.Fault != nil || !slices.Equal(got.Allowed, []streams.Operation{streams.OpRead, streams.OpDescribe}) {
		t.Errorf("got %+v %v", got, err)
	}
	absent, err := c.Reader().GroupRights(t.Context(), "absent")
	if err != nil {
		t.Fatal(err)
	}
	wantFault(t, absent.Fault, streams.FaultUnsupported)
}

func TestRightsOfBits(t *testing.T) {
	s := topicSubject("t", "DESCRIBE")
	for _, bits := range []int32{0, 1 << 3, 1<<3 | 1<<8 | 1<<12, math.MaxInt32, -1, math.MinInt32 + 8} {
		var want []string
		for _, op := range kadm.DecodeACLOperations(bits) {
			want = append(want, op.String())
		}
		var got []string
		for _, op := range rightsOf(s, bits).Allowed {
			if op != "TWO_PHASE_COMMIT" { // newer than kadm
				got = append(got, string(op))
			}
		}
		if d := cmp.Diff(want, got); d != "" {
			t.Errorf("%#x: %s", bits, d)
		}
	}
	wantFault(t, rightsOf(s, math.MinInt32).Fault, streams.FaultUnsupported)
}

// TestB17_AListOfSomeGroupsSaysSo: without DESCRIBE on the cluster brokers list
// what may be described, without an error (KafkaApis.handleListGroupsRequest).
func TestB17_AListOfSomeGroupsSaysSo(t *testing.T) {
	for name, tc := range map[string]struct {
		acls     []kfake.ACL
		filtered bool
	}{
		"one group":   {grant(kmsg.ACLResourceTypeGroup, "shop", kmsg.ACLOperationDescribe), true},
		"the cluster": {grant(kmsg.ACLResourceTypeCluster, "kafka-cluster", kmsg.ACLOperationDescribe), false},
	} {
		t.Run(name, func(t *testing.T) {
			_, r := principal(t, tc.acls)
			list, err := r.Groups(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			if !tc.filtered {
				if list.Filtered != nil {
					t.Fatalf("filtered: %v", list.Filtered)
				}
				return
			}
			wantFault(t, list.Filtered, streams.FaultNotAllowed)
			if list.Filtered.Hint != "this principal needs DESCRIBE on the cluster" {
				t.Errorf("hint %q", list.Filtered.Hint)
			}
		})
	}
}
