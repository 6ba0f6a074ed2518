//go:build linux

package guest

import (
	"path/filepath"
	"strings"
	"testing"
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
	root := s.filled("ext4", disk)
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
	n := await(t, "containerd 1.7", func() (*node, error) {
		if _, err := run("/usr/bin/ctr", "--address", socket, "version"); err != nil {
			return nil, err
		}
		return dial(t, "/usr/bin/ctr", socket), nil
	})
	s.write(filepath.Join(dir, "mountward.toml"), `state_dir = "`+dir+`/lib"
runtime_dir = "`+dir+`/run"
[host]
runtime_state = "`+dir+`/state"
runtime_root = "`+root+`"
`)
	s.service("mountward17", "/usr/bin/mountward", "run", "--config", filepath.Join(dir, "mountward.toml"), "--socket", filepath.Join(dir, "nri.sock"))
	synchronized(t, "_SYSTEMD_UNIT=mountward17.service")

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
