package hostview

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/mountward/mountward/pkg/facts"
)

func parse(t testing.TB, text string) *Table {
	t.Helper()
	table, err := ReadTable(strings.NewReader(text))
	if err != nil {
		t.Fatal(err)
	}
	return table
}

func TestALineIsReadExactly(t *testing.T) {
	for _, tc := range []struct {
		name, line string
		want       Entry
	}{
		{
			"escapes in every path, raw quote",
			`486 28 252:1 /a\134040b /mnt/foo\040bar"\011\012\134 rw,noatime shared:243 - ext4 /dev/v\043da\040x rw`,
			Entry{
				ID: 486, Parent: 28, Device: facts.DeviceNumber{Major: 252, Minor: 1}, Root: `/a\040b`, MountPoint: "/mnt/foo bar\"\t\n\\",
				FSType: "ext4", Source: "/dev/v#da x", Options: "rw,noatime", SuperOptions: "rw", State: facts.MountState{Peer: 243},
			},
		},
		{
			"a comma escaped by the new mount API, a lone trailing backslash",
			`2 1 0:5 / /a\054b\ rw - tmpfs t\ rw`,
			Entry{ID: 2, Parent: 1, Device: facts.DeviceNumber{Minor: 5}, Root: "/", MountPoint: `/a,b\`, FSType: "tmpfs", Source: `t\`, Options: "rw", SuperOptions: "rw"},
		},
		{
			"a root that is gone, both propagations, an unknown field",
			"591 558 8:3 /sub//deleted / ro shared:313 master:1 propagate_from:2 new:9 - xfs /dev/sda rw",
			Entry{
				ID: 591, Parent: 558, Device: facts.DeviceNumber{Major: 8, Minor: 3}, Root: "/sub//deleted", MountPoint: "/",
				FSType: "xfs", Source: "/dev/sda", Options: "ro", SuperOptions: "rw", State: facts.MountState{Peer: 313, Master: 1},
			},
		},
		{
			"subtype, source none, unbindable",
			"3 1 0:7 / /s3 rw unbindable - fuse.s3fs none rw,user_id=0",
			Entry{ID: 3, Parent: 1, Device: facts.DeviceNumber{Minor: 7}, Root: "/", MountPoint: "/s3", FSType: "fuse.s3fs", Source: "none", Options: "rw", SuperOptions: "rw,user_id=0", State: facts.MountState{Unbindable: true}},
		},
		{
			"an empty source",
			"3 1 0:7 / /e rw - tmpfs  rw",
			Entry{ID: 3, Parent: 1, Device: facts.DeviceNumber{Minor: 7}, Root: "/", MountPoint: "/e", FSType: "tmpfs", Options: "rw", SuperOptions: "rw"},
		},
		{
			"bytes that are not UTF-8",
			"3 1 0:7 /\xff /\xfe\x80 rw - tmpfs \xc0 rw",
			Entry{ID: 3, Parent: 1, Device: facts.DeviceNumber{Minor: 7}, Root: "/\xff", MountPoint: "/\xfe\x80", FSType: "tmpfs", Source: "\xc0", Options: "rw", SuperOptions: "rw"},
		},
		{
			"a btrfs subvolume",
			"2545 1152 0:25 /@/sub /data rw - btrfs /dev/mapper/vg-data rw,subvol=/@/sub",
			Entry{ID: 2545, Parent: 1152, Device: facts.DeviceNumber{Minor: 25}, Root: "/@/sub", MountPoint: "/data", FSType: "btrfs", Source: "/dev/mapper/vg-data", Options: "rw", SuperOptions: "rw,subvol=/@/sub"},
		},
	} {
		t.Run(tc.name, func(t *testing.T) {
			got := slices.Collect(parse(t, tc.line+"\n").All())
			if diff := cmp.Diff([]Entry{tc.want}, got); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestATableThatDoesNotParseIsAnError(t *testing.T) {
	for _, line := range []string{
		"nonsense", "1 2 3", "1 0 0:1 / / rw shared:x - tmpfs t rw", "1 0 0:1 / / rw shared:0 - tmpfs t rw",
		"1 0 01 / / rw - tmpfs t rw", "1 0 0:1 / / rw tmpfs t rw x y z", "4294967296 0 0:1 / / rw - tmpfs t rw",
		"1 0 0:1 / / rw shared:1 - cifs //srv/a rw,unc=//srv/b - c d e",
	} {
		good := "27 1 254:0 / / rw - ext4 /dev/vda rw\n"
		if table, err := ReadTable(strings.NewReader(good + line + "\n" + good)); err == nil {
			t.Errorf("%q: %d entries and no error", line, table.Len())
		}
	}
}

func TestALongLineLosesOnlyItsSuperblockOptions(t *testing.T) {
	for _, length := range []int{maxLine - 200, maxLine, 64 << 10, 3 << 20} {
		lower := strings.Repeat("/layer", length/6)
		text := "27 1 254:0 / / rw - ext4 /dev/vda rw\n" +
			"30 27 0:9 / /o rw shared:4 - overlay o rw,lowerdir=" + lower + "\n" +
			"31 30 0:10 / /o/p rw - tmpfs t rw\n"
		table := parse(t, text)
		if e, ok := table.At("/o"); !ok || e.State.Peer != 4 || table.Len() != 3 || (e.SuperOptions == "") != (length >= maxLine) {
			t.Errorf("%d bytes: %d options kept, %d entries, %v", length, len(e.SuperOptions), table.Len(), ok)
		}
		if e, ok := table.At("/o/p"); !ok || e.SuperOptions != "rw" {
			t.Errorf("%d bytes: the next line is %+v %v", length, e, ok)
		}
	}
}

const root = "27 1 254:0 / / rw shared:1 - ext4 /dev/vda rw\n"

func TestTheCoveringMountIsTheOneThatAPathReaches(t *testing.T) {
	for _, tc := range []struct {
		name, table string
		paths       map[string]int // path to mount id; 0 is none
	}{
		{
			"whole components, not string prefixes (/data is not above /database)",
			root + "30 27 8:1 / /data rw - xfs a rw\n",
			map[string]int{"/data": 30, "/data/x": 30, "/database": 27, "/dat": 27, "/": 27, "/data/../data/": 30, "data": 0, "": 0},
		},
		{
			"stacked, bottom first: /run private below, shared on top (L2, M89)",
			root + "40 27 0:20 / /run rw - tmpfs a rw\n41 40 0:21 / /run rw shared:9 - tmpfs b rw\n",
			map[string]int{"/run": 41, "/run/x": 41},
		},
		{
			"the inverse stack",
			root + "40 27 0:20 / /run rw shared:9 - tmpfs a rw\n41 40 0:21 / /run rw - tmpfs b rw\n",
			map[string]int{"/run": 41},
		},
		{
			"tucked: a mount came in below one that is listed before it",
			root + "40 50 0:20 / /v rw - tmpfs top rw\n50 27 0:21 / /v rw - tmpfs tucked rw\n",
			map[string]int{"/v": 40, "/v/x": 40},
		},
		{
			"three deep, listed in any order",
			"43 42 0:23 / /v rw - tmpfs c rw\n" + root + "42 41 0:22 / /v rw - tmpfs b rw\n41 27 0:21 / /v rw - tmpfs a rw\n",
			map[string]int{"/v": 43},
		},
		{
			"a parent overmounted later hides what is below it",
			root + "50 27 0:20 / /a rw - tmpfs a rw\n51 50 0:21 / /a/b rw - tmpfs b rw\n52 50 0:22 / /a rw - tmpfs over rw\n",
			map[string]int{"/a/b": 52, "/a": 52},
		},
		{
			"and what is mounted on the upper one is seen",
			root + "50 27 0:20 / /a rw - tmpfs a rw\n51 50 0:21 / /a/b rw - tmpfs b rw\n52 50 0:22 / /a rw - tmpfs o rw\n53 52 0:23 / /a/b rw - tmpfs n rw\n",
			map[string]int{"/a/b": 53, "/a/b/c": 53, "/a/c": 52},
		},
		{
			"rootfs below the root, its own parent",
			"1 1 0:2 / / rw - rootfs rootfs rw\n" + "27 1 254:0 / / rw - ext4 /dev/vda rw\n28 1 0:3 / /x rw - tmpfs hidden rw\n",
			map[string]int{"/": 27, "/x": 27},
		},
		{
			"a container: the root's parent is outside",
			"900 850 0:91 / / rw master:7 - overlay o rw\n901 900 0:92 / /data rw master:313 - xfs d rw\n",
			map[string]int{"/": 900, "/data/x": 901},
		},
		{
			"a chroot that is no mount",
			"30 27 0:21 / /proc rw - proc proc rw\n31 30 0:22 / /proc/sys rw - tmpfs t rw\n",
			map[string]int{"/": 0, "/etc": 0, "/proc/1": 30, "/proc/sys/x": 31},
		},
		{
			"a root that is gone does not mislead",
			root + "30 27 8:1 /gone//deleted /data rw - xfs a rw\n",
			map[string]int{"/data/x": 30},
		},
		{
			"circles of a hostile table end",
			"30 31 0:1 / / rw - tmpfs a rw\n31 30 0:1 / / rw - tmpfs b rw\n32 32 0:1 / /x rw - tmpfs c rw\n32 32 0:1 / /x rw - tmpfs c rw\n",
			map[string]int{"/": 0},
		},
		{"empty", "", map[string]int{"/": 0, "/a": 0}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			table := parse(t, tc.table)
			for p, want := range tc.paths {
				if e, ok := table.Covering(p); e.ID != want || ok != (want != 0) {
					t.Errorf("%q is on mount %d (%v), want %d", p, e.ID, ok, want)
				}
			}
		})
	}
}

func TestSharedBelowASlaveIsNotForgotten(t *testing.T) {
	// L6, M44: looks shared, does not reach the host.
	e, ok := parse(t, "591 558 8:3 / / rw shared:313 master:1 - ext4 a rw\n").At("/")
	if want := (facts.MountState{Peer: 313, Master: 1}); !ok || e.State != want {
		t.Errorf("%+v, want %+v", e.State, want)
	}
}

func TestQuestionsToATable(t *testing.T) {
	table := parse(t, root+
		"30 27 8:1 / /a rw - xfs a rw\n31 30 8:2 / /a/b rw - xfs b rw\n32 27 8:1 /s /a-b rw - xfs a rw\n"+
		"33 31 8:3 / /a/b/c rw - xfs c rw\n34 31 8:4 / /a/b rw - xfs d rw\n35 27 8:5 / /a\\040b rw - xfs e rw\n")
	ids := func(entries []Entry) []int {
		var all []int
		for _, e := range entries {
			all = append(all, e.ID)
		}
		return all
	}
	for p, want := range map[string][]int{"/a": {34}, "/": {30, 35, 32, 34}, "/a/b": nil, "/a/": {34}, "a": nil, "/none": nil} {
		if diff := cmp.Diff(want, ids(table.Below(p))); diff != "" {
			t.Errorf("below %s: %s", p, diff)
		}
	}
	if diff := cmp.Diff([]int{30, 32}, ids(table.ByDevice(facts.DeviceNumber{Major: 8, Minor: 1}))); diff != "" {
		t.Error(diff)
	}
	if all := table.ByDevice(facts.DeviceNumber{Major: 9, Minor: 1}); all != nil {
		t.Errorf("no such device: %v", all)
	}
	for p, want := range map[string]int{"/a/b": 34, "/a/b/c": 0, "/a": 30, "/a/": 30, "/x": 0, "a": 0} {
		if e, ok := table.At(p); e.ID != want || ok != (want != 0) {
			t.Errorf("at %s: %d %v, want %d", p, e.ID, ok, want)
		}
	}
	if e, ok := table.ByID(33); !ok || e.MountPoint != "/a/b/c" {
		t.Errorf("by id: %+v %v", e, ok)
	}
	if _, ok := table.ByID(99); ok {
		t.Error("a mount that is not there was found")
	}
}

// bigTable is the text of a node with n volumes.
func bigTable(n int) []byte {
	var b bytes.Buffer
	b.WriteString(root)
	b.WriteString("28 27 0:20 / /run rw shared:2 - tmpfs tmpfs rw\n")
	for i := range n {
		fmt.Fprintf(&b, "%d 27 253:%d / /var/lib/kubelet/pods/%08x-0000-4000-8000-000000000000/volumes/kubernetes.io~csi/pvc-%08d/mount rw,relatime shared:%d - xfs /dev/mapper/vg0-pvc--%d rw,attr2,inode64,logbufs=8,logbsize=32k,noquota\n", 100+i, i, i, i, 10+i, i)
	}
	return b.Bytes()
}

func TestALargeTableIsReadWhole(t *testing.T) {
	const n = 50_000
	table := parse(t, string(bigTable(n)))
	if table.Len() != n+2 {
		t.Fatalf("%d entries, want %d", table.Len(), n+2)
	}
	for _, i := range []int{0, 1, n / 2, n - 1} {
		e, ok := table.ByID(100 + i)
		if !ok {
			t.Fatalf("mount %d is missing", 100+i)
		}
		if top, ok := table.Covering(e.MountPoint + "/x"); !ok || top.ID != e.ID || top.State.Peer != 10+i {
			t.Errorf("volume %d: %+v %v", i, top, ok)
		}
	}
}
