package sandbox

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kfake"
	"github.com/twmb/franz-go/pkg/kgo"
	"go.uber.org/goleak"

	"resurge/streams"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// rig is a sandbox in a bubble of virtual time, with clients of the outside world.
type rig struct {
	*Sandbox
	t    *testing.T
	adm  *kadm.Client
	http *http.Client
}

const testRecords = 1500

// inBubble starts a sandbox on a network in memory and under a virtual clock, so
// that no session can expire because the machine is slow, and a timeout of 45 s
// passes in no time.
func inBubble(t *testing.T, o Options, test func(*rig)) {
	t.Helper()
	o.Dir = t.TempDir()
	if o.Records == 0 {
		o.Records = testRecords
	}
	if o.SessionTimeout == 0 {
		o.SessionTimeout = 45 * time.Second
	}
	synctest.Test(t, func(t *testing.T) {
		var network Network
		o.Listen, o.Dial = network.Listen, network.DialContext
		o.Log = slog.New(slog.NewTextHandler(t.Output(), nil))
		s, err := Start(t.Context(), o)
		if err != nil {
			t.Fatal(err)
		}
		defer func() {
			if err := s.Close(); err != nil {
				t.Error(err)
			}
		}()
		cl, err := kgo.NewClient(clientOpts(s.Bootstrap(), o.Dial, "test")...)
		if err != nil {
			t.Fatal(err)
		}
		defer cl.Close()
		web := &http.Client{Transport: &http.Transport{DialContext: network.DialContext, DisableKeepAlives: true}}
		test(&rig{Sandbox: s, t: t, adm: kadm.NewClient(cl), http: web})
	})
}

// must fails the test on the first error.
func (r *rig) must(errs ...error) {
	r.t.Helper()
	if err := errors.Join(errs...); err != nil {
		r.t.Fatal(err)
	}
}

// caughtUp waits until the application has processed all, and all instances run.
func (r *rig) caughtUp() {
	r.t.Helper()
	ctx, cancel := context.WithTimeout(r.t.Context(), 10*time.Minute)
	defer cancel()
	r.must(r.WaitCaughtUp(ctx), r.settled(ctx, r.app))
}

// empty waits until the group has no members.
func (r *rig) empty() {
	r.t.Helper()
	ctx, cancel := context.WithTimeout(r.t.Context(), 10*time.Minute)
	defer cancel()
	_, err := r.cluster.WaitGroupInfo(ctx, r.Application(), func(g *kfake.GroupInfo) bool { return g != nil && g.State == "Empty" })
	r.must(err)
}

// state reads all stores of the running application.
func (r *rig) state() Expected { return stateOf(r.app) }

func stateOf(app *application) Expected {
	got := newExpected()
	for _, in := range app.instances {
		if in.run == nil {
			continue
		}
		for _, name := range []string{storeTotals, storeItems, storePerMinute, storeCustomers} {
			_, stores, _ := in.run.status.local(name)
			for _, s := range stores {
				s.mu.RLock()
				for k, row := range s.rows {
					got.add(s.spec, k, row)
				}
				s.mu.RUnlock()
			}
		}
	}
	return got
}

func (e Expected) add(spec storeSpec, key string, r row) {
	switch {
	case spec.name == storeCustomers:
		e.Rows[spec.name][key] = string(r.value)
	case spec.windowed:
		k, err := streams.DecodeWindowKey([]byte(key))
		if err != nil {
			panic(err)
		}
		w := e.Windows[spec.name]
		if w[string(k.Key)] == nil {
			w[string(k.Key)] = map[int64]int64{}
		}
		w[string(k.Key)][k.StartMillis] = r.counter()
	default:
		e.Counts[spec.name][key] = r.counter()
	}
}

// exact fails the test unless the state is what the inputs lead to.
func (r *rig) exact() {
	r.t.Helper()
	if d := cmp.Diff(r.Expected(), r.state()); d != "" {
		r.t.Fatalf("state differs from the inputs (-want +got):\n%s", clip(d))
	}
}

// doubled fails the test unless every counter is twice what it should be.
func (r *rig) doubled() {
	r.t.Helper()
	want := r.Expected()
	for _, m := range want.Counts {
		for k := range m {
			m[k] *= 2
		}
	}
	for _, keys := range want.Windows {
		for _, w := range keys {
			for at := range w {
				w[at] *= 2
			}
		}
	}
	if d := cmp.Diff(want, r.state()); d != "" {
		r.t.Fatalf("state is not double the inputs (-want +got):\n%s", clip(d))
	}
}

func clip(s string) string { return s[:min(len(s), 2000)] }

// get asks an instance and returns code and body.
func (r *rig) get(in Instance, path string) (int, map[string]any) {
	r.t.Helper()
	req, err := http.NewRequestWithContext(r.t.Context(), http.MethodGet, "http://"+in.Addr+path, http.NoBody)
	r.must(err)
	resp, err := r.http.Do(req)
	r.must(err)
	defer resp.Body.Close()
	var body map[string]any
	r.must(json.NewDecoder(resp.Body).Decode(&body))
	return resp.StatusCode, body
}

// ownInternal lists the application's internal topics that exist.
func (r *rig) ownInternal() []string {
	r.t.Helper()
	topics, err := r.adm.ListTopics(r.t.Context())
	r.must(err)
	own := map[string]bool{}
	for _, it := range r.app.top.internalTopics(inputPartitions) {
		own[it.name] = true
	}
	var out []string
	for _, name := range topics.Names() {
		if own[name] {
			out = append(out, name)
		}
	}
	return out
}

// reset does by hand what the reset tool does: internal topics deleted, offsets
// of all input partitions at 0.
func (r *rig) reset() {
	r.t.Helper()
	ctx := r.t.Context()
	deleted, err := r.adm.DeleteTopics(ctx, r.ownInternal()...)
	r.must(err, deleted.Error())
	offsets := kadm.Offsets{}
	for _, topic := range r.Inputs() {
		for p := range int32(inputPartitions) {
			offsets.AddOffset(topic, p, 0, -1)
		}
	}
	resps, err := r.adm.CommitOffsets(ctx, r.Application(), offsets)
	r.must(err, resps.Error())
}

// files lists what is below a directory, in order.
func files(t *testing.T, dir string) []string {
	t.Helper()
	var out []string
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err == nil && !d.IsDir() {
			out = append(out, strings.TrimPrefix(path, dir+string(os.PathSeparator)))
		}
		return err
	})
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		t.Fatal(err)
	}
	return out
}

func (r *rig) fetchOffsets(group string) kadm.OffsetResponses {
	r.t.Helper()
	offsets, err := r.adm.FetchOffsets(r.t.Context(), group)
	r.must(err, offsets.Error())
	return offsets
}

func (r *rig) ends(topics ...string) (starts, ends kadm.ListedOffsets) {
	r.t.Helper()
	starts, err1 := r.adm.ListStartOffsets(r.t.Context(), topics...)
	ends, err2 := r.adm.ListEndOffsets(r.t.Context(), topics...)
	r.must(err1, err2, starts.Error(), ends.Error())
	return starts, ends
}

func path(format string, a ...any) string { return fmt.Sprintf(format, a...) }
