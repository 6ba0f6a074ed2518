package apply

import (
	"context"
	"errors"
	"fmt"
	"os"
	"sync"

	"github.com/mountward/mountward/pkg/hostview"
	"github.com/mountward/mountward/pkg/internal/linux"
)

// unsure is why something was not done, where that says nothing about whether it
// could be: the mount is another one by now, the process is gone, time is up.
type unsure struct{ err error }

func (e *unsure) Error() string { return e.err.Error() }
func (e *unsure) Unwrap() error { return e.err }

func unsuref(format string, args ...any) error { return &unsure{fmt.Errorf(format, args...)} }

// errLate is why nothing more is done by a thread that nobody waits for.
var errLate = unsuref("time is up: a file system in the container does not answer, or the machine is too busy")

// act makes the changes in the container's mount namespace and then adds the
// host's mounts that raised ones lack.
func (n *Namespace) act(ctx context.Context, r NamespaceRequest, changes []change) {
	steps := flatten(changes)
	if len(steps) == 0 {
		return
	}
	w, err := newWork(ctx, r)
	if err != nil {
		failAll(steps, err)
		return
	}
	for _, s := range steps {
		if s.verb == raise {
			s.file, s.err = w.open(s.source)
		}
	}
	n.visit(ctx, w, steps)
	if missing := w.missing(changes); len(missing) > 0 {
		n.visit(ctx, w, missing)
	}
}

// step is one call that changes one mount.
type step struct {
	*change
	top   *step    // that must be done first; nil for none
	file  *os.File // of a raise: the host's directory, which the thread closes
	below string   // what is added: its place below the mount of the change; "" for the mount itself
	added *hostview.Entry
}

func flatten(changes []change) (steps []*step) {
	for i := range changes {
		c := &changes[i]
		if !c.verb.acts() {
			continue
		}
		top := &step{change: c}
		steps = append(steps, top)
		for j := range c.along {
			if c.along[j].verb.acts() {
				steps = append(steps, &step{change: &c.along[j], top: top})
			}
		}
	}
	return steps
}

func failAll(steps []*step, err error) {
	for _, s := range steps {
		if s.err == nil && !s.done {
			s.err = err
		}
	}
}

// work is what one container needs, and who may still do it: the thread that
// works, or the one that waits for it and then goes on alone.
type work struct {
	NamespaceRequest
	ctx       context.Context
	namespace uint64 // inode of the container's, read while the process was alive
	root      hostview.Entry

	mu   sync.Mutex
	late bool
}

func newWork(ctx context.Context, r NamespaceRequest) (*work, error) {
	root, ok := r.Table.At("/")
	if !ok {
		return nil, unsuref("the process has no mount at /")
	}
	namespace, err := r.Process.Namespace()
	if err != nil && !errors.Is(err, os.ErrPermission) {
		err = &unsure{err} // it is gone
	}
	if err != nil {
		return nil, err
	}
	return &work{NamespaceRequest: r, ctx: ctx, namespace: namespace, root: root}, nil
}

// open opens a path of the host that a mount is cloned from.
func (w *work) open(path string) (*os.File, error) {
	f, _, err := w.Host.OpenFile(w.ctx, path)
	if err != nil {
		return nil, &unsure{err}
	}
	return f, nil
}

// visit does the steps on a thread in the container's mount namespace, which
// owns what the steps hold open. What it says when it is late is not heard: it
// works on copies.
func (n *Namespace) visit(ctx context.Context, w *work, steps []*step) {
	own := copies(steps)
	if !n.start() {
		closeFiles(own)
		failAll(steps, unsuref("%d threads are stuck in mount namespaces already", maxStuck))
		return
	}
	type end struct {
		err      error
		panicked any
	}
	done := make(chan end, 1)
	go func() {
		defer n.end()
		var e end
		defer func() {
			e.panicked = recover()
			done <- e
		}()
		defer closeFiles(own)
		e.err = w.Host.Travel(func(t *linux.Traveller) error { return w.do(t, own) })
	}()
	var e end
	select {
	case e = <-done:
	case <-ctx.Done():
		e.err = errLate
	}
	if e.panicked != nil {
		panic(e.panicked) // where it is recorded
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.late = true // of a thread that is left behind
	for i, s := range steps {
		s.done, s.err = own[i].done, own[i].err
	}
	w.late = errors.Is(e.err, errLate)
	failAll(steps, e.err)
}

// copies returns the same steps for one who may go on after he is not heard any
// more.
func copies(steps []*step) []*step {
	own, copied := make([]*step, len(steps)), map[*step]*step{}
	for i, s := range steps {
		c := *s.change
		own[i] = &step{change: &c, top: copied[s.top], file: s.file, below: s.below, added: s.added}
		copied[s] = own[i]
	}
	return own
}

func closeFiles(steps []*step) {
	for _, s := range steps {
		if s.file != nil {
			_ = s.file.Close() // opened for reference only
		}
	}
}
