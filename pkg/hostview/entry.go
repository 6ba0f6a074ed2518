package hostview

import "github.com/mountward/mountward/pkg/facts"

// Entry is one line of a mountinfo table; proc(5) describes the fields. Paths
// are the kernel's bytes, unescaped and not necessarily UTF-8.
type Entry struct {
	ID, Parent   int                // used again after an unmount
	Device       facts.DeviceNumber // of the superblock
	Root         string             // of the mount in its superblock; "//deleted" is appended when it is gone
	MountPoint   string             // relative to the root of the process
	FSType       string             // "fuse.s3fs": with the subtype
	Source       string             // a label; may be "none" or empty
	Options      string             // of this mount
	SuperOptions string             // of the superblock, as in mountinfo: octal escapes are kept; "" where they were not kept, see Table
	State        facts.MountState
}

// Identity returns the superblock and the path in it that the mount shows.
func (e Entry) Identity() facts.Identity { return facts.Identity{Device: e.Device, Root: e.Root} }

// HostMount returns what the entry says about the canonical path it covers.
func (e Entry) HostMount(canonical string) facts.HostMount {
	return facts.HostMount{
		Canonical:  canonical,
		MountPoint: e.MountPoint,
		MountID:    uint64(e.ID),
		Device:     e.Device,
		Root:       e.Root,
		FSType:     e.FSType,
		Source:     e.Source,
		State:      e.State,
		Rung:       RungMountinfo,
	}
}
