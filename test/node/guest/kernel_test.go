//go:build linux

package guest

import (
	"errors"
	"testing"

	"golang.org/x/sys/unix"
)

const sysStatmount = 457 // x86-64, Linux 6.8

// statmountWorks says whether the kernel has statmount(2), tried without the
// service's filter: one that has it fails with EFAULT on a null argument.
func statmountWorks(t *testing.T) bool {
	t.Helper()
	_, _, errno := unix.Syscall6(sysStatmount, 0, 0, 0, 0, 0, 0)
	if errno != unix.ENOSYS && errno != unix.EFAULT {
		t.Fatalf("statmount: %v, want ENOSYS or EFAULT", errors.New(errno.Error()))
	}
	return errno == unix.EFAULT
}
