package audit

import (
	"fmt"
	"strings"

	"github.com/mountward/mountward/pkg/device"
	"github.com/mountward/mountward/pkg/internal/words"
	"github.com/mountward/mountward/pkg/volumes"
)

// Task is recorded at every start: which devices and logical volumes the root
// filesystem and the volumes of a container live on. The map is handed over: it
// must not be changed once it was recorded.
type Task struct {
	Container Container `json:"container"`
	Policy    Policy    `json:"policy,omitzero"`
	volumes.Task
	// Stored are the rules about logical volumes that matched.
	Stored []Stored `json:"audited,omitempty"`
}

// Stored is a rule with action "audit" that asks for logical volumes, and matched
// a mount.
type Stored struct {
	Mount    string   `json:"mount"` // destination
	Rule     string   `json:"rule"`
	Position string   `json:"position"` // FILE:LINE
	Reason   string   `json:"reason,omitempty"`
	Unknown  []string `json:"unknown,omitempty"` // facts that were not known: the rule is taken as matched because of them
}

func (t Task) describe() description {
	desc := description{kind: kindTask(), priority: prioInfo, message: t.headline()}
	f := &desc.fields
	f.container(t.Container)
	f.policy(t.Policy)
	var mounts, names, handles []string
	for _, m := range t.Mounts {
		mounts = append(mounts, taskMountText(m))
		names, handles = append(names, m.Volume), append(handles, m.Handle)
	}
	for _, r := range t.Raw {
		mounts = append(mounts, rawText(r))
		names, handles = append(names, r.Volume), append(handles, r.Handle)
	}
	var rules []string
	for _, s := range t.Stored {
		rules = append(rules, s.Rule)
	}
	f.each("MOUNTWARD_RULE", rules)
	lvs, devices := t.storedOn()
	f.each("MOUNTWARD_MOUNT", mounts)
	f.each("MOUNTWARD_VOLUME", names)
	f.each("MOUNTWARD_CSI_HANDLE", handles)
	f.each("MOUNTWARD_LV", lvs)
	f.each("MOUNTWARD_DEVICE", devices)
	return desc
}

// storedOn lists what a record is to be found by: every logical volume, also
// one that another one lies on, and every device down to the disks. What the
// file systems are on directly comes first.
func (t Task) storedOn() (lvs, devices []string) {
	add := func(b volumes.Backing) {
		lvs = append(append(lvs, b.LV), b.LVs...)
		devices = append(devices, number(b))
	}
	add(t.Rootfs.Backing)
	for _, m := range t.Mounts {
		add(m.Backing)
	}
	for _, r := range t.Raw {
		add(r.Backing)
	}
	for _, m := range t.Mounts {
		if m.Submounts == nil {
			continue
		}
		lvs = append(lvs, m.Submounts.LVs...)
		for _, s := range m.Submounts.First {
			add(s.Backing)
		}
	}
	for _, s := range t.Storage {
		for _, l := range s.Layers {
			if l.Kind == device.LV && l.LV != nil {
				lvs = append(lvs, l.LV.String())
			}
			devices = append(devices, l.Number.String())
		}
	}
	return lvs, devices
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
	if m.Submounts != nil {
		parts = append(parts, words.Count(m.Submounts.Count, "submount"))
	}
	return strings.Join(parts, " ")
}

// rawText is one MOUNTWARD_MOUNT of a block device that a container has.
func rawText(r volumes.Raw) string {
	parts := []string{r.Path, "raw"}
	for _, part := range []string{r.Kind, r.Volume, number(r.Backing), r.LV} {
		if part != "" {
			parts = append(parts, part)
		}
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
	on := 0
	name := func(path string, b volumes.Backing) {
		if b.LV == "" {
			return
		}
		if on++; on <= maxNamed {
			named = append(named, fmt.Sprintf("%s on %s", word(path), place(b)))
		}
	}
	for _, m := range t.Mounts {
		name(m.Destination, m.Backing)
	}
	for _, r := range t.Raw {
		name(r.Path, r.Backing)
	}
	if on > maxNamed {
		named = append(named, fmt.Sprintf("and %d more", on-maxNamed))
	}
	text += "; " + words.Count(len(t.Mounts), "mount")
	if n := len(t.Raw) + t.RawOmitted; n > 0 {
		text += " and " + words.Count(n, "block device")
	}
	text += fmt.Sprintf(", %d on logical volumes", on)
	if on > 0 {
		text += ": " + strings.Join(named, ", ")
	}
	for i, s := range t.Stored {
		if i == maxNamed {
			return fmt.Sprintf("%s; and %d more by rule", text, len(t.Stored)-maxNamed)
		}
		text += fmt.Sprintf("; %s is recorded by rule %s", word(s.Mount), word(s.Rule))
	}
	return text
}
