package facts

import "path"

// RoleCSINode is the role of a CSI node driver, computed from the whole mount
// list: it shares a path at or below the kubelet root with the host and mounts
// its own directory below <root>/plugins or <root>/csi-plugins. All of 13
// surveyed drivers have this shape.
const RoleCSINode = "csi-node"

// Role returns the role that the mounts of a container show, or "".
func Role(mounts []Mount, kubeletRoot string) string {
	shares, own := false, false
	for _, m := range mounts {
		if !m.Bind() {
			continue
		}
		for _, p := range m.Sources() {
			shares = shares || m.Requested() == Shared && Within(p, kubeletRoot)
			own = own || driverDirectory(p, kubeletRoot)
		}
	}
	if shares && own {
		return RoleCSINode
	}
	return ""
}

// Sources returns the spellings of the mount's source: as given and, where it
// is known and another, as resolved on the host.
func (m Mount) Sources() []string {
	var all []string
	if p, ok := CleanAbs(m.Source); ok {
		all = append(all, p)
	}
	if m.Host != nil && m.Host.Canonical != "" && (len(all) == 0 || m.Host.Canonical != all[0]) {
		all = append(all, m.Host.Canonical)
	}
	return all
}

func driverDirectory(p, kubeletRoot string) bool {
	for _, parent := range []string{path.Join(kubeletRoot, "plugins"), path.Join(kubeletRoot, "csi-plugins")} {
		rest, ok := Below(p, parent)
		if !ok || rest == "" {
			continue
		}
		if !Within("/"+rest, "/kubernetes.io") {
			return true
		}
	}
	return false
}
