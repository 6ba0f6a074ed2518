//go:build linux

package guest

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"
	cri "k8s.io/cri-api/pkg/apis/runtime/v1"
)

const (
	testImage    = "docker.io/local/test:1"
	imageArchive = "/usr/local/lib/node/image.tar"
)

// node is the containerd.service of the machine, as a kubelet talks to it.
type node struct {
	runtime cri.RuntimeServiceClient
}

// connect waits until the node can run pods and mountward watches.
func connect(t *testing.T) *node {
	t.Helper()
	n := dial(t, "/usr/local/bin/ctr", "/run/containerd/containerd.sock")
	awaitEntry(t, "_SYSTEMD_UNIT="+service, "SYSLOG_IDENTIFIER=mountward", "MOUNTWARD_EVENT=policy-loaded")
	synchronized(t, "_SYSTEMD_UNIT="+service)
	return n
}

// dial connects to a containerd and gives it the test image.
func dial(t *testing.T, ctr, socket string) *node {
	t.Helper()
	conn, err := grpc.NewClient("unix://"+socket, grpc.WithTransportCredentials(insecure.NewCredentials()))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { conn.Close() })
	images := cri.NewImageServiceClient(conn)
	output(t, ctr, "--address", socket, "--namespace", "k8s.io", "image", "import", imageArchive)
	await(t, "the test image", func() (any, error) {
		r, err := images.ImageStatus(t.Context(), &cri.ImageStatusRequest{Image: &cri.ImageSpec{Image: testImage}})
		if err == nil && r.GetImage() == nil {
			err = errNotYet
		}
		return nil, err
	})
	return &node{runtime: cri.NewRuntimeServiceClient(conn)}
}

// synchronized waits until a mountward says that it knows the containers.
func synchronized(t *testing.T, match string) {
	t.Helper()
	await(t, "mountward to be synchronized", func() (any, error) {
		all, err := journal(match)
		for _, e := range all {
			if strings.HasPrefix(e.first("MESSAGE"), "synchronized with the runtime") {
				return nil, nil
			}
		}
		if err == nil {
			err = errNotYet
		}
		return nil, err
	})
}

// pod is a pod of one container.
type pod struct {
	namespace, name, uid string
	privileged           bool
	mounts               []*cri.Mount
	devices              []*cri.Device

	sandbox, id string // once it runs
	pid         int
}

// start runs a pod, which is removed with the test.
func (n *node) start(t *testing.T, p *pod) {
	t.Helper()
	if err := n.tryStart(t, p); err != nil {
		t.Fatal(err)
	}
}

func (n *node) tryStart(t *testing.T, p *pod) error {
	t.Helper()
	ctx := t.Context()
	namespaces := &cri.NamespaceOption{Network: cri.NamespaceMode_NODE, Pid: cri.NamespaceMode_CONTAINER}
	labels := map[string]string{
		"io.kubernetes.pod.namespace":  p.namespace,
		"io.kubernetes.pod.name":       p.name,
		"io.kubernetes.pod.uid":        p.uid,
		"io.kubernetes.container.name": "main",
	}
	sandbox := &cri.PodSandboxConfig{
		Metadata:     &cri.PodSandboxMetadata{Namespace: p.namespace, Name: p.name, Uid: p.uid},
		LogDirectory: "/var/log/pods/" + p.uid,
		Labels:       labels,
		Linux: &cri.LinuxPodSandboxConfig{
			CgroupParent:    "kubepods.slice",
			SecurityContext: &cri.LinuxSandboxSecurityContext{NamespaceOptions: namespaces, Privileged: p.privileged},
		},
	}
	if err := os.MkdirAll(sandbox.LogDirectory, 0o755); err != nil {
		return err
	}
	s, err := n.runtime.RunPodSandbox(ctx, &cri.RunPodSandboxRequest{Config: sandbox})
	if err != nil {
		return err
	}
	p.sandbox = s.GetPodSandboxId()
	t.Cleanup(func() { n.remove(t, p) })
	c, err := n.runtime.CreateContainer(ctx, &cri.CreateContainerRequest{
		PodSandboxId:  p.sandbox,
		SandboxConfig: sandbox,
		Config: &cri.ContainerConfig{
			Metadata: &cri.ContainerMetadata{Name: "main"},
			Image:    &cri.ImageSpec{Image: testImage},
			Command:  []string{"/agent"},
			Args:     []string{"pause"},
			Labels:   labels,
			LogPath:  "main.log",
			Mounts:   p.mounts,
			Devices:  p.devices,
			Linux: &cri.LinuxContainerConfig{
				SecurityContext: &cri.LinuxContainerSecurityContext{NamespaceOptions: namespaces, Privileged: p.privileged},
			},
		},
	})
	if err != nil {
		return err
	}
	p.id = c.GetContainerId()
	if _, err := n.runtime.StartContainer(ctx, &cri.StartContainerRequest{ContainerId: p.id}); err != nil {
		return err
	}
	p.pid, err = n.pid(ctx, p.id)
	return err
}

// remove stops the pod and removes it. It may be called again.
func (n *node) remove(t *testing.T, p *pod) {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.WithoutCancel(t.Context()), patience)
	defer cancel()
	if _, err := n.runtime.StopPodSandbox(ctx, &cri.StopPodSandboxRequest{PodSandboxId: p.sandbox}); err != nil {
		t.Errorf("stop pod %s: %v", p.name, err)
	}
	if _, err := n.runtime.RemovePodSandbox(ctx, &cri.RemovePodSandboxRequest{PodSandboxId: p.sandbox}); err != nil {
		t.Errorf("remove pod %s: %v", p.name, err)
	}
}

// exec is what a command of the agent prints in a container.
func (n *node) exec(t *testing.T, p *pod, args ...string) (string, error) {
	t.Helper()
	r, err := n.runtime.ExecSync(t.Context(), &cri.ExecSyncRequest{
		ContainerId: p.id, Cmd: append([]string{"/agent"}, args...), Timeout: int64(patience / time.Second),
	})
	if err != nil {
		t.Fatal(err)
	}
	if r.GetExitCode() != 0 {
		return "", fmt.Errorf("run %q: exit code %d: %s", args, r.GetExitCode(), r.GetStderr())
	}
	return string(r.GetStdout()), nil
}

// pid is the first process of a container.
func (n *node) pid(ctx context.Context, id string) (int, error) {
	r, err := n.runtime.ContainerStatus(ctx, &cri.ContainerStatusRequest{ContainerId: id, Verbose: true})
	if err != nil {
		return 0, err
	}
	var info struct {
		Pid int `json:"pid"`
	}
	err = json.Unmarshal([]byte(r.GetInfo()["info"]), &info)
	if err == nil && info.Pid == 0 {
		err = errors.New("container has no process")
	}
	return info.Pid, err
}
