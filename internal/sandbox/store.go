package sandbox

import (
	"bufio"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"

	"resurge/streams"
)

// row is a value with its timestamp, as Streams' timestamped stores keep it.
type row struct {
	ts    int64
	value []byte
}

// store is the local state of one store of one task. Rows live in memory; the
// log file holds what was flushed, and only that survives a crash.
//
// Rows are read by the query endpoint while the stream thread writes.
type store struct {
	spec storeSpec
	path string
	// applied is the changelog offset of the last record in the rows. The
	// producer's acknowledgements move it.
	applied atomic.Int64

	mu      sync.RWMutex // guards rows and pending
	rows    map[string]row
	pending []byte
}

// openStore loads what is on disk of a store, or starts an empty one.
func openStore(taskDir string, spec storeSpec) (*store, error) {
	s := &store{spec: spec, path: spec.file(taskDir), rows: map[string]row{}}
	s.applied.Store(streams.CheckpointUnknown)
	if err := os.MkdirAll(filepath.Dir(s.path), 0o700); err != nil {
		return nil, fmt.Errorf("create store directory: %w", err)
	}
	entries, torn, err := s.load()
	if err != nil {
		return nil, fmt.Errorf("load store %s: %w", spec.name, err)
	}
	if torn || entries > 2*len(s.rows)+1000 {
		if err := s.rewrite(); err != nil {
			return nil, fmt.Errorf("compact store %s: %w", spec.name, err)
		}
	}
	return s, nil
}

// load applies the log file. A torn last entry is what a crash leaves: it ends
// the log, and must go before more is written.
func (s *store) load() (entries int, torn bool, err error) {
	f, err := os.Open(s.path)
	if errors.Is(err, os.ErrNotExist) {
		return 0, false, nil
	}
	if err != nil {
		return 0, false, err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	in := bufio.NewReaderSize(f, 64<<10)
	for {
		key, r, err := readEntry(in)
		switch {
		case errors.Is(err, io.EOF):
			return entries, false, nil
		case errors.Is(err, io.ErrUnexpectedEOF):
			return entries, true, nil
		case err != nil:
			return entries, false, err
		case r.value == nil:
			delete(s.rows, key)
		default:
			s.rows[key] = r
		}
		entries++
	}
}

func (s *store) rewrite() error {
	var b []byte
	for k, r := range s.rows {
		b = appendEntry(b, k, r)
	}
	tmp := s.path + ".tmp"
	if err := os.WriteFile(tmp, b, 0o600); err != nil {
		return err
	}
	return os.Rename(tmp, s.path)
}

// put sets a row, or removes it when the value is nil.
func (s *store) put(key string, r row) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.putLocked(key, r)
}

func (s *store) putLocked(key string, r row) {
	if r.value == nil {
		delete(s.rows, key)
	} else {
		s.rows[key] = r
	}
	s.pending = appendEntry(s.pending, key, r)
}

// add adds delta to the counter at key and returns the new row. Its timestamp is
// the largest of the records counted, as in Streams' aggregations.
func (s *store) add(key string, delta, ts int64) row {
	s.mu.Lock()
	defer s.mu.Unlock()
	old, ok := s.rows[key]
	r := row{ts: ts, value: binary.BigEndian.AppendUint64(nil, uint64(old.counter()+delta))}
	if ok {
		r.ts = max(ts, old.ts)
	}
	s.putLocked(key, r)
	return r
}

// counter reads the value as the int64 that Streams' Long serde writes.
func (r row) counter() int64 {
	if len(r.value) != 8 {
		return 0
	}
	return int64(binary.BigEndian.Uint64(r.value))
}

func (s *store) get(key string) (row, bool) {
	s.mu.RLock()
	defer s.mu.RUnlock()
	r, ok := s.rows[key]
	return r, ok
}

// sum adds up all counters.
func (s *store) sum() (total int64, keys int) {
	s.mu.RLock()
	defer s.mu.RUnlock()
	for _, r := range s.rows {
		total += r.counter()
	}
	return total, len(s.rows)
}

// flush brings the rows to disk.
func (s *store) flush() (err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.pending) == 0 {
		return nil
	}
	f, err := os.OpenFile(s.path, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		return fmt.Errorf("flush store %s: %w", s.spec.name, err)
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	if _, err := f.Write(s.pending); err != nil {
		return fmt.Errorf("flush store %s: %w", s.spec.name, err)
	}
	s.pending = s.pending[:0]
	return nil
}

// appendEntry writes key length, key, timestamp, value length + 1 (0: removed)
// and value.
func appendEntry(b []byte, key string, r row) []byte {
	b = binary.AppendUvarint(b, uint64(len(key)))
	b = append(b, key...)
	b = binary.BigEndian.AppendUint64(b, uint64(r.ts))
	if r.value == nil {
		return binary.AppendUvarint(b, 0)
	}
	b = binary.AppendUvarint(b, uint64(len(r.value))+1)
	return append(b, r.value...)
}

// readEntry returns io.EOF between entries and io.ErrUnexpectedEOF within one.
func readEntry(in *bufio.Reader) (string, row, error) {
	if _, err := in.Peek(1); err != nil {
		return "", row{}, err
	}
	key, err := readSized(in, 0)
	var ts [8]byte
	if err == nil {
		_, err = io.ReadFull(in, ts[:])
	}
	var value []byte
	if err == nil {
		value, err = readSized(in, 1)
	}
	if errors.Is(err, io.EOF) {
		err = io.ErrUnexpectedEOF
	}
	return string(key), row{ts: int64(binary.BigEndian.Uint64(ts[:])), value: value}, err
}

// maxEntry bounds one key or value: a longer one means a damaged file.
const maxEntry = 16 << 20

// readSized reads a length, stored with the given bias, and as many bytes. With
// a bias, length 0 stands for nil.
func readSized(in *bufio.Reader, bias uint64) ([]byte, error) {
	n, err := binary.ReadUvarint(in)
	if err != nil {
		return nil, err
	}
	if n < bias {
		return nil, nil
	}
	if n -= bias; n > maxEntry {
		return nil, fmt.Errorf("entry of %d bytes: the file is damaged", n)
	}
	b := make([]byte, n)
	_, err = io.ReadFull(in, b)
	return b, err
}
