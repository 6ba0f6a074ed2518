package volumes

import (
	"context"
	"path"
	"strings"

	"github.com/mountward/mountward/pkg/facts"
)

// The kinds a path does not show by the kubelet's layout.
const (
	KindHostPath = "host-path"
	KindRuntime  = "runtime"  // containerd's own: resolv.conf, hostname, shm
	KindKubelet  = "kubelet"  // the kubelet's own: etc-hosts, termination logs
	KindImage    = "image"    // a volume that is an image, or that an image declares
	KindSubPath  = "sub-path" // of a volume whose kind cannot be told
)

// name fills in what the source's path says about the volume: as it was given,
// as it was resolved at creation, and as it is now.
func (m *mapper) name(ctx context.Context, t *Mount, mount facts.Mount, host facts.HostMount) {
	t.Kind = KindHostPath
	paths := mount.Sources()
	if host.Canonical != "" {
		paths = append(paths, host.Canonical)
	}
	for _, p := range paths {
		if image, ok := imageVolume(p); ok {
			t.Kind, t.Volume = KindImage, image
			return
		}
		if m.runtimes(p) {
			t.Kind = KindRuntime
			return
		}
		if k, ok := facts.ParseKubeletPath(p, m.KubeletRoot); ok && m.kubelets(ctx, t, k) {
			return
		}
	}
}

// runtimes reports a path in one of the runtime's directories, or in one that
// looks like them: containerd's root may be elsewhere. The directory as a whole
// is no file of its own.
func (m *mapper) runtimes(p string) bool {
	if dir, rest, ok := strings.Cut(p, criDir); ok && path.IsAbs(dir) && strings.HasPrefix(rest, "sandboxes/") {
		return true
	}
	for _, dir := range m.RuntimeDirs {
		if dir != "" && facts.Within(p, dir) && p != dir {
			return true
		}
	}
	return false
}

// kubelets fills in what a path of the kubelet says, false where it says
// nothing of a volume.
func (m *mapper) kubelets(ctx context.Context, t *Mount, k facts.KubeletPath) bool {
	switch k.Role {
	case facts.PathTarget:
		t.Kind, t.Volume, t.PodUID = string(k.Kind), k.Volume, k.PodUID
	case facts.PathSubpath:
		t.Kind, t.Volume, t.PodUID, t.SubPath = KindSubPath, k.Volume, k.PodUID, true
		m.subPath(ctx, t, &k)
	case facts.PathEtcHosts, facts.PathContainer:
		t.Kind, t.PodUID = KindKubelet, k.PodUID
		return true
	default:
		return false
	}
	if k.Kind == facts.KindCSI {
		m.hint(ctx, t, k)
	}
	return true
}

// criDir is the directory of containerd's CRI plugin, below containerd's root
// and state. Source: containerd 2.4.2 internal/cri/server, 1.7 pkg/cri/server.
const criDir = "/io.containerd.grpc.v1.cri/"

// imageVolume reads the path of a volume that comes from an image: one mounted
// as a volume (<state>/<cri>/image-volumes/SANDBOX/IMAGE, 2.1 and later), or a
// directory that containerd makes for a VOLUME which the container's image
// declares (<root>/<cri>/containers/ID/volumes/NAME). It returns what names it.
func imageVolume(p string) (string, bool) {
	dir, rest, ok := strings.Cut(p, criDir)
	if !ok || !path.IsAbs(dir) {
		return "", false
	}
	s := strings.Split(rest, "/")
	switch {
	case len(s) >= 3 && s[0] == "image-volumes":
		return s[2], true
	case len(s) >= 4 && s[0] == "containers" && s[2] == "volumes":
		return s[3], true
	}
	return "", false
}
