package main

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"time"

	"github.com/containerd/nri/pkg/api"
	"github.com/containerd/nri/pkg/stub"

	"github.com/mountward/mountward/pkg/facts"
	"github.com/mountward/mountward/pkg/policy"
)

const (
	// deadlineShare is how much of the runtime's time for a request we take: an
	// answer that comes too late costs the connection, and the container starts
	// as it was asked for.
	deadlineShare = 0.7
	// lateShare is how much more an answer gets that was decided in time and is
	// being written down.
	lateShare = 0.1
	// settleTime is how long a refusal waits for its record, where there is time to
	// answer so long.
	settleTime = 100 * time.Millisecond
	// maxOverdue bounds how many handlers may hang at one time. What comes then
	// gets its answer at once.
	maxOverdue = 64
)

// handler is an NRI event that we answer.
type handler string

// The handlers, by the names NRI has for them.
const (
	handlerCreate   handler = "CreateContainer"
	handlerValidate handler = "ValidateContainerAdjustment"
	handlerStart    handler = "StartContainer"
	handlerStop     handler = "StopContainer"
	handlerRemove   handler = "RemoveContainer"
)

// gates reports whether an error of the handler keeps a container from running.
// The others only clean up.
func (h handler) gates() bool {
	return h == handlerCreate || h == handlerValidate || h == handlerStart
}

// turn is the time one handler has to answer. The answer without its work is
// given when it is over, and then the work must leave no trace.
type turn struct{ state atomic.Int32 }

const (
	turnOpen int32 = iota
	turnCommitted
	turnOver
)

// errOver is what work returns that comes too late.
var errOver = errors.New("the time to answer is over")

// commit is the point of no return: what is remembered or recorded as the
// answer comes after it, and only where it returns true. What was found out
// with a context that is over is no answer.
func (t *turn) commit(ctx context.Context) bool {
	return ctx.Err() == nil && t.state.CompareAndSwap(turnOpen, turnCommitted)
}

// end gives the turn up. It returns false where the work has committed.
func (t *turn) end() bool { return t.state.CompareAndSwap(turnOpen, turnOver) }

// answered is what the work of a handler came to.
type answered[T any] struct {
	value T
	err   error
	panic *panicked
}

// answer runs the work of a handler. It answers for it where it panics, or has
// no result within our share of the runtime's time: with an error in enforce
// mode and not for a static pod, else without a change; both are recorded.
func answer[T any](ctx context.Context, p *plugin, h handler, pod *api.PodSandbox, c *api.Container,
	work func(context.Context, *turn, facts.Container, *inForce) (T, error),
) (value T, err error) {
	var nothing T
	d := p.daemon
	p.takeOver()
	if h == handlerStart {
		p.created.take(c.GetId()) // whatever becomes of it
	}
	if a := d.standsAside(); a != nil && (a.idle || h.gates()) {
		p.roster.note(h, pod, c)
		return nothing, nil
	}
	// The policy may be loaded anew meanwhile: one answer is by one policy.
	force := d.force.Load()
	limit := p.limit()
	ctx, cancel := context.WithTimeout(ctx, share(deadlineShare, limit))
	defer cancel()
	defer func() {
		if err != nil {
			d.settle(ctx)
		}
	}()
	done := make(chan answered[T], 1) // nobody may be left to receive
	t := new(turn)
	if d.working.Add(1) > maxOverdue {
		d.working.Add(-1)
		return nothing, d.unanswered(h, pod, c, force, fmt.Errorf("%d earlier requests have not ended", maxOverdue))
	}
	go func() {
		defer d.working.Add(-1)
		var r answered[T]
		defer func() { done <- r }()
		r.panic = catch(func() {
			d.fault(h)
			r.value, r.err = work(ctx, t, describe(pod, c), force)
		})
	}()
	var r answered[T]
	select {
	case r = <-done:
	case <-ctx.Done():
		if t.end() {
			return nothing, d.unanswered(h, pod, c, force, tooLate(ctx, limit))
		}
		select {
		case r = <-done:
		case <-time.After(share(lateShare, limit)):
			return nothing, d.unanswered(h, pod, c, force, tooLate(ctx, limit))
		}
	}
	switch {
	case r.panic != nil:
		return nothing, d.crashed(h, pod, c, force, r.panic)
	case errors.Is(r.err, errOver):
		return nothing, d.unanswered(h, pod, c, force, tooLate(ctx, limit))
	}
	return r.value, r.err
}

// settle waits for the records of a refusal, before somebody reads it: this
// process may be killed right after, and a pod is not refused without a record.
func (d *daemon) settle(ctx context.Context) {
	ctx, cancel := context.WithTimeout(ctx, d.settleTime)
	defer cancel()
	d.trail.Load().Settle(ctx)
}

// limit returns how long the runtime waits for an answer. One that tells none
// waits as long as NRI's default.
func (p *plugin) limit() time.Duration {
	if limit := p.stub.RequestTimeout(); limit > 0 {
		return limit
	}
	return stub.DefaultRequestTimeout
}

func share(of float64, limit time.Duration) time.Duration {
	return time.Duration(of * float64(limit))
}

func tooLate(ctx context.Context, limit time.Duration) error {
	if errors.Is(ctx.Err(), context.Canceled) {
		return errors.New("the runtime gave the request up")
	}
	return fmt.Errorf("no decision within %s (%.0f %% of the runtime's plugin_request_timeout)", share(deadlineShare, limit), 100*deadlineShare)
}

// refuses reports whether a container may be refused for what went wrong on our
// side.
func (f *inForce) refuses(h handler, pod *api.PodSandbox) bool {
	static := facts.Pod{Annotations: pod.GetAnnotations()}.Static()
	if !h.gates() || static.Truth == facts.Yes {
		return false
	}
	if f.refuse != nil {
		return h == handlerCreate
	}
	return f.policy.Mode == policy.ModeEnforce
}
