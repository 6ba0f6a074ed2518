package apply

import (
	"fmt"

	"github.com/mountward/mountward/pkg/facts"
	"github.com/mountward/mountward/pkg/verify"
)

// verb is what the namespace applier does with one mount.
type verb string

const (
	keep        verb = "keep"         // it lets through what was decided
	makePrivate verb = "make private" // a lowering
	makeSlave   verb = "make slave"   // a lowering
	raise       verb = "raise"        // from private to a slave of the host mount
	cannot      verb = "cannot"       // not here: on_unmet says what follows
	cannotTell  verb = "cannot tell"  // recorded; nothing is changed and nothing refused
)

// acts reports a verb that changes a mount.
func (v verb) acts() bool { return v == makePrivate || v == makeSlave || v == raise }

// sight is one mount of a container whose propagation was decided, as the kernel
// shows it.
type sight struct {
	decided facts.Propagation
	seen    facts.MountState
	host    *facts.MountState // of what its source leads to; nil where that is not known
	hostWhy string            // why not
	rro     bool              // asked to be recursively read-only
}

// verb is the whole table of what is done inside a mount namespace. It lowers by
// one call that cannot fail halfway, and raises to a slave and never further.
func (s sight) verb() (do verb, why string) {
	actual := facts.Unset
	if s.host != nil {
		actual = verify.Actual(s.seen, *s.host)
	}
	switch {
	case s.decided == facts.Unset:
		return keep, ""
	case s.decided == facts.Shared:
		if actual == facts.Shared {
			return keep, ""
		}
		return cannot, "in its namespace no mount is raised to rshared"
	case s.decided.Reach() == facts.Private.Reach():
		if !s.seen.Receives() {
			return keep, ""
		}
		return makePrivate, ""
	case s.host == nil && s.seen.Shared():
		return makeSlave, ""
	case s.host == nil && s.seen.Receives():
		return keep, ""
	case s.host == nil:
		return cannotTell, s.hostWhy
	case actual == facts.Shared:
		return makeSlave, ""
	case actual == facts.Slave:
		return keep, ""
	case s.rro:
		return cannot, whyRecursiveReadOnly
	case !s.host.Receives():
		return cannot, "its host mount is private and gives nothing on; make that shared"
	case s.seen.Master != 0:
		return cannot, fmt.Sprintf("it receives from peer group %d, which is not the host mount's (%s)", s.seen.Master, s.host)
	default:
		return raise, ""
	}
}
