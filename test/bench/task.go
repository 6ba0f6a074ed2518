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
	"strconv"
	"strings"
	"syscall"

	rspec "github.com/opencontainers/runtime-spec/specs-go"
	"golang.org/x/sys/unix"
)

// task stands in for a container: a bundle, and a process whose mount namespace
// has the overlay in the bundle as its root and twelve mounts.
type task struct {
	id     string
	bundle string
	cmd    *exec.Cmd
	stdin  io.Closer
}

func (h *host) startTask(i int) error {
	t := &task{id: fmt.Sprintf("%064x", i)}
	t.bundle = filepath.Join(state, "io.containerd.runtime.v2.task/k8s.io", t.id)
	first := len(h.volumes)
	for range perTask {
		if err := h.publish(i, fmt.Sprintf("volume-%d", len(h.volumes))); err != nil {
			return err
		}
	}
	hosts := filepath.Join(kubeletRoot, "pods", podUID(i), "etc-hosts")
	if err := os.WriteFile(hosts, nil, 0o644); err != nil {
		return err
	}
	if err := t.makeBundle(i, h.volumes[first:], hosts); err != nil {
		return err
	}
	h.tasks = append(h.tasks, t)
	if err := t.start(); err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(t.bundle, "init.pid"), []byte(strconv.Itoa(t.cmd.Process.Pid)), 0o600)
}

func (t *task) makeBundle(i int, volumes []string, hosts string) error {
	snapshot := fmt.Sprintf("/var/lib/containerd/snapshots/%d", i)
	for _, dir := range []string{snapshot + "/fs", snapshot + "/work", "/var/lib/containerd/image/fs", t.bundle + "/rootfs"} {
		if err := os.MkdirAll(dir, 0o755); err != nil {
			return err
		}
	}
	options := fmt.Sprintf("lowerdir=/var/lib/containerd/image/fs,upperdir=%s/fs,workdir=%s/work", snapshot, snapshot)
	if err := unix.Mount("overlay", t.bundle+"/rootfs", "overlay", 0, options); err != nil {
		return fmt.Errorf("mount root filesystem: %w", err)
	}
	spec := rspec.Spec{
		Root: &rspec.Root{Path: "rootfs"},
		Annotations: map[string]string{
			"io.kubernetes.cri.container-type": "container", "io.kubernetes.cri.container-name": "main",
			"io.kubernetes.cri.sandbox-id": t.id, "io.kubernetes.cri.sandbox-name": fmt.Sprintf("pod-%d", i),
			"io.kubernetes.cri.sandbox-namespace": "bench", "io.kubernetes.cri.sandbox-uid": podUID(i),
		},
		Mounts: []rspec.Mount{
			{Destination: "/proc", Type: "proc", Source: "proc"},
			{Destination: "/etc/hosts", Type: "bind", Source: hosts, Options: []string{"rbind", "rprivate"}},
		},
	}
	for n, v := range volumes {
		spec.Mounts = append(spec.Mounts, rspec.Mount{
			Destination: fmt.Sprintf("/data/%d", n), Type: "bind", Source: v, Options: []string{"rbind", "rslave"},
		})
	}
	data, err := json.Marshal(spec)
	if err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(t.bundle, "config.json"), data, 0o600)
}

func (t *task) start() error {
	t.cmd = exec.Command("/proc/self/exe")
	t.cmd.Env = append(os.Environ(), taskVariable+"="+t.bundle)
	t.cmd.Stderr = os.Stderr
	t.cmd.SysProcAttr = &syscall.SysProcAttr{Cloneflags: syscall.CLONE_NEWNS}
	var err error
	if t.stdin, err = t.cmd.StdinPipe(); err != nil {
		return err
	}
	stdout, err := t.cmd.StdoutPipe()
	if err != nil {
		return err
	}
	if err := t.cmd.Start(); err != nil {
		return err
	}
	if line, err := bufio.NewReader(stdout).ReadString('\n'); err != nil {
		return fmt.Errorf("start process: it said %q: %w", line, err)
	}
	return nil
}

func (t *task) stop() error {
	if t.cmd == nil || t.cmd.Process == nil {
		return nil
	}
	return errors.Join(t.stdin.Close(), t.cmd.Wait())
}

// becomeTask is the process of a task: it makes the mounts of its
// specification, goes into its root and waits for the end of its input.
func becomeTask(bundle string) error {
	data, err := os.ReadFile(filepath.Join(bundle, "config.json"))
	if err != nil {
		return err
	}
	var spec rspec.Spec
	if err := json.Unmarshal(data, &spec); err != nil {
		return err
	}
	if err := unix.Mount("", "/", "", unix.MS_REC|unix.MS_SLAVE, ""); err != nil {
		return err
	}
	root := filepath.Join(bundle, "rootfs")
	for _, m := range spec.Mounts {
		if err := mountIn(root, m); err != nil {
			return fmt.Errorf("mount %s: %w", m.Destination, err)
		}
	}
	if err := os.Chdir(root); err != nil {
		return err
	}
	if err := unix.PivotRoot(".", "."); err != nil {
		return fmt.Errorf("pivot root: %w", err)
	}
	if err := unix.Unmount(".", unix.MNT_DETACH); err != nil {
		return fmt.Errorf("leave the old root: %w", err)
	}
	fmt.Println("ready")
	_, err = io.Copy(io.Discard, os.Stdin)
	return err
}

func mountIn(root string, m rspec.Mount) error {
	at := filepath.Join(root, m.Destination)
	if m.Type != "bind" {
		if err := os.MkdirAll(at, 0o755); err != nil {
			return err
		}
		return unix.Mount(m.Source, at, m.Type, 0, "")
	}
	info, err := os.Stat(m.Source)
	if err != nil {
		return err
	}
	if info.IsDir() {
		err = os.MkdirAll(at, 0o755)
	} else if err = os.MkdirAll(filepath.Dir(at), 0o755); err == nil {
		err = os.WriteFile(at, nil, 0o644)
	}
	if err != nil {
		return err
	}
	if err := unix.Mount(m.Source, at, "", unix.MS_BIND|unix.MS_REC, ""); err != nil {
		return err
	}
	if strings.Contains(strings.Join(m.Options, ","), "rprivate") {
		return unix.Mount("", at, "", unix.MS_PRIVATE|unix.MS_REC, "")
	}
	return nil
}
