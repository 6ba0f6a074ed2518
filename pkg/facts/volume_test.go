package facts

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestVolumeOf: what a path shows is told, what it does not is not known, and
// nobody gets the kind of another pod's volume by its path.
func TestVolumeOf(t *testing.T) {
	const root, pod = "/var/lib/kubelet", "/var/lib/kubelet/pods/u/"
	const other = "/var/lib/kubelet/pods/w/"
	const cri = "/run/containerd/io.containerd.grpc.v1.cri/"
	const staging = root + "/plugins/kubernetes.io/csi/"
	for _, test := range []struct{ source, want string }{
		{pod + "volumes/kubernetes.io~csi/pvc-1/mount", `csi pvc-1 ?`},
		{pod + "volumes/kubernetes.io~csi/pvc-1/mount/a", `csi pvc-1 ?`},
		{pod + "volumes/kubernetes.io~empty-dir/tmp", `emptyDir tmp -`},
		{pod + "volumes/kubernetes.io~configmap/c", `configMap c -`},
		{pod + "volumes/kubernetes.io~downward-api/d", `downwardAPI d -`},
		{pod + "volumes/kubernetes.io~secret/s", `secret s -`},
		{pod + "volumes/kubernetes.io~projected/p", `projected p -`},
		{pod + "volumes/kubernetes.io~local-volume/pv", `local pv -`},
		{pod + "volumes/kubernetes.io~nfs/n", `nfs n -`},
		{pod + "volumes/example.com~fancy/f", `flexVolume f example.com/fancy`},
		{pod + "volume-subpaths/pvc-1/app/0", `? pvc-1 ?`},
		{pod + "etc-hosts", `none - -`},
		{pod + "containers/app/5d1c0b2e", `none - -`},
		{pod, `hostPath - -`},
		{pod + "volumes/kubernetes.io~csi/pvc-1", `hostPath pvc-1 ?`}, // the parent of the volume

		{other + "volumes/kubernetes.io~csi/pvc-1/mount", `hostPath pvc-1 ?`},
		{other + "volumes/kubernetes.io~empty-dir/tmp", `hostPath tmp -`},
		{other + "volume-subpaths/pvc-1/app/0", `hostPath pvc-1 ?`},
		{other + "etc-hosts", `hostPath - -`},
		{"/moved/pods/u/volumes/kubernetes.io~empty-dir/tmp", `emptyDir tmp -`},
		{"/moved/pods/w/volumes/kubernetes.io~empty-dir/tmp", `hostPath tmp -`},

		{staging + "topolvm.io/" + testHash + "/globalmount", `hostPath ? topolvm.io`},
		{staging + "pv/pvc-1/globalmount", `hostPath pvc-1 ?`},
		{root, `hostPath - -`},
		{root + "/pods", `hostPath - -`},
		{"/", `hostPath - -`},
		{"/etc/../srv", `hostPath - -`},
		{"relative", `? ? ?`},

		{cri + "sandboxes/s/resolv.conf", `none - -`},
		{cri + "sandboxes/t/resolv.conf", `hostPath - -`},
		{cri + "sandboxes/s", `hostPath - -`},
		{cri + "sandboxes/s/../t/shm", `hostPath - -`},
		{"/var/lib/containerd/io.containerd.grpc.v1.cri/containers/c/volumes/v", `none - -`},
		{"/var/lib/containerd/io.containerd.grpc.v1.cri/containers/d/volumes/v", `hostPath - -`},
		{cri + "image-volumes/s/sha", `image - -`},
		{cri + "image-volumes/t/sha", `hostPath - -`},
	} {
		c := Container{ID: "c", Pod: Pod{ID: "s", UID: "u"}}
		m := Mount{Source: test.source, Type: "bind"}
		got, _ := VolumeOf(&c, &m, root)
		if diff := cmp.Diff(test.want, written(got)); diff != "" {
			t.Errorf("%s: %s", test.source, diff)
		}
		for _, w := range []Word{got.Kind, got.Name, got.Driver} {
			if w.Known == (w.Why != "") {
				t.Errorf("%s: %+v", test.source, w)
			}
		}
	}
}

// written is kind, name and driver: "-" for none, "?" for not known.
func written(v Volume) string {
	var words []string
	for _, w := range []Word{v.Kind, v.Name, v.Driver} {
		switch {
		case !w.Known:
			words = append(words, "?")
		case w.Text == "":
			words = append(words, "-")
		default:
			words = append(words, w.Text)
		}
	}
	return strings.Join(words, " ")
}

func TestVolumeOfGoesByTheRealPath(t *testing.T) {
	const volume = "/var/lib/kubelet/pods/u/volumes/kubernetes.io~empty-dir/tmp"
	c := Container{Pod: Pod{UID: "u"}}
	for _, test := range []struct {
		c         Container
		given     string
		canonical string
		want      string
	}{
		{c, volume + "/link", "/etc", "hostPath - -"},
		{c, "/link", volume, "emptyDir tmp -"},
		{Container{}, volume, volume, "? tmp -"}, // a runtime that does not tell the pod's uid
	} {
		m := Mount{Source: test.given, Type: "bind", Host: &HostMount{Canonical: test.canonical}}
		if got, _ := VolumeOf(&test.c, &m, "/var/lib/kubelet"); written(got) != test.want {
			t.Errorf("%s -> %s: %s, want %s", test.given, test.canonical, written(got), test.want)
		}
	}
	if got, _ := VolumeOf(&c, &Mount{Source: volume, Type: "tmpfs"}, ""); written(got) != "none - -" {
		t.Errorf("no bind: %s", written(got))
	}
}

func TestVolumeKindsAreTheWordsOfKubernetes(t *testing.T) {
	all := VolumeKinds()
	for _, word := range []string{"csi", "local", "emptyDir", "configMap", "downwardAPI", "flexVolume", "hostPath", "image", "none", "nfs"} {
		found := 0
		for _, k := range all {
			if k == word {
				found++
			}
		}
		if found != 1 {
			t.Errorf("%q is there %d times", word, found)
		}
	}
}

func TestAMountStateIsOfItsKinds(t *testing.T) {
	for _, test := range []struct {
		state MountState
		want  string
	}{
		{MountState{}, "private"},
		{MountState{Peer: 1}, "shared"},
		{MountState{Master: 1}, "slave"},
		{MountState{Peer: 2, Master: 1}, "slave shared"},
		{MountState{Unbindable: true}, "unbindable"},
	} {
		var kinds []string
		for _, kind := range []Propagation{Unset, Unbindable, Private, Slave, Shared} {
			if test.state.Is(kind) {
				kinds = append(kinds, kind.String())
			}
		}
		if got := strings.Join(kinds, " "); got != test.want {
			t.Errorf("%s: %q, want %q", test.state, got, test.want)
		}
	}
}

func TestParseLogicalVolume(t *testing.T) {
	for text, want := range map[string]LogicalVolume{"vg0/pvc-1": {"vg0", "pvc-1"}, "": {}, "vg0": {}, "/a": {}, "a/": {}, "a/b/c": {}} {
		got, ok := ParseLogicalVolume(text)
		if ok != (want != LogicalVolume{}) || ok && (got != want || got.String() != text) {
			t.Errorf("%q: %v %v", text, got, ok)
		}
	}
}
