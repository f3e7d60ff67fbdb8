package recovery_test

import (
	"strings"
	"testing"

	"github.com/twmb/franz-go/pkg/kmsg"

	"resurge/plans"
	"resurge/recovery"
)

// TestB17_UnseenGroupsKeepTopics: a principal that lost its sight of the other
// groups after the plan was made deletes nothing on its own judgement; what the
// operator named is the operator's word.
func TestB17_UnseenGroupsKeepTopics(t *testing.T) {
	for name, named := range map[string]bool{"proven by the list of groups": false, "named by the operator": true} {
		t.Run(name, func(t *testing.T) {
			r := newRig(t, "state-lost")
			p := r.plan(func(q *recovery.Request) { q.NoStart = true })
			if named {
				var all []string
				for _, s := range p.Steps {
					if s.Kind == plans.DeleteTopic {
						all = append(all, s.Topics[0].Name)
					}
				}
				r.internal = all
				p = r.plan(func(q *recovery.Request) { q.NoStart = true })
			}
			r.box.Cluster().ControlKey(kmsg.DescribeCluster.Int16(), func(kreq kmsg.Request) (kmsg.Response, error, bool) {
				r.box.Cluster().KeepControl()
				resp := kreq.(*kmsg.DescribeClusterRequest).ResponseKind().(*kmsg.DescribeClusterResponse)
				resp.ClusterAuthorizedOperations = 0 // "not told": no DESCRIBE on the cluster
				return resp, nil, true
			})
			before := len(r.state().Topics)
			outcome, run := r.run(r.ports(), p)
			if named {
				if outcome != recovery.OutcomeVerified {
					t.Fatalf("%s: %+v", outcome, run.Problem)
				}
				return
			}
			if outcome != recovery.OutcomeUnauthorised || !strings.Contains(run.Problem.Hint, "DESCRIBE on the cluster") {
				t.Errorf("%s: %+v", outcome, run.Problem)
			}
			if after := len(r.state().Topics); after != before {
				t.Errorf("%d of %d topics are left", after, before)
			}
		})
	}
}
