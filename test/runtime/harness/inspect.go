//go:build linux

package harness

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	specs "github.com/opencontainers/runtime-spec/specs-go"
	cri "k8s.io/cri-api/pkg/apis/runtime/v1"
)

// ContainerPID is the first process of a running container, in the pid
// namespace of the caller.
func (n *Node) ContainerPID(ctx context.Context, id string) (int, error) {
	r, err := n.runtime.ContainerStatus(ctx, &cri.ContainerStatusRequest{ContainerId: id, Verbose: true})
	if err != nil {
		return 0, err
	}
	var info struct {
		Pid int `json:"pid"`
	}
	if err := json.Unmarshal([]byte(r.GetInfo()["info"]), &info); err != nil {
		return 0, fmt.Errorf("read status of container %s: %w", id, err)
	}
	if info.Pid == 0 {
		return 0, fmt.Errorf("find process of container %s: none", id)
	}
	return info.Pid, nil
}

// ContainerMountinfo is the mount table of a running container.
func (n *Node) ContainerMountinfo(ctx context.Context, id string) (Mounts, error) {
	pid, err := n.ContainerPID(ctx, id)
	if err != nil {
		return nil, err
	}
	return Mountinfo(pid)
}

// ErrExec is the failure of a command in a container, not of the runtime.
var ErrExec = errors.New("command failed")

// Exec runs a command of the agent in a container and returns its standard
// output, and ErrExec with its standard error if it fails.
func (n *Node) Exec(ctx context.Context, id string, args ...string) (string, error) {
	r, err := n.runtime.ExecSync(ctx, &cri.ExecSyncRequest{
		ContainerId: id,
		Cmd:         append([]string{"/agent"}, args...),
		Timeout:     int64(patience.Seconds()),
	})
	if err != nil {
		return "", err
	}
	if code := r.GetExitCode(); code != 0 {
		err = fmt.Errorf("run %q in container %s: exit code %d: %w: %s", args, id, code, ErrExec, r.GetStderr())
	}
	return string(r.GetStdout()), err
}

// Wait waits for the end of a container and returns its exit code.
func (n *Node) Wait(ctx context.Context, id string) (int, error) {
	var code int
	err := n.poll(ctx, "wait for container "+id, func() error {
		r, err := n.runtime.ContainerStatus(ctx, &cri.ContainerStatusRequest{ContainerId: id})
		if err != nil {
			return err
		}
		code = int(r.GetStatus().GetExitCode())
		if state := r.GetStatus().GetState(); state != cri.ContainerState_CONTAINER_EXITED {
			return fmt.Errorf("it is %s", state)
		}
		return nil
	})
	return code, err
}

// Bundle is the directory that the runtime runs a container from. It exists
// from start to exit.
func (n *Node) Bundle(id string) string {
	return filepath.Join(n.State, "io.containerd.runtime.v2.task", "k8s.io", id)
}

// Spec is what runc was given for a container that was started.
func (n *Node) Spec(id string) (*specs.Spec, error) {
	data, err := os.ReadFile(filepath.Join(n.Bundle(id), "config.json"))
	if err != nil {
		return nil, fmt.Errorf("read container spec: %w", err)
	}
	spec := new(specs.Spec)
	if err := json.Unmarshal(data, spec); err != nil {
		return nil, fmt.Errorf("parse container spec: %w", err)
	}
	return spec, nil
}
