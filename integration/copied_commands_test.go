//go:build integration

package integration

import (
	"context"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kadm"
)

// kafkaTools are the scripts that a plan names, and the classes that they start.
var kafkaTools = map[string]string{
	"kafka-topics.sh":          "org.apache.kafka.tools.TopicCommand",
	"kafka-consumer-groups.sh": "org.apache.kafka.tools.consumer.group.ConsumerGroupCommand",
	"kafka-streams-groups.sh":  streamsGroups,
	"kafka-transactions.sh":    "org.apache.kafka.tools.TransactionsCommand",
	"kafka-acls.sh":            "org.apache.kafka.tools.AclCommand",
}

// shell runs a copied command line as a person would paste it, with Kafka's scripts in PATH.
func (b *broker) shell(t *testing.T, line string, env ...string) result {
	t.Helper()
	tc := java(t)
	_, archive, err := tc.prepared()
	if err != nil {
		t.Fatal(err)
	}
	bin := t.TempDir()
	for script, class := range kafkaTools {
		argv := tc.command(jvm{heap: "256m", archive: archive, main: class})
		quoted := make([]string, 0, len(argv))
		for _, arg := range argv {
			quoted = append(quoted, "'"+arg+"'")
		}
		text := "#!/bin/sh\nexec " + strings.Join(quoted, " ") + " \"$@\"\n"
		if err := os.WriteFile(filepath.Join(bin, script), []byte(text), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, "sh", "-c", line)
	cmd.Dir = bin
	cmd.Env = append(append(os.Environ(), "PATH="+bin+":"+os.Getenv("PATH"), "BOOTSTRAP="+b.addr), env...)
	return run(t, cmd)
}

// planSteps is what the test looks at in a plan's steps.
type planSteps struct {
	Steps []struct {
		Kind string   `json:"kind"`
		CLI  []string `json:"cli"`
	} `json:"steps"`
}

// TestB81_CopiedCommands pastes every command line of a plan into a shell with Kafka's own tools: each is understood, and
// together they bring the cluster to where the plan would have brought it.
func TestB81_CopiedCommands(t *testing.T) {
	t.Parallel()
	for _, kind := range []string{classic, streamsGroup} {
		t.Run(kind, func(t *testing.T) {
			t.Parallel()
			b := sharedBroker(t)
			app := "copied-" + kind
			input, store, repartition := "it.is-copied."+kind, app+"-counts-changelog", app+"-by-name-repartition"
			b.createTopics(t, 2, nil, input)
			b.createTopics(t, 2, map[string]*string{"cleanup.policy": new("compact"), "message.timestamp.type": new("CreateTime")}, store)
			b.createTopics(t, 2, map[string]*string{"cleanup.policy": new("delete"), "retention.ms": new("-1"), "segment.bytes": new("52428800")}, repartition)
			b.fill(t, input, 20)
			if kind == streamsGroup {
				b.joinStreams(t, app, input, store, repartition).leave(t)
			}
			b.commit(t, app, input, 7, 8)
			b.commit(t, app, repartition, 0, 0)
			c := newConsole(t, b.addr, "")
			p := c.plan(t, app, "--to-offset", "3", "--input-topics", input, "--recreate-repartition")
			b.pasteAll(t, p.file)

			if slices.Contains(b.topics(t), store) {
				t.Errorf("%s is still there", store)
			}
			if got := b.topicConfig(t, repartition, "retention.ms"); got != "-1" {
				t.Errorf("%s was made with retention.ms=%q", repartition, got)
			}
			committed, err := b.admin.FetchOffsets(t.Context(), app)
			if err != nil {
				t.Fatal(err)
			}
			for topic, want := range map[string]int64{input: 3, repartition: 0} {
				for partition := range int32(2) {
					if o, ok := committed.Lookup(topic, partition); !ok || o.At != want {
						t.Errorf("%s/%d: committed %d, %v; want %d", topic, partition, o.At, ok, want)
					}
				}
			}
		})
	}
}

// pasteAll runs every command of a plan in order, each with exit code 0.
func (b *broker) pasteAll(t *testing.T, file string) {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	var p planSteps
	if err := json.Unmarshal(text, &p); err != nil {
		t.Fatalf("decode %s: %v", file, err)
	}
	ran := 0
	for _, s := range p.Steps {
		for _, line := range s.CLI {
			r := b.shell(t, line)
			// The tool for streams groups says of an empty one that it has no active members, as an error.
			if r.code != 0 || strings.Contains(r.all(), "Error") && !strings.Contains(r.all(), "has no active members") {
				t.Errorf("step %s: %s: %v", s.Kind, line, r)
			}
			ran++
		}
	}
	if ran < 5 {
		t.Errorf("the plan shows %d commands only", ran)
	}
}

func (b *broker) topicConfig(t *testing.T, topic, name string) string {
	t.Helper()
	configs, err := b.admin.DescribeTopicConfigs(t.Context(), topic)
	if err != nil {
		t.Fatal(err)
	}
	c, err := configs.On(topic, func(r *kadm.ResourceConfig) error { return r.Err })
	if err != nil {
		t.Fatalf("configs of %s: %v", topic, err)
	}
	for _, kv := range c.Configs {
		if kv.Key == name {
			return kv.MaybeValue()
		}
	}
	t.Fatalf("%s has no setting %s", topic, name)
	return ""
}
