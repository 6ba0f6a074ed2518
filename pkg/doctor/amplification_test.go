package doctor

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestHowOftenAVolumeAppearsIsTold(t *testing.T) {
	const once = "yes mounted-once /var/lib/kubelet/pods"
	const twice = "yes mounted-twice /var/lib/kubelet/pods"
	for _, c := range []struct {
		name, mounts string
		want         []string
		says         []string
	}{
		{"once", sharedAll, []string{once}, []string{"25 1 253:1 / / rw shared:1"}},
		{
			"the kubelet root is bound from a disk (M51)", sharedAll + "40 25 253:5 / /mnt/local rw shared:7 - ext4 /dev/vdb rw\n41 25 253:5 /kubelet /var/lib/kubelet rw shared:7 - ext4 /dev/vdb rw\n",
			[]string{twice},
			[]string{"appears 2 times", "there and at /mnt/local/kubelet/pods", "40 25 253:5"},
		},
		{
			"the kubelet root is bound on itself: covered copies", sharedAll + "40 25 253:1 /var/lib/kubelet /var/lib/kubelet rw shared:1 - ext4 /dev/vda1 rw\n",
			[]string{twice},
			[]string{"appears 2 times", "(covered)"},
		},
		{"a twin that is private", sharedAll + "40 25 253:1 /var/lib/kubelet /mnt/k rw - ext4 /dev/vda1 rw\n", []string{once}, nil},
		{"a twin of something else", sharedAll + "40 25 253:1 /opt /mnt/k rw shared:1 - ext4 /dev/vda1 rw\n", []string{once}, nil},
		{
			"the whole tree within itself (L3)", sharedAll + "40 25 253:1 / /mnt/all rw shared:1 - ext4 /dev/vda1 rw\n41 40 0:5 / /mnt/all/run rw shared:2 - tmpfs tmpfs rw\n",
			[]string{twice, "no amplification /mnt/all"},
			[]string{"/mnt/all/var/lib/kubelet/pods"},
		},
		{"a tree that no volume is in, within itself", sharedAll + "40 30 0:5 /a /run/a/b rw shared:2 - tmpfs tmpfs rw\n", []string{once, "no amplification /run/a/b"}, nil},
		{"devices in a chroot are not within themselves", sharedAll + "40 30 0:6 / /run/chroot/dev rw shared:3 - devtmpfs d rw\n", []string{once}, nil},
		{"a slave within its master is not shared with it", sharedAll + "40 25 253:1 / /mnt/all rw master:1 - ext4 /dev/vda1 rw\n", []string{"yes mounted-twice /var/lib/kubelet/pods"}, nil},
		{"a table without a root", "40 25 253:1 /opt /mnt/k rw shared:1 - ext4 /dev/vda1 rw\n", []string{"unknown receivers-blind /var/lib/kubelet/pods"}, []string{"cannot tell"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			found := checkAmplification(ordinary(c.mounts).snapshot(t))
			if diff := cmp.Diff(c.want, brief(found)); diff != "" {
				t.Fatal(diff)
			}
			says(t, found[0], c.says...)
			if len(found) > 1 {
				says(t, found[1], "within itself", "mount --make-rprivate "+found[1].Subject)
			}
		})
	}
}

func TestAPeerInAHiddenNamespaceIsNotForgotten(t *testing.T) {
	found := checkAmplification(ordinary(sharedAll + "40 25 253:1 / /mnt/all rw master:77 - ext4 /dev/vda1 rw\n").snapshot(t))
	if len(found) != 1 {
		t.Fatal(brief(found))
	}
	says(t, found[0], "appears once", "perhaps more often: group 77")
}
