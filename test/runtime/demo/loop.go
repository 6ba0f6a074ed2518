//go:build linux

package main

import (
	"errors"
	"fmt"
	"os"
	"os/exec"

	"golang.org/x/sys/unix"
)

// blockDevice is a loop device with an empty ext4 on a file that has no name
// any more. The kernel frees it when nothing mounts or holds it, so none is left
// when this program is killed. Without a file it is a tmpfs where it is mounted.
type blockDevice struct{ file *os.File }

// newLoop needs loop devices in the kernel and mkfs.ext4.
func newLoop(name string, size int64) (*blockDevice, error) {
	f, err := os.CreateTemp("", "mountward-demo-"+name)
	if err != nil {
		return nil, fmt.Errorf("make file of %s: %w", name, err)
	}
	defer f.Close()
	defer os.Remove(f.Name())
	if err := f.Truncate(size); err != nil {
		return nil, fmt.Errorf("make file of %s: %w", name, err)
	}
	// A root shell of su does not look into sbin.
	mkfs, err := exec.LookPath("mkfs.ext4")
	if err != nil {
		mkfs = "/usr/sbin/mkfs.ext4"
	}
	if out, err := exec.Command(mkfs, "-q", "-F", "-m", "0", f.Name()).CombinedOutput(); err != nil {
		return nil, fmt.Errorf("make ext4 of %s: %w: %s", name, err, out)
	}
	return attach(f)
}

// attach binds a file to a free loop device. Another process may be faster.
func attach(file *os.File) (*blockDevice, error) {
	const tries = 20
	control, err := os.OpenFile("/dev/loop-control", os.O_RDWR, 0)
	if err != nil {
		return nil, fmt.Errorf("open loop control: %w", err)
	}
	defer control.Close()
	for range tries {
		n, err := unix.IoctlRetInt(int(control.Fd()), unix.LOOP_CTL_GET_FREE)
		if err != nil {
			return nil, fmt.Errorf("find a free loop device: %w", err)
		}
		device, err := os.OpenFile(fmt.Sprintf("/dev/loop%d", n), os.O_RDWR, 0)
		if err != nil {
			return nil, fmt.Errorf("open loop device: %w", err)
		}
		config := unix.LoopConfig{Fd: uint32(file.Fd()), Info: unix.LoopInfo64{Flags: unix.LO_FLAGS_AUTOCLEAR}}
		err = unix.IoctlLoopConfigure(int(device.Fd()), &config)
		if err == nil {
			return &blockDevice{device}, nil
		}
		device.Close()
		if !errors.Is(err, unix.EBUSY) {
			return nil, fmt.Errorf("set up %s: %w", device.Name(), err)
		}
	}
	return nil, errors.New("find a free loop device: another process took each")
}

// mount mounts it on a directory, which it makes.
func (b *blockDevice) mount(path string) error {
	source, fsType := "tmpfs", "tmpfs"
	if b.file != nil {
		source, fsType = b.file.Name(), "ext4"
	}
	if err := os.MkdirAll(path, 0o755); err != nil {
		return fmt.Errorf("make mount point: %w", err)
	}
	if err := unix.Mount(source, path, fsType, 0, ""); err != nil {
		return fmt.Errorf("mount %s on %s: %w", source, path, err)
	}
	if err := os.Remove(path + "/lost+found"); err != nil && !errors.Is(err, os.ErrNotExist) {
		return fmt.Errorf("tidy up volume: %w", err)
	}
	return nil
}

func (b *blockDevice) close() error {
	if b == nil || b.file == nil {
		return nil
	}
	return b.file.Close()
}
