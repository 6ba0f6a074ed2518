package audit

import (
	"fmt"
	"strings"

	"github.com/mountward/mountward/pkg/volumes"
)

// Task is recorded at every start: which devices and logical volumes the root
// filesystem and the volumes of a container live on.
type Task struct {
	Container Container       `json:"container"`
	Policy    Policy          `json:"policy,omitzero"`
	PID       int             `json:"pid,omitempty"`
	Rootfs    volumes.Rootfs  `json:"rootfs"`
	Mounts    []volumes.Mount `json:"mounts"`
}

func (t Task) describe() description {
	desc := description{kind: kindTask(), priority: prioInfo, message: t.headline()}
	f := &desc.fields
	f.container(t.Container)
	f.policy(t.Policy)
	var mounts []string
	lvs, devices := []string{t.Rootfs.LV}, []string{number(t.Rootfs.Backing)}
	for _, m := range t.Mounts {
		mounts = append(mounts, taskMountText(m))
		lvs = append(lvs, m.LV)
		devices = append(devices, number(m.Backing))
	}
	f.each("MOUNTWARD_MOUNT", mounts)
	f.each("MOUNTWARD_LV", lvs)
	f.each("MOUNTWARD_DEVICE", devices)
	return desc
}

// taskMountText is one MOUNTWARD_MOUNT: the destination as it is and what lies
// behind it.
func taskMountText(m volumes.Mount) string {
	parts := []string{m.Destination}
	for _, part := range []string{m.Kind, m.Volume, m.FSType, number(m.Backing), m.LV} {
		if part != "" {
			parts = append(parts, part)
		}
	}
	if m.Seen != nil {
		parts = append(parts, m.Seen.String())
	}
	return strings.Join(parts, " ")
}

// number is the device for a field, "" where it is not known.
func number(b volumes.Backing) string {
	if b.Device.IsZero() {
		return ""
	}
	return b.Device.String()
}

// place is the device for people: "vg0/data (253:3)", or why it is not known.
func place(b volumes.Backing) string {
	name := b.LV
	if name == "" {
		name = b.DMName
	}
	if name == "" {
		name = b.Name
	}
	switch {
	case name != "" && !b.Device.IsZero():
		return fmt.Sprintf("%s (%s)", word(name), b.Device)
	case name != "":
		return word(name)
	case !b.Device.IsZero():
		return "device " + b.Device.String()
	case b.NoLV != "":
		return "a device not known (" + b.NoLV + ")"
	default:
		return "a device not known"
	}
}

// maxNamed is how many volumes a message names.
const maxNamed = 3

func (t Task) headline() string {
	text := fmt.Sprintf("%s started, root filesystem on %s", t.Container, place(t.Rootfs.Backing))
	if t.PID > 0 {
		text = fmt.Sprintf("%s started as pid %d, root filesystem on %s", t.Container, t.PID, place(t.Rootfs.Backing))
	}
	var named []string
	volumes := 0
	for _, m := range t.Mounts {
		if m.LV == "" {
			continue
		}
		volumes++
		if volumes <= maxNamed {
			named = append(named, fmt.Sprintf("%s on %s", word(m.Destination), place(m.Backing)))
		}
	}
	if volumes > maxNamed {
		named = append(named, fmt.Sprintf("and %d more", volumes-maxNamed))
	}
	text += fmt.Sprintf("; %s, %d on logical volumes", count(len(t.Mounts), "mount"), volumes)
	if volumes > 0 {
		text += ": " + strings.Join(named, ", ")
	}
	return text
}
