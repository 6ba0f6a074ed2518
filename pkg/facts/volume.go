package facts

import "strings"

// Volume is the volume of the pod that a mount is of.
//
// Kind says how the pod comes to it: the word of Kubernetes for the kind of
// volume ("csi", "emptyDir", "hostPath", ...; see VolumeKinds). A path of the
// host that is no volume of this pod is a hostPath, whoever asked for it, also
// where it leads into the volume of another pod. VolumeNone is what the runtime,
// the kubelet or the image give every container: resolv.conf, shm, the
// termination log.
//
// Name and Driver say what the path shows, whoever mounts it: the name by which
// the kubelet keeps the volume (of a persistent one that of the
// PersistentVolume, else that in the pod), and its CSI or FlexVolume driver.
// What the kubelet keeps no directory for, such as a hostPath, has neither.
type Volume struct {
	Kind   Word `json:"kind"`
	Name   Word `json:"name"`
	Driver Word `json:"driver"`
}

// VolumeOf returns what the source's path shows of the mount's volume, without
// a look at the machine, and the path as the kubelet means it where more can be
// found out by it. The path without
// symbolic links counts where it is known. What is one of the pod's own volumes
// is told by the pod's uid and the ids of its sandbox and container, which no
// manifest can name beforehand.
func VolumeOf(c *Container, m *Mount, kubeletRoot string) (Volume, KubeletPath) {
	p, ok := CleanAbs(m.Source)
	if m.Host != nil && m.Host.Canonical != "" {
		p, ok = m.Host.Canonical, true
	}
	none, host := Says(""), Says(VolumeHostPath)
	switch {
	case !m.Bind():
		return Volume{Says(VolumeNone), none, none}, KubeletPath{}
	case !ok:
		why := Untold("the source is not an absolute path and was not resolved")
		return Volume{why, why, why}, KubeletPath{}
	}
	if kind, ok := runtimeVolume(c, p); ok {
		return Volume{kind, none, none}, KubeletPath{}
	}
	k, ok := ParseKubeletPath(p, kubeletRoot)
	if !ok {
		return Volume{host, none, none}, KubeletPath{}
	}
	v := k.volume()
	switch {
	case k.Role != PathTarget && k.Role != PathSubpath && k.Role != PathEtcHosts && k.Role != PathContainer:
		v.Kind = host
	case c.Pod.UID == "":
		v.Kind = Untold("the uid of the pod is not known")
		return v, KubeletPath{}
	case k.PodUID != c.Pod.UID:
		v.Kind = host
	}
	return v, k
}

// volume is what the kubelet's path shows, for the pod that it belongs to.
func (k KubeletPath) volume() Volume {
	none := Says("")
	name := k.Volume
	if name == "" {
		name = k.PV
	}
	v := Volume{Kind: Says(k.Kind.Kubernetes()), Name: Says(name), Driver: DriverOf(k)}
	switch {
	case k.Role == PathEtcHosts, k.Role == PathContainer:
		return Volume{Says(VolumeNone), none, none}
	case k.Role == PathSubpath:
		v.Kind = Untold("the path of a sub-path does not show what the volume is")
		v.Driver = v.Kind
	case k.Driver != "": // the staging directory of a handle
		v.Name = Untold("the path of a staging directory does not show the volume's name")
	}
	return v
}

// DriverOf returns the driver of a volume as its path shows it: a FlexVolume
// driver as VENDOR/DRIVER, of CSI only in a staging directory.
func DriverOf(k KubeletPath) Word {
	switch {
	case k.Driver != "":
		return Says(k.Driver)
	case k.Kind == KindCSI:
		return Untold("the path does not show the driver, and vol_data.json was not read")
	case k.Kind == KindFlexVolume:
		return Says(strings.Replace(k.Plugin, "~", "/", 1))
	default:
		return Says("")
	}
}

// criDirectory is the directory of containerd's CRI plugin, below containerd's
// root and state. Source: containerd 2.4.2 internal/cri/server, 1.7 pkg/cri/server.
const criDirectory = "/io.containerd.grpc.v1.cri/"

// runtimeVolume reads a path in the runtime's own directories of this pod or
// container, false for any other.
func runtimeVolume(c *Container, p string) (Word, bool) {
	_, rest, ok := strings.Cut(p, criDirectory)
	s := split(rest)
	if !ok || len(s) < 3 || s[1] == "" {
		return Word{}, false
	}
	switch {
	case s[0] == "sandboxes" && s[1] == c.Pod.ID,
		s[0] == "containers" && s[1] == c.ID && s[2] == "volumes":
		return Says(VolumeNone), true
	case s[0] == "image-volumes" && s[1] == c.Pod.ID:
		return Says(VolumeImage), true
	default:
		return Word{}, false
	}
}
