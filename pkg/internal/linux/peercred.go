package linux

import (
	"errors"
	"fmt"
	"os"
	"syscall"

	"golang.org/x/sys/unix"
)

// PeerPID returns the process that connected or listens at the other end of a
// unix socket, as the caller's pid namespace counts. It is the process at the
// time of connecting, whoever holds the socket now.
func PeerPID(conn syscall.Conn) (int, error) {
	raw, err := conn.SyscallConn()
	if err != nil {
		return 0, fmt.Errorf("find the peer of a socket: %w", err)
	}
	var pid int
	var inner error
	if err := raw.Control(func(fd uintptr) { pid, inner = PeerPIDOfFD(fd) }); err != nil {
		return 0, fmt.Errorf("find the peer of a socket: %w", err)
	}
	return pid, inner
}

// PeerUID returns the user that connected or listens at the other end of a unix
// socket, as the caller's user namespace counts. It is the user at the time of
// connecting.
func PeerUID(conn syscall.Conn) (uint32, error) {
	raw, err := conn.SyscallConn()
	if err != nil {
		return 0, fmt.Errorf("find the peer of a socket: %w", err)
	}
	var cred *unix.Ucred
	var inner error
	if err := raw.Control(func(fd uintptr) { cred, inner = unix.GetsockoptUcred(int(fd), unix.SOL_SOCKET, unix.SO_PEERCRED) }); err != nil {
		return 0, fmt.Errorf("find the peer of a socket: %w", err)
	}
	if inner != nil {
		return 0, fmt.Errorf("find the peer of a socket: %w", os.NewSyscallError("getsockopt SO_PEERCRED", inner))
	}
	return cred.Uid, nil
}

// PeerPIDOfFD is PeerPID for a bare descriptor, such as the one a launched
// plugin is given. The descriptor is only looked at.
func PeerPIDOfFD(fd uintptr) (int, error) {
	cred, err := unix.GetsockoptUcred(int(fd), unix.SOL_SOCKET, unix.SO_PEERCRED)
	if err != nil {
		return 0, fmt.Errorf("find the peer of a socket: %w", os.NewSyscallError("getsockopt SO_PEERCRED", err))
	}
	if cred.Pid <= 0 {
		return 0, errors.New("find the peer of a socket: it is not in this pid namespace (hint: run with hostPID)")
	}
	return int(cred.Pid), nil
}
