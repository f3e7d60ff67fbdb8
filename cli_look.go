package main

import (
	"fmt"

	"github.com/spf13/cobra"

	"resurge/internal/headless"
	"resurge/recovery"
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
					recovery.Survey
				}{"resurge/apps/v1", s})
			}
			return headless.Apps(c.stdout, s)
		},
	}
}

// described is the document of describe --output json.
type described struct {
	Schema string `json:"schema"`
	recovery.Inventory
	recovery.Assessment
}

func (c *cli) describeCommand() *cobra.Command {
	return &cobra.Command{
		Use: "describe APPLICATION", Short: "Show what an application left on the cluster, and what is wrong", Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			l, err := c.connect(cmd.Context())
			if err != nil {
				return err
			}
			defer l.cluster.Close()
			inv, err := l.discoverer().Discover(cmd.Context(), args[0], c.hints(args[0]), nil)
			if err != nil {
				return err
			}
			a := recovery.Assess(inv)
			if c.json() {
				return c.printJSON(described{"resurge/describe/v1", inv, a})
			}
			return headless.Describe(c.stdout, inv, a)
		},
	}
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

// hints is what the configuration says about an application.
func (c *cli) hints(app string) recovery.Hints {
	a := c.application(app)
	return recovery.Hints{Inputs: a.Inputs, Outputs: a.Outputs, Globals: a.Globals, StateDir: a.StateDir}
}
