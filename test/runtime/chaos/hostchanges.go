//go:build linux

package main

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/sys/unix"

	"github.com/mountward/mountward/test/runtime/harness"
)

const (
	// startsAPod is how many containers of a pod are started one after the other.
	startsAPod = 10
	// swapEvery is how many starts have one among them that must be refused.
	swapEvery = 20
)

// hostChanges starts containers while the host changes below them, all of which
// are allowed to start, and some whose volume becomes another one that the
// policy denies.
func (c *chaos) hostChanges(ctx context.Context) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	var background, workers sync.WaitGroup
	background.Go(func() {
		for ctx.Err() == nil {
			// What an administrator does who finds the node not shared.
			if err := unix.Mount("", "/", "", unix.MS_REC|unix.MS_SHARED, ""); err != nil {
				c.fault("stuck", "", fmt.Sprintf("mount --make-rshared /: %v", err))
				return
			}
			time.Sleep(20 * time.Millisecond)
		}
	})
	secret := filepath.Join(c.dirs.Shared.Path, "secret", "keys")
	if err := os.MkdirAll(secret, 0o755); err != nil {
		return err
	}
	var next atomic.Int64
	errs := make([]error, c.workers)
	for i := range c.workers {
		workers.Go(func() {
			h, err := newChanger(c, i, secret)
			if err != nil {
				errs[i] = err
				return
			}
			for next.Load() < int64(c.starts) && errs[i] == nil {
				errs[i] = h.pod(ctx, &next)
			}
			errs[i] = errors.Join(errs[i], h.close())
		})
	}
	workers.Wait()
	cancel()
	background.Wait()
	return errors.Join(errs...)
}

// changer starts containers with a volume of its own that changes meanwhile.
type changer struct {
	*chaos
	rng    *rand.Rand
	top    string // a shared mount
	source string // a directory below
	secret string // what nobody may have
}

func newChanger(c *chaos, i int, secret string) (*changer, error) {
	h := &changer{chaos: c, rng: c.random(fmt.Sprint("changer", i)), top: filepath.Join(c.dir, fmt.Sprintf("changes-%d", i)), secret: secret}
	h.source = filepath.Join(h.top, "volume")
	if err := os.Mkdir(h.top, 0o755); err != nil {
		return nil, err
	}
	if err := unix.Mount("changes", h.top, "tmpfs", 0, "mode=755"); err != nil {
		return nil, fmt.Errorf("mount volume: %w", err)
	}
	if err := unix.Mount("", h.top, "", unix.MS_SHARED, ""); err != nil {
		return nil, fmt.Errorf("share volume: %w", err)
	}
	return h, os.Mkdir(h.source, 0o755)
}

func (h *changer) close() error {
	// Whatever is still below goes with it.
	return unix.Unmount(h.top, unix.MNT_DETACH)
}

// change is what the host does between creation and start, and how it is undone.
type change struct {
	name     string
	do, undo func(h *changer) error
}

func mountAt(path string, flags uintptr, fstype string) error {
	source := "over"
	if flags&unix.MS_BIND != 0 {
		source = path
	}
	return unix.Mount(source, path, fstype, flags, "")
}

func propagate(path string, flags uintptr) error { return unix.Mount("", path, "", flags, "") }

func changes() []change {
	unmount := func(h *changer) error { return unix.Unmount(h.source, unix.MNT_DETACH) }
	none := func(*changer) error { return nil }
	return []change{
		{"nothing", none, none},
		{"a volume is mounted over the source", func(h *changer) error { return mountAt(h.source, 0, "tmpfs") }, unmount},
		{
			"the source is bound to itself and shared, as a kubelet does that starts",
			func(h *changer) error {
				return errors.Join(mountAt(h.source, unix.MS_BIND|unix.MS_REC, ""), propagate(h.source, unix.MS_REC|unix.MS_SHARED))
			},
			unmount,
		},
		{
			"a volume is mounted below the source",
			func(h *changer) error {
				below := filepath.Join(h.source, "below")
				return errors.Join(os.MkdirAll(below, 0o755), mountAt(below, 0, "tmpfs"))
			},
			func(h *changer) error { return unix.Unmount(filepath.Join(h.source, "below"), unix.MNT_DETACH) },
		},
		{
			"the source is made private",
			func(h *changer) error { return propagate(h.top, unix.MS_REC|unix.MS_PRIVATE) },
			func(h *changer) error { return propagate(h.top, unix.MS_REC|unix.MS_SHARED) },
		},
		{
			"the source is made shared in another group",
			func(h *changer) error {
				return errors.Join(propagate(h.top, unix.MS_REC|unix.MS_PRIVATE), propagate(h.top, unix.MS_REC|unix.MS_SHARED))
			},
			none,
		},
	}
}

// allowed are the shapes that no policy refuses, each with one source.
func allowed() []shape {
	var all []shape
	for _, s := range shapes() {
		if !s.denies() {
			all = append(all, s)
		}
	}
	return all
}

// pod runs a pod of several containers, one after the other.
func (h *changer) pod(ctx context.Context, next *atomic.Int64) error {
	s, err := h.node.RunSandbox(ctx, harness.Pod{Namespace: "changes", Privileged: true})
	if err != nil {
		return err
	}
	for range startsAPod {
		n := next.Add(1)
		if n > int64(h.starts) {
			break
		}
		if err := h.one(ctx, s, n); err != nil {
			return errors.Join(err, h.node.RemoveSandbox(ctx, s.ID))
		}
	}
	return h.node.RemoveSandbox(ctx, s.ID)
}

// one creates a container, changes the host, starts the container and undoes the
// change.
func (h *changer) one(ctx context.Context, s *harness.Sandbox, n int64) error {
	of := allowed()[h.rng.IntN(len(allowed()))]
	what := changes()[h.rng.IntN(len(changes()))]
	swap := n%swapEvery == 0
	if swap {
		what = change{"the source becomes a link to a secret", (*changer).swap, (*changer).swapBack}
		of = shape{name: "swapped", volumes: []volume{{at: "/plain"}}}
	}
	t := &try{uid: s.Pod.UID, name: fmt.Sprintf("%s-%d", of.name, n), shape: of}
	t.key = t.uid + "." + t.name
	h.history.add(t)
	container := h.container(of, t.name, t.key, nil)
	for i := range container.Mounts[1:] {
		container.Mounts[1+i].HostPath = h.source
	}
	h.history.note(t.key, "create")
	var err error
	if t.id, err = h.node.CreateContainer(ctx, s, container); err != nil {
		h.refused(t, "create", err)
		return nil
	}
	h.history.note(t.key, "%s", what.name)
	if err := what.do(h); err != nil {
		return fmt.Errorf("%s: %w", what.name, err)
	}
	err = h.node.StartContainer(ctx, t.id)
	h.history.note(t.key, "start: %v", err)
	switch {
	case !swap && err != nil:
		h.refused(t, "start", err)
	case swap && !isOurs(err):
		h.fault("missed_swaps", t.key, fmt.Sprintf("a volume became another one that the policy denies, and the start was not refused for that: %v", err))
	}
	if swap {
		h.count("swaps", 1)
	} else {
		h.count("starts", 1)
	}
	if err := what.undo(h); err != nil {
		return fmt.Errorf("undo: %s: %w", what.name, err)
	}
	return h.node.RemoveContainer(ctx, t.id)
}

func (h *changer) refused(t *try, what string, err error) {
	h.history.note(t.key, "%s: %v", what, err)
	h.fault("false_refusals", t.key, fmt.Sprintf("%s: %v", what, err))
}

func (h *changer) swap() error {
	return errors.Join(os.Rename(h.source, h.source+".away"), os.Symlink(h.secret, h.source))
}

func (h *changer) swapBack() error {
	return errors.Join(os.Remove(h.source), os.Rename(h.source+".away", h.source))
}
