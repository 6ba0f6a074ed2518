//go:build linux

package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
)

const (
	diskSize    = 4 << 30 // sparse
	resultsSize = 256 << 20
)

func (n *node) disk() string         { return filepath.Join(n.work, "disk.img") }
func (n *node) resultsDisk() string  { return filepath.Join(n.work, "results.img") }
func (n *node) kernel() string       { return filepath.Join(n.work, "vmlinuz") }
func (n *node) initialRAMFS() string { return filepath.Join(n.work, "initrd") }

// makeDisk makes the machine's disk, an empty one for its results, and takes
// out the kernel to start it with. Nothing is mounted for it.
func (n *node) makeDisk(ctx context.Context, base string) error {
	if err := n.populate(ctx, base); err != nil {
		return err
	}
	for pattern, to := range map[string]string{"vmlinuz-*": n.kernel(), "initrd.img-*": n.initialRAMFS()} {
		found, err := filepath.Glob(filepath.Join(n.tree(), "boot", pattern))
		if err != nil || len(found) != 1 {
			return errors.Join(fmt.Errorf("find /boot/%s: %d files", pattern, len(found)), err)
		}
		if err := copyFile(found[0], to, 0o644); err != nil {
			return err
		}
	}
	for path, size := range map[string]int64{n.disk(): diskSize, n.resultsDisk(): resultsSize} {
		f, err := create(path, 0o600)
		if err != nil {
			return err
		}
		if err := errors.Join(f.Truncate(size), f.Close()); err != nil {
			return fmt.Errorf("make disk: %w", err)
		}
	}
	if err := command(ctx, "mkfs.ext4", "-q", "-F", "-d", n.tree(), n.disk()); err != nil {
		return err
	}
	return os.RemoveAll(n.tree())
}
