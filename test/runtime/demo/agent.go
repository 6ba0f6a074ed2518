//go:build linux

package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/mountward/mountward/test/runtime/harness"
)

// agentPod is a log cleaner, exporter or I/O limiter: it looks at the volumes of
// all pods, and its author did not think of propagation.
func agentPod() harness.Pod {
	return harness.Pod{Namespace: "monitoring", Name: "log-cleaner", Containers: []harness.Container{{
		Name:   "agent",
		Mounts: []harness.ContainerMount{{HostPath: podsDir, ContainerPath: "/pods"}},
	}}}
}

// blind is step (a).
func (d *demo) blind(ctx context.Context) error {
	d.heading("(a) Without mountward, an agent is blind to a volume that is mounted after it started.")
	d.say("It mounts the kubelet's pods directory as /pods. Then the host mounts pvc-1 of pod db-0:")
	agent, seen, err := d.watch(ctx)
	if err != nil {
		return err
	}
	d.evidence("host", "ls "+filepath.Join(podsDir, dbVolume())+": "+orNothing(seen.host))
	d.show(seen)
	d.proves(seen.host == volumeFile && seen.hostGroup != 0 && seen.agent == "" && seen.volume == "" && seen.group == 0,
		"The agent sees an empty directory until it is restarted: its /pods has no master.")
	if err := d.node.RemoveSandbox(ctx, agent.ID); err != nil {
		return err
	}
	return unmount(filepath.Join(podsDir, dbVolume()))
}

// follow is step (b), after install.
func (d *demo) follow(ctx context.Context) error {
	agent, seen, err := d.watch(ctx)
	if err != nil {
		return err
	}
	d.agent = agent
	d.show(seen)
	d.proves(seen.agent == volumeFile && seen.volume != "" && seen.group != 0 && seen.group == seen.hostGroup,
		fmt.Sprintf("The agent has it: its /pods (master:%d) follows the host's mount (shared:%d).",
			seen.group, seen.hostGroup))
	return nil
}

func (d *demo) show(s sight) {
	d.evidence("agent", "ls "+filepath.Join("/pods", dbVolume())+": "+orNothing(s.agent))
	d.evidence("kernel", s.pods)
	if s.volume != "" {
		d.evidence("", s.volume)
	}
}

func orNothing(text string) string {
	if text == "" {
		return "(nothing)"
	}
	return text
}

// sight is what the host and the agent have of the volume.
type sight struct {
	host, agent  string // names in its directory
	pods, volume string // the agent's lines of /pods and of the volume, "" for none
	group        int    // that the agent's /pods receives from
	hostGroup    int    // of the host's mount of that
}

// watch starts the agent, and has the host mount the volume after that.
func (d *demo) watch(ctx context.Context) (*harness.Sandbox, sight, error) {
	agent, err := d.node.RunPod(ctx, agentPod())
	if err != nil {
		return nil, sight{}, err
	}
	path := filepath.Join(podsDir, dbVolume())
	if err := d.host.mountVolume(path); err != nil {
		return nil, sight{}, err
	}
	s, err := d.look(ctx, agent.Containers["agent"])
	if err != nil {
		return nil, sight{}, err
	}
	entries, err := os.ReadDir(path)
	if err != nil {
		return nil, sight{}, fmt.Errorf("list volume: %w", err)
	}
	for _, e := range entries {
		s.host += e.Name()
	}
	return agent, s, nil
}

// look is at once: nothing waits for the mount to arrive.
func (d *demo) look(ctx context.Context, agent string) (s sight, err error) {
	inside := filepath.Join("/pods", dbVolume())
	out, err := d.node.Exec(ctx, agent, "ls", inside)
	if err != nil {
		return s, err
	}
	s.agent = strings.TrimSpace(out)
	pid, err := d.node.ContainerPID(ctx, agent)
	if err != nil {
		return s, err
	}
	pods, line, err := mountLine(pid, "/pods")
	if err != nil {
		return s, err
	}
	host, _, err := mountLine(os.Getpid(), hostDir)
	if err != nil {
		return s, err
	}
	if pods == nil || host == nil {
		return s, errors.New("find the pods directory in the mount tables of host and agent: not in both")
	}
	s.pods, s.group, s.hostGroup = line, pods.Master, host.Shared
	_, s.volume, err = mountLine(pid, inside)
	return s, err
}
