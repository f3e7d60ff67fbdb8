package discovery

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"golang.org/x/sync/errgroup"

	"resurge/streams"
)

// Discoverer reads what applications left on a cluster. It holds no writer. The
// number of its requests grows with brokers, with the topics of the application
// that is looked at, and with other groups by whole batches; topics that are not
// looked at cost none.
type Discoverer struct {
	Reader Reader
	Now    func() time.Time
	// SearchAll lifts the bound on the search for outputs by their producers.
	SearchAll bool
}

// Discover reads everything about one application. It fails with an [UnknownError]
// when nothing on the cluster speaks for such an application. What could not be
// read is a gap of the inventory, and never taken for absent. A group that shows
// no sign of Kafka Streams is described all the same, without Signs.
func (d Discoverer) Discover(ctx context.Context, app string, hints Hints, times []time.Time) (Inventory, error) {
	inv := Inventory{Application: app, TakenAt: d.Now(), Hints: hints}
	s, err := d.sight(ctx, &inv)
	if err != nil {
		return inv, err
	}
	inv.Topics = s.classify()
	if unknownApplication(inv) {
		return inv, unknown(app, s.list, len(s.topics) > 0)
	}
	inv.Signs = s.signs(inv.Topics)
	inv.Unseen = append(inv.Unseen, traceless(inv)...)
	inv.Tasks = tasksOf(inv.Group, s.topics)
	if err := d.positions(ctx, &inv, s); err != nil {
		return inv, err
	}
	return inv, d.times(ctx, &inv, times)
}

// unknownApplication reports whether nothing at all speaks for the application.
func unknownApplication(inv Inventory) bool {
	if inv.Group.Exists || inv.Group.Fault != nil {
		return false
	}
	return !slices.ContainsFunc(inv.Topics, func(t Topic) bool { return t.Owned || t.Ambiguous })
}

// sight reads all that says whose topics are whose, in two rounds: what can be
// asked at once, then what needs the names that came back.
func (d Discoverer) sight(ctx context.Context, inv *Inventory) (sighting, error) {
	s := sighting{app: inv.Application, hints: inv.Hints, topics: map[string]streams.Topic{}, claims: map[string]string{}, readers: map[string][]string{}}
	var mine ownAnswers
	work, wctx := errgroup.WithContext(ctx)
	work.Go(func() error { return d.cluster(wctx, inv) })
	work.Go(func() error { return d.allTopics(wctx, &s) })
	work.Go(func() error { mine.ask(wctx, d, inv.Application); return nil })
	var others []reading
	work.Go(func() error {
		var err error
		if s.list, err = d.Reader.Groups(wctx); err != nil {
			return fmt.Errorf("list groups: %w", err)
		}
		if s.group, err = d.Reader.Group(wctx, inv.Application); err != nil {
			return fmt.Errorf("describe group %s: %w", streams.Quote(inv.Application), err)
		}
		others, err = d.others(wctx, inv.Application, s.list)
		return err
	})
	if err := work.Wait(); err != nil {
		return s, err
	}
	s.listed = len(s.list.Faults) == 0 && s.list.Filtered == nil
	if f := s.list.Filtered; f != nil {
		inv.Unseen = append(inv.Unseen, f)
	}
	inv.Gaps = append(inv.Gaps, s.list.Faults...)
	inv.Group, inv.Kind = s.group, kindOf(s.group, s.list)
	mine.into(inv, &s)
	inv.Gaps = append(inv.Gaps, s.take(others)...)
	s.longerIDs()
	inv.LongerIDs = s.longer
	return s, d.secondRound(ctx, inv, &s)
}

// secondRound asks about the topics that may have to do with the application.
func (d Discoverer) secondRound(ctx context.Context, inv *Inventory, s *sighting) error {
	names := s.existing(s.candidates())
	work, wctx := errgroup.WithContext(ctx)
	var configsErr error
	work.Go(func() error {
		s.configs, configsErr = d.Reader.TopicConfigs(wctx, names...)
		return nil
	})
	work.Go(func() error { return d.producers(wctx, inv, s, names) })
	if err := work.Wait(); err != nil {
		return err
	}
	if configsErr != nil {
		inv.Gaps = append(inv.Gaps, asFault(configsErr, "topic configs"))
	}
	if err := ctx.Err(); err != nil {
		return fmt.Errorf("look at application %s: %w", streams.Quote(inv.Application), err)
	}
	return d.storeKinds(ctx, inv, s)
}

func (d Discoverer) cluster(ctx context.Context, inv *Inventory) (err error) {
	if inv.Cluster, err = d.Reader.Cluster(ctx); err != nil {
		return fmt.Errorf("identify cluster: %w", err)
	}
	return nil
}

func (d Discoverer) allTopics(ctx context.Context, s *sighting) error {
	all, err := d.Reader.Topics(ctx)
	if err != nil {
		return fmt.Errorf("list topics: %w", err)
	}
	for _, t := range all {
		s.topics[t.Name] = t
	}
	return nil
}

// kindOf is what the group is for: by the list, which knows its true type, else
// by its own describe call.
func kindOf(g streams.Group, list streams.GroupList) streams.GroupKind {
	for _, l := range list.Groups {
		if l.ID == g.ID {
			return l.Kind()
		}
	}
	if !g.Exists {
		return ""
	}
	return streams.GroupListing{Protocol: g.Protocol, ProtocolType: g.ProtocolType}.Kind()
}

// ownAnswers is what was asked about the application's own group.
type ownAnswers struct {
	commits      streams.Commits
	commitsErr   error
	transactions []streams.Transaction
	open         []streams.Transaction
	traceErr     error
	activity     streams.Activity
	activityErr  error
	broker       streams.TopicConfigs
	brokerErr    error
}

// ask never fails: each answer may be missing alone.
func (a *ownAnswers) ask(ctx context.Context, d Discoverer, app string) {
	var work errgroup.Group
	work.Go(func() error { a.commits, a.commitsErr = d.Reader.Commits(ctx, app, false); return nil })
	work.Go(func() error { a.activity, a.activityErr = d.Reader.Activity(ctx, app); return nil })
	work.Go(func() error { a.broker, a.brokerErr = d.Reader.BrokerConfigs(ctx); return nil })
	work.Go(func() error {
		a.transactions, a.traceErr = d.Reader.Transactions(ctx, app+"-")
		if a.traceErr == nil && slices.ContainsFunc(a.transactions, func(t streams.Transaction) bool {
			return t.Open() && streams.TransactionOwner(t.TransactionalID) == app
		}) {
			a.open, a.traceErr = d.Reader.OpenTransactions(ctx, app+"-")
		}
		return nil
	})
	_ = work.Wait()
}

// brokerSettings are the settings that bear on recovery.
var brokerSettings = []string{
	"offsets.retention.minutes", "auto.create.topics.enable", "min.insync.replicas", "delete.topic.enable",
	"producer.id.expiration.ms", "transactional.id.expiration.ms", "log.retention.check.interval.ms", "offset.metadata.max.bytes",
}

// into puts the answers where they belong. What holds a plan up is a gap; what
// only adds detail is unseen.
func (a *ownAnswers) into(inv *Inventory, s *sighting) {
	if a.commitsErr != nil {
		inv.CommitsFault = asFault(a.commitsErr, "committed offsets of group "+streams.Quote(inv.Application))
		inv.Gaps = append(inv.Gaps, inv.CommitsFault)
	}
	s.commits, s.commitFaults = a.commits.Offsets, a.commits.Faults
	if a.traceErr != nil {
		inv.Gaps = append(inv.Gaps, asFault(a.traceErr, "open transactions"))
	}
	for _, t := range a.open {
		if streams.TransactionOwner(t.TransactionalID) == inv.Application {
			inv.Transactions = append(inv.Transactions, t)
		}
	}
	s.transactions = a.transactions
	if a.activityErr != nil {
		inv.Unseen = append(inv.Unseen, asFault(a.activityErr, "times of commits"))
	} else {
		inv.Activity = &a.activity
	}
	switch {
	case a.brokerErr != nil:
		inv.Unseen = append(inv.Unseen, asFault(a.brokerErr, "configs of the brokers"))
	case a.broker.Fault != nil:
		inv.Unseen = append(inv.Unseen, a.broker.Fault)
	default:
		inv.Broker = map[string]string{}
		for _, k := range brokerSettings {
			if v, ok := a.broker.Values[k]; ok {
				inv.Broker[k] = v.Value
			}
		}
	}
}

func (s *sighting) existing(names []string) []string {
	return slices.DeleteFunc(names, func(n string) bool { _, ok := s.topics[n]; return !ok })
}

// longerIDs are the known application IDs that start with the application's and
// a hyphen: groups, and IDs that transactional IDs name.
func (s *sighting) longerIDs() {
	for _, g := range s.list.Groups {
		if g.ID != s.app && strings.HasPrefix(g.ID, s.app+"-") {
			s.longer = append(s.longer, g.ID)
		}
	}
	for _, t := range s.transactions {
		if id := streams.TransactionOwner(t.TransactionalID); id != s.app && strings.HasPrefix(id, s.app+"-") {
			s.longer = append(s.longer, id)
		}
	}
	slices.Sort(s.longer)
	s.longer = slices.Compact(s.longer)
}

// signs says why the group is taken for a Kafka Streams application.
func (s *sighting) signs(topics []Topic) []string {
	var out []string
	if s.group.Protocol == streams.ProtocolStreams {
		out = append(out, "streams group (KIP-1071)")
	}
	if s.group.Assignor == streamsAssignor {
		out = append(out, "its members use the assignor of Kafka Streams")
	}
	internal := 0
	for _, t := range topics {
		if t.Owned || t.Ambiguous {
			internal++
		}
	}
	if internal > 0 {
		out = append(out, fmt.Sprintf("%d internal %s named after it or read by it", internal, plural(internal, "topic")))
	}
	if hasStreamsCommit(s.commits) {
		out = append(out, "its commits carry the metadata of Kafka Streams")
	}
	if slices.ContainsFunc(s.transactions, func(t streams.Transaction) bool { return streams.TransactionOwner(t.TransactionalID) == s.app }) {
		out = append(out, "transactional IDs of Kafka Streams are named after it")
	}
	if s.hints.Topology != nil {
		out = append(out, "a topology was imported for it")
	}
	return out
}

// traceless is what an application leaves no trace of, unless somebody told:
// global tables are in no group, and of outputs only those show that it wrote
// lately.
func traceless(inv Inventory) []*streams.Fault {
	if len(inv.Signs) == 0 {
		return nil
	}
	const hint = "import the topology with --topology, or name them in the configuration"
	var out []*streams.Fault
	if inv.Hints.Topology == nil && len(inv.Hints.Globals) == 0 {
		out = append(out, &streams.Fault{Kind: streams.FaultUnsupported, What: "global tables", Message: "nothing on a cluster tells of them", Hint: hint})
	}
	bounded := slices.ContainsFunc(inv.Unseen, func(f *streams.Fault) bool { return f.What == outputsUnseen })
	if !bounded && !outputsTold(inv) {
		out = append(out, &streams.Fault{Kind: streams.FaultUnsupported, What: outputsUnseen, Message: "only those show that it wrote lately", Hint: hint})
	}
	return out
}

// outputsTold reports whether somebody named all outputs: the operator, or an
// imported topology in which code chooses none.
func outputsTold(inv Inventory) bool {
	top := inv.Hints.Topology
	if top == nil {
		return len(inv.Hints.Outputs) > 0
	}
	sinks := top.SinkTopics(inv.Application)
	return !top.ChoosesSinks() || slices.ContainsFunc(inv.Hints.Outputs, func(n string) bool { return !slices.Contains(sinks, n) })
}

// outputsUnseen names that not all outputs are known.
const outputsUnseen = "outputs"

// streamsAssignor is the assignor of classic Kafka Streams (StreamsPartitionAssignor).
const streamsAssignor = "stream"

func hasStreamsCommit(commits map[streams.TopicPartition]streams.Commit) bool {
	for _, c := range commits {
		if m, err := streams.DecodeOffsetMetadata(c.Metadata); err == nil && m.Magic > 0 {
			return true
		}
	}
	return false
}

// asFault keeps an error as data beside the answers that could be had.
func asFault(err error, what string) *streams.Fault {
	if f := streams.FaultOf(err); f != nil {
		return f
	}
	kind := streams.FaultOther
	if errors.Is(err, context.DeadlineExceeded) {
		kind = streams.FaultUnreachable
	}
	return &streams.Fault{Kind: kind, What: what, Message: err.Error()}
}
