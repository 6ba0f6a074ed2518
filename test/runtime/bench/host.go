//go:build linux

package main

import (
	"fmt"
	"os"
	"path/filepath"

	"golang.org/x/sys/unix"
)

const (
	kubeletRoot  = "/var/lib/kubelet"
	csiRoot      = kubeletRoot + "/plugins/kubernetes.io/csi"
	agentVolumes = 3 // staged below csiRoot, so what a container sees there
	spread       = 256
)

// host is a node's tree of mounts: a kubelet root that is a shared mount of
// its own, and volumes of pods below it.
type host struct {
	source string // what the volumes are binds of; private, so that each has a peer group of its own
	mounts int    // in the whole table, when it was last filled
	filled int    // of them made for that
}

func newHost() (*host, error) {
	h := &host{source: "/var/lib/volume"}
	if err := mountTmpfs(kubeletRoot, unix.MS_SHARED); err != nil {
		return nil, err
	}
	if err := mountTmpfs(h.source, unix.MS_PRIVATE); err != nil {
		return nil, err
	}
	for i := range agentVolumes {
		if err := h.bind(fmt.Sprintf("%s/driver/volume-%d/globalmount", csiRoot, i)); err != nil {
			return nil, err
		}
	}
	return h, nil
}

// fill makes volumes of pods until the whole table has as many mounts.
func (h *host) fill(mounts int) error {
	have, err := tableLength()
	if err != nil {
		return err
	}
	for range mounts - have {
		at := fmt.Sprintf("%s/pods/%03d/volumes/kubernetes.io~csi/pvc-%06d/mount", kubeletRoot, h.filled%spread, h.filled)
		if err := h.bind(at); err != nil {
			return err
		}
		h.filled++
	}
	h.mounts = mounts
	return nil
}

func (h *host) bind(at string) error {
	if err := os.MkdirAll(at, 0o755); err != nil {
		return fmt.Errorf("make mount point: %w", err)
	}
	if err := unix.Mount(h.source, at, "", unix.MS_BIND, ""); err != nil {
		return fmt.Errorf("bind %s to %s: %w", h.source, at, err)
	}
	return nil
}

// change makes a host mount and takes it away: every table that was read
// before is stale.
func (h *host) change() error {
	at := filepath.Join(kubeletRoot, "pods", "passing")
	if err := h.bind(at); err != nil {
		return err
	}
	if err := unix.Unmount(at, 0); err != nil {
		return fmt.Errorf("unmount %s: %w", at, err)
	}
	return nil
}

func tableLength() (int, error) {
	text, err := os.ReadFile("/proc/self/mountinfo")
	if err != nil {
		return 0, fmt.Errorf("count mounts: %w", err)
	}
	lines := 0
	for _, c := range text {
		if c == '\n' {
			lines++
		}
	}
	return lines, nil
}

func mountTmpfs(at string, propagation uintptr) error {
	if err := os.MkdirAll(at, 0o755); err != nil {
		return fmt.Errorf("make mount point: %w", err)
	}
	if err := unix.Mount("bench", at, "tmpfs", 0, "mode=755"); err != nil {
		return fmt.Errorf("mount tmpfs on %s: %w", at, err)
	}
	if err := unix.Mount("", at, "", propagation, ""); err != nil {
		return fmt.Errorf("set propagation of %s: %w", at, err)
	}
	return nil
}
