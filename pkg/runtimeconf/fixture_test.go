package runtimeconf

import (
	"context"
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strings"
	"syscall"
)

// fakeFiles is a node's files by path. A text that begins with "-> " is a
// symbolic link, one that begins with "! " cannot be read.
type fakeFiles map[string]string

func (f fakeFiles) Canonical(_ context.Context, p string) (string, error) {
	for range 8 {
		text, ok := f[p]
		if !ok {
			return "", notThere(p)
		}
		to, link := strings.CutPrefix(text, "-> ")
		if !link {
			return p, nil
		}
		p = to
	}
	return "", syscall.ELOOP
}

func (f fakeFiles) ReadFile(ctx context.Context, p string, limit int) ([]byte, error) {
	if _, err := f.ReadDir(ctx, p, limit); err == nil {
		return nil, fmt.Errorf("%s: not a regular file", p)
	}
	p, err := f.Canonical(ctx, p)
	if err != nil {
		return nil, err
	}
	text := f[p]
	if why, bad := strings.CutPrefix(text, "! "); bad {
		return nil, fmt.Errorf("%s: %s", p, why)
	}
	if len(text) > limit {
		return nil, fmt.Errorf("%s: more than %d bytes", p, limit)
	}
	return []byte(text), nil
}

func (f fakeFiles) ReadDir(_ context.Context, dir string, _ int) ([]string, error) {
	var names []string
	for p, text := range f {
		if why, bad := strings.CutPrefix(text, "! "); bad && p == dir+"/" {
			return nil, fmt.Errorf("%s: %s", dir, why)
		}
		rest, ok := strings.CutPrefix(p, strings.TrimSuffix(dir, "/")+"/")
		name, _, _ := strings.Cut(rest, "/")
		if ok && name != "" && !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	if len(names) == 0 {
		if _, file := f[path.Clean(dir)]; file {
			return nil, &fs.PathError{Op: "readdir", Path: dir, Err: syscall.ENOTDIR}
		}
		return nil, notThere(dir)
	}
	return names, nil
}

func notThere(p string) error { return &fs.PathError{Op: "open", Path: p, Err: fs.ErrNotExist} }
