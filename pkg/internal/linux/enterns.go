package linux

import (
	"errors"
	"fmt"
	"os"
	"runtime"

	"golang.org/x/sys/unix"
)

// OpenMountinfoIn opens the mountinfo of a mount namespace that perhaps no
// process is in, as from its root directory. A thread goes there and comes back
// before the answer, and is used no more. It takes CAP_SYS_ADMIN and
// CAP_SYS_CHROOT, and CAP_SYS_ADMIN over the namespace.
func OpenMountinfoIn(proc string, ns *os.File) (*Mountinfo, error) {
	dir, err := open(proc, unix.O_PATH|unix.O_DIRECTORY)
	if err != nil {
		return nil, err
	}
	defer dir.Close()
	type answer struct {
		m   *Mountinfo
		err error
	}
	done := make(chan answer, 1)
	onThread(func() {
		m, err := mountinfoIn(dir, ns)
		done <- answer{m, err}
	})
	a := <-done
	return a.m, a.err
}

// onThread runs do on a thread that ends with it. That must not be the first
// one: Go parks it for ever, in whatever namespace it is.
func onThread(do func()) {
	go func() {
		runtime.LockOSThread()
		if unix.Gettid() != unix.Getpid() {
			do()
			return // locked: the thread ends as well
		}
		defer runtime.UnlockOSThread()
		ended := make(chan struct{})
		go func() {
			defer close(ended)
			runtime.LockOSThread()
			do()
		}()
		<-ended
	}()
}

func mountinfoIn(proc, ns *os.File) (m *Mountinfo, err error) {
	home, err := openAt(proc, "thread-self/ns/mnt", unix.O_RDONLY)
	if err != nil {
		return nil, err
	}
	defer unix.Close(home)
	// setns(2) refuses a mount namespace to who shares his root directory.
	if err := unix.Unshare(unix.CLONE_FS); err != nil {
		return nil, os.NewSyscallError("unshare", err)
	}
	if err := unix.Setns(int(ns.Fd()), unix.CLONE_NEWNS); err != nil {
		return nil, fmt.Errorf("enter mount namespace: %w", os.NewSyscallError("setns", err))
	}
	// The thread ends a little after the answer is read: back it holds nothing.
	defer func() {
		if back := unix.Setns(home, unix.CLONE_NEWNS); back != nil {
			err = errors.Join(err, os.NewSyscallError("setns", back))
			if m != nil {
				_ = m.Close()
				m = nil
			}
		}
	}()
	fd, err := openAt(proc, "thread-self/mountinfo", unix.O_RDONLY)
	if err != nil {
		return nil, err
	}
	return &Mountinfo{os.NewFile(uintptr(fd), "mountinfo")}, nil
}
