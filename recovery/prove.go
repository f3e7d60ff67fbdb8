package recovery

import (
	"bytes"
	"context"
	"encoding/binary"
	"fmt"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"resurge/plans"
	"resurge/streams"
)

const (
	samplePerPartition = 40 // records read from the end of each changelog partition
	sampleKeys         = 60 // keys asked per store

	// A store may be ahead of its changelog for a commit interval (30 s by
	// default at-least-once).
	settleTries = 20
	settlePause = 2 * time.Second
)

// proveState asks the recovered state itself and compares it with what its
// changelogs hold. Each check could fail; what cannot be asked is a skipped
// check and says so.
type proveState struct{}

func (proveState) check(context.Context, *work) (readiness, error) { return ready, nil }

// apply waits until the application says that it runs.
func (proveState) apply(ctx context.Context, w *work) error {
	if !w.Application.HasHealth() {
		return nil
	}
	var last error
	return w.poll(ctx, func() (bool, error) {
		last = w.Application.Health(ctx)
		if last != nil {
			w.progress(Event{Message: "waiting for the application's health endpoint: " + last.Error()})
		}
		return last == nil, ctx.Err()
	}, func() error {
		return refuse(OutcomeUnverified, "look at the application's own log, then resume", "the application does not say that it is healthy: %s", last)
	})
}

func (proveState) verify(ctx context.Context, w *work) ([]Evidence, error) {
	p := &prover{w: w}
	if err := p.run(ctx); err != nil {
		return p.evidence, err
	}
	for _, e := range p.evidence {
		if e.Result == ResultFailed {
			return p.evidence, refuse(OutcomeUnverified, "the run is not verified; look at the failed check, then resume to check again", "%s: %s", e.Check, e.Detail)
		}
	}
	return p.evidence, w.phase(PhaseProven)
}

type prover struct {
	w        *work
	evidence []Evidence
}

func (p *prover) note(check string, r Result, format string, args ...any) {
	p.evidence = append(p.evidence, Evidence{Check: check, Result: r, Detail: fmt.Sprintf(format, args...)})
}

func (p *prover) run(ctx context.Context) error {
	if p.w.Application.HasHealth() {
		p.note("health", ResultOK, "every instance says that it runs")
	} else {
		p.note("health", ResultSkipped, "no health endpoint is configured")
	}
	if err := p.shapes(ctx); err != nil {
		return err
	}
	names, err := ownTopics(ctx, p.w, streams.RoleChangelog)
	if err != nil {
		return err
	}
	var asked int
	for _, name := range names {
		n, err := p.store(ctx, name)
		if err != nil {
			return err
		}
		asked += n
	}
	if asked == 0 && p.w.Application.CanQuery(false) && p.replayed() > 0 {
		p.note("state answers", ResultSkipped, "no key could be asked")
	}
	return nil
}

// replayed is the number of offsets that the plan made the application read.
func (p *prover) replayed() int64 {
	var n int64
	for _, t := range p.w.x.run.Target {
		n += t.Offset
	}
	for _, s := range p.w.plan().Steps {
		if s.Kind == plans.CommitOffsets {
			for _, c := range s.Offsets {
				if c.After != nil {
					n -= *c.After
				}
			}
		}
	}
	return n
}

// shapes compares the internal topics that the application made anew with those
// that were deleted.
func (p *prover) shapes(ctx context.Context) error {
	want := deleted(p.w.plan())
	if len(want) == 0 {
		return nil
	}
	made, filled, held := 0, int64(0), false
	for _, t := range want {
		now, err := oneTopic(ctx, p.w, t.Name)
		if err != nil {
			return err
		}
		held = held || t.Role == streams.RoleChangelog && t.Records > 0
		if now == nil {
			continue
		}
		if wrong := otherShape(t, *now); wrong != "" {
			p.note("internal topics", ResultFailed, "%s", wrong)
			return nil
		}
		made++
		if t.Role == streams.RoleChangelog {
			n, err := p.records(ctx, t.Name)
			if err != nil {
				return err
			}
			filled += n
		}
	}
	switch {
	case held && filled == 0 && p.replayed() > 0:
		p.note("internal topics", ResultFailed, "%d records were replayed and no changelog holds any", p.replayed())
	case made == len(want):
		p.note("internal topics", ResultOK, "%d made anew with the same partition counts; changelogs hold %d offsets", made, filled)
	default:
		p.note("internal topics", ResultOK, "%d of %d made anew with the same partition counts (an application makes only those that its topology names); changelogs hold %d offsets", made, len(want), filled)
	}
	return nil
}

func deleted(p plans.Plan) []plans.Topic {
	var out []plans.Topic
	for _, s := range p.Steps {
		if s.Kind == plans.DeleteTopic {
			out = append(out, s.Topics[0])
		}
	}
	return out
}

func otherShape(then plans.Topic, now streams.Topic) string {
	switch {
	case now.ID == then.ID && !then.ID.IsZero():
		return then.Name + " still is the deleted generation"
	case len(now.Partitions) != then.Partitions:
		return fmt.Sprintf("%s has %d partitions, it had %d", then.Name, len(now.Partitions), then.Partitions)
	}
	return ""
}

func (p *prover) records(ctx context.Context, topic string) (int64, error) {
	marks, err := p.w.Reader.Watermarks(ctx, topic)
	if err != nil {
		return 0, fmt.Errorf("read ends of %s: %w", streams.Quote(topic), err)
	}
	var n int64
	for _, m := range marks {
		if m.Fault != nil {
			return 0, m.Fault
		}
		n += m.End - m.Start
	}
	return n, nil
}

// store asks for keys of one store and compares the answers with the newest
// values in its changelog. It returns how many keys were asked.
func (p *prover) store(ctx context.Context, changelog string) (int, error) {
	internal, ok := streams.ParseInternal(p.w.app(), changelog)
	there, err := existingTopics(ctx, p.w, []string{changelog})
	switch {
	case err != nil || len(there) == 0:
		return 0, err
	case !ok:
		p.note("changelog "+changelog, ResultSkipped, "its name does not tell its store: it is under another prefix")
		return 0, nil
	}
	check := "store " + internal.Name + " answers"
	configs, err := p.w.Reader.TopicConfigs(ctx, changelog)
	if err != nil {
		return 0, fmt.Errorf("read configs of %s: %w", streams.Quote(changelog), err)
	}
	kind, _ := streams.GuessStoreKind(internal, configs[changelog].Plain())
	windowed := kind == streams.StoreWindow
	switch {
	case !p.w.Application.CanQuery(windowed):
		p.note(check, ResultSkipped, "no query endpoint is configured for %s stores", kind)
		return 0, nil
	case kind != streams.StoreKeyValue && !windowed:
		p.note(check, ResultSkipped, "%s stores cannot be asked by key", kind)
		return 0, nil
	}
	records, err := p.w.Reader.Latest(ctx, changelog, samplePerPartition)
	if err != nil {
		return 0, fmt.Errorf("read the end of %s: %w", streams.Quote(changelog), err)
	}
	return p.ask(ctx, check, internal.Name, newest(records), windowed)
}

// newest keeps the last value of each key, in the order of first sight.
func newest(records []streams.Record) []streams.Record {
	at := map[string]int{}
	var out []streams.Record
	for _, r := range records {
		k := fmt.Sprintf("%d/%s", r.Partition, r.Key)
		if i, ok := at[k]; ok {
			out[i] = r
			continue
		}
		at[k] = len(out)
		out = append(out, r)
	}
	return out
}

func (p *prover) ask(ctx context.Context, check, store string, records []streams.Record, windowed bool) (int, error) {
	asked, skipped := 0, 0
	for _, r := range records {
		if asked >= sampleKeys {
			break
		}
		key, start, ok := queryKey(r.Key, windowed)
		if !ok || r.Value == nil {
			skipped++
			continue
		}
		p.w.progress(Event{Message: "asking " + store, Done: int64(asked), Total: int64(min(len(records), sampleKeys)), Unit: "keys"})
		got, err := p.w.Application.Query(ctx, store, key, start)
		if err != nil {
			return asked, refuse(OutcomeUnverified, "check the query endpoint in the configuration and the application's log, then resume", "ask store %s: %s", streams.Quote(store), err)
		}
		asked++
		wrong, err := p.settle(ctx, store, r, key, start, got)
		if err != nil {
			return asked, err
		}
		if wrong != "" {
			p.note(check, ResultFailed, "%s", wrong)
			return asked, nil
		}
	}
	switch {
	case asked == 0 && len(records) == 0:
		p.note(check, ResultSkipped, "its changelog holds no record")
	case asked == 0:
		p.note(check, ResultSkipped, "none of its %d newest keys is text or number", skipped)
	default:
		p.note(check, ResultOK, "%d of %d sampled keys answer with the value of the changelog", asked, asked)
	}
	return asked, nil
}

// settle compares an answer with its changelog record. A live application may be
// ahead of the record that was read, or of its changelog until its next commit:
// then both are read again for a while before they are said to differ.
func (p *prover) settle(ctx context.Context, store string, r streams.Record, key string, start *int64, got Answer) (wrong string, err error) {
	for range settleTries {
		if wrong = disagrees(got, r, key); wrong == "" {
			return "", nil
		}
		if err := pause(ctx, settlePause); err != nil {
			return wrong, err
		}
		records, err := p.w.Reader.Latest(ctx, streams.ChangelogTopic(p.w.app(), store), samplePerPartition)
		if err != nil {
			return wrong, fmt.Errorf("read the changelog of %s again: %w", streams.Quote(store), err)
		}
		for _, n := range newest(records) {
			if n.Partition == r.Partition && bytes.Equal(n.Key, r.Key) {
				r = n
			}
		}
		if got, err = p.w.Application.Query(ctx, store, key, start); err != nil {
			return wrong, refuse(OutcomeUnverified, "check the application's log, then resume", "ask store %s again: %s", streams.Quote(store), err)
		}
	}
	return disagrees(got, r, key), nil
}

func disagrees(got Answer, r streams.Record, key string) string {
	want := candidates(r.Value)
	switch {
	case r.Value == nil:
		if got.Found {
			return fmt.Sprintf("key %s is deleted in the changelog and answers %s", streams.Quote(key), streams.Quote(got.Value))
		}
		return ""
	case !got.Found:
		return fmt.Sprintf("key %s is in the changelog and the application does not know it", streams.Quote(key))
	case len(want) == 0:
		return ""
	}
	for _, v := range want {
		if sameValue(v, got.Value) {
			return ""
		}
	}
	return fmt.Sprintf("key %s answers %s, its changelog says %s", streams.Quote(key), streams.Quote(got.Value), streams.Quote(strings.Join(want, " or ")))
}

func sameValue(want, got string) bool {
	if want == got || strconv.Quote(want) == got {
		return true
	}
	a, errA := strconv.ParseFloat(want, 64)
	b, errB := strconv.ParseFloat(got, 64)
	return errA == nil && errB == nil && a == b
}

// queryKey turns a changelog key into what a query endpoint takes.
func queryKey(raw []byte, windowed bool) (key string, start *int64, ok bool) {
	if windowed {
		w, err := streams.DecodeWindowKey(raw)
		if err != nil {
			return "", nil, false
		}
		raw, start = w.Key, &w.StartMillis
	}
	key, ok = printable(raw)
	if !ok && len(raw) == 8 {
		key, ok = strconv.FormatInt(int64(binary.BigEndian.Uint64(raw)), 10), true
	}
	return key, start, ok
}

// candidates are the values that the bytes may stand for with the usual serdes:
// text, and big-endian numbers of Kafka's LongSerializer and IntegerSerializer.
func candidates(v []byte) []string {
	var out []string
	if s, ok := printable(v); ok {
		out = append(out, s)
	}
	switch len(v) {
	case 8:
		out = append(out, strconv.FormatInt(int64(binary.BigEndian.Uint64(v)), 10))
	case 4:
		out = append(out, strconv.FormatInt(int64(int32(binary.BigEndian.Uint32(v))), 10))
	}
	return out
}

func printable(b []byte) (string, bool) {
	if len(b) == 0 || !utf8.Valid(b) {
		return "", false
	}
	for _, r := range string(b) {
		if !strconv.IsPrint(r) {
			return "", false
		}
	}
	return string(b), true
}
