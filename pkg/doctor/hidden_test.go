package doctor

import (
	"testing"

	"github.com/mountward/mountward/pkg/facts"
)

// TestAVolumeThatTheKubeletsPathDoesNotLeadTo is mounted, and a mount made above
// it hides it.
func TestAVolumeThatTheKubeletsPathDoesNotLeadTo(t *testing.T) {
	const (
		volume  = kubelet + "/pods/00000000-0000-4000-8000-000000000000/volumes/kubernetes.io~csi/pvc-a/mount"
		bound   = "90 25 253:1 /var/lib/kubelet /var/lib/kubelet rw shared:9 - ext4 /dev/vda1 rw\n"
		disk    = "69 25 253:9 / /mnt/storage rw shared:8 - xfs /dev/vdb rw\n"
		ofDisk  = "70 25 253:9 /kubelet /var/lib/kubelet rw shared:8 - xfs /dev/vdb rw\n"
		elsewhr = "/mnt/storage/kubelet/pods/00000000-0000-4000-8000-000000000000/volumes/kubernetes.io~csi/pvc-a/mount"
	)
	line := func(id, parent, at string) string {
		return id + " " + parent + " 253:10 / " + at + " rw shared:20 - xfs /dev/x rw\n"
	}
	three := []want{{answer: facts.Yes, code: CodeShared, subject: kubelet}, {answer: facts.Yes, code: CodeShared, subject: pods}, {answer: facts.Yes, code: CodeShared, subject: plugins}}
	hidden := func(w want) []want {
		w.answer, w.code, w.subject = facts.No, CodeVolumeHidden, kubelet
		return append([]want{w}, three...)
	}
	for _, tc := range []struct {
		name, mounts string
		want         []want
	}{
		{"mounted and seen", sharedAll + line("80", "25", volume), three},
		{"mounted after the bind", sharedAll + bound + line("80", "90", volume), three},
		{"bound without it", private + line("80", "25", volume) + bound, hidden(want{
			evidence: "90 25 253:1", says: "1 volumes that are mounted below /var/lib/kubelet are not seen~the mount at /var/lib/kubelet (id 90)",
			fixed: "grep -q '^90 ' /proc/812/mountinfo && umount /var/lib/kubelet && mount --make-rshared /\x00",
		})},
		{"bound without it, on what is shared", sharedAll + line("80", "25", volume) + bound, hidden(want{fixed: "grep -q '^90 ' /proc/812/mountinfo && umount /var/lib/kubelet\x00"})},
		{"bound with it", sharedAll + line("80", "25", volume) + bound + line("81", "90", volume), three},
		{"mounted anew on a dead one", sharedAll + line("80", "25", volume) + "81 80 0:70 / " + volume + " rw shared:21 - fuse x rw\n", three},
		{"another disk over pods", sharedAll + line("80", "25", volume) + "90 25 253:30 / " + pods + " rw shared:9 - ext4 /dev/vdz rw\n", hidden(want{says: "the mount at /var/lib/kubelet/pods (id 90)"})},
		{"the root is bound from where it is mounted", sharedAll + disk + line("80", "69", elsewhr) + ofDisk, hidden(want{
			says: "mounted below /mnt/storage/kubelet", fixed: "umount /var/lib/kubelet && mount --rbind /mnt/storage/kubelet /var/lib/kubelet && mount --make-rshared /var/lib/kubelet\x00",
		})},
		{"bound with all that was below", sharedAll + disk + line("80", "69", elsewhr) + ofDisk + line("81", "70", volume), three},
	} {
		t.Run(tc.name, func(t *testing.T) {
			r, _ := ordinary(tc.mounts).machine(t).findings(t, Check{"propagation", func(s *Snapshot) []Finding {
				var all []Finding
				for _, f := range checkPropagation(s) {
					if f.Code != CodeNotShared && f.Code != CodeCRIMisjudges {
						all = append(all, f)
					}
				}
				return all
			}})
			wants := tc.want
			compare(t, r.Findings, wants)
		})
	}
}

// TestWhatIsGoneAtTheSecondReadingIsNotHidden.
func TestWhatIsGoneAtTheSecondReadingIsNotHidden(t *testing.T) {
	h := ordinary(sharedAll + "80 25 253:10 / " + kubelet + "/pods/00000000-0000-4000-8000-000000000000/volumes/kubernetes.io~csi/a/mount rw - xfs /dev/x rw\n90 25 253:1 /var/lib/kubelet /var/lib/kubelet rw shared:9 - ext4 /dev/vda1 rw\n")
	s := h.snapshot(t)
	if found := newNode(s).hidden(); len(found) != 1 || found[0].Answer != facts.No {
		t.Fatalf("%+v", found)
	}
	overwrite(t, s.Proc+"/900/mountinfo", sharedAll)
	overwrite(t, s.Proc+"/812/mountinfo", sharedAll)
	if found := newNode(s).hidden(); len(found) != 0 {
		t.Errorf("%+v", found)
	}
}
