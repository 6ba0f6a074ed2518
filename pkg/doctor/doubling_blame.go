package doctor

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/mountward/mountward/pkg/facts"
	"github.com/mountward/mountward/pkg/hostview"
	"github.com/mountward/mountward/pkg/namespaces"
)

// blamed are the containers through which a mount can have come to the host.
type blamed struct {
	names    []string
	evidence []Evidence
	unknown  []string // containers that could be, and why that cannot be told
}

func (b blamed) cause() string {
	text := "no running container has a Bidirectional (rshared) mount that covers the place: what makes the mounts is on the host, or has ended"
	if len(b.names) > 0 {
		text = "what these containers mount there, and each mount of their own that lands in a Bidirectional (rshared) one, appears on the host: " + strings.Join(b.names, ", ")
	} else if len(b.unknown) > 0 {
		text = "no running container is known to have a Bidirectional (rshared) mount that covers the place"
	}
	if len(b.unknown) > 0 {
		text += "; cannot tell of " + strings.Join(b.unknown, ", ")
	}
	return text
}

// fixes stop what the containers do, first of all: what is unmounted comes back
// with their next restart.
func (b blamed) fixes() []Fix {
	if len(b.names) == 0 {
		return nil
	}
	return []Fix{{
		What: "take mountPropagation: Bidirectional from that mount in the pod's manifest, or mount a directory that holds none of the container's own mounts; " +
			"a manifest that cannot be changed can be overruled by a rule of mountward's policy, for that one container: action = \"set\", propagation = \"rslave\" (a CSI driver needs Bidirectional: what it mounts would stay in it)",
		Persistent: true,
	}}
}

// mostBlamed bounds the containers that are named.
const mostBlamed = 10

// blame finds for each of some mounts of the host the running containers that
// have a mount which is a peer of the one that it lies on, and shows the directory
// it is on: the one with the longest path first. Each container's table is read
// once.
func (s *Snapshot) blame(sp space, mounts []hostview.Entry) []blamed {
	all := make([]blamed, len(mounts))
	found := make([][]peer, len(mounts))
	table := sp.first().Table
	for _, c := range s.containers() {
		if c.Running.Truth == facts.No || !c.asks(facts.Shared) {
			continue
		}
		why := c.Running.Why
		var t *hostview.Table
		if c.Running.Truth == facts.Yes {
			var err error
			if t, err = s.tableOf(c); errors.Is(err, namespaces.ErrGone) {
				continue
			} else if err != nil {
				why = err.Error()
			}
		}
		for i, e := range mounts {
			group, at := base(table, e)
			if group == 0 {
				continue // nobody else can have made it
			}
			if t == nil {
				all[i].unknown = append(all[i].unknown, fmt.Sprintf("%s (%s)", c.name(), why))
			} else if m, ok := peerOf(t, group, at); ok {
				found[i] = append(found[i], peer{c, m})
			}
		}
	}
	for i := range all {
		all[i].say(found[i])
	}
	return all
}

// peer is a container with a mount that is in a peer group of the host.
type peer struct {
	container
	mount hostview.Entry
}

func (b *blamed) say(found []peer) {
	slices.SortStableFunc(found, func(a, b peer) int { return cmp.Compare(len(b.mount.Root), len(a.mount.Root)) })
	for i, p := range found {
		if i == mostBlamed {
			b.names = append(b.names, fmt.Sprintf("%d more", len(found)-mostBlamed))
			return
		}
		b.names = append(b.names, p.name())
		b.evidence = append(b.evidence, p.evidence(p.mount))
	}
}

// base returns the peer group of the mount below a stack, and the place of the
// stack in its superblock.
func base(t *hostview.Table, e hostview.Entry) (group int, at facts.Identity) {
	for range t.Len() {
		parent, ok := t.ByID(e.Parent)
		if !ok {
			return 0, facts.Identity{}
		}
		if rest, below := facts.Below(e.MountPoint, parent.MountPoint); below && rest != "" {
			return parent.State.Peer, facts.Identity{Device: parent.Device, Root: facts.JoinRoot(parent.Root, rest)}
		}
		e = parent
	}
	return 0, facts.Identity{} // torn: the parents go round
}

func peerOf(t *hostview.Table, group int, at facts.Identity) (best hostview.Entry, found bool) {
	for e := range t.All() {
		if e.State.Peer == group && e.Device == at.Device && facts.Within(at.Root, e.Root) && (!found || len(e.Root) > len(best.Root)) {
			best, found = e, true
		}
	}
	return best, found
}
