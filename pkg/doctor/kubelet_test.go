package doctor

import (
	"strings"
	"testing"

	"github.com/mountward/mountward/pkg/facts"
	"github.com/mountward/mountward/pkg/hostview"
	"github.com/mountward/mountward/pkg/namespaces"
)

// task is a container that mounts something of the host.
func task(name string, mounts ...facts.Mount) namespaces.Task {
	return namespaces.Task{
		Container: facts.Container{ID: name, Name: name, Pod: facts.Pod{Namespace: "kube-system", Name: "pod-" + name}},
		Spec:      hostview.Spec{Mounts: mounts},
	}
}

func bind(source, destination, word string) facts.Mount {
	return facts.Mount{Source: source, Destination: destination, Type: "bind", Options: []string{"rbind", word}}
}

func volumes(n int, root string) string {
	var b strings.Builder
	for i := range n {
		b.WriteString(hostview.Entry{
			ID: 100 + i, Parent: 25, Device: facts.DeviceNumber{Major: 253, Minor: uint32(10 + i)}, Root: "/",
			MountPoint: root + "/pods/00000000-0000-4000-8000-000000000000/volumes/kubernetes.io~csi/pvc-" + string(rune('a'+i)) + "/mount",
			FSType:     "xfs", Source: "/dev/x", Options: "rw", SuperOptions: "rw", State: facts.MountState{Peer: 100 + i},
		}.Line() + "\n")
	}
	return b.String()
}

func TestWhereTheKubeletsRootIs(t *testing.T) {
	for _, tc := range []struct {
		name    string
		host    textHost
		setting string
		tasks   []namespaces.Task
		want    []want
		names   []string // of the containers of the first
	}{
		{name: "sound", host: ordinary(sharedAll), want: []want{{answer: facts.Yes, code: CodeKubeletRoot, subject: kubelet, says: "by process"}}},
		{
			name: "no kubelet runs", host: textHost{}.process(1, "systemd", "/sbin/init", hostNS, sharedAll),
			want: []want{{answer: facts.Yes, code: CodeKubeletRoot, subject: kubelet, says: "no process of the host runs a kubelet"}},
		},
		{
			name: "an impostor", host: textHost{}.process(1, "systemd", "/sbin/init", hostNS, sharedAll).
				process(66, "kubelet", "kubelet --root-dir=/evil", otherNS, "900 850 0:91 / / rw - overlay overlay rw\n"),
			want: []want{{answer: facts.Yes, code: CodeKubeletRoot, subject: kubelet, says: `passed over: process 66 "kubelet"`}},
		},
		{
			name: "two kubelets of root", host: ordinary(sharedAll).process(901, "kubelet", "kubelet --root-dir=/data", hostNS, sharedAll),
			want: []want{
				{answer: facts.Unknown, code: CodeRootClaimed, subject: "/data", says: "process 901 \"kubelet\" has /data, default of process 900"},
				{answer: facts.Yes, code: CodeKubeletRoot, subject: "/data"},
			},
		},
		{
			name: "another user's beside root's", host: ordinary(sharedAll).process(901, "kubelet", "kubelet --root-dir=/evil", hostNS, sharedAll, "status", "Uid:\t65534\t65534\t65534\t65534\n"),
			want: []want{{answer: facts.Yes, code: CodeKubeletRoot, subject: kubelet, says: "passed over: process 901 \"kubelet\": it is of user 65534"}},
		},
		{
			name: "M91: a symbolic link",
			host: ordinary(sharedAll + volumes(2, "/mnt/storage/kubelet")).with(map[string]string{kubelet: "-> /mnt/storage/kubelet", "/mnt/storage/kubelet/pods/x": ""}),
			tasks: []namespaces.Task{
				task("driver", bind("/mnt/storage/kubelet", "/mnt/storage/kubelet", "rshared")),
				task("good", bind("/mnt/storage/kubelet", kubelet, "rshared")),
				task("looks", bind("/mnt/storage/kubelet", "/host/kubelet", "rslave")),
			},
			want: []want{
				{answer: facts.No, code: CodeRootLink, subject: kubelet, says: "leads to /mnt/storage/kubelet", fixed: "mount --rbind /mnt/storage/kubelet /var/lib/kubelet~/etc/fstab~--root-dir=/mnt/storage/kubelet"},
				{answer: facts.No, code: CodeKubeletPath, subject: kubelet},
				{answer: facts.Yes, code: CodeKubeletRoot, subject: kubelet},
			},
			names: []string{"kube-system/pod-driver/driver: /mnt/storage/kubelet is at /mnt/storage/kubelet"},
		},
		{
			name: "M94: configured here, mounted there", setting: "/var/lib/rancher/k3s/agent/kubelet", host: ordinary(sharedAll + volumes(3, kubelet)),
			want: []want{
				{answer: facts.No, code: CodeRootDiffers, subject: "/var/lib/rancher/k3s/agent/kubelet", says: "the kubelet runs with /var/lib/kubelet", fixed: `kubelet_root = "auto"`},
				{answer: facts.No, code: CodeRootMoved, subject: "/var/lib/rancher/k3s/agent/kubelet", evidence: "100 25 253:10", says: "below /var/lib/kubelet: 3 volumes of 1 pod"},
				{answer: facts.Yes, code: CodeKubeletRoot, subject: "/var/lib/rancher/k3s/agent/kubelet"},
			},
		},
		{
			name: "M95: the kubelet of k0s, and a driver that takes the standard path",
			host: textHost{kubelet: "-> /var/lib/k0s/kubelet", "/var/lib/k0s/kubelet/pods/x": ""}.process(1, "systemd", "/sbin/init", hostNS, sharedAll).
				process(900, "kubelet", "/var/lib/k0s/bin/kubelet --root-dir=/var/lib/k0s/kubelet", hostNS, sharedAll),
			tasks: []namespaces.Task{task("driver", bind("/var/lib/k0s/kubelet/pods", kubelet+"/pods", "rshared"))},
			want: []want{
				{answer: facts.No, code: CodeKubeletPath, subject: "/var/lib/k0s/kubelet", fixed: "set the driver's kubelet directory to /var/lib/k0s/kubelet"},
				{answer: facts.Yes, code: CodeKubeletRoot, subject: "/var/lib/k0s/kubelet"},
			},
			names: []string{"kube-system/pod-driver/driver: /var/lib/k0s/kubelet/pods is at /var/lib/kubelet/pods"},
		},
		{
			name: "bound, as it is recommended", host: ordinary(sharedAll + "69 25 253:9 / /mnt/storage rw shared:9 - xfs /dev/vdb rw\n70 25 253:9 /kubelet /var/lib/kubelet rw shared:9 - xfs /dev/vdb rw\n"),
			want: []want{{answer: facts.Yes, code: CodeKubeletRoot, subject: kubelet}, {answer: facts.Yes, code: CodeRootBound, subject: kubelet, evidence: "70 25 253:9", says: "the directory is /mnt/storage/kubelet"}},
		},
		{
			name: "CRI-O", host: textHost{}.process(1, "systemd", "/sbin/init", hostNS, sharedAll).process(812, "crio", "/usr/bin/crio", hostNS, sharedAll),
			want: []want{{answer: facts.Yes, code: CodeKubeletRoot, subject: kubelet}, {answer: facts.Yes, code: CodeRuntimeOther, subject: "cri-o", says: "not containerd"}},
		},
		{
			name: "two containerds", host: ordinary(sharedAll).process(700, "containerd", "containerd -c /var/lib/rancher/k3s/agent/etc/containerd/config.toml", hostNS, sharedAll),
			want: []want{{answer: facts.Yes, code: CodeKubeletRoot, subject: kubelet}, {answer: facts.Yes, code: CodeRuntimeDiffers, subject: "/run/k3s/containerd", says: "another containerd"}},
		},
	} {
		t.Run(tc.name, func(t *testing.T) {
			m := tc.host.machine(t)
			if tc.setting != "" {
				m.Host.KubeletRoot = tc.setting
			}
			if tc.tasks != nil {
				m.Tasks = tc.tasks
			}
			r, _ := m.findings(t, Check{"kubelet", checkKubelet})
			compare(t, r.Findings, tc.want)
			if got := strings.Join(r.Findings[0].Containers, "\n"); got != strings.Join(tc.names, "\n") {
				t.Errorf("containers %q, want %q", got, tc.names)
			}
		})
	}
}

// TestHostileNames forge neither a line nor a command.
func TestHostileNames(t *testing.T) {
	const evil = "/data/x'; reboot; '\n25 1 253:1 / / rw shared:1 - forged"
	line := hostview.Entry{ID: 77, Parent: 25, Device: facts.DeviceNumber{Major: 8}, Root: "/", MountPoint: evil, FSType: "ext4", Source: "\x1b[2J", Options: "rw", SuperOptions: "rw"}.Line() + "\n"
	m := ordinary(sharedAll + line).machine(t)
	m.Host.RequireShared = []string{evil + "/below"}
	r, _ := m.findings(t, Check{"kubelet", checkKubelet}, Check{"propagation", checkPropagation})
	f := r.Findings[0]
	if f.Code != CodeNotShared || f.Subject != evil+"/below" {
		t.Fatalf("%+v", f)
	}
	for _, text := range []string{f.Message, f.Cause, f.Effect, f.Evidence[0].Text} {
		if strings.ContainsAny(text, "\n\x1b") && text != f.Evidence[0].Text || strings.Contains(text, "\n") {
			t.Errorf("a name breaks out: %q", text)
		}
	}
	for _, x := range f.Fixes {
		if x.Content != "" {
			t.Errorf("it is written into a file: %q", x.Content)
		}
		for _, c := range x.Commands {
			if c != `mount --make-rshared $'/data/x\047; reboot; \047\01225 1 253:1 / / rw shared:1 - forged'` {
				t.Errorf("command %q", c)
			}
		}
	}
}
