package doctor

import (
	"fmt"

	"github.com/mountward/mountward/pkg/facts"
)

// The codes of how the mount namespaces stand to each other.
const (
	CodeHostApart       = "host-apart"       // yes: kubelet and runtime share one that is not process 1's
	CodeNamespacesApart = "namespaces-apart" // yes where they are linked by peer groups; no where a path is cut
)

// apart tells of mount namespaces that are not one. Whether the paths in them
// are linked is judged path by path; here it is said whose they are and why.
func (n *node) apart() []Finding {
	if len(n.spaces) < 2 {
		return nil
	}
	var all []Finding
	for _, sp := range n.spaces {
		if sp.has(RoleInit) {
			continue
		}
		f := Finding{
			Code: CodeNamespacesApart, Answer: facts.Yes, Subject: sp.first().Process.Comm, Where: sp.where(),
			Message:  fmt.Sprintf("%s is in another mount namespace than process 1", sp.first().Name()),
			Evidence: n.namespaceEvidence(sp),
			Cause:    n.ownNamespace(sp),
		}
		var cut []string
		var first looked
		for _, path := range n.Require {
			at, why := n.look(sp, path)
			if why != "" {
				continue // said by its own finding
			}
			if _, linked := n.linked(at); !linked {
				if cut = append(cut, path); len(cut) == 1 {
					first = at
				}
			}
		}
		switch {
		case n.home[0].Same(sp[0]):
			f.Code = CodeHostApart
			f.Message = fmt.Sprintf("kubelet and runtime are in one mount namespace, which is not that of process 1: it counts as the host's here, and host tools outside do not see what is mounted in it (nsenter --mount=/proc/%d/ns/mnt does)", sp.first().Process.PID)
		case len(cut) > 0:
			f.Answer = facts.No
			f.Message += fmt.Sprintf(", and not linked with it for %s", list(cut))
			f.Effect = "what is mounted on one side is not seen on the other: pods get empty directories where volumes should be, and volumes stay mounted where nobody looks"
			f.Fixes = n.rejoin(first)
		default:
			f.Message += "; every required path is linked with it by a peer group"
		}
		all = append(all, f)
	}
	return all
}

func (n *node) namespaceEvidence(sp space) []Evidence {
	var all []Evidence
	for _, place := range n.Places {
		if place.Role == RoleInit || sp.has(place.Role) {
			text := fmt.Sprintf("%s mnt:[%d]", place.Name(), place.Inode)
			if place.Inode == 0 {
				text = place.Name() + " mnt: not known"
			}
			all = append(all, Evidence{Text: text, Show: fmt.Sprintf("readlink /proc/%d/ns/mnt", place.Process.PID)})
		}
	}
	return all
}

// list joins a few words for a sentence.
func list(words []string) string {
	const most = 4
	text := ""
	for i, w := range words {
		if i == most {
			return fmt.Sprintf("%s and %d more", text, len(words)-most)
		}
		if i > 0 {
			text += ", "
		}
		text += word(w)
	}
	return text
}
