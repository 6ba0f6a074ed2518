package verify

import (
	"fmt"

	"github.com/mountward/mountward/pkg/facts"
)

// Verdict is the answer of the proof about one mount.
type Verdict string

// The verdicts. Unknown is no failure: it changes and refuses nothing.
const (
	Same    Verdict = "same"
	Drift   Verdict = "drift"
	Unknown Verdict = "unknown"
)

// Proof is the verdict about one mount with its evidence. Seen and Host are nil
// where they could not be read: a zero state would say "private".
type Proof struct {
	Destination string            `json:"destination"`
	Source      string            `json:"source,omitempty"`
	Decided     facts.Propagation `json:"decided"`
	Seen        *facts.MountState `json:"seen,omitempty"` // in the container; nil: not read
	Host        *facts.MountState `json:"host,omitempty"` // of the source's mount, read in the same pass
	Verdict     Verdict           `json:"verdict"`
	// More is set where the kernel lets more through than was decided: the
	// only drift that may stop a container.
	More   bool   `json:"more,omitempty"`
	Reason string `json:"reason,omitempty"`
}

// Lookup resolves a host path in the runtime's mount namespace.
type Lookup func(path string) (facts.HostMount, error)

// Mounts proves every outcome that claims something, in order; located says
// where they are. Outcomes about mounts that were never judged, or that ask for
// nothing, have no proof.
func Mounts(outcomes []facts.Outcome, located Located, host Lookup) []Proof {
	var proofs []Proof
	for i, o := range outcomes {
		if o.Expected() == facts.Unset || !o.Mount.Bind() {
			continue
		}
		proof := Proof{Destination: o.Mount.Destination, Source: o.Mount.Source, Decided: o.Expected()}
		proof.compare(o, located.Places[i], host)
		proofs = append(proofs, proof)
	}
	return proofs
}

func (p *Proof) unknown(format string, args ...any) {
	p.Verdict, p.Reason = Unknown, fmt.Sprintf(format, args...)
}

// compare judges one outcome by the host's state of what its source leads to
// now, which must be what the container has.
func (p *Proof) compare(o facts.Outcome, place Place, host Lookup) {
	source, err := host(o.Mount.Source)
	if err != nil {
		p.unknown("cannot tell the source's host mount: %v", err)
		return
	}
	p.Host = &source.State
	if place.Over != nil && place.Over.Identity() == source.Identity() {
		place.Entry, place.Sure = *place.Over, true // it followed the host
	}
	switch {
	case !place.Found:
		p.unknown("the container's table has no mount at %s, and none of what was decided about", o.Mount.CleanDestination())
	case !place.Sure:
		p.unknown("several mounts show what was decided about or have the destination %s; the table does not tell which is which", o.Mount.CleanDestination())
	case place.Entry.Identity() != source.Identity():
		p.unknown("%s now leads to %s %s and the container has %s %s: overmounted or replaced since it was made",
			o.Mount.Source, source.Device, source.Identity().Root, place.Entry.Device, place.Entry.Root)
	default:
		p.Seen = &place.Entry.State
		p.Verdict, p.More, p.Reason = judge(o.Expected(), place.Entry.State, source.State)
	}
}

// Actual returns what a mount of a container lets through: Private, Slave or
// Shared. A container mount reaches the host only as a member of the host mount's
// own peer group; it receives when that group is its master, or when both have
// the same master.
func Actual(seen, host facts.MountState) facts.Propagation {
	switch {
	case seen.Peer != 0 && seen.Peer == host.Peer:
		return facts.Shared
	case seen.Master != 0 && (seen.Master == host.Peer || seen.Master == host.Master):
		return facts.Slave
	default:
		return facts.Private
	}
}

// judge compares a mount of the container with its source's mount on the host.
func judge(decided facts.Propagation, seen, host facts.MountState) (v Verdict, more bool, reason string) {
	actual := Actual(seen, host)
	switch {
	case decided.Reach() == facts.Private.Reach() && actual == facts.Private && seen.Master != 0:
		return Unknown, false, fmt.Sprintf("decided %s, the kernel has %s: a slave of a group that is not the host mount's (%s)", decided.Option(), seen, host)
	case decided == facts.Slave && actual == facts.Slave && host.Peer != 0 && seen.Master != host.Peer:
		return Drift, false, fmt.Sprintf("decided %s, the kernel has %s against the host's %s: it receives only what is mounted at the master, not what is mounted on the host", decided.Option(), seen, host)
	case decided.Reach() == actual.Reach():
		if actual == facts.Slave && host.Peer == 0 {
			return Same, false, "slave of a slave-only mount: it receives only what is mounted at the master"
		}
		return Same, false, ""
	case actual.Reach() > decided.Reach():
		return Drift, true, fmt.Sprintf("decided %s, the kernel has %s against the host's %s", decided.Option(), seen, host)
	case !host.Receives():
		return Drift, false, fmt.Sprintf("decided %s, but the host mount is private now; after making it shared the container needs a restart", decided.Option())
	case actual == facts.Slave:
		return Drift, false, fmt.Sprintf("decided %s, the kernel has %s: what the container mounts stays inside (a user namespace makes shared mounts slaves)", decided.Option(), seen)
	case seen.Master != 0 || seen.Peer != 0:
		return Drift, false, fmt.Sprintf("decided %s, the kernel has %s, which is not the host mount's group (%s): the host mount was replaced or shared anew since", decided.Option(), seen, host)
	default:
		return Drift, false, fmt.Sprintf("decided %s, the kernel has %s", decided.Option(), seen)
	}
}

// MoreThanDecided returns the proofs of mounts that let more through than was
// decided.
func MoreThanDecided(proofs []Proof) []Proof {
	var more []Proof
	for _, p := range proofs {
		if p.More {
			more = append(more, p)
		}
	}
	return more
}
