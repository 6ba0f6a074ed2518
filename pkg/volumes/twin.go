package volumes

import (
	"fmt"
	"strconv"

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
			twins, many := m.strange(t)
			if len(twins) == 0 {
				continue
			}
			marks = append(marks, Mark{
				Code: MarkTwin, Path: twins[0].MountPoint,
				Why: fmt.Sprintf("%s volume %s of %s is mounted here as well, at %s",
					t.Kind, printable(t.Volume), describe(m.members[i]), many),
				Evidence: evidence(twins), Backing: t.Backing,
			})
		}
	}
	return marks
}

// maxPlaces bounds the places that are looked at of one volume.
const maxPlaces = 256

// strange are the places of a volume that the kubelet does not make, and words
// for how many they are. A local volume is a bind of a place of the node's own.
func (m marker) strange(t *Mount) (twins []hostview.Entry, many string) {
	places, more := t.places(m.table, m.KubeletRoot, maxPlaces)
	for _, e := range places {
		if role, _ := roleOf(e.MountPoint, m.KubeletRoot); role == ViewTwin {
			twins = append(twins, e)
		}
	}
	switch {
	case t.Kind == string(facts.KindLocal) && len(twins) == 1 && !more:
		return nil, ""
	case more:
		return twins, "some of more than " + strconv.Itoa(maxPlaces) + " places that are not the kubelet's for it"
	case len(twins) == 1:
		return twins, "a place that is not the kubelet's for it"
	default:
		return twins, strconv.Itoa(len(twins)) + " places that are not the kubelet's for it"
	}
}
