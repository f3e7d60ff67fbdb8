package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"resurge/discovery"
	"resurge/internal/headless"
	"resurge/recovery"
	"resurge/streams"
)

func (c *cli) snapshotCommand() *cobra.Command {
	var look lookFlags
	var out string
	var force bool
	cmd := &cobra.Command{
		Use: "snapshot NAME -o FILE", Short: "Keep what is known of an application or group in a file, to compare later", Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if out == "" {
				return usageError("snapshot", errors.New("no file is named"), "give -o FILE")
			}
			if _, err := os.Lstat(out); err == nil && !force {
				return usageError("snapshot "+out, errors.New("exists, and is not overwritten"), "name another file, or give --force")
			}
			inv, err := c.inspect(cmd.Context(), args[0], look)
			if err != nil {
				return err
			}
			b, err := discovery.NewSnapshot(inv, version).Encode()
			if err != nil {
				return err
			}
			path, err := filepath.Abs(out)
			if err != nil {
				return usageError("-o", err, "")
			}
			if err := (runDir{path: filepath.Dir(path)}).Save(filepath.Base(path), b); err != nil {
				return usageError("snapshot "+out, err, "nothing was kept; name a file in a directory that can be written")
			}
			_, err = fmt.Fprintf(c.stderr, "kept in %s; resurge diff compares two of them\n", streams.Quote(out))
			return err
		},
	}
	look.register(cmd)
	cmd.Flags().StringVarP(&out, "out", "o", "", "file to write")
	cmd.Flags().BoolVar(&force, "force", false, "overwrite the file")
	return cmd
}

func (c *cli) diffCommand() *cobra.Command {
	return &cobra.Command{
		Use: "diff BEFORE AFTER", Short: "Compare two snapshots: what moved between them", Args: cobra.ExactArgs(2),
		Long: "Compare two files of resurge snapshot. The exit code is 0 when both could be read, whether or not\nanything differs.",
		RunE: func(_ *cobra.Command, args []string) error {
			before, err := readSnapshot(args[0])
			if err != nil {
				return err
			}
			after, err := readSnapshot(args[1])
			if err != nil {
				return err
			}
			d := discovery.Diff(before, after)
			if c.json() {
				return c.printJSON(struct {
					Schema string `json:"schema"`
					discovery.Differences
				}{"resurge/diff/v1", d})
			}
			return headless.Diff(c.stdout, d)
		},
	}
}

func readSnapshot(path string) (discovery.Snapshot, error) {
	f, err := os.Open(path)
	if err != nil {
		return discovery.Snapshot{}, usageError("snapshot "+path, err, "resurge snapshot NAME -o FILE takes one")
	}
	defer f.Close() //nolint:errcheck // it was only read
	s, err := discovery.ReadSnapshot(f)
	if e, ok := errors.AsType[*discovery.SnapshotError](err); ok {
		return s, usageError("snapshot "+path, err, e.Hint)
	}
	if err != nil {
		return s, &recovery.Error{Outcome: recovery.OutcomeFailed, Message: "snapshot " + path, Err: err}
	}
	return s, nil
}
