package exposure

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/mountward/mountward/pkg/target"
)

// TestWhatIsMountedBelowADirectoryBelongsToIt: who has only the secret of a pod
// reaches a part of the pod's directory, and by a read-only one what is mounted
// there is writable all the same.
func TestWhatIsMountedBelowADirectoryBelongsToIt(t *testing.T) {
	podDir := root + "/pods/" + uidA
	const kernel = "40 30 0:60 / " + volume + "/proc rw - proc proc rw\n41 20 0:61 / /elsewhere rw - tmpfs t rw\n"
	n := newNode(t, hostTable+kernel+
		"42 30 8:1 "+podDir+"/own "+volume+"/again rw - ext4 /dev/sda1 rw\n") // of the directory itself
	n.add(podA, tableA)
	n.add(agent(bind(podDir, "/pod", "ro")), lines(rootfs,
		"600 500 8:1 "+podDir+" /pod ro - ext4 /dev/sda1 rw",
		"601 600 253:7 / /pod/volumes/kubernetes.io~csi/pvc-1/mount rw - xfs /dev/vg0/pvc-1 rw",
		"602 500 0:60 / /proc rw - proc proc rw",
		"603 500 0:61 / /x rw - tmpfs t rw"))
	r := Find(t.Context(), n.Node, []target.Target{pathOf(podDir)})
	want := []string{
		"agent /pod pod-directory asked ro foreign",
		"agent /pod/volumes/kubernetes.io~csi/pvc-1/mount[volumes/kubernetes.io~csi/pvc-1/mount] pod-directory private rw foreign",
		"app /data[volumes/kubernetes.io~csi/pvc-1/mount] volume asked rw own",
		"app /run/secrets/token[volumes/kubernetes.io~projected/token] volume asked ro own",
	}
	if diff := cmp.Diff(want, told(r)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if r.Below != 2 || len(r.Unknown) > 0 {
		t.Errorf("%d mounts below, unknown %v", r.Below, r.Unknown)
	}
}

// TestTheVolumesOfOthersAreNotOnesOwn below a directory of all pods.
func TestTheVolumesOfOthersAreNotOnesOwn(t *testing.T) {
	n := newNode(t)
	n.add(podA, tableA)
	n.add(agent(), lines(rootfs, "600 500 253:7 / /x rw - xfs /dev/vg0/pvc-1 rw"))
	want := []string{
		"agent /x[" + volume[len(root)+1:] + "] not-asked - rw foreign",
		"app /data[" + volume[len(root)+1:] + "] volume asked rw own",
		"app /run/secrets/token[" + secret[len(root)+1:] + "] volume asked ro own",
	}
	if diff := cmp.Diff(want, told(Find(t.Context(), n.Node, []target.Target{pathOf(root)}))); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}
