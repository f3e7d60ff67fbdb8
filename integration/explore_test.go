//go:build integration

package integration

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/twmb/franz-go/pkg/kgo"
)

// groupsDocument is the part of "groups --output json" that tests look at.
type groupsDocument struct {
	Groups []groupLine `json:"groups"`
}

type groupLine struct {
	Group   string `json:"group"`
	Kind    string `json:"kind"`
	State   string `json:"state"`
	Streams bool   `json:"streams"`
	Members *int   `json:"members"`
	Topics  *int   `json:"topics"`
	Lag     *int64 `json:"lag"`
}

// explored is what "describe --output json" says of any group.
type explored struct {
	Kind     string         `json:"kind"`
	Signs    []string       `json:"signs"`
	Findings []foundLine    `json:"findings"`
	Clocks   []clockLine    `json:"clocks"`
	Topics   []exploreTopic `json:"topics"`
	Group    struct {
		State   string              `json:"state"`
		Members []memberDescription `json:"members"`
	} `json:"group"`
	Activity *struct {
		LastCommit time.Time `json:"last_commit"`
		Emptied    time.Time `json:"emptied"`
	} `json:"activity"`
	Gaps   []faultLine `json:"gaps"`
	Unseen []faultLine `json:"unseen"`
}

type foundLine struct {
	Level  string `json:"level"`
	Name   string `json:"name"`
	Detail string `json:"detail"`
	Advice string `json:"advice"`
}

type clockLine struct {
	Name   string    `json:"name"`
	Due    time.Time `json:"due"`
	Detail string    `json:"detail"`
}

type faultLine struct {
	Kind    string `json:"kind"`
	What    string `json:"what"`
	Message string `json:"message"`
	Hint    string `json:"hint"`
}

type exploreTopic struct {
	Name       string     `json:"name"`
	Role       string     `json:"role"`
	Fault      *faultLine `json:"fault"`
	Partitions []struct {
		Partition   int32     `json:"partition"`
		CommittedAt time.Time `json:"committed_at"`
		Stable      *int64    `json:"stable"`
		End         *int64    `json:"end"`
	} `json:"partitions"`
}

func (c *console) explore(t *testing.T, group string) explored {
	t.Helper()
	var d explored
	c.decode(t, &d, "describe", group)
	return d
}

// decode runs a command that has to succeed and decodes what it says in JSON.
func (c *console) decode(t *testing.T, into any, args ...string) {
	t.Helper()
	r := c.run(t, append(args, "--output", "json")...).requireCode(t, exitVerified)
	if err := json.Unmarshal([]byte(r.stdout), into); err != nil {
		t.Fatalf("decode: %v in %v", err, r)
	}
}

func (e explored) finding(name string) (foundLine, bool) {
	for _, f := range e.Findings {
		if f.Name == name {
			return f, true
		}
	}
	return foundLine{}, false
}

// TestEveryKindOfGroup has one group of each kind on the broker, and lists and describes each as what it is.
func TestEveryKindOfGroup(t *testing.T) { //nolint:tparallel // its subtests share what it set up
	t.Parallel()
	b := sharedBroker(t)
	const topic = "kinds.in"
	b.createTopics(t, 2, nil, topic)
	b.fill(t, topic, 20)
	// A group's name may be anything; a terminal must not obey it.
	hostile := "kinds \x1b[31mred\u202e'$(touch x)'"
	b.consume(t, kgo.ConsumerGroup("kinds-classic"), kgo.ConsumeTopics(topic), kgo.ClientID("cl\x1b]0;owned\x07ient"))
	b.consume(t, kgo.ConsumerGroup("kinds-consumer"), kgo.ConsumeTopics(topic), kgo.ServerSideBalancer())
	b.shareGroup(t, "kinds-share", topic)
	b.joinConnect(t, "kinds-connect")
	b.commit(t, "kinds-commits", topic, 1, 2)
	b.commit(t, hostile, topic, 3)
	member := b.joinStreams(t, "kinds-streams", topic)
	b.commit(t, "kinds-empty", topic, 5, 0)
	c := newConsole(t, b.addr, "")
	one, none := 1, 0

	t.Run("Groups", func(t *testing.T) {
		var doc groupsDocument
		c.decode(t, &doc, "groups")
		got := map[string]groupLine{}
		for _, g := range doc.Groups {
			g.Lag = nil // members commit as they go
			if g.Group != hostile && g.Group != "kinds-commits" && g.Group != "kinds-empty" {
				g.Topics = nil
			}
			got[g.Group] = g
		}
		for _, want := range []groupLine{
			{Group: "kinds-classic", Kind: "classic", State: "Stable", Members: &one},
			{Group: "kinds-consumer", Kind: "consumer", State: "Stable", Members: &one},
			{Group: "kinds-share", Kind: "share", State: "Stable", Members: &one},
			{Group: "kinds-connect", Kind: "connect", State: "CompletingRebalance", Members: &one},
			{Group: "kinds-streams", Kind: "streams", State: got["kinds-streams"].State, Streams: true, Members: &one},
			{Group: "kinds-commits", Kind: "commits", State: "Empty", Members: &none, Topics: &one},
			{Group: hostile, Kind: "commits", State: "Empty", Members: &none, Topics: &one},
		} {
			if d := cmp.Diff(want, got[want.Group]); d != "" {
				t.Errorf("%q (-want +got):\n%s", want.Group, d)
			}
		}
	})
	t.Run("TextIsSafe", func(t *testing.T) {
		for _, args := range [][]string{{"groups"}, {"describe", hostile}, {"describe", "kinds-classic"}} {
			r := c.run(t, args...).requireCode(t, exitVerified)
			for _, bad := range []string{"\x1b", "\u202e", "\x07"} {
				if strings.Contains(r.all(), bad) {
					t.Errorf("%v prints %q: %v", args, bad, r)
				}
			}
		}
	})
	for group, kind := range map[string]string{
		"kinds-classic": "classic", "kinds-consumer": "consumer", "kinds-share": "share", "kinds-connect": "connect",
		"kinds-streams": "streams", "kinds-commits": "commits", hostile: "commits",
	} {
		t.Run("Describe/"+kind, func(t *testing.T) {
			d := c.explore(t, group)
			if d.Kind != kind {
				t.Errorf("described as %q, want %q", d.Kind, kind)
			}
		})
	}
	t.Run("CommitAges", func(t *testing.T) {
		d := c.explore(t, "kinds-commits")
		if len(d.Topics) != 1 || len(d.Topics[0].Partitions) != 2 {
			t.Fatalf("topics: %+v", d.Topics)
		}
		for _, p := range d.Topics[0].Partitions {
			if age := time.Since(p.CommittedAt); age < 0 || age > 10*time.Minute {
				t.Errorf("partition %d committed at %v", p.Partition, p.CommittedAt)
			}
		}
	})
	t.Run("B76_EmptiedStreamsGroup", func(t *testing.T) {
		b.commit(t, "kinds-empty", topic, 6, 6)
		member.leave(t)
		d := c.explore(t, "kinds-streams")
		if d.Group.State != "Empty" || len(d.Group.Members) != 0 {
			t.Errorf("state %s, members %v", d.Group.State, d.Group.Members)
		}
	})
}

// shareGroup reads in a share group (KIP-932) until the test ends.
func (b *broker) shareGroup(t *testing.T, group, topic string) {
	t.Helper()
	cl, err := kgo.NewClient(kgo.SeedBrokers(b.addr), kgo.ShareGroup(group), kgo.ConsumeTopics(topic), kgo.DisableClientMetrics())
	if err != nil {
		t.Fatal(err)
	}
	done := make(chan struct{})
	go func() {
		defer close(done)
		for fetches := cl.PollFetches(t.Context()); !fetches.IsClientClosed() && t.Context().Err() == nil; fetches = cl.PollFetches(t.Context()) {
		}
	}()
	t.Cleanup(func() { cl.Close(); <-done })
	eventually(t, 30*time.Second, group+" has a member", func() (bool, string) {
		listed, err := b.admin.ListGroups(t.Context())
		return err == nil && listed[group].State == "Stable", listed[group].State
	})
}
