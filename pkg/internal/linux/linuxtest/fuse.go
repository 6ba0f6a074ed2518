package linuxtest

import (
	"encoding/binary"
	"fmt"
	"os"
	"sync/atomic"
	"syscall"
	"testing"
)

// The requests of linux/fuse.h that the server below answers.
const (
	fuseLookup  = 1
	fuseGetattr = 3
	fuseInit    = 26
)

// SleepyFUSE mounts a FUSE file system that answers where a file is and what it
// is, and nothing more: every name is a regular file, and opening it hangs. The
// kernel believes a name for so many seconds. After sleep is called nothing is
// answered any more.
func SleepyFUSE(t testing.TB, dir string, valid uint64) (sleep func()) {
	t.Helper()
	fd, err := syscall.Open("/dev/fuse", syscall.O_RDWR|syscall.O_CLOEXEC, 0)
	if err != nil {
		t.Fatal(err)
	}
	if err := syscall.Mount("sleepy", dir, "fuse.sleepy", 0, fmt.Sprintf("fd=%d,rootmode=40000,user_id=0,group_id=0", fd)); err != nil {
		t.Fatal(err)
	}
	served := make(chan struct{})
	var asleep atomic.Bool
	go func() {
		defer close(served)
		answerFUSE(fd, valid, &asleep)
	}()
	t.Cleanup(func() {
		// Closing does not abort the connection while it is read from. Forcing
		// does, and then says that what is stuck keeps the mount busy.
		_ = syscall.Unmount(dir, syscall.MNT_FORCE)
		_ = syscall.Unmount(dir, syscall.MNT_DETACH)
		<-served
		_ = syscall.Close(fd)
	})
	return func() { asleep.Store(true) }
}

func answerFUSE(fd int, valid uint64, asleep *atomic.Bool) {
	request := make([]byte, 1<<17)
	for {
		n, err := syscall.Read(fd, request)
		if err == syscall.EINTR || err == syscall.ENOENT {
			continue
		}
		if err != nil || n < 40 {
			return // the connection was aborted
		}
		if asleep.Load() {
			continue
		}
		const attributeSize, entryTimes = 88, 40
		var body []byte
		switch node := binary.NativeEndian.Uint64(request[16:]); binary.NativeEndian.Uint32(request[4:]) {
		case fuseInit:
			body = make([]byte, 64)
			binary.NativeEndian.PutUint32(body, 7)
			binary.NativeEndian.PutUint32(body[4:], 31)
			binary.NativeEndian.PutUint32(body[20:], 4096) // max_write
		case fuseLookup:
			body = make([]byte, entryTimes+attributeSize)
			binary.NativeEndian.PutUint64(body, 2)          // node
			binary.NativeEndian.PutUint64(body[16:], valid) // seconds that the name is valid
			fuseAttributes(body[entryTimes:], 2, os.Getuid())
		case fuseGetattr:
			body = make([]byte, 16+attributeSize)
			fuseAttributes(body[16:], node, os.Getuid())
		default:
			continue // asleep
		}
		answer := make([]byte, 16, 16+len(body))
		binary.NativeEndian.PutUint32(answer, uint32(16+len(body)))
		copy(answer[8:], request[8:16]) // the request's number
		_, _ = syscall.Write(fd, append(answer, body...))
	}
}

// fuseAttributes fills in struct fuse_attr of the root, 1, or a file.
func fuseAttributes(b []byte, node uint64, uid int) {
	mode := uint32(syscall.S_IFREG | 0o600)
	if node == 1 {
		mode = syscall.S_IFDIR | 0o700
	}
	binary.NativeEndian.PutUint64(b, node)
	binary.NativeEndian.PutUint64(b[8:], 5) // size
	binary.NativeEndian.PutUint32(b[60:], mode)
	binary.NativeEndian.PutUint32(b[64:], 1) // links
	binary.NativeEndian.PutUint32(b[68:], uint32(uid))
}
