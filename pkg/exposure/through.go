package exposure

import (
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/mountward/mountward/pkg/facts"
	"github.com/mountward/mountward/pkg/hostview"
)

// arrival is how a mount came into a container.
type arrival struct {
	Through
	hostPath string
	mine     bool // the source is the pod's own by its path
}

// through says which mount of the specification brought what is at a path of
// the container: the one with the longest destination at or above the mount
// point. A destination that the image has a link at (/var/run) is another mount
// point: then it is the one that shows the same.
func (f *finder) through(w Who, e hostview.Entry, at string) arrival {
	if w.Kind != KindContainer || w.Note != "" {
		return arrival{Through: Through{Kind: ThroughNamespace}}
	}
	if w.task == nil {
		return arrival{Through: Through{Kind: unasked(e)}}
	}
	mounts := w.task.Spec.Mounts
	if len(mounts) == 0 {
		mounts = w.task.Container.Mounts
	}
	m, found := longest(mounts, e.MountPoint)
	if !found || !m.Bind() && m.CleanDestination() != e.MountPoint {
		if linked, ok := f.same(mounts, e); ok {
			m, found = linked, true
		}
	}
	if !found {
		a := arrival{Through: Through{Kind: unasked(e)}}
		a.mine = a.Kind == ThroughRootfs
		return a
	}
	a := arrival{Through: Through{Destination: m.Destination, Source: m.Source, Kind: ThroughOwn}}
	a.Copy = f.copyOf(e, m)
	if !m.Bind() {
		a.mine = a.Copy == CopyAsked
		return a
	}
	a.classify(w, m.Source, f.KubeletRoot)
	rest, ok := facts.Below(at, m.CleanDestination())
	if !ok {
		rest, _ = facts.Below(at, e.MountPoint)
	}
	if source, ok := facts.CleanAbs(m.Source); ok {
		a.hostPath = path.Join(source, rest)
	}
	return a
}

// unasked is of what no mount of the specification brought.
func unasked(e hostview.Entry) string {
	if e.MountPoint == "/" {
		return ThroughRootfs
	}
	return ThroughUnasked
}

// longest finds the mount with the longest destination at or above a path; of
// equal ones the last, which covers the others.
func longest(mounts []facts.Mount, at string) (found facts.Mount, ok bool) {
	for _, m := range mounts {
		d := m.CleanDestination()
		if facts.Within(at, d) && (!ok || len(d) >= len(found.CleanDestination())) {
			found, ok = m, true
		}
	}
	return found, ok
}

// same finds the bind whose source shows what the mount shows.
func (f *finder) same(mounts []facts.Mount, e hostview.Entry) (facts.Mount, bool) {
	i := slices.IndexFunc(mounts, func(m facts.Mount) bool { return m.Bind() && f.leads(m.Source, e.Identity()) })
	if i < 0 {
		return facts.Mount{}, false
	}
	return mounts[i], true
}

// leads reports whether a path leads to something by the host's table. A
// symbolic link in it is not known to a table: containerd resolves them before
// it writes a specification.
func (f *finder) leads(source string, to facts.Identity) bool {
	source, ok := facts.CleanAbs(source)
	if !ok || f.host == nil {
		return false
	}
	e, ok := f.host.Covering(source)
	return ok && e.HostMount(source).Identity() == to
}

// copyOf says how a mount is related to the host's.
func (f *finder) copyOf(e hostview.Entry, m facts.Mount) string {
	switch {
	case e.MountPoint == m.CleanDestination() || m.Bind() && f.leads(m.Source, e.Identity()) && !facts.Within(e.MountPoint, m.CleanDestination()):
		return CopyAsked
	case f.peers[e.State.Peer]:
		return CopyShared
	case f.peers[e.State.Master]:
		return CopySlave
	case e.State.Master != 0:
		return CopyForeign
	default:
		return CopyPrivate
	}
}

// classify tells what the source of a bind is.
func (a *arrival) classify(w Who, source, kubeletRoot string) {
	source, ok := facts.CleanAbs(source)
	k, kubelets := facts.ParseKubeletPath(source, kubeletRoot)
	switch {
	case !ok:
		a.Kind = ThroughHostPath
	case source == "/":
		a.Kind = ThroughHostRoot
	case w.task.Container.Pod.ID != "" && slices.Contains(strings.Split(source, "/"), w.task.Container.Pod.ID):
		a.Kind, a.mine = ThroughRuntime, true
	case !kubelets:
		a.Kind = ThroughHostPath
	default:
		a.Kind = kindOfRole(k.Role)
		a.mine = k.PodUID != "" && k.PodUID == w.PodUID && a.Kind != ThroughHostPath
	}
}

func kindOfRole(role string) string {
	switch role {
	case facts.PathRoot:
		return ThroughKubeletRoot
	case facts.PathPods:
		return ThroughPods
	case facts.PathPod, facts.PathEtcHosts, facts.PathContainer, facts.PathVolume, facts.PathDevice:
		return ThroughPod
	case facts.PathTarget, facts.PathSubpath:
		return ThroughVolume
	case facts.PathStaged, facts.PathStaging, facts.PathDevStage:
		return ThroughStaging
	case facts.PathPlugins, facts.PathDevTarget, facts.PathDevMap, facts.PathDevData:
		return ThroughPlugins
	default:
		return ThroughHostPath
	}
}

// ownOf answers whether what is reached is the pod's own.
func (f *finder) ownOf(w Who, want wanted, e hostview.Entry, a arrival) facts.Answer {
	evidence, owner := want.owners[w.PodUID]
	switch {
	case w.Node():
		return facts.Is(false, "it is the node, not the pod")
	case w.PodUID != "" && owner:
		return facts.Is(true, evidence)
	case a.Kind == ThroughRootfs && a.mine:
		return facts.Is(true, "it is its root filesystem")
	case a.Kind == ThroughOwn && a.mine:
		return facts.Is(true, "it was made for the container")
	case f.host == nil:
		return facts.CannotTell("the node's mount table was not read")
	case !a.mine || a.Copy != CopyAsked:
		return facts.Is(false, "no directory of its pod leads to it")
	case f.leads(a.Source, e.Identity()):
		return facts.Is(true, "its source is its own: "+a.Source)
	default:
		return facts.CannotTell(fmt.Sprintf("its source %s is its own by the path, and leads to something else on the host now", a.Source))
	}
}

// twin reports whether something came from another place of the host than
// where the target is: by another root of the kubelet, or beside the path that
// was asked for.
func (w *wanted) twin(hostPath, kubeletRoot string) bool {
	if hostPath == "" {
		return false
	}
	if k, ok := facts.ParseKubeletPath(hostPath, kubeletRoot); ok && kubeletRoot != "" && k.Root != path.Clean(kubeletRoot) {
		return true
	}
	return w.path != "" && !facts.Within(hostPath, w.path) && !facts.Within(w.path, hostPath)
}
