//go:build linux

package guard_test

import (
	"context"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/containerd/nri/pkg/api"

	"github.com/mountward/mountward/test/runtime/harness"
	"github.com/mountward/mountward/test/runtime/ward"
)

// A destination says little about where a mount ends up: links of the image
// lead it elsewhere, and two destinations can be one place. What is really
// mounted is judged all the same.

const denySecret = `version = 1
mode = "enforce"
default = "allow"
[[rule]]
name = "secret"
match.source = [%q]
action = "deny"
`

const allowPlain = `version = 1
mode = "enforce"
default = "deny"
[[rule]]
name = "plain"
match.source = [%q]
action = "allow"
[[rule]]
name = "runtime"
match.destination = ["/etc/*", "/dev/shm"]
action = "allow"
`

// TestSwapBehindAnotherDestination: the directory of TestSwapBetweenCreateAndStart
// swapped where the destination does not show it.
func TestSwapBehindAnotherDestination(t *testing.T) {
	at := func(destinations ...string) []string { return destinations }
	tests := []struct {
		name, policy, prefix string
		destinations         []string // of plain/sub, the others of ok/sub
		swap                 string
		refused              bool
	}{
		{"an image link, swapped", denySecret, "/secret/**", at("/var/run/data"), "secret", true},
		{"an image link, swapped for something harmless", denySecret, "/secret/**", at("/var/run/data"), "ok", false},
		{"an image link, not swapped", denySecret, "/secret/**", at("/var/run/data"), "", false},
		{"an image link below /dev, swapped", denySecret, "/secret/**", at("/devlink/data"), "secret", true},
		{"two at one place, swapped", denySecret, "/secret/**", at("/data", "/data/"), "secret", true},
		{"two at one place, the hidden one swapped", denySecret, "/secret/**", at("/data/", "/data"), "secret", true},
		{"two at one place, not swapped", denySecret, "/secret/**", at("/data", "/data/"), "", false},
		{"two at one place by a link, swapped", denySecret, "/secret/**", at("/var/run/data", "/run/data"), "secret", true},
		{"default deny, an image link, swapped", allowPlain, "/plain/**", at("/var/run/data"), "secret", true},
		{"default deny, an image link, not swapped", allowPlain, "/plain/**", at("/var/run/data"), "", false},
		{"default deny, an image link below /dev, swapped", allowPlain, "/plain/**", at("/devlink/data"), "secret", true},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			dir := place(t)
			o := ward.Options{Policy: fmt.Sprintf(test.policy, dir+test.prefix)}
			o.Symlinks = map[string]string{"var/run": "/run", "devlink": "/dev"}
			g := start(t, o)
			var mounts []harness.ContainerMount
			for i, destination := range test.destinations {
				source := dir + "/plain/sub"
				if i > 0 {
					source = dir + "/ok/sub"
				}
				mounts = append(mounts, harness.ContainerMount{HostPath: source, ContainerPath: destination})
			}
			err := g.createSwapStart(dir, test.swap, mounts)
			if refused := err != nil; refused != test.refused {
				t.Fatalf("start: error = %v, want refused: %t", err, test.refused)
			}
			if err != nil && !strings.Contains(err.Error(), "mountward: mount /") {
				t.Errorf("error = %v, want our refusal", err)
			}
		})
	}
}

// createSwapStart creates a container, makes plain/sub a link and starts it.
func (g *guard) createSwapStart(dir, swap string, mounts []harness.ContainerMount) error {
	t := g.tb
	sandbox, err := g.RunSandbox(t.Context(), harness.Pod{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := g.RemoveSandbox(context.WithoutCancel(t.Context()), sandbox.ID); err != nil {
			t.Error(err)
		}
	})
	id, err := g.CreateContainer(t.Context(), sandbox, harness.Container{Name: "main", Mounts: mounts})
	if err != nil {
		t.Fatal(err)
	}
	if swap != "" {
		if err := os.Rename(dir+"/plain/sub", dir+"/gone"); err != nil {
			t.Fatal(err)
		}
		if err := os.Symlink("../"+swap+"/sub", dir+"/plain/sub"); err != nil {
			t.Fatal(err)
		}
	}
	return g.StartContainer(t.Context(), id)
}

// TestMagicLink: a path through a process's root is no path that can be
// resolved; where it led is seen at start.
func TestMagicLink(t *testing.T) {
	dir := place(t)
	o := ward.Options{Policy: fmt.Sprintf(denySecret, dir+"/secret/**")}
	o.Symlinks = map[string]string{"var/run": "/run"}
	g := start(t, o)
	for _, test := range []struct {
		source, destination string
		refused             bool
	}{
		{"/proc/self/root" + dir + "/secret/sub", "/data", true},
		{"/proc/self/root" + dir + "/secret/sub", "/var/run/data", true},
		{"/proc/1/root" + dir + "/secret", "/var/run/data", true},
		{"/proc/self/root" + dir + "/ok/sub", "/var/run/data", false},
		{"/proc/self/root" + dir + "/ok/sub", "/data", false},
	} {
		_, err := g.in(t).tryOne(harness.Pod{Containers: []harness.Container{{
			Name: "main", Mounts: []harness.ContainerMount{{HostPath: test.source, ContainerPath: test.destination}},
		}}})
		if refused := err != nil; refused != test.refused {
			t.Errorf("%s at %s: error = %v, want refused: %t", test.source, test.destination, err, test.refused)
		}
	}
}

// TestMountOfAnotherPlugin: what a later plugin mounts is in no list we decided
// about; a rule about its source holds at start.
func TestMountOfAnotherPlugin(t *testing.T) {
	dir := place(t)
	g := start(t, ward.Options{Policy: fmt.Sprintf(denySecret, dir+"/secret/**")})
	source := ""
	connected(t, g.NRISocket, "95", func(_ *api.Container, adjust *api.ContainerAdjustment) {
		adjust.AddMount(&api.Mount{Destination: "/injected", Type: "bind", Source: source, Options: []string{"rbind", "rprivate"}})
	})
	for _, test := range []struct {
		source  string
		refused bool
	}{{dir + "/ok/sub", false}, {dir + "/link/sub", true}} {
		source = test.source
		_, err := g.in(t).tryOne(one(dir + "/plain/sub"))
		if refused := err != nil; refused != test.refused {
			t.Errorf("%s: error = %v, want refused: %t", test.source, err, test.refused)
		}
	}
}

// TestOrdinaryPodsBehindLinks: images with links, host paths that hold the
// sources of other mounts, and several mounts of one source are not mistaken
// for an attack.
func TestOrdinaryPodsBehindLinks(t *testing.T) {
	dir := place(t)
	shared := harness.TestHostDirs(t).Shared
	policy := fmt.Sprintf(`version = 1
mode = "enforce"
default = "deny"
[[rule]]
name = "secret"
match.source = [%q]
action = "deny"
[[rule]]
name = "known"
match.source = ["/", %q, %q]
action = "allow"
[[rule]]
name = "runtime"
match.destination = ["/etc/*", "/dev/shm"]
action = "allow"
`, dir+"/secret/**", dir+"/*/sub", shared.Path+"/**")
	o := ward.Options{Policy: policy}
	o.Symlinks = map[string]string{"var/run": "/run"}
	g := start(t, o)
	if _, err := shared.MountBelow("volume"); err != nil {
		t.Fatal(err)
	}
	mount := func(source, destination string, p harness.Propagation) harness.ContainerMount {
		return harness.ContainerMount{HostPath: source, ContainerPath: destination, Propagation: p}
	}
	for name, mounts := range map[string][]harness.ContainerMount{
		"a token behind a link":        {mount(dir+"/ok/sub", "/var/run/secrets/token", harness.None)},
		"one source twice":             {mount(dir+"/ok/sub", "/a", harness.None), mount(dir+"/ok/sub", "/var/run/b", harness.HostToContainer)},
		"the host and a volume of it":  {mount("/", "/host", harness.HostToContainer), mount(shared.Path+"/volume", "/var/run/volume", harness.None)},
		"a tree and a directory of it": {mount(shared.Path, "/tree", harness.HostToContainer), mount(shared.Path+"/volume", "/tree/volume", harness.None)},
		"one place twice, the same":    {mount(dir+"/ok/sub", "/data", harness.None), mount(dir+"/ok/sub", "/data/", harness.HostToContainer)},
		"one place twice, by a link":   {mount(dir+"/ok/sub", "/run/data", harness.None), mount(dir+"/plain/sub", "/var/run/data", harness.None)},
		"a private one beside a slave": {mount(shared.Path, "/slave", harness.HostToContainer), mount(shared.Path, "/var/run/private", harness.None)},
		"a file":                       {mount(shared.Path+"/volume/"+harness.Marker, "/var/run/file", harness.None)},
	} {
		t.Run(name, func(t *testing.T) {
			if id, err := g.in(t).tryOne(harness.Pod{Containers: []harness.Container{{Name: "main", Mounts: mounts}}}); err != nil {
				t.Errorf("%s: %v", id, err)
			}
		})
	}
}
