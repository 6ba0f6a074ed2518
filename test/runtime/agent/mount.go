//go:build linux

package main

import (
	"fmt"
	"io"
	"os"

	"golang.org/x/sys/unix"
)

// mountinfo prints the caller's own mount table.
func mountinfo(out io.Writer, _ []string) error {
	return cat(out, []string{"/proc/self/mountinfo"})
}

// mountTmpfs mounts an empty tmpfs on a directory, which it makes where it is
// missing, as a storage driver mounts a volume for other pods.
func mountTmpfs(_ io.Writer, args []string) error {
	if err := os.MkdirAll(args[0], 0o755); err != nil {
		return fmt.Errorf("make mount point: %w", err)
	}
	if err := unix.Mount("agent", args[0], "tmpfs", 0, "size=1m"); err != nil {
		return fmt.Errorf("mount tmpfs on %s: %w", args[0], err)
	}
	return nil
}

func umount(_ io.Writer, args []string) error {
	if err := unix.Unmount(args[0], unix.UMOUNT_NOFOLLOW); err != nil {
		return fmt.Errorf("unmount %s: %w", args[0], err)
	}
	return nil
}
