//go:build linux

package main

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"

	"golang.org/x/sys/unix"
)

const (
	kubeletRoot = "/var/lib/kubelet"
	state       = "/run/containerd"
	disks       = 16 // loop devices with ext4, which all volumes are directories of
	perTask     = 10
)

// host is a node: a shared kubelet root, volumes on block devices, and tasks.
type host struct {
	volumes []string // their targets, those of tasks first
	tasks   []*task
}

func newHost() (*host, error) {
	if err := unix.Mount("", "/", "", unix.MS_REC|unix.MS_PRIVATE, ""); err != nil {
		return nil, fmt.Errorf("make / private: %w", err)
	}
	for _, m := range []struct{ fsType, at string }{{"proc", "/proc"}, {"tmpfs", "/run"}, {"tmpfs", "/var/lib"}, {"tmpfs", kubeletRoot}} {
		if err := os.MkdirAll(m.at, 0o755); err != nil {
			return nil, err
		}
		if err := unix.Mount(m.fsType, m.at, m.fsType, 0, ""); err != nil {
			return nil, fmt.Errorf("mount %s: %w", m.at, err)
		}
	}
	if err := unix.Mount("", kubeletRoot, "", unix.MS_SHARED, ""); err != nil {
		return nil, fmt.Errorf("share %s: %w", kubeletRoot, err)
	}
	for i := range disks {
		if err := makeDisk(i); err != nil {
			return nil, err
		}
	}
	return &host{}, nil
}

func disk(i int) string { return fmt.Sprintf("/var/lib/disks/%d", i%disks) }

// makeDisk makes a small ext4 in a file of the machine's own, which has no name
// any more once it is mounted. Its loop device goes with its last mount.
func makeDisk(i int) error {
	file, err := os.CreateTemp("", "mountward-bench")
	if err != nil {
		return err
	}
	image := file.Name()
	defer os.Remove(image)
	if err := errors.Join(file.Truncate(64<<20), file.Close(), os.MkdirAll(disk(i), 0o755)); err != nil {
		return err
	}
	for _, args := range [][]string{{"mkfs.ext4", "-q", image}, {"mount", "-o", "loop", image, disk(i)}} {
		if out, err := exec.Command(args[0], args[1:]...).CombinedOutput(); err != nil {
			return fmt.Errorf("run %q: %w: %s", args, err, out)
		}
	}
	if err := unix.Mount("", disk(i), "", unix.MS_PRIVATE, ""); err != nil {
		return fmt.Errorf("make %s private: %w", disk(i), err)
	}
	return os.Mkdir(filepath.Join(disk(i), filler), 0o755)
}

// filler is the directory that volumes are which no task has mounted.
const filler = "volume"

func podUID(i int) string { return fmt.Sprintf("6f1a7c00-0000-4000-8000-%012d", i) }

// publish mounts the next volume, a directory of a disk, where a CSI driver
// would.
func (h *host) publish(pod int, directory string) error {
	n := len(h.volumes)
	volume := filepath.Join(disk(n), directory)
	if err := os.MkdirAll(volume, 0o755); err != nil {
		return err
	}
	at := fmt.Sprintf("%s/pods/%s/volumes/kubernetes.io~csi/pvc-%d/mount", kubeletRoot, podUID(pod), n)
	if err := os.MkdirAll(at, 0o755); err != nil {
		return err
	}
	data := fmt.Sprintf(`{"driverName":"bench.example.com","specVolID":"pvc-%d","volumeHandle":"pvc-%d"}`, n, n)
	if err := os.WriteFile(filepath.Join(filepath.Dir(at), "vol_data.json"), []byte(data), 0o600); err != nil {
		return err
	}
	if err := unix.Mount(volume, at, "", unix.MS_BIND, ""); err != nil {
		return fmt.Errorf("bind %s: %w", at, err)
	}
	h.volumes = append(h.volumes, at)
	return nil
}

// fill publishes more volumes of the pods until the table has as many mounts.
func (h *host) fill(mounts int) error {
	text, err := os.ReadFile("/proc/self/mountinfo")
	if err != nil {
		return err
	}
	have := 0
	for _, c := range text {
		if c == '\n' {
			have++
		}
	}
	for i := range max(0, mounts-have) {
		if err := h.publish(i%len(h.tasks), filler); err != nil {
			return err
		}
	}
	return nil
}

func (h *host) stop() error {
	var errs []error
	for _, t := range h.tasks {
		errs = append(errs, t.stop())
	}
	return errors.Join(errs...)
}
