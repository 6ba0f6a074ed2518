//go:build linux

package guard_test

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/sys/unix"

	"github.com/mountward/mountward/test/runtime/harness"
)

// TestDoctorOnHostNamespaces: what doctor says of the mount namespaces of a node
// that were really made, and who then gets whose mounts. Process 1 is the
// harness's, whose every mount is shared; the services are copies of a shell.
func TestDoctorOnHostNamespaces(t *testing.T) {
	harness.NeedsRoot(t)
	slave, shared, private := uintptr(unix.MS_SLAVE), uintptr(unix.MS_SHARED), uintptr(unix.MS_PRIVATE)
	const home = "pid 1"
	tests := []struct {
		name  string
		start func(h *services)
		// problems are "CODE ROLE SUBJECT", where the subject "*" is each of the
		// kubelet's three paths.
		problems []string
		causes   map[string]string // by code
		told     string            // the code of a finding that is no problem
		// mounts of the first in the kubelet's root arrive at the second.
		arrive, missing [][2]string
	}{
		{
			name: "sound",
			start: func(h *services) {
				h.containerd(harness.Service{})
				h.kubelet(harness.Service{})
			},
		},
		{
			name: "M42, the runtime in a slave namespace",
			start: func(h *services) {
				h.containerd(harness.Service{Unshare: true, Propagations: []uintptr{slave}})
				h.kubelet(harness.Service{})
			},
			problems: []string{"slave-only runtime *", "namespaces-apart runtime containerd"},
			causes:   map[string]string{"slave-only": "in the mount namespace of process 1 the path is shared"},
			arrive:   [][2]string{{home, "containerd"}},
			missing:  [][2]string{{"containerd", home}, {"containerd", "kubelet"}},
		},
		{
			name: "M44, the kubelet in a namespace made slave and then shared",
			start: func(h *services) {
				h.containerd(harness.Service{})
				h.kubelet(harness.Service{Unshare: true, Propagations: []uintptr{slave, shared}})
			},
			problems: []string{"downstream-only kubelet *", "namespaces-apart kubelet kubelet"},
			arrive:   [][2]string{{home, "kubelet"}, {"containerd", "kubelet"}},
			missing:  [][2]string{{"kubelet", home}, {"kubelet", "containerd"}},
		},
		{
			name: "M44, the runtime so",
			start: func(h *services) {
				h.containerd(harness.Service{Unshare: true, Propagations: []uintptr{slave, shared}})
				h.kubelet(harness.Service{})
			},
			problems: []string{"downstream-only runtime *", "namespaces-apart runtime containerd"},
			arrive:   [][2]string{{home, "containerd"}},
			missing:  [][2]string{{"containerd", "kubelet"}},
		},
		{
			name: "M47, kubelet and runtime together in one that the host does not see",
			start: func(h *services) {
				runtime := h.containerd(harness.Service{Unshare: true, Propagations: []uintptr{slave, shared}})
				h.kubelet(harness.Service{Of: runtime.PID})
			},
			told:    "host-apart",
			arrive:  [][2]string{{home, "containerd"}, {"kubelet", "containerd"}},
			missing: [][2]string{{"kubelet", home}, {"containerd", home}},
		},
		{
			name: "M15, kubelet and runtime in a user namespace that a wrapper made",
			start: func(h *services) {
				h.rootless("private")
			},
			problems: []string{"not-shared kubelet *"},
			told:     "host-apart",
			causes:   map[string]string{"not-shared": "(rootlesskit)"},
			missing:  [][2]string{{home, "containerd"}, {"containerd", home}, {"kubelet", home}},
		},
		{
			name: "M15, with propagation inside",
			start: func(h *services) {
				h.rootless("shared")
			},
			told:    "host-apart",
			arrive:  [][2]string{{home, "containerd"}, {"kubelet", "containerd"}},
			missing: [][2]string{{"containerd", home}, {"kubelet", home}},
		},
		{
			name: "kubelet and runtime each in a namespace of its own, neither linked",
			start: func(h *services) {
				h.containerd(harness.Service{Unshare: true, Propagations: []uintptr{private, shared}})
				h.kubelet(harness.Service{Unshare: true, Propagations: []uintptr{private, shared}})
			},
			problems: []string{"not-linked kubelet *", "not-linked runtime *", "namespaces-apart kubelet kubelet", "namespaces-apart runtime containerd"},
			missing:  [][2]string{{"containerd", "kubelet"}, {"kubelet", "containerd"}, {home, "containerd"}, {"kubelet", home}},
		},
		{
			name: "kubelet and runtime each in a private one",
			start: func(h *services) {
				h.containerd(harness.Service{Unshare: true, Propagations: []uintptr{private}})
				h.kubelet(harness.Service{Unshare: true, Propagations: []uintptr{private}})
			},
			problems: []string{"not-shared kubelet *", "not-shared runtime *", "namespaces-apart kubelet kubelet", "namespaces-apart runtime containerd"},
			missing:  [][2]string{{"containerd", "kubelet"}, {"kubelet", "containerd"}, {home, "containerd"}},
		},
		{
			name: "both apart, and only the kubelet is linked with the host",
			start: func(h *services) {
				h.containerd(harness.Service{Unshare: true, Propagations: []uintptr{private, shared}})
				h.kubelet(harness.Service{Unshare: true})
			},
			problems: []string{"not-linked runtime *", "namespaces-apart runtime containerd"},
			told:     "namespaces-apart",
			arrive:   [][2]string{{home, "kubelet"}, {"kubelet", home}},
			missing:  [][2]string{{"containerd", "kubelet"}, {"kubelet", "containerd"}, {home, "containerd"}},
		},
		{
			name: "each in one that is linked with the host",
			start: func(h *services) {
				h.containerd(harness.Service{Unshare: true})
				h.kubelet(harness.Service{Unshare: true})
			},
			told:   "namespaces-apart",
			arrive: [][2]string{{"containerd", "kubelet"}, {"kubelet", "containerd"}, {home, "containerd"}, {"kubelet", home}},
		},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			h := newServices(t)
			test.start(h)
			h.reach(test.arrive, true)
			h.reach(test.missing, false)
			d := diagnose(t, "", "doctor")
			var want []string
			for _, p := range test.problems {
				if rest, ok := strings.CutSuffix(p, " *"); ok {
					want = append(want, rest+" "+h.root, rest+" "+h.root+"/pods", rest+" "+h.root+"/plugins")
				} else {
					want = append(want, p)
				}
			}
			slices.Sort(want)
			if diff := cmp.Diff(want, d.propagation("no")); diff != "" {
				t.Errorf("problems (-want +got):\n%s", diff)
			}
			if test.told != "" && len(d.coded("yes", test.told)) == 0 {
				t.Errorf("nothing is told of %s", test.told)
			}
			for code, cause := range test.causes {
				for _, f := range d.coded("no", code) {
					if !strings.Contains(f.Cause, cause) {
						t.Errorf("cause of %s is %q, want %q in it", code, f.Cause, cause)
					}
				}
			}
			if len(d.coded("yes", "host-apart")) > 0 && test.told != "host-apart" {
				t.Errorf("kubelet and runtime are said to be together")
			}
			if len(want) == 0 && len(d.Unknown) > 0 { // the processes outside are not this node's
				t.Errorf("unknown is %v", d.Unknown)
			}
			d.proven(t)
		})
	}
}

// services are the processes of a node without containers.
type services struct {
	t    *testing.T
	dir  string // of programs
	root string // the kubelet's
	pids map[string]int
	made int
}

func newServices(t *testing.T) *services {
	t.Helper()
	dir := t.TempDir()
	h := &services{t: t, dir: dir, root: filepath.Join(dir, "root"), pids: map[string]int{"pid 1": 1}}
	for _, d := range []string{"pods", "plugins"} {
		if err := os.MkdirAll(filepath.Join(h.root, d), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	return h
}

func (h *services) containerd(s harness.Service) *harness.Service {
	s.Name = "containerd"
	return h.start(&s)
}

func (h *services) kubelet(s harness.Service) *harness.Service {
	s.Name, s.Args = "kubelet", []string{"--root-dir=" + h.root}
	return h.start(&s)
}

func (h *services) start(s *harness.Service) *harness.Service {
	h.t.Helper()
	standIn(h.t, h.dir, s)
	h.pids[s.Name] = s.PID
	return s
}

// standIn starts a service, with its program in dir, that ends with the
// test.
func standIn(t *testing.T, dir string, s *harness.Service) {
	t.Helper()
	if err := s.Start(dir); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Stop(); err != nil {
			t.Error(err)
		}
	})
}

// rootless starts the wrapper, and it the services in a user namespace. Nothing
// there reads a standard input that could end.
func (h *services) rootless(propagation string) {
	h.t.Helper()
	wrapper := h.start(&harness.Service{Name: "rootlesskit"})
	script := filepath.Join(h.dir, "inner.sh")
	pipe := filepath.Join(h.dir, "pipe")
	if err := unix.Mkfifo(pipe, 0o600); err != nil {
		h.t.Fatal(err)
	}
	text := "exec 3<>" + pipe + "\n"
	for _, s := range []string{"containerd", "kubelet --root-dir=" + h.root} {
		name, args, _ := strings.Cut(s, " ")
		program, err := harness.CopyProgram("/bin/sh", filepath.Join(h.dir, name))
		if err != nil {
			h.t.Fatal(err)
		}
		text += fmt.Sprintf("%s -s %s %s <&3 >/dev/null &\necho $!\n", program, name, args)
	}
	if err := os.WriteFile(script, []byte(text+"wait\n"), 0o600); err != nil {
		h.t.Fatal(err)
	}
	line := fmt.Sprintf("unshare --user --map-root-user --mount --propagation %s %s/rootlesskit %s &", propagation, h.dir, script)
	for _, name := range []string{"containerd", "kubelet"} {
		answer, err := wrapper.Tell(line)
		if err != nil {
			h.t.Fatal(err)
		}
		if h.pids[name], err = strconv.Atoi(answer); err != nil {
			h.t.Fatal(err)
		}
		executes(h.t, h.pids[name], name)
		line = ":"
	}
}

// executes waits until a process that was forked has become what it is to be.
func executes(t *testing.T, pid int, name string) {
	t.Helper()
	for end := time.Now().Add(20 * time.Second); time.Now().Before(end); time.Sleep(time.Millisecond) {
		comm, err := os.ReadFile(fmt.Sprintf("/proc/%d/comm", pid))
		if err != nil {
			t.Fatal(err)
		}
		// The kernel has the arguments a little later than the name.
		args, err := os.ReadFile(fmt.Sprintf("/proc/%d/cmdline", pid))
		if err != nil {
			t.Fatal(err)
		}
		if strings.TrimSpace(string(comm)) == name && strings.Contains(string(args), "-s\x00"+name) {
			return
		}
	}
	t.Fatalf("process %d is not %s yet", pid, name)
}

// reach has a mount made by each first one in the kubelet's root, and looks
// whether it arrived at the second.
func (h *services) reach(pairs [][2]string, want bool) {
	h.t.Helper()
	for _, pair := range pairs {
		h.made++
		at := fmt.Sprintf("%s/pods/probe-%d", h.root, h.made)
		if err := os.Mkdir(at, 0o755); err != nil {
			h.t.Fatal(err)
		}
		in := func(do func() error) {
			h.t.Helper()
			err := harness.OnThread(func() error {
				if err := unix.Unshare(unix.CLONE_FS); err != nil {
					return err
				}
				if err := harness.EnterMounts(h.pids[pair[0]]); err != nil {
					return err
				}
				return do()
			})
			if err != nil {
				h.t.Fatalf("%s: mount: %v", pair[0], err)
			}
		}
		in(func() error { return unix.Mount("probe", at, "tmpfs", 0, "") })
		table, err := harness.Mountinfo(h.pids[pair[1]])
		if err != nil {
			h.t.Fatal(err)
		}
		if got := table.At(at) != nil; got != want {
			h.t.Errorf("a mount of %s arrives at %s: %t, want %t", pair[0], pair[1], got, want)
		}
		in(func() error { return unix.Unmount(at, 0) })
	}
}
