package device

import (
	"slices"

	"github.com/mountward/mountward/pkg/facts"
)

// Kind is what a device of a chain is.
type Kind string

// The kinds of devices. The empty one is a device that could not be read.
const (
	LV        Kind = "lv"        // a logical volume
	LVLayer   Kind = "lv-layer"  // a hidden part of one: _tdata, -real, ...
	Crypt     Kind = "crypt"     // dm-crypt, as cryptsetup makes it
	Multipath Kind = "multipath" // several paths to one disk
	Partition Kind = "partition" // of the kernel, or of kpartx
	Loop      Kind = "loop"      // over a file or a block device
	MD        Kind = "md"        // Linux software RAID
	Bcache    Kind = "bcache"
	DM        Kind = "dm"   // any other device-mapper device
	Disk      Kind = "disk" // any other block device
)

// Layer is one device of a chain.
type Layer struct {
	Number facts.DeviceNumber `json:"device"`
	Name   string             `json:"name,omitempty"` // of the kernel: "dm-3"
	Kind   Kind               `json:"kind,omitempty"`
	DMName string             `json:"dm_name,omitempty"` // as the kernel has it, mangled
	DMUUID string             `json:"dm_uuid,omitempty"`
	// LV is the logical volume that a device of kind LV is. For LVLayer it is
	// the one that the part belongs to or, where LVM names the part as a volume
	// of its own, that hidden volume: vg0/pool for the pool's "tpool", and
	// vg0/pool_tdata for its "tdata".
	LV   *LogicalVolume `json:"lv,omitempty"`
	Part string         `json:"part,omitempty"` // of an LVLayer: "tpool", "real", "rimage"
	// Lower are the devices directly below, ascending. They are layers of the
	// same chain, but for those that Unknown says were not followed.
	Lower []facts.DeviceNumber `json:"lower,omitempty"`
	// File is of a loop device: the anonymous number, st_dev, of the file system
	// that its file is on, which tells no device. It is zero for any other.
	File    facts.DeviceNumber `json:"-"`
	Note    string             `json:"note,omitempty"`    // a label for people
	Unknown string             `json:"unknown,omitempty"` // why what is here or below cannot be told
}

// Label is the name to show a person: the device mapper's, not mangled any
// more, else the kernel's. It can hold any byte. It is not to be split or
// compared.
func (l Layer) Label() string {
	if l.DMName != "" {
		return Unmangle(l.DMName)
	}
	return l.Name
}

// readable reports whether anything is known of the device but its number.
func (l Layer) readable() bool { return l.Kind != "" }

// pool reports the part of a thin or VDO pool on which its volumes are.
func (l Layer) pool() bool {
	return l.Kind == LVLayer && (l.Part == "tpool" || l.Part == "pool" || l.Part == "vpool")
}

// clone returns a copy that shares nothing with l.
func (l Layer) clone() Layer {
	l.Lower = slices.Clone(l.Lower)
	if l.LV != nil {
		lv := *l.LV
		l.LV = &lv
	}
	return l
}
