package doctor

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/mountward/mountward/pkg/facts"
	"github.com/mountward/mountward/pkg/hostview"
	"github.com/mountward/mountward/pkg/namespaces"
	"github.com/mountward/mountward/pkg/settings"
)

// textHost is a node as text: files by path, symbolic links by path as
// "-> target". Those below /proc are the node's procfs.
type textHost map[string]string

// process adds a process. The mount namespace is mnt:[ns].
func (h textHost) process(pid int, comm, args string, ns int, mounts string, more ...string) textHost {
	dir := fmt.Sprintf("/proc/%d/", pid)
	h[dir+"comm"] = comm + "\n"
	h[dir+"cmdline"] = strings.ReplaceAll(args, " ", "\x00") + "\x00"
	h[dir+"mountinfo"] = mounts
	h[dir+"ns/mnt"] = fmt.Sprintf("-> mnt:[%d]", ns)
	h[dir+"ns/user"] = fmt.Sprintf("-> user:[%d]", initialUser)
	h[dir+"root"] = "-> /"
	h[dir+"stat"] = fmt.Sprintf("%d (%s) S 1 %d %d 0 -1 4194560 1 1 1 1 1 1 1 1 20 0 1 0 100 1 1 1\n", pid, comm, pid, pid)
	h[dir+"status"] = fmt.Sprintf("Name:\t%s\nUid:\t0\t0\t0\t0\nNSpid:\t%d\n", comm, pid)
	h[dir+"cgroup"] = "0::/init.scope\n"
	for i := 0; i+1 < len(more); i += 2 {
		h[dir+more[i]] = more[i+1]
	}
	return h
}

func (h textHost) machine(t testing.TB) Machine {
	t.Helper()
	root, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	for p, content := range h {
		at := filepath.Join(root, p)
		if err := os.MkdirAll(filepath.Dir(at), 0o755); err != nil {
			t.Fatal(err)
		}
		if target, ok := strings.CutPrefix(content, "-> "); ok {
			err = os.Symlink(target, at)
		} else {
			err = os.WriteFile(at, []byte(content), 0o600)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	return Machine{
		Proc: root + "/proc", Sys: root + "/sys", Host: settings.Default().Host,
		Open:  func(int) (Files, io.Closer, error) { return textFiles{root: root}, nil, nil },
		Tasks: []namespaces.Task{},
	}
}

// findings runs the checks that are given.
func (m Machine) findings(t *testing.T, checks ...Check) (Report, *Snapshot) {
	t.Helper()
	s, err := Gather(t.Context(), m)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	return Run(t.Context(), s, checks), s
}

// textFiles are the files below a directory, whose links do not lead out of it.
type textFiles struct {
	root   string
	denied string // what is below it cannot be walked
}

func (f textFiles) Canonical(_ context.Context, p string) (string, error) {
	return f.walk(p)
}

func (f textFiles) walk(p string) (string, error) {
	at, rest := "/", strings.Split(path.Clean(p), "/")
	for links := 0; len(rest) > 0; {
		name := rest[0]
		rest = rest[1:]
		if name == "" {
			continue
		}
		next := path.Join(at, name)
		if f.denied != "" && facts.Within(next, f.denied) {
			return "", &hostview.CannotTell{Path: p, Why: "permission denied", Err: syscall.EACCES}
		}
		target, err := os.Readlink(f.root + next)
		switch {
		case err == nil:
			if links++; links > 40 {
				return "", &fs.PathError{Op: "walk", Path: p, Err: syscall.ELOOP}
			}
			if path.IsAbs(target) {
				at = "/"
			}
			rest = append(strings.Split(path.Clean(target), "/"), rest...)
		case errors.Is(err, fs.ErrNotExist):
			return "", err
		default:
			at = next
		}
	}
	return at, nil
}

func (f textFiles) ReadFile(_ context.Context, p string, limit int) ([]byte, error) {
	at, err := f.walk(p)
	if err != nil {
		return nil, err
	}
	text, err := os.ReadFile(f.root + at)
	if err == nil && len(text) > limit {
		err = fmt.Errorf("%s: larger than %d bytes", p, limit)
	}
	return text, err
}

func (f textFiles) ReadDir(_ context.Context, p string, limit int) ([]string, error) {
	at, err := f.walk(p)
	if err != nil {
		return nil, err
	}
	entries, err := os.ReadDir(f.root + at)
	var names []string
	for _, e := range entries {
		names = append(names, e.Name())
	}
	if err == nil && len(names) > limit {
		err = fmt.Errorf("%s: more than %d entries", p, limit)
	}
	return names, err
}

const (
	hostNS    = 4026531841
	otherNS   = 4026532201
	thirdNS   = 4026532202
	sharedAll = "25 1 253:1 / / rw shared:1 - ext4 /dev/vda1 rw\n30 25 0:5 / /run rw shared:2 - tmpfs tmpfs rw\n"
	private   = "25 1 253:1 / / rw,noatime - ext4 /dev/vda1 rw\n"
)

// ordinary is a sound node: systemd, kubelet and containerd in one namespace.
func ordinary(mounts string) textHost {
	return textHost{}.
		process(1, "systemd", "/sbin/init", hostNS, mounts).
		process(812, "containerd", "/usr/bin/containerd", hostNS, mounts, "cgroup", "0::/system.slice/containerd.service\n").
		process(900, "kubelet", "/usr/bin/kubelet --v=2", hostNS, mounts, "cgroup", "0::/system.slice/kubelet.service\n")
}

func (h textHost) with(more map[string]string) textHost {
	for k, v := range more {
		h[k] = v
	}
	return h
}

func TestASoundNodeHasNoProblem(t *testing.T) {
	r, s := ordinary(sharedAll).machine(t).findings(t, Check{"kubelet", checkKubelet}, Check{"propagation", checkPropagation})
	if r.Exit() != 0 || len(r.Unknown) != 0 {
		t.Errorf("exit %d, unknown %v", r.Exit(), r.Unknown)
	}
	subjects := map[string]int{}
	for _, f := range r.Findings {
		if f.Answer != facts.Yes || f.Code != CodeKubeletRoot && (len(f.Evidence) == 0 || f.Where != "pid 1 systemd[1], kubelet kubelet[900], runtime containerd[812] mnt:[4026531841]") {
			t.Errorf("finding %+v", f)
		}
		if f.Code == CodeShared {
			subjects[f.Subject]++
		}
	}
	for _, p := range []string{"/var/lib/kubelet", "/var/lib/kubelet/pods", "/var/lib/kubelet/plugins"} {
		if subjects[p] != 1 {
			t.Errorf("%s has %d findings", p, subjects[p])
		}
	}
	if p, ok := s.Place(RoleKubelet); !ok || p.Inode != hostNS || p.Table.Len() != 2 || p.Process.PID != 900 || p.Why != "" {
		t.Errorf("kubelet %+v", p)
	}
}

func TestWhatCannotBeReadIsNeverSound(t *testing.T) {
	m := ordinary(sharedAll).machine(t)
	root := path.Dir(m.Proc)
	m.Open = func(int) (Files, io.Closer, error) { return textFiles{root: root, denied: "/var"}, nil, nil }
	r, _ := m.findings(t, Check{"propagation", checkPropagation})
	if r.Exit() != 2 {
		t.Errorf("exit %d", r.Exit())
	}
	for _, f := range r.Findings {
		if f.Code != CodeUnresolved || f.Answer != facts.Unknown || !strings.Contains(f.Message, "permission denied") || len(f.Evidence) != 1 {
			t.Errorf("%+v", f)
		}
	}

	m.Open = func(int) (Files, io.Closer, error) { return nil, nil, errors.New("no rights") }
	r, _ = m.findings(t, Check{"propagation", checkPropagation})
	if r.Exit() != 2 || len(r.Unknown) == 0 || len(r.Findings) == 0 {
		t.Errorf("exit %d, unknown %v, findings %v", r.Exit(), r.Unknown, r.Findings)
	}

	m = textHost{"/proc/1/comm": "init\n"}.machine(t)
	if s, err := Gather(t.Context(), m); err == nil || !strings.Contains(err.Error(), "mountinfo") {
		t.Errorf("a node without a table: %v, %v", s, err)
	}
}

// TestAClosedSnapshotLeavesNothingOpen also: files are opened once for each
// mount namespace.
func TestAClosedSnapshotLeavesNothingOpen(t *testing.T) {
	m := ordinary(sharedAll).machine(t)
	opened, closed := 0, 0
	root := path.Dir(m.Proc)
	m.Open = func(int) (Files, io.Closer, error) {
		opened++
		return textFiles{root: root}, closerFunc(func() error { closed++; return nil }), nil
	}
	s, err := Gather(t.Context(), m)
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(s.Close(), s.Close()); err != nil || opened != 1 || closed != 1 {
		t.Errorf("%d opened, %d closed, %v", opened, closed, err)
	}
}

type closerFunc func() error

func (f closerFunc) Close() error { return f() }
