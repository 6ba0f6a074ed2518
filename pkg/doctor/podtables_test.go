package doctor

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestThePodsTableIsComparedWithTheKubelets(t *testing.T) {
	const dir = "/var/lib/kubelet/plugins/kubernetes.io/csi/smb/1/globalmount"
	const who = " [default/csi main (aaaaaaaaaaaa)]"
	const inside = "400 300 0:50 / / rw - overlay overlay rw\n401 400 253:1 /var/lib/kubelet /k rw shared:1 - ext4 /dev/vda1 rw\n"
	host := func(n int) string {
		return sharedAll + stackOf(n, 100, 25, "0:90 / "+dir+" rw shared:9 - cifs //srv/x rw")
	}
	driver := func(n int) string {
		return inside + stackOf(n, 500, 401, "0:90 / /k/plugins/kubernetes.io/csi/smb/1/globalmount rw shared:9 - cifs //srv/x rw")
	}
	for _, c := range []struct {
		name, host, inside string
		want               []string
		says               []string
	}{
		{"equal", host(1), driver(1), []string{"yes tables-equal default/csi main (aaaaaaaaaaaa)"}, []string{"the same 1 mount"}},
		{
			"twice for the kubelet, once for the driver (M67)", host(2), driver(1),
			[]string{"no stack-differs " + dir + who},
			[]string{"2 mounts are stacked for the kubelet and 1 in default/csi", "100 25 0:90", "101 100 0:90", "500 401 0:90", "grep '^500 ' /proc/2000/mountinfo"},
		},
		{"only for the kubelet", host(1), driver(0), []string{"no only-host " + dir + who}, nil},
		{"only for the driver", host(0), driver(1), []string{"no only-container " + dir + who}, nil},
		{"another file system", host(1), inside + stackOf(1, 500, 401, "0:91 / /k/plugins/kubernetes.io/csi/smb/1/globalmount rw - cifs //srv/y rw"), []string{"no stack-differs " + dir + who}, []string{"shows something else"}},
		{"what is outside the kubelet root does not count", host(1) + "60 25 0:95 / /srv rw - tmpfs t rw\n", driver(1) + "600 400 0:96 / /tmp rw - tmpfs t rw\n", []string{"yes tables-equal default/csi main (aaaaaaaaaaaa)"}, nil},
		{
			"the order of a stack is by parents, not by lines", sharedAll + "101 100 0:91 / " + dir + " rw - tmpfs b rw\n100 25 0:90 / " + dir + " rw - tmpfs a rw\n",
			inside + "500 401 0:90 / /k/plugins/kubernetes.io/csi/smb/1/globalmount rw - tmpfs a rw\n501 500 0:91 / /k/plugins/kubernetes.io/csi/smb/1/globalmount rw - tmpfs b rw\n",
			[]string{"yes tables-equal default/csi main (aaaaaaaaaaaa)"},
			nil,
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			csi := taskOf("a", "csi", 2000, bindOf("/var/lib/kubelet", "/k", "rshared"))
			s := ordinary(c.host).run(csi, otherNS, c.inside).snapshot(t, csi)
			for _, name := range []string{"csi", "default/csi", "aaaaaaaaaaaa"} {
				found, err := ComparePod(s, name)
				if err != nil {
					t.Fatal(err)
				}
				if diff := cmp.Diff(c.want, brief(found)); diff != "" {
					t.Fatal(diff)
				}
				says(t, found[0], c.says...)
			}
		})
	}
}

func TestADifferenceHasToLast(t *testing.T) {
	csi := taskOf("a", "csi", 2000, bindOf("/var/lib/kubelet", "/var/lib/kubelet", "rshared"))
	const inside = "400 300 0:50 / / rw - overlay overlay rw\n401 400 253:1 /var/lib/kubelet /var/lib/kubelet rw shared:1 - ext4 /dev/vda1 rw\n"
	has := inside + strings.ReplaceAll(volumesOf(2), " 25 ", " 401 ") // they are on what the bind made
	s := ordinary(sharedAll+volumesOf(3)).run(csi, otherNS, has).snapshot(t, csi)
	if found, err := ComparePod(s, "csi"); err != nil || len(found) != 1 || found[0].Code != CodeOnlyHost {
		t.Fatal(brief(found), err)
	}
	// The unmount of the third arrives between the two readings.
	if err := os.WriteFile(fmt.Sprintf("%s/%d/mountinfo", s.Proc, s.Places[2].Process.PID), []byte(sharedAll+volumesOf(2)), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, p := range []int{812, 900} {
		if err := os.WriteFile(fmt.Sprintf("%s/%d/mountinfo", s.Proc, p), []byte(sharedAll+volumesOf(2)), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	found, err := ComparePod(s, "csi")
	if diff := cmp.Diff([]string{"yes tables-equal default/csi main (aaaaaaaaaaaa)"}, brief(found)); diff != "" || err != nil {
		t.Error(diff, err)
	}
}

func TestAPodThatIsNotKnownIsAnError(t *testing.T) {
	csi := taskOf("a", "csi", 2000)
	s := ordinary(sharedAll).run(csi, otherNS, private).snapshot(t, csi)
	for _, name := range []string{"", "cs", "aaaa", "other/csi", "csi/"} {
		if found, err := ComparePod(s, name); err == nil {
			t.Errorf("%q: %v", name, brief(found))
		}
	}
	found, err := ComparePod(s, "csi")
	if err != nil {
		t.Fatal(err)
	}
	says(t, found[0], "has nothing of the kubelet root")

	ended := ordinary(sharedAll).snapshot(t, csi)
	if found, err := ComparePod(ended, "csi"); err != nil || len(found) != 1 || found[0].Code != CodeTablesUnknown {
		t.Error(brief(found), err)
	}
}
