package main

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"time"

	"github.com/fsnotify/fsnotify"

	"github.com/mountward/mountward/pkg/policy"
	"github.com/mountward/mountward/pkg/policyfile"
)

const (
	// policySettle is for how long the policy files must be the same before
	// they are loaded: an editor or a copy is not done with its first write.
	policySettle = 500 * time.Millisecond
	// policyLook is how often they are looked at without an event: what a link
	// leads to, a directory that is made anew, and a file system that tells of
	// nothing are found so. One look reads some kilobytes.
	policyLook = 10 * time.Second
)

// watchPolicy has the policy loaded anew when its files change, until ctx ends.
// An event is only a reason to look: what counts is whether what is there now
// was loaded before, good or not. So a bad policy is recorded once, and an event
// that was lost costs time and no policy.
func (d *daemon) watchPolicy(ctx context.Context) {
	select {
	case <-d.started:
	case <-ctx.Done():
		return
	}
	d.policyWatch().run(ctx)
}

func (d *daemon) policyWatch() *policyWatch {
	dir := filepath.Dir(d.settings.Policy)
	return &policyWatch{
		dirs: []string{dir, filepath.Join(dir, policy.DropInDir)}, settle: policySettle, every: policyLook,
		look: func() (string, bool) {
			files, err := policyfile.Configured(d.settings, d.builtin())
			return fingerprint(files, err), !errors.Is(err, policyfile.ErrChanging)
		},
		loaded: func() string { return *d.tried.Load() },
		load:   d.wishes.want,
		open:   fsnotify.NewWatcher,
		warn: func(err error) {
			d.log().WithError(err).Warnf("changes of the policy files are found every %s only", policyLook)
		},
	}
}

// policyWatch sees that what is loaded is what the files say.
type policyWatch struct {
	dirs          []string
	settle, every time.Duration
	// look returns the fingerprint of what the files say, and false where they
	// change meanwhile; loaded that of what was loaded last.
	look   func() (fingerprint string, ok bool)
	loaded func() string
	load   func() (done <-chan struct{})
	warn   func(error) // called once at most: the kernel tells of no change
	open   func() (*fsnotify.Watcher, error)

	kernel *fsnotify.Watcher // nil: there are no events
	warned bool
}

func (w *policyWatch) run(ctx context.Context) {
	happened := make(chan struct{}, 1)
	kernel, err := w.open()
	if w.complain(err); err == nil {
		defer kernel.Close()
		w.kernel = kernel
		go tell(kernel, happened) // ends with the kernel's
	}
	w.loop(ctx, happened)
}

// tell says that something happened, as events and as errors, such as that of a
// queue that ran over, until the kernel is closed. It never waits for who looks,
// since an error is given away with a lock held that follow needs: fsnotify 1.10.
func tell(kernel *fsnotify.Watcher, happened chan<- struct{}) {
	for open := true; open; {
		select {
		case _, open = <-kernel.Events:
		case _, open = <-kernel.Errors:
		}
		select {
		case happened <- struct{}{}:
		default:
		}
	}
}

// loop looks when something happened, and with each tick.
func (w *policyWatch) loop(ctx context.Context, happened <-chan struct{}) {
	tick := time.NewTicker(w.every)
	defer tick.Stop()
	settle := time.NewTimer(0)
	defer settle.Stop()
	var next string // what is to be loaded if it is still there after settle
	var waits bool  // for settle
	var since time.Time
	for {
		select {
		case <-ctx.Done():
			return
		case <-happened:
			now := time.Now()
			if !waits {
				waits, since = true, now
			}
			// Events without an end, such as those of a log in the same directory,
			// must not put the next look off for ever.
			if now.Sub(since) < 4*w.settle {
				settle.Reset(w.settle)
			}
			continue
		case <-tick.C:
			if waits {
				continue
			}
		case <-settle.C:
		}
		waits = false
		w.follow()
		now, ok := w.look()
		switch {
		case ok && now == w.loaded():
			next = ""
			continue
		case ok && now == next:
			next = ""
			select {
			case <-w.load():
			case <-ctx.Done():
			}
			continue
		}
		next, waits, since = now, true, time.Now()
		settle.Reset(w.settle)
	}
}

// follow watches the directories that are there now: they can be removed, made
// anew, or be links that lead elsewhere by now. The look comes after it, so that no
// event is missed between the two calls.
func (w *policyWatch) follow() {
	if w.kernel == nil {
		return
	}
	for _, dir := range w.dirs {
		_ = w.kernel.Remove(dir) // if it was watched
		if err := w.kernel.Add(dir); !errors.Is(err, os.ErrNotExist) {
			w.complain(err)
		}
	}
}

func (w *policyWatch) complain(err error) {
	if err != nil && !w.warned {
		w.warned = true
		w.warn(err)
	}
}
