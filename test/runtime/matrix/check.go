//go:build linux

package matrix

import (
	"errors"
	"fmt"
	"path/filepath"

	"github.com/mountward/mountward/test/runtime/harness"
)

// Container is a running one, as a test can look at it.
type Container interface {
	Table() (harness.Mounts, error)
	// Sees says whether it sees the marker of a file system below /data.
	Sees(name string) (bool, error)
	// Mount has it mount a file system on a new directory.
	Mount(path string) error
	Unmount(path string) error
}

// Check looks at the kernel's table and at what really travels between a
// container of the row and its source on the host, which is the caller's.
func (r Row) Check(dir harness.HostDir, c Container) error {
	_, travels := r.Want()
	host, err := harness.Mountinfo(0)
	if err != nil {
		return err
	}
	table, err := c.Table()
	if err != nil {
		return err
	}
	outside, inside := host.At(dir.Path), table.At("/data")
	if outside == nil || inside == nil {
		return fmt.Errorf("nothing is mounted at /data, or at %s of the host", dir.Path)
	}
	var errs []error
	check := func(what string, got, want any, err error) {
		if err != nil {
			errs = append(errs, err)
		} else if got != want {
			errs = append(errs, fmt.Errorf("%s: %v, want %v", what, got, want))
		}
	}
	check(fmt.Sprintf("what travels by the kernel's table (host %s, container %s)", outside.Propagation(), inside.Propagation()),
		reachOf(outside, inside), travels, nil)

	if _, err := dir.MountBelow("here"); err != nil {
		return err
	}
	// The slave-only source is the head of no group: what is mounted in place
	// goes nowhere.
	sees, err := c.Sees("here")
	check("a mount made in the runtime's namespace is seen", sees, travels >= Down && r.Source == Shared, err)
	if dir.Master != "" {
		if _, err := dir.MountAtMaster("above"); err != nil {
			return err
		}
		sees, err := c.Sees("above")
		check("a mount made at the master is seen", sees, travels >= Down, err)
	}
	if r.Privileged {
		if err := c.Mount("/data/inside"); err != nil {
			return err
		}
		on, err := harness.Mounted(filepath.Join(dir.Path, "inside"))
		check("a mount made in the container is on the host", on, travels == Both, err)
		errs = append(errs, c.Unmount("/data/inside"))
	}
	return errors.Join(errs...)
}

// reachOf reads what travels off peer groups, not off words.
func reachOf(host, container *harness.Mount) Reach {
	switch {
	case container.Shared != 0 && container.Shared == host.Shared:
		return Both
	case container.Master != 0 && (container.Master == host.Shared || container.Master == host.Master):
		return Down
	default:
		return Nothing
	}
}
