package discover

import (
	"strings"
	"testing"

	"github.com/mountward/mountward/pkg/hostview"
)

func TestTheRootInAConfigurationOfK3s(t *testing.T) {
	for name, test := range map[string]struct {
		text string
		want inYAML
	}{
		"a list":               {"token: x\nkubelet-arg:\n  - \"v=2\"\n  - \"root-dir=/data/kubelet\"\nnode-ip: 1.2.3.4\n", inYAML{"/data/kubelet", 4, true, 0}},
		"a list at the margin": {"kubelet-arg:\n- root-dir=/a\n- 'root-dir=/b'\n", inYAML{"/b", 3, true, 0}},
		"a list in brackets":   {"kubelet-arg: [\"v=2\", 'root-dir=/c']\n", inYAML{"/c", 1, true, 0}},
		"one value":            {"kubelet-arg: --root-dir=/d\n", inYAML{"/d", 1, true, 0}},
		"added to":             {"kubelet-arg+:\n  - root-dir=/e\n", inYAML{"/e", 2, false, 0}},
		"a quoted key":         {"\"kubelet-arg\":\n  - root-dir=/f\n", inYAML{"/f", 2, true, 0}},
		"of another key":       {"kube-apiserver-arg:\n  - root-dir=/no\nkubelet-arg:\n  - v=2\netcd-arg:\n  - root-dir=/no\n", inYAML{"", 0, true, 0}},
		"a comment":            {"# kubelet-arg: root-dir=/no\nkubelet-arg:\n  # - root-dir=/no\n", inYAML{"", 0, true, 0}},
		"a longer name":        {"kubelet-arg:\n  - root-directory=/no\n", inYAML{"", 0, true, 2}},
		"a comment behind it":  {"kubelet-arg:\n  - root-dir=/x # or /y\n", inYAML{"/x", 2, true, 0}},
		"with a space":         {"kubelet-arg:\n  - root-dir=/x y\n", inYAML{"", 0, true, 2}},
		"a quoted number sign": {"kubelet-arg:\n  - \"root-dir=/x #y\"\n", inYAML{"", 0, true, 2}},
		"a list on two lines":  {"kubelet-arg: [\n  \"root-dir=/g\"\n]\n", inYAML{"/g", 2, true, 0}},
		"relative":             {"kubelet-arg:\n  - root-dir=x\n", inYAML{"", 0, true, 2}},
		"an alias":             {"kubelet-arg:\n  - *root-dir\n", inYAML{"", 0, true, 2}},
		"a text of lines":      {"kubelet-arg:\n  - >-\n    root-dir=/x\n", inYAML{"/x", 3, true, 0}},
		"nothing":              {"", inYAML{}},
	} {
		if got := rootInYAML(test.text); got != test.want {
			t.Errorf("%s: %+v, want %+v", name, got, test.want)
		}
	}
}

// TestTheConfigurationOfK3sIsWeakerThanItsCommandLine, and stronger than its
// default.
func TestTheConfigurationOfK3sIsWeakerThanItsCommandLine(t *testing.T) {
	const file, drop = "/etc/rancher/k3s/config.yaml", "/etc/rancher/k3s/config.yaml.d/"
	for name, test := range map[string]struct {
		command  string
		files    files
		root     string
		from     string
		evidence string
		why      string
	}{
		"a title hides the arguments":  {"/usr/local/bin/k3s~server", files{file: "kubelet-arg:\n- root-dir=/data\n"}, "/data", FromConfig, file + ":2 for process 9", ""},
		"an argument wins":             {"k3s server --kubelet-arg=root-dir=/cli", files{file: "kubelet-arg:\n- root-dir=/data\n"}, "/cli", FromProcess, "root-dir of process 9", ""},
		"no file":                      {"k3s server", nil, "/var/lib/kubelet", FromProcess, "default of process 9", ""},
		"a file of others":             {"k3s server", files{"/etc/rancher/rke2/config.yaml": "kubelet-arg:\n- root-dir=/data\n"}, "/var/lib/kubelet", FromProcess, "default of process 9", ""},
		"another file":                 {"k3s agent -c /my.yaml", files{file: "kubelet-arg: root-dir=/no\n", "/my.yaml": "kubelet-arg: root-dir=/mine\n"}, "/mine", FromConfig, "/my.yaml:1", ""},
		"the last drop-in":             {"k3s server", files{file: "kubelet-arg: root-dir=/a\n", drop + "1.yaml": "kubelet-arg: root-dir=/b\n", drop + "2.yml": "kubelet-arg+: root-dir=/c\n", drop + "3.txt": "kubelet-arg: root-dir=/no\n"}, "/c", FromConfig, drop + "2.yml:1", ""},
		"a drop-in without it resets":  {"k3s server", files{file: "kubelet-arg: root-dir=/a\n", drop + "1.yaml": "kubelet-arg: v=2\n"}, "/var/lib/kubelet", FromProcess, "default of process 9", ""},
		"one that adds does not":       {"k3s server", files{file: "kubelet-arg: root-dir=/a\n", drop + "1.yaml": "kubelet-arg+: v=2\n"}, "/a", FromConfig, file + ":1", ""},
		"what is not understood is so": {"k3s server", files{file: "kubelet-arg: &x root-dir=/a\n"}, "/var/lib/kubelet", FromProcess, "default of process 9", file + ":1 names a root-dir in a way that is not understood"},
	} {
		t.Run(name, func(t *testing.T) {
			proc := t.TempDir()
			put(t, proc, "1", running{mounts: hostTable, args: "/sbin/init"})
			put(t, proc, "9", running{mounts: hostTable, args: test.command})
			mounts := table(t, hostTable)
			k, _ := Find(t.Context(), Node{
				Proc: proc, Files: func(int) (Files, error) { return test.files, nil },
				Table: func(int) (*hostview.Table, error) { return mounts, nil },
			}, Settings{})
			if k.Root != test.root || k.Chosen.From != test.from || !strings.HasPrefix(k.Chosen.Evidence, test.evidence) || (k.Why == "") != (test.why == "") || !strings.Contains(k.Why, test.why) {
				t.Errorf("%s by %+v, why %q", k.Root, k.Chosen, k.Why)
			}
			// The daemon reads no files.
			if root, _, _ := KubeletRoot(proc); root != "/var/lib/kubelet" && root != "/cli" {
				t.Errorf("by command lines alone: %s", root)
			}
		})
	}
}

// FuzzRootInYAML: a root is one of the text, and absolute.
func FuzzRootInYAML(f *testing.F) {
	f.Add("kubelet-arg:\n  - \"root-dir=/data\"\n")
	f.Add("kubelet-arg+: ['root-dir=/a', root-dir=/b]\r\n")
	f.Fuzz(func(t *testing.T, text string) {
		found := rootInYAML(text)
		if found.root != "" && (found.root[0] != '/' || !strings.Contains(text, found.root) || strings.ContainsAny(found.root, " \n\"'#")) {
			t.Errorf("%+v of %q", found, text)
		}
		if n := strings.Count(text, "\n") + 1; found.line > n || found.unread > n || (found.root == "") != (found.line == 0) {
			t.Errorf("%+v of %d lines", found, n)
		}
	})
}
