package target

import (
	"errors"

	"github.com/mountward/mountward/pkg/device"
	"github.com/mountward/mountward/pkg/facts"
)

// The kinds of targets.
const (
	KindLV        = "lv"
	KindDevice    = "device"    // a block device, by its node, name or number
	KindAnonymous = "anonymous" // a superblock without a device, by its number
	KindPath      = "path"
	KindContainer = "container"
	KindPod       = "pod"
	KindNamespace = "namespace" // by its file
)

// ErrNone matches the error of Resolve where the node is known to have nothing
// of that name.
var ErrNone = errors.New("no such target")

// Superblock is one file system, or the part of it that is meant.
type Superblock struct {
	Device  facts.DeviceNumber `json:"device"`              // as in mountinfo, not st_dev
	FSType  string             `json:"fs_type,omitempty"`   // "" where it is not known
	Root    string             `json:"root,omitempty"`      // the path in it that is meant; "/" or "" for all
	Name    string             `json:"name,omitempty"`      // of the device, by the kernel: "dm-3"
	LV      string             `json:"lv,omitempty"`        // VG/LV
	BtrfsID string             `json:"btrfs_id,omitempty"`  // as in /sys/fs/btrfs
	Mounted string             `json:"mounted,omitempty"`   // where the path that was asked about is mounted
	Below   bool               `json:"below,omitzero"`      // the host has it mounted below the path that was asked about
	Foreign bool               `json:"stacked_on,omitzero"` // it is on a device that is stacked on the asked one
}

// Whole reports whether all of the superblock is meant.
func (s Superblock) Whole() bool { return s.Root == "" || s.Root == "/" }

// Shows reports whether a mount of the superblock from this root, or a file with
// this path in it, shows any of what is meant: a part of it, or a directory that
// it is in. A root of "//deleted" is what the kernel makes of a removed one.
func (s Superblock) Shows(identity facts.Identity) bool {
	if s.Device != identity.Device {
		return false
	}
	return s.Whole() || facts.Within(identity.Root, s.Root) || facts.Within(s.Root, identity.Root)
}

// Holds is Shows without the directories above: whether this is what is meant or
// a part of it.
func (s Superblock) Holds(identity facts.Identity) bool {
	return s.Device == identity.Device && (s.Whole() || facts.Within(identity.Root, s.Root))
}

// Target is what is meant by a name.
type Target struct {
	Name string `json:"name"` // as it is to be shown: "vg0/pvc-1", "prod/web-0"
	Kind string `json:"kind"`
	// Block is the block device that was asked about, zero for none.
	Block facts.DeviceNumber `json:"block,omitzero"`
	// Blocks are the block devices that are meant: Block, and what is stacked
	// on it, ascending; or those of a pod's raw volumes.
	Blocks []facts.DeviceNumber `json:"blocks,omitempty"`
	// Superblocks are the file systems that are meant. One of a block device is
	// listed whether or not it has one.
	Superblocks []Superblock  `json:"superblocks,omitempty"`
	Path        string        `json:"path,omitempty"`      // canonical
	NS          string        `json:"namespace,omitempty"` // "net:[4026532177]"
	Chain       *device.Chain `json:"chain,omitempty"`     // below Block or the path's file system
	Notes       []string      `json:"notes,omitempty"`     // what else the name could mean
	Why         string        `json:"why,omitempty"`       // what could not be told
}
