package namespaces

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

const (
	idA = "0a1b2c3d4e5f60718293a4b5c6d7e8f90a1b2c3d4e5f60718293a4b5c6d7e8f9"
	idB = "ffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff"
	uid = "1b2f0c1e-6a0f-4b7e-9a57-3f1f5e2a9d10"
)

var uidSystemd = strings.ReplaceAll(uid, "-", "_")

func TestACgroupTellsWhoseAProcessIs(t *testing.T) {
	for _, test := range []struct {
		name, path           string
		container, pod, unit string
	}{
		{"cgroupfs driver", "/kubepods/burstable/pod" + uid + "/" + idA, idA, uid, ""},
		{"cgroupfs driver, guaranteed", "/kubepods/pod" + uid + "/" + idA, idA, uid, ""},
		{"static pod", "/kubepods/burstable/pod4f8c2a0d9e1b4f8c2a0d9e1b4f8c2a0d/" + idA, idA, "4f8c2a0d9e1b4f8c2a0d9e1b4f8c2a0d", ""},
		{"systemd driver", "/kubepods.slice/kubepods-burstable.slice/kubepods-burstable-pod" + uidSystemd + ".slice/cri-containerd-" + idA + ".scope", idA, uid, ""},
		{"systemd driver, guaranteed", "/kubepods.slice/kubepods-pod" + uidSystemd + ".slice/crio-" + idA + ".scope", idA, uid, ""},
		{"a pod without the container's part", "/kubepods.slice/kubepods-besteffort.slice/kubepods-besteffort-pod" + uidSystemd + ".slice", "", uid, ""},
		{"the monitor of CRI-O", "/kubepods.slice/kubepods-pod" + uidSystemd + ".slice/crio-conmon-" + idA + ".scope", "", uid, "crio-conmon-" + idA + ".scope"},
		{"inside kind", "/kubelet.slice/kubelet-kubepods.slice/kubelet-kubepods-burstable.slice/kubelet-kubepods-burstable-pod" + uidSystemd + ".slice/cri-containerd-" + idA + ".scope", idA, uid, ""},
		{"kind from outside", "/system.slice/docker-" + idB + ".scope/kubelet.slice/kubelet-kubepods.slice/kubelet-kubepods-pod" + uidSystemd + ".slice/cri-containerd-" + idA + ".scope", idA, uid, ""},
		{"a service of kind from outside", "/system.slice/docker-" + idB + ".scope/system.slice/containerd.service", idB, "", ""},
		{"docker in a pod", "/kubepods.slice/kubepods-pod" + uidSystemd + ".slice/cri-containerd-" + idA + ".scope/docker/" + idB, idA, uid, ""},
		{"systemd in a pod", "/kubepods.slice/kubepods-pod" + uidSystemd + ".slice/cri-containerd-" + idA + ".scope/system.slice/nginx.service", idA, uid, ""},
		{"from a cgroup namespace", "/../../kubepods/besteffort/pod" + uid + "/" + idA, idA, uid, ""},
		{"a neighbour in a cgroup namespace", "/../" + idA, idA, "", ""},
		{"the systemd path under cgroupfs", "/system.slice/containerd.service/kubepods-burstable-pod" + uidSystemd + ".slice:cri-containerd:" + idA, idA, uid, "containerd.service"},
		{"k3s without a driver of its own", "/system.slice/k3s.service/kubepods/pod" + uid + "/" + idA, idA, uid, "k3s.service"},
		{"plain containerd", "/k8s.io/" + idA, idA, "", ""},
		{"plain containerd, any name", "/k8s.io/redis", "redis", "", ""},
		{"another namespace of containerd", "/default/redis", "", "", ""},
		{"nerdctl", "/system.slice/nerdctl-" + idA + ".scope", idA, "", ""},
		{"docker", "/docker/" + idA, idA, "", ""},
		{"podman", "/machine.slice/libpod-" + idA + ".scope/container", idA, "", ""},
		{"the monitor of podman", "/machine.slice/libpod-conmon-" + idA + ".scope", "", "", "libpod-conmon-" + idA + ".scope"},
		{"a service", "/system.slice/systemd-udevd.service", "", "", "systemd-udevd.service"},
		{"below a service", "/system.slice/systemd-udevd.service/udev", "", "", "systemd-udevd.service"},
		{"an instance", `/system.slice/system-getty.slice/getty@tty1.service`, "", "", "getty@tty1.service"},
		{"a session", "/user.slice/user-1000.slice/session-3.scope", "", "", "session-3.scope"},
		{"a user's service", "/user.slice/user-1000.slice/user@1000.service/app.slice/foo.service", "", "", "foo.service"},
		{"a user's scope", "/user.slice/user-1000.slice/user@1000.service/app.slice/tmux-1.scope", "", "", "user@1000.service"},
		{"a mount's helper", "/system.slice/mnt-data.mount", "", "", "mnt-data.mount"},
		{"systemd-nspawn", "/machine.slice/systemd-nspawn@deb.service/payload/system.slice/cron.service", "", "", "systemd-nspawn@deb.service"},
		{"LXC", "/lxc.payload.web/system.slice/cron.service", "", "", ""},
		{"pid 1", "/init.scope", "", "", "init.scope"},
		{"the root", "/", "", "", ""},
		{"ended", "/system.slice/cron.service (deleted)", "", "", "cron.service"},
		{"names that are like others", "/kubepods-of-mine/podcast/" + idA[:63], "", "cast", ""},
	} {
		want := Owner{ContainerID: test.container, PodUID: test.pod, Unit: test.unit, Cgroup: test.path}
		if diff := cmp.Diff(want, ownerByCgroup("0::"+test.path+"\n")); diff != "" {
			t.Errorf("%s: %s", test.name, diff)
		}
	}
}

func TestOfSeveralHierarchiesThatWhichSaysMostCounts(t *testing.T) {
	pod := "/kubepods/pod" + uid + "/" + idA
	for _, test := range []struct{ name, text, want string }{
		{"version 1", "9:name=systemd:" + pod + "\n8:pids:" + pod + "\n", pod},
		{"hybrid, the unit only in systemd's", "1:name=systemd:/system.slice/cron.service\n2:cpu:/\n0::/\n", "/system.slice/cron.service"},
		{"hybrid, version 2 the same", "12:memory:/x\n1:name=systemd:/system.slice/a.service\n0::/system.slice/b.service\n", "/system.slice/b.service"},
		{"the container only in a controller's", "3:memory:" + pod + "\n1:name=systemd:/system.slice/containerd.service\n0::/\n", pod},
		{"a colon in the path", "0::/a:b/c.service\n", "/a:b/c.service"},
		{"a controller's name with a comma", "4:cpu,cpuacct:/system.slice/a.service\n", "/system.slice/a.service"},
		{"nothing", "", ""},
		{"no cgroup file", "garbage\n0:\n::\n", ""},
	} {
		if got := ownerByCgroup(test.text); got.Cgroup != test.want {
			t.Errorf("%s: %q, want %q", test.name, got.Cgroup, test.want)
		}
	}
}

func FuzzOwnerByCgroup(f *testing.F) {
	for _, path := range []string{"/", "/kubepods/pod" + uid + "/" + idA, "/a.slice:b:c", "/kubepods-pod_.slice/crio-.scope", "/k8s.io", "/x (deleted)"} {
		f.Add("0::" + path + "\n1:name=systemd:" + path)
	}
	f.Fuzz(func(t *testing.T, text string) {
		o := ownerByCgroup(text)
		if !strings.Contains(text, o.Cgroup) || !strings.Contains(o.Cgroup, o.ContainerID) || strings.Contains(o.ContainerID, "/") {
			t.Errorf("container %q of cgroup %q in %q", o.ContainerID, o.Cgroup, text)
		}
		dashes := strings.NewReplacer("_", "-")
		if !strings.Contains(dashes.Replace(o.Cgroup), dashes.Replace(o.PodUID)) {
			t.Errorf("pod %q of cgroup %q", o.PodUID, o.Cgroup)
		}
		component := false
		for part := range strings.SplitSeq(strings.TrimSuffix(o.Cgroup, " (deleted)"), "/") {
			component = component || part == o.Unit
		}
		if o.Unit != "" && (!component || !strings.Contains(o.Unit, ".")) {
			t.Errorf("unit %q of cgroup %q", o.Unit, o.Cgroup)
		}
	})
}
