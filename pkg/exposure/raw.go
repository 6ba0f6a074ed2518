package exposure

import (
	"fmt"
	"slices"

	"github.com/mountward/mountward/pkg/facts"
	"github.com/mountward/mountward/pkg/internal/shell"
)

// rawOf lists the block devices with the data of a target that a container was
// given. What its device cgroup lets it do with them is not read.
func (f *finder) rawOf(w Who) []Path {
	var all []Path
	for i := range f.wanted {
		want := &f.wanted[i]
		for _, d := range w.devices() {
			how, ok := want.devices[d.Number]
			if !ok || d.Type != "b" {
				continue
			}
			own := facts.CannotTell("a device does not tell whose it is")
			if evidence, ok := want.owners[w.PodUID]; ok && w.PodUID != "" {
				own = facts.Is(true, evidence)
			}
			all = append(all, Path{
				Target: want.name, Path: d.Path, Through: Through{Kind: ThroughDevice}, Own: own,
				Writable: facts.CannotTell("the access that its device cgroup allows is not read"),
				Evidence: []Evidence{{
					Text: fmt.Sprintf("linux.devices of the specification: %s b %s (%s)", d.Path, d.Number, how),
					Show: fmt.Sprintf("grep -F -A5 -e %s %s", shell.Quote(d.Path), shell.Quote(w.task.Bundle.Dir+"/config.json")),
				}},
			})
		}
	}
	return all
}

// devices are those of a container's specification.
func (w Who) devices() []facts.Device {
	if w.task == nil {
		return nil
	}
	if len(w.task.Spec.Devices) > 0 {
		return w.task.Spec.Devices
	}
	return w.task.Container.Devices
}

// given reports whether a container was given a block device.
func (w Who) given(number facts.DeviceNumber) bool {
	return slices.ContainsFunc(w.devices(), func(d facts.Device) bool { return d.Type == "b" && d.Number == number })
}
