package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"

	"github.com/spf13/cobra"

	"resurge/discovery"
	"resurge/internal/headless"
	"resurge/recovery"
	"resurge/streams"
)

func (c *cli) appsCommand() *cobra.Command {
	return &cobra.Command{
		Use: "apps", Short: "List the Kafka Streams applications of the cluster", Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			l, err := c.connect(cmd.Context())
			if err != nil {
				return err
			}
			defer l.cluster.Close()
			s, err := l.discoverer().Survey(cmd.Context())
			if err != nil {
				return err
			}
			if c.json() {
				return c.printJSON(struct {
					Schema string `json:"schema"`
					discovery.Survey
				}{"resurge/apps/v1", s})
			}
			return headless.Apps(c.stdout, s)
		},
	}
}

// described is the document of describe --output json.
type described struct {
	Schema string `json:"schema"`
	discovery.Inventory
	recovery.Assessment
}

func (c *cli) describeCommand() *cobra.Command {
	var look lookFlags
	cmd := &cobra.Command{
		Use: "describe NAME", Short: "Show what an application left on the cluster and what is wrong, or any group", Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			inv, err := c.inspect(cmd.Context(), args[0], look)
			if err != nil {
				return err
			}
			a := recovery.Assess(inv)
			switch {
			case c.json():
				err = c.printJSON(described{"resurge/describe/v1", inv, a})
			case len(inv.Signs) == 0:
				err = headless.DescribeGroup(c.stdout, inv, a.Diagnosis)
			default:
				err = headless.Describe(c.stdout, inv, a)
			}
			if f := inv.Group.Fault; err == nil && f != nil { // what it is was not to be had
				return ended{recovery.ProblemOf(f).Code}
			}
			return err
		},
	}
	look.register(cmd)
	return cmd
}

// lookFlags are the flags of the commands that look at one application.
type lookFlags struct {
	topology      string
	searchOutputs bool
}

func (f *lookFlags) register(cmd *cobra.Command) {
	cmd.Flags().StringVar(&f.topology, "topology", "", "file with the text of the deployed Topology#describe()")
	cmd.Flags().BoolVar(&f.searchOutputs, "search-outputs", false, "look for outputs on a cluster of any size")
}

// inspect reads one application, or any group, with what the configuration and
// the flags say about it.
func (c *cli) inspect(ctx context.Context, name string, f lookFlags) (discovery.Inventory, error) {
	a := c.application(name)
	if f.topology != "" {
		path, err := filepath.Abs(f.topology)
		if err != nil {
			return discovery.Inventory{}, usageError("--topology", err, "")
		}
		a.Topology = path
	}
	hints, err := c.hintsOf(name, a)
	if err != nil {
		return discovery.Inventory{}, err
	}
	l, err := c.connect(ctx)
	if err != nil {
		return discovery.Inventory{}, err
	}
	defer l.cluster.Close()
	d := l.discoverer()
	d.SearchAll = f.searchOutputs
	return d.Discover(ctx, name, hints, nil)
}

func (c *cli) infoCommand() *cobra.Command {
	return &cobra.Command{
		Use: "info", Short: "Print the files and directories that resurge uses", Args: cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			if c.json() {
				return c.printJSON(c.paths)
			}
			_, err := fmt.Fprintf(c.stdout, "version        %s\nconfiguration  %s\nruns           %s\nlocks          %s\nlog            %s\n",
				version, c.paths.Config, c.paths.Runs, c.paths.Locks, c.paths.Log)
			return err
		},
	}
}

// hints is what the configuration says about an application, its imported
// topology included.
func (c *cli) hints(app string) (discovery.Hints, error) { return c.hintsOf(app, c.application(app)) }

func (c *cli) hintsOf(app string, a applicationConfig) (discovery.Hints, error) {
	h := discovery.Hints{Inputs: a.Inputs, Outputs: a.Outputs, Globals: a.Globals, Stores: a.Stores, StateDir: a.StateDir}
	if a.Topology == "" {
		return h, nil
	}
	path := a.Topology
	if !filepath.IsAbs(path) {
		path = filepath.Join(filepath.Dir(c.paths.Config), path)
	}
	text, err := os.ReadFile(path)
	if err != nil {
		return h, usageError("topology of "+app, err, "it is the text of Topology#describe(), beside the configuration")
	}
	t, err := streams.ParseTopology(string(text))
	if err != nil {
		return h, usageError("topology "+path, err, "it is the text of Topology#describe()")
	}
	h.Topology = &t
	for _, sink := range t.SinkTopics(app) {
		if !streams.LooksInternal(sink) && !slices.Contains(h.Outputs, sink) {
			h.Outputs = append(h.Outputs, sink)
		}
	}
	h.Globals = append(h.Globals, t.GlobalTopics()...)
	h.Stores = append(h.Stores, t.Stores()...)
	return h, nil
}
