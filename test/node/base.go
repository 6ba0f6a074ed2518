//go:build linux

package main

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// releases are the suites that are known to work.
func releases() []string { return []string{"trixie", "bookworm"} }

// packages are what a node of the suite has beside the minimal Debian.
func packages(suite string) []string {
	all := []string{
		"systemd", "systemd-sysv", "udev", "dbus", "linux-image-cloud-amd64", "initramfs-tools",
		"lvm2", "xfsprogs", "e2fsprogs", "btrfs-progs", "cryptsetup-bin", "thin-provisioning-tools",
		"mdadm", "bcache-tools", "fdisk", "nfs-kernel-server", "nfs-common",
		"iproute2", "procps", "kmod", "jq", "libseccomp2", "containerd", "runc",
	}
	if suite == "trixie" { // bookworm's kernel has no dm-vdo
		all = append(all, "vdo")
	}
	return all
}

// smallRAMFS has the initial RAM file system hold what finds the disk, and no
// more: to pack and unpack every module takes most of a minute.
const smallRAMFS = `mkdir -p "$1/etc/initramfs-tools/conf.d"
echo MODULES=list >"$1/etc/initramfs-tools/conf.d/node"
printf '%s\n' virtio_pci virtio_blk ext4 >"$1/etc/initramfs-tools/modules"`

// recipe is how mmdebstrap is called, but for the path of the image. It runs in
// namespaces of its own: its mounts and processes end with it.
func recipe(suite string) []string {
	return []string{
		"unshare", "--mount", "--pid", "--fork", "--kill-child", "--mount-proc", "--propagation", "private",
		"mmdebstrap", "--quiet", "--mode=root", "--variant=minbase", "--format=tar",
		"--essential-hook=" + smallRAMFS,
		"--include=" + strings.Join(packages(suite), ","), suite,
	}
}

// base returns the archive of a suite's base image, which it makes if there is
// none of this recipe.
func (c *cache) base(ctx context.Context, suite, work string) (string, error) {
	args := recipe(suite)
	sum := sha256.Sum256([]byte(strings.Join(args, "\x00")))
	path := filepath.Join(c.dir, fmt.Sprintf("base-%s-%x.tar", suite, sum[:6]))
	if _, err := os.Stat(path); err == nil {
		return path, nil
	} else if !errors.Is(err, fs.ErrNotExist) {
		return "", fmt.Errorf("look for base image: %w", err)
	}
	partial := filepath.Join(work, "base.tar")
	cmd := newCommand(ctx, args[0], append(args[1:], partial)...)
	cmd.Env = append(os.Environ(), "TMPDIR="+work)
	if err := run(cmd); err != nil {
		return "", err
	}
	if err := os.Rename(partial, path); err != nil {
		return "", fmt.Errorf("keep base image: %w", err)
	}
	return path, c.sweep("base-"+suite+"-*", path)
}
