package exposure

import (
	"github.com/mountward/mountward/pkg/facts"
	"github.com/mountward/mountward/pkg/hostview"
	"github.com/mountward/mountward/pkg/internal/linux"
)

// Stat is what is known of an open file without asking its file system.
type Stat struct {
	Device    facts.DeviceNumber // st_dev, which is not the superblock's on btrfs and overlay
	Block     facts.DeviceNumber // of a block device node, zero for any other file
	MountID   int                // as in mountinfo
	Directory bool
}

// stat looks at what a link of procfs leads to.
func (f *finder) stat(path string) (Stat, error) {
	if f.Stat != nil {
		return f.Stat(path)
	}
	st, err := linux.StatMagic(path)
	if err != nil {
		return Stat{}, err
	}
	s := Stat{Device: facts.DeviceNumber{Major: st.Major, Minor: st.Minor}, MountID: st.MountID, Directory: st.Directory}
	if st.Block {
		s.Block = facts.DeviceNumber{Major: st.BlockMajor, Minor: st.BlockMinor}
	}
	return s, nil
}

// couldBe reports whether a file can be on what is wanted: by its mount, or by
// its device where no table has the mount; or is a device that has it.
func (f *finder) couldBe(st Stat) bool {
	if _, ok := f.mounts[st.MountID]; ok {
		return true
	}
	for i := range f.wanted {
		if _, ok := f.wanted[i].devices[st.Block]; ok && !st.Block.IsZero() {
			return true
		}
		for _, what := range f.wanted[i].what {
			if what.Device == st.Device && !st.Device.IsZero() {
				return true
			}
		}
	}
	return false
}

// btrfsMagic is the type of a btrfs by statfs(2). Source: linux/magic.h.
const btrfsMagic = 0x9123683e

// noteBtrfs notes the mounts of any btrfs in a table.
func (f *finder) noteBtrfs(t *hostview.Table) {
	if f.btrfs == nil {
		return
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	for e := range t.All() {
		if e.FSType == "btrfs" {
			f.btrfs[e.ID] = btrfsMounted
		}
	}
}

// onBtrfs notes that a file is on a btrfs by a mount that no table has: its
// device is that of a subvolume, which does not tell the file system. Each mount
// is asked once, and only where a target is a btrfs.
func (f *finder) onBtrfs(file *openFile, link string) error {
	if f.btrfs == nil || file.Device.Major != 0 || !file.Block.IsZero() {
		return nil
	}
	f.mu.Lock()
	is, asked := f.btrfs[file.MountID]
	f.mu.Unlock()
	if !asked {
		fsType, err := fileSystemType(link)
		if err != nil {
			return err
		}
		is = btrfsDetached
		if fsType != btrfsMagic {
			is = btrfsNone
		}
		f.mu.Lock()
		f.btrfs[file.MountID] = is
		f.mu.Unlock()
	}
	file.btrfs = is == btrfsDetached
	return nil
}

// What a mount is, where a target is a btrfs.
const (
	btrfsMounted  = iota // a table has it, and it is a btrfs
	btrfsDetached        // no table has it, and it is one
	btrfsNone            // it is none
)

func fileSystemType(link string) (int64, error) {
	f, err := linux.OpenMagic(link)
	if err != nil {
		return 0, err
	}
	defer f.Close()
	s, err := linux.Fstatfs(f)
	return s.Type, err
}
