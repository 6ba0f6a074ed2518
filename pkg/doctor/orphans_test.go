package doctor

import (
	"fmt"
	"io"
	"path"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/mountward/mountward/pkg/facts"
	"github.com/mountward/mountward/pkg/namespaces"
)

const (
	podDir = "/var/lib/kubelet/pods/"
	csiDir = "/volumes/kubernetes.io~csi/pvc-1/mount"
)

func rootfsOf(id string) string {
	return "50 30 0:70 / " + stateDir + id + "/rootfs rw shared:20 - overlay overlay rw\n"
}

func TestWhatIsLeftOverIsTold(t *testing.T) {
	alive := taskOf("a", "alive", 2000)
	ended := taskOf("b", "ended", 2001)
	volume := func(id int, dir, uid string) string {
		return stackOf(1, id, 25, "253:7 / "+dir+uid+csiDir+" rw shared:30 - xfs /dev/topolvm/x rw")
	}
	subpath := stackOf(1, 90, 25, "253:7 /data/sub "+podDir+"uid-dead/volume-subpaths/pvc-1/main/0 rw shared:31 - xfs /dev/topolvm/x rw")
	const dead = podDir + "uid-dead/containers/main/x"
	for _, c := range []struct {
		name, mounts string
		more         map[string]string
		want         []string
		says         []string
	}{
		{"nothing", "", nil, []string{"yes no-orphans /var/lib/kubelet"}, nil},
		{"all is of containers that are there", rootfsOf(idOf("a")) + volume(60, podDir, "uid-alive"), nil, []string{"yes no-orphans /var/lib/kubelet"}, []string{"every one of 2"}},
		{
			"the rootfs of a container that is not there (M28)", rootfsOf("gone"), nil,
			[]string{"no orphan-rootfs " + stateDir + "gone/rootfs"},
			[]string{"umount " + stateDir + "gone/rootfs", "50 30 0:70", "config.json"},
		},
		{"one that is being made now", rootfsOf("young"), map[string]string{stateDir + "young/config.json": "{}"}, []string{"yes no-orphans /var/lib/kubelet"}, nil},
		{
			"one that ended just now looks like one that is stuck", rootfsOf(idOf("b")),
			map[string]string{stateDir + idOf("b") + "/config.json": "{}"},
			[]string{"unknown orphan-rootfs " + stateDir + idOf("b") + "/rootfs"},
			[]string{"process 2001, which the runtime wrote down, is gone", "just ended"},
		},
		{
			"a volume of a pod that is gone, at both places (M51)", volume(60, podDir, "uid-dead") + volume(61, "/mnt/local/kubelet/pods/", "uid-dead"),
			map[string]string{dead: ""},
			[]string{"no orphan-pod pod uid-dead"},
			[]string{"2 volumes", "umount " + podDir + "uid-dead" + csiDir, "umount /mnt/local/kubelet/pods/uid-dead" + csiDir, "60 25 253:7"},
		},
		{
			"a part of a volume of a pod that is gone (M118)", subpath, nil,
			[]string{"no orphan-subpath pod uid-dead"},
			[]string{"umount " + podDir + "uid-dead/volume-subpaths/pvc-1/main/0", "253:7 /data/sub"},
		},
		{"both", subpath + volume(60, podDir, "uid-dead"), nil, []string{"no orphan-subpath pod uid-dead", "no orphan-pod pod uid-dead"}, nil},
		{"a pod that waits for its volumes has no container yet", volume(60, podDir, "uid-new"), nil, []string{"unknown orphan-pod pod uid-new"}, []string{"waits for a volume"}},
		{"all containers of the pod ended", volume(60, podDir, "uid-ended"), map[string]string{podDir + "uid-ended/containers/main/x": ""}, []string{"no orphan-pod pod uid-ended"}, nil},
		{
			"a name that would be a command", stackOf(1, 60, 25, `253:7 / /var/lib/kubelet/pods/uid-dead/volumes/kubernetes.io~csi/a\040b;reboot\012x rw - xfs x rw`),
			map[string]string{dead: ""},
			[]string{"no orphan-pod pod uid-dead"},
			[]string{`umount $'/var/lib/kubelet/pods/uid-dead/volumes/kubernetes.io~csi/a b;reboot\012x'`},
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			h := ordinary(sharedAll+c.mounts).run(alive, otherNS, private).with(c.more)
			found := checkOrphans(h.snapshot(t, alive, ended))
			if diff := cmp.Diff(c.want, brief(found)); diff != "" {
				t.Fatal(diff)
			}
			says(t, found[0], c.says...)
		})
	}
}

func TestWhatIsUnmountedMeanwhileIsNotLeftOver(t *testing.T) {
	alive := taskOf("a", "alive", 2000)
	mounts := sharedAll + rootfsOf("gone") + stackOf(1, 60, 25, "253:7 / "+podDir+"uid-dead/volume-subpaths/v/c/0 rw - xfs x rw")
	s := ordinary(mounts).run(alive, otherNS, private).snapshot(t, alive)
	table := s.Places[0].Table
	s.Proc = ordinary(sharedAll).machine(t).Proc
	if found := checkOrphans(s); len(found) != 1 || found[0].Answer != facts.Yes {
		t.Error(brief(found))
	}
	s.Proc += "-gone"
	if found := checkOrphans(s); len(found) != 1 || found[0].Answer != facts.Unknown || table.Len() != 4 {
		t.Error(brief(found))
	}
}

func TestNoPodIsCalledDeadWhereContainersAreNotKnown(t *testing.T) {
	mounts := sharedAll + rootfsOf("gone") + stackOf(1, 60, 25, "253:7 / "+podDir+"uid-x/volume-subpaths/v/c/0 rw - xfs x rw")
	blind := []string{"unknown orphan-rootfs " + stateDir + "gone/rootfs", "unknown orphan-subpath pod uid-x"}

	m := ordinary(mounts).with(map[string]string{"/run/containerd/x": ""}).machine(t)
	root := path.Dir(m.Proc)
	m.Open = func(int) (Files, io.Closer, error) { return textFiles{root: root, denied: "/run/containerd"}, nil, nil }
	s, err := Gather(t.Context(), m)
	if err != nil {
		t.Fatal(err)
	}
	found := checkOrphans(s)
	if diff := cmp.Diff(blind, brief(found)); diff != "" {
		t.Error(diff)
	}
	says(t, found[0], "permission denied")
	says(t, found[1], "no container of containerd is known")

	nameless := taskOf("a", "", 2000)
	nameless.Container.Pod.UID, nameless.Spec.Annotations = "", nil
	found = checkOrphans(ordinary(mounts).run(nameless, otherNS, private).snapshot(t, nameless))
	if diff := cmp.Diff(blind[1:], brief(found)[1:]); diff != "" {
		t.Error(diff)
	}
	s = ordinary(mounts).run(nameless, otherNS, private).snapshot(t, taskOf("b", "b", 0))
	s.Unknown = append(s.Unknown, namespaces.Unknown{What: "containers below /run/k3s/containerd", Why: "permission denied"})
	if found = checkOrphans(s); !strings.Contains(found[1].Message, "/run/k3s/containerd: permission denied") || found[1].Answer != facts.Unknown {
		t.Errorf("%+v", found)
	}
}

// TestADeadPodIsToldBeforeManyThatMayLive: what is cut off is not known to be a
// problem while others that are told are not.
func TestADeadPodIsToldBeforeManyThatMayLive(t *testing.T) {
	alive := taskOf("a", "alive", 2000)
	var mounts strings.Builder
	mounts.WriteString(sharedAll)
	for i := range 60 {
		mounts.WriteString(stackOf(1, 100+i, 25, fmt.Sprintf("253:7 / %suid-%d%s rw - xfs x rw", podDir, i, csiDir)))
	}
	found := checkOrphans(ordinary(mounts.String()).run(alive, otherNS, private).with(map[string]string{podDir + "uid-59/containers/main/x": ""}).snapshot(t, alive))
	if len(found) != mostOrphans || found[0].Answer != facts.No || found[0].Subject != "pod uid-59" || found[1].Subject != "pod uid-0" {
		t.Fatal(brief(found))
	}
	says(t, found[mostOrphans-1], "there are 10 more")
}
