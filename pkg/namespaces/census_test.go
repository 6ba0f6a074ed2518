package namespaces

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/mountward/mountward/pkg/hostview"
	"github.com/mountward/mountward/pkg/internal/linux"
	"github.com/mountward/mountward/pkg/internal/linux/linuxtest"
)

// rungs are those that this kernel has.
func rungs(t testing.TB) []string {
	t.Helper()
	_, err := Take(context.Background(), Options{Rung: RungKernel})
	if errors.Is(err, linux.ErrNotSupported) {
		return []string{RungProc}
	}
	if err != nil {
		t.Fatal(err)
	}
	return []string{RungKernel, RungProc}
}

func take(t testing.TB, rung string) *Census {
	t.Helper()
	c, err := Take(context.Background(), Options{Rung: rung})
	if err != nil {
		t.Fatal(err)
	}
	if c.Rung != rung {
		t.Fatalf("rung %s, want %s", c.Rung, rung)
	}
	return c
}

// lonely takes a census in which a namespace without processes has one hold. Other
// tests of this machine look into such a namespace too, and hold it meanwhile.
func lonely(t *testing.T, rung string, inode uint64) *Census {
	t.Helper()
	for end := time.Now().Add(time.Minute); ; time.Sleep(5 * time.Millisecond) {
		c := take(t, rung)
		n, ok := c.At(inode)
		if ok && len(n.PIDs) == 0 && len(n.Holds) == 1 || time.Now().After(end) {
			return c
		}
	}
}

// tableHas reads the table and looks for the tmpfs at a directory.
func tableHas(t *testing.T, c *Census, n *Namespace, dir string) bool {
	t.Helper()
	table, err := c.Table(context.Background(), n)
	if err != nil {
		t.Error(err)
		return false
	}
	e, ok := table.At(dir)
	return ok && e.Source == "held"
}

func TestANamespaceOfAProcessIsFoundWithIt(t *testing.T) {
	needRoot(t)
	dir := t.TempDir()
	p, inode := holder(t, dir)
	for _, rung := range rungs(t) {
		c := take(t, rung)
		n, ok := c.At(inode)
		if of, same := c.Of(p.Pid); !ok || !same || of != n {
			t.Fatalf("%s: mnt:[%d] is not found, or not of process %d", rung, inode, p.Pid)
		}
		if diff := cmp.Diff([]int{p.Pid}, n.PIDs); diff != "" || n.User != firstUserNS {
			t.Errorf("%s: %s, owner user:[%d]", rung, diff, n.User)
		}
		who, ok := c.Process(p.Pid)
		if !ok || who.Parent != os.Getpid() || who.UID == nil || *who.UID != 0 || who.User != firstUserNS || who.Kernel || who.Thread != 0 || who.Comm != "exe" {
			t.Errorf("%s: %+v", rung, who)
		}
		if age := time.Since(who.Started); age < -time.Minute || age > time.Hour {
			t.Errorf("%s: started %s", rung, who.Started)
		}
		if !tableHas(t, c, n, dir) {
			t.Errorf("%s: its mount is not in its table", rung)
		}
		own, ok := c.Of(os.Getpid())
		if !ok || own == n || tableHas(t, c, own, dir) {
			t.Errorf("%s: its mount is in ours", rung)
		}
	}
}

func TestANamespaceThatOnlyADescriptorHoldsIsFound(t *testing.T) {
	needRoot(t)
	dir := t.TempDir()
	p, inode := holder(t, dir)
	keeper := linuxtest.Start(t, "keep", nil, fmt.Sprintf("/proc/%d/ns/mnt", p.Pid))
	keeper.Line(t)
	p.End()
	for _, rung := range rungs(t) {
		c := lonely(t, rung, inode)
		n, ok := c.At(inode)
		if !ok {
			t.Fatalf("%s: mnt:[%d] is not found", rung, inode)
		}
		if len(n.PIDs) != 0 || len(n.Holds) != 1 || n.Holds[0].PID != keeper.Pid || n.Holds[0].Path != "" {
			t.Errorf("%s: %+v, want only process %d to hold it", rung, n, keeper.Pid)
		}
		if n.User != firstUserNS || n.ID == 0 && rung == RungKernel {
			t.Errorf("%s: number %d, owner user:[%d]", rung, n.ID, n.User)
		}
		if !tableHas(t, c, n, dir) {
			t.Errorf("%s: its mount is not in its table", rung)
		}
	}
	gone(t, inode, keeper)
}

// gone ends what holds the namespace and looks that nothing of it is left.
func gone(t *testing.T, inode uint64, last *linuxtest.Child) {
	t.Helper()
	for _, rung := range rungs(t) {
		c := take(t, rung)
		n, ok := c.At(inode)
		if !ok {
			t.Fatalf("%s: mnt:[%d] is not found", rung, inode)
		}
		defer func() {
			if table, err := c.Table(context.Background(), n); !errors.Is(err, ErrGone) {
				t.Errorf("%s: of a namespace that has ended: %v %v", rung, table, err)
			}
			var cannot *hostview.CannotTell
			if _, err := c.Table(context.Background(), n); !errors.As(err, &cannot) {
				t.Errorf("%s: %v is no CannotTell", rung, err)
			}
		}()
	}
	known, _ := take(t, rungs(t)[0]).At(inode)
	last.End()
	ended(t, known)
}

// ended waits until a namespace is in no list. Its inode number can be another's
// at once.
func ended(t *testing.T, known *Namespace) {
	t.Helper()
	for _, rung := range rungs(t) {
		for end := time.Now().Add(time.Minute); ; time.Sleep(5 * time.Millisecond) {
			n, ok := take(t, rung).At(known.Inode)
			if !ok || n.ID != known.ID || len(n.PIDs) > 0 && known.ID == 0 {
				break
			}
			if time.Now().After(end) {
				t.Errorf("%s: %+v, but nothing holds it", rung, *n)
				break
			}
		}
	}
}

func TestANamespaceThatOnlyABindMountHoldsIsFound(t *testing.T) {
	needRoot(t)
	dir := t.TempDir()
	file := filepath.Join(t.TempDir(), "a namespace")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	p, inode := holder(t, dir)
	// The kernel refuses to bind a namespace into a later one, which it tells
	// by numbers that some releases draw for each processor apart.
	for tries := 0; ; tries++ {
		err := syscall.Mount(fmt.Sprintf("/proc/%d/ns/mnt", p.Pid), file, "", syscall.MS_BIND, "")
		if err == nil {
			break
		}
		if !errors.Is(err, syscall.EINVAL) || tries == 200 {
			t.Fatal(err)
		}
		p.End()
		p, inode = holder(t, dir)
	}
	mounted := true
	unmount := func() {
		if err := syscall.Unmount(file, syscall.MNT_DETACH); err != nil && mounted {
			t.Errorf("unmount %s: %v", file, err)
		}
		mounted = false
	}
	t.Cleanup(unmount)
	p.End()
	own := inodeOfTask(t, "self")
	for _, rung := range rungs(t) {
		c := lonely(t, rung, inode)
		n, ok := c.At(inode)
		if !ok {
			t.Fatalf("%s: mnt:[%d] is not found", rung, inode)
		}
		if diff := cmp.Diff([]Hold{{Path: file, In: own}}, n.Holds); diff != "" || len(n.PIDs) != 0 {
			t.Errorf("%s: processes %v, %s", rung, n.PIDs, diff)
		}
		if !tableHas(t, c, n, dir) {
			t.Errorf("%s: its mount is not in its table", rung)
		}
		f, err := c.openHold(context.Background(), n, n.Holds[0])
		if err != nil {
			t.Errorf("%s: by the bind mount: %v", rung, err)
			continue
		}
		_ = f.Close()
	}
	known, _ := take(t, rungs(t)[0]).At(inode)
	unmount()
	ended(t, known)
}

func TestAThreadAloneInANamespaceIsFound(t *testing.T) {
	needRoot(t)
	dir := t.TempDir()
	p := linuxtest.Start(t, "thread", nil, dir)
	tid, err := strconv.Atoi(p.Line(t))
	if err != nil {
		t.Fatal(err)
	}
	p.Line(t)
	inode := inodeOfTask(t, fmt.Sprintf("%d/task/%d", p.Pid, tid))
	for _, rung := range rungs(t) {
		c := take(t, rung)
		n, ok := c.At(inode)
		if !ok || !slices.Equal(n.PIDs, []int{tid}) {
			t.Fatalf("%s: %+v, want thread %d alone", rung, n, tid)
		}
		members := c.Members(n)
		if len(members) != 1 || members[0].PID != p.Pid || members[0].Thread != tid {
			t.Errorf("%s: %+v", rung, members)
		}
		if process, ok := c.Process(p.Pid); !ok || process.Thread != 0 {
			t.Errorf("%s: the process itself is %+v", rung, process)
		}
		if of, ok := c.Of(p.Pid); !ok || of == n {
			t.Errorf("%s: the process is in its thread's namespace", rung)
		}
		if !tableHas(t, c, n, dir) {
			t.Errorf("%s: its mount is not in its table", rung)
		}
	}
}

func TestANamespaceOfAUserNamespaceHasItsOwner(t *testing.T) {
	needRoot(t)
	dir := t.TempDir()
	attr := &syscall.SysProcAttr{
		Cloneflags:  syscall.CLONE_NEWUSER | syscall.CLONE_NEWNS,
		UidMappings: []syscall.SysProcIDMap{{ContainerID: 0, HostID: 0, Size: 1}},
		GidMappings: []syscall.SysProcIDMap{{ContainerID: 0, HostID: 0, Size: 1}},
	}
	p := linuxtest.Start(t, "hold", attr, dir)
	p.Line(t)
	link, err := os.Readlink(fmt.Sprintf("/proc/%d/ns/user", p.Pid))
	if err != nil {
		t.Fatal(err)
	}
	for _, rung := range rungs(t) {
		c := take(t, rung)
		n, ok := c.Of(p.Pid)
		if !ok {
			t.Fatalf("%s: process %d has no namespace", rung, p.Pid)
		}
		who, _ := c.Process(p.Pid)
		if want := fmt.Sprintf("user:[%d]", n.User); link != want || who.User != n.User {
			t.Errorf("%s: owner %s and of process %d, want %s", rung, want, who.User, link)
		}
		if !tableHas(t, c, n, dir) {
			t.Errorf("%s: its mount is not in its table", rung)
		}
	}
}

func TestTheRungsAgree(t *testing.T) {
	needRoot(t)
	all := rungs(t)
	if len(all) < 2 {
		t.Skip("needs Linux 6.12 for the rung kernel")
	}
	dir := t.TempDir()
	_, a := holder(t, dir)
	_, b := holder(t, dir)
	describe := func(rung string) (list []string) {
		c := take(t, rung)
		for _, n := range c.Namespaces {
			if n.Inode != a && n.Inode != b && n.Inode != inodeOfTask(t, "self") {
				continue // others may come and go
			}
			list = append(list, fmt.Sprintf("%d %d %d %v", n.Inode, n.ID, n.User, n.PIDs))
		}
		return list
	}
	kernel, proc := describe(RungKernel), describe(RungProc)
	if diff := cmp.Diff(kernel, proc); diff != "" || len(kernel) != 3 {
		t.Errorf("%d namespaces: %s", len(kernel), diff)
	}
}

func TestNoDescriptorIsLeft(t *testing.T) {
	needRoot(t)
	dir := t.TempDir()
	p, inode := holder(t, dir)
	keeper := linuxtest.Start(t, "keep", nil, fmt.Sprintf("/proc/%d/ns/mnt", p.Pid))
	keeper.Line(t)
	p.End()
	open := func() (links []string) {
		names, err := os.ReadDir("/proc/self/fd")
		if err != nil {
			t.Fatal(err)
		}
		for _, n := range names {
			// The descriptor that reads the directory is gone by now.
			if link, err := os.Readlink("/proc/self/fd/" + n.Name()); err == nil {
				links = append(links, link)
			}
		}
		return links
	}
	for _, rung := range rungs(t) {
		take(t, rung) // makes the Go runtime open what it needs
	}
	before := open()
	for _, rung := range rungs(t) {
		c := take(t, rung)
		c.Each(context.Background(), 2, func(*Namespace, *hostview.Table, error) {})
		if n, ok := c.At(inode); !ok {
			t.Errorf("%s: mnt:[%d] is not found", rung, inode)
		} else if _, err := c.byEntering(context.Background(), n); err != nil {
			t.Errorf("enter %s: %v", n, err)
		}
	}
	if diff := cmp.Diff(before, open()); diff != "" {
		t.Error(diff)
	}
}
