//go:build linux

package guard_test

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/containerd/nri/pkg/api"
	"github.com/google/go-cmp/cmp"
	rspec "github.com/opencontainers/runtime-spec/specs-go"

	"github.com/mountward/mountward/test/runtime/adapt"
	"github.com/mountward/mountward/test/runtime/harness"
	"github.com/mountward/mountward/test/runtime/ward"
)

// bench is mountward on the runtime's side of NRI alone, with the generator
// that makes the specification.
type bench struct {
	*adapt.Runtime
	*ward.Ward
	tb testing.TB
}

func onAdaptation(tb testing.TB, policy string, cfg adapt.Config) *bench {
	tb.Helper()
	harness.NeedsRoot(tb)
	w, node, err := ward.New(tb.TempDir(), ward.Options{Policy: policy})
	if err != nil {
		tb.Fatal(err)
	}
	cfg.Plugins, cfg.PluginConf = node.Plugins, node.PluginConf
	r, err := adapt.Start(cfg)
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() {
		if err := r.Stop(); err != nil {
			tb.Error(err)
		}
	})
	return &bench{r, w, tb}
}

// testPod is in the namespace that a policy selects by.
func testPod(namespace string) *api.PodSandbox {
	return &api.PodSandbox{Id: "pod", Name: "web", Namespace: namespace, Uid: "uid-" + namespace}
}

// bind is a mount as the CRI writes it.
func bind(destination, source string, options ...string) rspec.Mount {
	return rspec.Mount{Destination: destination, Type: "bind", Source: source, Options: append([]string{"rbind"}, options...)}
}

// privileged is a specification as the CRI makes it for a privileged container.
func privileged(mounts ...rspec.Mount) *rspec.Spec {
	return &rspec.Spec{
		Process: &rspec.Process{Args: []string{"/agent"}},
		Mounts:  append([]rspec.Mount{{Destination: "/sys", Type: "sysfs", Source: "sysfs", Options: []string{"rw"}}}, mounts...),
		Linux:   &rspec.Linux{Resources: &rspec.LinuxResources{Devices: []rspec.LinuxDeviceCgroup{{Allow: true, Access: "rwm"}}}},
	}
}

// create returns the mounts of the specification made, without /sys.
func (b *bench) create(namespace string, spec *rspec.Spec) ([]rspec.Mount, error) {
	b.tb.Helper()
	got, _, err := b.CreateFromSpec(b.tb.Context(), testPod(namespace), "c-"+namespace, "main", spec)
	if err != nil {
		return nil, err
	}
	var mounts []rspec.Mount
	for _, m := range got.Mounts {
		if m.Destination != "/sys" {
			mounts = append(mounts, m)
		}
	}
	return mounts, nil
}

// adjuster is another plugin.
type adjuster func(*api.Container, *api.ContainerAdjustment)

func (f adjuster) CreateContainer(_ context.Context, _ *api.PodSandbox, c *api.Container) (*api.ContainerAdjustment, []*api.ContainerUpdate, error) {
	adjust := &api.ContainerAdjustment{}
	f(c, adjust)
	return adjust, nil, nil
}

// replacing is a plugin that gives a mount other options, taking it over.
func replacing(destination, source string, options ...string) adjuster {
	return func(_ *api.Container, adjust *api.ContainerAdjustment) {
		adjust.RemoveMount(destination)
		adjust.AddMount(&api.Mount{Destination: destination, Type: "bind", Source: source, Options: append([]string{"rbind"}, options...)})
	}
}

func (b *bench) connect(index string, p adjuster) {
	b.tb.Helper()
	if _, err := b.Connect(b.tb.Context(), index, "other", p); err != nil {
		b.tb.Fatal(err)
	}
}

const rulesByNamespace = `version = 1
mode = "enforce"
default = "allow"

[[rule]]
name = "lower"
match.namespace = ["lower"]
match.propagation = ["shared"]
action = "set"
propagation = "rprivate"

[[rule]]
name = "raise"
match.namespace = ["raise"]
match.destination = ["/data"]
action = "set"
propagation = "rslave"

[[rule]]
name = "strict"
match.namespace = ["raise", "strict"]
match.propagation = ["shared"]
action = "deny"
reason = "not here"
`

// TestAnotherPluginBeforeUs is T10: taking over a mount that another plugin
// set.
func TestAnotherPluginBeforeUs(t *testing.T) {
	dirs := harness.TestHostDirs(t)
	b := onAdaptation(t, rulesByNamespace, adapt.Config{})
	b.connect("10", replacing("/data", dirs.Shared.Path, "rprivate", "nosuid"))
	got, err := b.create("raise", privileged(bind("/data", dirs.Shared.Path, "rprivate", "rw")))
	if err != nil {
		t.Fatal(err)
	}
	want := []rspec.Mount{bind("/data", dirs.Shared.Path, "rslave", "nosuid")}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("mounts (-want +got):\n%s", diff)
	}
}

// TestALaterPluginUndoesUs is the other half of T10: the validator rejects and
// names who did it.
func TestALaterPluginUndoesUs(t *testing.T) {
	dirs := harness.TestHostDirs(t)
	b := onAdaptation(t, rulesByNamespace, adapt.Config{})
	b.connect("95", replacing("/data", dirs.Shared.Path, "rprivate"))
	_, err := b.create("raise", privileged(bind("/data", dirs.Shared.Path, "rprivate")))
	for _, want := range []string{"/data", "rslave", `rule "raise"`, "95-other"} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("error = %v, want one that names %q", err, want)
		}
	}
	// A container that we changed nothing of is none of our business.
	if _, err := b.create("other", privileged(bind("/data", dirs.Shared.Path, "rprivate"))); err != nil {
		t.Errorf("a container we left alone was rejected: %v", err)
	}
}

// TestAnotherPluginAddsShared: a later plugin's rshared that the policy denies
// is rejected, one that it allows is not.
func TestAnotherPluginAddsShared(t *testing.T) {
	dirs := harness.TestHostDirs(t)
	b := onAdaptation(t, rulesByNamespace, adapt.Config{})
	b.connect("95", replacing("/more", dirs.Shared.Path, "rshared"))
	_, err := b.create("strict", privileged())
	if err == nil || !strings.Contains(err.Error(), "95-other") || !strings.Contains(err.Error(), `"strict"`) {
		t.Errorf("error = %v, want a rejection that names plugin and rule", err)
	}
	if _, err := b.create("other", privileged()); err != nil {
		t.Errorf("an rshared that no rule denies was rejected: %v", err)
	}
}

// TestDuplicateDestinations is T9, T11 and T12: what is one place for the
// kernel is never half-rewritten, and nothing is named twice in a reply.
func TestDuplicateDestinations(t *testing.T) {
	dirs := harness.TestHostDirs(t)
	b := onAdaptation(t, rulesByNamespace, adapt.Config{})
	tests := []struct{ name, second string }{
		{"identical", "/data"},
		{"unclean", "/data/"},
		{"relative", "data"},
		{"dots", "/x/../data"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			spec := privileged(bind("/data", dirs.Shared.Path, "rprivate"), bind(test.second, dirs.Shared.Path, "rprivate"), bind("/other", dirs.Shared.Path, "rprivate"))
			want := spec.Mounts[1:]
			got, err := b.create("raise", spec)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("mounts (-want +got):\n%s", diff)
			}
			// A lowering that cannot be made true refuses.
			spec.Mounts[1].Options[1] = "rshared"
			if _, err := b.create("lower", spec); err == nil || !strings.Contains(err.Error(), "another mount has the destination") {
				t.Errorf("lowering one of two: error = %v, want a refusal with the reason", err)
			}
		})
	}
}

// TestStickyPropagation is T13: what the runtime carries over from one mount of
// a reply to the next does not come from us. A later plugin's mount without a
// word, on a source that could not be shared, goes through after our rprivate,
// and after a raise of ours that is followed by an rprivate one.
func TestStickyPropagation(t *testing.T) {
	dirs := harness.TestHostDirs(t)
	policy := rulesByNamespace + `
[[rule]]
name = "both"
match.namespace = ["both"]
match.destination = ["/a", "/b"]
match.propagation = ["private"]
action = "set"
propagation = "rslave"

[[rule]]
name = "both-lower"
match.namespace = ["both"]
match.propagation = ["shared"]
action = "set"
propagation = "rprivate"
`
	b := onAdaptation(t, policy, adapt.Config{})
	b.connect("95", func(_ *api.Container, adjust *api.ContainerAdjustment) {
		adjust.AddMount(&api.Mount{Destination: "/plain", Type: "bind", Source: dirs.Private.Path, Options: []string{"bind", "ro"}})
		adjust.AddMount(&api.Mount{Destination: "/tmpfs", Type: "tmpfs", Source: "tmpfs"})
	})
	got, err := b.create("both", privileged(
		bind("/a", dirs.Shared.Path, "rprivate"), bind("/b", dirs.Shared.Path, "rprivate"), bind("/c", dirs.Shared.Path, "rshared")))
	if err != nil {
		t.Fatal(err)
	}
	words := map[string]string{}
	for _, m := range got {
		words[m.Destination] = strings.Join(m.Options, ",")
	}
	want := map[string]string{"/a": "rbind,rslave", "/b": "rbind,rslave", "/c": "rbind,rprivate", "/plain": "bind,ro", "/tmpfs": ""}
	if diff := cmp.Diff(want, words); diff != "" {
		t.Errorf("options (-want +got):\n%s", diff)
	}
}

// TestSeveralWords is T14: [rprivate rslave] asks for private, and a rewritten
// mount has exactly one word.
func TestSeveralWords(t *testing.T) {
	dirs := harness.TestHostDirs(t)
	b := onAdaptation(t, rulesByNamespace, adapt.Config{})
	got, err := b.create("raise", privileged(bind("/data", dirs.Shared.Path, "rprivate", "rslave", "nosuid")))
	if err != nil {
		t.Fatal(err)
	}
	want := []rspec.Mount{bind("/data", dirs.Shared.Path, "rslave", "nosuid")}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("mounts (-want +got):\n%s", diff)
	}
}

// TestNothingChangedNothingSorted is T16: the runtime sorts all mounts after
// any adjustment, so none is sent where nothing changes.
func TestNothingChangedNothingSorted(t *testing.T) {
	dirs := harness.TestHostDirs(t)
	b := onAdaptation(t, rulesByNamespace, adapt.Config{})
	spec := privileged(bind("/z/deep/er", dirs.Private.Path, "rprivate"), bind("/b", dirs.Shared.Path, "rslave"), bind("/a", dirs.Shared.Path, "rslave"))
	for _, namespace := range []string{"other", "lower"} {
		got, adjust, err := b.CreateFromSpec(t.Context(), testPod(namespace), "c-"+namespace, "main", spec)
		if err != nil {
			t.Fatal(err)
		}
		if n := len(adjust.GetMounts()); n != 0 {
			t.Errorf("%s: %d mounts sent, want none", namespace, n)
		}
		if diff := cmp.Diff(spec, got); diff != "" {
			t.Errorf("%s: specification changed (-want +got):\n%s", namespace, diff)
		}
	}
	// The other way: a change does sort, parents before children.
	spec = privileged(bind("/z/deep/er", dirs.Private.Path, "rprivate"), bind("/data", dirs.Shared.Path, "rprivate"))
	got, err := b.create("raise", spec)
	if err != nil {
		t.Fatal(err)
	}
	if len(got) != 2 || got[0].Destination != "/data" {
		t.Errorf("mounts = %v, want /data first", got)
	}
}

// TestPlainWords is T19: "shared" is judged as rshared, though NRI neither
// checks nor applies it.
func TestPlainWords(t *testing.T) {
	dirs := harness.TestHostDirs(t)
	b := onAdaptation(t, rulesByNamespace, adapt.Config{})
	spec := privileged(bind("/data", dirs.Shared.Path, "shared"))
	if _, err := b.create("strict", spec); err == nil || !strings.Contains(err.Error(), "refused by rule") {
		t.Errorf("error = %v, want a refusal", err)
	}
	got, err := b.create("lower", spec)
	if err != nil {
		t.Fatal(err)
	}
	want := []rspec.Mount{bind("/data", dirs.Shared.Path, "rprivate")}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("mounts (-want +got):\n%s", diff)
	}
}

// TestNeverCreated is T22: what comes after a failed creation is about a
// container nobody knows, with a pod that is empty or missing.
func TestNeverCreated(t *testing.T) {
	b := onAdaptation(t, rulesByNamespace, adapt.Config{})
	for _, pod := range []*api.PodSandbox{nil, {}, {Id: "pod"}} {
		c := &api.Container{Id: "never", PodSandboxId: "pod"}
		if err := errors.Join(b.StopContainer(t.Context(), pod, c), b.RemoveContainer(t.Context(), pod, c)); err != nil {
			t.Errorf("pod %v: %v", pod, err)
		}
	}
	if err := b.StartContainer(t.Context(), testPod("other"), &api.Container{Id: "never", Pid: 1}); err != nil {
		t.Errorf("start of an unknown container was refused: %v", err)
	}
	// And the plugin still answers.
	if _, err := b.create("other", privileged()); err != nil {
		t.Error(err)
	}
}

// TestIndexInEnvironment is T6: the stub refuses an index that comes twice, so
// a service must start with one in its environment as well.
func TestIndexInEnvironment(t *testing.T) {
	for _, index := range []string{"", "42"} {
		dir := t.TempDir()
		w, node, err := ward.New(dir, ward.Options{Policy: rulesByNamespace})
		if err != nil {
			t.Fatal(err)
		}
		settings := filepath.Join(dir, "mountward.toml")
		if err := os.WriteFile(settings, []byte(node.PluginConf["90-mountward.conf"]), 0o600); err != nil {
			t.Fatal(err)
		}
		r, err := adapt.Start(adapt.Config{})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() {
			if err := r.Stop(); err != nil {
				t.Error(err)
			}
		})
		syncs := r.Syncs()
		cmd := exec.CommandContext(t.Context(), node.Plugins["90-mountward"], "run", "--config", settings, "--socket", r.Socket)
		if index != "" {
			cmd.Env = append(os.Environ(), api.PluginIdxEnvVar+"="+index)
		}
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = cmd.Wait() })
		t.Cleanup(func() { _ = cmd.Process.Kill() })
		if err := r.WaitSyncs(t.Context(), syncs+1); err != nil {
			t.Fatalf("index %q: %v", index, err)
		}
		b := &bench{r, w, t}
		if _, err := b.create("strict", privileged(bind("/data", "/", "rshared"))); err == nil {
			t.Errorf("index %q: the service does not decide", index)
		}
	}
}
