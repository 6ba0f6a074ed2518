package main

import (
	"context"
	"errors"
	"os"
	"sync"

	"github.com/mountward/mountward/pkg/control"
)

// reloads are the wishes to have the policy loaded anew. One goroutine fulfils
// them, one after the other, so that files which hang cost no more than it; who
// wishes waits for as long as they want.
type reloads struct {
	mu   sync.Mutex
	next chan struct{} // closed when the load that is to begin next has ended; nil: none is wanted
	wake chan struct{}
}

func newReloads() *reloads { return &reloads{wake: make(chan struct{}, 1)} }

// want asks for a load that begins after this, and returns what is closed when
// it has ended.
func (r *reloads) want() <-chan struct{} {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.next == nil {
		r.next = make(chan struct{})
	}
	select {
	case r.wake <- struct{}{}:
	default:
	}
	return r.next
}

// begin returns what to call when the load that begins now has ended.
func (r *reloads) begin() (end func()) {
	r.mu.Lock()
	defer r.mu.Unlock()
	done := r.next
	r.next = nil
	select { // the same wish, told in another way
	case <-r.wake:
	default:
	}
	if done == nil {
		return func() {}
	}
	return func() { close(done) }
}

// reloadWhenAsked loads the policy on SIGHUP and when a command or a change of
// its files wants it, until ctx ends. A signal during the start is kept until it is
// over: what a load needs is not there before.
func (d *daemon) reloadWhenAsked(ctx context.Context, hangup <-chan os.Signal, load func()) {
	select {
	case <-d.started:
	case <-ctx.Done():
		return
	}
	for {
		select {
		case <-ctx.Done():
			return
		case <-hangup:
		case <-d.wishes.wake:
		}
		end := d.wishes.begin()
		load()
		end()
	}
}

// Reload loads the policy anew for the command line. The records and the log
// tell of it as well.
func (d *daemon) Reload(ctx context.Context) (control.Policy, error) {
	select {
	case <-d.wishes.want():
		return d.policyStatus(), nil
	case <-ctx.Done():
		return control.Policy{}, errors.New("the policy files were not read in time, perhaps their file system hangs; the policy in force stays until they are")
	}
}
