package hostview

import (
	"context"
	"errors"
	"os"
	"strings"

	"github.com/mountward/mountward/pkg/facts"
	"github.com/mountward/mountward/pkg/internal/linux"
)

// Lookup returns what the host view knows of one absolute path. The path is
// walked as it is written: "a/../b" is not "b" where a is a symbolic link. The
// mount is the one the path really leads to, so the topmost of a stack.
//
// The error is always a *CannotTell. A path that does not exist is one too,
// matching fs.ErrNotExist: the runtime may create it later. Lookup waits for no
// file system longer than Options.Wait and, on the mountinfo rung, for a stale
// table up to ctx.
func (v *View) Lookup(ctx context.Context, path string) (facts.HostMount, error) {
	f, m, err := v.OpenFile(ctx, path)
	closeReference(f)
	return m, err
}

// OpenFile is Lookup, and returns what the path leads to, open for reference
// only. Whoever keeps it open keeps the mount busy.
func (v *View) OpenFile(ctx context.Context, path string) (*os.File, facts.HostMount, error) {
	if err := v.walkable(path); err != nil {
		return nil, facts.HostMount{}, err
	}
	// A mount can be moved or unmounted between two questions about it.
	const tries = 3
	var err error
	for range tries {
		var f *os.File
		var m facts.HostMount
		f, m, err = v.look(ctx, path)
		if !errors.Is(err, errMoved) {
			return f, m, err
		}
	}
	return nil, facts.HostMount{}, cannotTellErr(path, err)
}

// walkable says why a path cannot be walked in this view.
func (v *View) walkable(path string) error {
	if v.walker == nil {
		return &CannotTell{path, v.walkErr.Error(), v.walkErr}
	}
	if !strings.HasPrefix(path, "/") {
		return cannotTell(path, "not an absolute path")
	}
	return nil
}

var errMoved = errors.New("the mount changed while it was looked at")

func (v *View) look(ctx context.Context, path string) (*os.File, facts.HostMount, error) {
	f, straight, err := v.walker.open(ctx, path)
	if err != nil {
		return nil, facts.HostMount{}, walkFailed(path, err)
	}
	m, err := v.lookAt(ctx, path, f, straight)
	if err != nil {
		closeReference(f)
		return nil, facts.HostMount{}, err
	}
	return f, m, nil
}

func (v *View) lookAt(ctx context.Context, path string, f *os.File, straight bool) (facts.HostMount, error) {
	canonical, err := v.canonical(path, f, straight)
	if err != nil {
		return facts.HostMount{}, err
	}
	m, err := v.describe(ctx, f)
	if err != nil {
		if errors.Is(err, errMoved) {
			return facts.HostMount{}, err
		}
		return facts.HostMount{}, cannotTellErr(path, err)
	}
	m.Canonical, m.File = canonical, linux.NotDirectory(f)
	if !facts.Within(m.Canonical, m.MountPoint) {
		return facts.HostMount{}, errMoved
	}
	return m, nil
}

// canonical asks the kernel for the path of an open file, unless it is known:
// the answer takes as long as opening the file took.
func (v *View) canonical(path string, f *os.File, straight bool) (string, error) {
	if straight {
		clean, _ := facts.CleanAbs(path)
		return clean, nil
	}
	canonical, err := linux.FDPath(v.proc, f)
	if err != nil {
		return "", cannotTellErr(path, err)
	}
	if strings.HasSuffix(canonical, " (deleted)") {
		return "", cannotTell(path, `it was removed while it was looked at, or its name ends in " (deleted)"`)
	}
	return canonical, nil
}

func (v *View) describe(ctx context.Context, f *os.File) (facts.HostMount, error) {
	if v.rung == RungStatmount {
		m, err := v.statmount(f)
		return hostMount(m), err
	}
	return v.tableMount(ctx, f)
}

// walkFailed names the cause without the system call that met it.
func walkFailed(path string, err error) error {
	var perr *os.PathError
	if errors.As(err, &perr) {
		return &CannotTell{path, perr.Err.Error(), err}
	}
	return cannotTellErr(path, err)
}
