package exposure

import (
	"bufio"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/mountward/mountward/pkg/facts"
	"github.com/mountward/mountward/pkg/hostview"
	"github.com/mountward/mountward/pkg/namespaces"
	"github.com/mountward/mountward/pkg/target"
)

const roleVariable = "EXPOSURE_TEST_ROLE"

// TestMain moves the tests into a mount namespace of their own, which ends with
// the process.
func TestMain(m *testing.M) {
	if os.Getenv(roleVariable) != "" {
		serve()
		os.Exit(0)
	}
	const done = "EXPOSURE_TEST_NAMESPACE"
	if os.Geteuid() == 0 && os.Getenv(done) == "" {
		runtime.LockOSThread()
		err := syscall.Unshare(syscall.CLONE_NEWNS)
		if err == nil {
			err = syscall.Mount("", "/", "", syscall.MS_REC|syscall.MS_PRIVATE, "")
		}
		if err == nil {
			err = syscall.Exec("/proc/self/exe", os.Args, append(os.Environ(), done+"=1"))
		}
		fmt.Fprintln(os.Stderr, "make a mount namespace for the tests:", err)
		os.Exit(1)
	}
	os.Exit(m.Run())
}

// serve does in a mount namespace of its own what the test says, a line each:
// "bind FROM TO", "readonly AT", "writable AT", "private AT", "umount AT",
// "lazy AT", "write FILE", "open FILE", "close", "chdir AT", "thread AT",
// "overlay LOWER UPPER WORK AT".
func serve() {
	fmt.Println("ok")
	var opened *os.File
	for in := bufio.NewScanner(os.Stdin); in.Scan(); {
		word := strings.Fields(in.Text())
		var err error
		switch word[0] {
		case "bind":
			err = syscall.Mount(word[1], word[2], "", syscall.MS_BIND|syscall.MS_REC, "")
		case "readonly":
			err = syscall.Mount("", word[1], "", syscall.MS_BIND|syscall.MS_REMOUNT|syscall.MS_RDONLY, "")
		case "writable":
			err = syscall.Mount("", word[1], "", syscall.MS_BIND|syscall.MS_REMOUNT, "")
		case "lazy":
			err = syscall.Unmount(word[1], syscall.MNT_DETACH)
		case "open":
			opened, err = os.Open(word[1])
		case "close":
			err = opened.Close()
		case "chdir":
			err = os.Chdir(word[1])
		case "thread": // one that has left the process stays there
			went := make(chan error)
			go leave(word[1], went)
			err = <-went
		case "overlay":
			err = syscall.Mount("test", word[4], "overlay", 0, fmt.Sprintf("lowerdir=%s,upperdir=%s,workdir=%s", word[1], word[2], word[3]))
		case "private":
			err = syscall.Mount("", word[1], "", syscall.MS_PRIVATE|syscall.MS_REC, "")
		case "umount":
			err = syscall.Unmount(word[1], 0)
		case "write":
			err = os.WriteFile(word[1], []byte("x"), 0o600)
		}
		if err != nil {
			fmt.Println(err)
			continue
		}
		fmt.Println("ok")
	}
}

// leave goes somewhere in a thread, not the first one, with a working directory
// and descriptors of its own, and stays there.
func leave(dir string, went chan<- error) {
	runtime.LockOSThread()
	if syscall.Gettid() == syscall.Getpid() {
		go leave(dir, went)
		select {}
	}
	err := syscall.Unshare(syscall.CLONE_FS | syscall.CLONE_FILES)
	if err == nil {
		err = syscall.Chdir(dir)
	}
	went <- err
	select {}
}

// child is a process in a mount namespace of its own.
type child struct {
	t   *testing.T
	pid int
	in  *os.File
	out *bufio.Reader
}

func start(t *testing.T, files ...*os.File) *child {
	t.Helper()
	// With Unshareflags Go makes all mounts private.
	return startAs(t, &syscall.SysProcAttr{Cloneflags: syscall.CLONE_NEWNS}, files...)
}

func startAs(t *testing.T, as *syscall.SysProcAttr, files ...*os.File) *child {
	t.Helper()
	inR, inW, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	outR, outW, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	p, err := os.StartProcess("/proc/self/exe", []string{"child"}, &os.ProcAttr{
		Dir: "/", Env: append(os.Environ(), roleVariable+"=serve"), Files: append([]*os.File{inR, outW, os.Stderr}, files...), Sys: as,
	})
	_, _ = inR.Close(), outW.Close()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = inW.Close()
		_ = p.Kill()
		_, _ = p.Wait()
		_ = outR.Close()
	})
	c := &child{t, p.Pid, inW, bufio.NewReader(outR)}
	if got := c.answer(); got != "ok" {
		t.Fatal(got)
	}
	return c
}

func (c *child) answer() string {
	c.t.Helper()
	line, err := c.out.ReadString('\n')
	if err != nil {
		c.t.Fatal(err)
	}
	return strings.TrimSpace(line)
}

// do sends a command and returns the answer.
func (c *child) do(command ...string) string {
	c.t.Helper()
	fmt.Fprintln(c.in, strings.Join(command, " "))
	return c.answer()
}

func (c *child) must(command ...string) {
	c.t.Helper()
	if got := c.do(command...); got != "ok" {
		c.t.Fatalf("%v: %s", command, got)
	}
}

// tree is a shared tmpfs with a volume mounted below it, as the kubelet's root
// directory is.
func tree(t *testing.T) (dir string) {
	t.Helper()
	if os.Geteuid() != 0 {
		t.Skip("needs root: mounts")
	}
	dir = t.TempDir()
	mount(t, dir)
	if err := syscall.Mount("", dir, "", syscall.MS_SHARED, ""); err != nil {
		t.Fatal(err)
	}
	for _, sub := range []string{"vol", "token", "inside"} {
		if err := os.Mkdir(filepath.Join(dir, sub), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	mount(t, filepath.Join(dir, "vol"))
	return dir
}

func mount(t *testing.T, dir string) {
	t.Helper()
	if err := syscall.Mount("test", dir, "tmpfs", 0, ""); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = syscall.Unmount(dir, syscall.MNT_DETACH) }) // perhaps it is not there any more
}

// targetOf is a path of the test's namespace, which is the node's here.
func targetOf(t *testing.T, path string, c *child) []target.Target {
	t.Helper()
	e, ok := tableOf(t, realNode(t, c)).Covering(path)
	if !ok {
		t.Fatalf("nothing covers %s", path)
	}
	id := e.HostMount(path).Identity()
	return []target.Target{{Name: "it", Kind: target.KindPath, Path: path, Superblocks: []target.Superblock{{Device: id.Device, Root: id.Root, FSType: e.FSType}}}}
}

func tableOf(t *testing.T, n Node) *hostview.Table {
	t.Helper()
	table, err := n.tableOf(context.Background(), n.Host[0])
	if err != nil {
		t.Fatal(err)
	}
	return table
}

func realNode(t *testing.T, c *child, mounts ...facts.Mount) Node {
	t.Helper()
	container := facts.Container{ID: strings.Repeat("a", 64), Name: "test", Mounts: mounts, Privileged: facts.Is(false, "a test")}
	tasks := []namespaces.Task{{Container: container, Spec: hostview.Spec{Mounts: mounts}, PID: c.pid}}
	census, err := namespaces.Take(context.Background(), namespaces.Options{Proc: "/proc", Tasks: tasks})
	if err != nil {
		t.Fatal(err)
	}
	host, ok := census.Of(os.Getpid())
	if !ok {
		t.Fatal("the test's own namespace was not found")
	}
	theirs, ok := census.Of(c.pid)
	if !ok {
		t.Fatal("the child's namespace was not found")
	}
	// Whatever else runs on this machine is not looked at.
	return Node{Proc: "/proc", Census: census, Namespaces: []*namespaces.Namespace{host, theirs}, Tasks: tasks, Host: []uint64{host.Inode}, KubeletRoot: root}
}

// reached is a report in short, of the child.
func reached(r Report, c *child) []string {
	var all []string
	for _, v := range r.Viewers {
		if len(v.PIDs) != 1 || v.PIDs[0] != c.pid {
			continue
		}
		for _, p := range v.Paths {
			all = append(all, fmt.Sprintf("%s %s %s %s", p.Path, p.Through.Kind, p.Through.Copy, mode(p.Writable)))
		}
	}
	return all
}

// inside is where the child binds the tree, outside of it.
func inside(t *testing.T) string {
	t.Helper()
	return t.TempDir()
}

// TestAReadOnlyBindWithAWritableMountBelow: the report says what the kernel lets
// the child do.
func TestAReadOnlyBindWithAWritableMountBelow(t *testing.T) {
	dir, in := tree(t), inside(t)
	c := start(t)
	c.must("bind", dir, in)
	c.must("private", in)
	c.must("readonly", in)
	if got := c.do("write", in+"/file"); !strings.Contains(got, "read-only file system") {
		t.Fatalf("the bind is not read-only: %s", got)
	}
	c.must("write", in+"/vol/file")
	n := realNode(t, c, bind(dir, in, "ro", "rprivate"))
	want := []string{dir + "/vol not-asked  rw", in + "/vol host-path private rw"}
	if diff := cmp.Diff(want, reached(Find(context.Background(), n, targetOf(t, dir+"/vol", c)), c)); diff != "" {
		t.Errorf("the volume (-want +got):\n%s", diff)
	}
	// Both are of the source, and so is what is mounted below.
	want = []string{dir + " host-path asked rw", dir + "/vol not-asked  rw", in + " host-path asked ro", in + "/vol host-path private rw"}
	if diff := cmp.Diff(want, reached(Find(context.Background(), n, targetOf(t, dir, c)), c)); diff != "" {
		t.Errorf("the tree (-want +got):\n%s", diff)
	}
}

// TestATokenMountedLaterBelowASharedMount: it arrives, and is reached through the
// mount above; and that mount is one by which the child can mount onto the node,
// which it does.
func TestATokenMountedLaterBelowASharedMount(t *testing.T) {
	dir, in := tree(t), inside(t)
	c := start(t)
	c.must("bind", dir, in)
	mount(t, dir+"/token")
	n := realNode(t, c, bind(dir, in, "rshared"))
	want := []string{dir + "/token not-asked  rw", in + "/token host-path shared rw"}
	if diff := cmp.Diff(want, reached(Find(context.Background(), n, targetOf(t, dir+"/token", c)), c)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if !writes(n, c, in) {
		t.Error("the child is no writer")
	}
	c.must("bind", dir+"/vol", in+"/inside")
	if _, ok := tableOf(t, n).At(dir + "/inside"); !ok {
		t.Error("what the child mounted is not on the node")
	}
	c.must("umount", in+"/inside")
	c.must("private", in)
	c.must("private", dir)
	if writes(n, c, in) {
		t.Error("a private mount is told to write")
	}
}

// writes reports whether the child is told to be able to mount onto the node
// through a mount.
func writes(n Node, c *child, at string) bool {
	for _, w := range Writers(context.Background(), n, nil).Writers {
		for _, m := range w.Mounts {
			if w.PIDs[0] == c.pid && m.Path == at && m.Shared.Truth == facts.Yes && w.Can.Truth == facts.Yes {
				return true
			}
		}
	}
	return false
}

// TestAPrivateCopyOutlivesTheHostsMount: until the child unmounts it too.
func TestAPrivateCopyOutlivesTheHostsMount(t *testing.T) {
	dir, in := tree(t), inside(t)
	c := start(t)
	c.must("bind", dir, in)
	c.must("private", in)
	n, it := realNode(t, c, bind(dir, in)), targetOf(t, dir+"/vol", c)
	if err := syscall.Unmount(dir+"/vol", 0); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{in + "/vol host-path private rw"}, reached(Find(context.Background(), n, it), c)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	c.must("umount", in+"/vol")
	if r := Find(context.Background(), n, it); r.Reached() || len(r.Unknown) > 0 {
		t.Errorf("after the child unmounted it: %+v %v", reached(r, c), r.Unknown)
	}
}
