//go:build linux

package adapt

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/containerd/nri/pkg/adaptation"
	"github.com/containerd/nri/pkg/api"
	rspec "github.com/opencontainers/runtime-spec/specs-go"
)

// CreateContainer asks all plugins about a container and returns what they
// change together, which validators have accepted.
func (r *Runtime) CreateContainer(ctx context.Context, pod *api.PodSandbox, c *api.Container) (*api.ContainerAdjustment, error) {
	defer r.Adaptation.BlockPluginSync().Unblock()
	reply, err := r.Adaptation.CreateContainer(ctx, &adaptation.CreateContainerRequest{Pod: pod, Container: c})
	if err != nil {
		return nil, err
	}
	return reply.GetAdjust(), nil
}

// CreateFromSpec asks all plugins about the container of a spec and returns the
// spec that the container is made from. The one given is not changed.
func (r *Runtime) CreateFromSpec(ctx context.Context, pod *api.PodSandbox, id, name string, spec *rspec.Spec) (*rspec.Spec, *api.ContainerAdjustment, error) {
	adjust, err := r.CreateContainer(ctx, pod, ContainerFromSpec(pod, id, name, spec))
	if err != nil {
		return nil, nil, err
	}
	adjusted, err := Apply(spec, adjust)
	return adjusted, adjust, err
}

// StartContainer tells all plugins that a container is about to start. Its Pid
// is that of a process.
func (r *Runtime) StartContainer(ctx context.Context, pod *api.PodSandbox, c *api.Container) error {
	defer r.Adaptation.BlockPluginSync().Unblock()
	return r.Adaptation.StartContainer(ctx, &adaptation.StartContainerRequest{Pod: pod, Container: c})
}

// StopContainer tells all plugins that a container has stopped.
func (r *Runtime) StopContainer(ctx context.Context, pod *api.PodSandbox, c *api.Container) error {
	defer r.Adaptation.BlockPluginSync().Unblock()
	_, err := r.Adaptation.StopContainer(ctx, &adaptation.StopContainerRequest{Pod: pod, Container: c})
	return err
}

// RemoveContainer tells all plugins that a container is removed.
func (r *Runtime) RemoveContainer(ctx context.Context, pod *api.PodSandbox, c *api.Container) error {
	defer r.Adaptation.BlockPluginSync().Unblock()
	return r.Adaptation.RemoveContainer(ctx, &adaptation.RemoveContainerRequest{Pod: pod, Container: c})
}

// ContainerFromSpec is a container as containerd describes it to plugins before
// it is created.
func ContainerFromSpec(pod *api.PodSandbox, id, name string, spec *rspec.Spec) *api.Container {
	c := &api.Container{
		Id:           id,
		PodSandboxId: pod.GetId(),
		Name:         name,
		State:        api.ContainerState_CONTAINER_UNKNOWN,
		Annotations:  spec.Annotations,
		Labels: map[string]string{
			"io.cri-containerd.kind":       "container",
			"io.kubernetes.pod.namespace":  pod.GetNamespace(),
			"io.kubernetes.pod.name":       pod.GetName(),
			"io.kubernetes.pod.uid":        pod.GetUid(),
			"io.kubernetes.container.name": name,
		},
		Mounts: api.FromOCIMounts(spec.Mounts),
		Hooks:  api.FromOCIHooks(spec.Hooks),
	}
	if spec.Process != nil {
		c.Args = spec.Process.Args
		c.Env = spec.Process.Env
	}
	if spec.Linux != nil {
		c.Linux = &api.LinuxContainer{
			Namespaces:  api.FromOCILinuxNamespaces(spec.Linux.Namespaces),
			Devices:     api.FromOCILinuxDevices(spec.Linux.Devices),
			CgroupsPath: spec.Linux.CgroupsPath,
		}
	}
	return c
}

// clone is a spec that shares nothing with another.
func clone(spec *rspec.Spec) (*rspec.Spec, error) {
	data, err := json.Marshal(spec)
	if err != nil {
		return nil, fmt.Errorf("copy spec: %w", err)
	}
	c := new(rspec.Spec)
	if err := json.Unmarshal(data, c); err != nil {
		return nil, fmt.Errorf("copy spec: %w", err)
	}
	return c, nil
}
