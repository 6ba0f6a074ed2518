package verify

import (
	"fmt"

	"github.com/mountward/mountward/pkg/facts"
	"github.com/mountward/mountward/pkg/hostview"
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

// ContainerTable is the container's own mount table.
type ContainerTable interface {
	At(mountPoint string) (hostview.Entry, bool)
	ByIdentity(identity facts.Identity) []hostview.Entry
}

// Lookup resolves a host path in the runtime's mount namespace.
type Lookup func(path string) (facts.HostMount, error)

// Mounts proves every outcome that claims something, in order. Outcomes about
// mounts that were never judged, or that ask for nothing, have no proof.
func Mounts(outcomes []facts.Outcome, table ContainerTable, host Lookup) []Proof {
	same := map[string]int{}
	for _, o := range outcomes {
		same[o.Mount.CleanDestination()]++
	}
	var proofs []Proof
	shows := map[int][]int{} // mount id in the container: the proofs about it
	for _, o := range outcomes {
		if o.Expected() == facts.Unset || !o.Mount.Bind() {
			continue
		}
		proof := Proof{Destination: o.Mount.Destination, Source: o.Mount.Source, Decided: o.Expected()}
		if same[o.Mount.CleanDestination()] > 1 {
			proof.unknown("several mounts have the destination %s; the table does not tell which is which", o.Mount.CleanDestination())
		} else if id, ok := proof.compare(o, table, host); ok {
			shows[id] = append(shows[id], len(proofs))
		}
		proofs = append(proofs, proof)
	}
	// A symbolic link of the image can lead two destinations to one place.
	for _, about := range shows {
		if len(about) < 2 {
			continue
		}
		for _, i := range about {
			proofs[i].Seen, proofs[i].More = nil, false
			proofs[i].unknown("%d mounts lead to one place in the container; the table does not tell which is which", len(about))
		}
	}
	return proofs
}

func (p *Proof) unknown(format string, args ...any) {
	p.Verdict, p.Reason = Unknown, fmt.Sprintf(format, args...)
}

// compare judges one outcome and returns the id of the container's mount that
// it found.
func (p *Proof) compare(o facts.Outcome, table ContainerTable, host Lookup) (id int, ok bool) {
	source, err := host(o.Mount.Source)
	if err != nil {
		p.unknown("cannot tell the source's host mount: %v", err)
		return 0, false
	}
	p.Host = &source.State
	identity := source.Identity()
	seen, why := find(o.Mount, identity, table)
	if why != "" {
		p.unknown("%s", why)
		return 0, false
	}
	p.Seen = &seen.State
	p.Verdict, p.More, p.Reason = judge(o.Expected(), seen.State, source.State)
	return seen.ID, true
}

// find returns the container's mount of m: the topmost one at its destination,
// or, where a symbolic link of the image led elsewhere, the only one with the
// source's identity.
func find(m facts.Mount, identity facts.Identity, table ContainerTable) (hostview.Entry, string) {
	if identity.IsZero() {
		return hostview.Entry{}, "the identity of the source is not known"
	}
	destination := m.CleanDestination()
	if at, ok := table.At(destination); ok {
		if at.Identity() == identity {
			return at, ""
		}
		return hostview.Entry{}, fmt.Sprintf("%s now leads to %s %s and the container has %s %s: overmounted or replaced since it was made",
			m.Source, identity.Device, identity.Root, at.Device, at.Root)
	}
	candidates := table.ByIdentity(identity)
	if len(candidates) == 1 {
		return candidates[0], ""
	}
	return hostview.Entry{}, fmt.Sprintf("the container's table has no mount at %s and %d with the source's identity", destination, len(candidates))
}

// judge compares a mount of the container with its source's mount on the host.
// A container mount reaches the host only as a member of the host mount's own
// peer group; it receives when that group is its master, or when both have the
// same master.
func judge(decided facts.Propagation, seen, host facts.MountState) (v Verdict, more bool, reason string) {
	reaches := seen.Peer != 0 && seen.Peer == host.Peer
	receives := reaches || seen.Master != 0 && (seen.Master == host.Peer || seen.Master == host.Master)
	actual := facts.Private
	switch {
	case reaches:
		actual = facts.Shared
	case receives:
		actual = facts.Slave
	}
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
