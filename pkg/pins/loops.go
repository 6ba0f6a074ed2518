package pins

import (
	"fmt"

	"github.com/mountward/mountward/pkg/device"
	"github.com/mountward/mountward/pkg/facts"
	"github.com/mountward/mountward/pkg/internal/linux"
)

// loops finds the loop devices over files of file systems with anonymous
// numbers: of memory, of a btrfs, of an overlay. That a kernel tells of the file
// is st_dev. Where that is the number of a superblock, the mount tables have it;
// the parts of a btrfs and some files of an overlay have numbers of their own,
// which the file itself tells.
func (s *search) loops() {
	if s.stack == nil {
		return
	}
	for _, l := range s.stack.Loops {
		on := s.loopFile(l)
		if !on.known {
			s.unknownLoop(l)
			continue
		}
		for i := range s.reports {
			s.loopOn(i, on, l)
		}
	}
}

// loopFile is what the file of a loop device is on.
type loopFile struct {
	facts.Identity      // the superblock, and the path in it where located
	located        bool // the path leads to the file's file system
	known          bool // all that holds it by being on that is looked at
}

func (s *search) loopFile(l device.Layer) loopFile {
	on := loopFile{Identity: facts.Identity{Device: l.File}}
	fsType := s.mounts.loopTypes[l.File]
	// By a path of another mount namespace something else is found, or nothing.
	if at, err := s.Host.Lookup(s.ctx, l.Note); err == nil && (at.Device == l.File || s.deviceOf(l.Note) == l.File) {
		on.Identity, on.located, fsType = at.Identity(), true, at.FSType
	}
	_, none := device.NoDevice(fsType)
	_, layered := s.mounts.layered[on.Device] // its layers are looked at by themselves
	on.known = none || layered || fsType == "btrfs" && on.located
	return on
}

// deviceOf is st_dev of a path of the host, zero where it cannot be told.
func (s *search) deviceOf(path string) facts.DeviceNumber {
	info, err := s.Host.Stat(s.ctx, path)
	if err != nil {
		return facts.DeviceNumber{}
	}
	major, minor, _ := linux.StatDevice(info)
	return facts.DeviceNumber{Major: major, Minor: minor}
}

// loopOn adds a loop device whose file is on the target.
func (s *search) loopOn(target int, on loopFile, l device.Layer) {
	for _, sb := range s.reports[target].Target.Superblocks {
		switch {
		case sb.Device != on.Device:
		case sb.Whole(), on.located && sb.Holds(on.Identity):
			s.deviceHolder(target, l.File, l)
			return
		case !on.located:
			s.unknown(target, "the loop device "+l.Name, "its file is in the file system, but whether in the part that was asked about: "+orUnknown(l.Note))
		}
	}
}

// unknownLoop tells of a loop device that can be on any target. A namespace is
// on no device.
func (s *search) unknownLoop(l device.Layer) {
	for i := range s.reports {
		if s.reports[i].Target.NS == "" {
			s.unknown(i, stacked, fmt.Sprintf("device %s: %s", l.Name, l.Unknown))
		}
	}
}
