package exposure

import (
	"slices"

	"github.com/mountward/mountward/pkg/facts"
	"github.com/mountward/mountward/pkg/hostview"
	"github.com/mountward/mountward/pkg/target"
)

// maxBelow bounds the mounts below a path that are asked about with it. A large
// node has some hundred below the kubelet's root.
const maxBelow = 4096

// belowOf returns what the host has mounted below a path that was asked for: a
// directory is also what is seen in it, and another namespace can have that
// without the directory. omitted counts those that are too many.
func (n Node) belowOf(t target.Target, host *hostview.Table) (all []wanted, omitted int) {
	if t.Kind != target.KindPath || t.Path == "" || host == nil {
		return nil, 0
	}
	var known []sought
	for _, s := range t.Superblocks {
		w := newWanted("")
		w.seek(facts.Identity{Device: s.Device, Root: s.Root}, s.FSType)
		known = append(known, w.what...)
	}
	for _, e := range host.Below(t.Path) {
		id := e.Identity()
		within := func(s sought) bool { return s.Device == id.Device && facts.Within(id.Root, s.Root) }
		if kernelMade(e.FSType) || slices.ContainsFunc(known, within) {
			continue
		}
		if len(all) == maxBelow {
			omitted++
			continue
		}
		w := newWanted(t.Name)
		w.path = t.Path
		w.below, _ = facts.Below(e.MountPoint, t.Path)
		w.seek(id, e.FSType)
		w.places = append(w.places, e.MountPoint)
		w.onHost(host, n.KubeletRoot)
		known = append(known, w.what...)
		all = append(all, w)
	}
	return all, omitted
}

// kernelMade reports the types of file systems that have no files of anybody:
// each container has its own of them, or the same as all others.
func kernelMade(fsType string) bool {
	switch fsType {
	case "proc", "sysfs", "cgroup", "cgroup2", "cpuset", "devpts", "devtmpfs", "mqueue", "bpf", "debugfs", "tracefs", "securityfs",
		"nsfs", "autofs", "binfmt_misc", "configfs", "efivarfs", "fusectl", "functionfs", "hugetlbfs", "pstore", "resctrl",
		"rpc_pipefs", "selinuxfs", "nfsd":
		return true
	}
	return false
}
