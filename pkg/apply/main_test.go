package apply

import (
	"errors"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/mountward/mountward/pkg/facts"
	"github.com/mountward/mountward/pkg/hostview"
	"github.com/mountward/mountward/pkg/internal/linux/linuxtest"
	"github.com/mountward/mountward/pkg/verify"
)

// TestMain runs the tests in a mount namespace of their own.
func TestMain(m *testing.M) { linuxtest.Main(m, syscall.MS_PRIVATE, play) }

// play is what a child process of the tests does: "container" makes the mounts
// that its arguments name, as runc does, and lives until its standard input ends.
func play(role string, args []string) error {
	if role != "container" {
		return errors.New("no such role")
	}
	switch args[1] {
	case "wait": // in the host's namespace
	case "apart": // a runtime with mounts of its own groups
		err := errors.Join(syscall.Mount("", "/", "", syscall.MS_REC|syscall.MS_PRIVATE, ""), syscall.Mount("", args[2], "", syscall.MS_SHARED, ""))
		if err != nil {
			return err
		}
	default:
		if err := makeContainer(args); err != nil {
			return err
		}
	}
	return linuxtest.Wait()
}

// makeContainer does runc's steps: the whole tree gets the propagation of the
// root file system, the root is bound on itself, mounts follow in order, the
// root is pivoted to, and a shared root makes all of it shared once more.
func makeContainer(args []string) error {
	root, propagation := args[0], uintptr(syscall.MS_SLAVE)
	if args[1] == "rshared" {
		propagation = syscall.MS_SHARED
	}
	steps := []error{
		syscall.Mount("", "/", "", syscall.MS_REC|propagation, ""),
		syscall.Mount("", filepath.Dir(root), "", syscall.MS_PRIVATE, ""),
		syscall.Mount(root, root, "", syscall.MS_BIND|syscall.MS_REC, ""),
		syscall.Mount("", root, "", syscall.MS_PRIVATE, ""),
	}
	for _, arg := range args[2:] {
		m := strings.Split(arg, ":") // SOURCE:DESTINATION[:WORD]
		steps = append(steps, syscall.Mount(m[0], root+m[1], "", syscall.MS_BIND|syscall.MS_REC, ""))
		if len(m) > 2 {
			word := map[string]uintptr{"rprivate": syscall.MS_PRIVATE, "rslave": syscall.MS_SLAVE, "rshared": syscall.MS_SHARED}[m[2]]
			steps = append(steps, syscall.Mount("", root+m[1], "", syscall.MS_REC|word, ""))
		}
	}
	old, err := syscall.Open("/", syscall.O_RDONLY, 0)
	steps = append(steps, err, syscall.Chdir(root), syscall.PivotRoot(".", "."), syscall.Fchdir(old), syscall.Close(old),
		syscall.Mount("", ".", "", syscall.MS_SLAVE|syscall.MS_REC, ""), syscall.Unmount(".", syscall.MNT_DETACH), syscall.Chdir("/"))
	if propagation == syscall.MS_SHARED {
		steps = append(steps, syscall.Mount("", "/", "", syscall.MS_SHARED|syscall.MS_REC, ""))
	}
	return errors.Join(steps...)
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// node is the host: a directory with a shared, a private and a slave mount.
type node struct {
	dir, shared, private, rootfs string
	view                         *hostview.View
}

func newNode(t testing.TB) *node {
	t.Helper()
	if os.Geteuid() != 0 {
		t.Skip("needs root: mounts")
	}
	dir, err := filepath.EvalSymlinks(t.TempDir())
	must(t, err)
	must(t, os.Chmod(filepath.Dir(dir), 0o755)) // root of a user namespace is nobody here
	n := &node{dir: dir, shared: dir + "/shared", private: dir + "/private", rootfs: dir + "/root/fs"}
	must(t, syscall.Mount("node", dir, "tmpfs", 0, ""))
	t.Cleanup(func() {
		if err := syscall.Unmount(dir, syscall.MNT_DETACH); err != nil {
			t.Errorf("unmount %s: %v", dir, err)
		}
	})
	for _, d := range []string{n.shared, n.private, dir + "/root"} {
		must(t, os.Mkdir(d, 0o755))
		must(t, syscall.Mount("disk", d, "tmpfs", 0, "mode=755"))
	}
	must(t, syscall.Mount("", n.shared, "", syscall.MS_SHARED, ""))
	for _, d := range []string{n.rootfs + "/data/sub", n.rootfs + "/other", n.rootfs + "/plain"} {
		must(t, os.MkdirAll(d, 0o755))
	}
	n.view, err = hostview.Open(hostview.Options{Wait: time.Minute})
	must(t, err)
	t.Cleanup(func() { must(t, n.view.Close()) })
	return n
}

// mount mounts a tmpfs on the host, below the shared directory for one.
func (n *node) mount(t testing.TB, path string) {
	t.Helper()
	must(t, os.MkdirAll(path, 0o755))
	must(t, syscall.Mount("volume", path, "tmpfs", 0, "mode=755"))
}

// container is a process in a mount namespace like a container's.
type container struct {
	*linuxtest.Child
	node    *node
	process *hostview.Process
}

var users = &syscall.SysProcAttr{
	Cloneflags:  syscall.CLONE_NEWNS | syscall.CLONE_NEWUSER,
	UidMappings: []syscall.SysProcIDMap{{ContainerID: 0, HostID: 100000, Size: 65536}},
	GidMappings: []syscall.SysProcIDMap{{ContainerID: 0, HostID: 100000, Size: 65536}},
	Credential:  &syscall.Credential{}, GidMappingsEnableSetgroups: true,
}

// run starts a container with rootfsPropagation and mounts
// SOURCE:DESTINATION[:WORD].
func (n *node) run(t testing.TB, sys *syscall.SysProcAttr, propagation string, mounts ...string) *container {
	t.Helper()
	if sys == nil {
		sys = &syscall.SysProcAttr{Cloneflags: syscall.CLONE_NEWNS}
	}
	c := &container{Child: linuxtest.Start(t, "container", sys, append([]string{n.rootfs, propagation}, mounts...)...), node: n}
	c.Line(t) // it is ready
	var err error
	c.process, err = n.view.OpenProcess(c.Pid)
	must(t, err)
	t.Cleanup(func() { _ = c.process.Close() })
	return c
}

func (c *container) pid() string { return strconv.Itoa(c.Pid) }

// at is what the container has at a mount point.
func (c *container) at(t testing.TB, point string) hostview.Entry {
	t.Helper()
	table, err := c.process.Table()
	must(t, err)
	e, ok := table.At(point)
	if !ok {
		t.Fatalf("the container has no mount at %s", point)
	}
	return e
}

// mountInside mounts a tmpfs in the container.
func (c *container) mountInside(t testing.TB, path string) {
	t.Helper()
	must(t, linuxtest.In(c.pid(), func() error {
		if err := os.MkdirAll(path, 0o755); err != nil {
			return err
		}
		return syscall.Mount("inside", path, "tmpfs", 0, "mode=755")
	}))
}

// mounted says whether the host, or the container, has a mount at a path.
func (n *node) mounted(t testing.TB, path string) bool {
	t.Helper()
	table, err := n.view.Reread(t.Context())
	must(t, err)
	_, ok := table.At(path)
	return ok
}

func (c *container) has(t testing.TB, path string) bool {
	t.Helper()
	table, err := c.process.Table()
	must(t, err)
	_, ok := table.At(path)
	return ok
}

// request is as the daemon makes it: the outcomes' mounts are as they were on
// the host, located in the table that the proof rests on.
func (c *container) request(t testing.TB, outcomes ...facts.Outcome) NamespaceRequest {
	t.Helper()
	ctx := t.Context()
	answer, table := c.process.ProveTable(ctx, c.node.rootfs)
	if answer.Truth != facts.Yes {
		t.Fatalf("the process is not proved: %s", answer.Why)
	}
	lookup := func(path string) (facts.HostMount, error) { return c.node.view.Lookup(ctx, path) }
	return NamespaceRequest{
		Process: c.process, Table: table, Host: c.node.view, Outcomes: outcomes,
		Located: verify.Locate(outcomes, table), Lookup: lookup, Enforce: true,
	}
}

// deferred is an outcome as Spec leaves it.
func (n *node) deferred(t testing.TB, source, destination string, asked, decided facts.Propagation, options ...string) facts.Outcome {
	t.Helper()
	m := facts.Mount{Destination: destination, Source: source, Type: "bind", Options: options}
	if asked != facts.Unset {
		m.Options = append(m.Options, asked.Option())
	}
	host, err := n.view.Lookup(t.Context(), source)
	must(t, err)
	m.Host = &host
	return facts.Outcome{
		Mount: m, Asked: asked, Decided: decided, Action: facts.ActionSet, Result: facts.Deferred, Rule: "r", Position: "p:1",
		Required: decided.Reach() < asked.Reach(),
	}
}

// other is an outcome about which nothing is to be done.
func (n *node) other(t testing.TB, source, destination string, asked facts.Propagation) facts.Outcome {
	t.Helper()
	o := n.deferred(t, source, destination, asked, asked)
	o.Result, o.Action, o.Required = facts.Unchanged, facts.ActionAllow, false
	return o
}

// apply applies the outcomes and counts the descriptors, also of threads that
// have just ended.
func apply(t testing.TB, r NamespaceRequest) NamespaceResult {
	t.Helper()
	before := descriptors(t)
	var n Namespace
	result := n.Apply(t.Context(), r)
	for end := time.Now().Add(time.Minute); descriptors(t) > before && time.Now().Before(end); {
		time.Sleep(5 * time.Millisecond)
	}
	if now := descriptors(t); now > before {
		t.Errorf("%d descriptors are open, %d were before", now, before)
	}
	for _, f := range result.Findings {
		t.Logf("%s: %s", f.Code, f.Message)
	}
	return result
}

func descriptors(t testing.TB) int {
	t.Helper()
	all, err := os.ReadDir("/proc/self/fd")
	must(t, err)
	return len(all)
}

// found says whether there is a finding with the code.
func (r NamespaceResult) found(code string) bool {
	for _, f := range r.Findings {
		if f.Code == code {
			return true
		}
	}
	return false
}

func contains(s, part string) bool { return strings.Contains(s, part) }

func (n *node) mkfile(t testing.TB, path string) {
	t.Helper()
	must(t, os.MkdirAll(filepath.Dir(path), 0o755))
	must(t, os.WriteFile(path, nil, 0o644))
}

// text is the container's table.
func (c *container) text(t testing.TB) string {
	t.Helper()
	text, err := os.ReadFile("/proc/" + c.pid() + "/mountinfo")
	must(t, err)
	return string(text)
}
