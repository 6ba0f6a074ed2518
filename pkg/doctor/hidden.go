package doctor

import (
	"fmt"
	"strings"

	"github.com/mountward/mountward/pkg/facts"
	"github.com/mountward/mountward/pkg/hostview"
	"github.com/mountward/mountward/pkg/internal/shell"
)

// CodeVolumeHidden is a volume that is mounted, and not where the kubelet looks.
const CodeVolumeHidden = "volume-hidden"

// hiddenVolumes are those that one mount hides.
type hiddenVolumes struct {
	by      hostview.Entry
	volumes []hostview.Entry
	from    string // the directory that they are mounted below
}

// hidden finds volumes of pods that the kubelet's path does not lead to: a mount
// was made above them, mostly a bind of the kubelet's root without what is
// mounted below.
func (n *node) hidden() []Finding {
	sp, ok := n.kubeletSpace()
	root := n.Kubelet.Canonical
	if !ok || root == "" {
		return nil
	}
	found := n.hiddenIn(sp.first().Table, root)
	if len(found) == 0 {
		return nil
	}
	now, err := n.again(sp)
	if err != nil {
		return []Finding{{
			Code: CodeVolumeHidden, Subject: root, Where: sp.where(),
			Message: fmt.Sprintf("cannot tell whether %d volumes below %s are hidden: the mount table could not be read again: %v", len(found[0].volumes), word(found[0].from), err),
		}}
	}
	var all []Finding
	for _, h := range n.hiddenIn(now, root) {
		all = append(all, n.hiddenBy(sp, now, root, h))
	}
	return all
}

// kubeletSpace is the mount namespace of the kubelet, or where it would be.
func (n *node) kubeletSpace() (space, bool) {
	for _, sp := range n.spaces {
		if sp.has(RoleKubelet) {
			return sp, true
		}
	}
	return n.home, len(n.home) > 0
}

// hiddenIn returns them by the mounts that hide them.
func (n *node) hiddenIn(t *hostview.Table, root string) []hiddenVolumes {
	var all []hiddenVolumes
	index := map[int]int{}
	for e := range t.All() {
		if !strings.Contains(e.MountPoint, "/volumes/kubernetes.io~") {
			continue
		}
		for _, from := range []string{root, n.Kubelet.Bound} {
			rest, below := facts.Below(e.MountPoint, from)
			if from == "" || !below {
				continue
			}
			path := facts.JoinRoot(root, rest)
			on, ok := t.Covering(path)
			// What is exactly there is the volume, or one that was mounted anew.
			if !ok || on.MountPoint == path {
				break
			}
			i, ok := index[on.ID]
			if !ok {
				i = len(all)
				index[on.ID] = i
				all = append(all, hiddenVolumes{by: on, from: from})
			}
			all[i].volumes = append(all[i].volumes, e)
			break
		}
	}
	return all
}

func (n *node) hiddenBy(sp space, t *hostview.Table, root string, h hiddenVolumes) Finding {
	point := h.by.MountPoint
	f := Finding{
		Code: CodeVolumeHidden, Answer: facts.No, Subject: root, Where: sp.where(), Amount: len(h.volumes),
		Evidence: []Evidence{sp.evidence(h.by)},
		Message:  fmt.Sprintf("%d volumes that are mounted below %s are not seen at the kubelet's path: there the mount at %s (id %d) is, without them", len(h.volumes), word(h.from), word(point), h.by.ID),
		Cause:    fmt.Sprintf("%s was mounted after them, and not with what is mounted below: mount --bind instead of --rbind, or another file system", word(point)),
		Effect:   "a container that starts gets an empty directory in place of its volume and writes beside it; the kubelet cannot unmount the volume, so it stays in use",
	}
	for _, e := range h.volumes[:min(mostLines, len(h.volumes))] {
		f.Evidence = append(f.Evidence, sp.evidence(e))
	}
	fix := Fix{What: fmt.Sprintf("stop the pods that use what is mounted at %s, then unmount it; umount refuses while something is mounted on it or in use", word(point))}
	enter := sp.enter()
	// Where it is gone, another one may be there that nothing was said of.
	unmount := fmt.Sprintf("grep -q '^%d ' /proc/%d/mountinfo && %sumount %s", h.by.ID, sp.first().Process.PID, enter, shell.Quote(point))
	parent, ok := t.ByID(h.by.Parent)
	switch {
	case h.from != root && point == root:
		fix.What += ", and bind the directory with all that is mounted below"
		fix.Commands = []string{fmt.Sprintf("%s && %smount --rbind %s %s && %s", unmount, enter, shell.Quote(h.from), shell.Quote(root), enter+share(root))}
	case ok && !parent.State.Shared():
		fix.What += ", and share what is below it, which nothing hides"
		fix.Commands = []string{unmount + " && " + enter + share(parent.MountPoint)}
	default:
		fix.Commands = []string{unmount}
	}
	f.Fixes = []Fix{fix}
	return f
}
