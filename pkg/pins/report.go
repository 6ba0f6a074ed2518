package pins

import (
	"slices"
	"time"

	"github.com/mountward/mountward/pkg/facts"
	"github.com/mountward/mountward/pkg/namespaces"
	"github.com/mountward/mountward/pkg/target"
)

// Kind is how something is held.
type Kind string

// The kinds of holders.
const (
	KindMount         Kind = "mount"          // it is mounted
	KindOverlay       Kind = "overlay-layer"  // a directory of it is a layer of an overlay
	KindImage         Kind = "image-file"     // a file of it is mounted without a loop device
	KindOpenFile      Kind = "open-file"      // a descriptor
	KindCwd           Kind = "cwd"            // a working directory
	KindRoot          Kind = "root"           // the root of a process
	KindExe           Kind = "exe"            // the program of a process
	KindMapped        Kind = "mapped-file"    // mapped into the memory of a process
	KindOpenDevice    Kind = "open-device"    // a descriptor of the block device
	KindLoop          Kind = "loop"           // a loop device over the device, or a file on it
	KindDM            Kind = "dm-holder"      // a device of the device mapper over it
	KindMD            Kind = "md-holder"      // an array that has it
	KindBcache        Kind = "bcache"         // a bcache device over it
	KindOtherDevice   Kind = "device-holder"  // another device that sysfs lists as its holder
	KindSwap          Kind = "swap"           // a swap area
	KindExport        Kind = "nfs-export"     // exported by the kernel's NFS server
	KindExportedBlock Kind = "block-export"   // exported by the kernel as a SCSI or NVMe target
	KindNamespaceFile Kind = "namespace-file" // a bind mount or descriptor of a namespace's file
	KindNamespaceUser Kind = "netns-process"  // a process in the namespace that was asked about
)

// Where a holder is.
const (
	WhereHost      = "host"
	WhereContainer = "container"
	WhereOther     = "other" // in a mount namespace that is neither
	WhereKernel    = "kernel"
)

// The uses that mounts are of.
const (
	UseOwn      = "own"      // a live pod's own volume: its user, and no culprit
	UseHost     = "host"     // the host's own mount
	UseLeftover = "leftover" // at the host's path of a pod that is not there
	UseUnclear  = "unclear"  // at the host's path of a pod of which it cannot be told whether it is there
	UseCopy     = "copy"     // came along with another mount, or was asked for by path
)

// Report is what was found about one target.
type Report struct {
	Target target.Target `json:"target"`
	// Alive answers whether a superblock of the target exists in the kernel.
	Alive facts.Answer `json:"alive"`
	// Open is the number of times that the device mapper's device is open, nil
	// where that is not known.
	Open    *OpenCount `json:"open,omitempty"`
	Holders []Holder   `json:"holders"`
	// Omitted counts the holders that are not listed.
	Omitted int `json:"omitted,omitempty"`
	// Searched says what was looked at.
	Searched []string `json:"searched"`
	// Suspects are what can still hold it and was not excluded; told where
	// nothing was found, or less than there must be.
	Suspects []string             `json:"suspects,omitempty"`
	Notes    []string             `json:"notes,omitempty"`
	Unknown  []namespaces.Unknown `json:"unknown"`
	doubts   int                  // of Suspects, what can hold it by what was seen
}

// OpenCount is how often a device is open, and how much of that is explained.
type OpenCount struct {
	Count     int    `json:"count"`
	Explained int    `json:"explained"`
	Show      string `json:"show"`
}

// Holder is one thing that holds a target.
type Holder struct {
	Kind  Kind   `json:"kind"`
	Where string `json:"where"`
	Use   string `json:"use,omitempty"` // of mounts
	// User says that it is what the volume is for: a live pod's own.
	User bool `json:"user"`

	Namespace uint64            `json:"namespace,omitempty"` // inode of the mount namespace
	Held      []namespaces.Hold `json:"held_by,omitempty"`   // of a namespace without a process

	Mounts        []Mount `json:"mounts,omitempty"`
	MountsOmitted int     `json:"mounts_omitted,omitempty"`
	Files         []File  `json:"files,omitempty"`
	FilesOmitted  int     `json:"files_omitted,omitempty"`
	Device        string  `json:"device,omitempty"` // "loop3", "dm-4 (vg0/x)"
	Path          string  `json:"path,omitempty"`   // of a swap area, an export

	Processes        []Process `json:"processes,omitempty"`
	ProcessesOmitted int       `json:"processes_omitted,omitempty"`
	Owner            Owner     `json:"owner,omitzero"`

	Why      string     `json:"why"`
	Evidence []Evidence `json:"evidence"`
	Cures    []Cure     `json:"cures,omitempty"` // from gentle to rough

	transient bool // it may be over at once
	starting  bool // runc has it, which makes a container
	namespace *namespaces.Namespace
	on        facts.DeviceNumber // the block device that is open by it, zero for none
	opens     int                // how often, where more than once without a descriptor
}

// Mount is one mount that holds a target.
type Mount struct {
	ID         int                `json:"id"`
	Device     facts.DeviceNumber `json:"device"`
	Root       string             `json:"root"`
	MountPoint string             `json:"mount_point"` // as the namespace sees it
	State      facts.MountState   `json:"state"`
	// Propagation is the state in words: "private copy".
	Propagation string `json:"propagation"`
	// HostMount is the id of the host's mount whose unmount takes this one along,
	// 0 for none: then it stays. The propagation of the mount that it is mounted
	// on decides that, not its own.
	HostMount int `json:"host_mount,omitempty"`
	// Covered is the mount that its path leads to instead, "" for none.
	Covered string `json:"covered,omitempty"`
	// HostPath is the directory of the host that it lies on, "" where that is
	// not known.
	HostPath string `json:"host_path,omitempty"`
	PodUID   string `json:"pod_uid,omitempty"`  // whose directory of the kubelet that is
	PodGone  bool   `json:"pod_gone,omitempty"` // it has no container on the node
	Line     string `json:"line"`
	over     []int  // ids of the mounts that lie on it, one upon the other
	peer     bool   // an unmount of it takes the host's along as well
}

// File is one file that a process holds.
type File struct {
	Kind Kind   `json:"kind"`
	Link string `json:"link"` // of procfs, below /proc/PID: "fd/7", "cwd"
	Path string `json:"path"` // as the kernel tells it
	// Detached says that its mount is in no table: it was lazily unmounted.
	Detached bool `json:"detached,omitempty"`
	MountID  int  `json:"mount_id,omitempty"`
	own      bool
	slave    bool // on a copy that follows the host
}

// Process is one process of a holder.
type Process struct {
	PID     int       `json:"pid"`
	Comm    string    `json:"comm,omitempty"`
	Started time.Time `json:"started,omitzero"`
	UID     *uint32   `json:"uid,omitempty"` // effective; nil: not known
	User    uint64    `json:"user_namespace,omitempty"`
}

// Owner is whose a holder is.
type Owner struct {
	ContainerID string `json:"container_id,omitempty"`
	Container   string `json:"container,omitempty"`
	Namespace   string `json:"namespace,omitempty"` // of the pod
	Pod         string `json:"pod,omitempty"`
	PodUID      string `json:"pod_uid,omitempty"`
	Unit        string `json:"unit,omitempty"`
	sandbox     bool
}

// Evidence is what the kernel says, and how to see it.
type Evidence struct {
	Text string `json:"text"`
	Show string `json:"show,omitempty"`
}

// Cure is one way to make a holder let go.
type Cure struct {
	What     string   `json:"what"`
	Commands []string `json:"commands,omitempty"`
	Cost     string   `json:"cost"`
}

// Pinned answers whether the file system is held though nobody uses it: neither
// a live pod nor the host has it mounted for itself. A device that is used
// without a file system, such as a swap area, another layer of devices or a
// virtual machine's disk, is not pinned. It cannot be told of what is in the
// directory of a pod that may be there, and of what must be held and nothing was
// found.
func (r *Report) Pinned() facts.Truth {
	answer := facts.No
	if len(r.Holders) == 0 && !r.free() && (r.missing() || r.doubts > 0) {
		return facts.Unknown
	}
	for _, h := range r.Holders {
		switch {
		case h.User, h.Use == UseHost:
			return facts.No
		case h.Use == UseUnclear:
			answer = facts.Unknown
		case h.Kind == KindMount, h.Kind == KindOverlay, h.Kind == KindImage, h.Kind == KindLoop, ofFile(h.Kind):
			if answer == facts.No {
				answer = facts.Yes
			}
		}
	}
	return answer
}

// Answer is yes where something holds the target, no where nothing does, and
// unknown where not all could be read, where it is not known whether the file
// system is alive, and where it must be held and nothing was found.
func (r *Report) Answer() facts.Truth {
	switch {
	case len(r.Holders) > 0:
		return facts.Yes
	case r.free():
		return facts.No
	case len(r.Unknown) > 0, r.missing(), r.doubts > 0, r.Alive.Truth == facts.Unknown:
		return facts.Unknown
	default:
		return facts.No
	}
}

// free reports a device that is known not to be open: whatever holds a file
// system, that has its device open.
func (r *Report) free() bool { return r.Open != nil && r.Open.Count == 0 }

// missing reports that something must hold the target which was not found.
func (r *Report) missing() bool {
	if r.Open != nil && r.Open.Count > r.Open.Explained {
		return true
	}
	return len(r.Holders) == 0 && r.Alive.Truth == facts.Yes && slices.ContainsFunc(r.Target.Superblocks, target.Superblock.Whole)
}
