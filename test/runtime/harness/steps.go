//go:build linux

package harness

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"os"
	"strings"

	cri "k8s.io/cri-api/pkg/apis/runtime/v1"
)

// Sandbox is a pod that runs.
type Sandbox struct {
	ID         string
	Pod        Pod               // with its defaults filled in
	Containers map[string]string // name to id, of those that were created

	config *cri.PodSandboxConfig
}

// RunSandbox starts a pod without its containers. As all steps it returns the
// runtime's error as it is, with its gRPC status.
func (n *Node) RunSandbox(ctx context.Context, p Pod) (*Sandbox, error) {
	if p.Namespace == "" {
		p.Namespace = "default"
	}
	if p.UID == "" {
		p.UID = strings.ToLower(rand.Text())
	}
	if p.Name == "" {
		p.Name = "pod-" + p.UID[:min(8, len(p.UID))]
	}
	s := &Sandbox{Pod: p, Containers: make(map[string]string), config: n.sandboxConfig(&p)}
	if err := os.MkdirAll(s.config.LogDirectory, 0o755); err != nil {
		return nil, fmt.Errorf("make log directory: %w", err)
	}
	r, err := n.runtime.RunPodSandbox(ctx, &cri.RunPodSandboxRequest{Config: s.config})
	if err != nil {
		return nil, err
	}
	s.ID = r.GetPodSandboxId()
	return s, nil
}

// CreateContainer creates a container and returns its id.
func (n *Node) CreateContainer(ctx context.Context, s *Sandbox, c Container) (string, error) {
	if c.Name == "" {
		c.Name = "main"
	}
	r, err := n.runtime.CreateContainer(ctx, &cri.CreateContainerRequest{
		PodSandboxId:  s.ID,
		Config:        containerConfig(&s.Pod, &c),
		SandboxConfig: s.config,
	})
	if err != nil {
		return "", err
	}
	s.Containers[c.Name] = r.GetContainerId()
	return r.GetContainerId(), nil
}

// StartContainer starts a created container.
func (n *Node) StartContainer(ctx context.Context, id string) error {
	_, err := n.runtime.StartContainer(ctx, &cri.StartContainerRequest{ContainerId: id})
	return err
}

// StopContainer sends SIGTERM, and SIGKILL after a while.
func (n *Node) StopContainer(ctx context.Context, id string) error {
	_, err := n.runtime.StopContainer(ctx, &cri.StopContainerRequest{ContainerId: id, Timeout: 10})
	return err
}

// RemoveContainer removes a container, which it kills if it runs.
func (n *Node) RemoveContainer(ctx context.Context, id string) error {
	_, err := n.runtime.RemoveContainer(ctx, &cri.RemoveContainerRequest{ContainerId: id})
	return err
}

// StopSandbox kills all containers of a pod and the pod.
func (n *Node) StopSandbox(ctx context.Context, id string) error {
	_, err := n.runtime.StopPodSandbox(ctx, &cri.StopPodSandboxRequest{PodSandboxId: id})
	return err
}

// RemoveSandbox stops a pod and removes it with its containers, as the kubelet
// does: the containers first. To leave them to RemovePodSandbox stops containerd
// for good where a plugin registers in that moment (containerd 2.4.2 takes a read
// lock once more in RemoveContainer, behind a writer that waits for the first).
func (n *Node) RemoveSandbox(ctx context.Context, id string) error {
	if err := n.StopSandbox(ctx, id); err != nil {
		return err
	}
	list, err := n.runtime.ListContainers(ctx, &cri.ListContainersRequest{Filter: &cri.ContainerFilter{PodSandboxId: id}})
	if err != nil {
		return err
	}
	for _, c := range list.GetContainers() {
		if err := n.RemoveContainer(ctx, c.GetId()); err != nil {
			return err
		}
	}
	_, err = n.runtime.RemovePodSandbox(ctx, &cri.RemovePodSandboxRequest{PodSandboxId: id})
	return err
}

// RunPod starts a pod and its containers. After an error nothing of it is left.
func (n *Node) RunPod(ctx context.Context, p Pod) (*Sandbox, error) {
	s, err := n.RunSandbox(ctx, p)
	if err != nil {
		return nil, err
	}
	for _, c := range p.Containers {
		id, err := n.CreateContainer(ctx, s, c)
		if err == nil {
			err = n.StartContainer(ctx, id)
		}
		if err != nil {
			return nil, errors.Join(err, n.RemoveSandbox(ctx, s.ID))
		}
	}
	return s, nil
}

// RemovePods removes all pods of the node.
func (n *Node) RemovePods(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	list, err := n.runtime.ListPodSandbox(ctx, &cri.ListPodSandboxRequest{})
	if err != nil {
		return fmt.Errorf("list pods: %w", err)
	}
	var errs []error
	for _, s := range list.GetItems() {
		if err := n.RemoveSandbox(ctx, s.GetId()); err != nil {
			errs = append(errs, fmt.Errorf("remove pod %s: %w", s.GetMetadata().GetName(), err))
		}
	}
	return errors.Join(errs...)
}
