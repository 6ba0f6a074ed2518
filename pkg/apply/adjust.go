package apply

import (
	"github.com/containerd/nri/pkg/api"

	"github.com/mountward/mountward/pkg/facts"
)

// adjustment returns the mounts to replace, and nil where nothing changes: any
// adjustment of mounts makes the runtime sort them all anew. Removing before
// adding takes the mount over from a plugin that ran earlier; adding alone
// would fail the container. rprivate ones come last, since the runtime carries
// the last propagation word of a reply over to whatever comes next in it.
func adjustment(outcomes []facts.Outcome) *api.ContainerAdjustment {
	var adjust *api.ContainerAdjustment
	for _, last := range []bool{false, true} {
		for _, o := range outcomes {
			if o.Result != facts.Applied || (o.Decided == facts.Private) != last {
				continue
			}
			if adjust == nil {
				adjust = &api.ContainerAdjustment{}
			}
			adjust.RemoveMount(o.Mount.Destination)
			adjust.AddMount(&api.Mount{
				Destination: o.Mount.Destination,
				Type:        o.Mount.Type,
				Source:      o.Mount.Source,
				Options:     withPropagation(o.Mount.Options, o.Decided),
			})
		}
	}
	return adjust
}

// withPropagation returns the options with exactly one propagation word: the
// first is replaced, others are dropped. Appending would not do: runc applies
// all in order, and rprivate,rslave is private.
func withPropagation(options []string, p facts.Propagation) []string {
	result := make([]string, 0, len(options)+1)
	placed := false
	for _, option := range options {
		if _, ok := facts.ParseOption(option); !ok {
			result = append(result, option)
			continue
		}
		if !placed {
			result = append(result, p.Option())
			placed = true
		}
	}
	if !placed {
		result = append(result, p.Option())
	}
	return result
}
