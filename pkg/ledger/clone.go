package ledger

import (
	"maps"
	"slices"

	"github.com/mountward/mountward/pkg/facts"
)

// clone returns a copy that shares nothing with e. It is written out because a
// creation waits for it: by reflection it takes as long as writing the file.
func clone(e Entry) Entry {
	c := &e.Container
	c.Labels = maps.Clone(c.Labels)
	c.Pod.Labels = maps.Clone(c.Pod.Labels)
	c.Pod.Annotations = maps.Clone(c.Pod.Annotations)
	c.Devices = nil // a privileged container has hundreds, and the runtime tells them with every event
	c.Hazards = nil // a function of what is kept
	c.Mounts = slices.Clone(c.Mounts)
	for i := range c.Mounts {
		own(&c.Mounts[i])
	}
	e.Outcomes = slices.Clone(e.Outcomes)
	for i := range e.Outcomes {
		o := &e.Outcomes[i]
		own(&o.Mount)
		o.Audited, o.Shadow = slices.Clone(o.Audited), slices.Clone(o.Shadow)
	}
	return e
}

// own copies what a mount points to.
func own(m *facts.Mount) {
	m.Leads, m.Volume, m.Storage = facts.Identity{}, facts.Volume{}, nil // found out anew where they are asked for
	m.Options = slices.Clone(m.Options)
	if m.Host != nil {
		host := *m.Host
		m.Host = &host
	}
}
