package exposure

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/mountward/mountward/pkg/facts"
	"github.com/mountward/mountward/pkg/namespaces"
	"github.com/mountward/mountward/pkg/target"
)

// rootfs begins the table of every container.
const rootfs = "500 400 0:90 / / rw - overlay overlay rw,lowerdir=/s/1/fs,upperdir=/s/2/fs,workdir=/s/2/work"

var (
	podA = pod{inode: 201, uid: uidA, name: "app", mounts: []facts.Mount{bind(volume, "/data"), bind(secret, "/var/run/secrets/token", "ro")}}
	// The image has /var/run as a link to /run.
	tableA = lines(rootfs,
		"501 500 253:7 / /data rw master:7 - xfs /dev/vg0/pvc-1 rw",
		"502 500 0:50 / /run/secrets/token ro - tmpfs tmpfs rw",
	)
)

func agent(mounts ...facts.Mount) pod {
	return pod{inode: 202, uid: uidB, name: "agent", mounts: mounts}
}

// TestWhoReaches: who is listed, by which mount, and how. Pod A has the volume
// and the token, and is listed in each as its own.
func TestWhoReaches(t *testing.T) {
	for name, test := range map[string]struct {
		host   string
		pods   map[string]pod // by table
		target target.Target
		want   []string
	}{
		"the pod alone, its token below a link of the image": {
			pods: map[string]pod{tableA: podA}, target: token,
			want: []string{"app /run/secrets/token volume asked ro own"},
		},
		"a read-only host path / whose volume below is writable": {
			pods: map[string]pod{
				tableA: podA,
				lines(rootfs,
					"600 500 8:1 / /host ro - ext4 /dev/sda1 rw",
					"601 600 253:7 / /host"+volume+" rw - xfs /dev/vg0/pvc-1 rw"): agent(bind("/", "/host", "ro", "rprivate")),
			},
			target: pvc1,
			want: []string{
				"agent /host" + volume + " host-root private rw foreign",
				"app /data volume asked rw own",
			},
		},
		"a token below a shared kubelet root": {
			pods: map[string]pod{lines(rootfs,
				"600 500 8:1 /var/lib/kubelet /var/lib/kubelet rw shared:1 - ext4 /dev/sda1 rw",
				"601 600 0:50 / "+secret+" rw shared:8 - tmpfs tmpfs rw"): agent(bind(root, root, "rshared"))},
			target: token,
			want:   []string{"agent " + secret + " kubelet-root shared rw foreign"},
		},
		"a slave copy, and the directory of all pods": {
			pods: map[string]pod{lines(rootfs,
				"600 500 8:1 /var/lib/kubelet/pods /p ro master:1 - ext4 /dev/sda1 rw",
				"601 600 0:50 / /p/"+uidA+"/volumes/kubernetes.io~projected/token rw master:8 - tmpfs tmpfs rw"): agent(bind(root+"/pods", "/p", "ro", "rslave"))},
			target: token,
			want:   []string{"agent /p/" + uidA + "/volumes/kubernetes.io~projected/token pods slave rw foreign"},
		},
		"a group that is not the host's": {
			pods: map[string]pod{lines(rootfs,
				"600 500 8:1 / /h rw master:77 - ext4 /dev/sda1 rw",
				"601 600 0:50 / /h/t rw master:78 - tmpfs tmpfs rw",
				"602 600 0:50 / /h/u rw shared:79 - tmpfs tmpfs rw"): agent(bind("/", "/h"))},
			target: token,
			want:   []string{"agent /h/t host-root slave-elsewhere rw foreign twin", "agent /h/u host-root private rw foreign twin"},
		},
		"a twin view through a bind-mounted kubelet root": {
			host: lines(
				"20 1 8:1 / / rw shared:1 - ext4 /dev/sda1 rw",
				"21 20 8:16 / /mnt/local rw shared:2 - ext4 /dev/sdb rw",
				"22 20 8:16 /kubelet /var/lib/kubelet rw shared:2 - ext4 /dev/sdb rw",
				"30 22 253:7 / "+volume+" rw shared:7 - xfs /dev/vg0/pvc-1 rw",
				"31 21 253:7 / /mnt/local/kubelet/pods/"+uidA+"/volumes/kubernetes.io~csi/pvc-1/mount rw shared:7 - xfs /dev/vg0/pvc-1 rw"),
			pods: map[string]pod{
				tableA: podA,
				lines(rootfs,
					"600 500 8:16 / /mnt rw master:2 - ext4 /dev/sdb rw",
					"601 600 253:7 / /mnt/kubelet/pods/"+uidA+"/volumes/kubernetes.io~csi/pvc-1/mount rw master:7 - xfs /dev/vg0/pvc-1 rw"): agent(bind("/mnt/local", "/mnt", "rslave")),
			},
			target: pvc1,
			want: []string{
				"agent /mnt/kubelet/pods/" + uidA + "/volumes/kubernetes.io~csi/pvc-1/mount host-path slave rw foreign twin",
				"app /data volume asked rw own",
			},
		},
		"what is mounted over is not reached": {
			pods: map[string]pod{lines(rootfs,
				"600 500 8:1 / /host rw - ext4 /dev/sda1 rw",
				"601 600 253:7 / /host/vol rw - xfs /dev/vg0/pvc-1 rw",
				"602 601 0:70 / /host/vol rw - tmpfs over rw",
				"603 600 253:7 / /host/deep/vol rw - xfs /dev/vg0/pvc-1 rw",
				"604 600 0:71 / /host/deep rw - tmpfs over rw"): agent(bind("/", "/host"))},
			target: pvc1,
		},
		"a directory of the node that another mount lies over": {
			pods: map[string]pod{lines(rootfs,
				"600 500 8:1 / /host rw - ext4 /dev/sda1 rw",
				"601 600 0:70 / /host/srv rw - tmpfs over rw"): agent(bind("/", "/host"))},
			target: pathOf("/srv/data"),
		},
		"a directory of the node in a larger mount": {
			pods:   map[string]pod{lines(rootfs, "600 500 8:1 /srv /s ro - ext4 /dev/sda1 rw"): agent(bind("/srv", "/s", "ro"))},
			target: pathOf("/srv/data"),
			want:   []string{"agent /s/data host-path asked ro foreign"},
		},
		"a part of what was asked for": {
			pods:   map[string]pod{lines(rootfs, "600 500 8:1 /srv/data/sub /s rw - ext4 /dev/sda1 rw"): agent(bind("/srv/data/sub", "/s"))},
			target: pathOf("/srv/data"),
			want:   []string{"agent /s[sub] host-path asked rw foreign"},
		},
		"a sub-path of the volume shows only a part": {
			host:   hostTable + lines("32 20 253:7 /db "+root+"/pods/"+uidB+"/volume-subpaths/pvc-1/agent/0 rw shared:7 - xfs /dev/vg0/pvc-1 rw"),
			pods:   map[string]pod{lines(rootfs, "600 500 253:7 /db /db rw - xfs /dev/vg0/pvc-1 rw"): agent(bind(root+"/pods/"+uidB+"/volume-subpaths/pvc-1/agent/0", "/db"))},
			target: pvc1,
			want:   []string{"agent /db[db] volume asked rw own"},
		},
		"look-alikes are not listed: a sibling, a longer name, another root, another device": {
			pods: map[string]pod{lines(rootfs,
				"600 500 8:1 /srv/data-old /a rw - ext4 /dev/sda1 rw",
				"601 500 8:1 /srv/dat /b rw - ext4 /dev/sda1 rw",
				"602 500 8:1 /srv/other /c rw - ext4 /dev/sda1 rw",
				"603 500 8:2 /srv/data /d rw - ext4 /dev/sda2 rw",
				"604 500 8:1 /home/srv/data /e rw - ext4 /dev/sda1 rw"): agent(bind("/srv/data-old", "/a"))},
			target: pathOf("/srv/data"),
		},
		"a removed directory that had the name is not what has it now": {
			pods: map[string]pod{lines(rootfs,
				`600 500 8:1 /srv/data//deleted /a rw - ext4 /dev/sda1 rw`,
				`601 500 8:1 /srv//deleted /b rw - ext4 /dev/sda1 rw`): agent()},
			target: pathOf("/srv/data"),
		},
		"a removed file of it is still read": {
			pods:   map[string]pod{lines(rootfs, `600 500 8:1 /srv/data/key//deleted /a rw - ext4 /dev/sda1 rw`): agent(bind("/srv/data/key", "/a"))},
			target: pathOf("/srv/data"),
			want:   []string{"agent /a[key] host-path asked rw foreign deleted"},
		},
		"a private copy of a volume that the host has unmounted": {
			host: lines("20 1 8:1 / / rw shared:1 - ext4 /dev/sda1 rw"),
			pods: map[string]pod{lines(rootfs,
				"600 500 8:1 / /host rw - ext4 /dev/sda1 rw",
				"601 600 253:7 / /host"+volume+" rw - xfs /dev/vg0/pvc-1 rw"): agent(bind("/", "/host", "rprivate"))},
			target: pvc1,
			want:   []string{"agent /host" + volume + " host-root private rw foreign"},
		},
		"two pods with one volume, one of them read-only": {
			host: hostTable + lines("33 20 253:7 / "+root+"/pods/"+uidB+"/volumes/kubernetes.io~csi/pvc-1/mount ro shared:9 - xfs /dev/vg0/pvc-1 rw"),
			pods: map[string]pod{
				tableA: podA,
				lines(rootfs, "600 500 253:7 / /data ro master:9 - xfs /dev/vg0/pvc-1 rw"): agent(bind(root+"/pods/"+uidB+"/volumes/kubernetes.io~csi/pvc-1/mount", "/data", "ro")),
			},
			target: pvc1,
			want:   []string{"agent /data volume asked ro own", "app /data volume asked rw own"},
		},
		"a read-only file system under a writable mount, and one that does not say": {
			pods: map[string]pod{lines(rootfs,
				"600 500 253:7 / /a rw - xfs /dev/vg0/pvc-1 ro",
				"601 500 253:7 / /b rw - xfs /dev/vg0/pvc-1 "): agent(bind(volume, "/a"), bind(volume, "/b"))},
			target: pvc1,
			want:   []string{"agent /a volume asked ro foreign", "agent /b volume asked ? foreign"},
		},
		"its own directory by the path that leads elsewhere is not known to be its own": {
			pods:   map[string]pod{lines(rootfs, "600 500 8:1 /etc /x rw - ext4 /dev/sda1 rw"): agent(bind(root+"/pods/"+uidB+"/volumes/kubernetes.io~empty-dir/x/link", "/x"))},
			target: pathOf("/etc"),
			want:   []string{"agent /x volume asked rw own? twin"},
		},
		"the directory of another pod is not its own": {
			pods:   map[string]pod{lines(rootfs, "600 500 8:1 /var/lib/kubelet/pods/"+uidA+"/volumes/kubernetes.io~empty-dir/x /x rw - ext4 /dev/sda1 rw"): agent(bind(root+"/pods/"+uidA+"/volumes/kubernetes.io~empty-dir/x", "/x"))},
			target: pathOf(root + "/pods/" + uidA + "/volumes/kubernetes.io~empty-dir/x"),
			want:   []string{"agent /x volume asked rw foreign"},
		},
		"layers of an overlay: the upper is written to, of the lower ones one tells all": {
			host:   hostTable + lines("40 20 253:9 / /var/lib/containerd rw shared:9 - ext4 /dev/vg0/images rw"),
			pods:   map[string]pod{"500 400 0:90 / / rw - overlay overlay rw,lowerdir=3/fs:2/fs,upperdir=/var/lib/containerd/o/snapshots/7/fs,workdir=/var/lib/containerd/o/snapshots/7/work\n": agent()},
			target: target.Target{Name: "vg0/images", Superblocks: []target.Superblock{{Device: dev(253, 9)}}},
			want:   []string{"agent /[o/snapshots/7/fs] rootfs - rw own", "agent /[o/snapshots/3/fs] rootfs - ro own"},
		},
		"what the specification does not have": {
			pods:   map[string]pod{lines(rootfs, "600 500 253:7 / /x rw - xfs /dev/vg0/pvc-1 rw"): agent()},
			target: pvc1,
			want:   []string{"agent /x not-asked - rw foreign"},
		},
		"what the runtime made for the pod": {
			pods:   map[string]pod{lines(rootfs, "600 500 8:1 /run/c/sandboxes/sandbox-agent/resolv.conf /etc/resolv.conf rw - ext4 /dev/sda1 rw"): agent(bind("/run/c/sandboxes/sandbox-agent/resolv.conf", "/etc/resolv.conf"))},
			target: pathOf("/run/c"),
			want:   []string{"agent /etc/resolv.conf[sandboxes/sandbox-agent/resolv.conf] runtime asked rw own"},
		},
		"a namespace's file": {
			pods:   map[string]pod{lines(rootfs, "600 500 0:4 net:[4026532177] /x rw - nsfs nsfs rw", "601 500 0:4 net:[4026532178] /y rw - nsfs nsfs rw"): agent()},
			target: target.Target{Name: "net:[4026532177]", Superblocks: []target.Superblock{{Device: dev(0, 4), Root: "net:[4026532177]"}}},
			want:   []string{"agent /x not-asked - rw foreign"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			var host []string
			if test.host != "" {
				host = []string{test.host}
			}
			n := newNode(t, host...)
			for table, p := range test.pods {
				n.add(p, table)
			}
			r := Find(context.Background(), n.Node, []target.Target{test.target})
			if diff := cmp.Diff(test.want, told(r)); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
			if len(r.Unknown) > 0 {
				t.Errorf("unknown: %v", r.Unknown)
			}
			if want := len(test.want) > 0; r.Reached() != want {
				t.Errorf("reached: %v, want %v", r.Reached(), want)
			}
		})
	}
}

// TestTheNodeReachesItsOwn: it is listed last, as one, and does not count; so are
// its services in mount namespaces of their own, but not what a user runs.
func TestTheNodeReachesItsOwn(t *testing.T) {
	n := newNode(t)
	slave := lines("700 600 8:1 / / rw master:1 - ext4 /dev/sda1 rw", "701 700 253:7 / "+volume+" rw master:7 - xfs /dev/vg0/pvc-1 rw")
	n.namespace(301, hostUserNS, slave)
	n.process(301, namespaces.Process{PID: 301, Comm: "systemd-udevd", User: hostUserNS, Owner: namespaces.Owner{Unit: "systemd-udevd.service", Cgroup: "/system.slice/systemd-udevd.service"}}, "0", allCaps, "0 0 4294967295", "pid:[1]")
	r := Find(context.Background(), n.Node, []target.Target{pvc1})
	var kinds []string
	for _, v := range r.Viewers {
		kinds = append(kinds, fmt.Sprintf("%s %s %s", v.Kind, v.Unit, v.Paths[0].Path))
	}
	if diff := cmp.Diff([]string{"service systemd-udevd.service " + volume, "host  " + volume}, kinds); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if r.Reached() {
		t.Error("the node alone counts")
	}
	n.namespace(302, 901, slave)
	n.process(302, namespaces.Process{PID: 302, Comm: "rootless", User: 901, Owner: namespaces.Owner{Unit: "user@1000.service", Cgroup: "/user.slice/user@1000.service"}}, "1000", allCaps, "0 1000 1", "pid:[1]")
	r = Find(context.Background(), n.Node, []target.Target{pvc1})
	if !r.Reached() || r.Viewers[0].Kind != KindProcess {
		t.Errorf("a user's process does not count: %+v", r.Viewers[0].Who)
	}
}

// TestWhatIsMissingIsReadTwice: a line that the first reading lost is found, and
// what is in neither is not.
func TestWhatIsMissingIsReadTwice(t *testing.T) {
	n := newNode(t)
	n.add(podA, lines(rootfs), tableA)
	r := Find(context.Background(), n.Node, []target.Target{pvc1})
	if diff := cmp.Diff([]string{"app /data volume asked rw own"}, told(r)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	n = newNode(t)
	n.add(podA, lines(rootfs), lines(rootfs), tableA)
	if r := Find(context.Background(), n.Node, []target.Target{pvc1}); len(told(r)) > 0 || len(n.readings[201]) != 1 {
		t.Errorf("%v after %v", told(r), n.readings[201])
	}
}

// TestWhatCannotBeReadIsUnknown: a table, the node's table, a target, a container
// without a namespace; and what has ended is not.
func TestWhatCannotBeReadIsUnknown(t *testing.T) {
	n := newNode(t)
	n.add(podA, tableA)
	n.errs[201] = errors.New("permission denied")
	want := []namespaces.Unknown{{What: "mount namespace mnt:[201] of container app of pod prod/pod-app", Why: "permission denied"}}
	if diff := cmp.Diff(want, Find(context.Background(), n.Node, []target.Target{pvc1}).Unknown); diff != "" {
		t.Errorf("a table (-want +got):\n%s", diff)
	}

	n = newNode(t)
	n.add(podA, tableA)
	n.errs[hostNS] = errors.New("denied")
	if got := told(Find(context.Background(), n.Node, []target.Target{pvc1})); len(got) != 1 || !strings.HasSuffix(got[0], " own?") {
		t.Errorf("without the node's table: %v", got)
	}

	n = newNode(t)
	n.add(podA, tableA)
	n.errs[201] = errors.New("no such process")
	n.members[201][0].PID = 4999 // has ended
	n.Tasks[0].PID = 4999
	if r := Find(context.Background(), n.Node, []target.Target{pvc1}); len(r.Unknown) > 0 || r.Reached() {
		t.Errorf("what has ended: %v", r.Unknown)
	}

	n = newNode(t)
	n.add(podA, tableA)
	n.Host = []uint64{hostNS, 101}
	vague := pvc1
	vague.Why = "the pool could not be read"
	want = []namespaces.Unknown{
		{What: "the node's mount table, mnt:[101]", Why: "no such mount namespace was found"},
		{What: "vg0/pvc-1", Why: "the pool could not be read"},
	}
	if diff := cmp.Diff(want, Find(context.Background(), n.Node, []target.Target{vague}).Unknown); diff != "" {
		t.Errorf("the node and the target (-want +got):\n%s", diff)
	}

	n = newNode(t)
	n.add(podA, tableA)
	n.Namespaces = n.Namespaces[:1]
	want = []namespaces.Unknown{{What: "container app of pod prod/pod-app", Why: "its mount namespace was not found"}}
	if diff := cmp.Diff(want, Find(context.Background(), n.Node, []target.Target{pvc1}).Unknown); diff != "" {
		t.Errorf("a lost container (-want +got):\n%s", diff)
	}
	n.members[hostNS] = append(n.members[hostNS], namespaces.Process{PID: 201, Owner: namespaces.Owner{Cgroup: "/system.slice/other.service"}})
	if u := Find(context.Background(), n.Node, []target.Target{pvc1}).Unknown; len(u) > 0 {
		t.Errorf("a number that is another's: %v", u)
	}

	cancelled, cancel := context.WithCancel(context.Background())
	cancel()
	if u := Find(cancelled, n.Node, []target.Target{pvc1}).Unknown; len(u) != 1 {
		t.Errorf("the time is up: %v", u)
	}
}

// TestNobodyInTheNamespace: who holds it can enter it, so it is listed, with what
// holds it.
func TestNobodyInTheNamespace(t *testing.T) {
	n := newNode(t)
	n.namespace(301, hostUserNS, tableA)
	n.Namespaces[1].Holds = []namespaces.Hold{{PID: 7, FD: 3}, {Path: "/run/x", In: 100}}
	r := Find(context.Background(), n.Node, []target.Target{pvc1})
	if len(r.Viewers) != 2 || r.Viewers[0].Kind != KindHeld {
		t.Fatalf("%+v", r.Viewers)
	}
	if diff := cmp.Diff([]string{"descriptor 3 of process 7", "bind mount at /run/x in mnt:[100]"}, r.Viewers[0].Holders); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	n.errs[301] = errors.New("no")
	if u := Find(context.Background(), n.Node, []target.Target{pvc1}).Unknown; len(u) != 1 {
		t.Errorf("not read: %v", u)
	}
}
