package doctor

import (
	"fmt"

	"github.com/mountward/mountward/pkg/facts"
	"github.com/mountward/mountward/pkg/hostview"
)

// CodeKeepsState is the note about containers that a repair of the host does not
// reach.
const CodeKeepsState = "keeps-old-state" // yes

// keepers tell for each required path that is not shared which running
// containers will have to be made anew once it is: those that have some of its
// mount and did not ask for a private one.
func (st *stale) keepers(all []container) []Finding {
	var found []Finding
	met := map[int]bool{}
	for _, path := range st.Require {
		if files := st.first().Files; files != nil {
			if canonical, err := resolve(st.Context, files, path); err == nil {
				path = canonical
			}
		}
		e, ok := st.table.Covering(path)
		if !ok || e.State.Shared() || met[e.ID] {
			continue
		}
		met[e.ID] = true
		var names []string
		more := 0
		for _, c := range all {
			switch {
			case c.Running.Truth == facts.No || !st.keeps(c, e):
			case len(names) == mostContainers:
				more++
			default:
				names = append(names, c.name())
			}
		}
		if len(names) == 0 {
			continue
		}
		f := Finding{
			Code: CodeKeepsState, Answer: facts.Yes, Subject: e.MountPoint, Where: st.where(), Containers: names,
			Message:  fmt.Sprintf("%d running containers have been given some of the mount at %s, which is %s: they keep what they got after the host is mended", len(names)+more, word(e.MountPoint), e.State),
			Evidence: []Evidence{st.evidence(e)},
			Fixes:    []Fix{{What: "once the host's mount is shared, restart them"}},
		}
		found = append(found, f)
	}
	return found
}

// keeps reports that a container has a bind of what is on a mount of the host, or
// of a directory that the mount is below.
func (st *stale) keeps(c container, e hostview.Entry) bool {
	for _, b := range st.binds(c) {
		if p := b.Requested(); p != facts.Private && p != facts.Unbindable && (b.host.ID == e.ID || facts.Within(e.MountPoint, b.source)) {
			return true
		}
	}
	return false
}
