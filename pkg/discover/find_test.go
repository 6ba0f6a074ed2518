package discover

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/mountward/mountward/pkg/hostview"
)

// files are paths that exist: a symbolic link has its target, a file its text,
// a directory "/".
type files map[string]string

var errDenied = errors.New("permission denied")

func (f files) Canonical(_ context.Context, path string) (string, error) {
	content, ok := f[path]
	switch {
	case content == "denied":
		return "", errDenied
	case ok && strings.HasPrefix(content, "-> "):
		return content[3:], nil
	case ok:
		return path, nil
	default:
		return "", fmt.Errorf("%s: %w", path, fs.ErrNotExist)
	}
}

func (f files) ReadFile(_ context.Context, path string, _ int) ([]byte, error) {
	switch content, ok := f[path]; {
	case !ok:
		return nil, fmt.Errorf("%s: %w", path, fs.ErrNotExist)
	case content == "denied":
		return nil, errDenied
	default:
		return []byte(content), nil
	}
}

func (f files) ReadDir(_ context.Context, path string, _ int) ([]string, error) {
	var names []string
	for name := range f {
		if rest, ok := strings.CutPrefix(name, path+"/"); ok && !strings.Contains(rest, "/") {
			names = append(names, rest)
		}
	}
	if names == nil {
		return nil, fmt.Errorf("%s: %w", path, fs.ErrNotExist)
	}
	return names, nil
}

func table(t testing.TB, text string) *hostview.Table {
	t.Helper()
	parsed, err := hostview.ReadTable(strings.NewReader(text))
	if err != nil {
		t.Fatal(err)
	}
	return parsed
}

// volumes are mount lines of a kubelet's volumes.
func volumes(n int, root string) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, "%d 27 253:%d / %s/pods/%08d-0000-4000-8000-000000000000/volumes/kubernetes.io~csi/pvc-%d/mount rw shared:%d - xfs /dev/x rw\n", 100+i, 10+i, root, i/2, i, 100+i)
	}
	return b.String()
}

func TestTheKubeletIsFoundByTheStrongestSource(t *testing.T) {
	for _, tc := range []struct {
		name      string
		setting   string
		processes map[string]running
		mounts    string
		files     files
		root      string
		canonical string
		from      string
		sources   []string // "from value"
		disagree  []string // a part of each
		why       string
	}{
		{
			name: "M97: nothing at all", root: "/var/lib/kubelet", canonical: "/var/lib/kubelet", from: FromDefault,
			sources: []string{"default /var/lib/kubelet"},
		},
		{
			name: "M95: of known places one that exists", files: files{"/var/lib/k0s/kubelet": "/"},
			root: "/var/lib/k0s/kubelet", canonical: "/var/lib/k0s/kubelet", from: FromTable, sources: []string{"distribution /var/lib/k0s/kubelet"},
		},
		{
			name: "M97: by its volumes where no process is seen", mounts: volumes(3, "/var/vcap/data/kubelet"), files: files{"/var/vcap/data/kubelet": "/", "/var/lib/kubelet": "/"},
			root: "/var/vcap/data/kubelet", canonical: "/var/vcap/data/kubelet", from: FromMounts, sources: []string{"live mounts /var/vcap/data/kubelet"},
		},
		{
			name: "the root with the most volumes", mounts: volumes(2, "/old") + strings.ReplaceAll(volumes(5, "/new"), "\n1", "\n2"), files: files{"/new": "/", "/old": "/"},
			root: "/new", canonical: "/new", from: FromMounts, sources: []string{"live mounts /new", "live mounts /old"},
		},
		{
			name: "M97: MicroK8s, by the file of arguments", processes: map[string]running{"9": {hostTable, "/snap/microk8s/1/kubelite --kubelet-args-file=/var/snap/microk8s/1/args/kubelet", "", ""}},
			files: files{"/var/snap/microk8s/1/args/kubelet": "# a comment --root-dir=/no\n--v=2\n--root-dir=${SNAP_COMMON}/var/lib/kubelet\n", "/var/snap/microk8s/common/var/lib/kubelet": "/"},
			root:  "/var/snap/microk8s/common/var/lib/kubelet", canonical: "/var/snap/microk8s/common/var/lib/kubelet", from: FromProcess,
			sources: []string{"process /var/snap/microk8s/common/var/lib/kubelet"},
		},
		{
			name: "MicroK8s without its file", processes: map[string]running{"9": {hostTable, "kubelite --kubelet-args-file=/none", "", ""}},
			root: "/var/snap/microk8s/common/var/lib/kubelet", canonical: "/var/snap/microk8s/common/var/lib/kubelet", from: FromProcess,
			sources: []string{"process /var/snap/microk8s/common/var/lib/kubelet"}, why: "/none",
		},
		{
			name: "M94: configured here, mounted there", setting: "/var/lib/rancher/k3s/agent/kubelet", mounts: volumes(4, "/var/lib/kubelet"),
			processes: map[string]running{"9": {hostTable, "/usr/local/bin/k3s~server", "", ""}}, files: files{"/var/lib/kubelet": "/", "/var/lib/rancher/k3s/agent/kubelet": "/"},
			root: "/var/lib/rancher/k3s/agent/kubelet", canonical: "/var/lib/rancher/k3s/agent/kubelet", from: FromSettings,
			sources:  []string{"settings /var/lib/rancher/k3s/agent/kubelet", "process /var/lib/kubelet", "live mounts /var/lib/kubelet"},
			disagree: []string{`[host] kubelet_root has "/var/lib/rancher/k3s/agent/kubelet", but default of process 9`, "no volume is mounted below"},
		},
		{
			name: "M91: the root is a symbolic link", processes: map[string]running{"9": {hostTable, "kubelet", "", ""}}, mounts: volumes(4, "/mnt/storage/kubelet"),
			files: files{"/var/lib/kubelet": "-> /mnt/storage/kubelet"},
			root:  "/var/lib/kubelet", canonical: "/mnt/storage/kubelet", from: FromProcess,
			sources: []string{"process /var/lib/kubelet", "live mounts /mnt/storage/kubelet"}, disagree: []string{`the directory is "/mnt/storage/kubelet"`},
		},
		{
			name: "M18: the root is a bind mount", processes: map[string]running{"9": {hostTable, "kubelet", "", ""}},
			mounts: "70 27 253:0 /var/snap/k8s/common/var/lib/kubelet /var/lib/kubelet rw - ext4 /dev/vda rw\n", files: files{"/var/lib/kubelet": "/"},
			root: "/var/lib/kubelet", canonical: "/var/lib/kubelet", from: FromProcess,
			sources: []string{"process /var/lib/kubelet"}, disagree: []string{`the directory is "/var/snap/k8s/common/var/lib/kubelet"`},
		},
		{
			name: "M51: each volume twice, by a bind mount", processes: map[string]running{"9": {hostTable, "kubelet", "", ""}},
			mounts: "69 27 253:9 / /mnt/local rw shared:9 - xfs /dev/vdb rw\n70 27 253:9 /kubelet /var/lib/kubelet rw shared:9 - xfs /dev/vdb rw\n" +
				volumes(2, "/var/lib/kubelet") + strings.ReplaceAll(volumes(2, "/mnt/local/kubelet"), "10", "20"), files: files{"/var/lib/kubelet": "/"},
			root: "/var/lib/kubelet", canonical: "/var/lib/kubelet", from: FromProcess,
			sources:  []string{"process /var/lib/kubelet", "live mounts /var/lib/kubelet", "live mounts /mnt/local/kubelet"},
			disagree: []string{`the directory is "/mnt/local/kubelet"`},
		},
		{
			name: "bound onto itself is no other place", processes: map[string]running{"9": {hostTable, "kubelet", "", ""}},
			mounts: "70 27 253:0 /var/lib/kubelet /var/lib/kubelet rw shared:4 - ext4 /dev/vda rw\n", files: files{"/var/lib/kubelet": "/"},
			root: "/var/lib/kubelet", canonical: "/var/lib/kubelet", from: FromProcess, sources: []string{"process /var/lib/kubelet"},
		},
		{
			name: "M20: the root cannot be walked", processes: map[string]running{"9": {hostTable, "kubelet", "", ""}}, files: files{"/var/lib/kubelet": "denied"},
			root: "/var/lib/kubelet", from: FromProcess, sources: []string{"process /var/lib/kubelet"}, why: "permission denied",
		},
		{
			name:      "two kubelets",
			processes: map[string]running{"8": {hostTable, "kubelet --root-dir=/a", "", ""}, "9": {hostTable, "kubelet --root-dir=/b", "", ""}},
			root:      "/a", canonical: "/a", from: FromProcess, sources: []string{"process /a", "process /b"}, disagree: []string{`has "/a", but root-dir of process 9 "kubelet" has "/b"`},
		},
	} {
		t.Run(tc.name, func(t *testing.T) {
			proc := t.TempDir()
			put(t, proc, "1", running{hostTable, "/sbin/init", "", ""})
			for pid, p := range tc.processes {
				put(t, proc, pid, p)
			}
			mounts := table(t, hostTable+tc.mounts)
			n := Node{
				Proc: proc, Files: func(int) (Files, error) { return tc.files, nil },
				Table: func(int) (*hostview.Table, error) { return mounts, nil },
			}
			k, _ := Find(t.Context(), n, Settings{KubeletRoot: tc.setting})
			if k.Root != tc.root || k.Canonical != tc.canonical || k.Chosen.From != tc.from {
				t.Errorf("%s (%s) by %s", k.Root, k.Canonical, k.Chosen.From)
			}
			var sources []string
			for _, s := range k.Sources {
				sources = append(sources, s.From+" "+s.Value)
				if s.Evidence == "" {
					t.Errorf("no evidence: %+v", s)
				}
			}
			if diff := cmp.Diff(tc.sources, sources); diff != "" {
				t.Errorf("sources (-want +got):\n%s", diff)
			}
			parts(t, k.Disagree, tc.disagree)
			if (k.Why == "") != (tc.why == "") || !strings.Contains(k.Why, tc.why) {
				t.Errorf("why %q, want %q", k.Why, tc.why)
			}
		})
	}
}

// parts wants as many sentences, each with its part.
func parts(t *testing.T, got, want []string) {
	t.Helper()
	if len(got) != len(want) {
		t.Errorf("%q, want %q", got, want)
		return
	}
	for i := range got {
		if !strings.Contains(got[i], want[i]) {
			t.Errorf("%q, want %q", got[i], want[i])
		}
	}
}

func TestTheRuntimeIsFoundByTheStrongestSource(t *testing.T) {
	const listens = "Num       RefCount Protocol Flags    Type St Inode Path\n0000000000000000: 00000002 00000000 00010000 0001 01 1234 "
	for _, tc := range []struct {
		name      string
		settings  Settings
		processes map[string]running
		unix      string
		files     files
		want      Runtime // Name, PID, Socket, State, Root, Config
		from      string
		disagree  []string
		passed    int
	}{
		{
			name: "nothing at all", from: FromDefault,
			want: Runtime{Name: Containerd, Socket: "/run/containerd/containerd.sock", State: "/run/containerd", Root: "/var/lib/containerd", Config: "/etc/containerd/config.toml"},
		},
		{
			name: "one that exists", from: FromTable, files: files{"/run/k0s/containerd": "/"},
			want: Runtime{Name: Containerd, Socket: "/run/k0s/containerd.sock", State: "/run/k0s/containerd", Root: "/var/lib/k0s/containerd", Config: "/etc/k0s/containerd.toml"},
		},
		{
			name: "a socket", from: FromSocket, unix: listens + "/var/snap/microk8s/common/run/containerd.sock\n",
			want: Runtime{Name: Containerd, Socket: "/var/snap/microk8s/common/run/containerd.sock", State: "/var/snap/microk8s/common/run/containerd", Root: "/var/snap/microk8s/common/var/lib/containerd", Config: "/var/snap/microk8s/current/args/containerd.toml"},
		},
		{
			name: "a process", from: FromProcess, processes: map[string]running{"8": {hostTable, "/usr/bin/containerd", "", ""}}, unix: listens + "/run/containerd/containerd.sock\n",
			want: Runtime{Name: Containerd, PID: 8, Socket: "/run/containerd/containerd.sock", State: "/run/containerd", Root: "/var/lib/containerd", Config: "/etc/containerd/config.toml"},
		},
		{
			name: "flags win", from: FromProcess, processes: map[string]running{"8": {hostTable, "containerd --config /c.toml --state=/s --root /r -a /a.sock", "", ""}},
			want: Runtime{Name: Containerd, PID: 8, Socket: "/a.sock", State: "/s", Root: "/r", Config: "/c.toml"},
		},
		{
			name: "of k3s", from: FromProcess, processes: map[string]running{"7": {hostTable, "/usr/local/bin/k3s~server", "", ""}, "8": {hostTable, "containerd -c /var/lib/rancher/k3s/agent/etc/containerd/config.toml", "", ""}},
			want: Runtime{Name: Containerd, PID: 8, Socket: "/run/k3s/containerd/containerd.sock", State: "/run/k3s/containerd", Root: "/var/lib/rancher/k3s/agent/containerd", Config: "/var/lib/rancher/k3s/agent/etc/containerd/config.toml"},
		},
		{
			name: "of k0s", from: FromProcess, processes: map[string]running{"8": {hostTable, "/var/lib/k0s/bin/containerd --root=/var/lib/k0s/containerd --state=/run/k0s/containerd --address=/run/k0s/containerd.sock --config=/etc/k0s/containerd.toml", "", ""}},
			want: Runtime{Name: Containerd, PID: 8, Socket: "/run/k0s/containerd.sock", State: "/run/k0s/containerd", Root: "/var/lib/k0s/containerd", Config: "/etc/k0s/containerd.toml"},
		},
		{
			name: "docker's beside the kubelet's", from: FromProcess,
			processes: map[string]running{
				"6": {hostTable, "dockerd", "", ""}, "7": {hostTable, "containerd --config /var/run/docker/containerd/containerd.toml", "", ""}, "8": {hostTable, "containerd", "", ""},
			},
			want: Runtime{Name: Containerd, PID: 8, Socket: "/run/containerd/containerd.sock", State: "/run/containerd", Root: "/var/lib/containerd", Config: "/etc/containerd/config.toml"},
		},
		{
			name: "two, and the kubelet says which", from: FromProcess,
			processes: map[string]running{
				"7": {hostTable, "containerd", "", ""}, "8": {hostTable, "containerd -c /var/lib/rancher/k3s/agent/etc/containerd/config.toml", "", ""},
				"9": {hostTable, "kubelet --container-runtime-endpoint=unix:///run/k3s/containerd/containerd.sock", "", ""},
			},
			want:     Runtime{Name: Containerd, PID: 8, Socket: "/run/k3s/containerd/containerd.sock", State: "/run/k3s/containerd", Root: "/var/lib/rancher/k3s/agent/containerd", Config: "/var/lib/rancher/k3s/agent/etc/containerd/config.toml"},
			disagree: []string{"is another containerd"},
		},
		{
			name: "an impostor in a container", from: FromDefault, processes: map[string]running{"8": {containerTable, "containerd --state=/evil", "", ""}}, passed: 1,
			want: Runtime{Name: Containerd, Socket: "/run/containerd/containerd.sock", State: "/run/containerd", Root: "/var/lib/containerd", Config: "/etc/containerd/config.toml"},
		},
		{
			name: "settings", from: FromSettings, settings: Settings{RuntimeState: "/mine", RuntimeRoot: "/my/root"}, processes: map[string]running{"8": {hostTable, "containerd", "", ""}},
			want:     Runtime{Name: Containerd, PID: 8, Socket: "/run/containerd/containerd.sock", State: "/mine", Root: "/my/root", Config: "/etc/containerd/config.toml"},
			disagree: []string{`[host] runtime_state has "/mine", but process 8 "containerd" has "/run/containerd"`},
		},
		{
			name: "M47: CRI-O", from: FromProcess, processes: map[string]running{"8": {hostTable, "/usr/bin/crio", "", ""}},
			want: Runtime{Name: CRIO, PID: 8, Socket: "/run/crio/crio.sock"},
		},
		{
			name: "dockerd behind cri-dockerd", from: FromProcess,
			processes: map[string]running{"6": {hostTable, "dockerd", "", ""}, "7": {hostTable, "containerd --config /run/docker/containerd/containerd.toml", "", ""}, "8": {hostTable, "cri-dockerd", "", ""}},
			want:      Runtime{Name: Dockerd, PID: 6, Socket: "/run/docker.sock"},
		},
	} {
		t.Run(tc.name, func(t *testing.T) {
			proc := t.TempDir()
			put(t, proc, "1", running{hostTable, "/sbin/init", "", ""})
			for pid, p := range tc.processes {
				put(t, proc, pid, p)
			}
			if err := os.MkdirAll(proc+"/1/net", 0o755); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(proc+"/1/net/unix", []byte(tc.unix), 0o600); err != nil {
				t.Fatal(err)
			}
			mounts := table(t, hostTable)
			n := Node{
				Proc: proc, Files: func(int) (Files, error) { return tc.files, nil },
				Table: func(int) (*hostview.Table, error) { return mounts, nil },
			}
			_, r := Find(t.Context(), n, tc.settings)
			got := Runtime{Name: r.Name, PID: r.PID, Socket: r.Socket, State: r.State, Root: r.Root, Config: r.Config}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("runtime (-want +got):\n%s", diff)
			}
			if r.Chosen.From != tc.from || r.Why != "" || len(r.Passed) != tc.passed {
				t.Errorf("chosen %+v, why %q, passed over %q", r.Chosen, r.Why, r.Passed)
			}
			parts(t, r.Disagree, tc.disagree)
		})
	}
}

// TestFindEnds on a node whose kubelet does not answer.
func TestFindEnds(t *testing.T) {
	proc := t.TempDir()
	put(t, proc, "1", running{hostTable, "init", "", ""})
	put(t, proc, "9", running{hostTable, "kubelet", "", ""})
	hang(t, filepath.Join(proc, "9", "cmdline"))
	n := Node{
		Proc: proc, Files: func(int) (Files, error) { return nil, errDenied },
		Table: func(int) (*hostview.Table, error) { return nil, errDenied },
	}
	done := make(chan Kubelet, 1)
	go func() {
		k, _ := Find(t.Context(), n, Settings{})
		done <- k
	}()
	select {
	case k := <-done:
		if k.Root != DefaultKubeletRoot || k.Canonical != "" || !strings.Contains(k.Why, "could not be read") || !strings.Contains(k.Why, "permission denied") {
			t.Errorf("%+v", k)
		}
	case <-time.After(30 * time.Second):
		t.Fatal("it waits for a process that does not answer")
	}
}

func FuzzListening(f *testing.F) {
	f.Add("0000000000000000: 00000002 00000000 00010000 0001 01 1234 /run/containerd/containerd.sock\n0: 1 0 00010000 1 1 2 @/run/containerd/containerd.sock\n")
	f.Add("x /containerd.sock\n00010000")
	f.Fuzz(func(t *testing.T, text string) {
		paths, err := listening(strings.NewReader(text))
		if err != nil {
			return
		}
		for _, p := range paths {
			if !strings.HasPrefix(p, "/") || !runtimeSocket(p) || !strings.Contains(text, " "+p) && !strings.Contains(text, p) {
				t.Errorf("%q is in no line of %q", p, text)
			}
		}
	})
}

func TestOriginIsWhereABindMountCameFrom(t *testing.T) {
	mounts := table(t, `1 0 8:1 / / rw shared:1 - ext4 /dev/a rw
2 1 8:2 / /data rw - xfs /dev/b rw
3 1 8:2 /k /var/lib/kubelet rw - xfs /dev/b rw
4 1 8:2 /k /twin rw - xfs /dev/b rw
5 1 8:1 /srv/x /srv/x rw - ext4 /dev/a rw
6 1 8:3 /only /part rw - xfs /dev/c rw
7 1 8:2 /kk /neighbour rw - xfs /dev/b rw
8 1 8:1 /gone//deleted /old rw - ext4 /dev/a rw
`)
	got := map[int]string{}
	for e := range mounts.All() {
		if path, on, ok := Origin(mounts, e); ok {
			got[e.ID] = fmt.Sprintf("%s on %d", path, on.ID)
		}
	}
	want := map[int]string{3: "/data/k on 2", 4: "/data/k on 2", 5: "/srv/x on 1", 7: "/data/kk on 2", 8: "/gone//deleted on 1"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("origins (-want +got):\n%s", diff)
	}
}
