package linux

import (
	"os"

	"golang.org/x/sys/unix"
)

// What kcmp(2) compares. Source: Linux 6.18 include/uapi/linux/kcmp.h.
const (
	kcmpFiles = 2
	kcmpFS    = 3
)

// SharesFiles reports whether two tasks have one table of descriptors, as the
// threads of a process nearly always have. It takes the rights of
// PTRACE_MODE_READ. Requires at least Linux 3.5 and CONFIG_KCMP.
func SharesFiles(a, b int) (bool, error) { return kcmp(a, b, kcmpFiles) }

// SharesDirectories is SharesFiles for the root and the working directory.
func SharesDirectories(a, b int) (bool, error) { return kcmp(a, b, kcmpFS) }

func kcmp(a, b int, what uintptr) (bool, error) {
	r, _, errno := unix.RawSyscall6(unix.SYS_KCMP, uintptr(a), uintptr(b), what, 0, 0, 0)
	if errno == unix.ENOSYS {
		return false, &NotSupportedError{"kcmp", "3.5, CONFIG_KCMP", errno}
	}
	if errno != 0 {
		return false, os.NewSyscallError("kcmp", error(errno))
	}
	return r == 0, nil
}
