package hostview

import (
	"errors"
	"fmt"
	"io"
	"strconv"

	"github.com/moby/sys/mountinfo"

	"github.com/mountward/mountward/pkg/facts"
	"github.com/mountward/mountward/pkg/internal/linux"
)

// sameNamespace compares the namespace links and, where the process's cannot
// be read without ptrace rights, the first mount at "/" of both tables: a mount
// id is used once in the whole kernel, so one mount in both tables is proof.
// Another mount at "/" is another root, in whatever namespace.
func sameNamespace(proc string, pid int) facts.Answer {
	ours, err := linux.MountNamespace(proc, "self")
	theirs, err2 := linux.MountNamespace(proc, strconv.Itoa(pid))
	if err == nil && err2 == nil {
		return facts.Is(ours == theirs, fmt.Sprintf("mnt:[%d] of process %d, ours is mnt:[%d]", theirs, pid, ours))
	}
	why := errors.Join(err, err2)
	a, err := firstRoot(proc + "/self/mountinfo")
	b, err2 := firstRoot(fmt.Sprintf("%s/%d/mountinfo", proc, pid))
	if err != nil || err2 != nil {
		return facts.CannotTell(errors.Join(why, err, err2).Error())
	}
	return facts.Is(a.ID == b.ID && a.Root == b.Root,
		fmt.Sprintf("mount %d is the root of process %d, ours is mount %d", b.ID, pid, a.ID))
}

// firstRoot reads a table up to its first mount at "/".
func firstRoot(path string) (*mountinfo.Info, error) {
	root, err := firstMount(path, func(info *mountinfo.Info) bool { return info.Mountpoint == "/" })
	if errors.Is(err, errNoMount) {
		err = fmt.Errorf("%s: no mount at /", path)
	}
	return root, err
}

var errNoMount = errors.New("no such mount in it")

// firstMount reads a table up to the first mount that is wanted.
func firstMount(path string, wanted func(*mountinfo.Info) bool) (*mountinfo.Info, error) {
	table, err := linux.OpenMountinfo(path)
	if err != nil {
		return nil, err
	}
	defer table.Close()
	r, err := table.Rewind()
	if err != nil {
		return nil, err
	}
	return firstOf(path, r, wanted)
}

func firstOf(path string, r io.Reader, wanted func(*mountinfo.Info) bool) (*mountinfo.Info, error) {
	found, err := mountinfo.GetMountsFromReader(newLongLines(r), func(info *mountinfo.Info) (skip, stop bool) {
		here := wanted(info)
		return !here, here
	})
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	if len(found) == 0 {
		return nil, fmt.Errorf("%s: %w", path, errNoMount)
	}
	return found[0], nil
}
