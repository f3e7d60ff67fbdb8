package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/goccy/go-yaml"

	"resurge/plans"
)

// config is config.yaml. Unknown keys are errors that show their line.
type config struct {
	Contexts     map[string]contextConfig     `yaml:"contexts"`
	Current      string                       `yaml:"current_context"`
	Applications map[string]applicationConfig `yaml:"applications"`
}

// contextConfig is one cluster.
type contextConfig struct {
	BootstrapServers []string `yaml:"bootstrap_servers"`
	CommandConfig    string   `yaml:"command_config"`
	Production       bool     `yaml:"production"`
}

// applicationConfig is what the operator says about one application.
type applicationConfig struct {
	RTO       duration    `yaml:"rto"`
	Topology  string      `yaml:"topology"`
	Inputs    []string    `yaml:"inputs"`
	Outputs   []string    `yaml:"outputs"`
	Globals   []string    `yaml:"globals"`
	Stores    []string    `yaml:"stores"`
	StateDir  string      `yaml:"state_dir"`
	Instances []string    `yaml:"instances"`
	Hooks     hooksConfig `yaml:"hooks"`
	Query     queryConfig `yaml:"query"`
	Health    string      `yaml:"health"`
}

// hooksConfig has one command per operator task: program and arguments, no
// shell.
type hooksConfig struct {
	Stop       []string `yaml:"stop"`
	ClearState []string `yaml:"clear_state"`
	Start      []string `yaml:"start"`
	Timeout    duration `yaml:"timeout"`
}

// queryConfig is the application's own query endpoint.
type queryConfig struct {
	URL   string `yaml:"url"`
	Value string `yaml:"value"`
}

// duration is a Go duration in YAML: 15m, 1h30m.
type duration time.Duration

// UnmarshalYAML implements yaml.BytesUnmarshaler.
func (d *duration) UnmarshalYAML(b []byte) error {
	v, err := time.ParseDuration(strings.Trim(strings.TrimSpace(string(b)), `"'`))
	if err != nil || v < 0 {
		return fmt.Errorf("%q is not a duration like 15m or 1h30m", strings.TrimSpace(string(b)))
	}
	*d = duration(v)
	return nil
}

// command returns the hook of a task.
func (h hooksConfig) command(task string) []string {
	switch task {
	case plans.TaskStop:
		return h.Stop
	case plans.TaskClearState:
		return h.ClearState
	case plans.TaskStart:
		return h.Start
	}
	return nil
}

// tasks lists the tasks that have a hook.
func (h hooksConfig) tasks() []string {
	var out []string
	for _, t := range []string{plans.TaskStop, plans.TaskClearState, plans.TaskStart} {
		if len(h.command(t)) > 0 {
			out = append(out, t)
		}
	}
	return out
}

// loadConfig reads the named file. A missing file is an error only when it was
// asked for by name.
func loadConfig(path string, named bool) (config, error) {
	var c config
	b, err := os.ReadFile(path)
	switch {
	case errors.Is(err, os.ErrNotExist) && !named:
		return c, nil
	case err != nil:
		return c, usageError("read the configuration", err, "check --config; resurge info prints the path that is used")
	}
	if err := yaml.UnmarshalWithOptions(b, &c, yaml.Strict()); err != nil {
		return c, usageError("configuration "+path, errors.New(yaml.FormatError(err, false, true)), "unknown keys are refused; docs/configuration.md lists the keys")
	}
	return c, c.check(path)
}

func (c config) check(path string) error {
	for name, app := range c.Applications {
		if app.Query.Value != "" && !strings.HasPrefix(app.Query.Value, "$.") {
			return usageError("configuration "+path, fmt.Errorf("applications.%s.query.value: %q is not a path like $.value", name, app.Query.Value), "")
		}
		for _, url := range []string{app.Query.URL, app.Health} {
			if strings.Contains(url, "{host}") && len(app.Instances) == 0 {
				continue // application.server of the members is used
			}
		}
	}
	return nil
}

// paths are the files of this user.
type paths struct {
	Config string `json:"config"`
	State  string `json:"state"`
	Runs   string `json:"runs"`
	Locks  string `json:"locks"`
	Log    string `json:"log"`
}

func findPaths(configFlag string) (paths, error) {
	home, err := os.UserHomeDir()
	base := func(env, fallback string) string {
		if v := os.Getenv(env); filepath.IsAbs(v) {
			return v
		}
		return filepath.Join(home, fallback)
	}
	if err != nil && (os.Getenv("XDG_STATE_HOME") == "" || os.Getenv("XDG_CONFIG_HOME") == "") {
		return paths{}, usageError("find the home directory", err, "set XDG_STATE_HOME and XDG_CONFIG_HOME")
	}
	state := filepath.Join(base("XDG_STATE_HOME", ".local/state"), "resurge")
	p := paths{
		Config: filepath.Join(base("XDG_CONFIG_HOME", ".config"), "resurge", "config.yaml"),
		State:  state, Runs: filepath.Join(state, "runs"), Locks: filepath.Join(state, "locks"), Log: filepath.Join(state, "log"),
	}
	if configFlag != "" {
		p.Config = configFlag
	}
	return p, nil
}
