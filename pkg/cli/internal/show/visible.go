package show

import "github.com/mountward/mountward/pkg/volumes"

// Visible returns what a person wants to see who did not ask for all: without
// the containers that hold a pod's namespaces, and without the files that the
// runtime and the kubelet mount into every container.
func (v Volumes) Visible() Volumes {
	rest := v
	rest.Tasks = nil
	for _, t := range v.Tasks {
		if t.Sandbox {
			continue
		}
		var mounts []volumes.Mount
		for _, m := range t.Mounts {
			if m.Kind == volumes.KindRuntime || m.Kind == volumes.KindKubelet {
				continue
			}
			mounts = append(mounts, m)
		}
		t.Mounts = mounts
		rest.Tasks = append(rest.Tasks, t)
	}
	return rest
}
