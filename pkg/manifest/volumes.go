package manifest

import (
	"fmt"
	"path"
	"strings"

	"github.com/mountward/mountward/pkg/facts"
)

// The kinds of volumes by their key in a manifest.
const (
	kindHostPath  = "hostPath"
	kindClaim     = "persistentVolumeClaim"
	kindEphemeral = "ephemeral"
	kindImage     = "image"
)

// plugin is the directory of the kubelet for a volume that a pod declares itself,
// "" for others. Source: kubernetes 1.37 pkg/volume, the names of the plugins.
func plugin(kind string) string {
	switch kind {
	case "emptyDir":
		return "empty-dir"
	case "downwardAPI":
		return "downward-api"
	case "gitRepo":
		return "git-repo"
	case "configMap", "secret", "projected", "nfs", "iscsi", "fc":
		return strings.ToLower(kind)
	default:
		return ""
	}
}

// place is where a volume is on the host.
type place struct {
	path    string
	name    string   // as the kubelet calls it in its directories
	unknown string   // what is not known about it
	others  []string // where it may be as well
}

// place returns where the kubelet will have a volume.
func (b *builder) place(v volume) (place, error) {
	switch v.kind {
	case severalKinds:
		return place{}, fmt.Errorf("volume %q has several kinds", v.name)
	case kindHostPath:
		if !path.IsAbs(v.source.Path) {
			return place{}, fmt.Errorf("volume %q: hostPath %q is no absolute path", v.name, v.source.Path)
		}
		return place{path: v.source.Path, name: v.name}, nil
	case "csi":
		return place{path: b.target("kubernetes.io~csi", v.name) + "/mount", name: v.name}, nil
	case "flexVolume":
		return place{path: b.target(strings.ReplaceAll(v.source.Driver, "/", "~"), v.name), name: v.name}, nil
	case kindImage:
		return place{
			path: path.Join(b.RuntimeState, "io.containerd.grpc.v1.cri/image-volumes", unknownID, v.name), name: v.name,
			unknown: "where the runtime mounts an image cannot be told before the pod is made",
		}, nil
	}
	if dir := plugin(v.kind); dir != "" {
		return place{path: b.target("kubernetes.io~"+dir, v.name), name: v.name}, nil
	}
	// What is behind a claim is up to the cluster, as is what became of the volumes
	// of clouds that have moved to CSI drivers.
	why := fmt.Sprintf("the manifest does not show what volume a %s is; taken as one of a CSI driver", v.kind)
	if v.kind == kindClaim {
		why = fmt.Sprintf("the manifest does not show what volume the claim %s is bound to; taken as one of a CSI driver", v.source.Claim)
	}
	return place{
		path: b.target("kubernetes.io~csi", anyClaim) + "/mount", name: anyClaim, unknown: why,
		others: []string{
			b.target("kubernetes.io~local-volume", anyClaim), b.target("kubernetes.io~nfs", anyClaim),
			"/opt/local-path-provisioner/" + anyClaim, // a hostPath volume, wherever its directory is
		},
	}, nil
}

// target is where the kubelet has a volume of the pod.
func (b *builder) target(plugin, name string) string {
	return facts.KubeletPath{Root: b.KubeletRoot, Role: facts.PathVolume, PodUID: b.uid, Plugin: plugin, Volume: name}.Path()
}

// below is where the kubelet binds a sub-path of a volume. Source: kubernetes
// 1.37 pkg/volume/util/subpath.
func (b *builder) below(volume, container string, index int) string {
	return facts.KubeletPath{
		Root: b.KubeletRoot, Role: facts.PathSubpath, PodUID: b.uid, Volume: volume, Container: container, Index: index,
	}.Path()
}

// called is what a person calls a volume.
func (v volume) called() string {
	switch v.kind {
	case kindClaim:
		return v.kind + " " + v.source.Claim
	case kindHostPath:
		return v.kind + " " + v.source.Path
	default:
		return v.kind + " " + v.name
	}
}

// shown is the kind of a volume that is the same on the node: a claim is bound to
// one of any kind, and volumes of clouds have moved to CSI drivers.
func (v volume) shown() string {
	if v.kind == kindHostPath || v.kind == kindImage || v.kind == "csi" || v.kind == "flexVolume" || plugin(v.kind) != "" {
		return v.kind
	}
	return ""
}
