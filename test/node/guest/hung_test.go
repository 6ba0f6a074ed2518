//go:build linux

package guest

import (
	"context"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	cri "k8s.io/cri-api/pkg/apis/runtime/v1"
)

// TestServersThatDoNotAnswer: a FUSE file system and an NFS server hang below
// running containers. mountward says what it can of them, all of the rest, and
// goes on recording.
func TestServersThatDoNotAnswer(t *testing.T) {
	n := connect(t)
	s := newStack(t)
	s.vg("vg0", s.loop("a", 64))
	device := s.lv("vg0/pvc-1", "--size", "16M")
	s.mkfs("ext4", device)

	p := &pod{namespace: "web", name: "web-0", uid: uid(300)}
	target, hung := s.target(p.uid, "pvc-1"), s.target(p.uid, "pvc-hung")
	s.mountAt(target, "ext4", device, "")
	fuse := s.mountFUSE(hung)
	share := filepath.Join(s.podDir(p.uid), "volumes/kubernetes.io~nfs/share")
	export := s.mountNFS(share)
	p.mounts = []*cri.Mount{volume(target, "/data"), volume(hung, "/hung"), volume(hung+"/dir", "/hung-below"), volume(share, "/share"), volume(share+"/dir", "/share-below")}
	n.start(t, p)

	s.Cleanup(export)
	s.do("systemctl", "stop", "nfs-server.service")
	t.Cleanup(fuse.abort)
	fuse.hang()
	for _, path := range []string{hung, share} {
		hangs(t, path)
	}

	second := &pod{namespace: "web", name: "web-1", uid: uid(301)}
	second.mounts = volumeMounts(target)
	n.start(t, second)
	s.recorded(second, "/data", map[string]any{"lv": "vg0/pvc-1"})

	// Something cannot be told of p, which is what the error says.
	a, err := tryVolumes(p.id)
	if err == nil {
		t.Error("no error where something cannot be told")
	}
	now := s.only(p, a)
	s.has(member(now["mounts"], "/data"), "/data", map[string]any{"lv": "vg0/pvc-1", "kind": "csi", "volume": "pvc-1", "csi_handle": handle("pvc-1")})
	for destination, want := range map[string]map[string]any{
		"/hung":        {"fs_type": "fuse.node", "kind": "csi", "volume": "pvc-hung"},
		"/hung-below":  {"fs_type": "fuse.node"},
		"/share":       {"fs_type": "nfs4", "kind": "nfs", "volume": "share"},
		"/share-below": {"fs_type": "nfs4"},
	} {
		m := member(now["mounts"], destination)
		s.has(m, destination, want)
		if why, _ := at(m, "no_lv").(string); why == "" {
			s.Errorf("%s has neither a logical volume nor a reason: %v", destination, m)
		}
		why, _ := at(m, "why").(string)
		if below := strings.HasSuffix(destination, "-below"); below && !strings.Contains(why, "did not answer") {
			s.Errorf("why of %s is %q, want that its file system did not answer", destination, why)
		}
	}
	for _, path := range []string{hung, share} {
		if top, err := tryVolumes("--path", path); err == nil && len(top.Targets) == 1 && len(topVolumes(top.Targets[0].Storage)) == 0 {
			continue
		} else if err == nil {
			s.Errorf("--path %s: %+v", path, top.Targets)
		}
	}
	stays(t)
}

// mountNFS exports a directory with a directory "dir", mounts it over the
// loopback interface, and returns how the server is started again.
func (s *stack) mountNFS(at string) (export func()) {
	s.Helper()
	dir := s.dir()
	s.made(filepath.Join(dir, "dir"))
	s.do("ip", "link", "set", "lo", "up")
	s.undo("systemctl", "stop", "nfs-server.service", "nfs-mountd.service", "nfs-idmapd.service", "nfsdcld.service",
		"rpcbind.socket", "rpcbind.service", "proc-fs-nfsd.mount", "run-rpc_pipefs.mount")
	export = func() {
		s.Helper()
		s.do("systemctl", "start", "nfs-server.service")
		s.do("exportfs", "-o", "rw,no_root_squash,insecure,fsid=1", "127.0.0.1:"+dir)
	}
	export()
	s.mountAt(at, "nfs4", "127.0.0.1:"+dir, "hard,lookupcache=none,noac")
	return export
}

// hangs fails the test where a path answers: it would show nothing.
func hangs(t *testing.T, path string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), hangTime)
	defer cancel()
	if err := exec.CommandContext(ctx, "stat", path).Run(); ctx.Err() == nil {
		t.Fatalf("stat %s ends: %v", path, err)
	}
}
