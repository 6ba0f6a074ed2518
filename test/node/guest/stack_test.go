//go:build linux

package guest

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// stack builds storage, one thing on another, that is taken down with the test
// from the top to the bottom, also where the test or the building fails.
type stack struct {
	*testing.T
	// labels are the test's own names of devices, by the kernel's: which loop
	// device is free differs from run to run.
	labels map[string]string
	since  time.Time // records from before are of other tests
}

func newStack(t *testing.T) *stack {
	return &stack{T: t, labels: make(map[string]string), since: time.Now()}
}

// on is a stack for a test on what another test has built.
func (s *stack) on(t *testing.T) *stack { return &stack{T: t, labels: s.labels, since: time.Now()} }

// recent has journalctl show what was recorded since the test began, to the
// microsecond: the test before may have ended in the same second.
func (s *stack) recent() string {
	return fmt.Sprintf("--since=@%d.%06d", s.since.Unix(), s.since.Nanosecond()/1000)
}

// do runs a program of the building.
func (s *stack) do(name string, args ...string) string {
	s.Helper()
	return strings.TrimSpace(output(s.T, name, args...))
}

// undo runs a program when what is above is gone.
func (s *stack) undo(name string, args ...string) {
	s.Helper()
	cleanup(s.T, name, args...)
}

// dir makes a directory on the root file system. The ones for temporary files
// are in memory on some nodes.
func (s *stack) dir() string {
	s.Helper()
	dir, err := os.MkdirTemp("/var/tmp", "node-")
	if err != nil {
		s.Fatal(err)
	}
	s.Cleanup(func() {
		if err := os.RemoveAll(dir); err != nil {
			s.Error(err)
		}
	})
	return dir
}

// file makes an empty file that takes no room.
func (s *stack) file(dir string, mebibytes int64) string {
	s.Helper()
	f, err := os.CreateTemp(dir, "img-")
	if err != nil {
		s.Fatal(err)
	}
	if err := errors.Join(f.Truncate(mebibytes<<20), f.Close()); err != nil {
		s.Fatal(err)
	}
	return f.Name()
}

// loop makes a loop device over a new file, or over what is given.
func (s *stack) loop(label string, mebibytes int64, over ...string) string {
	s.Helper()
	if len(over) == 0 {
		over = []string{s.file(s.dir(), mebibytes)}
	}
	dev := s.do("losetup", append([]string{"--find", "--show"}, over...)...)
	s.undo("losetup", "--detach", dev)
	s.labels[filepath.Base(dev)] = label
	return dev
}

// vg makes a volume group. What is in it is removed with it.
func (s *stack) vg(name string, devices ...string) {
	s.Helper()
	s.do("pvcreate", append([]string{"--quiet"}, devices...)...)
	s.do("vgcreate", append([]string{"--quiet", name}, devices...)...)
	s.undo("vgremove", "--quiet", "--force", "--yes", name)
}

// lv makes a logical volume, "VG/LV", and returns its device.
func (s *stack) lv(name string, args ...string) string {
	s.Helper()
	vg, lv, _ := strings.Cut(name, "/")
	s.do("lvcreate", append([]string{"--quiet", "--yes", "--name", lv, vg}, args...)...)
	s.undo("lvremove", "--quiet", "--force", "--yes", name)
	return "/dev/" + name
}

// mkfs makes a file system.
func (s *stack) mkfs(fsType, device string) {
	s.Helper()
	force := map[string]string{"ext4": "-F", "xfs": "-f", "btrfs": "-f"}[fsType]
	s.do("mkfs."+fsType, "-q", force, device)
}

// mount mounts a device on a new directory.
func (s *stack) mount(fsType, device, options string) string {
	s.Helper()
	dir := filepath.Join(s.TempDir(), "mnt")
	s.mountAt(dir, fsType, device, options)
	return dir
}

func (s *stack) mountAt(dir, fsType, device, options string) {
	s.Helper()
	if err := os.MkdirAll(dir, 0o750); err != nil {
		s.Fatal(err)
	}
	args := []string{"--types", fsType, device, dir}
	if options != "" {
		args = append([]string{"--options", options}, args...)
	}
	s.do("mount", args...)
	s.unmountLater(dir)
}

// bind mounts a directory or a file at another place, which is made.
func (s *stack) bind(from, to string) {
	s.Helper()
	if err := unix.Mount(from, to, "", unix.MS_BIND, ""); err != nil {
		s.Fatalf("bind %s at %s: %v", from, to, err)
	}
	s.unmountLater(to)
}

func (s *stack) unmountLater(dir string) {
	s.Helper()
	unmountLater(s.T, dir)
}

// filled makes a file system on a device and mounts it.
func (s *stack) filled(fsType, device string) string {
	s.Helper()
	s.mkfs(fsType, device)
	return s.mount(fsType, device, "")
}

// number is MAJ:MIN of a device node.
func number(t *testing.T, device string) string {
	t.Helper()
	var st unix.Stat_t
	if err := unix.Stat(device, &st); err != nil || st.Mode&unix.S_IFMT != unix.S_IFBLK {
		t.Fatalf("%s is no block device: %v", device, err)
	}
	return fmt.Sprintf("%d:%d", unix.Major(st.Rdev), unix.Minor(st.Rdev))
}

// write writes a word into a file of the kernel.
func (s *stack) write(path, word string) {
	s.Helper()
	if err := os.WriteFile(path, []byte(word), 0o600); err != nil {
		s.Fatal(err)
	}
}

// gone waits until nothing matches a pattern.
func (s *stack) gone(pattern string) {
	s.Helper()
	await(s.T, "the end of "+pattern, func() (any, error) {
		found, err := filepath.Glob(pattern)
		if err == nil && len(found) > 0 {
			err = errNotYet
		}
		return nil, err
	})
}
