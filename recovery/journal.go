package recovery

import (
	"bufio"
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
)

// ErrCorrupt says that a journal is damaged before its last line.
var ErrCorrupt = errors.New("journal is damaged")

// maxLine bounds one journal line; the header holds a whole plan.
const maxLine = 64 << 20

// Journal is the durable record of one run: JSON Lines, one event a line, each
// with the digest of the line before. Appending syncs. It is used by one
// goroutine.
type Journal struct {
	f    *os.File
	prev string
	seq  uint64
	// failed keeps the first write error: after it nothing is appended, since
	// the file's end is not known any more.
	failed error
}

// CreateJournal makes a new journal file; an existing one is an error.
func CreateJournal(path string) (*Journal, error) {
	f, err := os.OpenFile(path, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if err != nil {
		return nil, fmt.Errorf("create journal: %w", err)
	}
	return &Journal{f: f}, nil
}

// OpenJournal opens a journal to go on with it and returns its events. A torn
// last line, which a crash leaves, is cut off; it was never shown to anyone.
// Damage before it is [ErrCorrupt].
func OpenJournal(path string) (*Journal, []Event, error) {
	f, err := os.OpenFile(path, os.O_RDWR, 0)
	if err != nil {
		return nil, nil, fmt.Errorf("open journal: %w", err)
	}
	events, good, prev, err := scanJournal(f)
	if err == nil {
		err = cut(f, good)
	}
	if err != nil {
		return nil, nil, errors.Join(fmt.Errorf("read journal %s: %w", path, err), f.Close())
	}
	j := &Journal{f: f, prev: prev}
	if n := len(events); n > 0 {
		j.seq = events[n-1].Seq
	}
	return j, events, nil
}

func cut(f *os.File, good int64) error {
	if err := f.Truncate(good); err != nil {
		return err
	}
	_, err := f.Seek(good, io.SeekStart)
	return err
}

// ReadJournal reads the events of a journal without changing it.
func ReadJournal(r io.Reader) ([]Event, error) {
	events, _, _, err := scanJournal(r)
	return events, err
}

// scanJournal returns the events, the length of the good part and the digest of
// its last line.
func scanJournal(r io.Reader) (events []Event, good int64, prev string, err error) {
	in := bufio.NewReaderSize(r, 64<<10)
	for {
		line, readErr := readLine(in)
		if readErr != nil && !errors.Is(readErr, io.EOF) {
			return nil, 0, "", readErr
		}
		if !bytes.HasSuffix(line, []byte("\n")) {
			return events, good, prev, nil // torn or empty: the crash was in the middle of it
		}
		var e Event
		if err := json.Unmarshal(line, &e); err != nil {
			return nil, 0, "", fmt.Errorf("line %d: %w: %w", len(events)+1, ErrCorrupt, err)
		}
		if e.Prev != prev {
			return nil, 0, "", fmt.Errorf("line %d: %w: it does not follow the line before", len(events)+1, ErrCorrupt)
		}
		if want := uint64(len(events) + 1); e.Seq != want {
			return nil, 0, "", fmt.Errorf("line %d: %w: sequence %d", len(events)+1, ErrCorrupt, e.Seq)
		}
		events = append(events, e)
		good += int64(len(line))
		prev = digest(line)
	}
}

func readLine(in *bufio.Reader) ([]byte, error) {
	var line []byte
	for {
		part, err := in.ReadSlice('\n')
		line = append(line, part...)
		switch {
		case errors.Is(err, bufio.ErrBufferFull) && len(line) < maxLine:
			continue
		case errors.Is(err, bufio.ErrBufferFull):
			return nil, fmt.Errorf("%w: a line of more than %d bytes", ErrCorrupt, maxLine)
		}
		return line, err
	}
}

func digest(line []byte) string {
	sum := sha256.Sum256(line)
	return hex.EncodeToString(sum[:])
}

// Append numbers the event, chains it and writes it to disk before it returns.
// After an error the journal takes nothing more: the run must stop.
func (j *Journal) Append(e Event) (Event, error) {
	if j.failed != nil {
		return e, j.failed
	}
	e.Seq, e.Prev = j.seq+1, j.prev
	line, err := json.Marshal(e)
	if err != nil {
		return e, fmt.Errorf("encode journal line: %w", err)
	}
	line = append(line, '\n')
	if _, err := j.f.Write(line); err != nil {
		j.failed = fmt.Errorf("write journal: %w", err)
		return e, j.failed
	}
	if err := j.f.Sync(); err != nil {
		j.failed = fmt.Errorf("sync journal: %w", err)
		return e, j.failed
	}
	j.seq, j.prev = e.Seq, digest(line)
	return e, nil
}

// Close closes the file.
func (j *Journal) Close() error { return j.f.Close() }

// Fold replays events into a run.
func Fold(events []Event) Run {
	var r Run
	for _, e := range events {
		r = r.Apply(e)
	}
	return r
}
