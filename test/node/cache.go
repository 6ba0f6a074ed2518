//go:build linux

package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"golang.org/x/sys/unix"
)

// cache is a directory that keeps base images and results between runs. One
// run at a time uses it.
type cache struct {
	dir  string
	lock *os.File
}

// openCache waits until no other run uses the directory, and removes what runs
// that were killed left there.
func openCache(dir string) (*cache, error) {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return nil, fmt.Errorf("make cache: %w", err)
	}
	lock, err := os.OpenFile(filepath.Join(dir, ".lock"), os.O_CREATE|os.O_RDWR, 0o644)
	if err != nil {
		return nil, fmt.Errorf("open lock of cache: %w", err)
	}
	c := &cache{dir: dir, lock: lock}
	if err := unix.Flock(int(lock.Fd()), unix.LOCK_EX|unix.LOCK_NB); err != nil {
		c.close()
		return nil, fmt.Errorf("lock %s: another run uses it: %w", dir, err)
	}
	if err := c.sweep("work-*"); err != nil {
		c.close()
		return nil, err
	}
	return c, nil
}

// sweep removes what matches, but for what is to be kept.
func (c *cache) sweep(pattern string, keep ...string) error {
	old, err := filepath.Glob(filepath.Join(c.dir, pattern))
	if err != nil {
		return fmt.Errorf("list cache: %w", err)
	}
	var errs []error
	for _, path := range old {
		if len(keep) == 0 || path != keep[0] {
			errs = append(errs, os.RemoveAll(path))
		}
	}
	return errors.Join(errs...)
}

// workDir makes the directory of a run.
func (c *cache) workDir() (string, error) {
	dir, err := os.MkdirTemp(c.dir, "work-")
	if err != nil {
		return "", fmt.Errorf("make work directory: %w", err)
	}
	// mmdebstrap's apt drops its rights and has to reach what is below.
	return dir, os.Chmod(dir, 0o755)
}

// results is where what a machine brought back is kept.
func (c *cache) results(suite string) string { return filepath.Join(c.dir, "results", suite) }

func (c *cache) close() { c.lock.Close() }
