package volumes

import (
	"fmt"

	"github.com/mountward/mountward/pkg/facts"
	"github.com/mountward/mountward/pkg/hostview"
)

// twins are volumes that the host has mounted at a place which is neither
// theirs nor that of another pod which shares them.
func (m marker) twins() []Mark {
	var marks []Mark
	met := map[facts.DeviceNumber]bool{}
	for i := range m.members {
		for j := range m.members[i].Mounts {
			t := &m.members[i].Mounts[j]
			if t.Kind == KindHostPath || !t.viewed() || met[t.superblock()] {
				continue
			}
			met[t.superblock()] = true
			twins := m.strange(t)
			if len(twins) == 0 {
				continue
			}
			marks = append(marks, Mark{
				Code: MarkTwin, Path: twins[0].MountPoint,
				Why: fmt.Sprintf("%s volume %s of %s is mounted here as well, at %d places that are not the kubelet's for it",
					t.Kind, printable(t.Volume), describe(m.members[i]), len(twins)),
				Evidence: evidence(twins), Backing: t.Backing,
			})
		}
	}
	return marks
}

// strange are the places of a volume that the kubelet does not make. A local
// volume is a bind of a place of the node's own.
func (m marker) strange(t *Mount) []hostview.Entry {
	var twins []hostview.Entry
	for _, e := range t.places(m.at, m.KubeletRoot) {
		if role, _ := roleOf(e.MountPoint, m.KubeletRoot); role == ViewTwin {
			twins = append(twins, e)
		}
	}
	if t.Kind == string(facts.KindLocal) && len(twins) == 1 {
		return nil
	}
	return twins
}
