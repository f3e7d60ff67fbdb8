package sandbox

import (
	"context"
	"errors"
	"fmt"
	"os"
	"time"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kfake"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"
	"golang.org/x/sync/errgroup"

	"resurge/streams"
)

// Stop closes all instances cleanly, as an operator's `kubectl scale --replicas=0`
// does, and waits until the processes are gone. Their members stay in the group
// until the session timeout, as those of a real Streams application do. Stopping
// a stopped application does nothing.
func (s *Sandbox) Stop(ctx context.Context) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.app.stop(ctx)
}

// Kill ends all instances without a commit, a flush or a goodbye, as `kill -9`
// does. Killing a stopped application does nothing.
func (s *Sandbox) Kill() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.app.kill()
}

// ClearState removes the application's directory below state.dir on every
// instance. It refuses while a process runs. Clearing twice does nothing.
func (s *Sandbox) ClearState(ctx context.Context) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.app.clearState(ctx)
}

// StartApp starts all instances that do not run. It returns when their processes
// are up; joining the group, restoring and catching up go on.
func (s *Sandbox) StartApp(ctx context.Context) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.app.start(ctx)
}

// Produce adds n orders: live input goes on, whatever happens to the application.
func (s *Sandbox) Produce(ctx context.Context, n int) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.send(ctx, s.data.orders(n))
}

// WaitCaughtUp waits until the application has committed everything in its
// sources, inputs and repartition topic. It fails when an instance does.
func (s *Sandbox) WaitCaughtUp(ctx context.Context) error {
	s.mu.Lock()
	app := s.app
	s.mu.Unlock()
	return s.waitCaughtUp(ctx, app)
}

func (a *application) start(ctx context.Context) error {
	errs := make([]error, len(a.instances))
	for i, in := range a.instances {
		errs[i] = in.start(ctx)
	}
	return errors.Join(errs...)
}

func (a *application) stop(ctx context.Context) error {
	return a.each(func(in *instance) error { return in.stop(ctx) })
}

func (a *application) kill() error {
	return a.each(func(in *instance) error { return in.kill() })
}

// each works on all instances at once and returns all errors.
func (a *application) each(do func(*instance) error) error {
	errs := make([]error, len(a.instances))
	var g errgroup.Group
	for i, in := range a.instances {
		g.Go(func() error {
			errs[i] = do(in)
			return nil
		})
	}
	_ = g.Wait() // the errors are in errs
	return errors.Join(errs...)
}

func (a *application) clearState(ctx context.Context) error {
	for _, in := range a.instances {
		if in.run != nil {
			return fmt.Errorf("clear state of %s: the process is running", in.name)
		}
		if err := ctx.Err(); err != nil {
			return fmt.Errorf("clear state of %s: %w", in.name, err)
		}
		if err := os.RemoveAll(streams.AppDir(in.stateDir, a.id)); err != nil {
			return fmt.Errorf("clear state of %s: %w", in.name, err)
		}
	}
	return nil
}

// failure is the first instance's reason to be in state ERROR.
func (a *application) failure() error {
	for _, in := range a.instances {
		if in.run == nil {
			continue
		}
		if _, _, err := in.run.status.local(""); err != nil {
			return fmt.Errorf("%s failed: %w", in.name, err)
		}
	}
	return nil
}

// send produces records and waits until the brokers have them.
func (s *Sandbox) send(ctx context.Context, records []*kgo.Record) error {
	if err := s.client.ProduceSync(ctx, records...).FirstErr(); err != nil {
		return fmt.Errorf("produce inputs: %w", err)
	}
	return nil
}

func (s *Sandbox) waitCaughtUp(ctx context.Context, app *application) error {
	return s.wait(ctx, "wait for "+app.id+" to catch up", func() (bool, error) {
		return s.caughtUp(app), app.failure()
	})
}

// caughtUp reads the commits before the ends, and the ends of the repartition
// topic last: what its producers' commits cover is in it by then.
func (s *Sandbox) caughtUp(app *application) bool {
	g := s.cluster.GroupInfo(app.id)
	if g == nil {
		return false
	}
	for _, topic := range []string{topicCustomers, topicOrders, app.top.repartition()} {
		infos := s.cluster.PartitionInfos(topic)
		if len(infos) == 0 {
			return false
		}
		for _, p := range infos {
			if !passed(g, topic, p) {
				return false
			}
		}
	}
	return true
}

func passed(g *kfake.GroupInfo, topic string, p *kfake.PartitionInfo) bool {
	c, ok := g.Commits[topic][p.Partition]
	return ok && c.Offset >= p.HighWatermark || p.HighWatermark == p.LogStartOffset
}

// wait polls a condition that only the cluster and the instances know of.
func (s *Sandbox) wait(ctx context.Context, what string, done func() (bool, error)) error {
	tick := time.NewTicker(5 * time.Millisecond)
	defer tick.Stop()
	for {
		ok, err := done()
		if err != nil {
			return fmt.Errorf("%s: %w", what, err)
		}
		if ok {
			return nil
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("%s: %w", what, context.Cause(ctx))
		case <-tick.C:
		}
	}
}

// expire takes the members of dead processes out of the group at once. In a story
// that lies some time back their sessions have timed out.
func (s *Sandbox) expire(ctx context.Context, app *application) error {
	g := s.cluster.GroupInfo(app.id)
	if g == nil || len(g.Members) == 0 {
		return nil
	}
	req := kmsg.NewPtrLeaveGroupRequest()
	req.Group = app.id
	for _, m := range g.Members {
		rm := kmsg.NewLeaveGroupRequestMember()
		rm.MemberID = m.MemberID
		req.Members = append(req.Members, rm)
	}
	resp, err := req.RequestWith(ctx, s.client)
	if err == nil {
		err = kerr.ErrorForCode(resp.ErrorCode)
	}
	if err != nil {
		return fmt.Errorf("expire members of %s: %w", app.id, err)
	}
	return nil
}
