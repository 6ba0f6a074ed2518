package facts

import "slices"

// Words for kinds of volumes that the kubelet keeps no directory for.
const (
	VolumeHostPath = "hostPath"
	VolumeImage    = "image"
	VolumeNone     = "none" // no volume of the pod; see Volume
)

// Kubernetes returns the word of a pod's or PersistentVolume's specification
// for the kind, such as "emptyDir" for "empty-dir". Source: kubernetes 1.37
// pkg/volume and, for those that are gone, 1.22.
func (k VolumeKind) Kubernetes() string {
	switch k {
	case KindLocal:
		return "local"
	case KindEmptyDir:
		return "emptyDir"
	case KindConfigMap:
		return "configMap"
	case KindDownwardAPI:
		return "downwardAPI"
	case KindFlexVolume:
		return "flexVolume"
	case "aws-ebs":
		return "awsElasticBlockStore"
	case "azure-disk":
		return "azureDisk"
	case "azure-file":
		return "azureFile"
	case "gce-pd":
		return "gcePersistentDisk"
	case "git-repo":
		return "gitRepo"
	case "portworx-volume":
		return "portworxVolume"
	case "vsphere-volume":
		return "vsphereVolume"
	default: // written alike
		return string(k)
	}
}

// VolumeKinds returns the words that Volume.Kind can have, sorted: those of
// Kubernetes, and VolumeNone.
func VolumeKinds() []string {
	all := []string{VolumeHostPath, VolumeImage, VolumeNone}
	for _, k := range []VolumeKind{
		KindCSI, KindLocal, KindEmptyDir, KindProjected, KindSecret, KindConfigMap, KindDownwardAPI, KindNFS, KindFlexVolume,
		"aws-ebs", "azure-disk", "azure-file", "cephfs", "cinder", "fc", "gce-pd", "git-repo", "glusterfs", "iscsi",
		"portworx-volume", "rbd", "vsphere-volume",
	} {
		all = append(all, k.Kubernetes())
	}
	slices.Sort(all)
	return all
}
