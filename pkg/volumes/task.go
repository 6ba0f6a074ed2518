package volumes

import "github.com/mountward/mountward/pkg/facts"

// Task is the map of one running container.
type Task struct {
	PID    int     `json:"pid,omitempty"`
	Rootfs Rootfs  `json:"rootfs"`
	Mounts []Mount `json:"mounts,omitempty"`
}

// Rootfs is where a task's root filesystem lives.
type Rootfs struct {
	Path   string `json:"path,omitempty"` // on the host: <bundle>/rootfs
	FSType string `json:"fs_type,omitempty"`
	Upper  string `json:"upperdir,omitempty"` // overlay: what the task writes goes here
	Work   string `json:"workdir,omitempty"`
	Backing
}

// Mount is one mount of a task. Seen and Host are nil where they could not be
// read: a zero state would say "private".
type Mount struct {
	Destination string            `json:"destination"`
	Source      string            `json:"source,omitempty"`
	Kind        string            `json:"kind,omitempty"` // csi, empty-dir, secret, host-path, runtime, ...
	Volume      string            `json:"volume,omitempty"`
	SubPath     bool              `json:"sub_path,omitempty"`
	FSType      string            `json:"fs_type,omitempty"`
	Asked       facts.Propagation `json:"asked"`
	Decided     facts.Propagation `json:"decided"`
	Seen        *facts.MountState `json:"seen,omitempty"` // in the container
	Host        *facts.MountState `json:"host,omitempty"` // of the source's mount
	Why         string            `json:"why,omitempty"`  // what could not be told
	Backing
}

// Backing is what a file system is stored on.
type Backing struct {
	Device facts.DeviceNumber `json:"device,omitzero"` // of the superblock
	Name   string             `json:"device_name,omitempty"`
	DMName string             `json:"dm_name,omitempty"`
	LV     string             `json:"lv,omitempty"` // VG/LV
	LVUUID string             `json:"lv_uuid,omitempty"`
	NoLV   string             `json:"no_lv,omitempty"` // why there is none, or why it cannot be told
}
