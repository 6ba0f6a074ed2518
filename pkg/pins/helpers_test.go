package pins

import (
	"context"
	"errors"
	"fmt"
	"os"
	"runtime"
	"strconv"
	"syscall"
	"testing"
	"unsafe"

	"github.com/mountward/mountward/pkg/facts"
	"github.com/mountward/mountward/pkg/internal/linux/linuxtest"
)

// umountIn unmounts a path in the mount namespace of a process, as umount -N
// does. A child does it: Go never gets rid of a main thread that has gone
// elsewhere.
func umountIn(t testing.TB, pid int, path string) error {
	t.Helper()
	p := linuxtest.Start(t, "umount", nil, strconv.Itoa(pid), path)
	defer p.End()
	errno, err := strconv.Atoi(p.Line(t))
	if err != nil {
		t.Fatal(err)
	}
	if errno != 0 {
		return syscall.Errno(errno)
	}
	return nil
}

// umountHere is the child's part: it prints the error number.
func umountHere(pid, path string) error {
	runtime.LockOSThread() // and never unlocked
	f, err := os.Open("/proc/" + pid + "/ns/mnt")
	if err != nil {
		return err
	}
	if err := syscall.Unshare(syscall.CLONE_FS); err != nil {
		return err
	}
	setns := map[string]uintptr{"amd64": 308, "arm64": 268}[runtime.GOARCH]
	if _, _, errno := syscall.RawSyscall(setns, f.Fd(), syscall.CLONE_NEWNS, 0); errno != 0 {
		return errno
	}
	var errno syscall.Errno
	_ = errors.As(syscall.Unmount(path, 0), &errno) // which a success leaves at 0
	fmt.Println(int(errno))
	return nil
}

// bindNamespace mounts the file of a mount namespace that has a private copy of
// all and no process. The kernel refuses a namespace that is older than the one
// that it is mounted in, by a number that Linux 6.18 hands out to each processor
// by itself: on another one a young namespace can have the lower number.
func bindNamespace(t testing.TB, file string) {
	t.Helper()
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	var all [128]byte
	affinity := func(call uintptr, mask *[128]byte) {
		if _, _, errno := syscall.RawSyscall(call, 0, uintptr(len(mask)), uintptr(unsafe.Pointer(mask))); errno != 0 {
			t.Fatal(errno)
		}
	}
	affinity(syscall.SYS_SCHED_GETAFFINITY, &all)
	defer affinity(syscall.SYS_SCHED_SETAFFINITY, &all)
	err := errors.New("there is no processor")
	for cpu := range 8 * len(all) {
		if all[cpu/8]>>(cpu%8)&1 == 0 {
			continue
		}
		var one [128]byte
		one[cpu/8] = 1 << (cpu % 8)
		affinity(syscall.SYS_SCHED_SETAFFINITY, &one)
		p := start(t, "private")
		err = syscall.Mount(fmt.Sprintf("/proc/%d/ns/mnt", p.Pid), file, "", syscall.MS_BIND, "")
		p.End()
		if err == nil {
			t.Cleanup(func() { _ = syscall.Unmount(file, syscall.MNT_DETACH) })
			return
		}
	}
	t.Fatal("bind a mount namespace: ", err)
}

// uuidOf reads the id of an ext4 from its device.
func uuidOf(t testing.TB, node string) string {
	t.Helper()
	f, err := os.Open(node)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	var u [16]byte
	if _, err := f.ReadAt(u[:], 1024+0x68); err != nil {
		t.Fatal(err)
	}
	return fmt.Sprintf("%x-%x-%x-%x-%x", u[:4], u[4:6], u[6:8], u[8:10], u[10:])
}

// withUUID is a host on which udev has made a link of a file system's id.
type withUUID struct {
	Host
	uuid   string
	number facts.DeviceNumber
}

func (h withUUID) BlockNumber(ctx context.Context, path string) (facts.DeviceNumber, error) {
	if path == "/dev/disk/by-uuid/"+h.uuid {
		return h.number, nil
	}
	return h.Host.BlockNumber(ctx, path)
}

// noUUID is a host without udev.
type noUUID struct{ Host }

func (h noUUID) BlockNumber(_ context.Context, path string) (facts.DeviceNumber, error) {
	return facts.DeviceNumber{}, fmt.Errorf("%s: %w", path, os.ErrNotExist)
}
