package linuxtest

import (
	"os"
	"runtime"
	"syscall"
	"testing"
	"unsafe"
)

// The numbers of calls that package syscall does not have are those of all
// architectures since Linux 5.1; struct mount_attr is 32 bytes.
const (
	sysMoveMount    = 429
	sysMountSetattr = 442
	sysOpenTree     = 428
	emptyPath       = 0x1000
	treeClone       = 1
	attrIDMap       = 0x100000
	fromAndToFD     = 0x04 | 0x40 // MOVE_MOUNT_F_EMPTY_PATH, MOVE_MOUNT_T_EMPTY_PATH
	cloneFS         = 0x200
)

// MountIDMapped mounts a directory with its ids mapped like a user namespace
// (/proc/<pid>/ns/user) at a path in the mount namespace of a process, as runc
// does. The thread that goes there ends with it.
func MountIDMapped(t testing.TB, source string, pid string, target string) {
	t.Helper()
	user, err := os.Open("/proc/" + pid + "/ns/user")
	if err != nil {
		t.Fatal(err)
	}
	defer user.Close()
	dir, err := syscall.BytePtrFromString(source)
	if err != nil {
		t.Fatal(err)
	}
	empty := new(byte)
	atCWD := -100
	tree, _, errno := syscall.Syscall(sysOpenTree, uintptr(atCWD), uintptr(unsafe.Pointer(dir)), treeClone)
	if errno != 0 {
		t.Fatalf("open_tree %s: %v", source, errno)
	}
	defer func() { _ = syscall.Close(int(tree)) }()
	attr := [4]uint64{attrIDMap, 0, 0, uint64(user.Fd())}
	if _, _, errno := syscall.Syscall6(sysMountSetattr, tree, uintptr(unsafe.Pointer(empty)), emptyPath, uintptr(unsafe.Pointer(&attr)), 32, 0); errno != 0 {
		t.Fatalf("map the ids of %s: %v", source, errno)
	}
	if err := In(pid, func() error {
		on, err := syscall.Open(target, 0x200000, 0) // O_PATH
		if err != nil {
			return err
		}
		defer func() { _ = syscall.Close(on) }()
		if _, _, errno := syscall.Syscall6(sysMoveMount, tree, uintptr(unsafe.Pointer(empty)), uintptr(on), uintptr(unsafe.Pointer(empty)), fromAndToFD, 0); errno != 0 {
			return os.NewSyscallError("move_mount", errno)
		}
		return nil
	}); err != nil {
		t.Fatalf("mount %s id-mapped: %v", source, err)
	}
}

// In calls do on a thread in the mount namespace of a process. The thread ends
// with it; it is never the first one, which Go keeps.
func In(pid string, do func() error) error {
	done := make(chan error, 1)
	var try func()
	try = func() {
		runtime.LockOSThread()
		if syscall.Gettid() == syscall.Getpid() {
			defer runtime.UnlockOSThread()
			again := make(chan struct{})
			go func() {
				defer close(again)
				try()
			}()
			<-again
			return
		}
		done <- enter(pid, do)
	}
	go try()
	return <-done
}

func enter(pid string, do func() error) error {
	ns, err := os.Open("/proc/" + pid + "/ns/mnt")
	if err != nil {
		return err
	}
	defer ns.Close()
	home, err := os.Open("/proc/thread-self/ns/mnt")
	if err != nil {
		return err
	}
	defer home.Close()
	if err := syscall.Unshare(cloneFS); err != nil {
		return os.NewSyscallError("unshare", err)
	}
	setns := map[string]uintptr{"amd64": 308, "arm64": 268}[runtime.GOARCH]
	if _, _, errno := syscall.RawSyscall(setns, ns.Fd(), syscall.CLONE_NEWNS, 0); errno != 0 {
		return os.NewSyscallError("setns", errno)
	}
	defer func() { _, _, _ = syscall.RawSyscall(setns, home.Fd(), syscall.CLONE_NEWNS, 0) }()
	return do()
}
