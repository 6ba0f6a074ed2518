package doctor

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/mountward/mountward/pkg/facts"
	"github.com/mountward/mountward/pkg/namespaces"
)

// stackOf are n equal mounts at one place, each on the one before. The lines are
// of a mount on parent.
func stackOf(n, id, parent int, rest string) string {
	var b strings.Builder
	for range n {
		fmt.Fprintf(&b, "%d %d %s\n", id, parent, rest)
		id, parent = id+1, id
	}
	return b.String()
}

const token = "/run/secrets/kubernetes.io/serviceaccount"

func TestAPileIsToldWithTheContainerThatMakesIt(t *testing.T) {
	culprit := taskOf("a", "dump", 2000, bindOf("/run", "/run", "rshared"))
	wide := taskOf("b", "wide", 2001, bindOf("/", "/host", "rshared"))
	slave := taskOf("c", "slave", 2002, bindOf("/run", "/run", "rslave"))
	other := taskOf("d", "other", 2003, bindOf("/var", "/var", "rshared"))
	root := "400 300 0:50 / / rw - overlay overlay rw\n"
	for _, c := range []struct {
		name   string
		mounts string
		want   []string
		says   []string
	}{
		{
			"32767 copies of a token below a shared /run (M77, M79)", stackOf(32767, 100, 30, "0:60 / "+token+" rw shared:9 - tmpfs tmpfs rw"),
			[]string{"no doubling " + token + " [default/dump main (aaaaaaaaaaaa)]"},
			[]string{"32767 times", "doubled 15 times", "401 400 0:5 / /run rw shared:2 - tmpfs"},
		},
		{
			"562 of one sandbox's shm (M78)", stackOf(562, 100, 30, "0:61 / /run/shm rw shared:9 - tmpfs shm rw"),
			[]string{"no stacked /run/shm [default/dump main (aaaaaaaaaaaa)]"},
			[]string{"562 mounts are stacked at /run/shm, 562 of them"},
		},
		{"nine file systems at one place", func() string {
			var b strings.Builder
			b.WriteString(stackOf(1, 100, 30, "0:70 / /run/x rw - tmpfs t rw"))
			for i := 1; i < 9; i++ {
				b.WriteString(stackOf(1, 100+i, 99+i, fmt.Sprintf("0:%d / /run/x rw - tmpfs t rw", 70+i)))
			}
			return b.String()
		}(), []string{"no stacked /run/x [default/dump main (aaaaaaaaaaaa)]"}, []string{"9 mounts are stacked at /run/x, 1 of them"}},
		{
			"a pile that only / can make", stackOf(8, 100, 25, "0:62 / /srv rw shared:9 - tmpfs t rw"),
			[]string{"no doubling /srv [default/wide main (bbbbbbbbbbbb)]"},
			nil,
		},
		{
			"what is below a pile is not told again", stackOf(8, 100, 25, "0:62 / /srv rw shared:9 - tmpfs t rw") + stackOf(8, 200, 107, "0:63 / /srv/a/b rw shared:9 - tmpfs t rw"),
			[]string{"no doubling /srv [default/wide main (bbbbbbbbbbbb)]"},
			nil,
		},
		{"a pair of a network namespace is common", stackOf(2, 100, 30, "0:4 net:[4026532281] /run/netns/cni-1 rw shared:9 - nsfs nsfs rw"), []string{"yes no-doubling /"}, nil},
		{
			"FUSE that recovers stacks (M73)", stackOf(1, 100, 25, "0:80 / /mnt/jfs rw shared:9 - fuse.juicefs j rw") + stackOf(1, 101, 100, "0:81 / /mnt/jfs rw shared:10 - fuse.juicefs j rw"),
			[]string{"yes no-doubling /"},
			nil,
		},
		{"FUSE that recovered ten times is no garbage either", func() string {
			var b strings.Builder
			for i := range 10 {
				b.WriteString(stackOf(1, 100+i, 25, fmt.Sprintf("0:%d / /mnt/jfs rw - fuse.juicefs j rw", 80+i)))
			}
			return b.String()
		}(), []string{"yes no-doubling /"}, nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := ordinary(sharedAll+c.mounts).
				run(culprit, otherNS, root+"401 400 0:5 / /run rw shared:2 - tmpfs tmpfs rw\n").
				run(wide, thirdNS, root+"401 400 253:1 / /host rw shared:1 - ext4 /dev/vda1 rw\n").
				run(slave, thirdNS+1, root+"401 400 0:5 / /run rw master:2 - tmpfs tmpfs rw\n").
				run(other, thirdNS+2, root+"401 400 253:1 /var /var rw shared:1 - ext4 /dev/vda1 rw\n").
				snapshot(t, culprit, wide, slave, other)
			found := checkDoubling(s)
			if diff := cmp.Diff(c.want, brief(found)); diff != "" {
				t.Fatal(diff)
			}
			says(t, found[0], c.says...)
		})
	}
}

func TestTheKubeletRootOnItselfPointsAtItsUnit(t *testing.T) {
	const root = "/var/lib/kubelet"
	for _, c := range []struct {
		name, mounts string
		want         string
	}{
		{"bound four times on itself (M83)", stackOf(4, 100, 25, "253:1 /var/lib/kubelet /var/lib/kubelet rw shared:1 - ext4 /dev/vda1 rw"), "no kubelet-stack " + root},
		{"bound twice on itself", stackOf(2, 100, 25, "253:1 /var/lib/kubelet /var/lib/kubelet rw shared:1 - ext4 /dev/vda1 rw"), "no kubelet-stack " + root},
		{"bound once, as the kubelet does", stackOf(1, 100, 25, "253:1 /var/lib/kubelet /var/lib/kubelet rw shared:1 - ext4 /dev/vda1 rw"), "yes no-doubling /"},
		{"a disk of its own that the kubelet shared (M99)", stackOf(2, 100, 25, "253:9 / /var/lib/kubelet rw shared:1 - ext4 /dev/vdb rw"), "yes no-doubling /"},
		{"a disk bound again and again", stackOf(3, 100, 25, "253:9 / /var/lib/kubelet rw shared:1 - ext4 /dev/vdb rw"), "no kubelet-stack " + root},
	} {
		t.Run(c.name, func(t *testing.T) {
			found := checkDoubling(ordinary(sharedAll + c.mounts).snapshot(t))
			if diff := cmp.Diff([]string{c.want}, brief(found)); diff != "" {
				t.Fatal(diff)
			}
			if found[0].Answer == facts.No {
				says(t, found[0], "ExecStartPre= of kubelet.service", `mountpoint -q /var/lib/kubelet || grep -qF " /var/lib/kubelet/" /proc/self/mountinfo || mount --bind`, "253:")
			}
		})
	}
}

func TestBlameIsNotGivenWhereItCannotBeTold(t *testing.T) {
	lost := taskOf("a", "dump", 2000, bindOf("/run", "/run", "rshared"))
	pile := sharedAll + stackOf(8, 100, 30, "0:60 / "+token+" rw shared:9 - tmpfs tmpfs rw")
	h := ordinary(pile).run(lost, otherNS, "")
	delete(h, "/proc/2000/mountinfo")
	h["/proc/2000/mountinfo/no"] = "file"
	s := h.snapshot(t, lost)
	found := checkDoubling(s)
	if len(found) != 1 || len(found[0].Containers) != 0 {
		t.Fatalf("%+v", found)
	}
	says(t, found[0], "cannot tell of default/dump main (aaaaaaaaaaaa)")

	ended := checkDoubling(ordinary(pile).snapshot(t, lost))
	says(t, ended[0], "no running container has a Bidirectional (rshared) mount")
	if strings.Contains(ended[0].Cause, "cannot tell") {
		t.Errorf("a process that is gone: %s", ended[0].Cause)
	}
}

func TestOnlyTheLargestPilesAreTold(t *testing.T) {
	var b strings.Builder
	b.WriteString(sharedAll)
	for i := range 13 {
		b.WriteString(stackOf(8+i, 1000*(i+1), 25, fmt.Sprintf("0:%d / /srv/%02d rw - tmpfs t rw", 100+i, i)))
	}
	found := checkDoubling(ordinary(b.String()).snapshot(t))
	if len(found) != mostPiles || found[0].Subject != "/srv/12" {
		t.Errorf("%d findings, the first %s", len(found), found[0].Subject)
	}
	says(t, found[mostPiles-1], "3 more places")
}

func TestWhatComesFromDoubling(t *testing.T) {
	for n, want := range map[int]bool{1: false, 2: false, 3: false, 4: true, 5: false, 6: false, 7: true, 8: true, 9: false, 15: true, 562: false, 32767: true, 32768: true} {
		if doubling(n) != want {
			t.Errorf("%d: %v", n, !want)
		}
	}
}

func BenchmarkTableChecks(b *testing.B) {
	t := bigTable(b, 50_000)
	s := &Snapshot{Context: b.Context(), Places: []Place{{Role: RoleInit, Inode: hostNS, Table: t}}}
	s.Kubelet.Root = "/var/lib/kubelet"
	s.Census = &namespaces.Census{}
	for b.Loop() {
		checkDoubling(s)
		checkAmplification(s)
		s.orphans(s.spaces()[0])
	}
}
