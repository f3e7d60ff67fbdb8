package recovery

import (
	"context"
	"fmt"
	"maps"
	"slices"

	"resurge/plans"
	"resurge/streams"
)

// awaitTransactions waits until nothing of the application is undecided: a
// transaction that commits later would overwrite the offsets (KIP-447).
type awaitTransactions struct{}

func (awaitTransactions) check(context.Context, *work) (readiness, error) { return ready, nil }

func (awaitTransactions) apply(ctx context.Context, w *work) error {
	var open []streams.Transaction
	var undecided string
	return w.poll(ctx, func() (bool, error) {
		var err error
		open, err = ownTransactions(ctx, w)
		if streams.IsFault(err, streams.FaultUnsupported) {
			err = nil // then only the logs tell
		}
		if err == nil && len(open) > 0 {
			w.progress(Event{Message: fmt.Sprintf("%d transactions are open, the oldest of %s", len(open), streams.Quote(open[0].TransactionalID))})
			return false, nil
		}
		if err == nil {
			undecided, err = w.undecided(ctx)
		}
		if undecided != "" {
			w.progress(Event{Message: streams.Quote(undecided) + " holds undecided records"})
		}
		return err == nil && undecided == "", err
	}, func() error {
		if len(open) == 0 {
			return undecidedError(undecided)
		}
		return refuse(OutcomeBlocked, "kafka-transactions.sh describe and abort shows and ends a hanging transaction",
			"transaction %s is still open (%s)", streams.Quote(open[0].TransactionalID), streams.Quote(open[0].State))
	})
}

// undecided is an internal topic of the plan that holds undecided records: the
// application alone writes it, so a transaction of its is open, also where the
// principal may not see transactional IDs and gets a list without it.
func (w *work) undecided(ctx context.Context) (string, error) {
	var names []string
	for _, s := range w.plan().Steps {
		if s.Kind == plans.DeleteTopic {
			names = append(names, s.Topics[0].Name)
		}
	}
	if len(names) == 0 {
		return "", nil
	}
	marks, err := w.Reader.Watermarks(ctx, names...)
	if err != nil {
		return "", fmt.Errorf("read ends of %d internal topics: %w", len(names), err)
	}
	for _, tp := range slices.SortedFunc(maps.Keys(marks), streams.TopicPartition.Compare) {
		switch m := marks[tp]; {
		case m.Fault != nil && m.Fault.Kind == streams.FaultNotFound: // deleted already
		case m.Fault != nil:
			return "", fmt.Errorf("read ends of %s: %w", streams.Quote(tp.String()), m.Fault)
		case m.Stable < m.End:
			return tp.String(), nil
		}
	}
	return "", nil
}

func undecidedError(partition string) error {
	return refuse(OutcomeBlocked, "kafka-transactions.sh find-hanging shows it; this principal may need DESCRIBE on its transactional IDs",
		"partition %s holds undecided records: a transaction is open that the list does not show", streams.Quote(partition))
}

func ownTransactions(ctx context.Context, w *work) ([]streams.Transaction, error) {
	all, err := w.Reader.OpenTransactions(ctx, w.app()+"-")
	if err != nil {
		return nil, fmt.Errorf("list open transactions: %w", err)
	}
	var own []streams.Transaction
	for _, t := range all {
		if streams.TransactionOwner(t.TransactionalID) == w.app() {
			own = append(own, t)
		}
	}
	return own, nil
}

func (awaitTransactions) verify(ctx context.Context, w *work) ([]Evidence, error) {
	open, err := ownTransactions(ctx, w)
	old := streams.IsFault(err, streams.FaultUnsupported)
	switch {
	case err != nil && !old:
		return nil, err
	case len(open) > 0:
		return nil, refuse(OutcomeBlocked, "something still runs under this application ID", "transaction %s is open again", streams.Quote(open[0].TransactionalID))
	}
	undecided, err := w.undecided(ctx)
	switch {
	case err != nil:
		return nil, err
	case undecided != "":
		return nil, undecidedError(undecided)
	case old:
		return []Evidence{{Check: "no open transaction", Result: ResultSkipped, Detail: "the broker cannot list transactions (older than 3.0); no internal topic holds undecided records"}}, nil
	}
	return []Evidence{{Check: "no open transaction", Result: ResultOK, Detail: "no transaction of " + streams.Quote(w.app()) + " is undecided"}}, nil
}
