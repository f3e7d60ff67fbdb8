package discovery

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"golang.org/x/sync/errgroup"

	"resurge/streams"
)

// Glance lists the Streams applications by what names alone tell, at once. Its
// numbers are missing; [Discoverer.Survey] has them.
func (d Discoverer) Glance(ctx context.Context) (Survey, error) {
	c, err := d.crowd(ctx)
	if err != nil {
		return Survey{}, err
	}
	out := Survey{Cluster: c.cluster, TakenAt: c.at, Gaps: c.gaps(), Partial: true}
	for _, g := range c.list.Groups {
		row := c.row(g)
		if len(row.Evidence) == 0 {
			out.Others++
			continue
		}
		row.Level, row.Worst = LevelUnknown, ""
		out.Rows = append(out.Rows, row)
	}
	out.Rows = append(out.Rows, c.orphans()...)
	sortRows(out.Rows)
	return out, nil
}

// Survey lists the Streams applications of the cluster at a glance, and internal
// topics whose group is gone. Rows whose details could not be read carry their
// fault; the others are not held up.
func (d Discoverer) Survey(ctx context.Context) (Survey, error) {
	c, err := d.crowd(ctx)
	if err != nil {
		return Survey{}, err
	}
	out := Survey{Cluster: c.cluster, TakenAt: c.at, Gaps: c.gaps()}
	var asked []streams.GroupListing
	for _, g := range c.list.Groups {
		if k := g.Kind(); k == streams.KindStreams || k == streams.KindClassic || k == streams.KindCommits {
			asked = append(asked, g)
		}
	}
	out.Others = len(c.list.Groups) - len(asked)
	if err := d.describeCrowd(ctx, c, asked); err != nil {
		return out, err
	}
	var rows []SurveyRow
	for _, g := range asked {
		row := c.row(g)
		c.signs(&row)
		if len(row.Evidence) == 0 {
			out.Others++
			continue
		}
		rows = append(rows, row)
	}
	if err := d.lags(ctx, c, ids(rows)); err != nil {
		return out, err
	}
	for i := range rows {
		c.fill(&rows[i])
	}
	out.Rows = slices.Concat(rows, c.orphans())
	sortRows(out.Rows)
	return out, nil
}

func ids(rows []SurveyRow) []string {
	out := make([]string, len(rows))
	for i, r := range rows {
		out[i] = r.Application
	}
	return out
}

func sortRows(rows []SurveyRow) {
	slices.SortFunc(rows, func(a, b SurveyRow) int {
		if d := levelOrder(a.Level) - levelOrder(b.Level); d != 0 {
			return d
		}
		return strings.Compare(a.Application, b.Application)
	})
}

func levelOrder(l Level) int {
	return slices.Index([]Level{LevelBad, LevelUnknown, LevelLook, LevelInfo, LevelOK}, l)
}

// CrowdSurvey lists all groups of the cluster, of every kind.
func (d Discoverer) CrowdSurvey(ctx context.Context) (GroupSurvey, error) {
	c, err := d.crowd(ctx)
	if err != nil {
		return GroupSurvey{}, err
	}
	out := GroupSurvey{Cluster: c.cluster, TakenAt: c.at, Gaps: c.gaps()}
	if err := d.describeCrowd(ctx, c, c.list.Groups); err != nil {
		return out, err
	}
	all := make([]string, len(c.list.Groups))
	for i, g := range c.list.Groups {
		all[i] = g.ID
	}
	if err := d.lags(ctx, c, all); err != nil {
		return out, err
	}
	for _, g := range c.list.Groups {
		out.Rows = append(out.Rows, c.groupRow(g))
	}
	return out, nil
}

// crowd is what was read of all groups together.
type crowd struct {
	cluster   streams.Cluster
	at        time.Time
	list      streams.GroupList
	owned     map[string][]streams.InternalName // by application ID
	orphaned  []streams.Topic
	described map[string]streams.Group
	commits   map[string]streams.GroupCommits
	ends      map[streams.TopicPartition]streams.Watermarks
}

// gaps are what the list of groups may lack.
func (c *crowd) gaps() []*streams.Fault {
	if c.list.Filtered == nil {
		return c.list.Faults
	}
	return append(slices.Clone(c.list.Faults), c.list.Filtered)
}

// crowd reads the names: brokers, groups and topics.
func (d Discoverer) crowd(ctx context.Context) (*crowd, error) {
	c := &crowd{at: d.Now(), described: map[string]streams.Group{}, commits: map[string]streams.GroupCommits{}}
	var topics []streams.Topic
	work, wctx := errgroup.WithContext(ctx)
	work.Go(func() (err error) {
		if c.cluster, err = d.Reader.Cluster(wctx); err != nil {
			return fmt.Errorf("identify cluster: %w", err)
		}
		return nil
	})
	work.Go(func() (err error) {
		if c.list, err = d.Reader.Groups(wctx); err != nil {
			return fmt.Errorf("list groups: %w", err)
		}
		return nil
	})
	work.Go(func() (err error) {
		if topics, err = d.Reader.Topics(wctx); err != nil {
			return fmt.Errorf("list topics: %w", err)
		}
		return nil
	})
	if err := work.Wait(); err != nil {
		return nil, err
	}
	c.sortTopics(topics)
	return c, nil
}

// describeCrowd describes the groups that have members, and reads the commits of
// all.
func (d Discoverer) describeCrowd(ctx context.Context, c *crowd, groups []streams.GroupListing) error {
	var alive []streams.GroupListing
	names := make([]string, len(groups))
	for i, g := range groups {
		names[i] = g.ID
		if g.State != streams.StateEmpty {
			alive = append(alive, g)
		}
	}
	var described []streams.Group
	work, wctx := errgroup.WithContext(ctx)
	work.Go(func() (err error) {
		described, err = d.Reader.DescribeGroups(wctx, alive)
		return err
	})
	work.Go(func() (err error) {
		c.commits, err = d.Reader.CommitsOf(wctx, names)
		return err
	})
	if err := work.Wait(); err != nil {
		return fmt.Errorf("look at the groups: %w", err)
	}
	for _, g := range described {
		c.described[g.ID] = g
	}
	return nil
}

// lags reads the ends of what the groups have committed.
func (d Discoverer) lags(ctx context.Context, c *crowd, groups []string) error {
	seen := map[streams.TopicPartition]bool{}
	for _, g := range groups {
		for tp := range c.commits[g].Offsets {
			seen[tp] = true
		}
	}
	parts := make([]streams.TopicPartition, 0, len(seen))
	for tp := range seen {
		parts = append(parts, tp)
	}
	if len(parts) == 0 {
		return nil
	}
	slices.SortFunc(parts, streams.TopicPartition.Compare)
	var err error
	if c.ends, err = d.Reader.Ends(ctx, parts); err != nil {
		return fmt.Errorf("read ends of %d partitions: %w", len(parts), err)
	}
	return nil
}

// row is what names and the list tell about one group.
func (c *crowd) row(g streams.GroupListing) SurveyRow {
	row := SurveyRow{Application: g.ID, Protocol: g.Protocol, State: g.State, Level: LevelOK}
	if g.Kind() == streams.KindStreams {
		row.Evidence = append(row.Evidence, "streams group (KIP-1071)")
	}
	if g.Kind() == streams.KindConnect || g.Kind() == streams.KindShare || g.Kind() == streams.KindConsumer {
		return row
	}
	internal := c.owned[g.ID]
	if len(internal) > 0 {
		row.Evidence = append(row.Evidence, fmt.Sprintf("%d internal %s named after it", len(internal), plural(len(internal), "topic")))
	}
	stores := 0
	for _, n := range internal {
		if n.Kind == streams.KindChangelog {
			stores++
		}
	}
	row.Stores = &stores
	return row
}

// signs adds what describing the group and its commits tell.
func (c *crowd) signs(row *SurveyRow) {
	g, ok := c.described[row.Application]
	if ok {
		row.State, row.Fault = g.State, g.Fault
	}
	if g.Assignor == streamsAssignor {
		row.Evidence = append(row.Evidence, "its members use the assignor of Kafka Streams")
	}
	if hasStreamsCommit(c.commits[row.Application].Offsets) {
		row.Evidence = append(row.Evidence, "its commits carry the metadata of Kafka Streams")
	}
}

// fill adds the numbers and the grade.
func (c *crowd) fill(row *SurveyRow) {
	g, ok := c.described[row.Application]
	switch {
	case !ok: // listed as Empty, and so not described
		none := 0
		row.Members = &none
	case g.Fault == nil:
		n := len(g.Members)
		row.Members = &n
	}
	if row.Fault == nil {
		row.Fault = c.commits[row.Application].Fault
	}
	row.Lag = c.lag(row.Application)
	row.grade()
}

// lag is the group's total lag, nil when something of it is not known.
func (c *crowd) lag(group string) *int64 {
	commits, ok := c.commits[group]
	if !ok || commits.Fault != nil || len(commits.Faults) > 0 || len(commits.Offsets) == 0 {
		return nil
	}
	var total int64
	for tp, o := range commits.Offsets {
		m, ok := c.ends[tp]
		if !ok || m.Fault != nil {
			return nil
		}
		total += max(0, m.End-o.Offset)
	}
	return &total
}

func (r *SurveyRow) grade() {
	switch {
	case r.Fault != nil:
		r.Level, r.Worst = LevelUnknown, "cannot tell"
		if r.Fault.Kind == streams.FaultNotAllowed {
			r.Worst = "not allowed"
		}
	case r.Members == nil:
		r.Level, r.Worst = LevelUnknown, "cannot tell"
	case *r.Members == 0 && r.Lag != nil && *r.Lag > 0:
		r.Level, r.Worst = LevelBad, "down, lagging"
	case *r.Members == 0:
		r.Level, r.Worst = LevelLook, "not running"
	case r.State != stateStable:
		r.Level, r.Worst = LevelLook, strings.ToLower(r.State)
	case r.Lag == nil:
		r.Level, r.Worst = LevelUnknown, "lag unknown"
	}
}

// stateStable is the state of a group whose assignment is delivered. It says
// nothing of restored state.
const stateStable = "Stable"

func (c *crowd) groupRow(g streams.GroupListing) GroupRow {
	row := GroupRow{Group: g.ID, Kind: g.Kind(), State: g.State, Lag: c.lag(g.ID)}
	s := c.row(g)
	c.signs(&s)
	row.Streams = len(s.Evidence) > 0
	described, ok := c.described[g.ID]
	switch {
	case !ok:
		none := 0
		row.Members = &none
	case described.Fault != nil:
		row.Fault = described.Fault
	default:
		n := len(described.Members)
		row.Members, row.State = &n, described.State
	}
	commits, ok := c.commits[g.ID]
	switch {
	case !ok || g.Kind() == streams.KindShare: // its offsets are kept elsewhere (KIP-932)
		row.Lag = nil
	case commits.Fault != nil:
		if row.Fault == nil {
			row.Fault = commits.Fault
		}
	default:
		topics := map[string]bool{}
		for tp := range commits.Offsets {
			topics[tp.Topic] = true
		}
		nt, np := len(topics), len(commits.Offsets)
		row.Topics, row.Partitions = &nt, &np
	}
	return row
}
