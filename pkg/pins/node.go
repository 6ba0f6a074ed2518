package pins

import (
	"context"
	"io/fs"
	"time"

	"github.com/mountward/mountward/pkg/facts"
	"github.com/mountward/mountward/pkg/hostview"
	"github.com/mountward/mountward/pkg/internal/linux"
	"github.com/mountward/mountward/pkg/namespaces"
	"github.com/mountward/mountward/pkg/target"
)

// Tables reads the mount table of a namespace; *namespaces.Census does.
type Tables interface {
	Table(ctx context.Context, n *namespaces.Namespace) (*hostview.Table, error)
}

// Host is what is asked of the host's files. Nothing in it hangs, and a path
// that leads nowhere is an error matching fs.ErrNotExist; *hostview.View is one.
type Host interface {
	Lookup(ctx context.Context, path string) (facts.HostMount, error)
	BlockNumber(ctx context.Context, path string) (facts.DeviceNumber, error)
	ReadFile(ctx context.Context, path string, most int) ([]byte, error)
	Handle(ctx context.Context, path string) (hostview.Handle, error)
	Stat(ctx context.Context, path string) (fs.FileInfo, error)
	Statfs(ctx context.Context, path string) (hostview.Statfs, error)
	Btrfs(ctx context.Context, path string) (hostview.Btrfs, error)
}

// Node is where holders are looked for.
type Node struct {
	Proc        string // where procfs is mounted; "/proc"
	Sys         string // and sysfs; "/sys"
	KubeletRoot string
	// Home is the inode of the mount namespace that counts as the host's: the
	// runtime's; 0 where it is not known.
	Home   uint64
	Census *namespaces.Census
	Tables Tables
	// Tasks are the containers of the node, and TasksWhy says why these may not
	// be all, "" where they are.
	Tasks    []namespaces.Task
	TasksWhy string
	Devices  target.Devices
	Host     Host
	// Self is our own process, whose files are of no interest; 0 for none.
	Self int
	// Stat looks at what a link of procfs leads to; nil: the kernel does.
	Stat func(path string) (Stat, error)
	// Opens tells how often a device of the device mapper is open; nil: not
	// known. See DeviceMapper.
	Opens func(facts.DeviceNumber) (int, error)
	// Inside opens the view of a process's mount namespace; nil: that of
	// pkg/hostview.
	Inside func(proc string, pid int) (Inside, error)
	// FSType looks at a block device, by its name, for the type of the file system
	// on it, "" for none that leaves a sign in sysfs; nil: not known. See Probe.
	FSType func(name string) (string, error)
	// Again is how long to wait before what only a starting container has is
	// looked at again; 0 is 200 ms.
	Again time.Duration
}

// Stat is what is known of a file without asking its file system.
type Stat struct {
	Device  facts.DeviceNumber // st_dev, which is not the superblock's on btrfs and overlay
	Block   facts.DeviceNumber // of a block device node, zero for any other file
	MountID int                // as in mountinfo
}

// statMagic is the kernel's answer, see [linux.StatMagic].
func statMagic(path string) (Stat, error) {
	st, err := linux.StatMagic(path)
	if err != nil {
		return Stat{}, err
	}
	s := Stat{Device: facts.DeviceNumber{Major: st.Major, Minor: st.Minor}, MountID: st.MountID}
	if st.Block {
		s.Block = facts.DeviceNumber{Major: st.BlockMajor, Minor: st.BlockMinor}
	}
	return s, nil
}

// DeviceMapper returns what asks the device mapper by its control node, which is
// in the directory dev, "/dev". It takes root.
func DeviceMapper(dev string) func(facts.DeviceNumber) (int, error) {
	return func(n facts.DeviceNumber) (int, error) { return linux.DMOpenCount(dev, n.Major, n.Minor) }
}
