package volumes

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/mountward/mountward/pkg/facts"
	"github.com/mountward/mountward/pkg/hostview"
)

// An agent that mounts the kubelet's directory has all volumes of the node
// below it.
const (
	maxSubmounts    = 16
	maxSubmountsLVs = 64
)

// below sorts the mounts that no outcome accounts for by the outcome they lie
// on.
func (m *mapper) below() map[int][]hostview.Entry {
	all := map[int][]hostview.Entry{}
	for _, stray := range m.Located.Rest {
		if stray.On >= 0 {
			all[stray.On] = append(all[stray.On], stray.Entry)
		}
	}
	return all
}

// submounts tells what lies on the mount on, whose source is at a path of the
// host. It asks for each superblock once, and about none with a file system
// that has to be asked by a path unless its turn comes.
func (m *mapper) submounts(ctx context.Context, on hostview.Entry, path string, below []hostview.Entry) *Submounts {
	if len(below) == 0 {
		return nil
	}
	all := make([]Submount, 0, len(below))
	for _, e := range below {
		st := m.submount(ctx, e, hostPath(on, path, e))
		if len(all) < maxSubmounts {
			m.use(st)
		} else {
			m.keep(st)
		}
		all = append(all, submountOf(e, st))
	}
	return submountsOf(all, func(n facts.DeviceNumber) *Storage {
		if st := m.stored[n]; st != nil {
			return &st.Storage
		}
		return nil
	})
}

func submountOf(e hostview.Entry, st *stored) Submount {
	return Submount{
		Destination: e.MountPoint, FSType: e.FSType, ReadOnly: readOnly(e), Seen: e.State, Mounted: e.Identity(), Backing: st.backing(),
	}
}

// submountsOf tells of some mounts, nil of none; by finds their storage.
func submountsOf(all []Submount, by func(facts.DeviceNumber) *Storage) *Submounts {
	if len(all) == 0 {
		return nil
	}
	s := &Submounts{Count: len(all), First: slices.Clip(all[:min(maxSubmounts, len(all))]), All: all}
	met := map[facts.DeviceNumber]bool{}
	lvs := map[string]bool{}
	unknown, why := 0, ""
	for _, b := range all {
		if strings.HasPrefix(b.NoLV, cannotTell) {
			if unknown++; unknown == 1 {
				why = b.NoLV
			}
		}
		if met[b.Device] {
			continue
		}
		met[b.Device] = true
		if st := by(b.Device); st != nil {
			for _, lv := range st.LVs() {
				lvs[lv.String()] = true
			}
		}
	}
	if unknown > 0 {
		s.Why = fmt.Sprintf("cannot tell of %d of them: %s", unknown, strings.TrimPrefix(why, cannotTell))
	}
	for lv := range lvs {
		s.LVs = append(s.LVs, lv)
	}
	slices.Sort(s.LVs)
	if more := len(s.LVs) - maxSubmountsLVs; more > 0 {
		s.LVs, s.LVsOmitted = slices.Clip(s.LVs[:maxSubmountsLVs]), more
	}
	return s
}

// own are the mounts that lie on the container's root file system and were not
// asked for: what hooks, other plugins and the container itself mounted. One
// that does no input and output is of no interest.
func (m *mapper) own(ctx context.Context) []Submount {
	var all []Submount
	for _, stray := range m.Located.Rest {
		if e := stray.Entry; stray.On < 0 && !noInput(e.FSType) {
			st := m.submount(ctx, e, "")
			m.keep(st)
			all = append(all, submountOf(e, st))
		}
	}
	return all
}

// keep has the storage of something that is not listed found by the task.
func (m *mapper) keep(st *stored) { m.rest = append(m.rest, st) }

// unlisted is what was kept and is not listed for anything else, each once.
func (m *mapper) unlisted() []Storage {
	var all []Storage
	for _, st := range m.rest {
		if !st.used {
			st.used = true
			all = append(all, st.Storage)
		}
	}
	return all
}

// submount resolves one. The overlays below an agent's mount are the root
// filesystems of other tasks: they are in the maps of these, where they can be
// verified, and are not followed here.
func (m *mapper) submount(ctx context.Context, e hostview.Entry, path string) *stored {
	if e.FSType != "overlay" {
		return m.resolve(ctx, superblockOf(e, path))
	}
	if o := m.overlays[e.Device]; o != nil {
		return m.stored[o.Device]
	}
	return m.told(e.Device, e.FSType, errNotFollowed)
}

var errNotFollowed = errors.New("overlay: not followed below another mount")

// hostPath is where the host should have what lies on a mount.
func hostPath(on hostview.Entry, path string, e hostview.Entry) string {
	rest, ok := facts.Below(e.MountPoint, on.MountPoint)
	if !ok || path == "" {
		return ""
	}
	return facts.JoinRoot(path, rest)
}
