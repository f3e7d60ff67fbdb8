package recovery

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"golang.org/x/sync/errgroup"

	"resurge/streams"
)

// Survey lists the Streams applications of the cluster at a glance. Rows whose
// details could not be read carry their fault; the others are not held up.
func (d Discoverer) Survey(ctx context.Context) (Survey, error) {
	out := Survey{TakenAt: d.Now()}
	var err error
	if out.Cluster, err = d.Topics.Cluster(ctx); err != nil {
		return out, fmt.Errorf("identify cluster: %w", err)
	}
	list, err := d.Groups.Groups(ctx)
	if err != nil {
		return out, fmt.Errorf("list groups: %w", err)
	}
	out.Gaps = list.Faults
	topics, err := d.Topics.Topics(ctx)
	if err != nil {
		return out, fmt.Errorf("list topics: %w", err)
	}
	rows := make([]*SurveyRow, len(list.Groups))
	work, ctx := errgroup.WithContext(ctx)
	work.SetLimit(groupsAtOnce)
	for i, g := range list.Groups {
		if g.ProtocolType == "connect" || g.Protocol == streams.ProtocolShare || g.Protocol == streams.ProtocolConsumer {
			continue
		}
		work.Go(func() error {
			rows[i] = d.row(ctx, g, list, topics)
			return ctx.Err()
		})
	}
	if err := work.Wait(); err != nil {
		return out, fmt.Errorf("look at the groups: %w", err)
	}
	for _, r := range rows {
		if r == nil {
			out.Others++
			continue
		}
		out.Rows = append(out.Rows, *r)
	}
	slices.SortFunc(out.Rows, func(a, b SurveyRow) int {
		if d := levelOrder(a.Level) - levelOrder(b.Level); d != 0 {
			return d
		}
		return strings.Compare(a.Application, b.Application)
	})
	return out, nil
}

func levelOrder(l Level) int {
	return slices.Index([]Level{LevelBad, LevelUnknown, LevelLook, LevelInfo, LevelOK}, l)
}

// row looks at one group; nil means that it is no Streams application.
func (d Discoverer) row(ctx context.Context, g streams.GroupListing, list streams.GroupList, topics []streams.Topic) *SurveyRow {
	described, err := d.Groups.Group(ctx, g.ID)
	if err != nil {
		described = streams.Group{ID: g.ID, Exists: true, Protocol: g.Protocol, State: g.State, Fault: asFault(err, "group "+streams.Quote(g.ID))}
	}
	row := &SurveyRow{Application: g.ID, Protocol: g.Protocol, State: described.State, Level: LevelOK, Fault: described.Fault}
	if g.Protocol == streams.ProtocolStreams {
		row.Evidence = append(row.Evidence, "streams group (KIP-1071)")
	}
	if described.Assignor == "stream" {
		row.Evidence = append(row.Evidence, "its members use the assignor of Kafka Streams")
	}
	internal := internalTopics(g.ID, list, topics)
	if len(internal) > 0 {
		row.Evidence = append(row.Evidence, fmt.Sprintf("%d internal topics are named after it", len(internal)))
	}
	if len(row.Evidence) == 0 {
		return nil
	}
	if described.Fault == nil {
		n := len(described.Members)
		row.Members = &n
	}
	stores := 0
	for _, n := range internal {
		if strings.HasSuffix(n, "-changelog") {
			stores++
		}
	}
	row.Stores = &stores
	row.Lag = d.lag(ctx, g.ID)
	row.grade(described)
	return row
}

// internalTopics are the topics named after the group and after no longer ID.
func internalTopics(app string, list streams.GroupList, topics []streams.Topic) []string {
	var longer, out []string
	for _, g := range list.Groups {
		if strings.HasPrefix(g.ID, app+"-") {
			longer = append(longer, g.ID)
		}
	}
	for _, t := range topics {
		if _, ok := streams.ParseInternal(app, t.Name); ok && streams.LongestOwner(t.Name, longer) == "" {
			out = append(out, t.Name)
		}
	}
	return out
}

// lag is the group's total lag, nil when something of it is not known.
func (d Discoverer) lag(ctx context.Context, group string) *int64 {
	commits, err := d.Groups.Commits(ctx, group, false)
	if err != nil || len(commits.Faults) > 0 {
		return nil
	}
	seen := map[string]bool{}
	var names []string
	for tp := range commits.Offsets {
		if !seen[tp.Topic] {
			seen[tp.Topic] = true
			names = append(names, tp.Topic)
		}
	}
	var total int64
	if len(names) == 0 {
		return nil
	}
	marks, err := d.Topics.Watermarks(ctx, names...)
	if err != nil {
		return nil
	}
	for tp, c := range commits.Offsets {
		m, ok := marks[tp]
		if !ok || m.Fault != nil {
			return nil
		}
		total += max(0, m.End-c.Offset)
	}
	return &total
}

func (r *SurveyRow) grade(g streams.Group) {
	switch {
	case g.Fault != nil:
		r.Level, r.Worst = LevelUnknown, "cannot tell"
		if g.Fault.Kind == streams.FaultNotAllowed {
			r.Worst = "not allowed"
		}
	case len(g.Members) == 0 && r.Lag != nil && *r.Lag > 0:
		r.Level, r.Worst = LevelBad, "down, lagging"
	case len(g.Members) == 0:
		r.Level, r.Worst = LevelLook, "not running"
	case g.State != "Stable":
		r.Level, r.Worst = LevelLook, strings.ToLower(g.State)
	case r.Lag == nil:
		r.Level, r.Worst = LevelUnknown, "lag unknown"
	}
}
