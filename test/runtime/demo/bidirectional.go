//go:build linux

package main

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"

	"google.golang.org/grpc/status"

	"github.com/mountward/mountward/test/runtime/harness"
)

// refuse is the first half of step (c).
func (d *demo) refuse(ctx context.Context) error {
	d.heading("\n(c) A pod with Bidirectional can mount onto the host. Only CSI drivers may.")
	d.say(`Pod backup-tool asks for it. Its owner reads in "kubectl describe pod":`)
	sandbox, err := d.node.RunPod(ctx, harness.Pod{
		Namespace: "shop", Name: "backup-tool", Containers: []harness.Container{{
			Name: "tool", Privileged: true,
			Mounts: []harness.ContainerMount{{HostPath: podsDir, ContainerPath: "/backup", Propagation: harness.Bidirectional}},
		}},
	})
	text := "(no error: the pod runs)"
	if err != nil {
		text = "Error: " + event(err)
	}
	d.evidence("event", text)
	d.proves(strings.Contains(text, "mountward: mount /backup") && strings.Contains(text, "nobody-else") &&
		strings.Contains(text, "ask the storage team"),
		"It is refused. The owner reads which mount, by which rule, and what to do.")
	if sandbox != nil {
		return d.node.RemoveSandbox(ctx, sandbox.ID)
	}
	return nil
}

// event is what the kubelet shows of a runtime's error: the message of its gRPC
// status.
func event(err error) string {
	var s interface{ GRPCStatus() *status.Status }
	if errors.As(err, &s) {
		return s.GRPCStatus().Message()
	}
	return err.Error()
}

// driver is the other half: a pod of the shape that all CSI node drivers have.
func (d *demo) driver(ctx context.Context) error {
	const pluginDir = kubeletRoot + "/plugins/lvm.example.com"
	d.say("Pod lvm-node asks too, and mounts plugins/lvm.example.com: a CSI driver. It mounts pvc-2:")
	sandbox, err := d.node.RunPod(ctx, harness.Pod{
		Namespace: "kube-system", Name: "lvm-node", Containers: []harness.Container{{
			Name: "driver", Privileged: true,
			Mounts: []harness.ContainerMount{
				{HostPath: podsDir, ContainerPath: podsDir, Propagation: harness.Bidirectional},
				{HostPath: pluginDir, ContainerPath: "/csi"},
			},
		}},
	})
	const what = "It is not refused. Its mount is on the host, and in the agent of (b)."
	if err != nil {
		d.failed(what, err.Error())
		return nil
	}
	volume := target("c40b9e58", "pvc-2")
	if _, err := d.node.Exec(ctx, sandbox.Containers["driver"], "mount-tmpfs", filepath.Join(podsDir, volume)); err != nil {
		return err
	}
	onHost, host, err := mountLine(os.Getpid(), filepath.Join(podsDir, volume))
	if err != nil {
		return err
	}
	pid, err := d.node.ContainerPID(ctx, d.agent.Containers["agent"])
	if err != nil {
		return err
	}
	inAgent, agent, err := mountLine(pid, filepath.Join("/pods", volume))
	if err != nil {
		return err
	}
	d.evidence("host", orNothing(host))
	d.evidence("agent", orNothing(agent))
	d.proves(onHost != nil && inAgent != nil && onHost.Device == inAgent.Device, what)
	return nil
}
