//go:build integration

package integration

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"time"
)

func get(url string) (status int, body string, err error) {
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		return 0, "", err
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return 0, "", err
	}
	defer resp.Body.Close()
	text, err := io.ReadAll(resp.Body)
	return resp.StatusCode, string(text), err
}

// counts are the entries of a store: "key", or "key@start" for a window, "key@start-end" for a session.
type counts map[string]int64

func (c counts) sum() int64 {
	var sum int64
	for _, n := range c {
		sum += n
	}
	return sum
}

func (c counts) String() string { return fmt.Sprintf("%d entries, sum %d", len(c), c.sum()) }

// queryAll reads a whole store of numbers.
func (a *app) queryAll(store string) (counts, error) {
	status, body, err := get(a.url("/all/" + store))
	if err != nil {
		return nil, err
	}
	if status != http.StatusOK {
		return nil, fmt.Errorf("query %s of %s: %d %s", store, a.opts.id, status, body)
	}
	found := counts{}
	for lines := bufio.NewScanner(strings.NewReader(body)); lines.Scan(); {
		var entry struct {
			Key   string `json:"key"`
			Start *int64 `json:"start"`
			End   *int64 `json:"end"`
			Value int64  `json:"value"`
		}
		if err := json.Unmarshal(lines.Bytes(), &entry); err != nil {
			return nil, fmt.Errorf("query %s of %s: %w in %q", store, a.opts.id, err, lines.Text())
		}
		key := entry.Key
		if entry.Start != nil {
			key = windowKey(key, *entry.Start)
			if store == "sessions" {
				key = fmt.Sprintf("%s-%d", key, *entry.End)
			}
		}
		found[key] = entry.Value
	}
	return found, nil
}

func windowKey(key string, start int64) string { return fmt.Sprintf("%s@%d", key, start) }
