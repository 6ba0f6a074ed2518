package cli

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/mountward/mountward/pkg/cli/internal/show"
	"github.com/mountward/mountward/pkg/learn"
)

// writeLearned writes the files of a learned policy, each whole or not at all, and
// prints their names. None is written where one is there and must not be replaced.
func writeLearned(w io.Writer, dir string, l learn.Learned, force bool) error {
	files := []struct {
		path string
		data []byte
	}{{filepath.Join(dir, learn.TestsName), l.Tests}, {filepath.Join(dir, learn.PolicyName), l.Policy}}
	for _, f := range files {
		if _, err := os.Lstat(f.path); !force && err == nil {
			return &exit{ExitUsage, fmt.Errorf("%s is there: --force replaces it, or name another directory", show.Word(f.path))}
		}
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return &exit{ExitCannotTell, fmt.Errorf("write the learned policy: %w", err)}
	}
	for _, f := range files {
		if err := writeWhole(f.path, f.data, force); err != nil {
			return &exit{ExitCannotTell, fmt.Errorf("write the learned policy: %w", err)}
		}
		fmt.Fprintln(w, show.Line(f.path))
	}
	return nil
}

// writeWhole writes a file in one step, so that a daemon which watches the directory
// never reads half of a policy.
func writeWhole(path string, data []byte, replace bool) error {
	f, err := os.CreateTemp(filepath.Dir(path), "."+filepath.Base(path)+".*")
	if err != nil {
		return err
	}
	defer func() { _ = os.Remove(f.Name()) }() // it is there no more where it was renamed
	_, err = f.Write(data)
	if err == nil {
		err = f.Chmod(0o644)
	}
	if err == nil {
		err = f.Sync()
	}
	if err = errors.Join(err, f.Close()); err != nil {
		return err
	}
	if replace {
		return os.Rename(f.Name(), path)
	}
	return os.Link(f.Name(), path) // fails where one came meanwhile
}
