package facts

import (
	"slices"
	"strconv"
	"strings"
)

// VolumeKind is the kind of volume that a directory of the kubelet holds: the
// plugin's name without its vendor, such as "csi" for "kubernetes.io/csi".
// Names that are not listed here are kept as the kubelet wrote them.
type VolumeKind string

// The kinds a kubelet path can show. A plugin of another vendor is a
// FlexVolume driver.
const (
	KindCSI         VolumeKind = "csi"
	KindLocal       VolumeKind = "local-volume"
	KindEmptyDir    VolumeKind = "empty-dir"
	KindProjected   VolumeKind = "projected"
	KindSecret      VolumeKind = "secret"
	KindConfigMap   VolumeKind = "configmap"
	KindDownwardAPI VolumeKind = "downward-api"
	KindNFS         VolumeKind = "nfs"
	KindFlexVolume  VolumeKind = "flexvolume"
)

// The roles of a path below the kubelet root; see KubeletPath.
const (
	PathRoot      = "root"       // the root itself
	PathPods      = "pods"       // pods
	PathPod       = "pod"        // pods/UID, and what no other role names in it
	PathEtcHosts  = "etc-hosts"  // pods/UID/etc-hosts
	PathContainer = "container"  // pods/UID/containers/CONTAINER: the termination logs
	PathVolume    = "volume"     // pods/UID/volumes/kubernetes.io~csi/VOLUME, the parent of its target
	PathTarget    = "target"     // where the volume of a pod is mounted
	PathSubpath   = "subpath"    // pods/UID/volume-subpaths/VOLUME/CONTAINER/INDEX
	PathDevice    = "device"     // pods/UID/volumeDevices/PLUGIN/VOLUME, a symbolic link
	PathPlugins   = "plugins"    // plugins, and what no other role names in it
	PathStaged    = "staged"     // the parent of a staging directory; holds vol_data.json
	PathStaging   = "staging"    // globalmount, old and new layout
	PathOther     = "other"      // anything else below the root, such as plugins_registry
	PathDevStage  = "dev-stage"  // plugins/kubernetes.io/csi/volumeDevices/staging/PV
	PathDevTarget = "dev-target" // plugins/kubernetes.io/csi/volumeDevices/publish/PV/UID
	PathDevMap    = "dev-map"    // plugins/kubernetes.io/csi/volumeDevices/PV/dev/UID
	PathDevData   = "dev-data"   // plugins/kubernetes.io/csi/volumeDevices/PV/data
)

// KubeletPath is what the kubelet means by a path of the host. A path says
// where something belongs, not what is mounted there: identity is the device.
//
// Source: kubernetes 1.37 pkg/kubelet/kubelet_getters.go, pkg/volume/csi; the
// hashed staging directories are those of 1.24 and later, PV ones older and
// left in place by upgrades.
type KubeletPath struct {
	Root string // of the kubelet, "/" at least
	Role string

	PodUID    string
	Plugin    string     // as on disk: "kubernetes.io~csi"
	Kind      VolumeKind // "" for subpaths, whose path does not tell it
	Volume    string     // the name in the pod's or persistent volume's specification
	Container string
	Index     int // of a subpath: the mount's index in the container

	PV         string // old staging directories and raw block volumes
	Driver     string // new staging directories: the CSI driver
	HandleHash string // and the SHA-256 of the volume handle, in hex

	Rest string // what follows, "" for nothing
}

// Path returns the cleaned path again.
func (k KubeletPath) Path() string {
	p := "/" + strings.TrimPrefix(k.Root, "/")
	for _, part := range append(k.parts(), k.Rest) {
		if part != "" {
			p = JoinRoot(p, part)
		}
	}
	return p
}

func (k KubeletPath) parts() []string {
	pod := []string{podsDir, k.PodUID}
	csi := []string{pluginsDir, kubernetesDir, csiDir}
	switch k.Role {
	case PathPods:
		return []string{podsDir}
	case PathPod:
		return pod
	case PathEtcHosts:
		return append(pod, etcHosts)
	case PathContainer:
		return append(pod, containersDir, k.Container)
	case PathVolume:
		return append(pod, volumesDir, k.Plugin, k.Volume)
	case PathTarget:
		parts := slices.Concat(pod, []string{volumesDir, k.Plugin, k.Volume})
		if k.Kind == KindCSI {
			parts = append(parts, targetDir)
		}
		return parts
	case PathSubpath:
		return append(pod, subpathsDir, k.Volume, k.Container, strconv.Itoa(k.Index))
	case PathDevice:
		return append(pod, devicesDir, k.Plugin, k.Volume)
	case PathPlugins:
		return []string{pluginsDir}
	case PathStaged, PathStaging:
		parts := slices.Concat(csi, []string{k.Driver, k.HandleHash})
		if k.PV != "" {
			parts = slices.Concat(csi, []string{pvDir, k.PV})
		}
		if k.Role == PathStaging {
			parts = append(parts, stagingDir)
		}
		return parts
	case PathDevStage:
		return append(csi, devicesDir, devStagingDir, k.PV)
	case PathDevTarget:
		return append(csi, devicesDir, devPublishDir, k.PV, k.PodUID)
	case PathDevMap:
		return append(csi, devicesDir, k.PV, devMapDir, k.PodUID)
	case PathDevData:
		return append(csi, devicesDir, k.PV, devDataDir)
	default:
		return nil
	}
}
