package namespaces

import (
	"errors"
	"strings"

	"github.com/mountward/mountward/pkg/facts"
	"github.com/mountward/mountward/pkg/hostview"
	"github.com/mountward/mountward/pkg/internal/linux"
)

var (
	errNoNumber = errors.New("its number for listmount(2) is not known")
	errPartly   = errors.New("the kernel told only a part of a mount")
)

// byNumber asks the kernel for the mounts of a namespace that no process need
// be in.
func (c *Census) byNumber(n *Namespace) (*hostview.Table, error) {
	if n.ID == 0 {
		return nil, errNoNumber
	}
	ids, err := linux.ListMounts(n.ID)
	if err != nil {
		return nil, err
	}
	var lines strings.Builder
	for _, id := range ids {
		m, options, err := linux.StatmountOptions(id, n.ID)
		if linux.Gone(err) {
			continue // unmounted since
		}
		if err != nil {
			return nil, err
		}
		const needed = linux.HasSuperblock | linux.HasMount | linux.HasRoot | linux.HasMountPoint | linux.HasFSType
		if m.Has&needed != needed {
			return nil, errPartly
		}
		lines.WriteString(entry(m, options).Line())
		lines.WriteByte('\n')
		if lines.Len() > maxTable {
			return nil, errTooLarge
		}
	}
	if lines.Len() == 0 {
		return nil, ErrGone
	}
	return hostview.ReadTable(strings.NewReader(lines.String()))
}

// entry returns what mountinfo would say.
func entry(m linux.Mount, o linux.MountOptions) hostview.Entry {
	fsType := m.FSType
	if m.FSSubtype != "" {
		fsType += "." + m.FSSubtype
	}
	return hostview.Entry{
		ID: m.InfoID, Parent: m.InfoParent,
		Device: facts.DeviceNumber{Major: m.Major, Minor: m.Minor},
		Root:   m.Root, MountPoint: m.MountPoint,
		FSType: fsType, Source: m.Source,
		Options: o.Mount, SuperOptions: o.Super,
		State: facts.MountState{Peer: int(m.PeerGroup), Master: int(m.Master), Unbindable: m.Unbindable},
	}
}
