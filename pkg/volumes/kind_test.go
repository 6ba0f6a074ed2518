package volumes

import (
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/mountward/mountward/pkg/facts"
)

// TestKinds is what the source's path says.
func TestKinds(t *testing.T) {
	const moved = "/data/kubelet/pods/u2/"
	hash := strings.Repeat("0123456789abcdef", 4)
	tests := []struct {
		source, canonical string
		kind, volume, uid string
		subPath           bool
	}{
		{pod + "/volumes/kubernetes.io~csi/pvc-1/mount", "", "csi", "pvc-1", podUID, false},
		{pod + "/volumes/kubernetes.io~csi/pvc-1/mount/deep", "", "csi", "pvc-1", podUID, false},
		{pod + "/volumes/kubernetes.io~empty-dir/cache", "", "empty-dir", "cache", podUID, false},
		{pod + "/volumes/kubernetes.io~projected/kube-api-access-x", "", "projected", "kube-api-access-x", podUID, false},
		{pod + "/volumes/kubernetes.io~secret/s", "", "secret", "s", podUID, false},
		{pod + "/volumes/kubernetes.io~configmap/c", "", "configmap", "c", podUID, false},
		{pod + "/volumes/kubernetes.io~downward-api/d", "", "downward-api", "d", podUID, false},
		{pod + "/volumes/kubernetes.io~local-volume/l", "", "local-volume", "l", podUID, false},
		{pod + "/volumes/example.com~lvm/f", "", "flexvolume", "f", podUID, false},
		{pod + "/volume-subpaths/pvc-1/main/0", "", "csi", "pvc-1", podUID, true},
		{pod + "/volume-subpaths/pvc-1/main/0/x", "", "csi", "pvc-1", podUID, true},
		{pod + "/volume-subpaths/cache/main/1", "", "empty-dir", "cache", podUID, true},
		{pod + "/volume-subpaths/f/main/1", "", "flexvolume", "f", podUID, true},
		{pod + "/volume-subpaths/gone/main/2", "", "sub-path", "gone", podUID, true},
		{pod + "/volume-subpaths/both/main/2", "", "sub-path", "both", podUID, true},
		{kubelet + "/pods/u9/volume-subpaths/pvc-1/main/0", "", "sub-path", "pvc-1", "u9", true},
		{moved + "volume-subpaths/pvc-2/main/0", "", "csi", "pvc-2", "u2", true},
		{pod + "/etc-hosts", "", KindKubelet, "", podUID, false},
		{pod + "/containers/main/0a1b2c3d", "", KindKubelet, "", podUID, false},
		{"/var/lib/kubelet", "", KindHostPath, "", "", false},
		{"/var/lib/kubelet/pods", "", KindHostPath, "", "", false},
		{"/var/lib/kubelet/plugins/kubernetes.io/csi/drv/" + hash + "/globalmount", "", KindHostPath, "", "", false},
		{moved + "volumes/kubernetes.io~csi/pvc-2/mount", "", "csi", "pvc-2", "u2", false},
		{"/link/x", pod + "/volumes/kubernetes.io~csi/pvc-1/mount", "csi", "pvc-1", podUID, false},
		{"/run/containerd/io.containerd.grpc.v1.cri/sandboxes/x/shm", "", KindRuntime, "", "", false},
		{"/var/lib/containerd/io.containerd.grpc.v1.cri/sandboxes/x/hostname", "", KindRuntime, "", "", false},
		{"/run/containerd/io.containerd.grpc.v1.cri/image-volumes/sb/sha256:ab", "", KindImage, "sha256:ab", "", false},
		{"/run/k3s/containerd/io.containerd.grpc.v1.cri/image-volumes/sb/sha256:ab/sub", "", KindImage, "sha256:ab", "", false},
		{"/var/lib/containerd/io.containerd.grpc.v1.cri/containers/id/volumes/v1", "", KindImage, "v1", "", false},
		{"/run/containerd/io.containerd.grpc.v1.cri/image-volumes/sb", "", KindRuntime, "", "", false},
		{"/srv/x/io.containerd.grpc.v1.cri/sandboxes/id/resolv.conf", "", KindRuntime, "", "", false},
		{"/srv/x/io.containerd.grpc.v1.cri/sandboxes", "", KindHostPath, "", "", false},
		{"/srv/x/io.containerd.grpc.v1.cri/containers/id/io", "", KindHostPath, "", "", false},
		{"/run/containerd", "", KindHostPath, "", "", false}, // the directory as a whole is no file of its own
		{"/run/containerd2/x", "", KindHostPath, "", "", false},
		{"/", "", KindHostPath, "", "", false},
		{"/srv/data", "", KindHostPath, "", "", false},
		{"relative", "", KindHostPath, "", "", false},
	}
	h := &fakeHost{dirs: map[string][]string{
		volumesOfPod:                                 {"example.com~lvm", "junk", "kubernetes.io~csi", "kubernetes.io~empty-dir"},
		volumesOfPod + "/kubernetes.io~csi":          {"both", "pvc-1"},
		volumesOfPod + "/kubernetes.io~empty-dir":    {"both", "cache"},
		volumesOfPod + "/example.com~lvm":            {"f"},
		moved + "volumes":                            {"kubernetes.io~csi"},
		moved + "volumes/kubernetes.io~csi":          {"pvc-2"},
		"/var/lib/kubelet/pods/u9/volumes/elsewhere": nil,
	}}
	for _, test := range tests {
		m := newMapper(Sources{Host: h, KubeletRoot: kubelet, RuntimeDirs: []string{"/run/containerd", "/var/lib/containerd", ""}})
		mount := facts.Mount{Source: test.source}
		if test.canonical != "" {
			mount.Host = &facts.HostMount{Canonical: test.canonical}
		}
		var got Mount
		m.name(t.Context(), &got, mount, facts.HostMount{})
		if (got.Kind == KindSubPath) != (got.Why != "") {
			t.Errorf("%s: why the kind cannot be told: %q", test.source, got.Why)
		}
		got.Why, got.HintWhy = "", ""
		want := Mount{Kind: test.kind, Volume: test.volume, SubPath: test.subPath, PodUID: test.uid}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", test.source, diff)
		}
	}
	// What was not resolved at creation is known by where it leads now.
	var got Mount
	newMapper(Sources{Host: h, KubeletRoot: kubelet}).name(t.Context(), &got, facts.Mount{Source: "/link"}, facts.HostMount{Canonical: csiTarget})
	if got.Kind != "csi" || got.Volume != "pvc-1" {
		t.Errorf("by the canonical path of now: %+v", got)
	}
}

func TestSubPathReasons(t *testing.T) {
	const source = pod + "/volume-subpaths/pvc-1/main/0"
	for _, test := range []struct {
		name string
		host *fakeHost
		want string
	}{
		{"no volumes", &fakeHost{}, "kind of volume pvc-1: " + volumesOfPod + ": file does not exist"},
		{"one plugin hangs", &fakeHost{
			dirs: map[string][]string{volumesOfPod: {"a~b", "kubernetes.io~csi"}, volumesOfPod + "/kubernetes.io~csi": {"pvc-1"}},
			errs: map[string]error{volumesOfPod + "/a~b": errHung("x")},
		}, "kind of volume pvc-1: x: its file system did not answer in 50ms"},
		{"none has it", &fakeHost{dirs: map[string][]string{volumesOfPod: nil}}, "kind of volume pvc-1: 0 plugins have one of this name in " + volumesOfPod},
	} {
		var got Mount
		newMapper(Sources{Host: test.host, KubeletRoot: kubelet}).name(t.Context(), &got, facts.Mount{Source: source}, facts.HostMount{})
		if got.Kind != KindSubPath || got.Why != test.want {
			t.Errorf("%s: kind %s, why %q, want %q", test.name, got.Kind, got.Why, test.want)
		}
	}
}

// TestSubPathOfAFile: a mount of a file of a volume is of that volume, and
// nothing can arrive in it.
func TestSubPathOfAFile(t *testing.T) {
	const source = pod + "/volume-subpaths/pvc-1/main/0"
	h := onHost(map[string]facts.HostMount{source: {Device: number(253, 2), Root: "/conf/app.ini", FSType: "xfs", State: facts.MountState{Peer: 7}}})
	h.dirs = map[string][]string{volumesOfPod: {"kubernetes.io~csi"}, volumesOfPod + "/kubernetes.io~csi": {"pvc-1"}}
	h.files = map[string]string{source: "x", csiVolume + "/vol_data.json": volumeDataOf1}
	m, _ := one(t, h, node(), source, "101 100 253:2 /conf/app.ini /data rw master:7 - xfs x rw")
	if m.Kind != "csi" || !m.SubPath || m.Volume != "pvc-1" || m.Handle != "handle-1" || m.LV != "vg0/pvc-1" || m.Root != "/conf/app.ini" || m.OpenEnded || m.Why != "" {
		t.Errorf("%+v", m)
	}
}

// TestOpenEnded is where later mounts of the host arrive.
func TestOpenEnded(t *testing.T) {
	const dir, file = "/srv/dir", "/srv/file"
	tests := []struct {
		name, source, state string
		device              string
		host                facts.MountState
		want                bool
	}{
		{"a slave", dir, "master:1", "8:1", facts.MountState{Peer: 1}, true},
		{"a slave of another group", dir, "master:9", "8:1", facts.MountState{Peer: 1}, true},
		{"a peer of the host's", dir, "shared:1", "8:1", facts.MountState{Peer: 1}, true},
		{"a group of its own", dir, "shared:9", "8:1", facts.MountState{Peer: 1}, false},
		{"private", dir, "", "8:1", facts.MountState{Peer: 1}, false},
		{"private on a private host", dir, "", "8:1", facts.MountState{}, false},
		{"a file", file, "master:1", "8:1", facts.MountState{Peer: 1}, false},
		{"a file of which it is not known", file, "master:1", "8:16", facts.MountState{Peer: 1}, true},
		{"a directory that does not answer", "/srv/hung", "master:1", "8:1", facts.MountState{Peer: 1}, true},
	}
	for _, test := range tests {
		h := onHost(map[string]facts.HostMount{"/": {Device: number(8, 1), Root: "/", FSType: "ext4", State: test.host}})
		h.dirs, h.files = map[string][]string{dir: {"x", "y"}}, map[string]string{file: ""}
		h.errs = map[string]error{"/srv/hung": errors.New("hung")}
		m, _ := one(t, h, node(), test.source, strings.ReplaceAll("101 100 "+test.device+" "+test.source+" /data rw "+test.state+" - ext4 x rw", "  ", " "))
		if m.OpenEnded != test.want {
			t.Errorf("%s: open ended %t", test.name, m.OpenEnded)
		}
	}
}
