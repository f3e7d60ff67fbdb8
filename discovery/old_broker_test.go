package discovery_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kfake"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kversion"

	"resurge/discovery"
	"resurge/kafka"
	"resurge/streams"
)

// cluster is an embedded one with what application shop left on it, and a
// discoverer that looks at it.
func cluster(t *testing.T, opts ...kfake.Opt) (*kfake.Cluster, discovery.Discoverer) {
	t.Helper()
	const changelog, repartition = "shop-counts-changelog", "shop-by-name-repartition"
	f, err := kfake.NewCluster(append([]kfake.Opt{kfake.NumBrokers(2), kfake.SeedTopics(2, "orders", changelog, repartition)}, opts...)...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(f.Close)
	cl, err := kgo.NewClient(kgo.SeedBrokers(f.ListenAddrs()...))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(cl.Close)
	offsets := kadm.Offsets{}
	for _, topic := range []string{"orders", repartition} {
		offsets.Add(kadm.Offset{Topic: topic, LeaderEpoch: -1})
	}
	if err := kadm.NewClient(cl).CommitAllOffsets(t.Context(), "shop", offsets); err != nil {
		t.Fatal(err)
	}
	c, err := kafka.Dial(t.Context(), kafka.ClientConfig{Bootstrap: f.ListenAddrs()}, kafka.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.Close)
	return f, discovery.Discoverer{Reader: c.Reader(), Now: time.Now}
}

// TestOldBrokers looks at brokers of every age that is supported: what they
// cannot say is named, and the rest is there.
func TestOldBrokers(t *testing.T) {
	for name, tc := range map[string]struct {
		versions *kversion.Versions
		gap      string // what the broker is too old to tell
	}{
		"2.8": {kversion.V2_8_0(), "transactions"},
		"3.3": {kversion.V3_3_0(), ""},
		"3.9": {kversion.V3_9_0(), ""},
	} {
		t.Run(name, func(t *testing.T) {
			_, d := cluster(t, kfake.MaxVersions(tc.versions))
			ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
			defer cancel()
			inv, err := d.Discover(ctx, "shop", discovery.Hints{}, nil)
			if err != nil {
				t.Fatal(err)
			}
			roles := map[string]streams.Role{}
			for _, topic := range inv.Topics {
				roles[topic.Name] = topic.Role
			}
			if roles["orders"] != streams.RoleInput || len(roles) != 3 {
				t.Errorf("roles: %v", roles)
			}
			if said := unsupported(inv.Gaps); said != tc.gap {
				t.Errorf("cannot be known: %q, want %q; gaps %v", said, tc.gap, inv.Gaps)
			}
			s, err := d.Survey(ctx)
			if err != nil || len(s.Rows) != 1 || s.Rows[0].Fault != nil {
				t.Errorf("survey: %+v, %v", s, err)
			}
			g, err := d.CrowdSurvey(ctx)
			if err != nil || len(g.Rows) != 1 || g.Rows[0].Fault != nil || g.Rows[0].Kind == "" {
				t.Errorf("groups: %+v, %v", g, err)
			}
		})
	}
}

// unsupported is the first word of what a broker is too old to tell.
func unsupported(faults []*streams.Fault) string {
	for _, f := range faults {
		if f.Kind == streams.FaultUnsupported {
			word, _, _ := strings.Cut(f.What, " ")
			return word
		}
	}
	return ""
}
