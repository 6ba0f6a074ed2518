package exposure

import (
	"cmp"
	"slices"

	"github.com/mountward/mountward/pkg/facts"
	"github.com/mountward/mountward/pkg/hostview"
	"github.com/mountward/mountward/pkg/target"
)

// wanted is a target as it is looked for.
type wanted struct {
	name    string
	path    string // canonical, "" where it was not asked for by one
	what    []facts.Identity
	devices map[facts.DeviceNumber]string // block devices that have it, and how
	places  []string                      // where the host has it
	owners  map[string]string             // uids of the pods whose volume it is, with the evidence
}

func (n Node) wantedOf(t target.Target, host *hostview.Table) wanted {
	w := wanted{name: t.Name, devices: map[facts.DeviceNumber]string{}, owners: map[string]string{}}
	for _, s := range t.Superblocks {
		id := facts.Identity{Device: s.Device, Root: cmp.Or(s.Root, "/")}
		if !slices.Contains(w.what, id) {
			w.what = append(w.what, id)
		}
		if s.Device.Major != 0 {
			w.devices[s.Device] = "the device of the file system"
		}
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
