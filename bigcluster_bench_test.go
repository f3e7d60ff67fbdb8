package main

import (
	"bufio"
	"context"
	"io"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"resurge/discovery"
	"resurge/internal/crowd"
	"resurge/kafka"
	"resurge/recovery"
)

// crowdProgram is the name under which this binary is a big cluster: another
// process, so that its memory is not counted as resurge's.
const crowdProgram = "crowd"

// crowdMain runs the big cluster until its input ends, and prints its address and
// one application on it.
func crowdMain() {
	c, err := crowd.Start(context.Background(), crowd.Options{Size: crowd.Big()})
	if err != nil {
		panic(err)
	}
	defer c.Close()
	if _, err := os.Stdout.WriteString(strings.Join(c.Bootstrap(), ",") + " " + c.Application() + "\n"); err != nil {
		panic(err)
	}
	_, _ = io.Copy(io.Discard, os.Stdin)
}

// bigCluster starts it and returns the addresses and an application.
func bigCluster(b *testing.B) (bootstrap []string, app string) {
	b.Helper()
	exe, err := os.Executable()
	if err != nil {
		b.Fatal(err)
	}
	cmd := &exec.Cmd{Path: exe, Args: []string{crowdProgram}, Stderr: os.Stderr}
	in, err := cmd.StdinPipe()
	if err != nil {
		b.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		b.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() {
		_ = in.Close()
		if err := cmd.Wait(); err != nil {
			b.Errorf("the big cluster: %v", err)
		}
	})
	line, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		b.Fatalf("the big cluster did not start: %v", err)
	}
	addrs, app, _ := strings.Cut(strings.TrimSpace(line), " ")
	return strings.Split(addrs, ","), app
}

// BenchmarkBigCluster prints what looking costs on a cluster of 9,000 topics,
// 39,000 partitions and 2,200 groups (public report B12), from the start of the
// connection on: the first rows, the whole list of applications, one application's
// page after that, the list of all groups, requests, and the memory of a process
// that holds the answers.
func BenchmarkBigCluster(b *testing.B) {
	bootstrap, app := bigCluster(b)
	before := resident()
	for b.Loop() {
		var requests atomic.Int64
		sent := func() float64 { return float64(requests.Swap(0)) }
		begun := time.Now()
		cluster, err := kafka.Dial(b.Context(), kafka.ClientConfig{Bootstrap: bootstrap}, kafka.Options{OnRequest: func(int16) { requests.Add(1) }})
		if err != nil {
			b.Fatal(err)
		}
		d := discovery.Discoverer{Reader: cluster.Reader(), Now: now}
		sent()
		glance, err := d.Glance(b.Context())
		if err != nil || len(glance.Rows) == 0 {
			b.Fatal(err)
		}
		b.ReportMetric(time.Since(begun).Seconds()*1e3, "ms/first-rows")
		b.ReportMetric(sent(), "requests/first-rows")

		at := time.Now()
		survey, err := d.Survey(b.Context())
		if err != nil || len(survey.Rows) < crowd.Big().Applications {
			b.Fatal(len(survey.Rows), err)
		}
		b.ReportMetric(time.Since(at).Seconds()*1e3, "ms/applications")
		b.ReportMetric(sent(), "requests/applications")

		at = time.Now()
		inv, err := d.Discover(b.Context(), app, discovery.Hints{}, nil)
		if err != nil {
			b.Fatal(err)
		}
		a := recovery.Assess(inv)
		b.ReportMetric(time.Since(at).Seconds()*1e3, "ms/page")
		b.ReportMetric(sent(), "requests/page")

		at = time.Now()
		groups, err := d.CrowdSurvey(b.Context())
		if err != nil || len(groups.Rows) != crowd.Big().Groups {
			b.Fatal(len(groups.Rows), err)
		}
		b.ReportMetric(time.Since(at).Seconds()*1e3, "ms/groups")
		b.ReportMetric(sent(), "requests/groups")
		b.ReportMetric(float64(len(survey.Rows)+len(a.Findings)), "rows+findings")
		cluster.Close()
	}
	if peak := resident(); peak > 0 {
		b.ReportMetric(peak, "MB-resident-peak")
		b.ReportMetric(before, "MB-resident-before")
	}
}

// resident is the most memory that this process ever held, in MB; 0 where the
// system does not tell.
func resident() float64 {
	f, err := os.Open("/proc/self/status")
	if err != nil {
		return 0
	}
	defer f.Close()
	for lines := bufio.NewScanner(f); lines.Scan(); {
		if text, ok := strings.CutPrefix(lines.Text(), "VmHWM:"); ok {
			kb, _ := strconv.ParseFloat(strings.TrimSpace(strings.TrimSuffix(strings.TrimSpace(text), "kB")), 64)
			return kb / 1024
		}
	}
	return 0
}
