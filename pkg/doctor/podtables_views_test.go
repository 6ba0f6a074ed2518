package doctor

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/mountward/mountward/pkg/facts"
)

// TestEachPlaceOfAContainerIsComparedWithTheHost, once, whatever else the
// container has mounted: what is its own is no difference, and what differs in
// one of its views is one there.
func TestEachPlaceOfAContainerIsComparedWithTheHost(t *testing.T) {
	const (
		vol     = "/var/lib/kubelet/pods/u1/volumes/kubernetes.io~csi/pvc-1/mount"
		on      = sharedAll + "100 25 0:90 / " + vol + " rw shared:9 - xfs /dev/x rw\n"
		root    = "400 300 0:50 / / rw - overlay overlay rw\n"
		kubelet = root + "403 400 253:1 /var/lib/kubelet /var/lib/kubelet rw shared:1 - ext4 /dev/vda1 rw\n"
		seen    = "404 403 0:90 / " + vol + " rw shared:9 - xfs /dev/x rw\n"
		pods    = "406 403 253:1 /var/lib/kubelet/pods /var/lib/kubelet/pods rw shared:1 - ext4 /dev/vda1 rw\n"
		inPods  = "407 406 0:90 / " + vol + " rw shared:9 - xfs /dev/x rw\n"
		outside = "401 400 253:1 / /host rw shared:1 - ext4 /dev/vda1 rw\n"
		inHost  = "402 401 0:90 / /host" + vol + " rw shared:9 - xfs /dev/x rw\n"
		who     = " [default/csi main (aaaaaaaaaaaa)]"
	)
	equal := []string{"yes tables-equal default/csi main (aaaaaaaaaaaa)"}
	theKubelets := bindOf("/var/lib/kubelet", "/var/lib/kubelet", "rshared")
	thePods := bindOf("/var/lib/kubelet/pods", "/var/lib/kubelet/pods", "rslave")
	theHost := bindOf("/", "/host", "rshared")
	for name, c := range map[string]struct {
		host, inside string
		mounts       []facts.Mount
		want         []string
		says         []string
	}{
		"the whole host and the kubelet root": {on, kubelet + seen + outside + inHost, []facts.Mount{theHost, theKubelets}, equal, []string{"the same 2 mounts"}},
		"and it is missing in the first": {
			on, kubelet + seen + outside,
			[]facts.Mount{theHost, theKubelets},
			[]string{"no only-host " + vol + who},
			[]string{"not in default/csi main (aaaaaaaaaaaa) at /host" + vol},
		},
		"and it is missing in the second": {
			on, kubelet + outside + inHost,
			[]facts.Mount{theHost, theKubelets},
			[]string{"no only-host " + vol + who},
			[]string{"not in default/csi main (aaaaaaaaaaaa)"},
		},
		"and the host unmounted what both have": {
			sharedAll, kubelet + seen + outside + inHost,
			[]facts.Mount{theHost, theKubelets},
			[]string{"no only-container " + vol + who, "no only-container " + vol + who},
			[]string{"402 401 0:90"},
		},
		"the root and its pods":    {on, kubelet + seen + pods + inPods, []facts.Mount{theKubelets, thePods}, equal, []string{"the same 1 mount"}},
		"the pods are bound first": {on, kubelet + seen + pods + inPods, []facts.Mount{thePods, theKubelets}, equal, nil},
		"and the upper one lacks it": {
			on, kubelet + seen + pods,
			[]facts.Mount{theKubelets, thePods},
			[]string{"no only-host " + vol + who},
			nil,
		},
		"the root and an empty directory of it": {
			on, kubelet + seen + "405 403 253:1 /var/lib/kubelet/plugins /var/lib/kubelet/plugins rw - ext4 /dev/vda1 rw\n",
			[]facts.Mount{theKubelets, bindOf("/var/lib/kubelet/plugins", "/var/lib/kubelet/plugins", "rprivate")},
			equal, nil,
		},
		"a mount of the driver's own in that directory": {
			on, kubelet + seen + "405 403 253:1 /var/lib/kubelet/plugins /var/lib/kubelet/plugins rw - ext4 /dev/vda1 rw\n408 405 0:91 / /var/lib/kubelet/plugins/x rw - tmpfs t rw\n",
			[]facts.Mount{theKubelets, bindOf("/var/lib/kubelet/plugins", "/var/lib/kubelet/plugins", "rprivate")},
			[]string{"no only-container /var/lib/kubelet/plugins/x" + who},
			nil,
		},
		"a directory from elsewhere covers a part": {
			on, kubelet + seen + "405 403 0:77 / " + vol + " rw - tmpfs t rw\n409 405 0:78 / " + vol + "/x rw - tmpfs t rw\n",
			[]facts.Mount{theKubelets, bindOf("/srv", "/var/lib/kubelet/pods/u1/volumes", "rprivate")},
			[]string{"yes tables-equal default/csi main (aaaaaaaaaaaa)"},
			[]string{"has a mount below the kubelet root"},
		},
		"a place that is a link in the container": {
			on, root + "403 400 253:1 /var/lib/kubelet /run/k rw shared:1 - ext4 /dev/vda1 rw\n404 403 0:90 / /run/k/pods/u1/volumes/kubernetes.io~csi/pvc-1/mount rw shared:9 - xfs /dev/x rw\n",
			[]facts.Mount{bindOf("/var/lib/kubelet", "/var/run/k", "rshared")},
			equal,
			[]string{"the same 1 mount"},
		},
		"what a later mount of the host covers is not there": {
			on + "110 25 0:95 / /var/lib/kubelet/pods rw shared:11 - tmpfs t rw\n",
			kubelet + "410 403 0:95 / /var/lib/kubelet/pods rw shared:11 - tmpfs t rw\n",
			[]facts.Mount{theKubelets},
			equal,
			[]string{"the same 1 mount"},
		},
		"and one who still sees it differs": {
			on + "110 25 0:95 / /var/lib/kubelet/pods rw - tmpfs t rw\n", kubelet + seen,
			[]facts.Mount{theKubelets},
			[]string{"no only-host /var/lib/kubelet/pods" + who, "no only-container " + vol + who},
			nil,
		},
	} {
		t.Run(name, func(t *testing.T) {
			csi := taskOf("a", "csi", 2000, c.mounts...)
			s := ordinary(c.host).run(csi, otherNS, c.inside).snapshot(t, csi)
			found, err := ComparePod(s, "csi")
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(c.want, brief(found)); diff != "" {
				t.Fatalf("(-want +got):\n%s", diff)
			}
			says(t, found[0], c.says...)
		})
	}
}
