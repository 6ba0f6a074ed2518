package linux

import (
	"errors"
	"fmt"
	"os"

	"golang.org/x/sys/unix"
)

// PidFD holds one process by a descriptor: its number cannot come to mean
// another process unnoticed while the descriptor says it lives.
type PidFD struct{ f *os.File }

// OpenPidFD opens the process with the number, as the caller's pid namespace
// counts. Requires at least Linux 5.3.
func OpenPidFD(pid int) (*PidFD, error) {
	fd, err := unix.PidfdOpen(pid, 0) // always close-on-exec
	if errors.Is(err, unix.ENOSYS) {
		err = &NotSupportedError{"pidfd_open", "5.3", err}
	}
	if err != nil {
		return nil, fmt.Errorf("open process %d: %w", pid, os.NewSyscallError("pidfd_open", err))
	}
	return &PidFD{os.NewFile(uintptr(fd), fmt.Sprintf("pidfd:%d", pid))}, nil
}

// Alive reports whether the process still runs; a zombie does not.
func (p *PidFD) Alive() (bool, error) {
	ready, err := poll(0, unix.PollFd{Fd: int32(p.f.Fd()), Events: unix.POLLIN})
	if err != nil {
		return false, err
	}
	return !ready[0], nil
}

// Close gives the descriptor back.
func (p *PidFD) Close() error { return p.f.Close() }

// poll waits for any of the descriptors up to timeout milliseconds (-1: for
// ever) and returns which of them have one of the events asked for.
func poll(timeout int, fds ...unix.PollFd) ([]bool, error) {
	for {
		_, err := unix.Poll(fds, timeout)
		if errors.Is(err, unix.EINTR) {
			continue
		}
		if err != nil {
			return nil, os.NewSyscallError("poll", err)
		}
		ready := make([]bool, len(fds))
		for i, fd := range fds {
			if fd.Revents&unix.POLLNVAL != 0 {
				return nil, os.NewSyscallError("poll", unix.EBADF)
			}
			ready[i] = fd.Revents&fd.Events != 0
		}
		return ready, nil
	}
}
