package hostview

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
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
		notFound  bool
	}{
		{"no kubelet", nil, "/var/lib/kubelet", "default", true},
		{"no flag", map[string]process{"9": {host, "/usr/bin/kubelet --v=2"}}, "/var/lib/kubelet", `default of process 9 "/usr/bin/kubelet"`, false},
		{"no flag, and another with one", map[string]process{"8": {host, "kubelet"}, "9": {host, "kubelet --root-dir=/data"}}, "/data", "root-dir of process 9", false},
		{"k3s without one", map[string]process{"9": {host, "/usr/local/bin/k3s server"}}, "/var/lib/kubelet", "default of process 9", false},
		{"k3s that runs no kubelet", map[string]process{"9": {host, "k3s kubectl get pods"}}, "/var/lib/kubelet", "default", true},
		{"joined", map[string]process{"9": {host, "/usr/bin/kubelet --root-dir=/data/kubelet/"}}, "/data/kubelet", `process 9 "/usr/bin/kubelet"`, false},
		{"separate", map[string]process{"9": {host, "kubelet --root-dir /data/kubelet --v=2"}}, "/data/kubelet", "process 9", false},
		{"the last one counts", map[string]process{"9": {host, "kubelet --root-dir=/a --root-dir=/b"}}, "/b", "process 9", false},
		{"kubelet in a unit's namespace", map[string]process{"9": {sandboxed, "kubelet --root-dir=/data"}}, "/data", "process 9", false},
		{"k3s", map[string]process{"9": {host, "/usr/local/bin/k3s server --kubelet-arg=v=2 --kubelet-arg=root-dir=/mnt/k"}}, "/mnt/k", "k3s", false},
		{"rke2, separate", map[string]process{"9": {host, "rke2 agent -kubelet-arg --root-dir=/mnt/k"}}, "/mnt/k", "rke2", false},
		{"relative", map[string]process{"9": {host, "kubelet --root-dir=data"}}, "/var/lib/kubelet", `"data", which is not absolute`, true},
		{"empty", map[string]process{"9": {host, "kubelet --root-dir="}}, "/var/lib/kubelet", `"", which is not absolute`, true},
		{"no value", map[string]process{"9": {host, "kubelet --root-dir"}}, "/var/lib/kubelet", "not absolute", true},
		{"longer name", map[string]process{"9": {host, "kubelet --root-directory=/x"}}, "/var/lib/kubelet", "default", false},
		{"other program", map[string]process{"9": {host, "vim --root-dir=/x kubelet"}}, "/var/lib/kubelet", "default", true},
		{"kernel thread", map[string]process{"9": {host, ""}}, "/var/lib/kubelet", "default", true},
		{"a tenant's process of that name", map[string]process{
			"8": {container, "kubelet --root-dir=/evil"}, "9": {host, "kubelet --root-dir=/data"},
		}, "/data", "passed over: process 8", false},
		{"only a tenant's", map[string]process{"8": {container, "kubelet --root-dir=/evil"}}, "/var/lib/kubelet", "its root is 0:91 /", true},
		{"table unreadable", map[string]process{"8": {"", "kubelet --root-dir=/evil"}}, "/var/lib/kubelet", "no mount at /", true},
	} {
		t.Run(tc.name, func(t *testing.T) {
			proc := t.TempDir()
			write := func(pid string, p process) {
				mkdir(t, filepath.Join(proc, pid))
				args := strings.ReplaceAll(p.args, " ", "\x00")
				if args != "" {
					args += "\x00"
				}
				// As the kernel has it: without directory, 15 bytes at most.
				comm, _, _ := strings.Cut(p.args, " ")
				comm = filepath.Base(comm)
				for name, text := range map[string]string{"comm": comm + "\n", "cmdline": args, "mountinfo": p.mounts} {
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
			root, evidence, found := KubeletRoot(proc)
			if found == tc.notFound {
				t.Errorf("found: %v", found)
			}
			if root != tc.root || !strings.Contains(evidence, tc.evidence) {
				t.Errorf("%q because %q, want %q because %q", root, evidence, tc.root, tc.evidence)
			}
		})
	}
	if root, evidence, found := KubeletRoot("/nowhere"); found || root != DefaultKubeletRoot || !strings.Contains(evidence, "no such file") {
		t.Errorf("no procfs: %q %q", root, evidence)
	}
}

// TestOnlyTheKubeletsCommandLineIsRead: that of any other process may hang, and
// a container's can be made to.
func TestOnlyTheKubeletsCommandLineIsRead(t *testing.T) {
	const (
		host      = "27 1 253:0 / / rw shared:1 - ext4 /dev/vda rw\n"
		container = "900 850 0:91 / / rw master:7 - overlay overlay rw\n"
	)
	proc := t.TempDir()
	for pid, p := range map[string]struct{ comm, mounts string }{
		"1": {"init", host}, "7": {"postgres", host}, "8": {"kubelet", container}, "9": {"kubelet", host},
	} {
		mkdir(t, filepath.Join(proc, pid))
		for name, text := range map[string]string{"comm": p.comm + "\n", "mountinfo": p.mounts} {
			if err := os.WriteFile(filepath.Join(proc, pid, name), []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		cmdline := filepath.Join(proc, pid, "cmdline")
		if pid == "9" {
			if err := os.WriteFile(cmdline, []byte("kubelet\x00--root-dir=/data\x00"), 0o600); err != nil {
				t.Fatal(err)
			}
			continue
		}
		// Nobody writes to it: who reads it waits.
		if err := syscall.Mkfifo(cmdline, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	done := make(chan string, 1)
	go func() {
		root, _, _ := KubeletRoot(proc)
		done <- root
	}()
	select {
	case root := <-done:
		if root != "/data" {
			t.Errorf("root %q", root)
		}
	case <-time.After(30 * time.Second):
		t.Fatal("it reads a command line that hangs")
	}
}
