package exposure

import (
	"github.com/mountward/mountward/pkg/facts"
)

// remount tells of what is read-only whether those who reach it can change that:
// it takes the right to mount. A mount that came from a namespace with more
// rights is locked against it, which no table shows.
//
// Source: mount_namespaces(7), "Restrictions on mount namespaces".
func (f *finder) remount(w Who, list []Path) {
	if w.Node() {
		return
	}
	var can *facts.Answer
	for i := range list {
		if list[i].Writable.Truth != facts.No || list[i].lower {
			continue
		}
		if can == nil {
			answer := f.canRemount(w)
			can = &answer
		}
		list[i].Remount = can
	}
}

func (f *finder) canRemount(w Who) facts.Answer {
	can := f.canMount(w)
	if can.Truth != facts.Yes {
		return can
	}
	if host := f.hostUser(); host == 0 || w.UserNamespace != host {
		return facts.CannotTell(can.Why + ", but its mounts are not of the node's user namespace, and whether this one is locked is not shown")
	}
	return facts.Is(true, can.Why+", so it can remount it writable")
}
