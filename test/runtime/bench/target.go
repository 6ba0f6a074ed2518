//go:build linux

package main

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"

	rspec "github.com/opencontainers/runtime-spec/specs-go"
	"golang.org/x/sys/unix"
)

// bundles is where containerd keeps the bundles of Kubernetes' containers by
// default.
const bundles = "/run/containerd/io.containerd.runtime.v2.task/k8s.io"

const targetVariable = "MOUNTWARD_BENCH_TARGET"

// process stands in for a container's first process: it has a mount namespace
// of its own, whose root is the overlay in the bundle, and the mounts of the
// specification, made as runc makes them.
type process struct {
	cmd    *exec.Cmd
	stdin  io.Closer
	pid    int
	bundle string
}

func startTarget(id string, spec *rspec.Spec) (_ *process, err error) {
	p := &process{bundle: filepath.Join(bundles, id)}
	defer func() {
		if err != nil {
			err = errors.Join(err, p.stop())
		}
	}()
	if err := p.makeBundle(spec); err != nil {
		return nil, err
	}
	p.cmd = exec.Command("/proc/self/exe")
	p.cmd.Env = append(os.Environ(), targetVariable+"="+p.bundle)
	p.cmd.Stderr = os.Stderr
	p.cmd.SysProcAttr = &syscall.SysProcAttr{Cloneflags: unix.CLONE_NEWNS}
	if p.stdin, err = p.cmd.StdinPipe(); err != nil {
		return nil, fmt.Errorf("start target: %w", err)
	}
	stdout, err := p.cmd.StdoutPipe()
	if err != nil {
		return nil, fmt.Errorf("start target: %w", err)
	}
	if err := p.cmd.Start(); err != nil {
		return nil, fmt.Errorf("start target: %w", err)
	}
	p.pid = p.cmd.Process.Pid
	if line, err := bufio.NewReader(stdout).ReadString('\n'); err != nil {
		return nil, fmt.Errorf("start target: it said %q: %w", line, err)
	}
	return p, nil
}

func (p *process) makeBundle(spec *rspec.Spec) error {
	var dirs []string
	for _, name := range []string{"lower", "upper", "work", "rootfs"} {
		dir := filepath.Join("/var/lib/containerd/snapshot", name)
		if name == "rootfs" {
			dir = filepath.Join(p.bundle, name)
		}
		if err := os.MkdirAll(dir, 0o755); err != nil {
			return fmt.Errorf("make bundle: %w", err)
		}
		dirs = append(dirs, dir)
	}
	options := fmt.Sprintf("lowerdir=%s,upperdir=%s,workdir=%s", dirs[0], dirs[1], dirs[2])
	if err := unix.Mount("overlay", dirs[3], "overlay", 0, options); err != nil {
		return fmt.Errorf("mount rootfs: %w", err)
	}
	text, err := json.Marshal(spec)
	if err == nil {
		err = os.WriteFile(filepath.Join(p.bundle, "config.json"), text, 0o600)
	}
	if err != nil {
		return fmt.Errorf("write config.json: %w", err)
	}
	return nil
}

// stop ends the process, which waits for the end of its input, and removes the
// bundle.
func (p *process) stop() error {
	var errs []error
	if p.stdin != nil {
		errs = append(errs, p.stdin.Close())
	}
	if p.pid != 0 {
		errs = append(errs, p.cmd.Wait())
	}
	rootfs := filepath.Join(p.bundle, "rootfs")
	if err := unix.Unmount(rootfs, 0); err != nil && !errors.Is(err, unix.EINVAL) {
		errs = append(errs, fmt.Errorf("unmount %s: %w", rootfs, err))
	}
	return errors.Join(append(errs, os.RemoveAll(p.bundle))...)
}

func target() bool { return os.Getenv(targetVariable) != "" }

// becomeTarget is the process itself.
func becomeTarget() error {
	bundle := os.Getenv(targetVariable)
	var spec rspec.Spec
	text, err := os.ReadFile(filepath.Join(bundle, "config.json"))
	if err == nil {
		err = json.Unmarshal(text, &spec)
	}
	if err == nil {
		err = enter(filepath.Join(bundle, "rootfs"), spec.Mounts)
	}
	if err != nil {
		return fmt.Errorf("become target: %w", err)
	}
	fmt.Println("ready")
	_, err = io.Copy(io.Discard, os.Stdin)
	return err
}

// enter makes the mounts and pivots into the root filesystem.
func enter(rootfs string, mounts []rspec.Mount) error {
	if err := unix.Mount("", "/", "", unix.MS_SLAVE|unix.MS_REC, ""); err != nil {
		return fmt.Errorf("make mounts slaves: %w", err)
	}
	// A root filesystem must be a mount of this namespace's own.
	if err := unix.Mount(rootfs, rootfs, "", unix.MS_BIND|unix.MS_REC, ""); err != nil {
		return fmt.Errorf("bind %s: %w", rootfs, err)
	}
	for _, m := range slices.SortedStableFunc(slices.Values(mounts), byDepth) {
		if err := mountAt(filepath.Join(rootfs, m.Destination), m); err != nil {
			return fmt.Errorf("mount %s: %w", m.Destination, err)
		}
	}
	if err := unix.Chdir(rootfs); err != nil {
		return fmt.Errorf("enter %s: %w", rootfs, err)
	}
	if err := unix.PivotRoot(".", "."); err != nil {
		return fmt.Errorf("pivot into %s: %w", rootfs, err)
	}
	if err := unix.Unmount(".", unix.MNT_DETACH); err != nil {
		return fmt.Errorf("unmount the old root: %w", err)
	}
	return nil
}

func byDepth(a, b rspec.Mount) int {
	return strings.Count(filepath.Clean(a.Destination), "/") - strings.Count(filepath.Clean(b.Destination), "/")
}

func mountAt(at string, m rspec.Mount) error {
	source, err := os.Stat(m.Source)
	if m.Type == "bind" && err != nil {
		return err
	}
	if m.Type == "bind" && !source.IsDir() {
		if err := errors.Join(os.MkdirAll(filepath.Dir(at), 0o755), os.WriteFile(at, nil, 0o600)); err != nil {
			return err
		}
	} else if err := os.MkdirAll(at, 0o755); err != nil {
		return err
	}
	if m.Type != "bind" {
		return unix.Mount("tmpfs", at, "tmpfs", 0, "") // in place of every pseudo file system
	}
	if err := unix.Mount(m.Source, at, "", unix.MS_BIND|unix.MS_REC, ""); err != nil {
		return err
	}
	propagation := uintptr(unix.MS_PRIVATE)
	if slices.Contains(m.Options, "rslave") {
		propagation = unix.MS_SLAVE
	}
	return unix.Mount("", at, "", propagation|unix.MS_REC, "")
}
