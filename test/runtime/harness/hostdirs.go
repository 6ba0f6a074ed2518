//go:build linux

package harness

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"golang.org/x/sys/unix"
)

// HostDirs are directories of the node that differ in what a mount below them
// can reach.
type HostDirs struct {
	Shared  HostDir // a shared mount, as the kubelet's directory is
	Private HostDir // a private mount: nothing made below it goes anywhere
	Slave   HostDir // a mount that only receives, from one at Slave.Master

	dir string
}

// HostDir is a directory that is a mount point.
type HostDir struct {
	Path   string
	Master string // where its master is mounted, for a slave
}

// NewHostDirs makes the directories below a directory that exists.
func NewHostDirs(dir string) (*HostDirs, error) {
	h := &HostDirs{
		Shared:  HostDir{Path: filepath.Join(dir, "shared")},
		Private: HostDir{Path: filepath.Join(dir, "private")},
		Slave:   HostDir{Path: filepath.Join(dir, "slave"), Master: filepath.Join(dir, "master")},
		dir:     dir,
	}
	err := errors.Join(
		mountTmpfs(h.Shared.Path, unix.MS_SHARED),
		mountTmpfs(h.Private.Path, unix.MS_PRIVATE),
		mountTmpfs(h.Slave.Master, unix.MS_SHARED),
	)
	if err == nil {
		err = mountSlave(h.Slave.Master, h.Slave.Path)
	}
	if err != nil {
		return nil, errors.Join(err, h.Close())
	}
	return h, nil
}

// Close unmounts the directories and all that was mounted below them.
func (h *HostDirs) Close() error { return unmountBelow(h.dir) }

// MountBelow mounts a new file system on a new directory below, and returns its
// path on the host. The file system holds one file, "mounted".
func (d HostDir) MountBelow(name string) (string, error) {
	return mountMarked(filepath.Join(d.Path, name))
}

// MountAtMaster does the same below the master of a slave, and returns the path
// below the slave, to where the kernel propagates it.
func (d HostDir) MountAtMaster(name string) (string, error) {
	if d.Master == "" {
		return "", fmt.Errorf("mount at master of %s: it has none", d.Path)
	}
	_, err := mountMarked(filepath.Join(d.Master, name))
	return filepath.Join(d.Path, name), err
}

// Marker is the only file of a file system that MountBelow mounts.
const Marker = "mounted"

func mountMarked(path string) (string, error) {
	if err := mountTmpfs(path, 0); err != nil {
		return "", err
	}
	if err := os.WriteFile(filepath.Join(path, Marker), nil, 0o644); err != nil {
		return "", fmt.Errorf("mark mount: %w", err)
	}
	return path, nil
}

// mountTmpfs makes a directory, and a mount there. Without a propagation the
// mount has the one that its parent gives it.
func mountTmpfs(path string, propagation uintptr) error {
	if err := os.MkdirAll(path, 0o755); err != nil {
		return fmt.Errorf("make mount point: %w", err)
	}
	if err := unix.Mount("host", path, "tmpfs", 0, "mode=755"); err != nil {
		return fmt.Errorf("mount tmpfs on %s: %w", path, err)
	}
	if propagation == 0 {
		return nil
	}
	if err := unix.Mount("", path, "", propagation, ""); err != nil {
		return fmt.Errorf("set propagation of %s: %w", path, err)
	}
	return nil
}

// mountSlave mounts a shared directory at another path as its slave, and not
// shared.
func mountSlave(master, path string) error {
	if err := os.MkdirAll(path, 0o755); err != nil {
		return fmt.Errorf("make mount point: %w", err)
	}
	if err := unix.Mount(master, path, "", unix.MS_BIND, ""); err != nil {
		return fmt.Errorf("bind %s to %s: %w", master, path, err)
	}
	if err := unix.Mount("", path, "", unix.MS_SLAVE, ""); err != nil {
		return fmt.Errorf("make %s a slave: %w", path, err)
	}
	return nil
}
