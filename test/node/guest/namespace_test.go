//go:build linux

package guest

import (
	"golang.org/x/sys/unix"

	"github.com/mountward/mountward/test/runtime/harness"
)

// inMountNamespace calls a function in the mount namespace of a process, as a
// process of that container: to have the runtime run one takes seconds here.
func inMountNamespace(pid int, do func() error) error {
	return harness.OnThread(func() error {
		if err := unix.Unshare(unix.CLONE_FS); err != nil {
			return err
		}
		if err := harness.EnterMounts(pid); err != nil {
			return err
		}
		return do()
	})
}
