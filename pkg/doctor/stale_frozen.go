package doctor

import (
	"fmt"

	"github.com/mountward/mountward/pkg/facts"
	"github.com/mountward/mountward/pkg/hostview"
)

// frozen tells of a bind that asked for no propagation which mounts of the host
// are missing in it. It is what was asked for, so it is no problem by itself.
func (st *stale) frozen(c container, table *hostview.Table, b hostBind, inside hostview.Entry) {
	if !b.host.State.Shared() || inside.State.Receives() {
		return
	}
	missing := st.missing(table, b, inside)
	if len(missing) == 0 {
		return
	}
	again, err := st.tableOf(c)
	if err != nil {
		return // it is about to end, and a note is not worth an answer then
	}
	if st.now == nil {
		if st.now, err = st.again(st.space); err != nil {
			st.now = st.table
		}
	}
	confirmed := missing[:0]
	for _, e := range st.missing(again, b, inside) {
		if still(st.now, e) {
			confirmed = append(confirmed, e)
		}
	}
	if len(confirmed) == 0 {
		return
	}
	f := Finding{
		Code: CodeFrozenView, Answer: facts.Yes, Subject: c.name(), Where: st.where(), Containers: []string{c.name()},
		Message:  fmt.Sprintf("%s asked for no propagation at %s: %d host submounts of %s are missing inside", c.name(), word(b.Destination), len(confirmed), word(b.source)),
		Evidence: []Evidence{c.evidence(inside)},
		Effect:   "what is mounted on the host later is not seen in the container; what was there when it started stays in use by its copy",
		Fixes:    []Fix{{What: "if the container is to see them: mountPropagation: HostToContainer in its pod's volumeMounts"}},
	}
	for i, e := range confirmed {
		if i < mostLines {
			f.Evidence = append(f.Evidence, st.evidence(e))
		}
	}
	st.found = append(st.found, f)
}

// missing are the visible mounts of the host below a source which a container
// does not have below its mount.
func (st *stale) missing(table *hostview.Table, b hostBind, inside hostview.Entry) []hostview.Entry {
	has := map[string]facts.Identity{}
	for _, e := range table.Below(inside.MountPoint) {
		if rest, ok := facts.Below(e.MountPoint, inside.MountPoint); ok {
			has[rest] = e.Identity()
		}
	}
	var all []hostview.Entry
	for _, e := range st.table.Below(b.source) {
		if rest, ok := facts.Below(e.MountPoint, b.source); ok && has[rest] != e.Identity() {
			all = append(all, e)
		}
	}
	return all
}
