package hostview

import (
	"errors"
	"os"
	"strings"
	"syscall"

	"github.com/mountward/mountward/pkg/internal/linux"
)

// walk opens a path and may be stuck for ever. It first goes down one name at a
// time, only to know in which mount it would be stuck; the kernel's own walk
// then decides where the path leads.
func (w *walker) walk(h *helper, path string) (*os.File, error) {
	if err := w.scout(h, path); err != nil {
		return nil, err
	}
	f, err := linux.OpenPath(w.root, path, w.how|linux.Cached)
	if err == nil || !mayWait(err) {
		return f, err
	}
	return linux.OpenPath(w.root, path, w.how)
}

const maxLinks = 40 // as in the kernel

func (w *walker) scout(h *helper, path string) error {
	dir, err := w.top()
	if err != nil {
		return err
	}
	defer func() { _ = dir.Close() }() // opened for reference only
	depth, links := 0, 0
	for {
		var name string
		if name, path = cut(path); name == "" {
			return w.enterMountOf(h, dir)
		}
		if name == ".." {
			if depth == 0 {
				continue
			}
			depth -= 2
		}
		next, target, err := w.step(h, dir, name)
		if err != nil {
			return err
		}
		if next != nil {
			_ = dir.Close()
			dir, depth = next, depth+1
			continue
		}
		if links++; links > maxLinks {
			return &os.PathError{Op: "walk", Path: name, Err: syscall.ELOOP}
		}
		path = target + "/" + path
		if strings.HasPrefix(target, "/") {
			if next, err = w.top(); err != nil {
				return err
			}
			_ = dir.Close()
			dir, depth = next, 0
		}
	}
}

// step opens one name in a directory or, if it is a symbolic link, reads it.
// Before anything that can wait, it says in which mount.
func (w *walker) step(h *helper, dir *os.File, name string) (next *os.File, target string, err error) {
	next, err = linux.OpenPath(dir, name, linux.NoLinks|linux.Cached)
	if err != nil && mayWait(err) {
		if err := w.enterMountOf(h, dir); err != nil {
			return nil, "", err
		}
		next, err = linux.OpenPath(dir, name, linux.NoLinks)
	}
	if !errors.Is(err, syscall.ELOOP) {
		return next, "", err
	}
	if err := w.enterMountOf(h, dir); err != nil {
		return nil, "", err
	}
	link, err := linux.OpenPath(dir, name, linux.NoFollow)
	if err != nil {
		return nil, "", err
	}
	defer func() { _ = link.Close() }() // opened for reference only
	target, ok, err := linux.ReadLink(link)
	if err == nil && !ok {
		err = errMoved
	}
	return nil, target, err
}

func (w *walker) enterMountOf(h *helper, f *os.File) error {
	id, err := w.key(f)
	if err != nil {
		return err
	}
	return w.enter(h, id)
}

// cut returns the first name of a path and what follows it.
func cut(path string) (name, rest string) {
	for {
		name, rest, _ = strings.Cut(strings.TrimLeft(path, "/"), "/")
		if name != "." {
			return name, rest
		}
		path = rest
	}
}
