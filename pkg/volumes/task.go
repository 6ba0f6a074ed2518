package volumes

import (
	"github.com/mountward/mountward/pkg/device"
	"github.com/mountward/mountward/pkg/facts"
)

// Task is the map of one container.
type Task struct {
	PID    int     `json:"pid,omitempty"`
	Rootfs Rootfs  `json:"rootfs"`
	Mounts []Mount `json:"mounts,omitempty"`
	// Raw are the block devices of the container: raw block volumes, and what
	// else its specification lists, up to a limit.
	Raw []Raw `json:"raw,omitempty"`
	// RawOmitted counts the block devices that are not listed: a privileged
	// container has all of the node.
	RawOmitted int `json:"raw_omitted,omitempty"`
	// RawWhy says why it cannot be told which of them are volumes.
	RawWhy string `json:"raw_why,omitempty"`
	// Storage has each superblock and raw device that anything above is on,
	// once, in the order of their first use.
	Storage []Storage `json:"storage,omitempty"`

	// What follows is not told but looked through. RawAll are all block devices
	// of which Raw lists some, Own the mounts that lie on no asked one, and Rest
	// the storage of what is not listed.
	RawAll []Raw      `json:"-"`
	Own    []Submount `json:"-"`
	Rest   []Storage  `json:"-"`
}

// Storage is what one file system or raw device is stored on, down to the
// disks.
type Storage struct {
	Device facts.DeviceNumber `json:"device"` // of the superblock, or of the raw device
	FSType string             `json:"fs_type,omitempty"`
	device.Chain
	NoLV string `json:"no_lv,omitempty"` // as in Backing
}

// Rootfs is where a task's root filesystem lives.
type Rootfs struct {
	Path   string `json:"path,omitempty"` // on the host: <bundle>/rootfs
	FSType string `json:"fs_type,omitempty"`
	// ReadOnly says that the task cannot write to it.
	ReadOnly bool `json:"read_only,omitempty"`
	// Superblock is that of an overlay; zero for others: theirs is Device.
	Superblock facts.DeviceNumber `json:"superblock,omitzero"`
	// Root is the path in Device of the upper directory or, without an overlay,
	// of the mount; "" where Device is not known.
	Root string `json:"root,omitempty"`
	// Upper is the overlay's upper directory on the host: what the task writes
	// goes there. Backing is that of the upper directory, where it is verified.
	Upper string `json:"upperdir,omitempty"`
	Work  string `json:"workdir,omitempty"`
	// Lower are the read-only layers, the topmost first.
	Lower []Lower `json:"lowerdirs,omitempty"`
	// Verified answers whether the directory that Upper names now is the
	// overlay's, on file systems of this node only: by file handles (Linux
	// 6.6), else by statfs(2), and by the age of its mount where the kernel
	// tells that (Linux 6.8). An LV is told only where it is a yes.
	Verified facts.Answer `json:"verified,omitzero"`
	Backing
}

// Lower is one read-only layer of an overlay. Its LV is in Task.Storage.
type Lower struct {
	Path   string             `json:"path"`
	Device facts.DeviceNumber `json:"device,omitzero"` // zero where it could not be told
	Why    string             `json:"why,omitempty"`   // then this says why
}

// Mount is one mount of a task. Seen and Host are nil where they could not be
// read: a zero state would say "private".
type Mount struct {
	Destination string `json:"destination"`
	// At is where it is in the container, if that is not the destination: by a
	// link of the image, or since somebody in it moved it.
	At      string `json:"at,omitempty"`
	Source  string `json:"source,omitempty"`
	Root    string `json:"root,omitempty"` // of the mount inside the superblock, as in mountinfo
	Kind    string `json:"kind,omitempty"` // csi, empty-dir, secret, host-path, runtime, image, ...
	Volume  string `json:"volume,omitempty"`
	PodUID  string `json:"pod_uid,omitempty"` // whose directory of the kubelet the source is in
	SubPath bool   `json:"sub_path,omitempty"`
	// Driver and Handle are what the kubelet wrote down of a CSI volume
	// (vol_data.json): a hint. HintWhy says why there is none.
	Driver  string `json:"csi_driver,omitempty"`
	Handle  string `json:"csi_handle,omitempty"`
	HintWhy string `json:"csi_why,omitempty"`
	// Lifecycle is "Persistent" or "Ephemeral", with Driver.
	Lifecycle string `json:"csi_lifecycle,omitempty"`

	FSType string `json:"fs_type,omitempty"`
	// ReadOnly says that the task cannot write to it. What is mounted below
	// can be writable all the same.
	ReadOnly bool `json:"read_only,omitempty"`
	// Superblock is that of an overlay, and Upper its upper directory, of which
	// Backing is; zero for others: their superblock is Device.
	Superblock facts.DeviceNumber `json:"superblock,omitzero"`
	Upper      string             `json:"upperdir,omitempty"`
	// MountPoint is where the host has the mount that the source leads to, and
	// Host its state: neither is told where that is of another superblock by now.
	MountPoint string `json:"host_mount_point,omitempty"`

	Asked   facts.Propagation `json:"asked"`
	Decided facts.Propagation `json:"decided"`
	Seen    *facts.MountState `json:"seen,omitempty"` // in the container
	Host    *facts.MountState `json:"host,omitempty"` // of the source's mount
	Why     string            `json:"why,omitempty"`  // what could not be told

	// Submounts came along with the mount, or arrived in it since.
	Submounts *Submounts `json:"submounts,omitempty"`
	// OpenEnded says that what the host mounts below the source later arrives
	// in the container as well.
	OpenEnded bool `json:"open_ended,omitempty"`
	// Views are the other places of the host where the same superblock is
	// mounted. ViewsWhy says why they are not known, or not all listed.
	Views    []View `json:"views,omitempty"`
	ViewsWhy string `json:"views_why,omitempty"`
	Backing
}

// Submounts are the mounts that lie on an asked mount in the container.
type Submounts struct {
	Count int        `json:"count"`
	First []Submount `json:"first,omitempty"` // in the order of the table, up to a limit
	LVs   []string   `json:"lvs,omitempty"`   // of all of them, sorted, up to a limit
	// LVsOmitted counts the logical volumes that are not listed, and Why says
	// of how many mounts it cannot be told.
	LVsOmitted int    `json:"lvs_omitted,omitempty"`
	Why        string `json:"why,omitempty"`
	// All are all of them; their storage is in Task.Storage and Task.Rest.
	All []Submount `json:"-"`
}

// Submount is one mount below an asked one.
type Submount struct {
	Destination string `json:"destination"`
	FSType      string `json:"fs_type,omitempty"`
	// ReadOnly says that the task cannot write to it.
	ReadOnly bool             `json:"read_only,omitempty"`
	Seen     facts.MountState `json:"seen,omitzero"`
	// Mounted is the superblock and the path in it that the container has
	// there: of an overlay, Device is what is below.
	Mounted facts.Identity `json:"-"`
	Backing
}

// The roles of a view.
const (
	ViewStaging = "staging" // the kubelet's globalmount
	ViewTarget  = "target"  // a pod's directory of the same volume
	ViewSubPath = "sub-path"
	ViewTwin    = "twin" // any other place
)

// View is a place of the host where a superblock is mounted.
type View struct {
	Path   string           `json:"path"`
	Role   string           `json:"role"`
	PodUID string           `json:"pod_uid,omitempty"`
	Root   string           `json:"root,omitempty"`
	State  facts.MountState `json:"state,omitzero"`
}

// Raw is one block device that a container has.
type Raw struct {
	Path   string `json:"path"` // in the container
	Volume string `json:"volume,omitempty"`
	Driver string `json:"csi_driver,omitempty"`
	Handle string `json:"csi_handle,omitempty"`
	Kind   string `json:"kind,omitempty"` // csi, local-volume, "" for a device that is no volume
	// HintWhy says why there is no Driver and Handle of a CSI volume.
	HintWhy string `json:"csi_why,omitempty"`
	Why     string `json:"why,omitempty"` // what could not be told
	Backing
}

// Backing is what a file system or a raw device is stored on, in short;
// Task.Storage has the whole.
type Backing struct {
	Device facts.DeviceNumber `json:"device,omitzero"` // of the superblock, or the device itself
	Name   string             `json:"device_name,omitempty"`
	DMName string             `json:"dm_name,omitempty"`
	LV     string             `json:"lv,omitempty"` // VG/LV, the first met on the way down
	LVUUID string             `json:"lv_uuid,omitempty"`
	LVs    []string           `json:"lvs,omitempty"`   // the topmost on every way down, where they are several
	NoLV   string             `json:"no_lv,omitempty"` // why there is none, or why it cannot be told
}
