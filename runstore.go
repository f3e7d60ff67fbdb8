package main

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/gofrs/flock"

	"resurge/discovery"
	"resurge/plans"
	"resurge/recovery"
)

const (
	journalName = "journal.jsonl"
	planName    = "plan.json"
)

var runIDForm = regexp.MustCompile(`^[0-9]{8}-[0-9]{4}-[0-9a-f]{6}(-[0-9]+)?$`)

// runDir is the directory of one run. It satisfies recovery.Store.
type runDir struct {
	id   string
	path string
}

// newRunDir makes the directory of a new run. The ID is the minute and the
// beginning of the plan's hash, with a number where that is taken.
func newRunDir(p paths, plan plans.Plan, now time.Time) (runDir, error) {
	hash := strings.TrimPrefix(plan.ID, "sha256:")
	base := now.UTC().Format("20060102-1504") + "-" + hash[:6]
	if err := os.MkdirAll(p.Runs, 0o700); err != nil {
		return runDir{}, stateError(err, p.Runs)
	}
	for n := 1; ; n++ {
		d := runDir{id: base}
		if n > 1 {
			d.id = fmt.Sprintf("%s-%d", base, n)
		}
		d.path = filepath.Join(p.Runs, d.id)
		err := os.Mkdir(d.path, 0o700)
		switch {
		case err == nil:
			return d, nil
		case !errors.Is(err, os.ErrExist):
			return runDir{}, stateError(err, d.path)
		}
	}
}

func stateError(err error, path string) error {
	return &recovery.Error{
		Outcome: recovery.OutcomeUsage, Message: "the state directory cannot be used", Err: err,
		Hint: "nothing was changed; make " + path + " writable, or set XDG_STATE_HOME to a directory that is",
	}
}

// openRunDir finds the directory of an earlier run.
func openRunDir(p paths, id string) (runDir, error) {
	d := runDir{id: id, path: filepath.Join(p.Runs, id)}
	if !runIDForm.MatchString(id) {
		return d, usageError("run "+id, errors.New("is not a run ID"), "resurge runs lists the runs")
	}
	if _, err := os.Stat(filepath.Join(d.path, journalName)); err != nil {
		ids, _ := runIDs(p)
		hint := "resurge runs lists the runs"
		if near := discovery.Near(id, ids); len(near) > 0 {
			hint = "did you mean " + near[0] + "? " + hint
		}
		return d, usageError("run "+id, err, hint)
	}
	return d, nil
}

// runIDs lists the runs, newest first.
func runIDs(p paths) ([]string, error) {
	entries, err := os.ReadDir(p.Runs)
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		return nil, fmt.Errorf("list runs: %w", err)
	}
	var ids []string
	for _, e := range entries {
		if e.IsDir() && runIDForm.MatchString(e.Name()) {
			ids = append(ids, e.Name())
		}
	}
	slices.SortFunc(ids, func(a, b string) int { return strings.Compare(b, a) })
	return ids, nil
}

// discard removes the directory of a run that never began.
func (d runDir) discard() error {
	err := errors.Join(os.RemoveAll(filepath.Join(d.path, planName)), os.RemoveAll(d.journal())) //nolint:gosec // the run's own directory
	return errors.Join(err, os.Remove(d.path))
}

func (d runDir) journal() string { return filepath.Join(d.path, journalName) }

// read folds the run's journal without changing it.
func (d runDir) read() (r recovery.Run, err error) {
	f, err := os.Open(d.journal())
	if err != nil {
		return r, fmt.Errorf("open journal: %w", err)
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	events, err := recovery.ReadJournal(f)
	if err != nil {
		return r, fmt.Errorf("read journal %s: %w", d.journal(), err)
	}
	return recovery.Fold(events), nil
}

// Save implements recovery.Store: a synced temporary file takes the name.
func (d runDir) Save(name string, content []byte) (err error) {
	f, err := os.CreateTemp(d.path, name+".*")
	if err != nil {
		return fmt.Errorf("save %s: %w", name, err)
	}
	defer func() {
		if err != nil {
			err = errors.Join(fmt.Errorf("save %s: %w", name, err), os.Remove(f.Name()))
		}
	}()
	_, err = f.Write(content)
	err = errors.Join(err, f.Sync(), f.Close())
	if err != nil {
		return err
	}
	return os.Rename(f.Name(), filepath.Join(d.path, name))
}

// Load implements recovery.Store.
func (d runDir) Load(name string) ([]byte, error) {
	return os.ReadFile(filepath.Join(d.path, name))
}

// appLock keeps a second run of the same application on the same cluster away,
// on this machine. It ends with the process.
type appLock struct {
	lock *flock.Flock
	path string
}

// lockApplication takes the lock, or says which run holds it.
func lockApplication(p paths, clusterID, app string) (*appLock, error) {
	if err := os.MkdirAll(p.Locks, 0o700); err != nil {
		return nil, stateError(err, p.Locks)
	}
	sum := sha256.Sum256([]byte(clusterID + "\x00" + app))
	path := filepath.Join(p.Locks, hex.EncodeToString(sum[:12])+".lock")
	l := flock.New(path)
	got, err := l.TryLock()
	if err != nil {
		return nil, stateError(err, path)
	}
	if !got {
		who, _ := os.ReadFile(path)
		return nil, &recovery.Error{
			Outcome: recovery.OutcomeLeaseHeld, Message: "another run of " + app + " is under way here: " + strings.TrimSpace(string(who)),
			Hint: "wait for it or stop it; resurge runs shows it",
		}
	}
	return &appLock{lock: l, path: path}, nil
}

// sign writes who holds the lock, for the one who meets it.
func (l *appLock) sign(runID string) error {
	if err := os.WriteFile(l.path, fmt.Appendf(nil, "run %s, process %d\n", runID, os.Getpid()), 0o600); err != nil {
		return stateError(err, l.path)
	}
	return nil
}

func (l *appLock) release() error { return l.lock.Unlock() }
