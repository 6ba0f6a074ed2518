package leftover

import (
	"fmt"
	"strings"

	"github.com/mountward/mountward/pkg/facts"
	"github.com/mountward/mountward/pkg/hostview"
)

// The codes of what is left behind.
const (
	Rootfs  = "rootfs"   // the container's root filesystem
	DeadPod = "dead-pod" // below the directory of the container's pod, which has no task any more
	Made    = "made"     // appeared, while the container ran, below a path that only it shared with the host
	Doubled = "doubled"  // stacked at least twice as often as when the container started
)

// End is a container that has ended.
type End struct {
	Rootfs   string   // <bundle>/rootfs, "" where it is not known
	PodUID   string   // "" where it is not known
	Shared   []string // canonical paths of the host that it could mount below
	Baseline *Baseline
	// AtEnd is what was there when the container ended: what came later is not
	// its own. Without it nothing is told that needs a baseline.
	AtEnd       *Baseline
	KubeletRoot string
	RuntimeDirs []string // the runtime's state and root directories
	// Alive reports whether a pod has a task on this node.
	Alive func(podUID string) bool
	// Others reports whether another container that had not ended then shared
	// the path with the host as well: then nobody can tell whose the mount is.
	Others func(path string) bool
}

// Mount is one mount that is left.
type Mount struct {
	hostview.Entry
	Code  string
	Why   string
	Count int // of the same thing at the same place
}

// Find returns what is left, each place once, in the order of the table.
func (e End) Find(table *hostview.Table) []Mount {
	counts := map[place]int{}
	for m := range table.All() {
		if e.concerns(m.MountPoint) {
			counts[place{m.MountPoint, m.Identity()}]++
		}
	}
	var found []Mount
	for m := range table.All() {
		n := counts[place{m.MountPoint, m.Identity()}]
		if n == 0 || kernels(m.FSType) {
			continue
		}
		delete(counts, place{m.MountPoint, m.Identity()})
		if e.AtEnd.known() && below(m.MountPoint, e.Shared) {
			n = min(n, e.AtEnd.count(m))
		}
		if code, why := e.judge(m, n); code != "" {
			found = append(found, Mount{Entry: m, Code: code, Why: why, Count: n})
		}
	}
	return found
}

// concerns is a cheap first look: most mounts of a node are nobody's business
// here.
func (e End) concerns(path string) bool {
	return path == e.Rootfs || below(path, e.Shared) || e.PodUID != "" && strings.Contains(path, e.PodUID)
}

// kernels reports file systems that are held elsewhere on purpose, or would
// make somebody look who must not: Cilium's bpf, cgroups, network namespaces,
// and FUSE, whose server is often the container itself.
func kernels(fsType string) bool {
	switch fsType {
	case "bpf", "cgroup", "cgroup2", "nsfs", "fuse":
		return true
	default:
		return strings.HasPrefix(fsType, "fuse.")
	}
}

func (e End) judge(m hostview.Entry, count int) (code, why string) {
	if m.MountPoint == e.Rootfs {
		return Rootfs, "the root filesystem of a container that has ended"
	}
	path, kubelets := facts.ParseKubeletPath(m.MountPoint, e.KubeletRoot)
	pods := kubelets && path.PodUID != ""
	shared := below(m.MountPoint, e.Shared)
	switch {
	case shared && e.compares() && doubled(e.Baseline.count(m), count):
		return Doubled, fmt.Sprintf("mounted %d times on top of each other, %d at the container's start", count, e.Baseline.count(m))
	case pods && e.Alive(path.PodUID):
		return "", ""
	case pods && path.PodUID == e.PodUID:
		return DeadPod, "its pod has no task on this node any more"
	case pods && shared && e.isNew(m):
		return DeadPod, fmt.Sprintf("appeared while the container ran, and pod %s has no task on this node", path.PodUID)
	case pods, kubelets && staging(path), !shared, below(m.MountPoint, e.RuntimeDirs):
		return "", ""
	case e.private(m.MountPoint) && e.isNew(m) && !e.Others(m.MountPoint):
		return Made, "appeared while the container ran, below a path that it shared with the host"
	default:
		return "", ""
	}
}

func doubled(before, now int) bool { return before > 0 && now >= 2*before }

// compares reports that it is known what was there before and at the end.
func (e End) compares() bool { return e.Baseline.known() && e.AtEnd.known() }

// isNew reports that a mount was not there before the container and was at its
// end.
func (e End) isNew(m hostview.Entry) bool {
	return e.compares() && e.Baseline.count(m) == 0 && e.AtEnd.count(m) > 0
}

// private reports that the path was shared by a directory that is no parent of
// the node's own: what is mounted below "/" or "/run" is made by many.
func (e End) private(path string) bool {
	for _, dir := range e.Shared {
		if !facts.Within(path, dir) {
			continue
		}
		for _, own := range append([]string{e.KubeletRoot, "/run"}, e.RuntimeDirs...) {
			if own != "" && facts.Within(own, dir) && own != dir || dir == "/run" {
				return false
			}
		}
	}
	return true
}

// staging is where drivers keep volumes for pods to come.
func staging(path facts.KubeletPath) bool {
	switch path.Role {
	case facts.PathStaged, facts.PathStaging, facts.PathDevStage, facts.PathDevTarget, facts.PathDevMap, facts.PathDevData:
		return true
	case facts.PathPlugins:
		return path.Rest != "" // a driver's own, wherever it likes
	default:
		return false
	}
}
