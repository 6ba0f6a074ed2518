package policy

import (
	"fmt"

	"github.com/mountward/mountward/pkg/facts"
)

// readonly answers for both ways to say it: a mount that is read-only all the
// way down is one.
func readonly(q *query) facts.Answer {
	return facts.Is(q.mount.ReadOnly() || q.mount.RecursiveReadOnly(), "")
}

// keyHostPropagation is the one key about the state of the kernel.
const keyHostPropagation = keyHost + ".propagation"

// hostSelector holds where the host's mount that the source leads to is of one
// of the kinds.
type hostSelector []facts.Propagation

func (hostSelector) key() string { return keyHostPropagation }

func (s hostSelector) match(q *query, _ bool) facts.Truth {
	if unknownHost(q) != "" {
		return facts.Unknown
	}
	for _, kind := range s {
		if q.mount.Host.State.Is(kind) {
			return facts.Yes
		}
	}
	return facts.No
}

func (s hostSelector) why(q *query, _ bool) string {
	want := or(s, func(p facts.Propagation) string { return p.String() })
	if why := unknownHost(q); why != "" {
		return fmt.Sprintf("it is not known (%s), wants %s", why, want)
	}
	return fmt.Sprintf("it is %q, wants %s", q.mount.Host.State, want)
}

// unknownHost says why it is not known which mount of the host the source leads
// to, "" where it is.
func unknownHost(q *query) string {
	switch host := q.mount.Host; {
	case host == nil && q.mount.HostWhy != "":
		return q.mount.HostWhy
	case host == nil || host.MountPoint == "":
		return "the source was not resolved on the host"
	case q.moved:
		return "the source leads elsewhere now"
	default:
		return ""
	}
}
