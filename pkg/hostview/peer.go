package hostview

import (
	"syscall"

	"github.com/mountward/mountward/pkg/internal/linux"
)

// PeerPID returns the process at the other end of a unix socket when it was
// connected: the runtime, for an NRI connection. It is an error where that
// process is not visible in our pid namespace.
func PeerPID(conn syscall.Conn) (int, error) { return linux.PeerPID(conn) }

// PeerPIDOfFD is PeerPID for a descriptor that was inherited.
func PeerPIDOfFD(fd uintptr) (int, error) { return linux.PeerPIDOfFD(fd) }
