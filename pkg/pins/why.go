package pins

import (
	"fmt"
	"strings"

	"github.com/mountward/mountward/pkg/facts"
)

// explain says of the mounts in one namespace why they hold the target, and how
// each is let go.
func (g *groups) explain(h *Holder) {
	h.Why = g.whyMounted(h)
	g.cureMounts(h)
}

func (g *groups) whyMounted(h *Holder) string {
	m := h.Mounts[0]
	many := len(h.Mounts)+h.MountsOmitted > 1
	switch {
	case h.Kind == KindNamespaceFile:
		return "the namespace's file is mounted there: a namespace lives as long as a mount of its file"
	case h.Use == UseLeftover:
		k, _ := facts.ParseKubeletPath(m.MountPoint, g.KubeletRoot)
		what := "a mount"
		if k.Role == facts.PathSubpath {
			what = "a subPath"
		}
		return fmt.Sprintf("%s that was left behind in the directory of pod %s: no container of the pod is on the node", what, m.PodUID)
	case h.Use == UseOwn && m.PodUID == "" && h.Where == WhereHost:
		return "the root filesystem of a container that runs: its use"
	case h.Use == UseOwn && h.Where == WhereHost:
		return "the kubelet's mount for a pod that is there: the volume's use"
	case h.Use == UseOwn && m.MountPoint == "/":
		return "the container's own root filesystem: it is in use"
	case h.Use == UseOwn:
		return "the pod's own volume: it is in use"
	case h.Use == UseUnclear:
		return fmt.Sprintf("the host's mount in the directory of pod %s; whether that pod is there cannot be told: %s", m.PodUID, g.podGone(m.PodUID).Why)
	case h.Use == UseHost && many:
		return "the host's own mounts"
	case h.Use == UseHost:
		return "it is the host's own mount"
	case len(h.Processes) == 0:
		return g.whyWithoutProcess(h)
	}
	return g.whyCopied(h)
}

// whyCopied says whether a copy goes when the host unmounts.
func (g *groups) whyCopied(h *Holder) string {
	m := h.Mounts[0]
	of := "a slave copy"
	switch m.Propagation {
	case privateCopy:
		of = "a private copy"
	case ownGroup:
		of = "a copy in a peer group of its own"
	case withHost:
		of = "a copy in the host's peer group"
	}
	const busy = "it goes when the host unmounts, and while something in it is open the host's unmount is refused (EBUSY)"
	switch {
	case m.peer:
		return of + ", mounted where mounts travel both ways: it goes when either side unmounts, unless something in it is open"
	case m.HostMount != 0 && m.Propagation == privateCopy:
		return of + " below a mount that follows the host's: " + busy
	case m.HostMount != 0:
		return of + ": " + busy
	case g.home != nil && !g.onHost(h):
		return of + ": it stays, and the host has no mount of it"
	default:
		return of + ": it stays when the host unmounts, which does not reach the mount that it is mounted on"
	}
}

func (g *groups) whyWithoutProcess(h *Holder) string {
	var by []string
	for _, held := range h.Held {
		if held.PID != 0 {
			p := g.byPID[held.PID]
			by = append(by, fmt.Sprintf("fd %d of %s[%d]", held.FD, p.Comm, held.PID))
		} else {
			by = append(by, "the bind mount "+held.Path)
		}
	}
	if len(by) == 0 {
		by = []string{"something that could not be found"}
	}
	return "mounted in a namespace that no process is in; it is kept by " + strings.Join(by[:min(len(by), 4)], ", ")
}

// onHost reports whether the host has one of the superblocks mounted.
func (g *groups) onHost(h *Holder) bool {
	for _, m := range h.Mounts {
		if g.home != nil && g.home.Mounted(m.Device) {
			return true
		}
	}
	return false
}
