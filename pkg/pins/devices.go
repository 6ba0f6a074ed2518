package pins

import (
	"fmt"
	"slices"
	"strings"

	"github.com/mountward/mountward/pkg/device"
	"github.com/mountward/mountward/pkg/facts"
	"github.com/mountward/mountward/pkg/internal/shell"
	"github.com/mountward/mountward/pkg/internal/words"
	"github.com/mountward/mountward/pkg/target"
)

// stacked is what is not known where that is so of a device.
const stacked = "what is stacked on which device"

// devices finds the devices that are built on the targets': what sysfs lists,
// before any namespace is looked at.
func (s *search) devices() {
	stack, err := target.ReadStack(s.Sys, s.Devices)
	if err != nil {
		s.unknownToAll("block devices", err.Error())
		return
	}
	s.stack = stack
	for _, why := range stack.Unknown {
		s.unknownToAll(stacked, why)
	}
	for _, l := range stack.Loops {
		s.mounts.loopTypes[l.File] = ""
	}
	for i := range s.reports {
		t := s.reports[i].Target
		for _, on := range t.Blocks {
			for _, layer := range stack.Directly(on) {
				s.deviceHolder(i, on, layer)
			}
		}
		s.loopsOnFiles(i, t)
	}
	s.searched("%s and what is built on which", words.Count(len(stack.Devices()), "block device"))
}

// loopsOnFiles finds the loop devices over files of a file system that was asked
// about by a path.
func (s *search) loopsOnFiles(i int, t target.Target) {
	for _, sb := range t.Superblocks {
		if sb.Device.Major == 0 || slices.Contains(t.Blocks, sb.Device) {
			continue
		}
		for _, layer := range s.stack.Directly(sb.Device) {
			if layer.Kind != device.Loop {
				continue
			}
			if !sb.Whole() && !s.backedBelow(layer.Name, sb) {
				continue
			}
			s.deviceHolder(i, sb.Device, layer)
		}
	}
}

// backedBelow reports whether the file of a loop device is in the part that is
// meant, by its path on the host.
func (s *search) backedBelow(name string, sb target.Superblock) bool {
	file, err := s.attribute("block/" + name + "/loop/backing_file")
	if err != nil {
		return false
	}
	at, err := s.Host.Lookup(s.ctx, file)
	return err == nil && sb.Holds(at.Identity())
}

// deviceHolder adds a device that is built on another.
func (s *search) deviceHolder(i int, on facts.DeviceNumber, l device.Layer) {
	h := Holder{Where: WhereKernel, Device: l.Name, on: on}
	if l.DMName != "" {
		h.Device = fmt.Sprintf("%s (%s)", l.Name, device.Unmangle(l.DMName))
	}
	h.Evidence = []Evidence{{Text: fmt.Sprintf("%s (%s) is built on %s", h.Device, l.Number, on), Show: fmt.Sprintf("ls /sys/dev/block/%s/holders", on)}}
	switch l.Kind {
	case device.Partition:
		if l.DMName == "" {
			return // a part of the disk, which nobody need use
		}
		h.dm(l, s.isLV(on))
	case device.Loop:
		h.Kind = KindLoop
		file, _ := s.attribute("block/" + l.Name + "/loop/backing_file") // a label, which can be missing
		h.Path = file
		if !strings.HasPrefix(file, "/dev/") {
			h.on = facts.DeviceNumber{} // the file system has the device open, not the loop device
		}
		h.Why = fmt.Sprintf("the loop device %s is bound to %s", l.Name, orUnknown(file))
		h.Evidence[0].Text = fmt.Sprintf("%s: back-file %s", l.Name, orUnknown(file))
		h.Evidence[0].Show = "losetup -l /dev/" + l.Name
		h.cure("detach it, when what is mounted from it is unmounted", "none; while it is in use it is only marked to be detached later", "losetup -d /dev/"+l.Name)
	case device.MD:
		h.Kind, h.Why = KindMD, fmt.Sprintf("the array %s has it for a member", l.Name)
		h.cure("stop the array", "all that is on it", "mdadm --stop /dev/"+l.Name)
	case device.Bcache:
		h.Kind, h.Why = KindBcache, fmt.Sprintf("%s is a cache device over it", l.Name)
		h.cure("stop it", "all that is on it", "echo 1 > /sys/block/"+l.Name+"/bcache/stop")
	case device.LV, device.LVLayer, device.Crypt, device.Multipath, device.DM:
		h.dm(l, s.isLV(on))
	default:
		h.Kind, h.Why = KindOtherDevice, fmt.Sprintf("%s is built on it", l.Name)
	}
	s.add(i, h)
}

// isLV reports whether a device is a logical volume.
func (s *search) isLV(number facts.DeviceNumber) bool {
	chain, ok := s.stack.Chain(number)
	return ok && len(chain.Layers) > 0 && chain.Layers[0].Kind == device.LV
}

// dm is for a device of the device mapper, on a logical volume or not.
func (h *Holder) dm(l device.Layer, onLV bool) {
	h.Kind = KindDM
	h.Why = fmt.Sprintf("the device %s of the device mapper is built on it", h.Device)
	switch {
	case l.Kind == device.LV && l.LV != nil:
		scan := ""
		if onLV { // LVM does not look for groups on its own volumes unless it is told to
			scan = "--config devices/scan_lvs=1 "
		}
		h.cure("deactivate the logical volume", "what uses it has to end first", "lvchange "+scan+"-an "+shell.Quote(l.LV.String()))
	case l.Kind == device.LVLayer:
		h.Why += ": a hidden part of the logical volume"
	case l.Kind == device.Crypt:
		h.cure("close it", "what uses it has to end first", "cryptsetup close "+shell.Quote(l.DMName))
	case l.Kind == device.Multipath:
		h.Why += ": multipathd has taken the disk for a path"
		h.cure("flush the map, and blacklist the disk in multipath.conf", "what uses it has to end first", "multipath -f "+shell.Quote(l.DMName))
	default:
		h.cure("remove it", "what uses it has to end first", "dmsetup remove "+shell.Quote(l.DMName))
	}
}

func orUnknown(s string) string {
	if s == "" {
		return "something unknown"
	}
	return s
}
