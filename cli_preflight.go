package main

import (
	"errors"

	"github.com/spf13/cobra"

	"resurge/discovery"
	"resurge/internal/headless"
	"resurge/recovery"
	"resurge/streams"
)

func (c *cli) preflightCommand() *cobra.Command {
	var look lookFlags
	var purpose string
	cmd := &cobra.Command{
		Use: "preflight APP --for rebuild|restore|pitr|backup", Short: "List the rights that a plan takes, and which this principal has", Args: cobra.ExactArgs(1),
		Long: "List every right that a plan takes, and whether this principal has it. The broker is asked; nothing\nis tried out. The exit code is 0 when all are held, 4 when one is refused, 3 when one is not known.",
		RunE: func(cmd *cobra.Command, args []string) error {
			p, err := recovery.ParsePurpose(purpose)
			if err != nil {
				return usageError("--for", err, "")
			}
			inv, err := c.inspect(cmd.Context(), args[0], look)
			if err != nil && !streams.IsFault(err, streams.FaultNotAllowed) {
				return err
			}
			if err != nil { // then what the operator named is asked about
				hints, hintsErr := c.hintsOf(args[0], c.application(args[0]))
				if hintsErr != nil {
					return hintsErr
				}
				inv = named(inv, args[0], hints, streams.FaultOf(err))
			}
			l, err := c.connect(cmd.Context())
			if err != nil {
				return err
			}
			defer l.cluster.Close()
			f, err := recovery.CheckRights(cmd.Context(), l.reader, inv, p)
			if err != nil {
				return err
			}
			if c.json() {
				err = c.printJSON(struct {
					Schema string `json:"schema"`
					recovery.Preflight
				}{"resurge/preflight/v1", f})
			} else {
				err = headless.Preflight(c.stdout, f)
			}
			return errors.Join(err, preflightEnd(f))
		},
	}
	look.register(cmd)
	cmd.Flags().StringVar(&purpose, "for", "rebuild", "rebuild, restore, pitr or backup")
	return cmd
}

// named is an inventory of what the operator named, where nothing may be seen.
func named(inv discovery.Inventory, app string, hints discovery.Hints, why *streams.Fault) discovery.Inventory {
	inv.Application, inv.Hints = app, hints
	inv.Topics, inv.Gaps = nil, append(inv.Gaps, why)
	for role, names := range map[streams.Role][]string{streams.RoleInput: hints.Inputs, streams.RoleOutput: hints.Outputs, streams.RoleGlobal: hints.Globals} {
		for _, n := range names {
			inv.Topics = append(inv.Topics, discovery.Topic{Name: n, Role: role})
		}
	}
	for _, store := range hints.Stores {
		inv.Topics = append(inv.Topics, discovery.Topic{Name: streams.ChangelogTopic(app, store), Role: streams.RoleChangelog})
	}
	return inv
}

func preflightEnd(f recovery.Preflight) error {
	missing := f.Missing()
	if len(missing) == 0 {
		return nil
	}
	for _, n := range missing {
		if n.Held == recovery.HeldNo {
			return ended{recovery.OutcomeUnauthorised}
		}
	}
	return ended{recovery.OutcomeBlocked}
}
