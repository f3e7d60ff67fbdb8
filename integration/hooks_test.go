//go:build integration

package integration

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"
)

// The test binary is its own hook: "<test binary> resurge-integration-hook URL" posts to the control server of the test
// that wrote the configuration, which does the work, and exits when that is done.
const hookArgument = "resurge-integration-hook"

func runHook(args []string) int {
	ctx, cancel := context.WithTimeout(context.Background(), 2*time.Minute)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, args[0], nil)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	defer resp.Body.Close()
	text, _ := io.ReadAll(resp.Body)
	fmt.Println(strings.TrimSpace(string(text))) //nolint:forbidigo // a program of its own: this is its output
	if resp.StatusCode != http.StatusOK {
		return 1
	}
	return 0
}

// operator does what the hooks ask for, on one application.
type operator struct {
	app    *app
	server *httptest.Server
	// leaveState makes clear_state answer that it is done without doing it.
	leaveState bool

	mu    sync.Mutex
	calls []string // guarded by mu: the hooks in the order they came
}

// operate starts a control server and returns it.
func (a *app) operate(t *testing.T) *operator {
	t.Helper()
	o := &operator{app: a}
	o.server = httptest.NewServer(http.HandlerFunc(o.handle)) // 127.0.0.1
	t.Cleanup(o.server.Close)
	return o
}

func (o *operator) handle(w http.ResponseWriter, r *http.Request) {
	o.mu.Lock()
	defer o.mu.Unlock()
	hook := strings.TrimPrefix(r.URL.Path, "/")
	o.calls = append(o.calls, hook)
	//nolint:contextcheck // what a hook starts outlives the request
	if err := o.do(hook); err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
		return
	}
	fmt.Fprintln(w, hook, "done")
}

func (o *operator) do(hook string) error {
	switch hook {
	case "stop":
		return o.app.halt()
	case "clear_state":
		if o.leaveState {
			return nil
		}
		return os.RemoveAll(o.app.stateDir())
	case "start":
		if o.app.proc != nil && !o.app.proc.exited() {
			return nil // asked again after a crash: it runs already
		}
		return o.app.launch(nil)
	default:
		return fmt.Errorf("no hook %q", hook)
	}
}

func (o *operator) called() []string {
	o.mu.Lock()
	defer o.mu.Unlock()
	return slices.Clone(o.calls)
}

// config is the text of a config.yaml with the application and its hooks.
func (o *operator) config(t *testing.T) string {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	hook := func(name string) string {
		return fmt.Sprintf("[%s, %s, %s]", strconv.Quote(self), hookArgument, strconv.Quote(o.server.URL+"/"+name))
	}
	return fmt.Sprintf(`applications:
  %s:
    state_dir: %s
    instances: [%s]
    hooks:
      stop: %s
      clear_state: %s
      start: %s
    query: {url: "http://{host}/store/{store}/{key}", value: "$.value"}
    health: "http://{host}/health"
`, o.app.opts.id, strconv.Quote(o.app.dir), strconv.Quote(o.app.host()), hook("stop"), hook("clear_state"), hook("start"))
}
