package pins

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"unsafe"

	"github.com/mountward/mountward/pkg/facts"
	"github.com/mountward/mountward/pkg/internal/linux/linuxtest"
)

// TestAThreadThatHasLeftItsProcessIsAHolder by its own directory and descriptors;
// what all threads share is told once.
func TestAThreadThatHasLeftItsProcessIsAHolder(t *testing.T) {
	v := newVolume(t)
	mkdir(t, v.dir+"/sub")
	p := start(t, fmt.Sprintf("leave=%[1]s/sub:%[1]s/file", v.dir))
	shared := start(t, "open="+v.dir+"/sub/../file")
	r := find(t, v.number.String())
	wantHolders(t, r, "mount host 0", fmt.Sprintf("open-file host %d", p.Pid), fmt.Sprintf("open-file host %d", shared.Pid))
	files := r.Holders[1].Files
	if len(files) != 2 || !strings.HasPrefix(files[0].Link, "task/") || !strings.Contains(files[0].Link, "/fd/") || !strings.HasSuffix(files[1].Link, "/cwd") {
		t.Errorf("%+v", files)
	}
	if target, err := os.Readlink(fmt.Sprintf("/proc/%d/%s", p.Pid, files[0].Link)); err != nil || target != v.dir+"/file" {
		t.Errorf("the evidence shows %q, %v", target, err)
	}
	if files := r.Holders[2].Files; len(files) != 1 || strings.HasPrefix(files[0].Link, "task/") {
		t.Errorf("shared by all threads: %+v", files)
	}
	wantHolders(t, find(t, v.dir+"/sub"), fmt.Sprintf("cwd host %d", p.Pid))
	// The kernel's comparison is only faster.
	if err := syscall.Unmount(v.dir, syscall.MNT_DETACH); err != nil {
		t.Fatal(err)
	}
	wantHolders(t, find(t, v.number.String()), fmt.Sprintf("open-file host %d", p.Pid), fmt.Sprintf("open-file host %d", shared.Pid))
}

// TestAThreadInANamespaceIsInIt, though its process is not.
func TestAThreadInANamespaceIsInIt(t *testing.T) {
	dir := stage(t)
	in := startIn(t, "wait", &syscall.SysProcAttr{Cloneflags: syscall.CLONE_NEWNET})
	file := dir + "/netns"
	write(t, file, "")
	if err := syscall.Mount(fmt.Sprintf("/proc/%d/ns/net", in.Pid), file, "", syscall.MS_BIND, ""); err != nil {
		t.Fatal(err)
	}
	in.End()
	p := start(t, "netns="+file)
	r := find(t, file)
	wantHolders(t, r, "namespace-file host 0", fmt.Sprintf("netns-process host %d", p.Pid))
	if !strings.HasPrefix(r.Holders[1].Files[0].Link, "task/") {
		t.Errorf("%+v", r.Holders[1].Files)
	}
}

// TestAMappedFileOfAPart is told by the mount that it is on; one beside the part
// is none.
func TestAMappedFileOfAPart(t *testing.T) {
	v := newVolume(t)
	write(t, v.dir+"/sub/m", "x")
	mkdir(t, v.dir+"/other")
	p := start(t, "map="+v.dir+"/sub/m")
	wantHolders(t, find(t, v.dir+"/sub"), fmt.Sprintf("mapped-file host %d the mapped file %s/sub/m", p.Pid, v.dir))
	if r := find(t, v.dir+"/other"); r.Answer() != facts.No {
		t.Errorf("answer %v, %q, unknown %v", r.Answer(), told(r), r.Unknown)
	}
}

// TestTheFirstOfAPidNamespaceIsKilled: it does not end by any other signal.
func TestTheFirstOfAPidNamespaceIsKilled(t *testing.T) {
	v := newVolume(t)
	for flags, want := range map[uintptr]string{0: "kill %d", syscall.CLONE_NEWPID: "kill -9 %d"} {
		p := startIn(t, "private", &syscall.SysProcAttr{Cloneflags: syscall.CLONE_NEWNS | flags})
		r := find(t, v.number.String())
		hasCure(t, r.Holders[len(r.Holders)-1], fmt.Sprintf(want, p.Pid))
		p.End()
	}
}

// TestASubvolumeOfABtrfsAfterALazyUnmount has a number of its own, which is in no
// table; a file elsewhere that was hidden so is not on the btrfs.
func TestASubvolumeOfABtrfsAfterALazyUnmount(t *testing.T) {
	dir := stage(t)
	node := linuxtest.Btrfs(t, 1)[0]
	mountAt(t, node, dir+"/vol", "btrfs", 0, "")
	subvolume(t, dir+"/vol", "sv")
	write(t, dir+"/vol/sv/f", "x")
	mountAt(t, "other", dir+"/mem", "tmpfs", 0, "")
	write(t, dir+"/mem/f", "x")
	p := start(t, "open="+dir+"/vol/sv/f")
	start(t, "open="+dir+"/mem/f")
	for _, d := range []string{"/vol", "/mem"} {
		if err := syscall.Unmount(dir+d, syscall.MNT_DETACH); err != nil {
			t.Fatal(err)
		}
	}
	r := find(t, node)
	wantHolders(t, r, fmt.Sprintf("open-file host %d the open file /sv/f is on a mount that is in no table", p.Pid))
	// Of a part it cannot be told whether the file is in it.
	if err := syscall.Mount(node, dir+"/vol", "btrfs", 0, ""); err != nil {
		t.Fatal(err)
	}
	r = find(t, dir+"/vol/sv")
	wantHolders(t, r)
	if r.Answer() != facts.Unknown || len(r.Unknown) != 1 || !strings.Contains(r.Unknown[0].Why, "/sv/f") {
		t.Errorf("answer %v, unknown %v", r.Answer(), r.Unknown)
	}
}

// subvolume makes a subvolume of a btrfs: BTRFS_IOC_SUBVOL_CREATE.
func subvolume(t testing.TB, dir, name string) {
	t.Helper()
	f, err := os.Open(filepath.Clean(dir))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	var args [4096]byte
	copy(args[8:], name)
	if _, _, errno := syscall.Syscall(syscall.SYS_IOCTL, f.Fd(), 0x5000940e, uintptr(unsafe.Pointer(&args))); errno != 0 {
		t.Fatal(errno)
	}
}
