package recovery

import (
	"context"
	"io"
	"sync"
)

// EventLog hands events to any number of readers. Durable events are kept
// whole; of progress only the newest of each step. Publishing never blocks, and
// a slow reader loses nothing but superseded progress.
type EventLog struct {
	mu sync.Mutex
	// guarded by mu:
	events   []Event          // durable, in order
	progress map[string]Event // newest per step
	version  uint64           // grows with every publication
	seen     map[string]uint64
	changed  chan struct{}
	closed   bool
}

// NewEventLog returns an empty log.
func NewEventLog() *EventLog {
	return &EventLog{progress: map[string]Event{}, seen: map[string]uint64{}, changed: make(chan struct{})}
}

// Cursor is a reader's place in an [EventLog]. The zero Cursor is the start.
type Cursor struct {
	durable int
	version uint64
}

// Publish adds an event.
func (l *EventLog) Publish(e Event) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.closed {
		return
	}
	l.version++
	if e.Ephemeral() {
		l.progress[e.Step] = e
		l.seen[e.Step] = l.version
	} else {
		l.events = append(l.events, e)
		if e.Type == StepVerified || e.Type == StepSkipped || e.Type == StepFailed {
			delete(l.progress, e.Step)
			delete(l.seen, e.Step)
		}
	}
	close(l.changed)
	l.changed = make(chan struct{})
}

// Close says that nothing more will come. Readers get what is left, then EOF.
func (l *EventLog) Close() {
	l.mu.Lock()
	defer l.mu.Unlock()
	if !l.closed {
		l.closed = true
		close(l.changed)
	}
}

// Next waits for events after the cursor and returns them with the new cursor.
// It returns io.EOF when the log is closed and the reader has seen everything,
// and the context's error when that ends first.
func (l *EventLog) Next(ctx context.Context, c Cursor) ([]Event, Cursor, error) {
	for {
		events, next, changed, closed := l.after(c)
		if len(events) > 0 {
			return events, next, nil
		}
		if closed {
			return nil, c, io.EOF
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return nil, c, context.Cause(ctx)
		}
	}
}

func (l *EventLog) after(c Cursor) ([]Event, Cursor, <-chan struct{}, bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	var out []Event
	if c.durable < len(l.events) {
		out = append(out, l.events[c.durable:]...)
	}
	for step, e := range l.progress {
		if l.seen[step] > c.version {
			out = append(out, e)
		}
	}
	return out, Cursor{durable: len(l.events), version: l.version}, l.changed, l.closed
}
