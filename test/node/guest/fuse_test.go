//go:build linux

package guest

import (
	"encoding/binary"
	"fmt"
	"os"
	"sync"
	"syscall"

	"golang.org/x/sys/unix"
)

// fuseServer is a FUSE file system with a directory "dir", up to the moment
// that it answers no more. Nothing it says may be cached.
type fuseServer struct {
	fd   int
	stop *os.File // closed: do not answer any more
	done sync.WaitGroup
}

// The operations that are answered (linux/fuse.h); others do not exist.
const (
	fuseLookup  = 1
	fuseGetattr = 3
	fuseInit    = 26
	fuseForget  = 2
)

// mountFUSE mounts such a file system on a new directory.
func (s *stack) mountFUSE(dir string) *fuseServer {
	s.Helper()
	s.do("modprobe", "fuse")
	s.made(dir)
	fd, err := unix.Open("/dev/fuse", unix.O_RDWR|unix.O_CLOEXEC|unix.O_NONBLOCK, 0)
	if err != nil {
		s.Fatal(err)
	}
	if err := unix.Mount("server", dir, "fuse.node", 0, fmt.Sprintf("fd=%d,rootmode=40755,user_id=0,group_id=0", fd)); err != nil {
		s.Fatal(err)
	}
	s.Cleanup(func() {
		if err := unix.Unmount(dir, unix.MNT_DETACH); err != nil {
			s.Error(err)
		}
	})
	read, write, err := os.Pipe()
	if err != nil {
		s.Fatal(err)
	}
	f := &fuseServer{fd: fd, stop: write}
	f.done.Go(func() { f.serve(int(read.Fd())); read.Close() })
	return f
}

// hang lets every further question wait.
func (f *fuseServer) hang() {
	f.stop.Close()
	f.done.Wait()
}

// abort ends the file system: what waits for it fails.
func (f *fuseServer) abort() { _ = unix.Close(f.fd) }

func (f *fuseServer) serve(stop int) {
	request := make([]byte, 1<<17)
	for {
		ready := []unix.PollFd{{Fd: int32(f.fd), Events: unix.POLLIN}, {Fd: int32(stop)}}
		if _, err := unix.Poll(ready, -1); err != nil && err != unix.EINTR {
			return
		}
		if ready[1].Revents != 0 {
			return
		}
		n, err := unix.Read(f.fd, request)
		if err == unix.EAGAIN || err == unix.EINTR || err == unix.ENOENT {
			continue
		}
		if err != nil {
			return
		}
		f.answer(request[:n])
	}
}

func (f *fuseServer) answer(request []byte) {
	e := binary.NativeEndian
	unique, node := request[8:16], e.Uint64(request[16:])
	var body []byte
	var errno syscall.Errno
	switch e.Uint32(request[4:]) {
	case fuseForget:
		return
	case fuseInit:
		body = make([]byte, 64)
		e.PutUint32(body, 7)         // major
		e.PutUint32(body[4:], 31)    // minor
		e.PutUint32(body[20:], 4096) // max_write
	case fuseGetattr:
		body = append(make([]byte, 16), attributes(node)...)
	case fuseLookup:
		if string(request[40:]) != "dir\x00" {
			errno = unix.ENOENT
			break
		}
		body = append(make([]byte, 40), attributes(2)...)
		e.PutUint64(body, 2)
	default:
		errno = unix.ENOSYS
	}
	header := make([]byte, 8, 16+len(body))
	e.PutUint32(header, uint32(16+len(body)))
	e.PutUint32(header[4:], uint32(-int32(errno)))
	_, _ = unix.Write(f.fd, append(append(header, unique...), body...))
}

// attributes are those of a directory.
func attributes(node uint64) []byte {
	e := binary.NativeEndian
	a := make([]byte, 88)
	e.PutUint64(a, node)
	e.PutUint32(a[60:], unix.S_IFDIR|0o755)
	e.PutUint32(a[64:], 2) // links
	return a
}
