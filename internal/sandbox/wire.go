package sandbox

import (
	"crypto/rand"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/twmb/franz-go/pkg/kmsg"

	"resurge/streams"
)

// encodeSubscription writes what a member joins with.
func encodeSubscription(topics []string, info streams.SubscriptionInfo) ([]byte, error) {
	info.Version, info.LatestSupported = streams.NewestUserdata, streams.NewestUserdata
	data, err := info.Encode()
	if err != nil {
		return nil, fmt.Errorf("encode subscription: %w", err)
	}
	m := kmsg.NewConsumerMemberMetadata()
	m.Version, m.Topics, m.UserData = 1, topics, data
	return m.AppendTo(nil), nil
}

// dormantTasks finds the tasks that left a checkpoint on this host's disk, with
// the sum of their changelog offsets.
func dormantTasks(stateDir, app string) (map[streams.TaskID]int64, error) {
	sums := map[streams.TaskID]int64{}
	root := streams.AppDir(stateDir, app)
	entries, err := os.ReadDir(root)
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		return nil, fmt.Errorf("look for task directories: %w", err)
	}
	for _, e := range entries {
		id, err := streams.ParseTaskID(e.Name())
		if err != nil || !e.IsDir() {
			continue // a file, or not ours
		}
		checkpoint, err := readCheckpoint(filepath.Join(root, e.Name()))
		if err != nil {
			return nil, fmt.Errorf("look for task directories: %w", err)
		}
		if checkpoint == nil {
			continue
		}
		var sum int64
		for _, at := range checkpoint {
			sum += max(at+1, 0)
		}
		sums[id] = sum
	}
	return sums, nil
}

// newProcessID makes a random UUID (version 4).
func newProcessID() streams.ProcessID {
	var id streams.ProcessID
	_, _ = rand.Read(id[:]) // never fails
	id[6] = id[6]&0x0f | 0x40
	id[8] = id[8]&0x3f | 0x80
	return id
}
