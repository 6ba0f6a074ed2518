package runtimeconf

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strings"
	"syscall"
)

// Files reads the files of the mount namespace that containerd is in. A path
// that leads nowhere is an error matching fs.ErrNotExist.
type Files interface {
	// Canonical returns the path without symbolic links.
	Canonical(ctx context.Context, path string) (string, error)
	ReadFile(ctx context.Context, path string, limit int) ([]byte, error)
	// ReadDir returns the names in a directory.
	ReadDir(ctx context.Context, path string, limit int) ([]string, error)
}

// maxNames is the largest directory that a pattern is looked for in, and how
// many paths one may match.
const maxNames = 4096

// absolute returns what an import of a file names: a relative one is meant from
// the file's directory as that is spelled.
func absolute(parent, pattern string) string {
	if !path.IsAbs(pattern) {
		return path.Join(path.Dir(parent), pattern)
	}
	return path.Clean(pattern)
}

// resolve returns the paths that an import stands for: only one with a "*" is a
// pattern.
func resolve(ctx context.Context, files Files, pattern string) ([]string, error) {
	if !strings.Contains(pattern, "*") {
		return []string{pattern}, nil
	}
	if _, err := path.Match(pattern, ""); err != nil {
		return nil, err
	}
	return glob(ctx, files, pattern)
}

// glob is filepath.Glob: names sorted, directories that are not there or are
// none passed over. It fails where a directory cannot be read for another
// reason: then it is not known what matches.
func glob(ctx context.Context, files Files, pattern string) ([]string, error) {
	found := []string{"/"}
	steps := strings.Split(strings.Trim(pattern, "/"), "/")
	for i, step := range steps {
		var next []string
		plain := !strings.ContainsAny(step, `*?[\`)
		for _, dir := range found {
			if plain && i < len(steps)-1 {
				next = append(next, path.Join(dir, step))
				continue
			}
			names, err := names(ctx, files, dir)
			if err != nil {
				return nil, err
			}
			for _, name := range names {
				if ok, _ := path.Match(step, name); ok {
					next = append(next, path.Join(dir, name))
				}
			}
		}
		if len(next) > maxNames {
			return nil, fmt.Errorf("%s: more than %d paths match", pattern, maxNames)
		}
		found = next
	}
	return found, nil
}

// names lists a directory, sorted; one that is not there has none.
func names(ctx context.Context, files Files, dir string) ([]string, error) {
	names, err := files.ReadDir(ctx, dir, maxNames)
	if absent(err) {
		return nil, nil
	}
	slices.Sort(names)
	return names, err
}

// absent reports that a path leads to nothing that could be listed.
func absent(err error) bool {
	return errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ENOTDIR)
}
