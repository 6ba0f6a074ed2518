//go:build linux

package guard_test

import (
	"context"
	"fmt"
	"path/filepath"
	"testing"
	"time"

	"github.com/containerd/nri/pkg/api"
	"github.com/containerd/nri/pkg/stub"

	"github.com/mountward/mountward/test/runtime/harness"
	"github.com/mountward/mountward/test/runtime/ward"
)

const lowerPolicy = `version = 1
mode = "enforce"
default = "allow"

[[rule]]
name = "lower"
match.namespace = ["lower"]
match.propagation = ["shared"]
action = "set"
propagation = "rslave"
`

// injects mounts a directory without a propagation word, as CDI and hooks do.
func injects(t *testing.T, g *guard, index, destination, source string) {
	t.Helper()
	connected(t, g.NRISocket, index, adjuster(func(_ *api.Container, adjust *api.ContainerAdjustment) {
		adjust.AddMount(&api.Mount{Destination: destination, Type: "bind", Source: source, Options: []string{"rbind"}})
	}))
}

// hooks has an OCI hook mount a directory, as NVIDIA's does: in the container's
// mount namespace and before its root is changed, where no list of mounts has it.
func hooks(t *testing.T, g *guard, destination, source string) {
	t.Helper()
	script := fmt.Sprintf("mkdir -p .%s && mount --bind %s .%[1]s", destination, source) // runc runs it in the rootfs
	connected(t, g.NRISocket, "95", adjuster(func(_ *api.Container, adjust *api.ContainerAdjustment) {
		adjust.AddHooks(&api.Hooks{CreateContainer: []*api.Hook{{Path: "/bin/sh", Args: []string{"sh", "-c", script}, Env: []string{"PATH=/usr/bin:/bin"}}}})
	}))
}

// taking is a plugin that tells when it takes part.
type taking struct {
	adjuster
	part chan struct{}
}

func (p taking) Synchronize(context.Context, []*api.PodSandbox, []*api.Container) ([]*api.ContainerUpdate, error) {
	close(p.part)
	return nil, nil
}

// connected connects a plugin that takes part in every request from now on: the
// runtime asks none while it synchronizes one.
func connected(t *testing.T, socket, index string, adjust adjuster) {
	t.Helper()
	p := taking{adjust, make(chan struct{})}
	s, err := stub.New(p, stub.WithPluginIdx(index), stub.WithPluginName("injector"),
		stub.WithSocketPath(socket), stub.WithOnClose(func() {}))
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.Stop)
	select {
	case <-p.part:
	case <-time.After(time.Minute):
		t.Fatal("the injector is not synchronized")
	}
}

// leaks says whether what a container mounts below a destination reaches the
// host.
func (g *guard) leaks(id, destination, source string) bool {
	g.tb.Helper()
	g.Output(id, "mount-tmpfs", destination+"/probe")
	on, err := harness.Mounted(filepath.Join(source, "probe"))
	if err != nil {
		g.tb.Fatal(err)
	}
	g.Output(id, "umount", destination+"/probe")
	return on
}

// TestRootfsPropagationStaysShared is T18: where the last rshared mount was
// lowered, what the container mounts on a bind without a word does not reach the
// host. The specification carries that for mounts that were there when it was
// decided; those that a later plugin or a hook adds take the namespace applier.
func TestRootfsPropagationStaysShared(t *testing.T) {
	const byHook = "a hook" // in place of a plugin's index
	for _, test := range []struct {
		name, settings, namespace, index string
		leaks                            bool
	}{
		{"without a word, before us", "", "lower", "10", false},
		{"without a word, after us", "", "lower", "95", true}, // what the applier is for
		{"without a word, before us, with the applier", inNamespace, "lower", "10", false},
		{"without a word, after us, with the applier", inNamespace, "lower", "95", false},
		{"by a hook", "", "lower", byHook, true},
		{"by a hook, with the applier", inNamespace, "lower", byHook, false},
		{"an rshared that stays keeps it", inNamespace, "other", "95", true},
	} {
		t.Run(test.name, func(t *testing.T) {
			g := start(t, ward.Options{Policy: lowerPolicy, Settings: test.settings})
			data, plain := harness.TestHostDirs(t).Shared, harness.TestHostDirs(t).Shared
			if test.index == byHook {
				hooks(t, g, "/plain", plain.Path)
			} else {
				injects(t, g, test.index, "/plain", plain.Path)
			}
			id, err := g.tryOne(harness.Pod{Namespace: test.namespace, Containers: []harness.Container{{
				Name: "main", Privileged: true,
				Mounts: []harness.ContainerMount{{HostPath: data.Path, ContainerPath: "/data", Propagation: harness.Bidirectional}},
			}}})
			if err != nil {
				t.Fatal(err)
			}
			if g.OCI(id).Linux.RootfsPropagation != "rshared" {
				t.Fatalf("rootfsPropagation is %q: there is nothing to show", g.OCI(id).Linux.RootfsPropagation)
			}
			if got := g.leaks(id, "/plain", plain.Path); got != test.leaks {
				t.Errorf("a mount on /plain reaches the host: %t, want %t; it is %s", got, test.leaks, g.Table(id).At("/plain").Propagation())
			}
			if got := g.leaks(id, "/data", data.Path); got != (test.namespace == "other") {
				t.Errorf("a mount on /data reaches the host: %t", got)
			}
		})
	}
}
