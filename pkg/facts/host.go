package facts

import (
	"fmt"
	"strconv"
	"strings"
)

// DeviceNumber names a block device, or an anonymous superblock when Major is
// 0. Device numbers are reused when a device is gone.
type DeviceNumber struct {
	Major, Minor uint32
}

// String returns MAJ:MIN as lsblk prints it.
func (d DeviceNumber) String() string {
	return strconv.FormatUint(uint64(d.Major), 10) + ":" + strconv.FormatUint(uint64(d.Minor), 10)
}

// IsZero reports whether no device is known.
func (d DeviceNumber) IsZero() bool { return d == DeviceNumber{} }

// MarshalText writes MAJ:MIN.
func (d DeviceNumber) MarshalText() ([]byte, error) { return []byte(d.String()), nil }

// UnmarshalText reads MAJ:MIN.
func (d *DeviceNumber) UnmarshalText(text []byte) error {
	major, minor, ok := strings.Cut(string(text), ":")
	if ok {
		a, errA := strconv.ParseUint(major, 10, 32)
		b, errB := strconv.ParseUint(minor, 10, 32)
		if errA == nil && errB == nil {
			*d = DeviceNumber{uint32(a), uint32(b)}
			return nil
		}
	}
	return fmt.Errorf("parse device number %q: want MAJ:MIN", text)
}

// Identity is what a path leads to whatever it is called: a superblock and the
// path inside it. It is the mountinfo columns "major:minor" and "root", with
// the rest of the path below the mount appended.
type Identity struct {
	Device DeviceNumber `json:"device"`
	Root   string       `json:"root"`
}

// IsZero reports whether the identity is not known.
func (i Identity) IsZero() bool { return i.Device.IsZero() && i.Root == "" }

// HostMount is what the host view knows of one path of the host, in the mount
// namespace of the runtime.
type HostMount struct {
	Canonical  string       `json:"canonical,omitempty"`   // the path without symbolic links
	MountPoint string       `json:"mount_point,omitempty"` // of the topmost mount that covers it
	MountID    uint64       `json:"mount_id,omitempty"`    // unique id (statmount) or mountinfo id
	Device     DeviceNumber `json:"device,omitzero"`       // of the superblock, not st_dev
	Root       string       `json:"root,omitempty"`        // of the mount, inside the superblock
	FSType     string       `json:"fs_type,omitempty"`
	Source     string       `json:"source,omitempty"` // the string given at mount time; a label, never an identity
	State      MountState   `json:"state,omitzero"`
	File       bool         `json:"file,omitempty"` // the path is known to lead to no directory
	Rung       string       `json:"rung,omitempty"` // how it was read: "statmount" or "mountinfo"
}

// Identity returns the superblock and the path inside it that the canonical
// path leads to.
func (m HostMount) Identity() Identity {
	rest, ok := Below(m.Canonical, m.MountPoint)
	if !ok || m.Root == "" {
		return Identity{}
	}
	return Identity{Device: m.Device, Root: JoinRoot(m.Root, rest)}
}

// Line is the evidence of a finding about this mount.
func (m HostMount) Line() string {
	return fmt.Sprintf("mount %d %s %s on %s - %s %s", m.MountID, m.Device, m.State, m.MountPoint, m.FSType, m.Source)
}
