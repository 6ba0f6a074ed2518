//go:build linux

package main

import (
	"cmp"
	"context"
	"embed"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"time"

	"github.com/mountward/mountward/test/runtime/harness"
)

// files are laid over the root of the base image.
//
//go:embed all:files
var files embed.FS

// node is one machine.
type node struct {
	suite   string
	run     string // which tests
	full    bool   // every row of the matrix
	timeout time.Duration
	work    string // a directory that is removed with the run
	results string // a directory that stays

	binaries *harness.Binaries
}

func (n *node) tree() string  { return filepath.Join(n.work, "tree") }
func (n *node) tests() string { return filepath.Join(n.work, "guest.test") }
func (n *node) tools() string { return filepath.Join(n.work, "tools") }

// build builds the programs that the machine gets. mountward itself is built by
// the Makefile.
func (n *node) build(ctx context.Context) error {
	var err error
	if n.binaries, err = harness.Build(os.Stderr); err != nil {
		return err
	}
	for _, args := range [][]string{
		{"build", "-trimpath", "-ldflags=-s -w", "-o", n.tools() + "/", "tool"},
		{"test", "-c", "-trimpath", "-o", n.tests(), "./guest"},
	} {
		cmd := newCommand(ctx, "go", args...)
		cmd.Env = append(os.Environ(), "CGO_ENABLED=0", "GOWORK=off")
		if err := run(cmd); err != nil {
			return err
		}
	}
	return nil
}

// populate makes the root of the machine from the base image. The programs of
// the container runtime stand before Debian's in the PATH of services.
func (n *node) populate(ctx context.Context, base string) error {
	if err := os.Mkdir(n.tree(), 0o755); err != nil {
		return err
	}
	err := command(ctx, "tar", "--extract", "--file", base, "--directory", n.tree(),
		"--numeric-owner", "--same-permissions", "--xattrs", "--xattrs-include=*")
	if err != nil {
		return err
	}
	if err := copyTree(files, "files", n.tree()); err != nil {
		return err
	}
	for name, from := range map[string]string{
		"usr/local/bin/containerd":              n.binaries.Containerd,
		"usr/local/bin/containerd-shim-runc-v2": n.binaries.Shim,
		"usr/local/bin/ctr":                     n.binaries.Ctr,
		"usr/local/bin/runc":                    n.binaries.Runc,
		"usr/local/bin/crictl":                  filepath.Join(n.tools(), "crictl"),
		"usr/local/lib/node/guest.test":         n.tests(),
		"usr/local/lib/node/mountplugin":        n.binaries.MountPlugin,
		"usr/local/lib/node/capture":            "../hosts/capture",
	} {
		if err := copyFile(from, filepath.Join(n.tree(), name), 0o755); err != nil {
			return err
		}
	}
	if err := harness.WriteImage(filepath.Join(n.tree(), "usr/local/lib/node/image.tar"), n.binaries.Agent, nil); err != nil {
		return err
	}
	env := fmt.Sprintf("NODE_SUITE=%s\nNODE_RUN=%s\nNODE_FULL=%t\nNODE_TIMEOUT=%s\n",
		n.suite, n.run, n.full, n.timeout-5*time.Minute) // a test that hangs tells where

	if err := os.WriteFile(filepath.Join(n.tree(), "etc/node.env"), []byte(env), 0o644); err != nil {
		return fmt.Errorf("configure tests: %w", err)
	}
	if ok, err := regexp.MatchString(cmp.Or(n.run, "TestBoot"), "TestBoot"); err != nil {
		return fmt.Errorf("which tests: %w", err)
	} else if ok { // a container right after the boot takes time
		if err := os.WriteFile(filepath.Join(n.tree(), "etc/first-container"), nil, 0o644); err != nil {
			return fmt.Errorf("configure tests: %w", err)
		}
	}
	return n.install(ctx)
}

// install puts mountward there as its users do, and does what their package
// manager or they themselves do afterwards.
func (n *node) install(ctx context.Context) error {
	if err := command(ctx, "make", "-s", "-C", "../..", "install", "DESTDIR="+n.tree()); err != nil {
		return err
	}
	// The tests put these there when they are about them.
	more := filepath.Join(n.tree(), "usr/local/lib/node/installed")
	if err := command(ctx, "make", "-s", "-C", "../..", "install-namespace", "install-fail-closed", "DESTDIR="+more); err != nil {
		return err
	}
	for _, args := range [][]string{
		{"journalctl", "--update-catalog"},
		{"systemctl", "enable", "containerd.service", "mountward.service", "kubelet.service", "node-tests.service"},
		{"systemctl", "mask", "serial-getty@ttyS0.service"},
		// Started by the tests, or not needed: a start takes seconds here.
		{"systemctl", "--quiet", "disable", "nfs-server", "nfs-blkmap", "rpcbind.socket", "rpcbind.service", "nfs-client.target", "e2scrub_reap"},
	} {
		if err := command(ctx, "chroot", append([]string{n.tree()}, args...)...); err != nil {
			return err
		}
	}
	return nil
}

// copyTree copies a directory of files. Those that begin with "#!" are
// programs.
func copyTree(from fs.FS, root, to string) error {
	return fs.WalkDir(from, root, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		data, err := fs.ReadFile(from, path)
		if err != nil {
			return err
		}
		mode := os.FileMode(0o644)
		if strings.HasPrefix(string(data), "#!") {
			mode = 0o755
		}
		out, err := create(filepath.Join(to, strings.TrimPrefix(path, root)), mode)
		if err != nil {
			return err
		}
		if _, err := out.Write(data); err != nil {
			out.Close()
			return fmt.Errorf("write %s: %w", path, err)
		}
		return out.Close()
	})
}

// create makes or replaces a file, and the directories above it.
func create(path string, mode os.FileMode) (*os.File, error) {
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return nil, fmt.Errorf("make directory: %w", err)
	}
	f, err := os.OpenFile(path, os.O_CREATE|os.O_TRUNC|os.O_WRONLY, mode)
	if err != nil {
		return nil, fmt.Errorf("make file: %w", err)
	}
	return f, nil
}
