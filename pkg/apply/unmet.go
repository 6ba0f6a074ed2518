package apply

import (
	"fmt"

	"github.com/mountward/mountward/pkg/facts"
)

// unmet says why the mount cannot be given the propagation by the
// specification, and "" where it can. known is false where it could not be
// told.
func (p *planner) unmet(o facts.Outcome, to facts.Propagation) (why string, known bool) {
	switch {
	case p.uncarried(o.Mount) != "":
		return p.uncarried(o.Mount), true
	case p.forbidden(o, to) != "":
		return p.forbidden(o, to), true
	case to.Reach() == facts.Private.Reach():
		return "", true
	}
	return p.hostUnmet(o.Mount, to)
}

const whyUnjudged = "cannot tell how the runtime would judge it: "

const whyRecursiveReadOnly = "the mount is recursively read-only, and mounts that arrive later would not be"

// forbidden says why a mount must not be given the propagation, by any means.
func (p *planner) forbidden(o facts.Outcome, to facts.Propagation) string {
	switch {
	case to.Reach() > facts.Private.Reach() && o.Mount.RecursiveReadOnly():
		return whyRecursiveReadOnly
	case to == facts.Shared && o.Asked != facts.Shared && p.Container.Privileged.Truth != facts.Yes:
		return "only a privileged container may mount onto the host: " + p.Container.Privileged.Why
	default:
		return ""
	}
}

// hostUnmet judges the mount's own source twice: by the runtime's rule, since
// the runtime fails a container over it, and by the kernel's truth, since the
// runtime's rule can be wrong both ways.
func (p *planner) hostUnmet(m facts.Mount, to facts.Propagation) (why string, known bool) {
	table, err := p.runtimeTable()
	if err != nil {
		return whyUnjudged + err.Error(), false
	}
	if m.Host != nil && !accepts(m.Host.State, to) {
		return unable(m.Host.MountPoint, m.Host.State, to), true
	}
	entry, ok := predict(table, m.Source)
	if !ok {
		return "the runtime would find no mount that holds " + m.Source, true
	}
	if entry, err = table.Recheck(entry); err != nil {
		return whyUnjudged + err.Error(), false
	}
	switch {
	case accepts(entry.State, to):
		p.warnSlaveOnly(m, to)
		return "", true
	case m.Host != nil && entry.MountPoint != m.Host.MountPoint:
		return fmt.Sprintf("the runtime would look at the mount %s (%s), not at %s, which is %s; run: mount --make-rshared %s, or use the path without symbolic links",
			entry.MountPoint, entry.State, m.Host.MountPoint, m.Host.State, entry.MountPoint), true
	case m.Host != nil:
		return fmt.Sprintf("the runtime would look at the hidden lower mount of %s, which is %s; unmount that one or make it shared",
			entry.MountPoint, entry.State), true
	default:
		return unable(entry.MountPoint, entry.State, to), true
	}
}

func (p *planner) warnSlaveOnly(m facts.Mount, to facts.Propagation) {
	if m.Host == nil || to != facts.Slave || m.Host.State.Peer != 0 {
		return
	}
	p.findings = append(p.findings, facts.Finding{
		Code:     "slave-only-source",
		Message:  fmt.Sprintf("%s receives only what is mounted at the master of %s, not what is mounted in the runtime's own namespace", m.Destination, m.Host.MountPoint),
		Mount:    m.Destination,
		Evidence: m.Host.Line(),
	})
}
