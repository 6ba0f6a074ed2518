//go:build linux

package guest

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	cri "k8s.io/cri-api/pkg/apis/runtime/v1"
)

// TestVolumes is containers on logical volumes, mounted as the kubelet and CSI
// drivers do: the record in the journal and what mountward prints on demand say
// the same, and the truth.
func TestVolumes(t *testing.T) {
	n := connect(t)
	s := newStack(t)
	s.vg("vg0", s.loop("a", 640))
	for _, test := range []struct {
		name string
		run  func(*stack, *node)
	}{
		{"staged, and shared by two pods", stagedVolume},
		{"published without staging", publishedVolume},
		{"the upper directory of another", upperOnVolume},
		{"raw block", rawBlockVolume},
		{"empty directories", emptyDirectories},
	} {
		t.Run(test.name, func(t *testing.T) { test.run(s.on(t), n) })
	}
}

// uid is the uid of a test's pod.
func uid(n int) string { return fmt.Sprintf("8e1a1f60-0000-4000-8000-%012d", n) }

// stagedVolume: the driver mounts the volume once, and binds it for each pod.
func stagedVolume(s *stack, n *node) {
	device := s.lv("vg0/pvc-staged", "--size", "16M")
	s.mkfs("ext4", device)
	global := s.stage("pvc-staged", "ext4", device)
	var pods []*pod
	for i := range 2 {
		p := &pod{namespace: "db", name: fmt.Sprint("db-", i), uid: uid(100 + i)}
		target := s.target(p.uid, "pvc-staged")
		s.bind(global, target)
		p.mounts = []*cri.Mount{volume(target, "/data")}
		n.start(s.T, p)
		pods = append(pods, p)
	}
	for i, p := range pods {
		other := pods[1-i]
		s.recorded(p, "/data", map[string]any{
			"kind": "csi", "volume": "pvc-staged", "pod_uid": p.uid, "csi_driver": driver, "csi_handle": handle("pvc-staged"),
			"source": filepath.Join(podsDir, p.uid, "volumes/kubernetes.io~csi/pvc-staged/mount"),
			"root":   "/", "fs_type": "ext4", "lv": "vg0/pvc-staged", "device": number(s.T, device),
		})
		now := s.now(p)
		views := map[string]string{}
		all, _ := at(member(now["mounts"], "/data"), "views").([]any)
		for _, v := range all {
			path, _ := at(v, "path").(string)
			role, _ := at(v, "role").(string)
			views[path] = role
		}
		for path, want := range map[string]string{
			global: "staging", filepath.Join(podsDir, other.uid, "volumes/kubernetes.io~csi/pvc-staged/mount"): "target",
		} {
			if views[path] != want {
				s.Errorf("the view at %s is %q, want %s", path, views[path], want)
			}
		}
	}
	s.found(pods, "MOUNTWARD_LV=vg0/pvc-staged")
	s.found(pods, "MOUNTWARD_DEVICE="+number(s.T, device))
	s.found(pods[:1], "MOUNTWARD_POD_UID="+pods[0].uid)
	s.found(pods[1:], "MOUNTWARD_POD_UID="+pods[1].uid)
	s.found(pods, "MOUNTWARD_NAMESPACE=db", "MOUNTWARD_LV=vg0/pvc-staged")
	for _, p := range pods {
		s.agreed(p)
	}
	tree := output(s.T, "mountward", "volumes", "--lv", "vg0/pvc-staged", "-o", "tree")
	s.Logf("mountward volumes --lv vg0/pvc-staged -o tree:\n%s", tree)
	for _, text := range []string{"vg0/pvc-staged", global + "  staging", "pod db/db-0", "pod db/db-1"} {
		if !strings.Contains(tree, text) {
			s.Errorf("the tree lacks %q", text)
		}
	}
	if limits, want := output(s.T, "mountward", "volumes", "--lv", "vg0/pvc-staged", "--limits", "io.max"), number(s.T, device)+" rbps=max wbps=max riops=max wiops=max\n"; limits != want {
		s.Errorf("limits %q, want %q", limits, want)
	}
	for _, mark := range volumes(s.T).Marks {
		if code := at(mark, "code"); code == "twin-view" || code == "no-such-pod" {
			s.Errorf("marked: %v", mark)
		}
	}
}

// publishedVolume: as TopoLVM does, and containers that have parts of it.
func publishedVolume(s *stack, n *node) {
	device := s.lv("vg0/pvc-published", "--size", "16M")
	s.mkfs("ext4", device)
	p := &pod{namespace: "web", name: "web-0", uid: uid(110)}
	target := s.target(p.uid, "pvc-published")
	s.mountAt(target, "ext4", device, "")
	s.made(filepath.Join(target, "html"))
	s.write(filepath.Join(target, "web.conf"), "text")
	p.mounts = []*cri.Mount{
		volume(target, "/data"),
		volume(s.subPath(p.uid, "pvc-published", "main", 1, filepath.Join(target, "html")), "/html"),
		volume(s.subPath(p.uid, "pvc-published", "main", 2, filepath.Join(target, "web.conf")), "/etc/web.conf"),
	}
	n.start(s.T, p)
	for destination, want := range map[string]map[string]any{
		"/data":         {"root": "/", "sub_path": nil},
		"/html":         {"root": "/html", "sub_path": true},
		"/etc/web.conf": {"root": "/web.conf", "sub_path": true},
	} {
		for name, value := range map[string]any{
			"kind": "csi", "volume": "pvc-published", "pod_uid": p.uid, "csi_driver": driver, "csi_handle": handle("pvc-published"),
			"fs_type": "ext4", "lv": "vg0/pvc-published", "device": number(s.T, device),
		} {
			want[name] = value
		}
		s.recorded(p, destination, want)
	}
}

// upperOnVolume: what a container writes through an overlay goes to the volume
// that its upper directory is on.
func upperOnVolume(s *stack, n *node) {
	device := s.lv("vg0/pvc-upper", "--size", "16M")
	s.mkfs("ext4", device)
	first := &pod{namespace: "build", name: "builder", uid: uid(120)}
	target := s.target(first.uid, "pvc-upper")
	s.mountAt(target, "ext4", device, "")
	first.mounts = []*cri.Mount{volume(target, "/data")}
	n.start(s.T, first)
	second := &pod{namespace: "build", name: "runner", uid: uid(121)}
	second.mounts = []*cri.Mount{volume(s.overlay(target), "/merged")}
	n.start(s.T, second)

	if out, err := n.exec(s.T, second, "write", "/merged/file", "text"); err != nil {
		s.Fatal(out, err)
	}
	if _, err := os.Stat(filepath.Join(target, "rootfs/fs/file")); err != nil {
		s.Fatalf("what was written is not in the upper directory: %v", err)
	}
	s.recorded(second, "/merged", map[string]any{"kind": "host-path", "fs_type": "overlay", "lv": "vg0/pvc-upper", "device": number(s.T, device)})
	s.found([]*pod{first, second}, "MOUNTWARD_LV=vg0/pvc-upper")
}

// rawBlockVolume: a volume without a file system.
func rawBlockVolume(s *stack, n *node) {
	device := s.lv("vg0/pvc-raw", "--size", "16M")
	p := &pod{namespace: "vm", name: "vm-0", uid: uid(130)}
	link := s.rawBlock(p.uid, "pvc-raw", device)
	p.devices = []*cri.Device{{HostPath: link, ContainerPath: "/dev/xvda", Permissions: "rwm"}}
	n.start(s.T, p)
	record := s.task(p)
	for _, of := range []map[string]any{record, s.now(p)} {
		raw, _ := of["raw"].([]any)
		if len(raw) != 1 {
			s.Errorf("%d block devices, want 1: %v", len(raw), raw)
			continue
		}
		s.has(raw[0], "/dev/xvda", map[string]any{
			"path": "/dev/xvda", "kind": "csi", "volume": "pvc-raw", "csi_driver": driver, "csi_handle": handle("pvc-raw"),
			"lv": "vg0/pvc-raw", "device": number(s.T, device),
		})
	}
	s.found([]*pod{p}, "MOUNTWARD_LV=vg0/pvc-raw")
	out, err := run("/usr/bin/mountward", "volumes", p.uid, "--limits", "io.max")
	if want := number(s.T, device) + " rbps=max wbps=max riops=max wiops=max"; err != nil || !strings.Contains("\n"+out, "\n"+want+"\n") {
		s.Errorf("limits: %q, %v; want a line %q", out, err, want)
	}
}

// emptyDirectories: of the node's disk, and of its memory.
func emptyDirectories(s *stack, n *node) {
	p := &pod{namespace: "web", name: "cache-0", uid: uid(140)}
	dir := filepath.Join(s.podDir(p.uid), "volumes/kubernetes.io~empty-dir")
	s.made(filepath.Join(dir, "disk"))
	s.mountAt(filepath.Join(dir, "memory"), "tmpfs", "tmpfs", "")
	p.mounts = []*cri.Mount{volume(filepath.Join(dir, "disk"), "/disk"), volume(filepath.Join(dir, "memory"), "/memory")}
	n.start(s.T, p)
	s.recorded(p, "/disk", map[string]any{"kind": "empty-dir", "volume": "disk", "fs_type": "ext4", "device": number(s.T, "/dev/vda"), "lv": nil})
	s.recorded(p, "/memory", map[string]any{"kind": "empty-dir", "volume": "memory", "fs_type": "tmpfs", "lv": nil})
	for _, destination := range []string{"/disk", "/memory"} {
		if why, _ := at(member(s.task(p)["mounts"], destination), "no_lv").(string); why == "" || strings.HasPrefix(why, "cannot tell") {
			s.Errorf("%s has no logical volume: %q, want the reason", destination, why)
		}
	}
}
