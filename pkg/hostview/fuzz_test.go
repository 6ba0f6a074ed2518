package hostview

import (
	"bytes"
	"testing"

	"github.com/mountward/mountward/pkg/facts"
)

func FuzzReadTable(f *testing.F) {
	f.Add([]byte(root+"30 27 8:1 / /data rw - xfs a rw\n"), "/data/x")
	f.Add([]byte(root+"40 50 0:20 / /v rw - tmpfs a rw\n50 27 0:21 / /v rw master:3 - tmpfs b rw\n"), "/v")
	f.Add([]byte("30 31 0:1 / / rw - a a rw\n31 30 0:1 / / rw - b b rw\n"), "/")
	f.Add([]byte(`5 5 0:1 / /\134\040 rw - t t rw`), `/\ `)
	f.Add([]byte("1 0 0:1 / /a//deleted rw - t t rw\n"), "/a//deleted")
	f.Fuzz(func(t *testing.T, text []byte, path string) {
		table, err := ReadTable(bytes.NewReader(text))
		if err != nil {
			return
		}
		n := 0
		for range table.All() {
			n++
		}
		if n != table.Len() {
			t.Fatalf("%d entries of %d", n, table.Len())
		}
		for _, top := range table.Below("/") {
			if at, ok := table.At(top.MountPoint); !ok || at.ID != top.ID {
				t.Errorf("%q is listed as visible, but there is %+v", top.MountPoint, at)
			}
		}
		e, ok := table.Covering(path)
		if !ok {
			return
		}
		clean, absolute := facts.CleanAbs(path)
		if !absolute || !facts.Within(clean, e.MountPoint) {
			t.Errorf("%q is said to be on a mount at %q", path, e.MountPoint)
		}
		if again, ok := table.At(e.MountPoint); !ok || again != e {
			t.Errorf("the mount at %q covers %q, but is not visible", e.MountPoint, path)
		}
		for other := range table.All() {
			if other.Parent == e.ID && other.ID != e.ID && other.MountPoint == e.MountPoint && e.Parent != other.ID && uniqueIDs(table) {
				t.Errorf("mount %d is hidden by %d", e.ID, other.ID)
			}
		}
	})
}

func uniqueIDs(t *Table) bool {
	seen := map[int]bool{}
	for e := range t.All() {
		if seen[e.ID] {
			return false
		}
		seen[e.ID] = true
	}
	return true
}
