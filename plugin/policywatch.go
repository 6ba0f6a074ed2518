package main

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
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

	kernel  *fsnotify.Watcher // nil: there are no events
	watched map[string]os.FileInfo
	warned  bool
}

func (w *policyWatch) run(ctx context.Context) {
	var events chan fsnotify.Event
	var errs chan error
	kernel, err := fsnotify.NewWatcher()
	if w.complain(err); err == nil {
		defer kernel.Close()
		w.kernel, events, errs = kernel, kernel.Events, kernel.Errors
	}
	tick := time.NewTicker(w.every)
	defer tick.Stop()
	settle := time.NewTimer(0)
	defer settle.Stop()
	var next string // what is to be loaded if it is still there after settle
	waits := true   // for settle
	since := time.Now()
	// putOff puts the next look off. Events without an end, such as those of a log
	// in the same directory, must not do that for ever.
	putOff := func() {
		now := time.Now()
		if !waits {
			waits, since = true, now
		}
		if now.Sub(since) < 4*w.settle {
			settle.Reset(w.settle)
		}
	}
	for {
		select {
		case <-ctx.Done():
			return
		case _, open := <-events:
			if putOff(); !open {
				events = nil
			}
			continue
		case _, open := <-errs: // such as a queue that ran over: something has happened
			if putOff(); !open {
				errs = nil
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
		case ok:
			next = now
		}
		waits, since = true, time.Now()
		settle.Reset(w.settle)
	}
}

// follow watches the directories that are there now. They can be removed, made
// anew, or be links that lead elsewhere by now.
func (w *policyWatch) follow() {
	if w.kernel == nil {
		return
	}
	live := w.kernel.WatchList()
	for _, dir := range w.dirs {
		info, err := os.Stat(dir)
		known := w.watched[dir]
		if err == nil && known != nil && os.SameFile(known, info) && slices.Contains(live, dir) {
			continue
		}
		_ = w.kernel.Remove(dir) // if it was watched
		delete(w.watched, dir)
		if err != nil {
			continue // it is looked for with each tick
		}
		if err := w.kernel.Add(dir); err != nil {
			if !errors.Is(err, os.ErrNotExist) {
				w.complain(err)
			}
			continue
		}
		if w.watched == nil {
			w.watched = map[string]os.FileInfo{}
		}
		w.watched[dir] = info
	}
}

func (w *policyWatch) complain(err error) {
	if err != nil && !w.warned {
		w.warned = true
		w.warn(err)
	}
}
