package volumes

import "github.com/mountward/mountward/pkg/facts"

// The kinds a path does not show by the kubelet's layout.
const (
	KindHostPath = "host-path"
	KindRuntime  = "runtime" // containerd's own: resolv.conf, hostname, shm, image volumes
	KindKubelet  = "kubelet" // the kubelet's own: etc-hosts, termination logs
)

// name fills in what the source's path says about the volume.
func (m *Mount) name(mount facts.Mount, kubeletRoot string, runtimeDirs []string) {
	m.Kind = KindHostPath
	for _, p := range mount.Sources() {
		for _, dir := range runtimeDirs {
			if dir != "" && facts.Within(p, dir) && p != dir {
				m.Kind = KindRuntime
				return
			}
		}
		k, ok := facts.ParseKubeletPath(p, kubeletRoot)
		if !ok {
			continue
		}
		switch k.Role {
		case facts.PathTarget:
			m.Kind, m.Volume = string(k.Kind), k.Volume
			return
		case facts.PathSubpath:
			m.Kind, m.Volume, m.SubPath = "sub-path", k.Volume, true
			return
		case facts.PathEtcHosts, facts.PathContainer:
			m.Kind = KindKubelet
			return
		}
	}
}
