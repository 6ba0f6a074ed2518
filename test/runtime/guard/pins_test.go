//go:build linux

package guard_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/sys/unix"

	"github.com/mountward/mountward/test/runtime/harness"
	"github.com/mountward/mountward/test/runtime/ward"
)

// TestPins: what holds a volume on a real node is named, with a cure that works
// as it is printed, and nothing else is. That it works is seen by the kernel's
// own directory of the file system.
func TestPins(t *testing.T) {
	dir := harness.TestHostDirs(t).Shared
	kubelet := filepath.Join(dir.Path, "kubelet")
	g := start(t, ward.Options{Policy: allowAll, Settings: fmt.Sprintf("host.kubelet_root = %q", kubelet)})
	settings := g.settings(kubelet)

	t.Run("a private copy in a container", func(t *testing.T) {
		p := pinsOf(t, g, settings, kubelet)
		agent := p.agent("agent", harness.None)
		p.agent("follower", harness.HostToContainer)
		p.unmount(nil)
		if !p.alive() {
			t.Fatal("the copy does not pin")
		}
		for _, name := range []string{p.volume.Number, p.volume.Device} {
			got := p.ask(1, name)
			if diff := cmp.Diff([]string{"mount container monitoring/agent/main"}, got.holders()); diff != "" {
				t.Errorf("%s (-want +got):\n%s", name, diff)
			}
			h := got.Reports[0].Holders[0]
			if h.Mounts[0].Propagation != "private copy" || h.Namespace != namespaceOf(t, agent) || h.Processes[0].PID != agent {
				t.Errorf("holder %+v, want a private copy of process %d in mnt:[%d]", h, agent, namespaceOf(t, agent))
			}
			if got.Reports[0].Alive.Answer != "yes" {
				t.Errorf("alive is %+v", got.Reports[0].Alive)
			}
		}
		p.cured(p.ask(1, p.volume.Number).Reports[0].Holders[0].Cures[0])
		p.nothing()
	})
	t.Run("a slave copy with an open file", func(t *testing.T) {
		p := pinsOf(t, g, settings, kubelet)
		agent := p.agent("reader", harness.HostToContainer, "hold", filepath.Join("/data", strings.TrimPrefix(p.volume.Path, kubelet), harness.Marker))
		p.opened(agent)
		p.unmount(unix.EBUSY)
		got := p.ask(1, p.volume.Number)
		want := []string{"mount container monitoring/reader/main", "mount host -", "open-file container monitoring/reader/main"}
		if diff := cmp.Diff(want, got.holders()); diff != "" {
			t.Fatalf("(-want +got):\n%s", diff)
		}
		for _, h := range got.Reports[0].Holders {
			if h.Kind != "open-file" {
				continue
			}
			if h.Processes[0].PID != agent || !strings.HasSuffix(h.Files[0].Path, "/"+harness.Marker) || !strings.Contains(h.Why, "EBUSY") {
				t.Errorf("holder %+v, want the file that process %d has open", h, agent)
			}
			stop := slices.IndexFunc(h.Cures, func(c cure) bool { return slices.Equal(c.Commands, []string{"crictl stop " + h.Owner.ContainerID}) })
			if stop < 0 {
				t.Fatalf("cures %+v", h.Cures)
			}
			if err := g.StopContainer(t.Context(), h.Owner.ContainerID); err != nil {
				t.Fatal(err)
			}
		}
		p.unmount(nil)
		p.nothing()
	})
	t.Run("a private copy of a service", func(t *testing.T) {
		p := pinsOf(t, g, settings, kubelet)
		s := &harness.Service{Name: "exporter", Unshare: true, Propagations: []uintptr{unix.MS_PRIVATE}}
		standIn(t, t.TempDir(), s)
		p.unmount(nil)
		got := p.ask(1, p.volume.Number)
		if diff := cmp.Diff([]string{"mount other -"}, got.holders()); diff != "" {
			t.Fatalf("(-want +got):\n%s", diff)
		}
		h := got.Reports[0].Holders[0]
		if h.Processes[0].PID != s.PID || h.Processes[0].Comm != "exporter" {
			t.Errorf("processes %+v", h.Processes)
		}
		p.cured(h.Cures[0])
		p.nothing()
	})
	t.Run("a subPath that a dead pod left", func(t *testing.T) {
		p := pinsOf(t, g, settings, kubelet)
		sub := filepath.Join(kubelet, "pods", p.uid, "volume-subpaths/pvc-1/main/0")
		source := filepath.Join(p.volume.Path, "sub")
		if err := errors.Join(os.MkdirAll(sub, 0o755), os.MkdirAll(source, 0o755), unix.Mount(source, sub, "", unix.MS_BIND, "")); err != nil {
			t.Fatal(err)
		}
		pod := g.in(t).Run(harness.Pod{Namespace: "prod", Name: "db-0", UID: p.uid, Containers: []harness.Container{{
			Name: "main", Mounts: []harness.ContainerMount{{HostPath: sub, ContainerPath: "/data"}},
		}}})
		lives := p.ask(1, p.volume.Number)
		for _, h := range lives.Reports[0].Holders {
			if h.Use != "own" || !h.User {
				t.Errorf("while its pod lives, holder %+v", h)
			}
		}
		byName := p.ask(1, "prod/db-0")
		if len(byName.Reports) != 1 || byName.Reports[0].Target.Kind != "pod" || !slices.ContainsFunc(byName.Reports[0].Holders, func(h pin) bool {
			return h.User && slices.ContainsFunc(h.Mounts, func(m pinMount) bool { return m.Device == p.volume.Number && m.MountPoint == "/data" })
		}) {
			t.Errorf("of the pod: %+v", byName.Reports)
		}
		if err := g.RemoveSandbox(t.Context(), pod.ID); err != nil {
			t.Fatal(err)
		}
		p.unmount(nil)
		got := p.ask(1, p.volume.Number)
		if len(got.Reports[0].Holders) != 1 || got.Reports[0].Holders[0].Use != "leftover" || got.Reports[0].Holders[0].Mounts[0].MountPoint != sub {
			t.Fatalf("holders %+v, want what was left at %s", got.Reports[0].Holders, sub)
		}
		p.cured(got.Reports[0].Holders[0].Cures[0])
		p.nothing()
	})
	t.Run("two at once", func(t *testing.T) {
		p := pinsOf(t, g, settings, kubelet)
		p.agent("a", harness.None)
		p.agent("b", harness.None)
		p.unmount(nil)
		got := p.ask(1, p.volume.Number)
		if diff := cmp.Diff([]string{"mount container monitoring/a/main", "mount container monitoring/b/main"}, got.holders()); diff != "" {
			t.Fatalf("(-want +got):\n%s", diff)
		}
		p.run(got.Reports[0].Holders[0].Cures[0])
		if !p.alive() {
			t.Error("the second does not pin")
		}
		left := p.ask(1, p.volume.Number)
		p.cured(left.Reports[0].Holders[0].Cures[0])
		p.nothing()
	})
	t.Run("an overlay of a service that no table shows", func(t *testing.T) {
		p := pinsOf(t, g, settings, kubelet)
		lower, over := t.TempDir(), t.TempDir()
		s := &harness.Service{Name: "builder", Unshare: true, Propagations: []uintptr{unix.MS_PRIVATE}}
		standIn(t, t.TempDir(), s)
		tell := func(format string, args ...any) {
			t.Helper()
			if answer, err := s.Tell(fmt.Sprintf(format, args...) + "; echo $?"); err != nil || answer != "0" {
				t.Fatalf("%s: %q, %v", s.Name, answer, err)
			}
		}
		tell("mkdir %[1]s/fs %[1]s/work && mount -t overlay -o lowerdir=%[2]s,upperdir=%[1]s/fs,workdir=%[1]s/work builder %[3]s", p.volume.Path, lower, over)
		got := p.ask(1, p.volume.Number)
		want := []string{"mount host -", "mount other -", "overlay-layer other -"}
		if diff := cmp.Diff(want, got.holders()); diff != "" {
			t.Errorf("while it is mounted (-want +got):\n%s", diff)
		}
		p.unmount(nil)
		tell("umount %s", p.volume.Path)
		if !p.alive() {
			t.Fatal("the overlay does not pin")
		}
		hidden := p.asked(p.volume.Number)
		told := strings.Join(hidden.Reports[0].Suspects, "\n") + strings.Join(hidden.holders(), "\n")
		if hidden.code == 0 || hidden.Reports[0].Alive.Answer != "yes" || !strings.Contains(told, "overlay") {
			t.Errorf("exit code %d, alive %v, told: %s", hidden.code, hidden.Reports[0].Alive, told)
		}
		tell("umount %s", over)
		p.nothing()
	})
	t.Run("all logical volumes where there are none", func(t *testing.T) {
		if a := verb(t, settings, "pins", "--all"); a.code != 0 && a.code != 2 || !strings.Contains(a.stdout, "no logical volume is held") {
			t.Errorf("exit code %d: %s%s", a.code, a.stdout, a.stderr)
		}
	})
	t.Run("no such target", func(t *testing.T) {
		if a := verb(t, settings, "pins", "prod/no-such-pod"); a.code != 2 || a.stdout != "" {
			t.Errorf("exit code %d: %s%s", a.code, a.stdout, a.stderr)
		}
	})
}

const allowAll = "version = 1\nmode = \"enforce\"\ndefault = \"allow\"\n"
