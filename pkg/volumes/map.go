package volumes

import (
	"fmt"

	"github.com/mountward/mountward/pkg/device"
	"github.com/mountward/mountward/pkg/facts"
	"github.com/mountward/mountward/pkg/hostview"
	"github.com/mountward/mountward/pkg/verify"
)

// Sources is what a map is joined from.
type Sources struct {
	Outcomes    []facts.Outcome // what was asked and decided, one a mount
	Container   *hostview.Table // the task's own mount table
	Located     verify.Located  // the outcomes in it
	Host        func(path string) (facts.HostMount, error)
	Devices     device.FS
	KubeletRoot string
	RuntimeDirs []string // containerd's root and state
}

// Map returns the map of the task with this pid, whose rootfs is at the given
// path of the host ("" where that is not known).
func Map(s Sources, pid int, rootfs string) Task {
	task := Task{PID: pid, Rootfs: s.rootfs(rootfs)}
	for i, o := range s.Outcomes {
		if o.Mount.Bind() {
			task.Mounts = append(task.Mounts, s.mount(o, s.Located.Places[i]))
		}
	}
	return task
}

func (s Sources) mount(o facts.Outcome, place verify.Place) Mount {
	m := Mount{
		Destination: o.Mount.Destination, Source: o.Mount.Source,
		Asked: o.Asked, Decided: o.Expected(),
	}
	m.name(o.Mount, s.KubeletRoot, s.RuntimeDirs)
	host, err := s.Host(o.Mount.Source)
	if err != nil {
		m.Why = err.Error()
	} else {
		m.Host = &host.State
	}
	if !place.Found {
		m.Why = fmt.Sprintf("no mount at %s in the container's table, and none of what was decided about", o.Mount.CleanDestination())
		return m
	}
	entry := place.Entry
	m.FSType = entry.FSType
	if place.Sure {
		m.Seen = &entry.State
	}
	m.Backing = s.backing(entry.Device, entry.FSType)
	return m
}

// backing resolves a superblock's device. The file system's type gives the
// reason where there is none.
func (s Sources) backing(number facts.DeviceNumber, fsType string) Backing {
	b := Backing{Device: number}
	if number.Major == 0 {
		b.NoLV = device.NoDevice(fsType)
		return b
	}
	d, err := s.Devices.Lookup(number)
	if err != nil {
		b.NoLV = "cannot tell: " + err.Error()
		return b
	}
	b.Name, b.DMName = d.Name, d.DMName
	switch {
	case d.LV != nil:
		b.LV, b.LVUUID = d.LV.String(), d.LV.UUID
	case d.DMName != "":
		b.NoLV = "a device-mapper device that is not a logical volume"
	default:
		b.NoLV = "not a device-mapper device"
	}
	return b
}

// Unmapped is the map of a task whose tables could not be read, with the
// reason.
func Unmapped(pid int, why string) Task {
	return Task{PID: pid, Rootfs: Rootfs{Backing: Backing{NoLV: "cannot tell: " + why}}}
}
