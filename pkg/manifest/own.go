package manifest

import (
	"path"
	"slices"
	"strings"

	"github.com/mountward/mountward/pkg/facts"
)

// token says that the API server adds the token of the service account, and why
// that is not sure; "" where it does not.
func (b *builder) token(kind string, binds []asked) string {
	switch {
	case kind == KindEphemeral, b.Static, b.of.spec.AutomountToken != nil && !*b.of.spec.AutomountToken, mountedAt(binds, tokenPath):
		return ""
	case b.of.UID != "":
		return "" // the API server has made the pod, and would have added it
	default:
		return "the API server adds it unless the service account says automountServiceAccountToken: false"
	}
}

// own adds what the kubelet and containerd mount into every container.
func (b *builder) own(binds []asked, c container) []asked {
	mode := "rw"
	if c.Security.ReadOnlyRootfs {
		mode = "ro"
	}
	sandbox := path.Join(b.RuntimeRoot, "io.containerd.grpc.v1.cri/sandboxes", unknownID)
	pod := facts.KubeletPath{Root: b.KubeletRoot, Role: facts.PathPod, PodUID: b.uid}.Path()
	shm := path.Join(b.RuntimeState, "io.containerd.grpc.v1.cri/sandboxes", unknownID, "shm")
	if b.of.spec.HostIPC {
		shm = "/dev/shm"
	}
	for _, m := range []struct{ by, source, destination, mode string }{
		{MadeByKubelet, pod + "/etc-hosts", "/etc/hosts", "rw"},
		{MadeByKubelet, pod + "/containers/" + c.Name + "/00000000", orElse(c.TerminationPath, "/dev/termination-log"), "rw"},
		{MadeByRuntime, sandbox + "/hostname", "/etc/hostname", mode},
		{MadeByRuntime, sandbox + "/resolv.conf", "/etc/resolv.conf", mode},
		{MadeByRuntime, shm, "/dev/shm", "rw"},
	} {
		if !mountedAt(binds, m.destination) {
			binds = append(binds, asked{bind(m.source, m.destination, "rprivate", m.mode), Note{MadeBy: m.by}})
		}
	}
	return binds
}

func mountedAt(binds []asked, destination string) bool {
	return slices.ContainsFunc(binds, func(a asked) bool { return path.Clean(a.Destination) == path.Clean(destination) })
}

// fileSystems are those that containerd mounts for itself, but for what a volume
// is mounted over. Source: containerd 2.4.2 pkg/oci/mounts.go and
// internal/cri/opts.
func (b *builder) fileSystems(binds []asked, privileged bool) []asked {
	mode := "ro"
	if privileged {
		mode = "rw"
	}
	dev := mountedAt(binds, "/dev")
	var all []asked
	for _, m := range []facts.Mount{
		{Destination: "/proc", Type: "proc", Source: "proc", Options: []string{"nosuid", "noexec", "nodev"}},
		{Destination: "/dev", Type: "tmpfs", Source: "tmpfs", Options: []string{"nosuid", "strictatime", "mode=755", "size=65536k"}},
		{Destination: "/dev/pts", Type: "devpts", Source: "devpts", Options: []string{"nosuid", "noexec", "newinstance", "ptmxmode=0666", "mode=0620", "gid=5"}},
		{Destination: "/dev/mqueue", Type: "mqueue", Source: "mqueue", Options: []string{"nosuid", "noexec", "nodev"}},
		{Destination: "/sys", Type: "sysfs", Source: "sysfs", Options: []string{"nosuid", "noexec", "nodev", mode}},
		{Destination: "/sys/fs/cgroup", Type: "cgroup", Source: "cgroup", Options: []string{"nosuid", "noexec", "nodev", "relatime", mode}},
	} {
		if mountedAt(binds, m.Destination) || dev && strings.HasPrefix(m.Destination, "/dev/") {
			continue
		}
		all = append(all, asked{m, Note{MadeBy: MadeByRuntime}})
	}
	return all
}

// hostSys binds the host's /sys in place of the sysfs, which a user namespace with
// the host's network may not mount: last of all. Source: containerd 2.4.2
// internal/cri/server/container_create.go.
func hostSys(all []asked) []asked {
	all = slices.DeleteFunc(all, func(a asked) bool { return a.Destination == "/sys" })
	return append(all, asked{facts.Mount{
		Source: "/sys", Destination: "/sys", Type: "bind", Options: []string{"rbind", "rro", "nosuid", "nodev", "noexec"},
	}, Note{MadeBy: MadeByRuntime}})
}
