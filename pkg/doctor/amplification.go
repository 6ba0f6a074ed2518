package doctor

import (
	"fmt"
	"path"
	"slices"

	"github.com/mountward/mountward/pkg/facts"
	"github.com/mountward/mountward/pkg/hostview"
	"github.com/mountward/mountward/pkg/internal/shell"
)

// The codes of how often a volume is mounted.
const (
	CodeMountedOnce    = "mounted-once"    // yes: each volume
	CodeMountedTwice   = "mounted-twice"   // yes: at more than one place, and no more often as time goes by
	CodeAmplification  = "amplification"   // a shared tree is bound within itself
	CodeReceiversBlind = "receivers-blind" // cannot tell who receives a volume
)

// checkAmplification says how often a volume that is mounted for a pod appears
// on the host, and finds shared trees that are bound within themselves: each
// bind of such a tree brings all its mounts once more, and they appear in every
// earlier copy too.
func checkAmplification(s *Snapshot) []Finding {
	sp, ok := s.host()
	if !ok {
		return nil
	}
	for _, other := range s.spaces() {
		if other.has(RoleKubelet) {
			sp = other
		}
	}
	var all []Finding
	if s.kubeletRoot() != "" {
		all = append(all, s.appearances(sp))
	}
	return append(all, s.nested(sp)...)
}

// appearances predicts where a volume of a new pod appears in one namespace.
func (s *Snapshot) appearances(sp space) Finding {
	// No pod has this directory: what is mounted on one says nothing of others.
	pod := path.Join(s.kubeletRoot(), "pods", "00000000-0000-0000-0000-000000000000")
	f := Finding{Subject: path.Dir(pod), Where: sp.where()}
	groups, self := peerGroups(s.spaces(), sp)
	r, err := groups.Receivers(self, pod)
	if err != nil {
		f.Code, f.Message = CodeReceiversBlind, "cannot tell where volumes appear: "+err.Error()
		return f
	}
	var elsewhere []string
	n := 0
	for _, at := range r.Receivers {
		if at.Namespace != self {
			continue
		}
		if n++; n <= mostLines {
			f.Evidence = append(f.Evidence, sp.evidence(at.Parent))
		}
		if place := path.Dir(at.MountPoint); n > 1 && at.Visible {
			elsewhere = append(elsewhere, place)
		} else if n > 1 {
			elsewhere = append(elsewhere, place+" (covered)")
		}
	}
	f.Code, f.Answer = CodeMountedOnce, facts.Yes
	f.Message = fmt.Sprintf("a volume mounted below %s appears once on the host", word(f.Subject))
	if n > 1 {
		f.Code = CodeMountedTwice
		f.Message = fmt.Sprintf("a volume mounted below %s appears %d times on the host: there and at %s", word(f.Subject), n, list(elsewhere))
		f.Cause = "the directory is bound at several places that are all shared with each other"
		f.Effect = "a table that is longer than it need be; who looks for a device in it finds several places, and a driver can take one for a volume that is still in use"
	}
	if slices.ContainsFunc(r.Perhaps, func(at hostview.Receiver) bool { return at.Namespace == self }) {
		f.Message += "; perhaps more often: " + r.Why
	}
	return f
}

// peerGroups joins the tables of all namespaces that matter, whose inodes need
// not be known, and returns the number that one of them has there.
func peerGroups(spaces []space, of space) (groups *hostview.PeerGroups, self uint64) {
	var tables []hostview.NamespaceTable
	for i, sp := range spaces {
		tables = append(tables, hostview.NamespaceTable{Namespace: uint64(i), Table: sp.first().Table})
		if sp[0].Same(of[0]) {
			self = uint64(i)
		}
	}
	return hostview.NewPeerGroups(tables), self
}

// mostLines bounds the lines of evidence of a finding.
const mostLines = 5

// nested finds mounts that are bound within their own peers: below the directory
// that they show themselves.
func (s *Snapshot) nested(sp space) []Finding {
	t := sp.first().Table
	found := map[int][]hostview.Entry{} // by group
	var groups []int
	for e := range t.All() {
		group := e.State.Peer
		parent, ok := t.ByID(e.Parent)
		if group == 0 || !ok || parent.State.Peer != group || parent.ID == e.ID {
			continue
		}
		rest, below := facts.Below(e.MountPoint, parent.MountPoint)
		at := facts.JoinRoot(parent.Root, rest)
		if !below || at == e.Root || !facts.Within(at, e.Root) {
			continue
		}
		if found[group] == nil {
			groups = append(groups, group)
		}
		found[group] = append(found[group], e)
	}
	var all []Finding
	for _, group := range groups {
		if len(all) == mostPiles {
			break
		}
		all = append(all, s.within(sp, found[group]))
	}
	return all
}

func (s *Snapshot) within(sp space, found []hostview.Entry) Finding {
	e := found[0]
	f := Finding{
		Code: CodeAmplification, Answer: facts.No, Subject: e.MountPoint, Where: sp.where(),
		Message: fmt.Sprintf("a shared tree is bound within itself: %s is a peer of the mount that it lies on, and shows a directory that it lies in", word(e.MountPoint)),
		Effect:  "every mount in the tree appears once more in each copy, and each further bind of the tree with all below it (rbind) makes three times as many",
		Cause:   "a recursive bind of a shared directory to a place below itself, without making it private",
		Fixes: []Fix{{
			What:     "stop what makes the bind or let it be private; then cut the copy off and take it away",
			Commands: []string{"mount --make-rprivate " + shell.Quote(e.MountPoint), "umount -R " + shell.Quote(e.MountPoint)},
		}},
	}
	if len(found) > 1 {
		f.Message += fmt.Sprintf(", and so are %d more", len(found)-1)
	}
	for i, at := range found {
		if i < mostLines {
			f.Evidence = append(f.Evidence, sp.evidence(at))
		}
	}
	if parent, ok := sp.first().Table.ByID(e.Parent); ok {
		f.Evidence = append(f.Evidence, sp.evidence(parent))
	}
	return f
}
