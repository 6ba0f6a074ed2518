package pins

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/mountward/mountward/pkg/internal/linux"
	"github.com/mountward/mountward/pkg/internal/shell"
	"github.com/mountward/mountward/pkg/namespaces"
)

// maxCommands bounds the commands of one cure.
const maxCommands = 8

// cureMounts are the cures for mounts in a namespace, from gentle to rough.
func (g *groups) cureMounts(h *Holder) {
	switch {
	case h.User:
		h.endUse()
		return
	case h.Where == WhereHost:
		g.unmountThere(h, "unmount it", "none, if nobody needs it; refused while something in it is open")
		h.cure("a lazy unmount only hides it: the file system lives until the last file is closed, and is then harder to find", "the next search")
		return
	case h.Mounts[0].HostMount != 0:
		g.unmountOnHost(h)
		return
	case g.locked(h):
		h.cure("it cannot be unmounted by itself: the namespace is another user namespace's, and its mounts are locked together", "the namespace has to end")
	default:
		g.unmountThere(h, "unmount it there", "what runs there loses the path until it is started again; with rslave by policy no new copies stay")
	}
	if dirs := g.directories(h); len(dirs) > 0 {
		h.cure("remove the host's directories that the copies lie on, which drops them in all namespaces (Linux 3.18)", "the directories are gone; refused where they are not empty", dirs...)
	}
	g.restart(h)
	g.release(h)
}

// locked reports a namespace of another user namespace than the host's, the
// mounts of which were copied and cannot be unmounted one by one.
func (g *groups) locked(h *Holder) bool {
	i := slices.IndexFunc(g.Census.Namespaces, func(n *namespaces.Namespace) bool { return n.Inode == g.Home })
	return i >= 0 && h.namespace.User != 0 && g.Census.Namespaces[i].User != 0 && h.namespace.User != g.Census.Namespaces[i].User
}

// directories are the commands that remove the host's directories on which the
// copies of a holder lie, where the host has nothing mounted any more.
func (g *groups) directories(h *Holder) []string {
	var all []string
	for _, m := range h.Mounts {
		if m.HostPath == "" || m.HostMount != 0 || m.Propagation != privateCopy || h.Kind != KindMount || g.home == nil {
			continue
		}
		if _, mounted := g.home.At(m.HostPath); mounted || m.PodUID == "" {
			continue // only the kubelet's directories are nobody's
		}
		all = append(all, "rmdir "+shell.Quote(m.HostPath))
	}
	slices.Sort(all)
	return slices.Compact(all)
}

// endUse is the cure for what is in use as it should be.
func (h *Holder) endUse() {
	if h.Owner.Pod == "" && h.Owner.ContainerID != "" {
		h.cure("stop the container that uses it", "the container is stopped", "crictl stop "+shell.Quote(h.Owner.ContainerID))
		return
	}
	h.cure("end the pod that uses it", "the pod ends", h.deletePod()...)
}

// restart adds what ends the processes of a holder.
func (s *search) restart(h *Holder) {
	switch o := h.Owner; {
	case o.sandbox:
		h.cure("restart the pod", "all its containers are stopped; the kubelet makes it anew", "crictl stopp "+shell.Quote(o.ContainerID))
		h.cure("delete the pod", "the pod ends", h.deletePod()...)
	case o.ContainerID != "":
		h.cure("restart the container", "the container is stopped; the kubelet starts it again", "crictl stop "+shell.Quote(o.ContainerID))
		if o.Pod != "" {
			h.cure("delete the pod", "the pod ends", h.deletePod()...)
		}
	case o.Unit != "" && len(h.Processes) > 0:
		h.cure("restart the service", "the service is down for a moment", "systemctl restart "+shell.Quote(o.Unit))
	case len(h.Processes) > 0:
		h.cure("end the processes", "they end", s.kills(h)...)
	}
}

func (s *search) kills(h *Holder) (all []string) {
	for _, p := range h.Processes {
		all = append(all, s.kill(p.PID))
	}
	return all
}

// kill ends a process. The first of a pid namespace is not ended by a signal that
// it does not handle, except SIGKILL, which ends all of the namespace.
func (s *search) kill(pid int) string {
	if s.initOfNamespace(pid) {
		return fmt.Sprintf("kill -9 %d", pid)
	}
	return fmt.Sprintf("kill %d", pid)
}

// initOfNamespace reports the first process of a pid namespace below ours.
func (s *search) initOfNamespace(pid int) bool {
	task, err := linux.OpenProcTask(s.Proc, strconv.Itoa(pid))
	if err != nil {
		return false
	}
	defer task.Close()
	text, err := task.Read("status", maxStatus)
	if err != nil {
		return false
	}
	for line := range strings.Lines(string(text)) {
		if numbers, ok := strings.CutPrefix(line, "NSpid:"); ok {
			all := strings.Fields(numbers)
			return len(all) > 1 && all[len(all)-1] == "1"
		}
	}
	return false
}

// maxStatus bounds what is read of /proc/PID/status.
const maxStatus = 64 << 10

func (h *Holder) deletePod() []string {
	if h.Owner.Pod == "" {
		return nil
	}
	return []string{fmt.Sprintf("kubectl delete pod -n %s %s", shell.Quote(h.Owner.Namespace), shell.Quote(h.Owner.Pod))}
}

func (h *Holder) cure(what, cost string, commands ...string) {
	if more := len(commands) - maxCommands; more > 0 {
		commands = append(slices.Clone(commands[:maxCommands]), fmt.Sprintf("# and %d more", more))
	}
	h.Cures = append(h.Cures, Cure{What: what, Commands: commands, Cost: cost})
}
