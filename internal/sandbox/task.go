package sandbox

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kgo"

	"resurge/streams"
)

// checkpointEvery is how many changelog offsets an at-least-once task adds before
// it writes its checkpoint again (OFFSET_DELTA_THRESHOLD_FOR_CHECKPOINT).
const checkpointEvery = 10_000

// task is one task of the topology: the state and the progress of one partition
// number of one subtopology. The stream thread owns it.
type task struct {
	id      streams.TaskID
	dir     string
	sources []streams.TopicPartition
	stores  []*store

	repartitions int32 // partitions of the repartition topic
	outputs      int32 // partitions of the output topic

	// times is the stream time of each source partition, -1 before any record.
	times map[streams.TopicPartition]int64
	// progress is the next offset of the partitions processed since the last
	// commit.
	progress map[streams.TopicPartition]int64
	// checkpointed is the sum of changelog offsets when the checkpoint was last
	// written.
	checkpointed int64
}

// openTask loads the task from its directory.
func openTask(t topology, stateDir string, id streams.TaskID, sources []streams.TopicPartition) (*task, error) {
	tk := &task{
		id: id, dir: streams.TaskDir(stateDir, t.app, id), sources: sources,
		times:    map[streams.TopicPartition]int64{},
		progress: map[streams.TopicPartition]int64{},
	}
	if err := os.MkdirAll(tk.dir, 0o700); err != nil {
		return nil, fmt.Errorf("open task %s: %w", id, err)
	}
	checkpoint, err := readCheckpoint(tk.dir)
	if err != nil {
		return nil, fmt.Errorf("open task %s: %w", id, err)
	}
	for _, spec := range t.stores(id.Subtopology) {
		s, err := openStore(tk.dir, spec)
		if err != nil {
			return nil, fmt.Errorf("open task %s: %w", id, err)
		}
		if at, ok := checkpoint[tk.changelogOf(s)]; ok {
			s.applied.Store(at)
		}
		tk.stores = append(tk.stores, s)
	}
	for _, tp := range sources {
		tk.times[tp] = -1
	}
	tk.checkpointed = tk.offsetSum()
	return tk, nil
}

func (tk *task) store(name string) *store {
	for _, s := range tk.stores {
		if s.spec.name == name {
			return s
		}
	}
	return nil
}

func (tk *task) changelogOf(s *store) streams.TopicPartition {
	return streams.TopicPartition{Topic: s.spec.topic, Partition: tk.id.Partition}
}

// changelog is the record that logs a row.
func (tk *task) changelog(s *store, key []byte, r row) *kgo.Record {
	return &kgo.Record{
		Topic: s.spec.topic, Partition: tk.id.Partition,
		Key: key, Value: r.value, Timestamp: time.UnixMilli(r.ts),
	}
}

// resume takes up the position that was committed for a source partition.
func (tk *task) resume(tp streams.TopicPartition, committed kadm.Offset) {
	if m, err := streams.DecodeOffsetMetadata(committed.Metadata); err == nil {
		tk.times[tp] = m.PartitionTime
	}
}

// done notes that a record has been processed.
func (tk *task) done(r *kgo.Record) {
	tp := streams.TopicPartition{Topic: r.Topic, Partition: r.Partition}
	tk.progress[tp] = r.Offset + 1
	tk.times[tp] = max(tk.times[tp], r.Timestamp.UnixMilli())
}

// commits are the offsets to commit, with Streams' metadata.
func (tk *task) commits(into map[streams.TopicPartition]kadm.Offset) {
	for tp, next := range tk.progress {
		into[tp] = kadm.Offset{
			Topic: tp.Topic, Partition: tp.Partition, At: next, LeaderEpoch: -1,
			Metadata: streams.OffsetMetadata{Magic: 2, PartitionTime: tk.times[tp]}.Encode(),
		}
	}
}

func (tk *task) flush() error {
	for _, s := range tk.stores {
		if err := s.flush(); err != nil {
			return fmt.Errorf("flush task %s: %w", tk.id, err)
		}
	}
	return nil
}

// offsetSum adds up the next changelog offsets; unknown ones count as 0.
func (tk *task) offsetSum() int64 {
	var sum int64
	for _, s := range tk.stores {
		sum += max(s.applied.Load()+1, 0)
	}
	return sum
}

// checkpoint writes the checkpoint when enough was added, or when told to.
func (tk *task) checkpoint(force bool) error {
	sum := tk.offsetSum()
	if !force && sum-tk.checkpointed < checkpointEvery {
		return nil
	}
	offsets := map[streams.TopicPartition]int64{}
	for _, s := range tk.stores {
		if at := s.applied.Load(); at >= 0 {
			offsets[tk.changelogOf(s)] = at
		}
	}
	path := filepath.Join(tk.dir, checkpointFile)
	if err := os.WriteFile(path+".tmp", streams.EncodeCheckpoint(offsets), 0o600); err != nil {
		return fmt.Errorf("write checkpoint of task %s: %w", tk.id, err)
	}
	if err := os.Rename(path+".tmp", path); err != nil {
		return fmt.Errorf("write checkpoint of task %s: %w", tk.id, err)
	}
	tk.checkpointed = sum
	return nil
}

const checkpointFile = ".checkpoint"

// readCheckpoint returns nil when there is none.
func readCheckpoint(dir string) (map[streams.TopicPartition]int64, error) {
	b, err := os.ReadFile(filepath.Join(dir, checkpointFile))
	if errors.Is(err, os.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	return streams.DecodeCheckpoint(bytes.NewReader(b))
}
