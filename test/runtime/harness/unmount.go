//go:build linux

package harness

import (
	"errors"
	"fmt"
	"strings"

	"golang.org/x/sys/unix"
)

// unmountBelow detaches every mount below a directory, the last one first.
func unmountBelow(dir string) error {
	mounts, err := Mountinfo(0)
	if err != nil {
		return err
	}
	var errs []error
	for i := len(mounts) - 1; i >= 0; i-- {
		point := mounts[i].Point
		if !strings.HasPrefix(point, dir+"/") {
			continue
		}
		// A mount that propagated from another one goes with that: not found.
		err := unix.Unmount(point, unix.MNT_DETACH|unix.UMOUNT_NOFOLLOW)
		if err != nil && !errors.Is(err, unix.EINVAL) && !errors.Is(err, unix.ENOENT) {
			errs = append(errs, fmt.Errorf("unmount %s: %w", point, err))
		}
	}
	return errors.Join(errs...)
}
