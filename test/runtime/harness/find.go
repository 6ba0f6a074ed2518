//go:build linux

package harness

import (
	"context"

	cri "k8s.io/cri-api/pkg/apis/runtime/v1"
)

// FindContainer returns the id of a container of a pod by its name, "" where
// there is none: after a call whose answer was lost, the runtime may have done
// what was asked.
func (n *Node) FindContainer(ctx context.Context, sandbox, name string) (id string, err error) {
	r, err := n.runtime.ListContainers(ctx, &cri.ListContainersRequest{Filter: &cri.ContainerFilter{PodSandboxId: sandbox}})
	if err != nil {
		return "", err
	}
	for _, c := range r.GetContainers() {
		if c.GetMetadata().GetName() == name {
			return c.GetId(), nil
		}
	}
	return "", nil
}

// ContainerState is where a container is in its life, as the runtime says.
func (n *Node) ContainerState(ctx context.Context, id string) (cri.ContainerState, error) {
	r, err := n.runtime.ContainerStatus(ctx, &cri.ContainerStatusRequest{ContainerId: id})
	return r.GetStatus().GetState(), err
}

// SandboxReady says whether the runtime has a pod and the pod runs.
func (n *Node) SandboxReady(ctx context.Context, id string) (bool, error) {
	r, err := n.runtime.ListPodSandbox(ctx, &cri.ListPodSandboxRequest{Filter: &cri.PodSandboxFilter{Id: id}})
	if err != nil {
		return false, err
	}
	for _, s := range r.GetItems() {
		if s.GetState() == cri.PodSandboxState_SANDBOX_READY {
			return true, nil
		}
	}
	return false, nil
}
