//go:build linux

package harness

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"time"

	"golang.org/x/sys/unix"
)

// Volume is an ext4 of its own on a loop device, as a volume on a logical volume
// is. The device is unbound with the last holder of the file system.
type Volume struct {
	Path   string // where it is mounted on the host
	Device string // its node
	Number string // MAJ:MIN
}

// NewVolume makes a file system and mounts it. It holds one file, "mounted".
// It needs mkfs.ext4.
func NewVolume(path string) (*Volume, error) {
	if err := os.MkdirAll(path, 0o755); err != nil {
		return nil, fmt.Errorf("make mount point: %w", err)
	}
	image, err := os.CreateTemp("", "volume")
	if err != nil {
		return nil, fmt.Errorf("make volume: %w", err)
	}
	defer os.Remove(image.Name()) // the device keeps it
	if err := errors.Join(image.Truncate(64<<20), image.Close()); err != nil {
		return nil, fmt.Errorf("make volume: %w", err)
	}
	for _, args := range [][]string{{"mkfs.ext4", "-q", image.Name()}, {"mount", "-o", "loop", image.Name(), path}} {
		if out, err := exec.Command(args[0], args[1:]...).CombinedOutput(); err != nil {
			return nil, fmt.Errorf("run %q: %w: %s", args, err, out)
		}
	}
	mounts, err := Mountinfo(0)
	if err != nil {
		return nil, err
	}
	m := mounts.At(path)
	if m == nil {
		return nil, fmt.Errorf("mount volume on %s: not there", path)
	}
	v := &Volume{Path: path, Device: m.Source, Number: m.Device}
	return v, os.WriteFile(filepath.Join(path, Marker), nil, 0o644)
}

// Alive says whether the file system is alive in the kernel, mounted or not.
func (v *Volume) Alive() (bool, error) {
	_, err := os.Stat(filepath.Join("/sys/fs/ext4", filepath.Base(v.Device)))
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	return err == nil, err
}

// WaitGone waits until the file system is not alive any more: the kernel takes
// namespaces down later than they end.
func (v *Volume) WaitGone() error {
	for end := time.Now().Add(time.Minute); ; time.Sleep(5 * time.Millisecond) {
		alive, err := v.Alive()
		switch {
		case err != nil || !alive:
			return err
		case time.Now().After(end):
			return fmt.Errorf("%s is still alive", v.Device)
		}
	}
}

// Unmount unmounts it on the host.
func (v *Volume) Unmount() error { return unix.Unmount(v.Path, 0) }

// Close hides it on the host, for the end of a test.
func (v *Volume) Close() error {
	err := unix.Unmount(v.Path, unix.MNT_DETACH)
	if errors.Is(err, unix.EINVAL) || errors.Is(err, fs.ErrNotExist) {
		return nil // it has been unmounted
	}
	return err
}
