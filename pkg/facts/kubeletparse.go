package facts

import (
	"strconv"
	"strings"
)

// Names of directories below the kubelet root.
const (
	podsDir       = "pods"
	pluginsDir    = "plugins"
	kubernetesDir = "kubernetes.io"
	csiDir        = "csi"
	volumesDir    = "volumes"
	subpathsDir   = "volume-subpaths"
	devicesDir    = "volumeDevices"
	containersDir = "containers"
	etcHosts      = "etc-hosts"
	targetDir     = "mount"
	pvDir         = "pv"
	stagingDir    = "globalmount"
	devStagingDir = "staging"
	devPublishDir = "publish"
	devMapDir     = "dev"
	devDataDir    = "data"
)

// ParseKubeletPath reads a path of the host. root is the kubelet root where it
// is known, else "". A path at or below root is read from there, whatever it
// contains. Any other path is searched for the shape of the kubelet's own
// directories, since a root can be moved, bound or linked elsewhere; the first
// (outermost) place that has it wins, and Root is what stands before. Only
// shapes that nothing else has are taken for that: /srv/pods alone is none.
//
// It returns false for a path that is not absolute or not the kubelet's.
func ParseKubeletPath(p, root string) (KubeletPath, bool) {
	p, ok := CleanAbs(p)
	if !ok {
		return KubeletPath{}, false
	}
	if root, ok := CleanAbs(root); ok {
		if rest, ok := Below(p, root); ok {
			k := parseBelowRoot(split(rest))
			k.Root = root
			return k, true
		}
	}
	parts := split(strings.TrimPrefix(p, "/"))
	for i, part := range parts {
		if part != podsDir && part != pluginsDir {
			continue
		}
		if k := parseBelowRoot(parts[i:]); k.telling() {
			k.Root = "/" + join(parts[:i])
			return k, true
		}
	}
	return KubeletPath{}, false
}

// telling reports whether the shape alone shows that the path is a kubelet's.
func (k KubeletPath) telling() bool {
	switch k.Role {
	case PathRoot, PathPods, PathPod, PathPlugins, PathOther:
		return false
	case PathContainer:
		first, _, _ := strings.Cut(k.Rest, "/")
		return hex(first, 8)
	default:
		return true
	}
}

func parseBelowRoot(s []string) KubeletPath {
	switch {
	case len(s) == 0:
		return KubeletPath{Role: PathRoot}
	case s[0] == podsDir && len(s) == 1:
		return KubeletPath{Role: PathPods}
	case s[0] == podsDir:
		k := parsePod(s[2:])
		k.PodUID = s[1]
		return k
	case s[0] == pluginsDir:
		if len(s) > 3 && s[1] == kubernetesDir && s[2] == csiDir {
			if k, ok := parseCSI(s[3:]); ok {
				return k
			}
		}
		return KubeletPath{Role: PathPlugins, Rest: join(s[1:])}
	default:
		return KubeletPath{Role: PathOther, Rest: join(s)}
	}
}

// parsePod reads what follows pods/UID.
func parsePod(s []string) KubeletPath {
	switch {
	case len(s) == 1 && s[0] == etcHosts:
		return KubeletPath{Role: PathEtcHosts}
	case len(s) >= 2 && s[0] == containersDir:
		return KubeletPath{Role: PathContainer, Container: s[1], Rest: join(s[2:])}
	case len(s) >= 3 && s[0] == volumesDir && plugin(s[1]):
		k := KubeletPath{Role: PathTarget, Plugin: s[1], Kind: kind(s[1]), Volume: s[2], Rest: join(s[3:])}
		if k.Kind == KindCSI {
			if len(s) > 3 && s[3] == targetDir {
				k.Rest = join(s[4:])
			} else {
				k.Role = PathVolume
			}
		}
		return k
	case len(s) >= 3 && s[0] == devicesDir && plugin(s[1]):
		return KubeletPath{Role: PathDevice, Plugin: s[1], Kind: kind(s[1]), Volume: s[2], Rest: join(s[3:])}
	case len(s) >= 4 && s[0] == subpathsDir:
		index, err := strconv.Atoi(s[3])
		if err == nil && index >= 0 && strconv.Itoa(index) == s[3] {
			return KubeletPath{Role: PathSubpath, Volume: s[1], Container: s[2], Index: index, Rest: join(s[4:])}
		}
	}
	return KubeletPath{Role: PathPod, Rest: join(s)}
}

// parseCSI reads what follows plugins/kubernetes.io/csi.
func parseCSI(s []string) (KubeletPath, bool) {
	k := KubeletPath{Plugin: kubernetesDir + "~" + csiDir, Kind: KindCSI}
	switch {
	case s[0] == devicesDir:
		return k.parseDevices(s[1:])
	case len(s) >= 2 && s[0] == pvDir:
		k.PV = s[1]
	case len(s) >= 2 && hex(s[1], 64):
		k.Driver, k.HandleHash = s[0], s[1]
	default:
		return KubeletPath{}, false
	}
	k.Role, s = PathStaged, s[2:]
	if len(s) > 0 && s[0] == stagingDir {
		k.Role, s = PathStaging, s[1:]
	}
	k.Rest = join(s)
	return k, true
}

// parseDevices reads what follows plugins/kubernetes.io/csi/volumeDevices. A
// volume named like one of the directories is read as the directory.
func (k KubeletPath) parseDevices(s []string) (KubeletPath, bool) {
	switch {
	case len(s) >= 2 && s[0] == devStagingDir:
		k.Role, k.PV, s = PathDevStage, s[1], s[2:]
	case len(s) >= 3 && s[0] == devPublishDir:
		k.Role, k.PV, k.PodUID, s = PathDevTarget, s[1], s[2], s[3:]
	case len(s) >= 3 && s[1] == devMapDir:
		k.Role, k.PV, k.PodUID, s = PathDevMap, s[0], s[2], s[3:]
	case len(s) >= 2 && s[1] == devDataDir:
		k.Role, k.PV, s = PathDevData, s[0], s[2:]
	default:
		return KubeletPath{}, false
	}
	k.Rest = join(s)
	return k, true
}

// plugin reports whether a directory is named as the kubelet writes a plugin's
// qualified name: with "~" for "/".
func plugin(name string) bool {
	vendor, driver, ok := strings.Cut(name, "~")
	return ok && vendor != "" && driver != ""
}

func kind(directory string) VolumeKind {
	if name, ok := strings.CutPrefix(directory, kubernetesDir+"~"); ok {
		return VolumeKind(name)
	}
	return KindFlexVolume
}

func hex(s string, length int) bool {
	return len(s) == length && strings.Trim(s, "0123456789abcdef") == ""
}

func split(rest string) []string {
	if rest == "" {
		return nil
	}
	return strings.Split(rest, "/")
}

func join(parts []string) string { return strings.Join(parts, "/") }
