package linux

import (
	"fmt"
	"io"
	"os"

	"golang.org/x/sys/unix"
)

// Mountinfo is an open /proc/<pid>/mountinfo. It stays with the mount
// namespace the process had when it was opened, also when the process is gone.
// Each one has its own memory of what changes were told: use one a listener.
type Mountinfo struct{ f *os.File }

// OpenMountinfo opens the file. It needs no capability. It must not be opened
// by os.Open: the Go runtime would poll it and so swallow the notification
// that Changed looks for.
func OpenMountinfo(path string) (*Mountinfo, error) {
	f, err := open(path, unix.O_RDONLY)
	if err != nil {
		return nil, err
	}
	return &Mountinfo{f}, nil
}

// Rewind starts at the first line again.
func (m *Mountinfo) Rewind() (io.Reader, error) {
	if _, err := m.f.Seek(0, io.SeekStart); err != nil {
		return nil, err
	}
	return m.f, nil
}

// Changed reports whether a mount was added, moved, removed or remounted in
// the namespace since the last call. A change of propagation alone is never
// told by the kernel.
func (m *Mountinfo) Changed() (bool, error) {
	ready, err := poll(0, unix.PollFd{Fd: int32(m.f.Fd()), Events: unix.POLLPRI})
	if err != nil {
		return false, fmt.Errorf("%s: %w", m.f.Name(), err)
	}
	return ready[0], nil
}

// Close gives the descriptor back.
func (m *Mountinfo) Close() error { return m.f.Close() }

// Waker ends a Wait from another goroutine.
type Waker struct{ f *os.File }

// NewWaker returns a Waker. Requires at least Linux 2.6.27 (eventfd).
func NewWaker() (*Waker, error) {
	fd, err := unix.Eventfd(0, unix.EFD_CLOEXEC)
	if err != nil {
		return nil, os.NewSyscallError("eventfd", err)
	}
	return &Waker{os.NewFile(uintptr(fd), "eventfd")}, nil
}

// Wake ends the Wait that runs or the next one.
func (w *Waker) Wake() error {
	_, err := w.f.Write([]byte{1, 0, 0, 0, 0, 0, 0, 0})
	return err
}

// Close gives the descriptor back.
func (w *Waker) Close() error { return w.f.Close() }

// Event is what ended a Wait.
type Event struct{ Woken, Changed, Exited bool }

// Wait blocks a thread until the mount table changes, the process exits (where
// process is not nil) or the waker is woken.
func (m *Mountinfo) Wait(waker *Waker, process *PidFD) (Event, error) {
	fds := []unix.PollFd{
		{Fd: int32(waker.f.Fd()), Events: unix.POLLIN},
		{Fd: int32(m.f.Fd()), Events: unix.POLLPRI},
	}
	if process != nil {
		fds = append(fds, unix.PollFd{Fd: int32(process.f.Fd()), Events: unix.POLLIN})
	}
	ready, err := poll(-1, fds...)
	if err != nil {
		return Event{}, fmt.Errorf("%s: %w", m.f.Name(), err)
	}
	return Event{Woken: ready[0], Changed: ready[1], Exited: process != nil && ready[2]}, nil
}
