package sandbox

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/http"
	"strconv"
	"sync"
	"time"

	"resurge/streams"
)

// query is the HTTP endpoint by which an instance answers for its stores, as
// applications do around interactive queries:
//
//	GET /health                    200 RUNNING, else 503
//	GET /store/{store}/{key}       {"key","value"}; ?start=ms for a windowed store
//	GET /sum/{store}               {"store","sum","keys"} of the tasks here
//
// A key that is not on this instance is 404, and 503 means that the instance does
// not know yet: it is joining or restoring.
type query struct {
	status  *status
	server  *http.Server
	serving sync.WaitGroup
}

// serve starts the endpoint, at the address that it had before if that is free.
func (in *instance) serve(ctx context.Context, st *status) (*query, error) {
	ln, err := in.listen(ctx)
	if err != nil {
		return nil, fmt.Errorf("listen for queries: %w", err)
	}
	in.addr = ln.Addr().String()
	q := &query{status: st}
	mux := http.NewServeMux()
	mux.HandleFunc("GET /health", q.health)
	mux.HandleFunc("GET /store/{store}/{key}", q.row)
	mux.HandleFunc("GET /sum/{store}", q.sum)
	q.server = &http.Server{Handler: mux, ReadHeaderTimeout: 5 * time.Second}
	q.serving.Go(func() {
		if err := q.server.Serve(ln); !errors.Is(err, http.ErrServerClosed) {
			in.app.log.ErrorContext(ctx, "query endpoint failed", "error", err)
		}
	})
	return q, nil
}

func (in *instance) listen(ctx context.Context) (net.Listener, error) {
	listen := in.app.listen
	if listen == nil {
		listen = func(network, address string) (net.Listener, error) {
			var lc net.ListenConfig
			return lc.Listen(ctx, network, address)
		}
	}
	if in.addr != "" {
		if ln, err := listen("tcp", in.addr); err == nil {
			return ln, nil
		}
	}
	return listen("tcp", "127.0.0.1:0")
}

func (q *query) close() error {
	err := q.server.Close()
	q.serving.Wait()
	return err
}

// answer is every body that the endpoint sends.
type answer struct {
	State string `json:"state,omitempty"`
	Error string `json:"error,omitempty"`
	Store string `json:"store,omitempty"`
	Key   string `json:"key,omitempty"`
	Start *int64 `json:"start,omitempty"`
	Value any    `json:"value,omitempty"`
	Sum   *int64 `json:"sum,omitempty"`
	Keys  *int   `json:"keys,omitempty"`
}

func (q *query) send(w http.ResponseWriter, code int, a answer) {
	b, err := json.Marshal(a)
	if err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(code)
	_, _ = w.Write(append(b, '\n')) // the reader may be gone; there is nobody else to tell
}

func (q *query) health(w http.ResponseWriter, _ *http.Request) {
	state, _, err := q.status.local("")
	a := answer{State: state}
	if err != nil {
		a.Error = err.Error()
	}
	code := http.StatusOK
	if state != stateRunning {
		code = http.StatusServiceUnavailable
	}
	q.send(w, code, a)
}

// stores answers for the cases in which there is nothing to look into.
func (q *query) stores(w http.ResponseWriter, r *http.Request) ([]*store, bool) {
	name := r.PathValue("store")
	state, stores, err := q.status.local(name)
	switch {
	case err != nil:
		q.send(w, http.StatusServiceUnavailable, answer{State: state, Error: err.Error()})
	case state != stateRunning:
		q.send(w, http.StatusServiceUnavailable, answer{State: state, Error: "stores are not open: the instance is joining or restoring"})
	case len(stores) == 0:
		q.send(w, http.StatusNotFound, answer{State: state, Error: "no task with this store is here"})
	default:
		return stores, true
	}
	return nil, false
}

func (q *query) row(w http.ResponseWriter, r *http.Request) {
	stores, ok := q.stores(w, r)
	if !ok {
		return
	}
	key := r.PathValue("key")
	a := answer{Key: key}
	if stores[0].spec.windowed {
		start, err := strconv.ParseInt(r.URL.Query().Get("start"), 10, 64)
		if err != nil {
			q.send(w, http.StatusBadRequest, answer{Error: "a windowed store wants ?start= with the window start in ms"})
			return
		}
		a.Start = &start
		key = string(streams.EncodeWindowKey(streams.WindowKey{Key: []byte(key), StartMillis: start}))
	}
	for _, s := range stores {
		if row, ok := s.get(key); ok {
			a.Value = row.json(s.spec)
			q.send(w, http.StatusOK, a)
			return
		}
	}
	q.send(w, http.StatusNotFound, answer{Key: a.Key, Error: "the key is not on this instance"})
}

// json is the value as the application's serdes show it.
func (r row) json(spec storeSpec) any {
	if spec.name == storeCustomers {
		return string(r.value)
	}
	return r.counter()
}

func (q *query) sum(w http.ResponseWriter, r *http.Request) {
	stores, ok := q.stores(w, r)
	if !ok {
		return
	}
	var sum int64
	var keys int
	for _, s := range stores {
		n, k := s.sum()
		sum, keys = sum+n, keys+k
	}
	q.send(w, http.StatusOK, answer{Store: r.PathValue("store"), Sum: &sum, Keys: &keys})
}
