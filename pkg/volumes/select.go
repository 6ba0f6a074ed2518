package volumes

import (
	"slices"
	"strings"

	"github.com/mountward/mountward/pkg/facts"
)

// Filter says which tasks are wanted. What is zero selects nothing out; of the
// rest all must hold.
type Filter struct {
	Name      string // the beginning of a container's id, or the name of a container or pod, or a pod's uid
	Pod       string // the name or uid of a pod
	Namespace string // of the pod
	LV        string // VG/LV, at any depth
	Device    facts.DeviceNumber
	Path      facts.Identity // what a path of the host leads to; what is above and below it is wanted as well
}

// Named reports whether the filter names containers or pods.
func (f Filter) Named() bool { return f.Name != "" || f.Pod != "" || f.Namespace != "" }

// Task reports whether the filter names single containers or pods.
func (f Filter) Task() bool { return f.Name != "" || f.Pod != "" }

// Storage reports whether the filter asks for what tasks are stored on.
func (f Filter) Storage() bool { return f.LV != "" || !f.Device.IsZero() || !f.Path.IsZero() }

// Select returns what of a survey is wanted. With a filter for storage a task
// has only the mounts, block devices and storage that are on it left, and an
// empty Rootfs where that is not. Marks stay where they are about storage of
// what is left or, where nothing is named, on what was asked for; that of a root
// filesystem, where it is of a container that is named. What is unknown stays,
// but for what is unknown of a container that is known not to be named.
func (s Survey) Select(f Filter) Survey {
	if f == (Filter{}) {
		return s
	}
	out := Survey{Unknown: f.unknown(s)}
	left := remains{devices: map[facts.DeviceNumber]bool{}, bundles: map[string]bool{}}
	for _, m := range s.Members {
		if !f.names(m) {
			continue
		}
		left.bundles[m.Bundle.Dir] = true
		if f.Storage() {
			var ok bool
			if m.Task, ok = f.of(m.Task); !ok {
				continue
			}
		}
		for _, st := range m.Storage {
			left.devices[st.Device] = true
		}
		out.Members = append(out.Members, m)
	}
	for _, mark := range s.Marks {
		if f.marked(mark, left) {
			out.Marks = append(out.Marks, mark)
		}
	}
	return out
}

// unknown leaves out what could not be read of other containers.
func (f Filter) unknown(s Survey) []Unknown {
	if !f.Named() {
		return s.Unknown
	}
	others := map[string]bool{}
	for _, m := range s.Members {
		if m.Container.Pod.UID != "" && !f.names(m) {
			others["container "+m.Container.ID] = true
		}
	}
	return keep(s.Unknown, func(u Unknown) bool { return !others[u.What] })
}

func (f Filter) names(m Member) bool {
	c := m.Container
	return (f.Namespace == "" || f.Namespace == c.Pod.Namespace) &&
		(f.Pod == "" || f.Pod == c.Pod.Name || f.Pod == c.Pod.UID) &&
		(f.Name == "" || strings.HasPrefix(c.ID, f.Name) || f.Name == c.Name || f.Name == c.Pod.Name || f.Name == c.Pod.UID)
}

// remains is what a filter left of a survey.
type remains struct {
	devices map[facts.DeviceNumber]bool
	bundles map[string]bool // of what is named, whatever it is on
}

// marked reports whether a mark is wanted.
func (f Filter) marked(m Mark, left remains) bool {
	asked := f.LV != "" && (m.LV == f.LV || slices.Contains(m.LVs, f.LV)) || !f.Device.IsZero() && m.Device == f.Device
	switch {
	case !f.Named():
		return left.devices[m.Device] || asked
	case m.Code != MarkOrphanRootfs:
		return left.devices[m.Device]
	}
	b, _ := bundleOf(m.Path)
	named := left.bundles[b.Dir] || f.Pod == "" && f.Namespace == "" && strings.HasPrefix(b.ID(), f.Name)
	return named && (asked || left.devices[m.Device] || !f.Storage())
}
