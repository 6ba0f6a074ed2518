package pins

import (
	"fmt"
	"slices"

	"github.com/mountward/mountward/pkg/namespaces"
)

// maxCommands bounds the commands of one cure.
const maxCommands = 8

// cureMounts are the cures for mounts in a namespace, from gentle to rough.
func (g *groups) cureMounts(h *Holder) {
	switch {
	case h.User:
		h.cure("end the pod that uses it", "the pod ends", h.deletePod()...)
		return
	case h.Where == WhereHost:
		h.cure("unmount it", "none, if nobody needs it; refused while something in it is open", g.unmounts(h)...)
		h.cure("a lazy unmount only hides it: the file system lives until the last file is closed, and is then harder to find", "the next search")
		return
	case h.Mounts[0].Propagation != privateCopy && g.onHost(h) && follows(h.Mounts[0], h.Use):
		h.cure("unmount it on the host", "none; refused while something in it is open: see what is listed", g.onTheHost(h)...)
		return
	case g.locked(h):
		h.cure("it cannot be unmounted by itself: the namespace is another user namespace's, and its mounts are locked together", "the namespace has to end")
	default:
		h.cure("unmount it there", "what runs there loses the path until it is started again; with rslave by policy no new copies stay", g.unmounts(h)...)
	}
	if dirs := g.directories(h); len(dirs) > 0 {
		h.cure("remove the host's directories that the copies lie on, which drops them in all namespaces (Linux 3.18)", "the directories are gone; refused where they are not empty", dirs...)
	}
	h.restart()
	for _, held := range h.Held {
		if held.PID != 0 {
			h.cure(fmt.Sprintf("let process %d close descriptor %d, or end it", held.PID, held.FD), "the process ends", fmt.Sprintf("kill %d", held.PID))
		} else if held.Path != "" {
			h.cure("unmount the namespace's file, and the namespace ends", "nobody can enter the namespace any more", "umount "+Quote(held.Path))
		}
	}
}

// onTheHost are the commands that unmount on the host what copies follow.
func (g *groups) onTheHost(h *Holder) (all []string) {
	for _, m := range h.Mounts {
		if _, mounted := g.home.At(m.HostPath); m.HostPath != "" && mounted {
			all = append(all, "umount "+Quote(m.HostPath))
		}
	}
	return all
}

// locked reports a namespace of another user namespace than the host's, the
// mounts of which were copied and cannot be unmounted one by one.
func (g *groups) locked(h *Holder) bool {
	i := slices.IndexFunc(g.Census.Namespaces, func(n *namespaces.Namespace) bool { return n.Inode == g.Home })
	return i >= 0 && h.namespace.User != 0 && g.Census.Namespaces[i].User != 0 && h.namespace.User != g.Census.Namespaces[i].User
}

// unmounts are the commands that unmount the mounts of a holder, the last one
// first: a later one can lie on an earlier one.
func (g *groups) unmounts(h *Holder) []string {
	in := ""
	if file := namespaceFile(h); file != "" {
		in = "-N " + Quote(file) + " "
	} else if h.Where != WhereHost {
		return nil
	}
	var all []string
	for _, m := range slices.Backward(h.Mounts) {
		all = append(all, "umount "+in+Quote(m.MountPoint))
	}
	return all
}

// directories are the commands that remove the host's directories on which the
// copies of a holder lie, where the host has nothing mounted any more.
func (g *groups) directories(h *Holder) []string {
	var all []string
	for _, m := range h.Mounts {
		if m.HostPath == "" || m.Propagation != privateCopy || h.Kind != KindMount || g.home == nil {
			continue
		}
		if _, mounted := g.home.At(m.HostPath); mounted || m.PodUID == "" {
			continue // only the kubelet's directories are nobody's
		}
		all = append(all, "rmdir "+Quote(m.HostPath))
	}
	slices.Sort(all)
	return slices.Compact(all)
}

// restart adds what ends the processes of a holder.
func (h *Holder) restart() {
	switch o := h.Owner; {
	case o.sandbox:
		h.cure("restart the pod", "all its containers are stopped; the kubelet makes it anew", "crictl stopp "+Quote(o.ContainerID))
		h.cure("delete the pod", "the pod ends", h.deletePod()...)
	case o.ContainerID != "":
		h.cure("restart the container", "the container is stopped; the kubelet starts it again", "crictl stop "+Quote(o.ContainerID))
		if o.Pod != "" {
			h.cure("delete the pod", "the pod ends", h.deletePod()...)
		}
	case o.Unit != "" && len(h.Processes) > 0:
		h.cure("restart the service", "the service is down for a moment", "systemctl restart "+Quote(o.Unit))
	case len(h.Processes) > 0:
		h.cure("end the processes", "they end", h.kills()...)
	}
}

func (h *Holder) kills() (all []string) {
	for _, p := range h.Processes {
		all = append(all, fmt.Sprintf("kill %d", p.PID))
	}
	return all
}

func (h *Holder) deletePod() []string {
	if h.Owner.Pod == "" {
		return nil
	}
	return []string{fmt.Sprintf("kubectl delete pod -n %s %s", Quote(h.Owner.Namespace), Quote(h.Owner.Pod))}
}

func (h *Holder) cure(what, cost string, commands ...string) {
	if more := len(commands) - maxCommands; more > 0 {
		commands = append(slices.Clone(commands[:maxCommands]), fmt.Sprintf("# and %d more", more))
	}
	h.Cures = append(h.Cures, Cure{What: what, Commands: commands, Cost: cost})
}
