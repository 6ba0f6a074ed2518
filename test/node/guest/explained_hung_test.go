//go:build linux

package guest

import (
	"path/filepath"
	"strings"
	"testing"

	cri "k8s.io/cri-api/pkg/apis/runtime/v1"
)

// TestExplainedWhereServersHang: a FUSE file system and an NFS server that
// answer no more, below a running container and below the kubelet's root.
// doctor, pins and exposure end, say what they cannot tell, and the truth of
// everything else.
func TestExplainedWhereServersHang(t *testing.T) {
	n := connect(t)
	s := newStack(t)
	s.vg("vg0", s.loop("a", 64))
	v := s.publish("pvc-1", uid(620), "ext4")
	free := s.publish("pvc-free", uid(621), "ext4")
	free.unmount(nil)

	p := &pod{namespace: "web", name: "web-0", uid: uid(620)}
	hung := s.target(p.uid, "pvc-hung")
	fuse := s.mountFUSE(hung)
	share := filepath.Join(s.podDir(p.uid), "volumes/kubernetes.io~nfs/share")
	export := s.mountNFS(share)
	p.mounts = []*cri.Mount{volume(v.path, "/data"), volume(hung, "/hung"), volume(share, "/share")}
	n.start(t, p)
	agent := hostAgent(uid(622), true)
	n.start(t, agent)

	s.Cleanup(export)
	s.do("systemctl", "stop", "nfs-server.service")
	t.Cleanup(fuse.abort)
	fuse.hang()
	for _, path := range []string{hung, share} {
		hangs(t, path)
	}

	t.Run("pins", func(t *testing.T) {
		s := s.on(t)
		s.heldBy(s.pins(exitFound, v.name), "mount host own", "mount container web/web-0/main", "mount container monitoring/node-agent/main")
		for _, target := range []string{hung, share, "web/web-0"} {
			a, code, stderr := tryAsk[pinsAnswer](t, "pins", target)
			if code == exitSound {
				s.Errorf("pins %s: nobody holds it: %+v", target, a)
			}
			t.Logf("pins %s: exit code %d: %s", target, code, stderr)
		}
		// Who has a file open there can be seen without asking the server.
		if all := ask[pinsAnswer](t, exitSound, "pins", "--all"); len(all.Targets) != 0 {
			s.Errorf("held: %+v", all.Targets)
		}
		free := &publishedLV{stack: s, name: free.name, device: free.device, path: free.path}
		free.free()
	})
	t.Run("exposure", func(t *testing.T) {
		s := s.on(t)
		a := s.exposure(exitFound, v.name)
		s.of(a.Viewers, p)
		s.of(a.Viewers, agent)
		for _, target := range []string{hung, share} {
			a, code, stderr := tryAsk[exposureAnswer](t, "exposure", target)
			if code == exitSound {
				s.Errorf("exposure %s: nobody reaches it: %+v", target, a)
			}
			t.Logf("exposure %s: exit code %d: %s", target, code, stderr)
		}
		a, _, stderr := tryAsk[exposureAnswer](t, "exposure", "--writers")
		t.Logf("exposure --writers: %+v: %s", a.Writers, stderr)
	})
	t.Run("doctor", func(t *testing.T) {
		s := s.on(t)
		a, code, stderr := tryAsk[doctorAnswer](t, "doctor")
		t.Logf("doctor: exit code %d: %s", code, stderr)
		for _, f := range a.Findings {
			if f.Answer == "no" {
				s.Errorf("a server that hangs is no problem of propagation: %s", f)
			}
			if f.Answer == "unknown" && !strings.Contains(f.Message, "did not answer") {
				s.Errorf("cannot tell for another reason: %s", f)
			}
		}
		s.problemFree(a, podsDir)
	})
}

// problemFree wants a path to be known as shared.
func (s *stack) problemFree(a doctorAnswer, path string) {
	s.Helper()
	for _, f := range a.Findings {
		if f.Code == "shared" && f.Subject == path && f.Answer == "yes" {
			return
		}
	}
	s.Errorf("%s is not told to be shared: %v", path, a.Findings)
}
