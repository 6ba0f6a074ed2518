//go:build linux

package harness

import (
	"maps"
	"path/filepath"

	cri "k8s.io/cri-api/pkg/apis/runtime/v1"
)

// Pod is a pod as the kubelet asks the runtime for it. The zero value is a pod
// without containers, in namespace "default", with a name and UID of its own.
// All pods use the network of the node, so that no CNI is needed.
type Pod struct {
	Namespace   string
	Name        string
	UID         string
	Labels      map[string]string
	Annotations map[string]string
	// Privileged is needed where privileged containers are added later. A
	// privileged one in Containers implies it.
	Privileged bool
	// Users gives the pod a user namespace.
	Users *IDMap
	// Containers are created and started by RunPod, in order.
	Containers []Container
}

// IDMap maps the user and group ids of a container from 0 on to those of the
// host from Host on.
type IDMap struct {
	Host   uint32
	Length uint32
}

func (m *IDMap) mappings() []*cri.IDMapping {
	if m == nil {
		return nil
	}
	return []*cri.IDMapping{{HostId: m.Host, Length: m.Length}}
}

// sandboxConfig is the pod as the CRI has it, with the labels of the kubelet.
func (n *Node) sandboxConfig(p *Pod) *cri.PodSandboxConfig {
	privileged := p.Privileged
	for i := range p.Containers {
		privileged = privileged || p.Containers[i].Privileged
	}
	labels := map[string]string{
		"io.kubernetes.pod.namespace": p.Namespace,
		"io.kubernetes.pod.name":      p.Name,
		"io.kubernetes.pod.uid":       p.UID,
	}
	maps.Copy(labels, p.Labels)
	return &cri.PodSandboxConfig{
		Metadata:     &cri.PodSandboxMetadata{Namespace: p.Namespace, Name: p.Name, Uid: p.UID},
		LogDirectory: filepath.Join(n.Dir, "logs", p.UID),
		Labels:       labels,
		Annotations:  p.Annotations,
		Linux: &cri.LinuxPodSandboxConfig{
			CgroupParent: n.cgroup,
			SecurityContext: &cri.LinuxSandboxSecurityContext{
				NamespaceOptions: p.namespaces(),
				Privileged:       privileged,
			},
		},
	}
}

func (p *Pod) namespaces() *cri.NamespaceOption {
	o := &cri.NamespaceOption{Network: cri.NamespaceMode_NODE, Pid: cri.NamespaceMode_CONTAINER}
	if p.Users != nil {
		o.UsernsOptions = &cri.UserNamespace{
			Mode: cri.NamespaceMode_POD,
			Uids: p.Users.mappings(),
			Gids: p.Users.mappings(),
		}
	}
	return o
}
