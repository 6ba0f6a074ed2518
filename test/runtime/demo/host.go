//go:build linux

package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"golang.org/x/sys/unix"

	"github.com/mountward/mountward/test/runtime/harness"
)

// The host has one disk, which holds the kubelet's directory and containerd's.
// All is below /run, which is empty and this program's own.
const (
	hostDir     = "/run/node"
	kubeletRoot = hostDir + "/kubelet"
	podsDir     = kubeletRoot + "/pods"
)

// The pod with a volume, and the file in that. A real UID is longer: this one
// leaves room on the screen.
const (
	dbUID      = "7d3f0c21"
	volumeFile = "rows.db"
)

// target is where the kubelet has a CSI driver mount the volume of a pod, below
// the pods directory.
func target(podUID, volume string) string {
	return filepath.Join(podUID, "volumes", "kubernetes.io~csi", volume, "mount")
}

func dbVolume() string { return target(dbUID, "pvc-1") }

// host is the machine's part below containerd: a disk and a volume.
type host struct {
	disk, volume *blockDevice
	why          string // why they are no block devices
}

// newHost makes the disk, on a shared mount as a kubelet needs it, and a volume
// that is not mounted yet.
func newHost() (*host, error) {
	h := new(host)
	h.disk = h.device("disk", 256<<20)
	h.volume = h.device("volume", 16<<20)
	err := h.disk.mount(hostDir)
	if err == nil {
		if err = unix.Mount("", hostDir, "", unix.MS_SHARED, ""); err != nil {
			err = fmt.Errorf("make %s shared: %w", hostDir, err)
		}
	}
	if err != nil {
		return nil, errors.Join(err, h.close())
	}
	return h, nil
}

// device makes a block device, or what stands for one where there can be none.
func (h *host) device(name string, size int64) *blockDevice {
	b, err := newLoop(name, size)
	if err != nil {
		h.why = err.Error()
		return &blockDevice{}
	}
	return b
}

// mountVolume does what the kubelet has a CSI driver do before a pod starts.
func (h *host) mountVolume(path string) error {
	if err := h.volume.mount(path); err != nil {
		return err
	}
	if err := os.WriteFile(filepath.Join(path, volumeFile), []byte("42\n"), 0o644); err != nil {
		return fmt.Errorf("write to volume: %w", err)
	}
	return nil
}

// close unmounts what is left, the last mount first, and not lazily: a mount
// that something still holds is an error.
func (h *host) close() error {
	mounts, err := harness.Mountinfo(0)
	errs := []error{err}
	for i := len(mounts) - 1; i >= 0; i-- {
		if point := mounts[i].Point; point == hostDir || strings.HasPrefix(point, hostDir+"/") {
			errs = append(errs, unmount(point))
		}
	}
	return errors.Join(append(errs, h.disk.close(), h.volume.close())...)
}

func unmount(point string) error {
	if err := unix.Unmount(point, unix.UMOUNT_NOFOLLOW); err != nil {
		return fmt.Errorf("unmount %s: %w", point, err)
	}
	return nil
}
