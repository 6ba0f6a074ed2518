package doctor

import (
	"slices"

	"github.com/mountward/mountward/pkg/namespaces"
)

// hostPIDs says to whom it may matter where the rest is.
const hostPIDs = "where the kubelet and the runtime are outside of it, run doctor in their pid namespace (hostPID: true in a pod)"

// outside judges what the census says of what is outside our namespaces. A node
// can be a container itself (kind, k3d, LXC): with process 1, the kubelet and the
// runtime in one pid namespace, what is outside of that is not the node's.
func (g *gatherer) outside(unknown []namespaces.Unknown) []namespaces.Unknown {
	inner := namespaces.Inner(g.Proc)
	whole := inner && g.s.hasKubelet() && g.s.hasRuntime()
	g.s.Elsewhere = inner && !g.s.hasKubelet() && !g.s.hasRuntime()
	var all []namespaces.Unknown
	for _, u := range unknown {
		of := u.What == namespaces.ProcessesOutside || u.What == namespaces.OtherUsers
		switch {
		case of && whole:
			continue
		case of && inner:
			u.Why += "; " + hostPIDs
		}
		all = append(all, u)
	}
	return all
}

func (s *Snapshot) hasKubelet() bool { return s.Kubelet.PID != 0 }

func (s *Snapshot) hasRuntime() bool { return s.Runtime.PID != 0 || s.Runtime.Shim != 0 }

// elsewhere says that this is a container and the node is not to be seen from it:
// its own mount table is no reason to say anything of the node's.
func (s *Snapshot) elsewhere() Finding {
	f := Finding{
		Code: CodeNoNode, Subject: s.Kubelet.Root,
		Message: "cannot tell how mounts propagate on the node: neither a kubelet nor a runtime is in this pid namespace, which is that of a container; " + hostPIDs,
	}
	i := slices.IndexFunc(s.Unknown, func(u namespaces.Unknown) bool { return u.What == namespaces.ProcessesOutside })
	if i >= 0 {
		f.Evidence = []Evidence{{Text: s.Unknown[i].Why, Show: "readlink /proc/1/ns/pid"}}
	}
	return f
}

// The names of the checks whose answer does not depend on which namespaces are
// seen: that of the kernel, and that of a pod, which is found or not.
const (
	KernelCheck = "kernel"
	PodCheck    = "pod"
)

// askable returns the checks that have something to ask here.
func (s *Snapshot) askable(all []Check) (these []Check, skipped bool) {
	if !s.Elsewhere {
		return all, false
	}
	for _, c := range all {
		if c.Name == KernelCheck || c.Name == PodCheck {
			these = append(these, c)
		}
	}
	return these, len(these) < len(all)
}
