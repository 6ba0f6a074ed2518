package discover

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/mountward/mountward/pkg/hostview"
)

func TestAConfigurationOfContainerdCounts(t *testing.T) {
	const own = "/etc/containerd/config.toml"
	const set = "version = 2\nroot = '/data/root'\nstate = '/data/state'\n[grpc]\naddress = '/data/c.sock'\n"
	const listens = "Num       RefCount Protocol Flags    Type St Inode Path\n0000000000000000: 00000002 00000000 00010000 0001 01 1234 "
	at := Runtime{Socket: "/data/c.sock", State: "/data/state", Root: "/data/root"}
	usual := Runtime{Socket: "/run/containerd/containerd.sock", State: "/run/containerd", Root: "/var/lib/containerd"}
	for name, test := range map[string]struct {
		command  string // of containerd; "" where none runs
		kubelet  string
		unix     string
		files    files
		want     Runtime // Socket, State, Root
		from     string
		evidence string
		disagree []string
		why      string
	}{
		"of its own":         {command: "containerd --config /my.toml", files: files{"/my.toml": set}, want: at, from: FromConfig, evidence: "/my.toml:3:1 of process 8"},
		"the usual one":      {command: "containerd", files: files{own: set}, want: at, from: FromConfig, evidence: own + ":3:1 of process 8"},
		"without settings":   {command: "containerd", files: files{own: "version = 2\n"}, want: usual, from: FromProcess, evidence: "process 8"},
		"none":               {command: "containerd", want: usual, from: FromProcess, evidence: "process 8"},
		"flags win":          {command: "containerd -a /f.sock --state=/f --root /g", files: files{own: set}, want: Runtime{Socket: "/f.sock", State: "/f", Root: "/g"}, from: FromProcess, evidence: "process 8"},
		"a flag wins alone":  {command: "containerd --state=/f", files: files{own: set}, want: Runtime{Socket: "/data/c.sock", State: "/f", Root: "/data/root"}, from: FromProcess, evidence: "process 8"},
		"by an import":       {command: "containerd", files: files{own: "version = 2\nimports = ['/x.toml']\n", "/x.toml": "state = '/imported'\n"}, want: Runtime{Socket: usual.Socket, State: "/imported", Root: usual.Root}, from: FromConfig, evidence: "/x.toml:1:1"},
		"the kubelet agrees": {command: "containerd", kubelet: "kubelet --container-runtime-endpoint=unix:///data/c.sock", files: files{own: set}, want: at, from: FromConfig, evidence: own},
		"by another path": {
			command: "containerd", kubelet: "kubelet --container-runtime-endpoint=unix:///var/run/containerd/containerd.sock",
			files: files{"/var/run/containerd/containerd.sock": "-> /run/containerd/containerd.sock", "/run/containerd/containerd.sock": "/"}, want: usual, from: FromProcess, evidence: "process 8",
		},
		"the kubelet does not agree": {
			command: "containerd", kubelet: "kubelet --container-runtime-endpoint=unix:///run/containerd/containerd.sock", files: files{own: set}, want: at, from: FromConfig, evidence: own,
			disagree: []string{"is the socket of no containerd that runs"},
		},
		"it is not known whether the kubelet agrees": {
			command: "containerd --config=/secret", kubelet: "kubelet --container-runtime-endpoint=unix:///data/c.sock", files: files{"/secret": "denied"}, want: usual, from: FromProcess, evidence: "process 8",
			why: "permission denied",
		},
		"no process is seen":         {files: files{own: set}, want: at, from: FromConfig, evidence: own + ":3:1"},
		"a socket tells whose":       {unix: listens + usual.Socket + "\n", files: files{own: set}, want: at, from: FromConfig, evidence: own + ":3:1"},
		"of what does not run, none": {files: files{"/run/k0s/containerd": "/"}, want: Runtime{Socket: "/run/k0s/containerd.sock", State: "/run/k0s/containerd", Root: "/var/lib/k0s/containerd"}, from: FromTable, evidence: "it exists"},
	} {
		t.Run(name, func(t *testing.T) {
			proc := t.TempDir()
			put(t, proc, "1", running{mounts: hostTable, args: "/sbin/init"})
			if test.command != "" {
				put(t, proc, "8", running{mounts: hostTable, args: test.command})
			}
			if test.kubelet != "" {
				put(t, proc, "9", running{mounts: hostTable, args: test.kubelet})
			}
			write(t, proc+"/1/net/unix", test.unix)
			mounts := table(t, hostTable)
			_, r := Find(t.Context(), Node{
				Proc: proc, Files: func(int) (Files, error) { return test.files, nil },
				Table: func(int) (*hostview.Table, error) { return mounts, nil },
			}, Settings{})
			if diff := cmp.Diff(test.want, Runtime{Socket: r.Socket, State: r.State, Root: r.Root}); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
			if r.Chosen.From != test.from || !strings.HasPrefix(r.Chosen.Evidence, test.evidence) || r.Chosen.Value != r.State || (r.Why == "") != (test.why == "") || !strings.Contains(r.Why, test.why) {
				t.Errorf("chosen %+v, why %q", r.Chosen, r.Why)
			}
			parts(t, r.Disagree, test.disagree)
		})
	}
}

func write(t *testing.T, path, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}
