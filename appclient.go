package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"resurge/discovery"
	"resurge/recovery"
	"resurge/streams"
)

const (
	answerTimeout = 10 * time.Second
	largestAnswer = 1 << 20
)

// appClient asks the application through the endpoints of the configuration. It
// satisfies recovery.Application.
type appClient struct {
	config applicationConfig
	// endpoints returns host:port of every instance: those of the configuration,
	// else application.server of the group's members.
	endpoints func(ctx context.Context) ([]string, error)
	client    *http.Client
}

func newAppClient(c applicationConfig, groups discovery.GroupReader, app string) *appClient {
	return &appClient{
		config: c,
		client: &http.Client{Timeout: answerTimeout, CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }},
		endpoints: func(ctx context.Context) ([]string, error) {
			if len(c.Instances) > 0 {
				return c.Instances, nil
			}
			g, err := groups.Group(ctx, app)
			if err != nil {
				return nil, err
			}
			var out []string
			for _, m := range g.Members {
				if m.Endpoint != "" && validHost(m.Endpoint) {
					out = append(out, m.Endpoint)
				}
			}
			if len(out) == 0 {
				return nil, errors.New("no instance is known: list them as instances in the configuration, or set application.server")
			}
			return out, nil
		},
	}
}

// validHost accepts host:port and nothing that could change a URL around it.
func validHost(s string) bool {
	u, err := url.Parse("http://" + s)
	return err == nil && u.Host == s && u.Port() != "" && u.User == nil
}

// CanQuery implements recovery.Application.
func (a *appClient) CanQuery(windowed bool) bool {
	u := a.config.Query.URL
	return u != "" && strings.Contains(u, "{key}") && (!windowed || strings.Contains(u, "{window_start}"))
}

// HasHealth implements recovery.Application.
func (a *appClient) HasHealth() bool { return a.config.Health != "" }

// Health implements recovery.Application.
func (a *appClient) Health(ctx context.Context) error {
	urls, err := a.expand(ctx, a.config.Health, nil)
	if err != nil {
		return err
	}
	for _, u := range urls {
		status, _, err := a.get(ctx, u)
		if err != nil {
			return err
		}
		if status < 200 || status > 299 {
			return fmt.Errorf("%s answers %d", u, status)
		}
	}
	return nil
}

// Query implements recovery.Application: every instance is asked until one
// knows the key, since a key lives where its partition is.
func (a *appClient) Query(ctx context.Context, store, key string, windowStart *int64) (recovery.Answer, error) {
	values := map[string]string{"{store}": url.PathEscape(store), "{key}": url.PathEscape(key), "{window_start}": ""}
	if windowStart != nil {
		values["{window_start}"] = strconv.FormatInt(*windowStart, 10)
	}
	urls, err := a.expand(ctx, a.config.Query.URL, values)
	if err != nil {
		return recovery.Answer{}, err
	}
	for _, u := range urls {
		status, body, err := a.get(ctx, u)
		switch {
		case err != nil:
			return recovery.Answer{}, err
		case status == http.StatusNotFound:
			continue
		case status != http.StatusOK:
			return recovery.Answer{}, fmt.Errorf("%s answers %d: %s", u, status, streams.Quote(firstLine(body)))
		}
		value, found, err := extract(body, a.config.Query.Value)
		if err != nil {
			return recovery.Answer{}, fmt.Errorf("%s: %w", u, err)
		}
		if found {
			return recovery.Answer{Found: true, Value: value, From: u}, nil
		}
	}
	return recovery.Answer{}, nil
}

// expand fills the placeholders of a URL, once per instance where it has {host}.
func (a *appClient) expand(ctx context.Context, template string, values map[string]string) ([]string, error) {
	for k, v := range values {
		template = strings.ReplaceAll(template, k, v)
	}
	if !strings.Contains(template, "{host}") {
		return []string{template}, nil
	}
	hosts, err := a.endpoints(ctx)
	if err != nil {
		return nil, err
	}
	var out []string
	for _, h := range hosts {
		out = append(out, strings.ReplaceAll(template, "{host}", h))
	}
	return out, nil
}

func (a *appClient) get(ctx context.Context, u string) (status int, body []byte, err error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, u, nil)
	if err != nil {
		return 0, nil, err
	}
	resp, err := a.client.Do(req)
	if err != nil {
		return 0, nil, err
	}
	defer func() { err = errors.Join(err, resp.Body.Close()) }()
	body, err = io.ReadAll(io.LimitReader(resp.Body, largestAnswer))
	return resp.StatusCode, body, err
}

// extract takes a value out of a JSON answer by a path like $.value or
// $.result.count; without a path the whole body is the value.
func extract(body []byte, path string) (value string, found bool, err error) {
	if path == "" {
		return strings.TrimSpace(string(body)), len(body) > 0, nil
	}
	d := json.NewDecoder(strings.NewReader(string(body)))
	d.UseNumber()
	var v any
	if err := d.Decode(&v); err != nil {
		return "", false, fmt.Errorf("the answer is not JSON: %s", streams.Quote(firstLine(body)))
	}
	for name := range strings.SplitSeq(strings.TrimPrefix(path, "$."), ".") {
		m, ok := v.(map[string]any)
		if !ok {
			return "", false, fmt.Errorf("the answer has no %s", path)
		}
		if v, ok = m[name]; !ok {
			return "", false, fmt.Errorf("the answer has no %s", path)
		}
	}
	switch v := v.(type) {
	case nil:
		return "", false, nil
	case string:
		return v, true, nil
	case json.Number:
		return v.String(), true, nil
	default:
		b, err := json.Marshal(v)
		return string(b), true, err
	}
}

func firstLine(b []byte) string {
	line, _, _ := strings.Cut(string(b[:min(len(b), 200)]), "\n")
	return line
}
