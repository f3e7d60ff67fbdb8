//go:build integration

package integration

import (
	"fmt"
	"os"
	"syscall"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kadm"
)

// What one broker of 768 MB carries on two cores.
const (
	bigTopics, bigWidth = 1_500, 4
	bigApplications     = 40
	bigReaders          = 300
)

// BenchmarkBigBroker prints what looking costs on a real broker that is as full as its memory allows: from the start of the
// program to its end, connection included. The crowd of the embedded cluster is larger (BenchmarkBigCluster).
func BenchmarkBigBroker(b *testing.B) {
	tc, err := builtToolchain()
	if err != nil {
		b.Fatal(err)
	}
	br, err := launchBroker(tc, b.TempDir(), brokerOptions{})
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(br.close)
	br.crowd(b)
	binary, err := builtBinary()
	if err != nil {
		b.Fatal(err)
	}
	c := &console{binary: binary, home: b.TempDir(), flags: []string{"--bootstrap-server", br.addr}}
	for b.Loop() {
		for _, look := range [][]string{{"apps"}, {"groups"}, {"describe", "big-007"}, {"watch", "big-007", "--count", "1"}} {
			cmd := c.command(b.Context(), append(look, "--output", "json")...)
			cmd.Stdout, cmd.Stderr = nil, os.Stderr
			at := time.Now()
			if err := cmd.Run(); err != nil {
				b.Fatalf("%v: %v", look, err)
			}
			b.ReportMetric(time.Since(at).Seconds()*1e3, "ms/"+look[0])
			if usage, ok := peakMemory(cmd.ProcessState); ok {
				b.ReportMetric(usage, "MB/"+look[0])
			}
		}
	}
}

// crowd makes topics, applications of which the group is empty, and other groups.
func (br *broker) crowd(b *testing.B) {
	b.Helper()
	compacted := map[string]*string{"cleanup.policy": new("compact"), "message.timestamp.type": new("CreateTime")}
	plain, changelogs := make([]string, 0, bigTopics), make([]string, 0, 3*bigApplications)
	for i := range bigTopics - 3*bigApplications {
		plain = append(plain, fmt.Sprintf("big.events-%05d", i))
	}
	for i := range bigApplications {
		for _, store := range []string{"counts", "KSTREAM-AGGREGATE-STATE-STORE-0000000003", "per-minute"} {
			changelogs = append(changelogs, fmt.Sprintf("big-%03d-%s-changelog", i, store))
		}
	}
	create := func(configs map[string]*string, names []string) {
		for len(names) > 0 {
			n := min(len(names), 200)
			resp, err := br.admin.CreateTopics(b.Context(), bigWidth, 1, configs, names[:n]...)
			if err == nil {
				err = resp.Error()
			}
			if err != nil {
				b.Fatalf("create %d topics: %v", n, err)
			}
			names = names[n:]
		}
	}
	create(nil, plain)
	create(compacted, changelogs)
	for i := range bigApplications + bigReaders {
		group := fmt.Sprintf("reader-%04d", i)
		if i < bigApplications {
			group = fmt.Sprintf("big-%03d", i)
		}
		offsets := kadm.Offsets{}
		for p := range int32(bigWidth) {
			offsets.Add(kadm.Offset{Topic: plain[i], Partition: p, LeaderEpoch: -1})
		}
		err := poll(20*time.Second, "commit", func() (bool, string) {
			err := br.admin.CommitAllOffsets(b.Context(), group, offsets)
			return err == nil, fmt.Sprint(err)
		})
		if err != nil {
			b.Fatal(err)
		}
	}
}

// peakMemory is the most memory that a program held, in MB.
func peakMemory(p *os.ProcessState) (mb float64, ok bool) {
	usage, ok := p.SysUsage().(*syscall.Rusage)
	if !ok {
		return 0, false
	}
	return float64(usage.Maxrss) / 1024, true // KB on Linux
}
