package policytest

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/mountward/mountward/pkg/facts"
	"github.com/mountward/mountward/pkg/policy"
)

func ptr[T any](v T) *T { return &v }

func TestEverythingATestFileCanSayIsRead(t *testing.T) {
	f, err := Parse("x_test.toml", []byte(`
policy = ["a.toml", "policy.d/*.toml"]
drop_ins = ["b.toml"]
[host]
kubelet_root = "/data/kubelet"
runtime_state = ""
links = { "/var/lib/kubelet" = "../../data/kubelet" }
unresolved = ["/mnt/nfs"]
[[host.mount]]
at = "/data"
device = "253:3"
root = "/sub"
fs_type = "xfs"
source = "/dev/mapper/vg0-data"
propagation = "shared,slave"
[workloads]
table = "w.csv"
breaks = ["A / *"]

[[test]]
name = "first"
host = { runtime_root = "/srv/containerd" }
[test.pod]
namespace = "ns"
name = "pod-0"
uid = "u"
id = "s"
labels = { app = "x" }
annotations = { "a.b/c" = "d" }
static = true
runtime_handler = "kata"
[test.container]
name = "c"
image = "registry/image:1"
id = "i"
privileged = "unknown"
user_namespace = true
[[test.mount]]
source = "/data/x/"
volume = { kind = "csi", driver = "" }
lv = ["vg0/a", "vg0/b"]
[[test.mount]]
source = "/data"
destination = "/d"
propagation = "unset"
readonly = true
[test.mount.expect]
action = "set"
propagation = "rslave"
rule = ""
audited = []
outcome = "left"
hazards = ["MW101"]
[[test.mount]]
type = "tmpfs"
destination = "/dev/shm"
options = ["nosuid"]
[[test.mount]]
source = "rel"
destination = "/rel"
options = ["bind", "shared"]
`))
	if err != nil {
		t.Fatal(err)
	}
	host := Host{
		Vars: policy.Vars{KubeletRoot: "/data/kubelet", RuntimeRoot: "/var/lib/containerd"},
		Mounts: []facts.HostMount{rootMount(), {
			MountPoint: "/data", MountID: 2, Device: facts.DeviceNumber{Major: 253, Minor: 3}, Root: "/sub", FSType: "xfs",
			Source: "/dev/mapper/vg0-data", State: facts.MountState{Peer: 2, Master: 1 << 20},
		}},
		Links:      map[string]string{"/var/lib/kubelet": "../../data/kubelet"},
		Unresolved: []string{"/mnt/nfs"},
	}
	ofTest := host
	ofTest.RuntimeRoot = "/srv/containerd"
	want := &File{
		Name: "x_test.toml", Host: host,
		Policy:    []Glob{{"a.toml", "x_test.toml:2:11"}, {"policy.d/*.toml", "x_test.toml:2:21"}},
		DropIns:   []Glob{{"b.toml", "x_test.toml:3:13"}},
		Workloads: &Workloads{Table: "w.csv", At: "x_test.toml:17:1", Breaks: []Named{{"A / *", "x_test.toml:18"}}},
		Cases: []Case{{
			Name: "first", Position: "x_test.toml:20", Host: ofTest,
			Container: facts.Container{
				ID: "i", Name: "c", Image: "docker.io/registry/image:1", UserNamespace: true, Privileged: facts.CannotTell("the test says so"),
				Pod: facts.Pod{
					ID: "s", Namespace: "ns", Name: "pod-0", UID: "u", Labels: map[string]string{"app": "x"},
					Annotations: map[string]string{"a.b/c": "d", facts.AnnotationConfigSource: "file"}, Runtime: "kata",
				},
				Mounts: []facts.Mount{
					{
						Source: "/data/x/", Destination: "/data/x", Type: "bind", Options: []string{"rbind", "rprivate", "rw"},
						Volume:  facts.Volume{Kind: facts.Says("csi"), Driver: facts.Says("")},
						Storage: &facts.Storage{Known: true, LVs: []facts.LogicalVolume{{VG: "vg0", LV: "a"}, {VG: "vg0", LV: "b"}}},
					},
					{Source: "/data", Destination: "/d", Type: "bind", Options: []string{"rbind", "ro"}},
					{Destination: "/dev/shm", Type: "tmpfs", Options: []string{"nosuid"}},
					{Source: "rel", Destination: "/rel", Type: "bind", Options: []string{"bind", "shared"}},
				},
			},
			Expect: []Expect{{}, {
				Action: ptr(facts.ActionSet), Propagation: ptr(facts.Slave), Rule: ptr(""), Outcome: ptr(facts.Left),
				Audited: &[]string{}, Hazards: &[]facts.HazardCode{"MW101"},
			}, {}, {}},
		}},
	}
	if diff := cmp.Diff(want, f); diff != "" {
		t.Errorf("-want +got\n%s", diff)
	}
}

// TestAFileThatCouldPassByMistakeIsAnError: every mistake has its place, and so
// has a test that tests nothing.
func TestAFileThatCouldPassByMistakeIsAnError(t *testing.T) {
	const head = "policy = [\"p.toml\"]\n"
	const good = "[[test]]\nname = \"n\"\n[[test.mount]]\nsource = \"/x\"\nexpect.action = \"allow\"\n"
	for _, test := range []struct{ name, text, want string }{
		{"no policy", good, `x:1:1: "policy" is missing`},
		{"an empty policy", "policy = [\"\"]\n" + good, `x:1:11: an empty name is no policy`},
		{"an empty drop-in", head + "drop_ins = [\"\"]\n" + good, `x:2:13: an empty name is no drop-in`},
		{"no test", head, `x:1:1: the file has no [[test]] and would pass whatever the policy says`},
		{"a test without a name", head + "[[test]]\n[[test.mount]]\nsource = \"/x\"\nexpect.action = \"deny\"\n", `x:2:3: "name" is missing`},
		{"two tests of one name", head + good + good, `x:8:1: two tests have the name "n", the first is at x:3`},
		{"a name of two lines", head + strings.Replace(good, `"n"`, `"n\nok"`, 1), `x:3:1: "name" must be one line`},
		{"a test without a mount", head + "[[test]]\nname = \"n\"\n", `x:2:3: test "n" has no mount`},
		{"a test that expects nothing", head + "[[test]]\nname = \"n\"\n[[test.mount]]\nsource = \"/x\"\n", `x:4:8: test "n" expects nothing of any mount`},
		{"an empty expect", head + strings.Replace(good, `expect.action = "allow"`, `expect = {}`, 1), `x:6:1: this expects nothing`},
		{"a misspelled expectation", head + strings.Replace(good, "expect.action", "expect.acton", 1), `x:6:8: unknown key "test.mount.expect.acton": did you mean "action"?`},
		{"a misspelled fact", head + good + "[test.pod]\nnamspace = \"x\"\n", `x:8:1: unknown key "test.pod.namspace": did you mean "namespace"?`},
		{"an action that no mount gets", head + strings.Replace(good, `"allow"`, `"audit"`, 1), `x:6:8: "action" must be "allow" or "set" or "deny", not "audit"`},
		{"a kind for a propagation", head + strings.Replace(good, "expect.action", `propagation = "shared"`+"\nexpect.action", 1), `x:6:1: "propagation": use "rshared", not "shared"`},
		{"the word of Kubernetes", head + strings.Replace(good, `action = "allow"`, `propagation = "HostToContainer"`, 1), `"propagation": use "rslave", not "HostToContainer"`},
		{"no propagation", head + strings.Replace(good, `action = "allow"`, `propagation = ""`, 1), `x:6:8: "propagation" must be "rprivate", "rslave", "rshared", "runbindable" or "unset", not ""`},
		{"an outcome that is none", head + strings.Replace(good, `action = "allow"`, `outcome = "deferred"`, 1), `x:6:8: "outcome" must be "unchanged" or "applied" or "left" or "refused", not "deferred"`},
		{"a hazard that is none", head + strings.Replace(good, `action = "allow"`, `hazards = ["MW999"]`, 1), `x:6:19: unknown hazard "MW999"`},
		{"privileged of another word", head + good + "[test.container]\nprivileged = \"maybe\"\n", `x:8:1: "privileged" must be true or false or "unknown"`},
		{"options and readonly", head + strings.Replace(good, "expect.action", "readonly = true\noptions = [\"rbind\"]\nexpect.action", 1), `x:6:1: "readonly" is for a bind without "options"`},
		{"a bind of nothing", head + strings.Replace(good, `source = "/x"`, `destination = "/x"`, 1), `"source" is missing`},
		{"a volume of nothing", head + strings.Replace(good, "expect.action", "volume = {}\nexpect.action", 1), `x:6:1: "volume" is empty: write kind, name or driver`},
		{"a kind of volume that is none", head + strings.Replace(good, "expect.action", "volume.kind = \"emptydir\"\nexpect.action", 1), `x:6:8: unknown kind of volume "emptydir", did you mean "emptyDir"?`},
		{"half of a logical volume", head + strings.Replace(good, "expect.action", "lv = [\"a/b\", \"vg0\"]\nexpect.action", 1), `x:6:14: "lv": want VG/LV, such as "vg0/pvc-1", not "vg0"`},
		{"no destination", head + strings.Replace(good, `source = "/x"`, `source = "x"`, 1), `"destination" is missing`},
		{"static, and the annotation", head + good + "[test.pod]\nstatic = false\nannotations = { \"kubernetes.io/config.source\" = \"file\" }\n", `x:8:1: "static" and the annotation`},
		{"a host's path with ..", head + good + "[host]\nkubelet_root = \"/a/../b\"\n", `x:8:1: "kubelet_root": want a clean absolute path, not "/a/../b"`},
		{"a link of nothing", head + good + "[host]\nlinks = { \"/a\" = \"\" }\n", `"/a" is no link`},
		{"a host's mount nowhere", head + good + "[[host.mount]]\ndevice = \"1:2\"\n", `"at": want a clean absolute path, not ""`},
		{"a device that is none", head + good + "[[host.mount]]\nat = \"/a\"\ndevice = \"sda\"\n", `x:9:1: parse device number "sda"`},
		{"a mount's state that is none", head + good + "[[host.mount]]\nat = \"/a\"\npropagation = \"rshared\"\n", `x:9:1: "propagation" of a host's mount is what findmnt prints`},
		{"a table without a name", head + "[workloads]\n", `x:2:2: "table" is missing`},
		{"a name for no workload", head + "[workloads]\ntable = \"t\"\nbreaks = [\"\"]\n", `x:4:11: an empty name is for no workload`},
		{"a test for tests", head + strings.Replace(good, "[[test]]", "[test]", 1), `x:2:2: `},
	} {
		_, err := Parse("x", []byte(test.text))
		if err == nil || !strings.Contains(err.Error(), test.want) {
			t.Errorf("%s: got\n%v\nwant\n%s", test.name, err, test.want)
		}
	}
	if _, err := Parse("x", []byte(head+good)); err != nil {
		t.Errorf("the file that all others differ from: %v", err)
	}
	if _, err := Parse("x", []byte(head+"[workloads]\ntable = \"t\"\n")); err != nil {
		t.Errorf("a file with a table alone: %v", err)
	}
}
