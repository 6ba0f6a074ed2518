//go:build linux

package adapt

import (
	"context"
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/containerd/nri/pkg/adaptation/builtin"
	"github.com/containerd/nri/pkg/api"
	"github.com/containerd/nri/pkg/stub"
	validator "github.com/containerd/nri/plugins/default-validator"
	"github.com/google/go-cmp/cmp"
	rspec "github.com/opencontainers/runtime-spec/specs-go"

	"github.com/mountward/mountward/test/runtime/harness"
)

func TestMain(m *testing.M) {
	SetLog(io.Discard)
	harness.Main(m)
}

func start(t *testing.T, cfg Config) *Runtime {
	t.Helper()
	r, err := Start(cfg)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := r.Stop(); err != nil {
			t.Error(err)
		}
	})
	return r
}

var (
	pod  = &api.PodSandbox{Id: "p", Name: "cart", Namespace: "shop", Uid: "u"}
	spec = &rspec.Spec{
		Process: &rspec.Process{Args: []string{"/agent"}},
		Mounts: []rspec.Mount{
			{Destination: "/data", Type: "bind", Source: "/tmp", Options: []string{"rbind", "rprivate"}},
		},
	}
)

// remount is a plugin that mounts /data with an option more.
type remount struct {
	option string
	seen   *[]string
}

func (p *remount) CreateContainer(_ context.Context, _ *api.PodSandbox, c *api.Container) (*api.ContainerAdjustment, []*api.ContainerUpdate, error) {
	*p.seen = append(*p.seen, p.option)
	adjust := &api.ContainerAdjustment{}
	for _, m := range c.GetMounts() {
		adjust.RemoveMount(m.GetDestination())
		adjust.AddMount(&api.Mount{
			Destination: m.GetDestination(), Type: m.GetType(), Source: m.GetSource(),
			Options: append(m.GetOptions(), p.option),
		})
	}
	return adjust, nil, nil
}

func TestConnectedPluginChangesSpec(t *testing.T) {
	r := start(t, Config{})
	var seen []string
	if _, err := r.Connect(t.Context(), "10", "remount", &remount{"nosuid", &seen}); err != nil {
		t.Fatal(err)
	}
	got, adjust, err := r.CreateFromSpec(t.Context(), pod, "c", "web", spec)
	if err != nil {
		t.Fatal(err)
	}
	if n := len(adjust.GetMounts()); n == 0 {
		t.Error("adjustment has no mounts")
	}
	want := []rspec.Mount{{Destination: "/data", Type: "bind", Source: "/tmp", Options: []string{"rbind", "rprivate", "nosuid"}}}
	if diff := cmp.Diff(want, got.Mounts); diff != "" {
		t.Errorf("mounts (-want +got):\n%s", diff)
	}
	if len(spec.Mounts[0].Options) != 2 {
		t.Error("the spec given was changed")
	}
}

// TestOrder has plugins within the process before and after one that connected.
func TestOrder(t *testing.T) {
	var seen []string
	note := func(index string) *builtin.BuiltinPlugin {
		return &builtin.BuiltinPlugin{Index: index, Base: "note", Handlers: builtin.BuiltinHandlers{
			CreateContainer: func(context.Context, *api.CreateContainerRequest) (*api.CreateContainerResponse, error) {
				seen = append(seen, index)
				return &api.CreateContainerResponse{}, nil
			},
		}}
	}
	r := start(t, Config{Builtin: []*builtin.BuiltinPlugin{note("95"), note("05")}})
	if _, err := r.Connect(t.Context(), "50", "remount", &remount{"nosuid", &seen}); err != nil {
		t.Fatal(err)
	}
	if _, _, err := r.CreateFromSpec(t.Context(), pod, "c", "web", spec); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{"05", "nosuid", "95"}, seen); diff != "" {
		t.Errorf("order (-want +got):\n%s", diff)
	}
}

// TestConflict has two plugins change one mount, which NRI refuses.
func TestConflict(t *testing.T) {
	r := start(t, Config{})
	var seen []string
	for _, index := range []string{"10", "20"} {
		if _, err := r.Connect(t.Context(), index, "remount", &sameMount{remount{"nosuid", &seen}}); err != nil {
			t.Fatal(err)
		}
	}
	_, _, err := r.CreateFromSpec(t.Context(), pod, "c", "web", spec)
	if err == nil || !strings.Contains(err.Error(), "both tried to set") {
		t.Errorf("error = %v, want a conflict", err)
	}
}

// sameMount adds a mount without removing the one that is there.
type sameMount struct{ remount }

func (p *sameMount) CreateContainer(context.Context, *api.PodSandbox, *api.Container) (*api.ContainerAdjustment, []*api.ContainerUpdate, error) {
	adjust := &api.ContainerAdjustment{}
	adjust.AddMount(&api.Mount{Destination: "/more", Type: "tmpfs", Source: "tmpfs"})
	return adjust, nil, nil
}

func TestLaunchedPlugin(t *testing.T) {
	b, err := harness.Build(os.Stderr)
	if err != nil {
		t.Fatal(err)
	}
	record := filepath.Join(t.TempDir(), "record")
	r := start(t, Config{
		Plugins:    map[string]string{"90-empty": b.EmptyPlugin},
		PluginConf: map[string]string{"90-empty.conf": record},
	})
	got, adjust, err := r.CreateFromSpec(t.Context(), pod, "c", "web", spec)
	if err != nil {
		t.Fatal(err)
	}
	if n := len(adjust.GetMounts()); n != 0 {
		t.Errorf("adjustment has %d mounts, want none", n)
	}
	if diff := cmp.Diff(spec.Mounts, got.Mounts); diff != "" {
		t.Errorf("mounts (-want +got):\n%s", diff)
	}
	c := ContainerFromSpec(pod, "c", "web", spec)
	if err := errors.Join(
		r.StartContainer(t.Context(), pod, c),
		r.StopContainer(t.Context(), pod, c),
		r.RemoveContainer(t.Context(), pod, c),
	); err != nil {
		t.Fatal(err)
	}
	asked, err := os.ReadFile(record)
	if want := "configure containerd v2.4.2 v0.12.3\ncreate shop/cart/web\nstart shop/cart/web\n"; err != nil || string(asked) != want {
		t.Errorf("plugin was asked %q, %v; want %q", asked, err, want)
	}
}

// TestExternalPlugin has a process connect to the socket.
func TestExternalPlugin(t *testing.T) {
	b, err := harness.Build(os.Stderr)
	if err != nil {
		t.Fatal(err)
	}
	r := start(t, Config{Validator: &validator.DefaultValidatorConfig{Enable: true, RequiredPlugins: []string{"empty"}}})
	if _, _, err := r.CreateFromSpec(t.Context(), pod, "c", "web", spec); err == nil {
		t.Error("no error although the required plugin is missing")
	}
	syncs := r.Syncs()
	cmd := exec.CommandContext(t.Context(), b.EmptyPlugin)
	cmd.Env = append(os.Environ(), "MOUNTWARD_RUNTIME_NRI_SOCKET="+r.Socket)
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	defer func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait() // it was killed
	}()
	if err := r.WaitSyncs(t.Context(), syncs+1); err != nil {
		t.Fatal(err)
	}
	if _, _, err := r.CreateFromSpec(t.Context(), pod, "c", "web", spec); err != nil {
		t.Error(err)
	}
}

// TestSynchronize has a plugin hear of the containers that run.
func TestSynchronize(t *testing.T) {
	c := ContainerFromSpec(pod, "c", "web", spec)
	r := start(t, Config{Pods: []*api.PodSandbox{pod}, Containers: []*api.Container{c}})
	p := &synchronized{heard: make(chan string, 1)}
	if _, err := r.Connect(t.Context(), "10", "sync", p); err != nil {
		t.Fatal(err)
	}
	if got := <-p.heard; got != "c" {
		t.Errorf("container = %q, want c", got)
	}
}

type synchronized struct {
	remount
	heard chan string
}

// TestNRIVersion has a plugin hear the version of NRI that a runtime tells it.
func TestNRIVersion(t *testing.T) {
	for _, version := range []string{"", "v0.11.0"} {
		r := start(t, Config{NRIVersion: version})
		s, err := stub.New(&sameMount{}, stub.WithPluginIdx("10"), stub.WithPluginName("v"), stub.WithSocketPath(r.Socket))
		if err != nil {
			t.Fatal(err)
		}
		if err := s.Start(t.Context()); err != nil {
			t.Fatal(err)
		}
		if got, want := s.RuntimeNRIVersion(), or(version, NRIVersion); got != want {
			t.Errorf("version = %q, want %q", got, want)
		}
		s.Stop()
	}
}

func (p *synchronized) Synchronize(_ context.Context, _ []*api.PodSandbox, containers []*api.Container) ([]*api.ContainerUpdate, error) {
	for _, c := range containers {
		p.heard <- c.GetId()
	}
	return nil, nil
}

// TestApplyFollowsKernel has the generator refuse what the mount table of the
// caller cannot give.
func TestApplyFollowsKernel(t *testing.T) {
	adjust := &api.ContainerAdjustment{}
	adjust.AddMount(&api.Mount{Destination: "/proc2", Type: "bind", Source: "/proc", Options: []string{"rbind", "rshared"}})
	_, err := Apply(spec, adjust)
	shared := false
	if mounts, mErr := harness.Mountinfo(0); mErr != nil {
		t.Fatal(mErr)
	} else if m := mounts.At("/proc"); m != nil {
		shared = m.Shared != 0
	}
	if (err == nil) != shared {
		t.Errorf("rshared of a source that is shared: %t: error = %v", shared, err)
	}
}
