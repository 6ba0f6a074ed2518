package hostview

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestTheKubeletRootComesFromItsCommandLine(t *testing.T) {
	const (
		host      = "27 1 253:0 / / rw shared:1 - ext4 /dev/vda rw\n"
		sandboxed = "627 601 253:0 / / rw shared:400 master:1 - ext4 /dev/vda rw\n"
		container = "900 850 0:91 / / rw master:7 - overlay overlay rw,lowerdir=/l,upperdir=/u,workdir=/w\n"
	)
	type process struct{ mounts, args string } // arguments are separated by spaces here
	for _, tc := range []struct {
		name      string
		processes map[string]process
		root      string
		evidence  string // a part of it
	}{
		{"no kubelet", nil, "/var/lib/kubelet", "default"},
		{"no flag", map[string]process{"9": {host, "/usr/bin/kubelet --v=2"}}, "/var/lib/kubelet", "default"},
		{"joined", map[string]process{"9": {host, "/usr/bin/kubelet --root-dir=/data/kubelet/"}}, "/data/kubelet", `process 9 "/usr/bin/kubelet"`},
		{"separate", map[string]process{"9": {host, "kubelet --root-dir /data/kubelet --v=2"}}, "/data/kubelet", "process 9"},
		{"the last one counts", map[string]process{"9": {host, "kubelet --root-dir=/a --root-dir=/b"}}, "/b", "process 9"},
		{"kubelet in a unit's namespace", map[string]process{"9": {sandboxed, "kubelet --root-dir=/data"}}, "/data", "process 9"},
		{"k3s", map[string]process{"9": {host, "/usr/local/bin/k3s server --kubelet-arg=v=2 --kubelet-arg=root-dir=/mnt/k"}}, "/mnt/k", "k3s"},
		{"rke2, separate", map[string]process{"9": {host, "rke2 agent -kubelet-arg --root-dir=/mnt/k"}}, "/mnt/k", "rke2"},
		{"relative", map[string]process{"9": {host, "kubelet --root-dir=data"}}, "/var/lib/kubelet", `"data", which is not absolute`},
		{"empty", map[string]process{"9": {host, "kubelet --root-dir="}}, "/var/lib/kubelet", `"", which is not absolute`},
		{"no value", map[string]process{"9": {host, "kubelet --root-dir"}}, "/var/lib/kubelet", "not absolute"},
		{"longer name", map[string]process{"9": {host, "kubelet --root-directory=/x"}}, "/var/lib/kubelet", "default"},
		{"other program", map[string]process{"9": {host, "vim --root-dir=/x kubelet"}}, "/var/lib/kubelet", "default"},
		{"kernel thread", map[string]process{"9": {host, ""}}, "/var/lib/kubelet", "default"},
		{"a tenant's process of that name", map[string]process{
			"8": {container, "kubelet --root-dir=/evil"}, "9": {host, "kubelet --root-dir=/data"},
		}, "/data", "passed over: process 8"},
		{"only a tenant's", map[string]process{"8": {container, "kubelet --root-dir=/evil"}}, "/var/lib/kubelet", "its root is 0:91 /"},
		{"table unreadable", map[string]process{"8": {"", "kubelet --root-dir=/evil"}}, "/var/lib/kubelet", "no mount at /"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			proc := t.TempDir()
			write := func(pid string, p process) {
				mkdir(t, filepath.Join(proc, pid))
				args := strings.ReplaceAll(p.args, " ", "\x00")
				if args != "" {
					args += "\x00"
				}
				for name, text := range map[string]string{"cmdline": args, "mountinfo": p.mounts} {
					if err := os.WriteFile(filepath.Join(proc, pid, name), []byte(text), 0o600); err != nil {
						t.Fatal(err)
					}
				}
			}
			write("1", process{host, "/sbin/init"})
			mkdir(t, proc+"/77") // vanished between the listing and the reading
			mkdir(t, proc+"/sys")
			for pid, p := range tc.processes {
				write(pid, p)
			}
			root, evidence := KubeletRoot(proc)
			if root != tc.root || !strings.Contains(evidence, tc.evidence) {
				t.Errorf("%q because %q, want %q because %q", root, evidence, tc.root, tc.evidence)
			}
		})
	}
	if root, evidence := KubeletRoot("/nowhere"); root != DefaultKubeletRoot || !strings.Contains(evidence, "no such file") {
		t.Errorf("no procfs: %q %q", root, evidence)
	}
}
