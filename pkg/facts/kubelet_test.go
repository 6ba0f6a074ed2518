package facts

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

const (
	testUID  = "0b6e2a54-5f0e-4a36-9a0c-2f3c1f6f7e11"
	testHash = "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08"
)

// Every row must read the same below a root that was given, and below one that
// was not, where the shape tells.
func TestParseKubeletPathLayout(t *testing.T) {
	const csi = "kubernetes.io~csi"
	for _, test := range []struct {
		rest string
		want KubeletPath
		only bool // only with the root given
	}{
		{"", KubeletPath{Role: PathRoot}, true},
		{"pods", KubeletPath{Role: PathPods}, true},
		{"pods/" + testUID, KubeletPath{Role: PathPod, PodUID: testUID}, true},
		{"pods/" + testUID + "/volumes", KubeletPath{Role: PathPod, PodUID: testUID, Rest: "volumes"}, true},
		{"pods/u/volumes/" + csi, KubeletPath{Role: PathPod, PodUID: "u", Rest: "volumes/" + csi}, true},
		{"pods/u/volumes/csi/x", KubeletPath{Role: PathPod, PodUID: "u", Rest: "volumes/csi/x"}, true},
		{"pods/u/etc-hosts", KubeletPath{Role: PathEtcHosts, PodUID: "u"}, false},
		{"pods/u/etc-hosts/x", KubeletPath{Role: PathPod, PodUID: "u", Rest: "etc-hosts/x"}, true},
		{"pods/u/containers/app", KubeletPath{Role: PathContainer, PodUID: "u", Container: "app"}, true},
		{"pods/u/containers/app/5d1c0b2e", KubeletPath{Role: PathContainer, PodUID: "u", Container: "app", Rest: "5d1c0b2e"}, false},
		{"pods/u/containers/app/notes", KubeletPath{Role: PathContainer, PodUID: "u", Container: "app", Rest: "notes"}, true},

		{"pods/u/volumes/" + csi + "/pvc-1/mount", KubeletPath{Role: PathTarget, PodUID: "u", Plugin: csi, Kind: KindCSI, Volume: "pvc-1"}, false},
		{"pods/u/volumes/" + csi + "/pvc-1/mount/a/b", KubeletPath{Role: PathTarget, PodUID: "u", Plugin: csi, Kind: KindCSI, Volume: "pvc-1", Rest: "a/b"}, false},
		{"pods/u/volumes/" + csi + "/pvc-1", KubeletPath{Role: PathVolume, PodUID: "u", Plugin: csi, Kind: KindCSI, Volume: "pvc-1"}, false},
		{"pods/u/volumes/" + csi + "/pvc-1/vol_data.json", KubeletPath{Role: PathVolume, PodUID: "u", Plugin: csi, Kind: KindCSI, Volume: "pvc-1", Rest: "vol_data.json"}, false},
		{"pods/u/volumes/kubernetes.io~local-volume/pv", KubeletPath{Role: PathTarget, PodUID: "u", Plugin: "kubernetes.io~local-volume", Kind: KindLocal, Volume: "pv"}, false},
		{"pods/u/volumes/kubernetes.io~empty-dir/cache/x", KubeletPath{Role: PathTarget, PodUID: "u", Plugin: "kubernetes.io~empty-dir", Kind: KindEmptyDir, Volume: "cache", Rest: "x"}, false},
		{"pods/u/volumes/kubernetes.io~projected/kube-api-access-x", KubeletPath{Role: PathTarget, PodUID: "u", Plugin: "kubernetes.io~projected", Kind: KindProjected, Volume: "kube-api-access-x"}, false},
		{"pods/u/volumes/kubernetes.io~secret/s", KubeletPath{Role: PathTarget, PodUID: "u", Plugin: "kubernetes.io~secret", Kind: KindSecret, Volume: "s"}, false},
		{"pods/u/volumes/kubernetes.io~configmap/c", KubeletPath{Role: PathTarget, PodUID: "u", Plugin: "kubernetes.io~configmap", Kind: KindConfigMap, Volume: "c"}, false},
		{"pods/u/volumes/kubernetes.io~downward-api/d", KubeletPath{Role: PathTarget, PodUID: "u", Plugin: "kubernetes.io~downward-api", Kind: KindDownwardAPI, Volume: "d"}, false},
		{"pods/u/volumes/kubernetes.io~nfs/mount", KubeletPath{Role: PathTarget, PodUID: "u", Plugin: "kubernetes.io~nfs", Kind: KindNFS, Volume: "mount"}, false},
		{"pods/u/volumes/example.com~fancy/v", KubeletPath{Role: PathTarget, PodUID: "u", Plugin: "example.com~fancy", Kind: KindFlexVolume, Volume: "v"}, false},
		{"pods/u/volume-subpaths/pvc-1/app/0", KubeletPath{Role: PathSubpath, PodUID: "u", Volume: "pvc-1", Container: "app", Index: 0}, false},
		{"pods/u/volume-subpaths/pvc-1/app/12/f", KubeletPath{Role: PathSubpath, PodUID: "u", Volume: "pvc-1", Container: "app", Index: 12, Rest: "f"}, false},
		{"pods/u/volume-subpaths/pvc-1/app/012", KubeletPath{Role: PathPod, PodUID: "u", Rest: "volume-subpaths/pvc-1/app/012"}, true},
		{"pods/u/volume-subpaths/pvc-1/app/-1", KubeletPath{Role: PathPod, PodUID: "u", Rest: "volume-subpaths/pvc-1/app/-1"}, true},
		{"pods/u/volumeDevices/" + csi + "/pvc-2", KubeletPath{Role: PathDevice, PodUID: "u", Plugin: csi, Kind: KindCSI, Volume: "pvc-2"}, false},

		{"plugins", KubeletPath{Role: PathPlugins}, true},
		{"plugins/lvm-localpv/csi.sock", KubeletPath{Role: PathPlugins, Rest: "lvm-localpv/csi.sock"}, true},
		{"plugins/kubernetes.io/csi", KubeletPath{Role: PathPlugins, Rest: "kubernetes.io/csi"}, true},
		{"plugins/kubernetes.io/csi/pv", KubeletPath{Role: PathPlugins, Rest: "kubernetes.io/csi/pv"}, true},
		{"plugins/kubernetes.io/csi/topolvm.io/short/globalmount", KubeletPath{Role: PathPlugins, Rest: "kubernetes.io/csi/topolvm.io/short/globalmount"}, true},
		{"plugins/kubernetes.io/csi/topolvm.io/" + testHash + "/globalmount", KubeletPath{Role: PathStaging, Plugin: csi, Kind: KindCSI, Driver: "topolvm.io", HandleHash: testHash}, false},
		{"plugins/kubernetes.io/csi/topolvm.io/" + testHash + "/globalmount/d", KubeletPath{Role: PathStaging, Plugin: csi, Kind: KindCSI, Driver: "topolvm.io", HandleHash: testHash, Rest: "d"}, false},
		{"plugins/kubernetes.io/csi/topolvm.io/" + testHash, KubeletPath{Role: PathStaged, Plugin: csi, Kind: KindCSI, Driver: "topolvm.io", HandleHash: testHash}, false},
		{"plugins/kubernetes.io/csi/pv/pvc-1/globalmount", KubeletPath{Role: PathStaging, Plugin: csi, Kind: KindCSI, PV: "pvc-1"}, false},
		{"plugins/kubernetes.io/csi/pv/pvc-1/vol_data.json", KubeletPath{Role: PathStaged, Plugin: csi, Kind: KindCSI, PV: "pvc-1", Rest: "vol_data.json"}, false},
		{"plugins/kubernetes.io/csi/volumeDevices/staging/pvc-2", KubeletPath{Role: PathDevStage, Plugin: csi, Kind: KindCSI, PV: "pvc-2"}, false},
		{"plugins/kubernetes.io/csi/volumeDevices/publish/pvc-2/u", KubeletPath{Role: PathDevTarget, Plugin: csi, Kind: KindCSI, PV: "pvc-2", PodUID: "u"}, false},
		{"plugins/kubernetes.io/csi/volumeDevices/pvc-2/dev/u", KubeletPath{Role: PathDevMap, Plugin: csi, Kind: KindCSI, PV: "pvc-2", PodUID: "u"}, false},
		{"plugins/kubernetes.io/csi/volumeDevices/pvc-2/data/vol_data.json", KubeletPath{Role: PathDevData, Plugin: csi, Kind: KindCSI, PV: "pvc-2", Rest: "vol_data.json"}, false},
		{"plugins/kubernetes.io/csi/volumeDevices/publish/pvc-2", KubeletPath{Role: PathPlugins, Rest: "kubernetes.io/csi/volumeDevices/publish/pvc-2"}, true},

		{"plugins_registry", KubeletPath{Role: PathOther, Rest: "plugins_registry"}, true},
		{"csi-plugins/x", KubeletPath{Role: PathOther, Rest: "csi-plugins/x"}, true},
		{"podsX/u", KubeletPath{Role: PathOther, Rest: "podsX/u"}, true},

		// Names that look like the layout.
		{"pods/u/volumes/" + csi + "/mount/mount", KubeletPath{Role: PathTarget, PodUID: "u", Plugin: csi, Kind: KindCSI, Volume: "mount"}, false},
		{"pods/u/volumes/" + csi + "/mount", KubeletPath{Role: PathVolume, PodUID: "u", Plugin: csi, Kind: KindCSI, Volume: "mount"}, false},
		{"pods/u/volumes/" + csi + "/pods/mount", KubeletPath{Role: PathTarget, PodUID: "u", Plugin: csi, Kind: KindCSI, Volume: "pods"}, false},
		{"pods/pods/volumes/" + csi + "/volumes/mount", KubeletPath{Role: PathTarget, PodUID: "pods", Plugin: csi, Kind: KindCSI, Volume: "volumes"}, false},
		{"plugins/kubernetes.io/csi/pv/pods/globalmount", KubeletPath{Role: PathStaging, Plugin: csi, Kind: KindCSI, PV: "pods"}, false},
		{"plugins/kubernetes.io/csi/volumeDevices/pods/dev/u", KubeletPath{Role: PathDevMap, Plugin: csi, Kind: KindCSI, PV: "pods", PodUID: "u"}, false},
		// A static pod's uid is a hash; nothing promises even that.
		{"pods/9c2f8f7d3b1e4a5f60718293a4b5c6d7/etc-hosts", KubeletPath{Role: PathEtcHosts, PodUID: "9c2f8f7d3b1e4a5f60718293a4b5c6d7"}, false},
		{"pods/ü =\n\xff/volumes/" + csi + "/v\t1/mount", KubeletPath{Role: PathTarget, PodUID: "ü =\n\xff", Plugin: csi, Kind: KindCSI, Volume: "v\t1"}, false},
		// A kubelet inside a volume of another: the outer one mounts it.
		{"pods/u/volumes/kubernetes.io~empty-dir/d/kubelet/pods/v/volumes/" + csi + "/x/mount", KubeletPath{Role: PathTarget, PodUID: "u", Plugin: "kubernetes.io~empty-dir", Kind: KindEmptyDir, Volume: "d", Rest: "kubelet/pods/v/volumes/" + csi + "/x/mount"}, false},
	} {
		for _, root := range []string{
			"/var/lib/kubelet",
			"/var/lib/rancher/k3s/agent/kubelet",
			"/var/snap/microk8s/common/var/lib/kubelet",
			"/var/lib/k0s/kubelet",
			"/data/pods/kubelet",
			"/srv/plugins/kubernetes.io/pods",
			"/",
		} {
			p := strings.TrimSuffix(JoinRoot(root, test.rest), "/")
			if p == "" {
				p = "/"
			}
			want := test.want
			want.Root = root

			got, ok := ParseKubeletPath(p, root)
			if diff := cmp.Diff(want, got); !ok || diff != "" {
				t.Errorf("ParseKubeletPath(%q, %q): ok %v, -want +got\n%s", p, root, ok, diff)
			}
			if got.Path() != p {
				t.Errorf("Path() = %q, want %q", got.Path(), p)
			}
			got, ok = ParseKubeletPath(p, "")
			if test.only {
				if ok {
					t.Errorf("ParseKubeletPath(%q, \"\") = %+v: want none, the shape does not tell", p, got)
				}
			} else if diff := cmp.Diff(want, got); !ok || diff != "" {
				t.Errorf("ParseKubeletPath(%q, \"\"): ok %v, -want +got\n%s", p, ok, diff)
			}
		}
	}
}

func TestParseKubeletPathRoot(t *testing.T) {
	const inner = "/var/lib/kubelet/pods/u/volumes/kubernetes.io~empty-dir/d/kubelet"
	const target = "/pods/v/volumes/kubernetes.io~csi/x/mount"
	for _, test := range []struct {
		name, path, root string
		wantRoot         string
		wantRole         string
	}{
		{"a given root wins over an outer shape", inner + target, inner, inner, PathTarget},
		{"without it the outer shape wins", inner + target, "", "/var/lib/kubelet", PathTarget},
		{"a root that the path is not below is set aside", "/data/kubelet" + target, "/var/lib/kubelet", "/data/kubelet", PathTarget},
		{"roots compare by component", "/var/lib/kubelet2" + target, "/var/lib/kubelet", "/var/lib/kubelet2", PathTarget},
		{"both are cleaned", "/var//lib/./kubelet/x/.." + target + "/", "/var/lib/kubelet/", "/var/lib/kubelet", PathTarget},
		{"a root that is not absolute is set aside", "/var/lib/kubelet" + target, "var/lib/kubelet", "/var/lib/kubelet", PathTarget},
		{"below a given root every path is the kubelet's", "/var/lib/kubelet/x", "/var/lib/kubelet", "/var/lib/kubelet", PathOther},
	} {
		got, ok := ParseKubeletPath(test.path, test.root)
		if !ok || got.Root != test.wantRoot || got.Role != test.wantRole {
			t.Errorf("%s: ParseKubeletPath(%q, %q) = %+v, %v", test.name, test.path, test.root, got, ok)
		}
	}
	for _, p := range []string{"", "pods/u/etc-hosts", "/", "/var/log/pods/ns_pod_uid/app/0.log", "/srv/pods", "/home/me/plugins/x", "/var/lib/kubelet"} {
		if got, ok := ParseKubeletPath(p, ""); ok {
			t.Errorf("ParseKubeletPath(%q, \"\") = %+v: want none", p, got)
		}
	}
}

func FuzzParseKubeletPath(f *testing.F) {
	f.Add("/var/lib/kubelet/pods/u/volumes/kubernetes.io~csi/pvc/mount/x", "/var/lib/kubelet")
	f.Add("/pods/pods/volume-subpaths/pods/pods/0", "")
	f.Add("/p/plugins/kubernetes.io/csi/volumeDevices/staging/dev/publish", "/")
	f.Add("/p/plugins/kubernetes.io/csi/pv/"+testHash+"/globalmount", "/p/")
	f.Add("//x/../plugins/kubernetes.io/csi/pv/"+testHash+"/globalmount/", "/x/..")
	f.Fuzz(func(t *testing.T, p, root string) {
		clean, abs := CleanAbs(p)
		k, ok := ParseKubeletPath(p, root)
		if !ok {
			if root, given := CleanAbs(root); abs && given && Within(clean, root) {
				t.Fatalf("no answer for %q below the given root %q", p, root)
			}
			return
		}
		if k.Path() != clean {
			t.Fatalf("Path() = %q, want %q (%+v)", k.Path(), clean, k)
		}
		if !Within(clean, k.Root) || k.Role == "" {
			t.Fatalf("%q: %+v", p, k)
		}
		again, ok := ParseKubeletPath(k.Path(), k.Root)
		if diff := cmp.Diff(k, again); !ok || diff != "" {
			t.Fatalf("reading it again with its own root: %v, -first +again\n%s", ok, diff)
		}
	})
}
