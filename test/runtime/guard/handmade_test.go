//go:build linux

package guard_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/containerd/nri/pkg/api"
	rspec "github.com/opencontainers/runtime-spec/specs-go"
	"golang.org/x/sys/unix"

	"github.com/mountward/mountward/test/runtime/adapt"
	"github.com/mountward/mountward/test/runtime/harness"
	"github.com/mountward/mountward/test/runtime/ward"
)

// byHand is mountward on the runtime's side of NRI alone, with containers that
// the test makes: for what a runtime would never do, or would itself hang on.
type byHand struct {
	*bench
	state string // containerd's state directory
	t     *testing.T
}

func startByHand(t *testing.T, policy, settings string) *byHand {
	t.Helper()
	harness.NeedsRoot(t)
	dir := t.TempDir()
	h := &byHand{state: filepath.Join(dir, "state"), t: t}
	w, cfg, err := ward.New(dir, ward.Options{
		Policy:   policy,
		Settings: fmt.Sprintf("host.runtime_state = %q\n%s", h.state, settings),
	})
	if err != nil {
		t.Fatal(err)
	}
	h.bench = launch(t, w, cfg.PluginConf["90-mountward.conf"])
	return h
}

// container is one of a test's own making.
type container struct {
	*api.Container
	pod    *api.PodSandbox
	spec   *rspec.Spec // after all plugins
	bundle string
	rootfs string
}

// created asks about a container and makes its bundle: config.json and a root
// filesystem in which the agent is.
func (h *byHand) created(pod *api.PodSandbox, id string, spec *rspec.Spec) (*container, error) {
	h.t.Helper()
	made, _, err := h.CreateFromSpec(h.t.Context(), pod, id, "main", spec)
	if err != nil {
		return nil, err
	}
	c := &container{Container: adapt.ContainerFromSpec(pod, id, "main", made), pod: pod, spec: made}
	c.State = api.ContainerState_CONTAINER_CREATED
	c.bundle = filepath.Join(h.state, "io.containerd.runtime.v2.task", "k8s.io", id)
	c.rootfs = filepath.Join(c.bundle, "rootfs")
	h.must(os.MkdirAll(c.rootfs, 0o755))
	text, err := json.Marshal(made)
	h.must(err)
	h.must(os.WriteFile(filepath.Join(c.bundle, "config.json"), text, 0o600))
	h.mount("rootfs", c.rootfs, "tmpfs", 0, "")
	h.must(unix.Mount("", c.rootfs, "", unix.MS_PRIVATE, ""))
	h.agent(c.rootfs)
	return c, nil
}

func (h *byHand) agent(dir string) {
	h.t.Helper()
	binaries, err := harness.Build(os.Stderr)
	h.must(err)
	text, err := os.ReadFile(binaries.Agent)
	h.must(err)
	h.must(os.WriteFile(filepath.Join(dir, "agent"), text, 0o755))
}

// bound is one mount of a container, as runc would make it.
type bound struct {
	source, destination string
	propagation         uintptr // 0 leaves it a peer of its source
}

// run gives the container a process in a mount namespace of its own, at whose
// root its root filesystem is.
func (h *byHand) run(c *container, mounts ...bound) {
	h.t.Helper()
	cmd := exec.Command("/agent", "pause")
	cmd.Dir = "/"
	cmd.SysProcAttr = &syscall.SysProcAttr{Chroot: c.rootfs}
	h.must(harness.OnThread(func() error {
		// The thread stays in the namespace, and so it ends with the function.
		if err := unix.Unshare(unix.CLONE_NEWNS); err != nil {
			return fmt.Errorf("make a mount namespace: %w", err)
		}
		for _, m := range mounts {
			if err := m.make(c.rootfs); err != nil {
				return err
			}
		}
		return cmd.Start()
	}))
	h.t.Cleanup(func() {
		_ = cmd.Process.Kill() // an error says that it has ended
		_ = cmd.Wait()         // it was killed
	})
	c.Pid = uint32(cmd.Process.Pid)
}

func (m bound) make(rootfs string) error {
	target := filepath.Join(rootfs, m.destination)
	if err := os.MkdirAll(target, 0o755); err != nil {
		return err
	}
	if err := unix.Mount(m.source, target, "", unix.MS_BIND, ""); err != nil {
		return fmt.Errorf("bind %s to %s: %w", m.source, target, err)
	}
	if m.propagation == 0 {
		return nil
	}
	return unix.Mount("", target, "", m.propagation, "")
}

// start tells of the start, as the runtime does before the container's own code
// runs.
func (h *byHand) start(c *container) error {
	h.t.Helper()
	return h.StartContainer(h.t.Context(), c.pod, c.Container)
}

// drift waits for the drift record of a container and returns its proof about a
// destination, nil for none.
func (h *byHand) drift(c *container, destination string) (ward.Record, map[string]any) {
	h.t.Helper()
	r := h.await("drift", c.Id)
	proofs, _ := r["proofs"].([]any)
	for _, p := range proofs {
		if proof, ok := p.(map[string]any); ok && proof["destination"] == destination {
			return r, proof
		}
	}
	return r, nil
}

func (h *byHand) await(event, id string) ward.Record {
	h.t.Helper()
	r, err := h.Await(h.t.Context(), 0, ward.Of(event, id))
	if err != nil {
		h.t.Fatalf("%s of %s: %v", event, id, err)
	}
	return r
}

// no fails the test if there is such a record once the task record of the
// container, which comes last, is there.
func (h *byHand) no(event string, c *container) {
	h.t.Helper()
	h.await("task", c.Id)
	for _, r := range mustRecords(h.t, h.Ward) {
		if r.Event() == event && r.ContainerID() == c.Id {
			h.t.Errorf("unexpected record: %s", r.Message())
		}
	}
}

// pluginPID is the process that the adaptation, which is in this one, launched.
func (h *byHand) pluginPID() int {
	h.t.Helper()
	pid, err := ward.Launched(os.Getpid())
	h.must(err)
	return pid
}

// mount makes a mount that ends with the test.
func (h *byHand) mount(source, target, fsType string, flags uintptr, data string) {
	h.t.Helper()
	h.must(os.MkdirAll(target, 0o755))
	if err := unix.Mount(source, target, fsType, flags, data); err != nil {
		h.t.Fatalf("mount %s on %s: %v", source, target, err)
	}
	h.t.Cleanup(func() {
		// The test may have unmounted it itself.
		if err := unix.Unmount(target, unix.MNT_DETACH); err != nil && !errors.Is(err, unix.EINVAL) && !errors.Is(err, unix.ENOENT) {
			h.t.Errorf("unmount %s: %v", target, err)
		}
	})
}

func (h *byHand) must(err error) {
	h.t.Helper()
	if err != nil {
		h.t.Fatal(err)
	}
}
