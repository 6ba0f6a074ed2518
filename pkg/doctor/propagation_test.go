package doctor

import (
	"io"
	"path"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/mountward/mountward/pkg/facts"
)

// want is a finding: its answer, code, subject, and a part of its place.
type want struct {
	answer     facts.Truth
	code       string
	subject    string
	where      string
	evidence   string // a part of the first
	says       string // parts of message, cause and effect, separated by "~"
	neverSays  string // no part of them
	fixed      string // parts of the fixes, separated by "~"
	neverFixed string // no part of the fixes
}

const (
	kubelet = "/var/lib/kubelet"
	pods    = kubelet + "/pods"
	plugins = kubelet + "/plugins"
)

func TestPropagation(t *testing.T) {
	three := func(answer facts.Truth, code string) []want {
		return []want{{answer: answer, code: code, subject: kubelet}, {answer: answer, code: code, subject: pods}, {answer: answer, code: code, subject: plugins}}
	}
	in := func(wants []want, where string) []want {
		for i := range wants {
			wants[i].where = where
		}
		return wants
	}
	first := func(wants []want, w want) []want {
		w.answer, w.code, w.subject, w.where = wants[0].answer, wants[0].code, wants[0].subject, wants[0].where
		wants[0] = w
		return wants
	}
	join := func(all ...[]want) []want {
		var joined []want
		for _, w := range all {
			joined = append(joined, w...)
		}
		return joined
	}
	const snapMounts = "60 2 7:1 / / rw master:40 - squashfs /dev/loop1 ro\n70 60 8:1 /var/snap/k8s/common/var/lib/kubelet /var/lib/kubelet rw - ext4 /dev/sda1 rw\n"
	const selfBound = private + "40 25 253:1 /var/lib/kubelet /var/lib/kubelet rw shared:9 - ext4 /dev/vda1 rw\n"
	for _, tc := range []struct {
		name    string
		host    textHost
		require []string
		want    []want
	}{
		{
			name: "M01: / is private and nobody shared it",
			host: textHost{}.process(1, "init", "/sbin/init", hostNS, private).with(map[string]string{"/etc/init/rc.conf": "", "/var/lib/kubelet/x": ""}),
			want: first(three(facts.No, CodeNotShared), want{
				evidence: "25 1 253:1 / / rw,noatime - ext4",
				says:     "on the mount at / (id 25, private)~process 1 is init~Bidirectional and HostToContainer fail",
				fixed:    "mount --make-rshared /~/etc/init/shared-root.conf~start on filesystem",
			}),
		},
		{
			name: "M02: shared outside, private for the runtime",
			host: textHost{}.process(1, "systemd", "/sbin/init", hostNS, "25 1 253:1 / / rw shared:1 - ext4 /dev/vda1 rw\n40 25 253:2 / /var/lib/kubelet/pods rw shared:77 - xfs /dev/vdb rw\n").
				process(812, "containerd", "containerd", otherNS, "125 1 253:1 / / rw shared:1 - ext4 /dev/vda1 rw\n140 125 253:2 / /var/lib/kubelet/pods rw - xfs /dev/vdb rw\n"),
			want: join(
				[]want{
					{
						answer: facts.No, code: CodeNotShared, subject: pods, where: "runtime containerd[812] mnt:[4026532201]",
						evidence: "140 125", says: "in the mount namespace of process 1 the path is shared (id 40, shared:77)", fixed: "host's mount namespace", neverFixed: "make-rshared",
					},
					{answer: facts.No, code: CodeNamespacesApart, subject: "containerd", where: "runtime", says: "not linked with it for /var/lib/kubelet/pods"},
				},
				in(three(facts.Yes, CodeShared), "pid 1"),
				[]want{{answer: facts.Yes, code: CodeShared, subject: kubelet, where: "runtime"}, {answer: facts.Yes, code: CodeShared, subject: plugins, where: "runtime"}},
			),
		},
		{
			name: "M03: a private volume below a shared root",
			host: ordinary("1 0 0:50 / / rw shared:1 - overlay overlay rw\n40 1 253:1 /vols/x /var/lib/kubelet rw - ext4 /dev/vda1 rw\n").with(map[string]string{"/.dockerenv": ""}),
			want: first(three(facts.No, CodeNotShared), want{
				evidence: "40 1 253:1 /vols/x /var/lib/kubelet rw - ext4", says: "a volume of its own",
				fixed: "mount --make-rshared /var/lib/kubelet~entrypoint", neverFixed: "make-rshared /\x00",
			}),
		},
		{
			name: "M04: a drop-in for the kubelet that can run twice",
			host: ordinary(private),
			want: first(three(facts.No, CodeNotShared), want{
				says:  "systemd makes / shared at boot",
				fixed: `mountpoint -q /var/lib/kubelet || grep -qF " /var/lib/kubelet/" /proc/self/mountinfo || mount --bind /var/lib/kubelet /var/lib/kubelet; ! mountpoint -q /var/lib/kubelet || mount --make-rshared /var/lib/kubelet~` + "systemctl restart kubelet.service~/etc/systemd/system/kubelet.service.d/10-shared-root.conf~containers that run keep",
			}),
		},
		{
			name:    "no drop-in for the kubelet's root where the path only begins like it",
			host:    ordinary(private),
			require: []string{"/var/lib/kubelet-data"},
			want: join(three(facts.No, CodeNotShared),
				[]want{{answer: facts.No, code: CodeNotShared, subject: "/var/lib/kubelet-data", fixed: "mount --make-rshared /", neverFixed: "10-shared-root"}}),
		},
		{
			name: "nothing is bound over volumes that are mounted",
			host: ordinary(private + volumes(2, kubelet)),
			want: first(three(facts.No, CodeNotShared), want{fixed: "2 mounts are there now, so drain the node and reboot it", neverFixed: "systemctl restart kubelet"}),
		},
		{
			name: "the unit for the boot comes before those that were found",
			host: ordinary(private).process(900, "kubelite", "/snap/microk8s/1/kubelite", hostNS, private, "cgroup", "0::/system.slice/snap.microk8s.daemon-kubelite.service\n").
				process(812, "containerd", "/snap/microk8s/1/bin/containerd", hostNS, private, "cgroup", "0::/system.slice/snap.microk8s.daemon-containerd.service\n"),
			require: []string{kubelet},
			want: []want{
				{answer: facts.No, code: CodeNotShared, subject: "/var/snap/microk8s/common/var/lib/kubelet", fixed: "Before=snap.microk8s.daemon-kubelite.service snap.microk8s.daemon-containerd.service kubelet.service containerd.service"},
				{answer: facts.No, code: CodeNotShared, subject: "/var/snap/microk8s/common/var/lib/kubelet/pods"},
				{answer: facts.No, code: CodeNotShared, subject: "/var/snap/microk8s/common/var/lib/kubelet/plugins"},
				{answer: facts.No, code: CodeNotShared, subject: kubelet},
			},
		},
		{
			name: "M07: shared is shared",
			host: ordinary("99 1 259:2 / / rw,relatime shared:1 - xfs /dev/nvme0n1p2 rw\n"),
			want: first(three(facts.Yes, CodeShared), want{evidence: "99 1 259:2 / / rw,relatime shared:1 - xfs"}),
		},
		{
			name: "M08: the kubelet's directory is a private volume",
			host: ordinary(sharedAll + "41 25 253:5 / /var/lib/kubelet rw - xfs /dev/mapper/vg-kubelet rw\n"),
			want: first(three(facts.No, CodeNotShared), want{
				evidence: "41 25 253:5", says: "the mount at / below it is shared, so this one was made private by itself",
				fixed: "mount --make-rshared /var/lib/kubelet~RequiresMountsFor=/var/lib/kubelet~systemctl enable --now shared-var-lib-kubelet.service",
			}),
		},
		{
			name: "a look-alike neighbour is private: containerd compares strings",
			host: ordinary(sharedAll + "41 25 253:5 / /var/lib/kube rw - xfs /dev/mapper/vg-kube rw\n"),
			want: join([]want{
				{answer: facts.No, code: CodeCRIMisjudges, subject: kubelet, says: "its CRI's and its NRI's~compares strings~refuses", fixed: "mount --make-rshared /var/lib/kube"},
				{answer: facts.No, code: CodeCRIMisjudges, subject: pods},
				{answer: facts.No, code: CodeCRIMisjudges, subject: plugins},
			}, three(facts.Yes, CodeShared)),
		},
		{
			name:    "M09: WSL, where /sys is private",
			host:    ordinary(sharedAll + "23 25 0:21 / /sys rw,nosuid - sysfs sysfs rw\n").with(map[string]string{"/proc/sys/kernel/osrelease": "5.15.90.1-microsoft-standard-WSL2\n"}),
			require: []string{"/sys"},
			want:    join([]want{{answer: facts.No, code: CodeNotShared, subject: "/sys", fixed: "mount --make-rshared /sys"}}, three(facts.Yes, CodeShared)),
		},
		{
			name:    "M11: only / was shared, not what is below it",
			host:    ordinary(sharedAll + "44 25 0:33 / /sys/fs/bpf rw - bpf bpf rw\n"),
			require: []string{"/sys/fs/bpf", "/run"},
			want: join([]want{{answer: facts.No, code: CodeNotShared, subject: "/sys/fs/bpf", says: "made private by itself"}},
				three(facts.Yes, CodeShared), []want{{answer: facts.Yes, code: CodeShared, subject: "/run"}}),
		},
		{
			name:    "M12: a symbolic link leads to a private /run",
			host:    ordinary("25 1 253:1 / / rw shared:1 - ext4 /dev/vda1 rw\n30 25 0:5 / /run rw - tmpfs tmpfs rw\n").with(map[string]string{"/var/run": "-> /run", "/run/netns/x": ""}),
			require: []string{"/var/run/netns"},
			want: join([]want{
				{answer: facts.No, code: CodeNotShared, subject: "/var/run/netns", says: "/var/run/netns (/run/netns without symbolic links) is on the mount at /run"},
				{answer: facts.No, code: CodeNRIMisjudges, subject: "/var/run/netns", says: "does not follow symbolic links~the check passes", fixed: "/run/netns"},
			}, three(facts.Yes, CodeShared)),
		},
		{
			name: "M14: the node is an unprivileged system container",
			host: textHost{"/run/systemd/container": "lxc\n", "/var/lib/kubelet/x": ""}.process(1, "systemd", "/sbin/init", hostNS, "25 1 253:1 /c1 / rw master:5 - ext4 /dev/vda1 rw\n", "ns/user", "-> user:[4026532999]"),
			want: first(three(facts.No, CodeSlaveOnly), want{says: "HostToContainer works; Bidirectional fails~user:[4026532999]~lxc"}),
		},
		{
			name: "a privileged system container is a node like others",
			host: ordinary("25 1 253:1 /c1 / rw shared:7 master:5 - ext4 /dev/vda1 rw\n"),
			want: first(three(facts.Yes, CodeShared), want{says: "receives from a group outside"}),
		},
		{
			name: "M15: rootless, in a namespace that rootlesskit made",
			host: textHost{}.process(1, "systemd", "/sbin/init", hostNS, sharedAll+"41 25 0:33 / /sys/fs/bpf rw shared:17 - bpf bpf rw\n").
				process(50, "rootlesskit", "rootlesskit k3s", hostNS, sharedAll).
				process(812, "containerd", "containerd", otherNS, "125 1 253:1 / / rw - ext4 /dev/vda1 rw\n141 125 0:33 / /sys/fs/bpf rw - bpf bpf rw\n",
					"ns/user", "-> user:[4026532888]", "stat", "812 (containerd) S 50 812 812 0 -1 4194560 1 1 1 1 1 1 1 1 20 0 1 0 100 1 1 1\n"),
			require: []string{"/sys/fs/bpf"},
			want: join(
				in(first(three(facts.No, CodeNotShared), want{says: "rootlesskit~user:[4026532888]", fixed: "--propagation=rshared"}), "runtime"),
				[]want{{answer: facts.No, code: CodeNotShared, subject: "/sys/fs/bpf", where: "runtime", says: "shared:17"}},
				[]want{{answer: facts.No, code: CodeNamespacesApart, subject: "containerd"}},
				in(three(facts.Yes, CodeShared), "pid 1"),
				[]want{{answer: facts.Yes, code: CodeShared, subject: "/sys/fs/bpf", where: "pid 1"}},
			),
		},
		{
			name: "M18: snapd binds privately",
			host: ordinary("31 1 8:1 / / rw shared:1 - ext4 /dev/sda1 rw\n70 31 8:1 /var/snap/k8s/common/var/lib/kubelet /var/lib/kubelet rw - ext4 /dev/sda1 rw\n"),
			want: first(three(facts.No, CodeNotShared), want{evidence: "70 31 8:1", says: "bind mount of /var/snap/k8s/common/var/lib/kubelet that snapd made", fixed: "mount --make-rshared /var/lib/kubelet"}),
		},
		{
			name: "M18: kubelet and runtime in the mount namespace of a snap",
			host: textHost{}.process(1, "systemd", "/sbin/init", hostNS, sharedAll).
				process(812, "containerd", "containerd", otherNS, snapMounts, "cgroup", "0::/system.slice/snap.k8s.containerd.service\n").
				process(900, "kubelet", "kubelet", otherNS, snapMounts, "cgroup", "0::/system.slice/snap.k8s.kubelet.service\n"),
			want: join(
				in(first(three(facts.No, CodeNotShared), want{
					evidence: "70 60 8:1", says: "run by snapd (snap.k8s.kubelet.service)~that snapd made", fixed: "nsenter --mount=/proc/812/ns/mnt mount --make-rshared /var/lib/kubelet~have the snap share it",
				}), "kubelet kubelet[900], runtime containerd[812]"),
				[]want{{answer: facts.Yes, code: CodeHostApart, subject: "containerd"}},
			),
		},
		{
			name: "M42: MountFlags=slave",
			host: ordinary(sharedAll).process(812, "containerd", "containerd", otherNS, "125 1 253:1 / / rw master:1 - ext4 /dev/vda1 rw\n130 125 0:5 / /run rw master:2 - tmpfs tmpfs rw\n", "cgroup", "0::/system.slice/containerd.service\n").
				with(map[string]string{"/usr/lib/systemd/system/containerd.service": "[Service]\nExecStart=/usr/bin/containerd\nMountFlags=slave\n"}),
			want: join(
				in(first(three(facts.No, CodeSlaveOnly), want{
					says:  "MountFlags=slave (/usr/lib/systemd/system/containerd.service:3)~(id 25, shared:1)",
					fixed: "/etc/systemd/system/containerd.service.d/90-host-mounts.conf\n~[Service]\nMountFlags=\n~systemctl restart containerd.service",
				}), "runtime containerd[812] mnt:[4026532201]"),
				[]want{{answer: facts.No, code: CodeNamespacesApart, subject: "containerd", says: "MountFlags=slave"}},
				in(three(facts.Yes, CodeShared), "pid 1 systemd[1], kubelet kubelet[900]"),
			),
		},
		{
			name: "MountFlags=slave in a drop-in that is read last: ours is read after it",
			host: ordinary(sharedAll).process(812, "containerd", "containerd", otherNS, "125 1 253:1 / / rw master:1 - ext4 /dev/vda1 rw\n130 125 0:5 / /run rw master:2 - tmpfs tmpfs rw\n", "cgroup", "0::/system.slice/containerd.service\n").
				with(map[string]string{"/usr/lib/systemd/system/containerd.service": "[Service]\n", "/etc/systemd/system/containerd.service.d/99-hardening.conf": "[Service]\nMountFlags=slave\n"}),
			want: join(in(first(three(facts.No, CodeSlaveOnly), want{fixed: "/etc/systemd/system/containerd.service.d/zz-host-mounts.conf"}), "runtime"),
				[]want{{answer: facts.No, code: CodeNamespacesApart, subject: "containerd"}}, in(three(facts.Yes, CodeShared), "pid 1")),
		},
		{
			name: "M44: the kubelet is shared downstream only",
			host: ordinary(sharedAll).process(900, "kubelet", "kubelet", otherNS, "591 558 253:1 / / rw shared:313 master:1 - ext4 /dev/vda1 rw\n", "cgroup", "0::/system.slice/kubelet.service\n").
				with(map[string]string{
					"/usr/lib/systemd/system/kubelet.service":             "[Service]\nPrivateTmp=yes\n",
					"/etc/systemd/system/kubelet.service.d/10-mount.conf": "[Service]\nMountFlags=shared\n",
				}),
			want: join(
				in(first(three(facts.No, CodeDownstreamOnly), want{
					evidence: "591 558 253:1 / / rw shared:313 master:1", says: "never reach the host~PrivateTmp=yes~MountFlags=shared (/etc/systemd/system/kubelet.service.d/10-mount.conf:2, which can)",
					fixed: "PrivateTmp=no\nMountFlags=\n",
				}), "kubelet kubelet[900]"),
				[]want{{answer: facts.No, code: CodeNamespacesApart, subject: "kubelet"}},
				in(three(facts.Yes, CodeShared), "pid 1 systemd[1], runtime"),
			),
		},
		{
			name: "a private host, and the runtime in a namespace that is shared in itself: nothing links them",
			host: ordinary(private).process(812, "containerd", "containerd", otherNS, "125 1 253:1 / / rw shared:24 - ext4 /dev/vda1 rw\n", "cgroup", "0::/system.slice/containerd.service\n").
				with(map[string]string{"/usr/lib/systemd/system/containerd.service": "[Service]\nPrivateTmp=yes\n"}),
			want: join(in(three(facts.No, CodeNotShared), "pid 1 systemd[1], kubelet"),
				in(first(three(facts.No, CodeNotLinked), want{
					says: "the host's mount there (id 25 at /) is private~PrivateTmp=yes", neverSays: "made private by itself",
					fixed: "share the host's mount at / first~mount --make-rshared /\x00~PrivateTmp=no~systemctl restart containerd.service", neverFixed: "nsenter",
				}), "runtime"),
				[]want{{answer: facts.No, code: CodeNamespacesApart, subject: "containerd"}}),
		},
		{
			name: "a private host, and the kubelet in a private namespace: to share it in there is not enough",
			host: ordinary(private).process(900, "kubelet", "kubelet", otherNS, "225 1 253:1 / / rw - ext4 /dev/vda1 rw\n", "cgroup", "0::/system.slice/kubelet.service\n"),
			want: join(in(three(facts.No, CodeNotShared), "pid 1 systemd[1], runtime"),
				in(first(three(facts.No, CodeNotShared), want{fixed: "mount --make-rshared /\x00~systemctl restart kubelet.service", neverFixed: "nsenter"}), "kubelet"),
				[]want{{answer: facts.No, code: CodeNamespacesApart, subject: "kubelet"}}),
		},
		{
			name: "M47: kubelet and runtime hide their mounts together",
			host: ordinary(sharedAll).
				process(812, "crio", "crio", otherNS, "591 558 253:1 / / rw shared:313 master:1 - ext4 /dev/vda1 rw\n").
				process(900, "kubelet", "kubelet", otherNS, "591 558 253:1 / / rw shared:313 master:1 - ext4 /dev/vda1 rw\n"),
			want: join(in(three(facts.Yes, CodeShared), "kubelet kubelet[900], runtime crio[812] mnt:[4026532201]"),
				[]want{{answer: facts.Yes, code: CodeHostApart, subject: "crio", says: "host tools outside do not see~nsenter --mount=/proc/812/ns/mnt"}}),
		},
		{
			name: "kubelet and runtime in two units' namespaces",
			host: ordinary(sharedAll).
				process(812, "containerd", "containerd", otherNS, "125 1 253:1 / / rw shared:50 master:1 - ext4 /dev/vda1 rw\n").
				process(900, "kubelet", "kubelet", thirdNS, "225 1 253:1 / / rw shared:60 master:1 - ext4 /dev/vda1 rw\n"),
			want: join(
				in(three(facts.No, CodeDownstreamOnly), "kubelet kubelet[900]"),
				in(three(facts.No, CodeDownstreamOnly), "runtime containerd[812]"),
				[]want{
					{answer: facts.No, code: CodeNamespacesApart, subject: "kubelet", where: "kubelet"},
					{answer: facts.No, code: CodeNamespacesApart, subject: "containerd", where: "runtime"},
				},
				in(three(facts.Yes, CodeShared), "pid 1"),
			),
		},
		{
			name: "two namespaces that are linked by peer groups",
			host: ordinary(sharedAll).process(900, "kubelet", "kubelet", otherNS, "225 1 253:1 / / rw shared:1 - ext4 /dev/vda1 rw\n"),
			want: join(in(three(facts.Yes, CodeShared), "pid 1 systemd[1], runtime"), in(three(facts.Yes, CodeShared), "kubelet"),
				[]want{{answer: facts.Yes, code: CodeNamespacesApart, subject: "kubelet", says: "linked with it by a peer group"}}),
		},
		{
			name: "a group of its own that only looks shared",
			host: ordinary(sharedAll).process(900, "kubelet", "kubelet", otherNS, "225 1 253:1 / / rw shared:90 - ext4 /dev/vda1 rw\n"),
			want: join(in(three(facts.No, CodeNotLinked), "kubelet"), []want{{answer: facts.No, code: CodeNamespacesApart, subject: "kubelet"}},
				in(three(facts.Yes, CodeShared), "pid 1")),
		},
		{
			name:    "M89: /run twice, shared on top",
			host:    ordinary("25 1 253:1 / / rw shared:1 - ext4 /dev/vda1 rw\n30 25 0:5 / /run rw - tmpfs tmpfs rw\n31 30 0:6 / /run rw shared:4 - tmpfs tmpfs rw\n"),
			require: []string{"/run"},
			want: join([]want{
				{answer: facts.No, code: CodeCRIMisjudges, subject: "/run", evidence: "31 30 0:6", says: "(id 30, private)~refuses containers that would work: Bidirectional and HostToContainer~mounted twice"},
			}, three(facts.Yes, CodeShared), []want{{answer: facts.Yes, code: CodeShared, subject: "/run"}}),
		},
		{
			name: "the kubelet bound its root onto itself on a private disk, and the check takes that",
			host: ordinary(sharedAll + "40 25 253:9 / /var/lib/kubelet rw - xfs /dev/vdb rw\n41 40 253:9 / /var/lib/kubelet rw shared:7 - xfs /dev/vdb rw\n"),
			want: join(
				[]want{
					{
						answer: facts.No, code: CodeCRIMisjudges, subject: kubelet, says: "the kubelet bound its root onto itself when it started, because the mount at /var/lib/kubelet was private",
						fixed: `while [ $(awk '$5 == "/var/lib/kubelet"' /proc/self/mountinfo | wc -l) -gt 1 ] && umount /var/lib/kubelet; do :; done; mount --make-rshared /var/lib/kubelet~systemctl stop kubelet.service~shared-var-lib-kubelet.service`,
					},
					{answer: facts.No, code: CodeCRIMisjudges, subject: pods},
					{answer: facts.No, code: CodeCRIMisjudges, subject: plugins},
				}, three(facts.Yes, CodeShared)),
		},
		{
			name: "two disks on the kubelet's root: nobody says which is to go",
			host: ordinary(sharedAll + "40 25 253:9 / /var/lib/kubelet rw - xfs /dev/vdb rw\n41 40 253:10 / /var/lib/kubelet rw shared:7 - xfs /dev/vdc rw\n"),
			want: join(
				[]want{
					{answer: facts.No, code: CodeCRIMisjudges, subject: kubelet, says: "mounted twice, one on the other", fixed: "drain the node, unmount the upper ones", neverFixed: "umount "},
					{answer: facts.No, code: CodeCRIMisjudges, subject: pods},
					{answer: facts.No, code: CodeCRIMisjudges, subject: plugins},
				}, three(facts.Yes, CodeShared)),
		},
		{
			name:    "M89: /run twice, private on top",
			host:    ordinary("25 1 253:1 / / rw shared:1 - ext4 /dev/vda1 rw\n30 25 0:5 / /run rw shared:4 - tmpfs tmpfs rw\n31 30 0:6 / /run rw - tmpfs tmpfs rw\n"),
			require: []string{"/run"},
			want: join([]want{
				{answer: facts.No, code: CodeNotShared, subject: "/run", evidence: "31 30 0:6", says: "the runtime's check passes, by another mount, but no mount propagates", neverSays: "fail when"},
				{answer: facts.No, code: CodeCRIMisjudges, subject: "/run", says: "the check passes, and the mounts do not propagate", fixed: "mount --make-rshared /run\x00"},
			}, three(facts.Yes, CodeShared)),
		},
		{
			name:    "M99: the kubelet helped itself, / is still private",
			host:    ordinary(selfBound),
			require: []string{"/sys"},
			want: join([]want{{answer: facts.No, code: CodeNotShared, subject: "/sys"}},
				first(three(facts.Yes, CodeShared), want{evidence: "40 25 253:1 /var/lib/kubelet", says: "because the kubelet bound its root onto itself~/ is still private"})),
		},
		{
			name: "drivers have a mount of their own below plugins",
			host: ordinary(sharedAll + "60 25 253:7 / /var/lib/kubelet/plugins/kubernetes.io/csi/x.example.com rw - ext4 /dev/vdc rw\n61 60 253:8 / /var/lib/kubelet/plugins/kubernetes.io/csi/x.example.com/abc/globalmount rw - xfs /dev/vdd rw\n62 25 253:9 / /var/lib/kubelet/plugins/other.example.com/data rw shared:8 - xfs /dev/vde rw\n"),
			want: join([]want{{answer: facts.No, code: CodeNotShared, subject: plugins + "/kubernetes.io/csi/x.example.com"}}, three(facts.Yes, CodeShared)),
		},
	} {
		t.Run(tc.name, func(t *testing.T) {
			m := tc.host.machine(t)
			m.Host.RequireShared = tc.require
			r, _ := m.findings(t, Check{"propagation", checkPropagation})
			compare(t, r.Findings, tc.want)
		})
	}
}

// compare wants these findings and no other.
func compare(t *testing.T, got []Finding, wants []want) {
	t.Helper()
	type short struct{ Code, Answer, Subject string }
	var g, w []short
	for _, f := range got {
		g = append(g, short{f.Code, f.Answer.String(), f.Subject})
	}
	for _, f := range wants {
		w = append(w, short{f.code, f.answer.String(), f.subject})
	}
	if diff := cmp.Diff(w, g); diff != "" {
		t.Fatalf("findings (-want +got):\n%s", diff)
	}
	for i, f := range got {
		w := wants[i]
		if !strings.Contains(f.Where, w.where) {
			t.Errorf("%s %s: in %q, want %q", f.Code, f.Subject, f.Where, w.where)
		}
		if f.Answer != facts.Unknown && (len(f.Evidence) == 0 || f.Evidence[0].Show == "") {
			t.Errorf("%s %s has no evidence with its command", f.Code, f.Subject)
		} else if len(f.Evidence) > 0 && !strings.HasPrefix(f.Evidence[0].Text, w.evidence) {
			t.Errorf("%s %s: evidence %q, want %q", f.Code, f.Subject, f.Evidence[0].Text, w.evidence)
		}
		if f.Answer == facts.No && (f.Effect == "" || f.Cause == "" || len(f.Fixes) == 0) {
			t.Errorf("%s %s: effect %q, cause %q, fixes %v", f.Code, f.Subject, f.Effect, f.Cause, f.Fixes)
		}
		text := strings.Join([]string{f.Message, f.Cause, f.Effect}, "\n")
		fixes := fixText(f)
		for _, part := range strings.Split(w.says, "~") {
			if !strings.Contains(text, part) {
				t.Errorf("%s %s does not say %q but\n%s", f.Code, f.Subject, part, text)
			}
		}
		if w.neverSays != "" && strings.Contains(text, w.neverSays) {
			t.Errorf("%s %s says %q in\n%s", f.Code, f.Subject, w.neverSays, text)
		}
		for _, part := range strings.Split(w.fixed, "~") {
			if !strings.Contains(fixes, part) {
				t.Errorf("%s %s is not fixed with %q but\n%s", f.Code, f.Subject, part, fixes)
			}
		}
		if w.neverFixed != "" && strings.Contains(fixes, w.neverFixed) {
			t.Errorf("%s %s is fixed with %q", f.Code, f.Subject, w.neverFixed)
		}
	}
}

func fixText(f Finding) string {
	var b strings.Builder
	for _, x := range f.Fixes {
		b.WriteString(x.What + "\n" + x.File + "\n" + x.Content + "\n")
		for _, c := range x.Commands {
			b.WriteString(c + "\x00\n")
		}
	}
	return b.String()
}

// TestEachProcessSeesItsOwnLinks also: a root is resolved where the kubelet is.
func TestEachProcessSeesItsOwnLinks(t *testing.T) {
	h := ordinary(sharedAll).process(900, "kubelet", "kubelet", otherNS, "225 1 253:1 / / rw shared:1 - ext4 /dev/vda1 rw\n226 225 253:4 / /data rw - ext4 /dev/vdb rw\n").
		with(map[string]string{"/inside/var/lib/kubelet": "-> /data/kubelet", "/inside/data/kubelet/pods/x": ""})
	m := h.machine(t)
	root := path.Dir(m.Proc)
	m.Open = func(pid int) (Files, io.Closer, error) {
		if pid == 900 {
			return textFiles{root: root + "/inside"}, nil, nil
		}
		return textFiles{root: root}, nil, nil
	}
	r, s := m.findings(t, Check{"propagation", checkPropagation})
	if s.Kubelet.Canonical != "/data/kubelet" {
		t.Errorf("the kubelet's root is %q", s.Kubelet.Canonical)
	}
	bad := 0
	for _, f := range r.Findings {
		if f.Code == CodeNotShared && strings.HasPrefix(f.Where, "kubelet") && strings.Contains(f.Message, "without symbolic links") {
			bad++
		}
	}
	if bad != 3 {
		t.Errorf("%d paths are not shared for the kubelet: %+v", bad, r.Findings)
	}
}
