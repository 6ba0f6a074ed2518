package hostview

import (
	"cmp"

	"github.com/mountward/mountward/pkg/facts"
)

// The annotations that containerd's CRI plugin puts into a specification, in
// 1.7 and 2.x alike. Source: containerd 2.4.2 internal/cri/annotations, 1.7
// pkg/cri/annotations.
const (
	annotationType             = "io.kubernetes.cri.container-type"
	annotationContainerName    = "io.kubernetes.cri.container-name"
	annotationSandboxID        = "io.kubernetes.cri.sandbox-id"
	annotationSandboxName      = "io.kubernetes.cri.sandbox-name"
	annotationSandboxNamespace = "io.kubernetes.cri.sandbox-namespace"
	annotationSandboxUID       = "io.kubernetes.cri.sandbox-uid"
	annotationImage            = "io.kubernetes.cri.image-name"
	annotationSandboxImage     = "io.kubernetes.cri.podsandbox.image-name"
)

// Sandbox reports whether it is the pod's own container, which holds its
// namespaces.
func (s Spec) Sandbox() bool { return s.Annotations[annotationType] == "sandbox" }

// Container returns what the specification says of the container in the bundle.
// One that was not made through CRI has an id, its mounts and no names. Labels
// and the pod's annotations are not in a specification, and so whether the pod
// is static cannot be told from it; Role is not set either.
func (s Spec) Container(b Bundle) facts.Container {
	a := s.Annotations
	return facts.Container{
		ID:    b.ID(),
		Name:  a[annotationContainerName],
		Image: cmp.Or(a[annotationImage], a[annotationSandboxImage]),
		Pod: facts.Pod{
			ID:        a[annotationSandboxID],
			Namespace: a[annotationSandboxNamespace],
			Name:      a[annotationSandboxName],
			UID:       a[annotationSandboxUID],
		},
		Mounts:        s.Mounts,
		Devices:       s.Devices,
		Privileged:    s.Privileged,
		UserNamespace: s.UserNamespace,
	}
}
