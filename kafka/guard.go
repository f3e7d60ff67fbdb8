package kafka

import (
	"encoding/binary"
	"errors"
	"fmt"
	"net"
	"sync"

	"github.com/twmb/franz-go/pkg/kmsg"
)

// readKeys are the requests that leave a cluster as it is. Metadata never asks
// for topics to be created: nothing here sets AllowAutoTopicCreation.
var readKeys = map[kmsg.Key]bool{
	kmsg.ApiVersions: true, kmsg.SASLHandshake: true, kmsg.SASLAuthenticate: true,
	kmsg.Metadata: true, kmsg.DescribeConfigs: true, kmsg.ListOffsets: true, kmsg.OffsetForLeaderEpoch: true, kmsg.Fetch: true,
	kmsg.FindCoordinator: true, kmsg.ListGroups: true, kmsg.DescribeGroups: true, kmsg.ConsumerGroupDescribe: true,
	kmsg.StreamsGroupDescribe: true, kmsg.ShareGroupDescribe: true, kmsg.OffsetFetch: true,
	kmsg.ListTransactions: true, kmsg.DescribeTransactions: true, kmsg.DescribeProducers: true, kmsg.DescribeCluster: true,
}

var errWriteRefused = errors.New("refused on a read-only connection")

// readOnlyConn refuses to send any request that is not a read. It stands below
// everything that makes requests, so that no defect there can write (public
// report B22: a dry run that evicted members). It follows the frames that kgo
// writes: int32 size, int16 API key, the rest.
type readOnlyConn struct {
	net.Conn

	mu     sync.Mutex // guards the rest
	left   int        // bytes left of the request under way
	header []byte     // size and key of the next request, as far as they came
}

const keyedHeader = 6 // size and API key

// Write implements net.Conn.
func (c *readOnlyConn) Write(b []byte) (int, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for rest := b; len(rest) > 0; {
		if c.left > 0 {
			n := min(c.left, len(rest))
			c.left -= n
			rest = rest[n:]
			continue
		}
		n := min(keyedHeader-len(c.header), len(rest))
		c.header = append(c.header, rest[:n]...)
		rest = rest[n:]
		if len(c.header) < keyedHeader {
			break
		}
		size, key := binary.BigEndian.Uint32(c.header), kmsg.Key(binary.BigEndian.Uint16(c.header[4:]))
		if size < 2 || !readKeys[key] {
			return 0, fmt.Errorf("send %s request: %w", key.Name(), errWriteRefused)
		}
		c.left, c.header = int(size)-2, c.header[:0]
	}
	return c.Conn.Write(b)
}
