package recovery

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"resurge/discovery"
	"resurge/plans"
	"resurge/streams"
)

// positionFor returns the most exact position for a partition: the partition's
// own, then its topic's, then the one for every input; to-earliest without any.
func positionFor(positions []Position, topic string, partition int32) Position {
	best, rank := Position{Mode: ToEarliest}, -1
	for _, p := range positions {
		switch {
		case p.Topic == "" && rank < 0:
			best, rank = p, 0
		case p.Topic == topic && p.Partition == nil && rank < 1:
			best, rank = p, 1
		case p.Topic == topic && p.Partition != nil && *p.Partition == partition:
			best, rank = p, 2
		}
	}
	return best
}

// moveTo resolves a position to the exact offset for one partition. Values
// outside the log are brought to its nearest end with a note, as Kafka's own
// tool does (StreamsResetter), so that no commit is ever out of range.
//
// The metadata is left empty, also where the offset stays: a partition time that
// is later than what another partition of the same task replays would make the
// task drop those records as late (TopicPartitionMetadata).
func moveTo(inv discovery.Inventory, topic string, p discovery.PartitionState, pos Position) (plans.OffsetChange, error) {
	c := plans.OffsetChange{Topic: topic, Partition: p.Partition}
	if p.Fault != nil || p.Start == nil || p.End == nil {
		return c, partitionUnknown(topic, p)
	}
	c.Start, c.End = *p.Start, *p.End
	if p.Committed != nil {
		before := p.Committed.Offset
		c.Before = &before
	}
	offset, note, err := resolve(inv, topic, p, pos)
	if err != nil {
		return c, err
	}
	switch {
	case offset < c.Start:
		note = join(note, fmt.Sprintf("%d is below the log start: the earliest record is taken", offset))
		offset = c.Start
	case offset > c.End:
		note = join(note, fmt.Sprintf("%d is beyond the end: the end is taken", offset))
		offset = c.End
	}
	c.After, c.Note = &offset, note
	return c, nil
}

func partitionUnknown(topic string, p discovery.PartitionState) error {
	name := streams.TopicPartition{Topic: topic, Partition: p.Partition}.String()
	if p.Fault != nil {
		return fmt.Errorf("read ends of %s: %w", streams.Quote(name), p.Fault)
	}
	return refuse(OutcomeBlocked, "check that the partition has a leader", "the ends of partition %s are not known", streams.Quote(name))
}

func join(a, b string) string {
	if a == "" {
		return b
	}
	return a + "; " + b
}

func resolve(inv discovery.Inventory, topic string, p discovery.PartitionState, pos Position) (offset int64, note string, err error) {
	switch pos.Mode {
	case ToEarliest:
		return *p.Start, "", nil
	case ToLatest:
		return *p.End, "", nil
	case ToOffset:
		return pos.Offset, "", nil
	case ShiftBy:
		if p.Committed == nil {
			return *p.End + pos.Offset, "no commit: counted from the end", nil
		}
		return p.Committed.Offset + pos.Offset, "", nil
	case ToDatetime, ByDuration:
		for _, t := range inv.Times {
			if t.Topic == topic && t.Partition == p.Partition && t.At.Equal(pos.At) {
				if !t.Found {
					note = "no record at or after " + pos.At.UTC().Format(time.RFC3339) + ": the end is taken"
				}
				return t.Offset, note, nil
			}
		}
		return 0, "", refuse(OutcomeBlocked, "try again; if it stays, the topic's leader does not answer",
			"the offset of %s at %s was not found out", streams.Quote(topic), pos.At.UTC().Format(time.RFC3339))
	}
	return 0, "", refuse(OutcomeUsage, "", "position %q is not known", string(pos.Mode))
}

// Times returns the moments whose offsets the request needs.
func (r Request) Times() []time.Time {
	var out []time.Time
	seen := map[time.Time]bool{}
	for _, p := range r.Positions {
		if (p.Mode == ToDatetime || p.Mode == ByDuration) && !seen[p.At] {
			seen[p.At] = true
			out = append(out, p.At)
		}
	}
	return out
}

// ParseOffsetsFile reads the CSV of Kafka's reset tools: TOPIC,PARTITION,OFFSET
// a line. Errors name the line. Blank lines are passed over.
func ParseOffsetsFile(text string) ([]Position, error) {
	var out []Position
	seen := map[string]int{}
	for i, line := range strings.Split(text, "\n") {
		line = strings.TrimSpace(line)
		if line == "" {
			continue
		}
		fields := strings.Split(line, ",")
		if len(fields) != 3 {
			return nil, fmt.Errorf("line %d: want TOPIC,PARTITION,OFFSET, got %s", i+1, streams.Quote(line))
		}
		topic := strings.Trim(strings.TrimSpace(fields[0]), `"`)
		partition, err := strconv.ParseInt(strings.TrimSpace(fields[1]), 10, 32)
		if err != nil || partition < 0 || topic == "" {
			return nil, fmt.Errorf("line %d: %s is not a topic and partition", i+1, streams.Quote(fields[0]+","+fields[1]))
		}
		offset, err := strconv.ParseInt(strings.TrimSpace(fields[2]), 10, 64)
		if err != nil || offset < 0 {
			return nil, fmt.Errorf("line %d: %s is not an offset", i+1, streams.Quote(fields[2]))
		}
		key := fmt.Sprintf("%s-%d", topic, partition)
		if first, dup := seen[key]; dup {
			return nil, fmt.Errorf("line %d: partition %s was already given in line %d", i+1, streams.Quote(key), first)
		}
		seen[key] = i + 1
		p := int32(partition)
		out = append(out, Position{Topic: topic, Partition: &p, Mode: ToOffset, Offset: offset, Text: "from file"})
	}
	if len(out) == 0 {
		return nil, fmt.Errorf("the file names no partition")
	}
	return out, nil
}
