package policytest

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

// factsPolicy asks for what not every host or test tells. Its denies match what is
// not known, its allows do not.
const factsPolicy = `
version = 1
mode = "enforce"
default = "allow"
[[rule]]
name = "on-lvm"
match.lvm = { vg = ["vg0"], lv = ["pvc-*"] }
action = "audit"
[[rule]]
name = "of-the-driver"
match.volume = { kind = ["csi"], driver = ["topolvm.io"], name = ["pvc-*"] }
action = "allow"
[[rule]]
name = "not-secrets"
match.source = ["/var/lib/kubelet/**", "/data/kubelet/**"]
except.volume.kind = ["emptyDir", "hostPath"]
action = "deny"
[[rule]]
name = "not-this-image"
match.image = ["bad*"]
match.destination = ["/image"]
action = "deny"
[[rule]]
name = "host"
match.volume.kind = ["hostPath"]
action = "audit"
`

// TestVolumesAndStorageAreWhatThePathAndTheTestSay, and else not known.
func TestVolumesAndStorageAreWhatThePathAndTheTestSay(t *testing.T) {
	p := parsed(t, factsPolicy)
	for _, r := range results(t, p, `
policy = ["p.toml"]
[[test]]
name = "the path of the pod's own volume shows its kind and name, and not the driver"
pod.uid = "u"
mount = [
  { source = "/var/lib/kubelet/pods/u/volumes/kubernetes.io~csi/pvc-1/mount", destination = "/a", expect = { rule = "not-secrets" } },
  { source = "/var/lib/kubelet/pods/u/volumes/kubernetes.io~csi/pvc-1/mount", destination = "/b", volume.driver = "topolvm.io", expect = { rule = "of-the-driver" } },
  { source = "/var/lib/kubelet/pods/u/volumes/kubernetes.io~csi/other/mount", destination = "/c", volume.driver = "topolvm.io", expect = { rule = "not-secrets" } },
  { source = "/var/lib/kubelet/pods/u/volumes/kubernetes.io~empty-dir/x", destination = "/d", volume = { kind = "emptyDir", name = "x" }, expect = { rule = "" } },
  { source = "/var/lib/kubelet/pods/w/volumes/kubernetes.io~secret/x", destination = "/e", expect = { rule = "", audited = ["host"] } },
]
[[test]]
name = "of a sub-path only the test tells the kind"
pod.uid = "u"
mount = [
  { source = "/var/lib/kubelet/pods/u/volume-subpaths/x/app/0", destination = "/a", expect = { rule = "not-secrets" } },
  { source = "/var/lib/kubelet/pods/u/volume-subpaths/x/app/1", destination = "/b", volume.kind = "emptyDir", expect = { rule = "" } },
]
[[test]]
name = "without the uid only the test tells whose volume it is"
mount = [
  { source = "/var/lib/kubelet/pods/u/volumes/kubernetes.io~empty-dir/x", destination = "/a", expect = { rule = "not-secrets" } },
  { source = "/var/lib/kubelet/pods/u/volumes/kubernetes.io~empty-dir/x", destination = "/b", volume.kind = "emptyDir", expect = { rule = "" } },
]
[[test]]
name = "a path leads where the host's links say"
host = { kubelet_root = "/data/kubelet", links = { "/var/lib/kubelet" = "/data/kubelet" } }
pod.uid = "u"
mount = [{ source = "/var/lib/kubelet/pods/u/volumes/kubernetes.io~empty-dir/x", volume.name = "x", expect = { rule = "", audited = [] } }]
[[test]]
name = "rules about logical volumes are tried where the test tells them"
mount = [
  { source = "/a", expect = { audited = ["host"] } },
  { source = "/b", lv = [], expect = { audited = ["host"] } },
  { source = "/c", lv = ["vg0/pvc-1", "vg1/x"], expect = { audited = ["on-lvm", "host"] } },
  { source = "/d", lv = ["vg1/pvc-1", "vg0/x"], expect = { audited = ["host"] } },
]
[[test]]
name = "an image that is not told is not known"
mount = [{ source = "/x", destination = "/image", expect = { rule = "not-this-image" } }]
[[test]]
name = "and one that is told is"
container.image = "good"
mount = [{ source = "/x", destination = "/image", expect = { rule = "" } }]
`) {
		if diff := cmp.Diff([]Failure(nil), r.Failures); diff != "" {
			t.Errorf("%s: %s", r.Name, diff)
		}
	}
}

func TestAVolumeThatThePathShowsToBeAnotherFails(t *testing.T) {
	const hint = "the source's path shows it: a volume is the pod's own where pod.uid, or for the runtime's pod.id, stands in it"
	got := results(t, parsed(t, factsPolicy), `
policy = ["p.toml"]
[[test]]
name = "x"
pod.uid = "u"
mount = [
  { source = "/srv", volume = { kind = "csi", name = "", driver = "topolvm.io" }, expect = { rule = "" } },
  { source = "/var/lib/kubelet/pods/u/volumes/kubernetes.io~secret/s", volume.name = "t", expect = { action = "deny" } },
]
`)[0].Failures
	want := []Failure{
		{0, "volume.kind", "csi", "hostPath", hint},
		{0, "volume.driver", "topolvm.io", "", hint},
		{1, "volume.name", "t", "s", hint},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}
