package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"resurge/discovery"
	"resurge/internal/headless"
	"resurge/streams"
)

// groupFlags choose and order the rows of resurge groups.
type groupFlags struct {
	kind, state, filter, sort string
}

func (c *cli) groupsCommand() *cobra.Command {
	var f groupFlags
	cmd := &cobra.Command{
		Use: "groups", Short: "List all groups of the cluster, of every kind", Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := f.check(); err != nil {
				return err
			}
			l, err := c.connect(cmd.Context())
			if err != nil {
				return err
			}
			defer l.cluster.Close()
			s, err := l.discoverer().CrowdSurvey(cmd.Context())
			if err != nil {
				return err
			}
			all := len(s.Rows)
			s.Rows = f.choose(s.Rows)
			if c.json() {
				return c.printJSON(struct {
					Schema string `json:"schema"`
					discovery.GroupSurvey
					Hidden int `json:"hidden"`
				}{"resurge/groups/v1", s, all - len(s.Rows)})
			}
			return headless.Groups(c.stdout, s, all-len(s.Rows))
		},
	}
	cmd.Flags().StringVar(&f.kind, "kind", "", "only groups of a kind: streams, classic, consumer, share, connect, commits or other")
	cmd.Flags().StringVar(&f.state, "state", "", "only groups in a state, such as empty or stable")
	cmd.Flags().StringVar(&f.filter, "filter", "", "only groups whose name contains the text")
	cmd.Flags().StringVar(&f.sort, "sort", "name", "name, lag, members or state")
	return cmd
}

// groupOrders are the orders of resurge groups. What is not known comes first: it
// may be anything.
var groupOrders = map[string]func(a, b discovery.GroupRow) int{
	"name":    func(discovery.GroupRow, discovery.GroupRow) int { return 0 },
	"lag":     func(a, b discovery.GroupRow) int { return mostFirst(a.Lag, b.Lag) },
	"members": func(a, b discovery.GroupRow) int { return mostFirst(a.Members, b.Members) },
	"state":   func(a, b discovery.GroupRow) int { return strings.Compare(a.State, b.State) },
}

func mostFirst[T cmp.Ordered](a, b *T) int {
	switch {
	case a == nil && b == nil:
		return 0
	case a == nil:
		return -1
	case b == nil:
		return 1
	}
	return cmp.Compare(*b, *a)
}

func (f groupFlags) check() error {
	if groupOrders[f.sort] == nil {
		return usageError("--sort", fmt.Errorf("%q is none of name, lag, members and state", f.sort), "")
	}
	kinds := []streams.GroupKind{"", streams.KindStreams, streams.KindClassic, streams.KindConsumer, streams.KindShare, streams.KindConnect, streams.KindCommits, streams.KindOther}
	if !slices.Contains(kinds, streams.GroupKind(f.kind)) {
		return usageError("--kind", fmt.Errorf("%q is no kind of group", f.kind), "streams, classic, consumer, share, connect, commits or other")
	}
	return nil
}

func (f groupFlags) choose(rows []discovery.GroupRow) []discovery.GroupRow {
	out := []discovery.GroupRow{}
	for _, r := range rows {
		if (f.kind == "" || r.Kind == streams.GroupKind(f.kind)) && (f.state == "" || strings.EqualFold(r.State, f.state)) && strings.Contains(r.Group, f.filter) {
			out = append(out, r)
		}
	}
	slices.SortStableFunc(out, groupOrders[f.sort])
	return out
}

func (c *cli) topicsCommand() *cobra.Command {
	var look lookFlags
	var role string
	cmd := &cobra.Command{
		Use: "topics APP", Short: "Show an application's topics by role, with why, and what a backup has to hold", Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := checkRole(role); err != nil {
				return err
			}
			inv, err := c.inspect(cmd.Context(), args[0], look)
			if err != nil {
				return err
			}
			keeping := discovery.Diagnose(inv).Keeping
			if role != "" {
				inv.Topics = inv.ByRole(streams.Role(role))
				keeping = slices.DeleteFunc(keeping, func(k discovery.Keeping) bool { return k.Role != streams.Role(role) })
			}
			if c.json() {
				return c.printJSON(struct {
					Schema      string              `json:"schema"`
					Application string              `json:"application"`
					Cluster     streams.Cluster     `json:"cluster"`
					Topics      []discovery.Topic   `json:"topics"`
					Keeping     []discovery.Keeping `json:"keeping"`
					Gaps        []*streams.Fault    `json:"gaps,omitempty"`
				}{"resurge/topics/v1", inv.Application, inv.Cluster, inv.Topics, keeping, inv.Gaps})
			}
			return headless.Topics(c.stdout, inv, keeping)
		},
	}
	look.register(cmd)
	cmd.Flags().StringVar(&role, "role", "", "only topics of a role: input, output, changelog, repartition, global or lookalike")
	return cmd
}

func checkRole(role string) error {
	known := []streams.Role{"", streams.RoleInput, streams.RoleOutput, streams.RoleChangelog, streams.RoleRepartition, streams.RoleGlobal, streams.RoleLookalike}
	if !slices.Contains(known, streams.Role(role)) {
		return usageError("--role", fmt.Errorf("%q is no role of a topic", role), "input, output, changelog, repartition, global or lookalike")
	}
	return nil
}

// The interval of looks at a group that is followed.
const (
	watchEvery    = 5 * time.Second
	watchShortest = time.Second
)

func (c *cli) watchCommand() *cobra.Command {
	interval, count := watchEvery, 0
	cmd := &cobra.Command{
		Use: "watch GROUP", Short: "Follow a group: what moves, how fast, and when it is caught up", Args: cobra.ExactArgs(1),
		Long: "Follow a group of any kind. In a terminal the console opens and follows it; otherwise, and with\n--headless or --output json, every look is printed.",
		RunE: func(cmd *cobra.Command, args []string) error {
			if interval < watchShortest || count < 0 {
				return usageError("watch", errors.New("--interval is at least 1s, --count at least 0"), "")
			}
			if c.interactive() {
				c.follow = interval
				return c.console(cmd.Context(), args[0], "", nil)
			}
			l, err := c.connect(cmd.Context())
			if err != nil {
				return err
			}
			defer l.cluster.Close()
			return c.watch(cmd.Context(), l.discoverer(), args[0], interval, count)
		},
	}
	cmd.Flags().DurationVar(&interval, "interval", interval, "time between two looks")
	cmd.Flags().IntVar(&count, "count", 0, "end after so many looks; 0 goes on until ctrl-c")
	return cmd
}

// watch prints a look every interval. A look that fails is told, and the next one
// is taken; the first must succeed.
func (c *cli) watch(ctx context.Context, d discovery.Discoverer, group string, interval time.Duration, count int) error {
	var f discovery.Follow
	next := time.NewTicker(interval)
	defer next.Stop()
	for n := 1; ; n++ {
		inv, err := d.Explore(ctx, group)
		switch {
		case ctx.Err() != nil:
			return ctx.Err()
		case err != nil && n == 1:
			return err
		case err != nil:
			if _, err := fmt.Fprintf(c.stderr, "resurge: %s\n", streams.Quote(err.Error())); err != nil {
				return err
			}
		default:
			if err := c.printLook(inv, f.Add(inv)); err != nil {
				return err
			}
		}
		if n == count {
			return nil
		}
		select {
		case <-next.C:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// look is one line of watch --output json.
type look struct {
	Schema  string          `json:"schema"`
	Group   string          `json:"group"`
	State   string          `json:"state"`
	Members int             `json:"members"`
	Moves   discovery.Moves `json:"moves"`
	// Partitions are all that the group reads.
	Partitions []lookPartition `json:"partitions"`
}

type lookPartition struct {
	Topic     string `json:"topic"`
	Partition int32  `json:"partition"`
	Committed *int64 `json:"committed"`
	End       *int64 `json:"end"`
	Lag       *int64 `json:"lag"`
	Changed   bool   `json:"changed"`
	discovery.Pace
}

func (c *cli) printLook(inv discovery.Inventory, m discovery.Moves) error {
	if !c.json() {
		return headless.Look(c.stdout, inv, m)
	}
	doc := look{Schema: "resurge/watch/v1", Group: inv.Application, State: inv.Group.State, Members: len(inv.Group.Members), Moves: m, Partitions: []lookPartition{}}
	for _, t := range inv.Topics {
		for _, p := range t.Partitions {
			tp := streams.TopicPartition{Topic: t.Name, Partition: p.Partition}
			row := lookPartition{Topic: t.Name, Partition: p.Partition, End: p.End, Lag: p.Lag, Changed: m.Changed[tp], Pace: m.Partitions[tp]}
			if p.Committed != nil {
				row.Committed = &p.Committed.Offset
			}
			doc.Partitions = append(doc.Partitions, row)
		}
	}
	return c.printLine(doc)
}
