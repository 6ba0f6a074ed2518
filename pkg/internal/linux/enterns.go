package linux

import (
	"errors"
	"fmt"
	"os"
	"runtime"

	"golang.org/x/sys/unix"
)

// Traveller is a thread that can go to other mount namespaces. Its methods are
// for the function that Travel calls, and end with it.
type Traveller struct {
	proc *os.File // procfs, as it is at home
	home *os.File // the namespace it began in
}

// Travel calls do on a thread of its own, which may enter mount namespaces and
// is home again when Travel returns. The thread is used no more; a panic of do
// is one of Travel. To enter one
// takes CAP_SYS_ADMIN and CAP_SYS_CHROOT, CAP_SYS_ADMIN over that namespace and,
// by a process, the rights of PTRACE_MODE_READ over it.
//
// do can hang where it walks paths: who cannot wait calls Travel in a goroutine
// of its own and leaves that behind. A thread that hangs elsewhere keeps the
// namespace it is in, with all of its mounts.
func Travel(proc string, do func(*Traveller) error) error {
	dir, err := open(proc, unix.O_PATH|unix.O_DIRECTORY)
	if err != nil {
		return err
	}
	defer dir.Close()
	type end struct {
		err      error
		panicked any
	}
	done := make(chan end, 1)
	onThread(func() {
		var e end
		defer func() {
			e.panicked = recover()
			done <- e
		}()
		e.err = travel(dir, do)
	})
	e := <-done
	if e.panicked != nil {
		panic(e.panicked) // where somebody may be prepared for it
	}
	return e.err
}

func travel(proc *os.File, do func(*Traveller) error) (err error) {
	fd, err := openAt(proc, "thread-self/ns/mnt", unix.O_RDONLY)
	if err != nil {
		return err
	}
	t := &Traveller{proc: proc, home: os.NewFile(uintptr(fd), "home")}
	defer t.home.Close()
	// setns(2) refuses a mount namespace to who shares his root directory.
	if err := unix.Unshare(unix.CLONE_FS); err != nil {
		return os.NewSyscallError("unshare", err)
	}
	// The thread ends a little after the answer is read: back it holds nothing.
	defer func() { err = errors.Join(err, t.Home()) }()
	return do(t)
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

// Enter takes the thread to a mount namespace and to the root of it, by an open
// file of that namespace.
func (t *Traveller) Enter(ns *os.File) error { return enterNamespace(int(ns.Fd())) }

// EnterProcess takes the thread to the mount namespace of a process. Requires at
// least Linux 5.8 (setns by pidfd).
func (t *Traveller) EnterProcess(p *PidFD) error { return enterNamespace(int(p.f.Fd())) }

// Home takes the thread back to where it began.
func (t *Traveller) Home() error { return t.Enter(t.home) }

func enterNamespace(fd int) error {
	if err := unix.Setns(fd, unix.CLONE_NEWNS); err != nil {
		return fmt.Errorf("enter mount namespace: %w", os.NewSyscallError("setns", err))
	}
	return nil
}

// Namespace returns the inode number of the mount namespace the thread is in.
func (t *Traveller) Namespace() (uint64, error) {
	const link = "thread-self/ns/mnt"
	buf := make([]byte, 64)
	n, err := unix.Readlinkat(int(t.proc.Fd()), link, buf)
	if err != nil {
		return 0, &os.PathError{Op: "readlink", Path: link, Err: err}
	}
	return namespaceInode(link, string(buf[:n]))
}

// Mountinfo opens the table of the namespace the thread is in, as from where its
// root is.
func (t *Traveller) Mountinfo() (*Mountinfo, error) {
	fd, err := openAt(t.proc, "thread-self/mountinfo", unix.O_RDONLY)
	if err != nil {
		return nil, err
	}
	return &Mountinfo{os.NewFile(uintptr(fd), "mountinfo")}, nil
}

// OpenMountinfoIn opens the mountinfo of a mount namespace that perhaps no
// process is in, as from its root directory. A thread goes there and comes back
// before the answer; see Travel.
func OpenMountinfoIn(proc string, ns *os.File) (*Mountinfo, error) {
	var m *Mountinfo
	err := Travel(proc, func(t *Traveller) error {
		if err := t.Enter(ns); err != nil {
			return err
		}
		var err error
		m, err = t.Mountinfo()
		return err
	})
	if err != nil {
		if m != nil {
			_ = m.Close()
		}
		return nil, err
	}
	return m, nil
}
