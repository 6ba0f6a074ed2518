//go:build linux

package main

import (
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/containerd/containerd/v2/contrib/seccomp"
	"github.com/containerd/nri/pkg/api"
	rspec "github.com/opencontainers/runtime-spec/specs-go"

	"github.com/mountward/mountward/test/runtime/adapt"
)

// task is one container to be: what the runtime would tell plugins about, with
// files of its pod in the kubelet's and the runtime's directories.
type task struct {
	pod       *api.PodSandbox
	container *api.Container
	spec      *rspec.Spec
}

// files makes the sources of a pod's mounts, once for all tasks: what differs
// between pods is no matter of cost.
func files() error {
	for _, dir := range []string{podDir + "/volumes/kubernetes.io~projected/kube-api-access", podDir + "/containers/main", sandboxDir, shmDir, "/var/lib/agent", "/var/lib/agent/conf"} {
		if err := os.MkdirAll(dir, 0o755); err != nil {
			return fmt.Errorf("make source of mounts: %w", err)
		}
	}
	for _, file := range []string{podDir + "/etc-hosts", podDir + "/containers/main/log", sandboxDir + "/hostname", sandboxDir + "/resolv.conf"} {
		if err := os.WriteFile(file, nil, 0o644); err != nil {
			return fmt.Errorf("make source of mounts: %w", err)
		}
	}
	return nil
}

const (
	podDir     = kubeletRoot + "/pods/6f1b0f3a-58a4-4d5c-9a71-3e5f2f3f6a10"
	sandboxDir = "/var/lib/containerd/io.containerd.grpc.v1.cri/sandboxes/sandbox"
	shmDir     = "/run/containerd/io.containerd.grpc.v1.cri/sandboxes/sandbox/shm"
)

// pseudo are the mounts that the CRI gives every container and that have no
// source on the host.
func pseudo() []rspec.Mount {
	return []rspec.Mount{
		{Destination: "/proc", Type: "proc", Source: "proc", Options: []string{"nosuid", "noexec", "nodev"}},
		{Destination: "/dev", Type: "tmpfs", Source: "tmpfs", Options: []string{"nosuid", "strictatime", "mode=755", "size=65536k"}},
		{Destination: "/dev/pts", Type: "devpts", Source: "devpts", Options: []string{"nosuid", "noexec", "newinstance", "ptmxmode=0666", "mode=0620", "gid=5"}},
		{Destination: "/dev/mqueue", Type: "mqueue", Source: "mqueue", Options: []string{"nosuid", "noexec", "nodev"}},
		{Destination: "/sys", Type: "sysfs", Source: "sysfs", Options: []string{"nosuid", "noexec", "nodev", "ro"}},
		{Destination: "/sys/fs/cgroup", Type: "cgroup", Source: "cgroup", Options: []string{"nosuid", "noexec", "nodev", "relatime", "ro"}},
	}
}

// binds are twelve host mounts: the six of every pod, and six volumes.
func binds() []rspec.Mount {
	bind := func(destination, source string, options ...string) rspec.Mount {
		return rspec.Mount{Destination: destination, Type: "bind", Source: source, Options: append([]string{"rbind"}, options...)}
	}
	mounts := []rspec.Mount{
		bind("/etc/hosts", podDir+"/etc-hosts", "rprivate", "rw"),
		bind("/dev/termination-log", podDir+"/containers/main/log", "rprivate", "rw"),
		bind("/etc/hostname", sandboxDir+"/hostname", "rprivate", "rw"),
		bind("/etc/resolv.conf", sandboxDir+"/resolv.conf", "rprivate", "rw"),
		bind("/dev/shm", shmDir, "rprivate", "rw"),
		bind("/var/run/secrets/kubernetes.io/serviceaccount", podDir+"/volumes/kubernetes.io~projected/kube-api-access", "rprivate", "ro"),
		bind("/agent", "/var/lib/agent", "rprivate", "rw"),
		bind("/conf", "/var/lib/agent/conf", "rprivate", "ro"),
	}
	for i := range agentVolumes {
		mounts = append(mounts, bind(fmt.Sprintf("/volume-%d", i), fmt.Sprintf("%s/driver/volume-%d/globalmount", csiRoot, i), "rprivate", "rw"))
	}
	return append(mounts, bind("/all", csiRoot, "rprivate", "rw")) // the one the policy raises
}

// raised is the mount above that the policy sets to rslave.
const raised = "/all"

// unaffected has, in its place, one that asks for what the policy would set.
func unaffected() []rspec.Mount {
	mounts := binds()
	last := &mounts[len(mounts)-1]
	last.Options = []string{"rbind", "rslave", "rw"}
	return mounts
}

// newTask is a container of a pod of its own with these host mounts. Its
// specification is of the size that one of the CRI has.
func newTask(mounts []rspec.Mount) *task {
	caps := strings.Fields("CAP_CHOWN CAP_DAC_OVERRIDE CAP_FSETID CAP_FOWNER CAP_MKNOD CAP_NET_RAW CAP_SETGID CAP_SETUID CAP_SETFCAP CAP_SETPCAP CAP_NET_BIND_SERVICE CAP_SYS_CHROOT CAP_KILL CAP_AUDIT_WRITE")
	spec := &rspec.Spec{
		Version:  rspec.Version,
		Root:     &rspec.Root{Path: "rootfs"},
		Hostname: "agent",
		Mounts:   append(pseudo(), mounts...),
		Process: &rspec.Process{
			Args: []string{"/agent", "--all", raised}, Cwd: "/", Env: []string{"PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin", "HOSTNAME=agent"},
			Capabilities: &rspec.LinuxCapabilities{Bounding: caps, Effective: caps, Permitted: caps},
		},
		Linux: &rspec.Linux{
			MaskedPaths:   []string{"/proc/asound", "/proc/acpi", "/proc/kcore", "/proc/keys", "/proc/latency_stats", "/proc/timer_list", "/proc/timer_stats", "/proc/sched_debug", "/proc/scsi", "/sys/firmware"},
			ReadonlyPaths: []string{"/proc/bus", "/proc/fs", "/proc/irq", "/proc/sys", "/proc/sysrq-trigger"},
			Resources:     &rspec.LinuxResources{Devices: []rspec.LinuxDeviceCgroup{{Access: "rwm"}}},
		},
	}
	spec.Linux.Seccomp = seccomp.DefaultProfile(spec)
	uid := randomID()[:32]
	pod := &api.PodSandbox{
		Id: randomID(), Uid: uid, Name: "agent-" + uid[:5], Namespace: "storage",
		Labels:      map[string]string{"app.kubernetes.io/name": "agent", "controller-revision-hash": uid[:10], "pod-template-generation": "1"},
		Annotations: map[string]string{"kubernetes.io/config.seen": "2026-01-01T00:00:00Z", "kubernetes.io/config.source": "api"},
	}
	return &task{pod, adapt.ContainerFromSpec(pod, randomID(), "main", spec), spec}
}

// randomID is 64 hexadecimal digits, as of a container.
func randomID() string {
	var b [32]byte
	_, _ = rand.Read(b[:]) // never fails
	return hex.EncodeToString(b[:])
}

// shippedPolicy is the shipped policy, found upwards from the working
// directory, in enforce mode: of the mounts above it raises one.
func shippedPolicy() (string, error) {
	dir, err := os.Getwd()
	for ; err == nil && dir != "/"; dir = filepath.Dir(dir) {
		text, err := os.ReadFile(filepath.Join(dir, "config", "policy.toml"))
		if err != nil {
			continue
		}
		enforced := strings.Replace(string(text), `mode    = "audit"`, `mode = "enforce"`, 1)
		if enforced == string(text) {
			return "", fmt.Errorf("read the shipped policy: %s is not in audit mode", dir)
		}
		return enforced, nil
	}
	return "", errors.New("find config/policy.toml: not in the working directory, not above it")
}
