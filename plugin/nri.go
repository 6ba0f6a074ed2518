package main

import (
	"github.com/containerd/nri/pkg/api"

	"github.com/mountward/mountward/pkg/facts"
)

// describe turns what NRI says of a container into facts. Pod and container
// may be nil or half empty: events after a failed create, or for a pod that is
// gone, carry little more than an id.
func describe(pod *api.PodSandbox, c *api.Container) facts.Container {
	container := facts.Container{
		ID:     c.GetId(),
		Name:   c.GetName(),
		Image:  c.GetImage().GetName(),
		Labels: c.GetLabels(),
		Pod: facts.Pod{
			ID:          pod.GetId(),
			Namespace:   pod.GetNamespace(),
			Name:        pod.GetName(),
			UID:         pod.GetUid(),
			Labels:      pod.GetLabels(),
			Annotations: pod.GetAnnotations(),
			Runtime:     pod.GetRuntimeHandler(),
		},
		Mounts:  describeMounts(c.GetMounts()),
		Devices: describeDevices(c.GetLinux().GetDevices()),
	}
	if name := c.GetLabels()[facts.LabelContainerName]; name != "" {
		container.Name = name
	}
	for _, ns := range c.GetLinux().GetNamespaces() {
		if ns.GetType() == "user" {
			container.UserNamespace = true
		}
	}
	container.Privileged = facts.PrivilegeAtCreate(container.Mounts, deviceRules(c))
	return container
}

func describeMounts(mounts []*api.Mount) []facts.Mount {
	result := make([]facts.Mount, 0, len(mounts))
	for _, m := range mounts {
		result = append(result, facts.Mount{
			Destination: m.GetDestination(),
			Source:      m.GetSource(),
			Type:        m.GetType(),
			Options:     m.GetOptions(),
		})
	}
	return result
}

func describeDevices(devices []*api.LinuxDevice) []facts.Device {
	var result []facts.Device
	for _, d := range devices {
		result = append(result, facts.Device{
			Path: d.GetPath(), Type: d.GetType(),
			Number: facts.DeviceNumber{Major: uint32(d.GetMajor()), Minor: uint32(d.GetMinor())},
		})
	}
	return result
}

func deviceRules(c *api.Container) []facts.DeviceRule {
	var rules []facts.DeviceRule
	for _, d := range c.GetLinux().GetResources().GetDevices() {
		rules = append(rules, facts.DeviceRule{
			Allow: d.GetAllow(), Type: d.GetType(), Access: d.GetAccess(),
			Major: number(d.GetMajor()), Minor: number(d.GetMinor()),
		})
	}
	return rules
}

func number(n *api.OptionalInt64) *int64 {
	if n == nil {
		return nil
	}
	v := n.GetValue()
	return &v
}
