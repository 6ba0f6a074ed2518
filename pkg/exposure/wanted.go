package exposure

import (
	"cmp"
	"slices"

	"github.com/mountward/mountward/pkg/facts"
	"github.com/mountward/mountward/pkg/hostview"
	"github.com/mountward/mountward/pkg/target"
)

// wanted is a target as it is looked for, or one of the file systems that are
// mounted below it.
type wanted struct {
	name    string
	path    string // canonical, "" where it was not asked for by one
	below   string // where below path it is mounted, "" for the target itself
	what    []sought
	devices map[facts.DeviceNumber]string // block devices that have it, and how
	places  []string                      // where the host has it
	owners  map[string]string             // uids of the pods whose volume it is, with the evidence
}

// sought is a file system, or the part of it that is meant.
type sought struct {
	facts.Identity
	fsType string // "" where it is not known
}

func newWanted(name string) wanted {
	return wanted{name: name, devices: map[facts.DeviceNumber]string{}, owners: map[string]string{}}
}

func (w *wanted) seek(id facts.Identity, fsType string) {
	s := sought{facts.Identity{Device: id.Device, Root: cmp.Or(id.Root, "/")}, fsType}
	if !slices.Contains(w.what, s) {
		w.what = append(w.what, s)
	}
	if s.Device.Major != 0 {
		w.devices[s.Device] = "the device of the file system"
	}
}

func (n Node) wantedOf(t target.Target, host *hostview.Table) wanted {
	w := newWanted(t.Name)
	for _, s := range t.Superblocks {
		w.seek(facts.Identity{Device: s.Device, Root: s.Root}, s.FSType)
	}
	if t.Chain != nil {
		for _, l := range t.Chain.Layers {
			w.devices[l.Number] = "a device below: " + l.Label()
		}
	}
	for _, b := range t.Blocks {
		w.devices[b] = "a device that is built on the asked one"
	}
	if !t.Block.IsZero() {
		w.devices[t.Block] = "the device itself"
	}
	if t.Path != "" && t.Kind == target.KindPath { // that of a device is its node
		w.path = t.Path
		w.places = append(w.places, t.Path)
		w.own(t.Path, n.KubeletRoot, "it is in the directory of the pod: "+t.Path)
	}
	w.onHost(host, n.KubeletRoot)
	return w
}

// onHost finds where the host has it, and so whose it is: a volume is mounted in
// the directory of its pod, whole.
func (w *wanted) onHost(host *hostview.Table, kubeletRoot string) {
	if host == nil {
		return
	}
	for _, what := range w.what {
		for _, e := range host.ByDevice(what.Device) {
			p, ok := placeOf(host, e, e.Root, what.Root)
			if !ok {
				continue
			}
			if !slices.Contains(w.places, p.path) {
				w.places = append(w.places, p.path)
			}
			if p.part == "" && !p.deleted {
				w.own(e.MountPoint, kubeletRoot, "the host has it at "+e.MountPoint)
			}
		}
	}
}

// own notes the pod whose volume is at a place of the host.
func (w *wanted) own(place, kubeletRoot, why string) {
	k, ok := facts.ParseKubeletPath(place, kubeletRoot)
	if ok && k.PodUID != "" && (k.Role == facts.PathTarget || k.Role == facts.PathSubpath || k.Role == facts.PathDevice) {
		w.owners[k.PodUID] = why
	}
}

// at joins what of a file system is somewhere to where that is below the target.
func (w *wanted) at(part string) string {
	if w.below == "" {
		return part
	}
	return facts.JoinRoot(w.below, part)
}
