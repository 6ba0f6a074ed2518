package discover

import (
	"cmp"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

const (
	hostTable      = "27 1 253:0 / / rw shared:1 - ext4 /dev/vda rw\n"
	sandboxTable   = "627 601 253:0 / / rw shared:400 master:1 - ext4 /dev/vda rw\n"
	containerTable = "900 850 0:91 / / rw master:7 - overlay overlay rw,lowerdir=/l,upperdir=/u,workdir=/w\n"
)

// running is a process as text; arguments are separated by spaces.
type running struct {
	mounts, args string
	cgroup       string
	user         string // "" is root
}

func put(t testing.TB, proc, pid string, p running) {
	t.Helper()
	args := strings.ReplaceAll(p.args, " ", "\x00")
	// As the kernel has it: without directory, 15 bytes at most.
	comm, _, _ := strings.Cut(strings.ReplaceAll(p.args, "~", " "), " ")
	comm = filepath.Base(comm)
	if args != "" {
		args += "\x00"
	}
	files := map[string]string{"comm": comm[:min(len(comm), 15)] + "\n", "cmdline": strings.ReplaceAll(args, "~", " "), "mountinfo": p.mounts, "cgroup": p.cgroup}
	user := cmp.Or(p.user, "0")
	files["status"] = fmt.Sprintf("Name:\t%s\nUid:\t%[2]s\t%[2]s\t%[2]s\t%[2]s\n", comm, user)
	if err := os.MkdirAll(filepath.Join(proc, pid), 0o755); err != nil {
		t.Fatal(err)
	}
	for name, text := range files {
		if err := os.WriteFile(filepath.Join(proc, pid, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
}

func TestTheKubeletRootComesFromItsCommandLine(t *testing.T) {
	const host, sandboxed, container = hostTable, sandboxTable, containerTable
	for _, tc := range []struct {
		name      string
		processes map[string]running
		root      string
		evidence  string // a part of it
		notFound  bool
	}{
		{"no kubelet", nil, "/var/lib/kubelet", "default", true},
		{"no flag", map[string]running{"9": {host, "/usr/bin/kubelet --v=2", "", ""}}, "/var/lib/kubelet", `default of process 9 "/usr/bin/kubelet"`, false},
		{"no flag, and another with one", map[string]running{"8": {host, "kubelet", "", ""}, "9": {host, "kubelet --root-dir=/data", "", ""}}, "/data", "root-dir of process 9", false},
		{"k3s without one", map[string]running{"9": {host, "/usr/local/bin/k3s server", "", ""}}, "/var/lib/kubelet", "default of process 9", false},
		{"k3s with a title over its arguments", map[string]running{"9": {host, "/usr/local/bin/k3s~agent", "", ""}}, "/var/lib/kubelet", "default of process 9", false},
		{"k3s that runs no kubelet", map[string]running{"9": {host, "k3s kubectl get pods", "", ""}}, "/var/lib/kubelet", "default", true},
		{"joined", map[string]running{"9": {host, "/usr/bin/kubelet --root-dir=/data/kubelet/", "", ""}}, "/data/kubelet", `process 9 "/usr/bin/kubelet"`, false},
		{"separate", map[string]running{"9": {host, "kubelet --root-dir /data/kubelet --v=2", "", ""}}, "/data/kubelet", "process 9", false},
		{"the last one counts", map[string]running{"9": {host, "kubelet --root-dir=/a --root-dir=/b", "", ""}}, "/b", "process 9", false},
		{"kubelet in a unit's namespace", map[string]running{"9": {sandboxed, "kubelet --root-dir=/data", "", ""}}, "/data", "process 9", false},
		{"k3s", map[string]running{"9": {host, "/usr/local/bin/k3s server --kubelet-arg=v=2 --kubelet-arg=root-dir=/mnt/k", "", ""}}, "/mnt/k", "k3s", false},
		{"rke2, separate", map[string]running{"9": {host, "rke2 agent -kubelet-arg --root-dir=/mnt/k", "", ""}}, "/mnt/k", "rke2", false},
		{"hyperkube", map[string]running{"9": {host, "/hyperkube kubelet --root-dir=/h", "", ""}}, "/h", "hyperkube", false},
		{"hyperkube that runs something else", map[string]running{"9": {host, "/hyperkube proxy --root-dir=/h", "", ""}}, "/var/lib/kubelet", "default", true},
		{"k0s worker", map[string]running{"9": {host, "/usr/local/bin/k0s worker", "", ""}}, "/var/lib/k0s/kubelet", "default of process 9", false},
		{"k0s, elsewhere", map[string]running{"9": {host, "k0s worker --data-dir=/data/k0s", "", ""}}, "/data/k0s/kubelet", "default of process 9", false},
		{"k0s, told by an argument for the kubelet", map[string]running{"9": {host, "k0s worker --kubelet-extra-args=--v=1~--root-dir=/kr", "", ""}}, "/kr", "root-dir of process 9", false},
		{"k0s and the kubelet that it started", map[string]running{"8": {host, "k0s worker", "", ""}, "9": {host, "/var/lib/k0s/bin/kubelet --root-dir=/var/lib/k0s/kubelet", "", ""}}, "/var/lib/k0s/kubelet", "root-dir of process 9", false},
		{"k0s that runs no kubelet", map[string]running{"9": {host, "k0s controller", "", ""}}, "/var/lib/kubelet", "default", true},
		{"MicroK8s", map[string]running{"9": {host, "/snap/microk8s/1/kubelite --kubelet-args-file=/x", "", ""}}, "/var/snap/microk8s/common/var/lib/kubelet", "default of process 9", false},
		{"relative", map[string]running{"9": {host, "kubelet --root-dir=data", "", ""}}, "/var/lib/kubelet", `"data", which is not absolute`, true},
		{"empty", map[string]running{"9": {host, "kubelet --root-dir=", "", ""}}, "/var/lib/kubelet", `"", which is not absolute`, true},
		{"no value", map[string]running{"9": {host, "kubelet --root-dir", "", ""}}, "/var/lib/kubelet", "not absolute", true},
		{"longer name", map[string]running{"9": {host, "kubelet --root-directory=/x", "", ""}}, "/var/lib/kubelet", "default", false},
		{"other program", map[string]running{"9": {host, "vim --root-dir=/x kubelet", "", ""}}, "/var/lib/kubelet", "default", true},
		{"kernel thread", map[string]running{"9": {host, "", "", ""}}, "/var/lib/kubelet", "default", true},
		{"a tenant's process of that name", map[string]running{
			"8": {container, "kubelet --root-dir=/evil", "0::/kubepods.slice/x\n", ""}, "9": {host, "kubelet --root-dir=/data", "", ""},
		}, "/data", "passed over: process 8", false},
		{"only a tenant's", map[string]running{"8": {container, "kubelet --root-dir=/evil", "0::/kubepods/system.slice/snap.k8s.kubelet.service\n", ""}}, "/var/lib/kubelet", "its root is 0:91 /", true},
		{"a snap's, which has a root of its own", map[string]running{"8": {container, "kubelet --root-dir=/snapped", "3:cpu:/\n0::/system.slice/snap.k8s.kubelet.service\n", ""}}, "/snapped", "process 8", false},
		{"another user's beside root's", map[string]running{
			"8": {host, "kubelet --root-dir=/evil", "", "65534"}, "9": {host, "kubelet", "", ""},
		}, "/var/lib/kubelet", `default of process 9 "kubelet"; passed over: process 8 "kubelet": it is of user 65534`, false},
		{"another user's alone", map[string]running{"8": {host, "kubelet --root-dir=/evil", "", "65534"}}, "/var/lib/kubelet", "it is of user 65534", true},
		{"table unreadable", map[string]running{"8": {"", "kubelet --root-dir=/evil", "", ""}}, "/var/lib/kubelet", "no mount at /", true},
	} {
		t.Run(tc.name, func(t *testing.T) {
			proc := t.TempDir()
			put(t, proc, "1", running{host, "/sbin/init", "", ""})
			for _, dir := range []string{"77", "sys"} { // one vanished between the listing and the reading
				if err := os.Mkdir(filepath.Join(proc, dir), 0o755); err != nil {
					t.Fatal(err)
				}
			}
			for pid, p := range tc.processes {
				put(t, proc, pid, p)
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
	proc := t.TempDir()
	put(t, proc, "1", running{hostTable, "init", "", ""})
	put(t, proc, "7", running{hostTable, "postgres", "", ""})
	put(t, proc, "8", running{containerTable, "kubelet", "", ""})
	put(t, proc, "6", running{hostTable, "kubelet", "", "1000"})
	put(t, proc, "9", running{hostTable, "kubelet --root-dir=/data", "", ""})
	for _, pid := range []string{"1", "6", "7", "8"} {
		hang(t, filepath.Join(proc, pid, "cmdline"))
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

// hang puts a FIFO in place of a file: nobody writes to it, who opens it waits.
func hang(t testing.TB, path string) {
	t.Helper()
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	if err := syscall.Mkfifo(path, 0o600); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { // who waits goes on
		if f, err := os.OpenFile(path, os.O_RDWR|syscall.O_NONBLOCK, 0); err == nil {
			_ = f.Close()
		}
	})
}

// TestAKubeletThatHangsIsWaitedForAndSaid: Find ends, and says what it could
// not read.
func TestAKubeletThatHangsIsWaitedForAndSaid(t *testing.T) {
	proc := t.TempDir()
	put(t, proc, "1", running{hostTable, "init", "", ""})
	put(t, proc, "9", running{hostTable, "kubelet", "", ""})
	hang(t, filepath.Join(proc, "9", "cmdline"))
	procs := scan(t.Context(), proc, time.Millisecond)
	if len(procs.kubelets) != 0 || len(procs.errs) != 1 || !strings.Contains(procs.errs[0], "no answer in 1ms") {
		t.Errorf("%+v", procs)
	}
}

func FuzzRootDirectory(f *testing.F) {
	for _, seed := range []string{"kubelet\x00--root-dir\x00/x", "k0s\x00worker\x00--kubelet-extra-args=--root-dir=/y", "/usr/bin/k3s server", "kubelite\x00--kubelet-args-file=/z", "\x00\x00"} {
		f.Add(seed, "--root-dir=${SNAP_COMMON}/x")
	}
	f.Fuzz(func(t *testing.T, line, file string) {
		args := arguments(line)
		root, runs := rootDirectory(args)
		if root.given && !strings.Contains(strings.Join(args, " "), root.value) {
			t.Errorf("root %q is not in %q", root.value, args)
		}
		if runs && !strings.HasPrefix(root.fallback, "/") {
			t.Errorf("fallback %q of %q", root.fallback, args)
		}
		if !runs && root.value != "" && !root.given {
			t.Errorf("a value without being given: %+v", root)
		}
		rootInFile(file)
	})
}
