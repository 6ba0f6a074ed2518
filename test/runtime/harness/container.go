//go:build linux

package harness

import (
	"maps"

	cri "k8s.io/cri-api/pkg/apis/runtime/v1"
)

// Container is a container as the kubelet asks the runtime for it. The zero
// value is one named "main" that waits to be stopped.
type Container struct {
	Name        string
	Args        []string // of the agent, "pause" if empty
	Privileged  bool
	Mounts      []ContainerMount
	Labels      map[string]string
	Annotations map[string]string
	// Attempt tells containers of one name in one pod apart, as a restart does.
	Attempt uint32
}

// ContainerMount is a volume mount. A host path that does not exist is made.
type ContainerMount struct {
	HostPath      string
	ContainerPath string
	Propagation   Propagation
	ReadOnly      bool
	// RecursiveReadOnly needs ReadOnly and no propagation.
	RecursiveReadOnly bool
	// Users maps the ids of the files.
	Users *IDMap
}

// Propagation is what a pod asks for. The words are those of Kubernetes.
type Propagation int

const (
	None            Propagation = iota // rprivate
	HostToContainer                    // rslave
	Bidirectional                      // rshared
)

func (p Propagation) cri() cri.MountPropagation {
	switch p {
	case HostToContainer:
		return cri.MountPropagation_PROPAGATION_HOST_TO_CONTAINER
	case Bidirectional:
		return cri.MountPropagation_PROPAGATION_BIDIRECTIONAL
	case None:
	}
	return cri.MountPropagation_PROPAGATION_PRIVATE
}

// containerConfig is the container as the CRI has it, with the labels of the
// kubelet.
func containerConfig(p *Pod, c *Container) *cri.ContainerConfig {
	args := c.Args
	if len(args) == 0 {
		args = []string{"pause"}
	}
	labels := map[string]string{
		"io.kubernetes.pod.namespace":  p.Namespace,
		"io.kubernetes.pod.name":       p.Name,
		"io.kubernetes.pod.uid":        p.UID,
		"io.kubernetes.container.name": c.Name,
	}
	maps.Copy(labels, c.Labels)
	config := &cri.ContainerConfig{
		Metadata:    &cri.ContainerMetadata{Name: c.Name, Attempt: c.Attempt},
		Image:       &cri.ImageSpec{Image: testImage},
		Command:     []string{"/agent"},
		Args:        args,
		Labels:      labels,
		Annotations: c.Annotations,
		LogPath:     c.Name + ".log",
		Linux: &cri.LinuxContainerConfig{
			SecurityContext: &cri.LinuxContainerSecurityContext{
				NamespaceOptions: p.namespaces(),
				Privileged:       c.Privileged,
			},
		},
	}
	for _, m := range c.Mounts {
		config.Mounts = append(config.Mounts, &cri.Mount{
			HostPath:          m.HostPath,
			ContainerPath:     m.ContainerPath,
			Propagation:       m.Propagation.cri(),
			Readonly:          m.ReadOnly,
			RecursiveReadOnly: m.RecursiveReadOnly,
			UidMappings:       m.Users.mappings(),
			GidMappings:       m.Users.mappings(),
		})
	}
	return config
}
