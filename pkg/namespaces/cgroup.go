package namespaces

import (
	"slices"
	"strings"
)

// ownerByCgroup reads /proc/<pid>/cgroup. The hierarchies can tell different
// things, on a node with both versions or where one is not used: the line that
// says most counts, and of equal ones that of version 2, then that of systemd.
func ownerByCgroup(text string) Owner {
	var best Owner
	most := -1
	for line := range strings.Lines(text) {
		_, rest, _ := strings.Cut(strings.TrimSuffix(line, "\n"), ":")
		controllers, path, ok := strings.Cut(rest, ":")
		if !ok || !strings.HasPrefix(path, "/") {
			continue
		}
		o := ownerByPath(path)
		score := 0
		for _, is := range []bool{o.ContainerID != "", o.PodUID != "", o.Unit != "", controllers == "", controllers == "name=systemd"} {
			score *= 2
			if is {
				score++
			}
		}
		if score > most {
			best, most = o, score
		}
	}
	return best
}

// ownerByPath reads the path of a cgroup. Of nested containers the outermost
// counts, which is the node's, but where the node is a container itself (kind)
// the outermost below its kubelet's cgroup. Units that are below a container
// are those of another systemd.
func ownerByPath(path string) Owner {
	o := Owner{Cgroup: path}
	parts := strings.Split(strings.TrimSuffix(path, " (deleted)"), "/")
	o.Unit = unitOf(parts)
	if pods := slices.IndexFunc(parts, isPods); pods >= 0 {
		parts = parts[pods:]
		o.PodUID = podOf(parts)
	}
	for _, part := range parts {
		if id := containerOf(part); id != "" {
			o.ContainerID = id
			return o
		}
	}
	// cgroupfs without Kubernetes: /NAMESPACE/ID, and any name may be an id.
	if i := slices.Index(parts, "k8s.io"); i >= 0 && i+1 < len(parts) {
		o.ContainerID = parts[i+1]
	}
	return o
}

// isPods reports the kubelet's cgroup of all pods, or one below: "kubepods",
// "kubepods.slice", "kubelet-kubepods-burstable.slice".
func isPods(part string) bool {
	name, _, _ := strings.Cut(part, ":")
	name = strings.TrimSuffix(name, ".slice")
	return name == "kubepods" || strings.HasSuffix(name, "-kubepods") ||
		strings.HasPrefix(name, "kubepods-") || strings.Contains(name, "-kubepods-")
}

// podOf finds "pod<uid>" of the cgroupfs driver, or the systemd driver's
// "kubepods-burstable-pod<uid>.slice", in which the uid has no dashes.
func podOf(parts []string) string {
	for _, part := range parts {
		part, _, _ = strings.Cut(part, ":")
		uid, ok := strings.CutPrefix(part, "pod")
		if name, is := strings.CutSuffix(part, ".slice"); is {
			i := strings.LastIndex(name, "-pod")
			if i < 0 {
				continue
			}
			uid, ok = strings.ReplaceAll(name[i+len("-pod"):], "_", "-"), true
		} else if i := strings.LastIndex(part, "-pod"); !ok && i >= 0 && isPods(part) {
			uid, ok = strings.ReplaceAll(part[i+len("-pod"):], "_", "-"), true
		}
		if ok && uid != "" {
			return uid
		}
	}
	return ""
}

// runtimes are the prefixes of the scopes and cgroups that runtimes make of
// containers; with those an id is what follows, else it must look like one.
var runtimes = []string{"cri-containerd-", "crio-", "docker-", "libpod-", "nerdctl-"}

// containerOf returns the id of the container that a component is of.
func containerOf(part string) string {
	// The systemd driver's path given to a runtime without it: SLICE:PREFIX:ID.
	if fields := strings.Split(part, ":"); len(fields) == 3 && strings.HasSuffix(fields[0], ".slice") {
		return fields[2]
	}
	name, scope := strings.CutSuffix(part, ".scope")
	i := strings.LastIndexByte(name, '-')
	if id := name[i+1:]; isHexID(id) && !strings.HasSuffix(name[:i+1], "conmon-") {
		return id // any runtime
	}
	if !scope || strings.Contains(name, "conmon-") {
		return ""
	}
	for _, prefix := range runtimes {
		if id, ok := strings.CutPrefix(name, prefix); ok {
			return id
		}
	}
	return ""
}

// isHexID reports 64 hexadecimal digits, as containerd, CRI-O and docker draw.
func isHexID(s string) bool {
	return len(s) == 64 && strings.Trim(s, "0123456789abcdef") == ""
}

var unitSuffixes = []string{".scope", ".socket", ".mount", ".swap", ".automount"}

// unitOf returns the unit of the node's systemd: the deepest service, since one
// can make any cgroups below itself, else what is deepest.
func unitOf(parts []string) string {
	unit := ""
	for _, part := range parts {
		if containerOf(part) != "" || isOtherSystem(part) {
			break
		}
		switch {
		case strings.HasSuffix(part, ".service"):
			unit = part
		case strings.HasSuffix(unit, ".service"):
		case slices.ContainsFunc(unitSuffixes, func(suffix string) bool { return strings.HasSuffix(part, suffix) }):
			unit = part
		}
	}
	return unit
}

// isOtherSystem reports what LXC, and systemd-nspawn inside its unit, run a
// system below.
func isOtherSystem(part string) bool {
	return part == "lxc" || strings.HasPrefix(part, "lxc.payload") || part == "payload"
}
