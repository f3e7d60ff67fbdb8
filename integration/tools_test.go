//go:build integration

package integration

import (
	"context"
	"os/exec"
	"testing"
	"time"
)

// Kafka's own command-line tools, by main class.
const (
	streamsResetter = "org.apache.kafka.tools.StreamsResetter"
	streamsGroups   = "org.apache.kafka.tools.streams.StreamsGroupCommand"
)

// tool runs one of Kafka's tools against the broker.
func (b *broker) tool(t *testing.T, mainClass string, args ...string) result {
	t.Helper()
	tc := java(t)
	_, archive, err := tc.prepared()
	if err != nil {
		t.Fatal(err)
	}
	argv := tc.command(jvm{
		heap: "256m", archive: archive, main: mainClass,
		args: append([]string{"--bootstrap-server", b.addr}, args...),
	})
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	return run(t, exec.CommandContext(ctx, argv[0], argv[1:]...))
}

// mustTool is tool for runs that have to succeed.
func (b *broker) mustTool(t *testing.T, mainClass string, args ...string) result {
	t.Helper()
	r := b.tool(t, mainClass, args...)
	if r.code != 0 {
		t.Fatalf("%s %q: exit %d\n%s%s", mainClass, args, r.code, r.stdout, r.stderr)
	}
	return r
}
