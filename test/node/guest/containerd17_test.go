//go:build linux

package guest

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/mountward/mountward/test/runtime/matrix"
)

// TestContainerd17 is the containerd of the distribution beside the other one,
// with a mountward of its own: 1.7 has no NRI by default, and says less of a
// container. Its snapshots are on a volume.
func TestContainerd17(t *testing.T) {
	version := output(t, "/usr/bin/containerd", "--version")
	switch {
	case strings.Contains(version, " 1.7."):
	case suite() == "bookworm":
		t.Logf("this release has none: %s", version) // 1.6 has no NRI
		return
	default:
		t.Fatalf("containerd is %q, want 1.7", version)
	}
	s := newStack(t)
	s.vg("vg0", s.loop("a", 320))
	disk := s.lv("vg0/containers", "--size", "256M")
	n, dir := s.containerd17(s.filled("ext4", disk))

	device := s.lv("vg0/pvc-1", "--size", "16M")
	s.mkfs("ext4", device)
	p := &pod{namespace: "db", name: "db-0", uid: uid(400)}
	target := s.target(p.uid, "pvc-1")
	s.mountAt(target, "ext4", device, "")
	p.mounts = volumeMounts(target)
	n.start(t, p)

	s.recorded(p, "/data", map[string]any{
		"kind": "csi", "volume": "pvc-1", "csi_handle": handle("pvc-1"), "lv": "vg0/pvc-1", "device": number(t, device), "pod_uid": p.uid,
	})
	for what, of := range map[string]map[string]any{"record": s.task(p), "now": s.now(p)} {
		s.has(at(of, "rootfs"), "rootfs of the "+what, map[string]any{
			"path": dir + "/state/io.containerd.runtime.v2.task/k8s.io/" + p.id + "/rootfs",
			"lv":   "vg0/containers", "device": number(t, disk), "fs_type": "overlay",
		})
		s.has(at(of, "container", "pod"), "pod of the "+what, map[string]any{"name": p.name, "namespace": p.namespace, "uid": p.uid})
	}
	s.heldBy(s.pins(exitFound, "vg0/pvc-1"), "mount host own", "mount container db/db-0/main")
	if own := s.of(s.exposure(exitFound, "vg0/pvc-1").Viewers, p); own.Own.Answer != "yes" {
		s.Errorf("the pod itself is %+v, want its own", own)
	}

	t.Run("matrix", func(t *testing.T) { n.rows(t, matrix.Few(), service17) })
	t.Run("another plugin after us", func(t *testing.T) { s.on(t).undoneUnseen(n, dir) })
}

// undoneUnseen: this runtime has no validators. Another plugin's change to more
// than was decided is found before the container runs, one to less when it does.
func (s *stack) undoneUnseen(n *node, dir string) {
	source := s.dir()
	for i, test := range []struct {
		options string
		refused bool
	}{{"rshared", true}, {"rprivate", false}} {
		s.Run(test.options, func(t *testing.T) {
			s := s.on(t)
			s.otherPlugin(fmt.Sprint(96+i), "set-rslave", "/data", source, "rbind,"+test.options, "-socket", filepath.Join(dir, "nri.sock"))
			p := &pod{namespace: "set-rslave", name: "web", uid: uid(410 + i), mounts: volumeMounts(source)}
			err := n.tryStart(t, p)
			if got := err != nil && strings.Contains(err.Error(), "mountward: ") && strings.Contains(err.Error(), "/data"); got != test.refused {
				s.Errorf("refused: %t, %v, want %t", got, err, test.refused)
			}
			awaitEntry(t, "MOUNTWARD_EVENT=drift", "CONTAINER_ID_FULL="+p.id, "_SYSTEMD_UNIT="+service17)
		})
	}
}

const service17 = "mountward17.service"

// containerd17 runs the distribution's containerd with its root directory on a
// volume and everything else in the directory that it returns, and a mountward
// by a unit that is the shipped one but for the places.
func (s *stack) containerd17(root string) (*node, string) {
	s.Helper()
	dir := s.dir()
	socket := filepath.Join(dir, "state/containerd.sock")
	s.write(filepath.Join(dir, "containerd.toml"), `version = 2
root = "`+root+`"
state = "`+dir+`/state"
[grpc]
address = "`+socket+`"
[plugins."io.containerd.nri.v1.nri"]
disable = false
socket_path = "`+dir+`/nri.sock"
plugin_path = "`+dir+`/plugins"
plugin_config_path = "`+dir+`/conf.d"
[plugins."io.containerd.grpc.v1.cri"]
sandbox_image = "docker.io/local/pause:1"
[plugins."io.containerd.grpc.v1.cri".containerd.runtimes.runc]
runtime_type = "io.containerd.runc.v2"
[plugins."io.containerd.grpc.v1.cri".containerd.runtimes.runc.options]
SystemdCgroup = true
`)
	s.service("containerd17", "/usr/bin/containerd", "--config", filepath.Join(dir, "containerd.toml"))
	n := await(s.T, "containerd 1.7", func() (*node, error) {
		if _, err := run("/usr/bin/ctr", "--address", socket, "version"); err != nil {
			return nil, err
		}
		return dial(s.T, "/usr/bin/ctr", socket), nil
	})
	s.write(filepath.Join(dir, "policy.toml"), matrix.Policy)
	s.write(filepath.Join(dir, "mountward.toml"), `policy = "`+dir+`/policy.toml"
state_dir = "/var/lib/mountward17"
runtime_dir = "/run/mountward17"
[host]
runtime_state = "`+dir+`/state"
runtime_root = "`+root+`"
`)
	text, err := os.ReadFile(property(s.T, service, "FragmentPath"))
	if err != nil {
		s.Fatal(err)
	}
	s.unit(service17, strings.NewReplacer(
		"containerd.service", "containerd17.service",
		"Directory=mountward", "Directory=mountward17",
		"mountward run", "mountward run --config "+dir+"/mountward.toml --socket "+dir+"/nri.sock",
	).Replace(string(text)))
	s.undo("rm", "-rf", "/run/mountward17", "/var/lib/mountward17", "/var/log/mountward17")
	synchronized(s.T, "_SYSTEMD_UNIT="+service17)
	return n, dir
}

// service runs a program as a transient service, with the distribution's
// programs before ours.
func (s *stack) service(name string, command ...string) {
	s.Helper()
	s.do("systemd-run", append([]string{
		"--quiet", "--unit", name, "--property", "Delegate=yes", "--property", "KillMode=process",
		"--setenv", "PATH=/usr/sbin:/usr/bin:/sbin:/bin",
	}, command...)...)
	s.undo("systemctl", "stop", name+".service")
}
