package doctor

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/mountward/mountward/pkg/facts"
	"github.com/mountward/mountward/pkg/hostview"
)

// bigTable is a table of so many volumes.
func bigTable(t testing.TB, n int) *hostview.Table {
	t.Helper()
	table, err := hostview.ReadTable(strings.NewReader(sharedAll + volumesOf(n)))
	if err != nil {
		t.Fatal(err)
	}
	return table
}

func volumesOf(n int) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, "%d 25 0:%d / /var/lib/kubelet/pods/uid-%d/volumes/kubernetes.io~secret/s rw shared:%d - tmpfs tmpfs rw\n", 100+i, 100+i, i, 100+i)
	}
	return b.String()
}

func TestTheNumberOfMountsIsComparedWithTheLimit(t *testing.T) {
	pile := func(n int) string {
		return stackOf(n, 100000, 30, "0:60 / /run/mnt rw shared:9 - xfs /dev/topolvm/x rw")
	}
	for _, c := range []struct {
		name, limit, mounts string
		want                string
		says                []string
	}{
		{"few", "100000\n", volumesOf(100), "yes mount-max-far fs.mount-max", []string{"102 mounts of at most 100000"}},
		{"half", "204\n", volumesOf(100), "yes mount-max-far fs.mount-max", nil},
		{"more than half", "203\n", volumesOf(100), "no mount-max fs.mount-max", []string{"ENOSPC", "sysctl -w fs.mount-max=200000"}},
		{
			"39099, of which 32768 at one path (M81)", "100000\n", volumesOf(39099-32768-2) + pile(32768), "no mount-max fs.mount-max [default/csi main (aaaaaaaaaaaa)]",
			[]string{"39099 mounts of at most 100000", "when the 32768 at /run/mnt double once more"},
		},
		{"a pile that fits twice more", "100000\n", pile(16384), "yes mount-max-far fs.mount-max", nil},
		{"before Linux 4.9", "", "", "yes mount-max-none fs.mount-max", []string{"no limit"}},
		{"no number", "many\n", "", "unknown mount-max fs.mount-max", []string{"cannot tell"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			csi := taskOf("a", "csi", 2000, bindOf("/run/mnt", "/mnt", "rshared"))
			h := ordinary(sharedAll+c.mounts).run(csi, otherNS,
				"400 300 0:50 / / rw - overlay overlay rw\n401 400 0:5 / /run rw shared:2 - tmpfs tmpfs rw\n")
			if c.limit != "" {
				h["/proc/sys/fs/mount-max"] = c.limit
			}
			found := checkMountMax(h.snapshot(t, csi))
			if diff := cmp.Diff([]string{c.want}, brief(found)); diff != "" {
				t.Fatal(diff)
			}
			says(t, found[0], c.says...)
		})
	}
}

func TestAContainerThatIsFullStopsTheHost(t *testing.T) {
	agent := taskOf("a", "agent", 2000, bindOf("/", "/host", "rslave"))
	quiet := taskOf("b", "quiet", 2001, bindOf("/", "/host", "rprivate"))
	h := ordinary(sharedAll+volumesOf(60)).
		run(agent, otherNS, "400 300 0:50 / / rw - overlay overlay rw\n"+volumesOf(120)).
		run(quiet, thirdNS, "400 300 0:50 / / rw - overlay overlay rw\n"+volumesOf(120))
	h["/proc/sys/fs/mount-max"] = "200\n"
	s := h.snapshot(t, agent, quiet)
	want := []string{"yes mount-max-far fs.mount-max", "no mount-max default/agent main (aaaaaaaaaaaa) [default/agent main (aaaaaaaaaaaa)]"}
	found := checkMountMax(s)
	if diff := cmp.Diff(want, brief(found)); diff != "" {
		t.Fatal(diff)
	}
	says(t, found[1], "121 mounts of at most 200")
	if found[1].Answer != facts.No {
		t.Error(found[1])
	}
}
