package exposure

import (
	"fmt"

	"github.com/mountward/mountward/pkg/facts"
)

// rawOf lists the block devices with the data of a target that a container was
// given. What its device cgroup lets it do with them is not read.
func (f *finder) rawOf(w Who) []Path {
	if w.task == nil {
		return nil
	}
	var all []Path
	devices := w.task.Spec.Devices
	if len(devices) == 0 {
		devices = w.task.Container.Devices
	}
	for i := range f.wanted {
		want := &f.wanted[i]
		for _, d := range devices {
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
					Show: fmt.Sprintf("grep -A5 %s %s/config.json", d.Path, w.task.Bundle.Dir),
				}},
			})
		}
	}
	return all
}
