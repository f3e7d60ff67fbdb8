package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"
	"github.com/twmb/franz-go/pkg/kfake"

	"resurge/internal/sandbox"
	"resurge/recovery"
)

func TestMain(m *testing.M) {
	testscript.Main(m, map[string]func(){
		"resurge": main,
		"hook":    hookMain,
		"crowd":   crowdMain,
	})
}

// hookMain is a hook as an operator would write one: it asks the machine that
// runs the application, and says how that went.
func hookMain() {
	req, err := http.NewRequestWithContext(context.Background(), http.MethodPost, os.Getenv("HOOK_URL")+"/"+os.Args[1], nil)
	if err != nil {
		panic(err)
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil || resp.StatusCode != http.StatusOK {
		panic(fmt.Sprint("hook: ", err, " ", resp))
	}
	_ = resp.Body.Close()
}

func TestScripts(t *testing.T) {
	testscript.Run(t, testscript.Params{
		Dir: "testdata/script",
		Setup: func(env *testscript.Env) error {
			env.Setenv("XDG_STATE_HOME", filepath.Join(env.WorkDir, "state"))
			env.Setenv("XDG_CONFIG_HOME", filepath.Join(env.WorkDir, "config"))
			env.Setenv("HOME", env.WorkDir)
			return nil
		},
		Cmds: map[string]func(*testscript.TestScript, bool, []string){
			"sandbox": sandboxCommand, "cluster": clusterCommand, "exits": exitsCommand, "json": jsonCommand, "runid": runIDCommand,
		},
	})
}

// sandboxCommand starts an embedded cluster with an application in a situation:
// "sandbox SCENARIO". It sets $BOOTSTRAP and $HOOK_URL and writes config.yaml.
func sandboxCommand(ts *testscript.TestScript, _ bool, args []string) {
	dir := ts.MkAbs("instances")
	ts.Check(os.MkdirAll(dir, 0o755))
	box, err := sandbox.Start(context.Background(), sandbox.Options{Scenario: args[0], Records: 300, SessionTimeout: 500 * time.Millisecond, Dir: dir})
	ts.Check(err)
	ts.Defer(func() { ts.Check(box.Close()) })
	tasks := map[string]func(context.Context) error{"/stop": box.Stop, "/clear": box.ClearState, "/start": box.StartApp}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if err := tasks[r.URL.Path](r.Context()); err != nil {
			http.Error(w, err.Error(), http.StatusInternalServerError)
		}
	}))
	ts.Defer(server.Close)
	instances := make([]string, 0, len(box.Instances()))
	for _, i := range box.Instances() {
		instances = append(instances, strconv.Quote(i.Addr))
	}
	config := fmt.Sprintf(`applications:
  %s:
    rto: 5m
    outputs: [order-totals]
    state_dir: /var/lib/kafka-streams
    instances: [%s]
    hooks:
      stop: [hook, stop]
      clear_state: [hook, clear]
      start: [hook, start]
    query: {url: "http://{host}/store/{store}/{key}?start={window_start}", value: "$.value"}
    health: "http://{host}/health"
`, box.Application(), strings.Join(instances, ", "))
	ts.Check(os.WriteFile(ts.MkAbs("config.yaml"), []byte(config), 0o600))
	ts.Setenv("HOOK_URL", server.URL)
	ts.Setenv("BOOTSTRAP", strings.Join(box.Bootstrap(), ","))
	ts.Setenv("RESURGE_BOOTSTRAP_SERVER", strings.Join(box.Bootstrap(), ","))
}

// clusterCommand starts another, empty cluster: "cluster VARIABLE".
func clusterCommand(ts *testscript.TestScript, _ bool, args []string) {
	c, err := kfake.NewCluster(kfake.NumBrokers(1), kfake.ClusterID("AnotherClusterAltogeth"))
	ts.Check(err)
	ts.Defer(c.Close)
	ts.Setenv(args[0], strings.Join(c.ListenAddrs(), ","))
}

// exitsCommand checks an exit code: "exits CODE program args...".
func exitsCommand(ts *testscript.TestScript, _ bool, args []string) {
	want, err := strconv.Atoi(args[0])
	ts.Check(err)
	got := 0
	if err := ts.Exec(args[1], args[2:]...); err != nil {
		exit, ok := errors.AsType[*exec.ExitError](err)
		if !ok {
			ts.Fatalf("run %s: %v", args[1], err)
		}
		got = exit.ExitCode()
	}
	if got != want {
		ts.Fatalf("exit code %d, want %d\nstdout: %s\nstderr: %s", got, want, ts.ReadFile("stdout"), ts.ReadFile("stderr"))
	}
}

// jsonCommand reads a value out of a JSON file into a variable:
// "json FILE PATH VARIABLE".
func jsonCommand(ts *testscript.TestScript, _ bool, args []string) {
	value, found, err := extract([]byte(ts.ReadFile(args[0])), "$."+args[1])
	ts.Check(err)
	if !found {
		ts.Fatalf("%s has no %s", args[0], args[1])
	}
	ts.Setenv(args[2], value)
}

// runIDCommand takes the run's ID out of the events on stdout: "runid VARIABLE".
func runIDCommand(ts *testscript.TestScript, _ bool, args []string) {
	for line := range strings.SplitSeq(ts.ReadFile("stdout"), "\n") {
		var e recovery.Event
		if json.Unmarshal([]byte(line), &e) == nil && e.Run != "" {
			ts.Setenv(args[0], e.Run)
			return
		}
	}
	ts.Fatalf("no event names a run")
}
