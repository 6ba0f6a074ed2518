package hostview

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestALineIsWrittenAsTheKernelWroteIt(t *testing.T) {
	for _, line := range []string{
		`25 0 253:1 / / rw,noatime - ext4 /dev/vda1 rw`,
		`591 558 8:3 / / rw,relatime shared:313 master:1 - xfs /dev/sda3 rw,attr2`,
		`486 28 252:1 /a\134040b /mnt/foo\040bar rw unbindable - ext4 /dev/my\040disk rw`,
		`30 25 0:5 /x\012y /mnt/tab\011 rw - fuse.s3fs none rw,user_id=0`,
		`31 25 0:6 //deleted /mnt/"quoted" rw shared:2 - tmpfs tmpfs rw,size=1k`,
	} {
		table, err := ReadTable(strings.NewReader(line + "\n"))
		if err != nil {
			t.Fatal(err)
		}
		for entry := range table.All() {
			if diff := cmp.Diff(line, entry.Line()); diff != "" {
				t.Error(diff)
			}
		}
	}
}

// What a table keeps is in the line, whatever the bytes: reading it again gives
// the same entry, and a name cannot make a second line.
func FuzzALineReadsAsItsEntry(f *testing.F) {
	f.Add("/a b", "/mnt/\n1 2 3", "src\\", "fuse.x")
	f.Fuzz(func(t *testing.T, root, point, source, fstype string) {
		if root == "" || point == "" || source == "" || fstype == "" || strings.ContainsAny(root+point+source+fstype, "\x00") {
			return
		}
		entry := Entry{ID: 1, Parent: 2, Root: root, MountPoint: point, FSType: fstype, Source: source, Options: "rw", SuperOptions: "rw"}
		line := entry.Line()
		if strings.Contains(line, "\n") {
			t.Fatalf("two lines: %q", line)
		}
		table, err := ReadTable(strings.NewReader(line + "\n"))
		if err != nil {
			return // other white space than the kernel's own
		}
		for again := range table.All() {
			if again.ID == entry.ID && again.Root == entry.Root && again.MountPoint == entry.MountPoint && again.Line() != line {
				t.Errorf("%q is read as %q", line, again.Line())
			}
		}
	})
}
