package audit

import (
	"maps"
	"slices"

	"github.com/mountward/mountward/pkg/facts"
)

// later is an event that is rendered by the goroutine that writes it, since
// the start of a container waits for who records it. It is copied at once: that
// takes a twentieth of the time.
type later interface {
	Event
	// copied returns a copy that shares nothing that may change, and about how
	// many bytes it holds.
	copied() (event Event, size int64)
}

// perItem is about what an outcome, a proof or a mount holds, in bytes.
const perItem = 1 << 10

func (d Decision) copied() (event Event, size int64) {
	d.Container = d.Container.copied()
	d.Findings = slices.Clone(d.Findings)
	d.Outcomes = copiedOutcomes(d.Outcomes)
	return d, itemsSize(len(d.Outcomes) + len(d.Findings))
}

func copiedOutcomes(all []facts.Outcome) []facts.Outcome {
	all = slices.Clone(all)
	for i := range all {
		o := &all[i]
		o.Audited, o.Shadow = slices.Clone(o.Audited), slices.Clone(o.Shadow)
		o.Mount.Options = slices.Clone(o.Mount.Options)
		o.Mount.Host = copyOf(o.Mount.Host)
		o.Mount.Storage = nil // no part of any record
	}
	return all
}

func (d Drift) copied() (event Event, size int64) {
	d.Container = d.Container.copied()
	d.Findings = slices.Clone(d.Findings)
	d.Proofs = slices.Clone(d.Proofs)
	for i := range d.Proofs {
		p := &d.Proofs[i]
		p.Seen, p.Host = copyOf(p.Seen), copyOf(p.Host)
	}
	return d, itemsSize(len(d.Proofs) + len(d.Findings))
}

// A map was handed over: only the container is copied.
func (t Task) copied() (event Event, size int64) {
	t.Container = t.Container.copied()
	items := len(t.Mounts) + len(t.Raw)
	for _, s := range t.Storage {
		items += len(s.Layers)
	}
	small := len(t.Rootfs.Lower)
	for _, m := range t.Mounts {
		small += len(m.Views)
		if m.Submounts != nil {
			small += len(m.Submounts.First) + len(m.Submounts.LVs)
		}
	}
	return t, itemsSize(items + small/4)
}

func (c Container) copied() Container {
	c.Pod.Labels = maps.Clone(c.Pod.Labels)
	c.Pod.Annotations = nil // no part of any record
	return c
}

func copyOf[T facts.HostMount | facts.MountState](p *T) *T {
	if p == nil {
		return nil
	}
	v := *p
	return &v
}

func itemsSize(n int) int64 { return int64(1+n) * perItem }
