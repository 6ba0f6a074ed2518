package hostview

import (
	"errors"
	"io/fs"
	"os"

	"github.com/mountward/mountward/pkg/facts"
	"github.com/mountward/mountward/pkg/internal/linux"
)

var errPartly = errors.New("the kernel told only a part of the mount (is it outside our root directory?)")

func (v *View) statmount(f *os.File) (linux.Mount, error) {
	id, err := linux.UniqueMountID(f)
	if err != nil {
		return linux.Mount{}, err
	}
	return v.statmountID(id)
}

func (v *View) statmountID(id uint64) (linux.Mount, error) {
	m, err := linux.Statmount(id, v.nsID)
	if errors.Is(err, fs.ErrNotExist) {
		return linux.Mount{}, errMoved
	}
	if err != nil {
		return linux.Mount{}, err
	}
	const needed = linux.HasSuperblock | linux.HasMount | linux.HasRoot | linux.HasMountPoint | linux.HasFSType
	if m.Has&needed != needed {
		return linux.Mount{}, errPartly
	}
	return m, nil
}

// hostMount translates all but the canonical path. The subtype of a FUSE file
// system and the source are not told before Linux 6.13.
func hostMount(m linux.Mount) facts.HostMount {
	fsType := m.FSType
	if m.FSSubtype != "" {
		fsType += "." + m.FSSubtype
	}
	return facts.HostMount{
		MountPoint: m.MountPoint,
		MountID:    m.ID,
		Device:     facts.DeviceNumber{Major: m.Major, Minor: m.Minor},
		Root:       m.Root,
		FSType:     fsType,
		Source:     m.Source,
		State:      facts.MountState{Peer: int(m.PeerGroup), Master: int(m.Master), Unbindable: m.Unbindable},
		Rung:       RungStatmount,
	}
}
