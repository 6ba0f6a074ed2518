//go:build linux

package guard_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/containerd/nri/pkg/api"
	"github.com/containerd/nri/pkg/stub"
	"github.com/containerd/ttrpc"
	"github.com/google/go-cmp/cmp"
	rspec "github.com/opencontainers/runtime-spec/specs-go"
	"golang.org/x/sys/unix"

	"github.com/mountward/mountward/test/runtime/adapt"
	"github.com/mountward/mountward/test/runtime/harness"
	"github.com/mountward/mountward/test/runtime/ward"
)

// otherNRI is mountward, launched by the runtime's side of another NRI.
type otherNRI struct {
	*adapt.Process
	*ward.Ward
	tb     testing.TB
	plugin int // its process
}

func onNRI(t *testing.T, version, containerd, policy, require string) *otherNRI {
	t.Helper()
	harness.NeedsRoot(t)
	program, err := harness.Adaptation(os.Stderr, version)
	if err != nil {
		t.Fatal(err)
	}
	w, node, err := ward.New(t.TempDir(), ward.Options{Policy: policy})
	if err != nil {
		t.Fatal(err)
	}
	plugin := 0
	t.Cleanup(func() { gone(t, plugin) }) // after the runtime has ended
	p, err := adapt.StartProcess(program, adapt.Config{Plugins: node.Plugins, PluginConf: node.PluginConf, Version: containerd}, require)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := p.Stop(); err != nil {
			t.Error(err)
		}
	})
	if plugin, err = ward.Launched(p.PID); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = unix.Kill(plugin, unix.SIGCONT) }) // it may have ended, or never been stopped
	return &otherNRI{p, w, t, plugin}
}

func (o *otherNRI) container(namespace string, mounts ...rspec.Mount) (*api.PodSandbox, *api.Container) {
	pod := testPod(namespace)
	return pod, adapt.ContainerFromSpec(pod, "c-"+namespace, "main", privileged(mounts...))
}

// stopped stops the plugin as a whole, which the runtime cannot tell from one
// that hangs, for as long as f runs.
func (o *otherNRI) stopped(f func()) {
	o.tb.Helper()
	stopProcess(o.tb, o.plugin)
	f()
	if err := unix.Kill(o.plugin, unix.SIGCONT); err != nil {
		o.tb.Error(err)
	}
}

// stopProcess returns once the process stands still.
func stopProcess(tb testing.TB, pid int) {
	tb.Helper()
	if err := unix.Kill(pid, unix.SIGSTOP); err != nil {
		tb.Fatal(err)
	}
	for end := time.Now().Add(20 * time.Second); ; time.Sleep(time.Millisecond) {
		text, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
		if err != nil {
			tb.Fatal(err)
		}
		if _, rest, _ := strings.Cut(string(text), ") "); strings.HasPrefix(rest, "T") {
			return
		}
		if time.Now().After(end) {
			tb.Fatalf("process %d does not stop", pid)
		}
	}
}

func (o *otherNRI) says(texts ...string) {
	o.tb.Helper()
	_, err := o.Await(o.tb.Context(), 0, func(r ward.Record) bool {
		for _, text := range texts {
			if !strings.Contains(r.Message(), text) {
				return false
			}
		}
		return true
	})
	if err != nil {
		o.tb.Errorf("%q: %v", texts, err)
	}
}

// decides fails the test unless mounts are changed and refused by the policy
// rulesByNamespace, and a whole life is told without an error.
func (o *otherNRI) decides(source string) {
	o.tb.Helper()
	pod, c := o.container("strict", bind("/data", "/", "rshared"))
	if _, err := o.CreateContainer(pod, c); err == nil || !strings.Contains(err.Error(), `rule "strict"`) {
		o.tb.Errorf("create: %v, want our refusal", err)
	}
	pod, c = o.container("lower", bind("/data", source, "rshared"))
	adjust, err := o.CreateContainer(pod, c)
	if err != nil {
		o.tb.Fatal(err)
	}
	for _, m := range adjust.GetMounts() {
		if m.GetDestination() == "/data" {
			if diff := cmp.Diff([]string{"rbind", "rprivate"}, m.GetOptions()); diff != "" {
				o.tb.Errorf("options (-want +got):\n%s", diff)
			}
		}
	}
	if len(adjust.GetMounts()) == 0 {
		o.tb.Error("nothing was changed")
	}
	c.Pid = 1 // no container, which refuses nothing
	for event, send := range map[string]func(*api.PodSandbox, *api.Container) error{
		"start": o.StartContainer, "stop": o.StopContainer, "remove": o.RemoveContainer,
	} {
		if err := send(pod, c); err != nil {
			o.tb.Errorf("%s: %v", event, err)
		}
	}
}

// TestOldRuntime is T21: NRI 0.8.0, of containerd 1.7.26 to 2.1, has no
// validation and drops a plugin that asks for it. There we decide and say that
// failing closed is weakened. It is told by the version of containerd, which
// distributions spell in their own ways.
func TestOldRuntime(t *testing.T) {
	dirs := harness.TestHostDirs(t)
	for _, containerd := range []string{"v2.1.9", "v1.7.29", "1.7.29~ds1-1", "2.1.9-0ubuntu1"} {
		t.Run(containerd, func(t *testing.T) {
			o := onNRI(t, harness.OldNRI, containerd, rulesByNamespace, "mountward")
			o.says("failing closed is weakened", "nri=")
			o.says("NRI does not fail closed here", "validator: no", "required_plugins: no (containerd")
			o.decides(dirs.Shared.Path)
		})
	}

	// What it is weakened by: nobody is missed.
	o := onNRI(t, harness.OldNRI, "v2.1.9", rulesByNamespace, "mountward")
	pod, c := o.container("strict", bind("/data", "/", "rshared"))
	o.stopped(func() {
		if adjust, err := o.CreateContainer(pod, c); err != nil || len(adjust.GetMounts()) > 0 {
			t.Errorf("create while the plugin hangs: %v, %v; NRI 0.8.0 was to go on without it", adjust, err)
		}
	})
}

// subscribesAll is a plugin that asks for all it has handlers for.
type subscribesAll struct{ adjuster }

func (subscribesAll) ValidateContainerAdjustment(context.Context, *api.ValidateContainerAdjustmentRequest) error {
	return nil
}

// TestOldRuntimeDropsValidators is the trap of T21 itself.
func TestOldRuntimeDropsValidators(t *testing.T) {
	for version, want := range map[string]bool{harness.OldNRI: false, harness.NewNRI: true} {
		o := onNRI(t, version, "v2.1.9", goodPolicy, "")
		before, err := o.Syncs()
		if err != nil {
			t.Fatal(err)
		}
		closed := make(chan struct{})
		s, err := stub.New(subscribesAll{func(*api.Container, *api.ContainerAdjustment) {}},
			stub.WithPluginIdx("10"), stub.WithPluginName("all"), stub.WithSocketPath(o.Socket),
			stub.WithOnClose(sync.OnceFunc(func() { close(closed) })))
		if err != nil {
			t.Fatal(err)
		}
		// It can be gone before what it answered was read.
		err = s.Start(t.Context())
		dropped := errors.Is(err, ttrpc.ErrClosed)
		if err != nil && !dropped {
			t.Fatal(err)
		}
		t.Cleanup(s.Stop)
		for syncs := before; syncs == before && !dropped; {
			select {
			case <-closed:
				dropped = true
			case <-time.After(5 * time.Millisecond):
				if syncs, err = o.Syncs(); err != nil {
					t.Fatal(err)
				}
			}
		}
		if dropped == want {
			t.Errorf("NRI %s: plugin dropped: %t", version, dropped)
		}
	}
}

// TestFailurePolicy: NRI 0.12.5 asks no validator that has ended. There the
// failure policy, which is declared in enforce mode, fails the request in which
// we hang, and keeps us. In audit mode nothing fails, and nothing is kept that
// would delay the next request.
func TestFailurePolicy(t *testing.T) {
	audit := strings.Replace(rulesByNamespace, "enforce", "audit", 1)
	t.Run("enforce", func(t *testing.T) {
		o := onNRI(t, harness.NewNRI, "v2.4.2", rulesByNamespace, "mountward")
		o.says("connected to the runtime", "nri=v0.12.5")
		o.says("NRI does not fail closed here", "validator: no (NRI v0.12.5 skips one that has ended")
		pod, c := o.container("other")
		o.stopped(func() {
			if _, err := o.CreateContainer(pod, c); err == nil || !strings.Contains(err.Error(), "90-mountward failed to handle CreateContainer") {
				t.Errorf("create: %v, want a failure that names us", err)
			}
			if err := o.StartContainer(pod, c); err == nil || !strings.Contains(err.Error(), "90-mountward failed to handle StartContainer") {
				t.Errorf("start: %v, want a failure that names us", err)
			}
			// It is the same for what only cleans up. Containerd's CRI logs it.
			if err := o.StopContainer(pod, c); err == nil {
				t.Error("stop: no failure; the policy is for every event")
			}
		})
		o.decides("/") // it was kept
	})
	t.Run("enforce, killed within the request", func(t *testing.T) {
		o := onNRI(t, harness.NewNRI, "v2.4.2", rulesByNamespace, "mountward")
		pod, c := o.container("other")
		if err := o.killedWithin(pod, c); err == nil || !strings.Contains(err.Error(), "failed to handle CreateContainer") {
			t.Errorf("create: %v, want a failure", err)
		}
		for range 2 {
			if _, err := o.CreateContainer(pod, c); err == nil || !strings.Contains(err.Error(), "required plugin") {
				t.Errorf("next create: %v, want that we are required", err)
			}
		}
	})
	t.Run("audit", func(t *testing.T) {
		o := onNRI(t, harness.NewNRI, "v2.4.2", audit, "")
		pod, c := o.container("strict", bind("/data", "/", "rshared"))
		o.stopped(func() {
			if _, err := o.CreateContainer(pod, c); err != nil {
				t.Errorf("create: %v, want none in audit mode", err)
			}
		})
		gone(t, o.plugin) // a launched plugin is killed
		if err := o.StartContainer(pod, c); err != nil {
			t.Errorf("start: %v", err)
		}
	})
	t.Run("audit, killed within the request", func(t *testing.T) {
		o := onNRI(t, harness.NewNRI, "v2.4.2", audit, "")
		pod, c := o.container("strict", bind("/data", "/", "rshared"))
		if err := o.killedWithin(pod, c); err != nil {
			t.Errorf("create: %v, want none in audit mode", err)
		}
	})
	t.Run("audit, then enforce", func(t *testing.T) {
		o := onNRI(t, harness.NewNRI, "v2.4.2", audit, "mountward")
		pod, c := o.container("strict", bind("/data", "/", "rshared"))
		if err := o.WritePolicy(rulesByNamespace); err != nil {
			t.Fatal(err)
		}
		if err := unix.Kill(o.plugin, unix.SIGHUP); err != nil {
			t.Fatal(err)
		}
		o.says("FailurePolicy is not in force", "declared in audit mode")
		if _, err := o.CreateContainer(pod, c); err == nil || !strings.Contains(err.Error(), `rule "strict"`) {
			t.Errorf("create: %v, want our refusal", err)
		}
		if err := o.killedWithin(pod, c); err != nil {
			t.Errorf("create in which it is killed: %v; a policy cannot be declared anew, was this otherwise?", err)
		}
		if _, err := o.CreateContainer(pod, c); err == nil || !strings.Contains(err.Error(), "required plugin") {
			t.Errorf("next create: %v, want that we are required", err)
		}
	})
}

// killedWithin kills the plugin while a creation waits for its answer.
func (o *otherNRI) killedWithin(pod *api.PodSandbox, c *api.Container) error {
	o.tb.Helper()
	stopProcess(o.tb, o.plugin)
	done := make(chan error, 1)
	go func() {
		_, err := o.CreateContainer(pod, c)
		done <- err
	}()
	awaitRequest(o.tb, o.plugin)
	if err := unix.Kill(o.plugin, unix.SIGKILL); err != nil {
		o.tb.Error(err)
	}
	return <-done
}
