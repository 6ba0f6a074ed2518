//go:build linux

package harness

import (
	"crypto/rand"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"golang.org/x/sys/unix"
)

const cgroupPrefix = "mountward-test-"

// cgroup is the parent of all pods of a run, a directory at the top of every
// hierarchy. The outside holds a lock on each: a directory that is not locked
// is left over from a run that was killed.
type cgroup struct {
	name  string
	locks []*os.File
}

// newCgroup makes the cgroup of a run and removes those that are left over.
func newCgroup() (*cgroup, error) {
	tops, err := cgroupHierarchies()
	if err != nil {
		return nil, err
	}
	g := &cgroup{name: cgroupPrefix + strings.ToLower(rand.Text()[:8])}
	for _, top := range tops {
		sweepErr := sweep(top)
		f, err := makeLocked(filepath.Join(top, g.name))
		if err := errors.Join(sweepErr, err); err != nil {
			return nil, errors.Join(err, g.remove())
		}
		g.locks = append(g.locks, f)
	}
	return g, nil
}

// remove removes what is in the cgroup and the cgroup itself. All its processes
// have ended.
func (g *cgroup) remove() error {
	var errs []error
	for _, f := range g.locks {
		errs = append(errs, removeCgroups(f.Name()))
		f.Close()
	}
	return errors.Join(errs...)
}

// cgroupHierarchies lists one mount point for every cgroup hierarchy, of v1 and
// of v2.
func cgroupHierarchies() ([]string, error) {
	mounts, err := Mountinfo(0)
	if err != nil {
		return nil, err
	}
	seen := make(map[string]bool)
	var tops []string
	for _, m := range mounts {
		if (m.FSType == "cgroup" || m.FSType == "cgroup2") && !seen[m.Device] {
			seen[m.Device] = true
			tops = append(tops, m.Point)
		}
	}
	return tops, nil
}

// sweep removes the cgroups of runs that have no outside any more.
func sweep(top string) error {
	dirs, err := filepath.Glob(filepath.Join(top, cgroupPrefix+"*"))
	if err != nil {
		return fmt.Errorf("list cgroups: %w", err)
	}
	var errs []error
	for _, dir := range dirs {
		f, err := os.Open(dir)
		if err != nil {
			continue // another run has just removed it
		}
		if unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB) == nil {
			errs = append(errs, removeCgroups(dir))
		}
		f.Close()
	}
	return errors.Join(errs...)
}

// makeLocked makes a cgroup and locks it. Between the two another run's sweep
// may remove it: it is made again.
func makeLocked(dir string) (*os.File, error) {
	for {
		if err := os.Mkdir(dir, 0o755); err != nil && !errors.Is(err, fs.ErrExist) {
			return nil, fmt.Errorf("make cgroup: %w", err)
		}
		f, err := os.Open(dir)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return nil, fmt.Errorf("open cgroup: %w", err)
		}
		if err := unix.Flock(int(f.Fd()), unix.LOCK_EX); err != nil {
			f.Close()
			return nil, fmt.Errorf("lock cgroup %s: %w", dir, err)
		}
		if _, err := os.Stat(dir); err == nil {
			return f, nil
		}
		f.Close()
	}
}

// removeCgroups removes a tree of cgroups from its leaves up. A cgroup whose
// last process has just ended is busy for a moment.
func removeCgroups(dir string) error {
	var dirs []string
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if errors.Is(err, fs.ErrNotExist) {
			return nil
		}
		if err == nil && d.IsDir() {
			dirs = append(dirs, path)
		}
		return err
	})
	if err != nil {
		return fmt.Errorf("list cgroup: %w", err)
	}
	for i := len(dirs) - 1; i >= 0; i-- {
		if err := removeCgroup(dirs[i]); err != nil {
			return err
		}
	}
	return nil
}

func removeCgroup(dir string) error {
	const tries, pause = 6000, 10 * time.Millisecond
	var err error
	for range tries {
		err = unix.Rmdir(dir)
		if err == nil || errors.Is(err, fs.ErrNotExist) {
			return nil
		}
		if !errors.Is(err, unix.EBUSY) {
			break
		}
		time.Sleep(pause)
	}
	return fmt.Errorf("remove cgroup %s: %w", dir, err)
}
