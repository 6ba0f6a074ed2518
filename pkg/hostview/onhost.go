package hostview

import (
	"errors"
	"fmt"
	"os"
	"slices"
	"strconv"

	"github.com/moby/sys/mountinfo"

	"github.com/mountward/mountward/pkg/facts"
)

// OnHost answers whether a process has the root of process 1: the same
// superblock and path in it, in whatever mount namespace. Anybody can name a
// process in a container like one of the host's.
func OnHost(proc string, pid int) facts.Answer {
	one, err := rootIn(proc, 1)
	its, err2 := rootIn(proc, pid)
	if err := errors.Join(err, err2); err != nil {
		return facts.CannotTell(err.Error())
	}
	return facts.Is(identity(one) == identity(its), fmt.Sprintf("its root is %s %s, that of process 1 is %s %s",
		identity(its).Device, its.Root, identity(one).Device, one.Root))
}

func rootIn(proc string, pid int) (*mountinfo.Info, error) {
	return firstRoot(fmt.Sprintf("%s/%d/mountinfo", proc, pid))
}

func identity(info *mountinfo.Info) facts.Identity {
	return facts.Identity{Device: facts.DeviceNumber{Major: uint32(info.Major), Minor: uint32(info.Minor)}, Root: info.Root}
}

// Processes returns the numbers of all processes, ascending.
func Processes(proc string) ([]int, error) {
	entries, err := os.ReadDir(proc)
	var pids []int
	for _, e := range entries {
		if pid, err := strconv.Atoi(e.Name()); err == nil {
			pids = append(pids, pid)
		}
	}
	slices.Sort(pids)
	return pids, err
}
