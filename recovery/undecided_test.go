package recovery_test

import (
	"errors"
	"io"
	"strings"
	"testing"

	"github.com/twmb/franz-go/pkg/kgo"

	"resurge/plans"
	"resurge/recovery"
)

// TestB17_ATransactionThatTheListDoesNotShow: a principal that may not see a
// transactional ID gets a list without it. The log of an internal topic tells that
// something is undecided all the same, and nothing is changed before it is over.
func TestB17_ATransactionThatTheListDoesNotShow(t *testing.T) {
	r := newRig(t, "state-lost")
	p := r.plan(func(q *recovery.Request) { q.NoStart = true })
	var victim string
	for _, s := range p.Steps {
		if s.Kind == plans.DeleteTopic {
			victim = s.Topics[0].Name
		}
	}
	cl, err := kgo.NewClient(kgo.SeedBrokers(r.box.Bootstrap()...), kgo.TransactionalID("not listed under the application's prefix"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(cl.Close)
	if err := cl.BeginTransaction(); err != nil {
		t.Fatal(err)
	}
	if err := cl.ProduceSync(t.Context(), &kgo.Record{Topic: victim, Key: []byte("k"), Value: []byte("v")}).FirstErr(); err != nil {
		t.Fatal(err)
	}
	log := recovery.NewEventLog()
	x := recovery.NewExecutor(r.ports(), &crashing{left: -1}, log, nil)
	if err := x.Begin("run", header(p)); err != nil {
		t.Fatal(err)
	}
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		waited := false
		var at recovery.Cursor
		for {
			events, next, err := log.Next(t.Context(), at)
			if errors.Is(err, io.EOF) || t.Context().Err() != nil {
				if !waited {
					t.Error("the run did not wait for the transaction")
				}
				return
			}
			for _, e := range events {
				if !waited && strings.Contains(e.Message, "holds undecided records") {
					waited = true
					if err := cl.EndTransaction(t.Context(), kgo.TryAbort); err != nil {
						t.Error(err)
					}
				}
			}
			at = next
		}
	}()
	outcome, err := x.Execute(t.Context())
	log.Close()
	<-ended
	if err != nil || outcome != recovery.OutcomeVerified {
		t.Fatalf("%s, %v: %+v", outcome, err, x.Run().Problem)
	}
	r.isReset(p)
}
