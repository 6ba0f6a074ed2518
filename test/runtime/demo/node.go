//go:build linux

package main

import (
	"context"
	_ "embed"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"golang.org/x/sys/unix"

	"github.com/mountward/mountward/test/runtime/harness"
	"github.com/mountward/mountward/test/runtime/ward"
)

//go:embed policy.toml
var policyText string

// build builds the programs of a node, or finds them, and says now and then
// that it is still at it: the first time takes minutes.
func build() (*harness.Binaries, error) {
	done := make(chan struct{})
	defer close(done)
	go func() {
		start := time.Now()
		for {
			select {
			case <-done:
				return
			case <-time.After(15 * time.Second):
				fmt.Fprintf(os.Stderr, "demo: still building containerd and runc, %.0f s\n", time.Since(start).Seconds())
			}
		}
	}()
	return harness.Build(os.Stderr)
}

// set makes the host and starts a containerd that has no plugin yet.
func (d *demo) set(binaries *harness.Binaries) error {
	d.progress.say("making a disk and a volume")
	var err error
	if d.host, err = newHost(); err != nil {
		return err
	}
	d.progress.say("starting containerd")
	d.node, err = harness.Start(harness.Config{
		DefaultState: true,
		Root:         filepath.Join(hostDir, "containerd"),
		Binaries:     binaries,
	})
	d.progress.clear()
	if err != nil {
		return err
	}
	return d.title()
}

func (d *demo) title() error {
	out, err := exec.Command(d.node.Binaries.Containerd, "--version").Output()
	if err != nil {
		return fmt.Errorf("ask containerd for its version: %w", err)
	}
	fields := strings.Fields(string(out))
	var kernel unix.Utsname
	if err := unix.Uname(&kernel); err != nil {
		return fmt.Errorf("ask the kernel for its version: %w", err)
	}
	d.heading(fmt.Sprintf("mountward on containerd %s, Linux %s; kubelet root %s",
		fields[min(2, len(fields)-1)], unix.ByteSliceToString(kernel.Release[:]), kubeletRoot))
	if d.host.why != "" {
		d.say("No ext4 on a loop device here, so tmpfs stands for it: " + d.host.why)
	}
	return nil
}

// install puts mountward where containerd launches its plugins from, as "make
// install-launched" does, and restarts containerd.
func (d *demo) install(ctx context.Context, mode string) error {
	text := strings.Replace(policyText, `"enforce"`, fmt.Sprintf("%q", mode), 1)
	const dir = "/run/mountward"
	if err := os.Mkdir(dir, 0o700); err != nil {
		return fmt.Errorf("make directory of mountward: %w", err)
	}
	w, cfg, err := ward.New(dir, ward.Options{
		Policy: text,
		Settings: fmt.Sprintf("host.kubelet_root = %q\nhost.runtime_root = %q\nhost.runtime_state = %q",
			kubeletRoot, d.node.Root, d.node.State),
	})
	if err != nil {
		return err
	}
	for name, text := range cfg.PluginConf {
		if err := os.WriteFile(filepath.Join(d.node.ConfDir, name), []byte(text), 0o600); err != nil {
			return fmt.Errorf("configure mountward: %w", err)
		}
	}
	for name, target := range cfg.Plugins {
		if err := os.Symlink(target, filepath.Join(d.node.PluginDir, name)); err != nil {
			return fmt.Errorf("install mountward: %w", err)
		}
	}
	d.heading("\n(b) With mountward as a plugin of containerd, and this policy, the same agent sees it at once.")
	d.text(text)
	d.progress.say("restarting containerd")
	defer d.progress.clear()
	w.Node, d.ward = d.node, w
	if err := d.node.Restart(); err != nil {
		return err
	}
	if _, err = w.Await(ctx, 0, func(r ward.Record) bool { return r.Event() == "policy-loaded" }); err != nil {
		return fmt.Errorf("have containerd launch mountward: %w", err)
	}
	return nil
}
