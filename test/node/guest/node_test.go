//go:build linux

package guest

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
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
	there := func() (any, error) {
		r, err := images.ImageStatus(t.Context(), &cri.ImageStatusRequest{Image: &cri.ImageSpec{Image: testImage}})
		if err == nil && r.GetImage() == nil {
			err = errNotYet
		}
		return nil, err
	}
	if _, err := there(); err != nil {
		output(t, ctr, "--address", socket, "--namespace", "k8s.io", "image", "import", imageArchive)
		await(t, "the test image", there)
	}
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

// pod is a pod of one container, or one of the containers of a pod.
type pod struct {
	namespace, name, uid string
	container            string // "main" if empty
	privileged           bool
	users                *cri.IDMapping // of a user namespace, also of its files
	mounts               []*cri.Mount
	devices              []*cri.Device
	cdi                  []string // names of CDI devices

	config  *cri.PodSandboxConfig // once it runs
	sandbox string
	id      string
	pid     int
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
	if err := n.runSandbox(t, p); err != nil {
		return err
	}
	return n.runContainer(t, p)
}

// runSandbox runs a pod without its container.
func (n *node) runSandbox(t *testing.T, p *pod) error {
	t.Helper()
	p.config = &cri.PodSandboxConfig{
		Metadata:     &cri.PodSandboxMetadata{Namespace: p.namespace, Name: p.name, Uid: p.uid},
		LogDirectory: "/var/log/pods/" + p.uid,
		Labels: map[string]string{
			"io.kubernetes.pod.namespace": p.namespace,
			"io.kubernetes.pod.name":      p.name,
			"io.kubernetes.pod.uid":       p.uid,
		},
		Linux: &cri.LinuxPodSandboxConfig{
			CgroupParent:    "kubepods.slice",
			SecurityContext: &cri.LinuxSandboxSecurityContext{NamespaceOptions: p.namespaces(), Privileged: p.privileged},
		},
	}
	if err := os.MkdirAll(p.config.GetLogDirectory(), 0o755); err != nil {
		return err
	}
	s, err := n.runtime.RunPodSandbox(t.Context(), &cri.RunPodSandboxRequest{Config: p.config})
	if err != nil {
		return err
	}
	p.sandbox = s.GetPodSandboxId()
	t.Cleanup(func() { n.remove(t, p) })
	return nil
}

// runContainer runs the container of a pod that runs.
func (n *node) runContainer(t *testing.T, p *pod) error {
	t.Helper()
	if err := n.createContainer(t, p); err != nil {
		return err
	}
	return n.startContainer(t, p)
}

func (n *node) startContainer(t *testing.T, p *pod) error {
	t.Helper()
	if _, err := n.runtime.StartContainer(t.Context(), &cri.StartContainerRequest{ContainerId: p.id}); err != nil {
		return err
	}
	var err error
	p.pid, err = n.pid(t.Context(), p.id)
	return err
}

func (n *node) createContainer(t *testing.T, p *pod) error {
	t.Helper()
	name := cmp.Or(p.container, "main")
	labels := maps.Clone(p.config.GetLabels())
	labels["io.kubernetes.container.name"] = name
	config := &cri.ContainerConfig{
		Metadata: &cri.ContainerMetadata{Name: name},
		Image:    &cri.ImageSpec{Image: testImage},
		Command:  []string{"/agent"},
		Args:     []string{"pause"},
		Labels:   labels,
		LogPath:  name + ".log",
		Mounts:   p.mounts,
		Devices:  p.devices,
		Linux: &cri.LinuxContainerConfig{
			SecurityContext: &cri.LinuxContainerSecurityContext{NamespaceOptions: p.namespaces(), Privileged: p.privileged},
		},
	}
	for _, name := range p.cdi {
		config.CDIDevices = append(config.CDIDevices, &cri.CDIDevice{Name: name})
	}
	if p.users != nil { // as the kubelet does, for every mount
		for _, m := range config.GetMounts() {
			m.UidMappings, m.GidMappings = []*cri.IDMapping{p.users}, []*cri.IDMapping{p.users}
		}
	}
	c, err := n.runtime.CreateContainer(t.Context(), &cri.CreateContainerRequest{PodSandboxId: p.sandbox, SandboxConfig: p.config, Config: config})
	p.id = c.GetContainerId()
	return err
}

func (p *pod) namespaces() *cri.NamespaceOption {
	o := &cri.NamespaceOption{Network: cri.NamespaceMode_NODE, Pid: cri.NamespaceMode_CONTAINER}
	if p.users != nil {
		ids := []*cri.IDMapping{p.users}
		o.UsernsOptions = &cri.UserNamespace{Mode: cri.NamespaceMode_POD, Uids: ids, Gids: ids}
	}
	return o
}

// remove stops the pod and removes it, its containers one by one: together they
// take as long as there are many. It may be called again.
func (n *node) remove(t *testing.T, p *pod) {
	t.Helper()
	within := func(what string, do func(context.Context) error) {
		t.Helper()
		ctx, cancel := context.WithTimeout(context.WithoutCancel(t.Context()), patience)
		defer cancel()
		if err := do(ctx); err != nil {
			t.Errorf("%s pod %s: %v", what, p.name, err)
		}
	}
	var containers []*cri.Container
	within("list the containers of", func(ctx context.Context) error {
		filter := &cri.ContainerFilter{PodSandboxId: p.sandbox}
		r, err := n.runtime.ListContainers(ctx, &cri.ListContainersRequest{Filter: filter})
		containers = r.GetContainers()
		return err
	})
	for _, c := range containers { // a removal stops what runs
		within("remove a container of", func(ctx context.Context) error {
			_, err := n.runtime.RemoveContainer(ctx, &cri.RemoveContainerRequest{ContainerId: c.GetId()})
			return err
		})
	}
	within("stop", func(ctx context.Context) error {
		_, err := n.runtime.StopPodSandbox(ctx, &cri.StopPodSandboxRequest{PodSandboxId: p.sandbox})
		return err
	})
	within("remove", func(ctx context.Context) error {
		_, err := n.runtime.RemovePodSandbox(ctx, &cri.RemovePodSandboxRequest{PodSandboxId: p.sandbox})
		return err
	})
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
