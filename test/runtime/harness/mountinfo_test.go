//go:build linux

package harness

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestParseMountinfo(t *testing.T) {
	const text = `36 35 98:0 /mnt1 /mnt2 rw,noatime master:1 - ext3 /dev/root rw,errors=continue
37 36 0:5 / /a\040b ro shared:7 master:3 propagate_from:2 - tmpfs x\134y ro
38 36 0:6 / /c rw unbindable - tmpfs  rw
39 36 0:6 / /c rw - tmpfs top rw
`
	got, err := ParseMountinfo(strings.NewReader(text))
	if err != nil {
		t.Fatal(err)
	}
	rw := []string{"rw"}
	want := Mounts{
		{36, 35, "98:0", "/mnt1", "/mnt2", []string{"rw", "noatime"}, 0, 1, 0, false, "ext3", "/dev/root", []string{"rw", "errors=continue"}},
		{37, 36, "0:5", "/", "/a b", []string{"ro"}, 7, 3, 2, false, "tmpfs", `x\y`, []string{"ro"}},
		{38, 36, "0:6", "/", "/c", rw, 0, 0, 0, true, "tmpfs", "", rw},
		{39, 36, "0:6", "/", "/c", rw, 0, 0, 0, false, "tmpfs", "top", rw},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("mounts (-want +got):\n%s", diff)
	}
	for i, want := range []string{"private,slave", "shared,slave", "unbindable", "private"} {
		if got := got[i].Propagation(); got != want {
			t.Errorf("propagation of %s = %s, want %s", text, got, want)
		}
	}
	if got := got.At("/c").Source; got != "top" {
		t.Errorf("mount on /c = %q, want the topmost", got)
	}
	if got.At("/none") != nil {
		t.Error("mount on /none")
	}
}

func TestParseMountinfoErrors(t *testing.T) {
	for _, text := range []string{"1 2 3:4 / / rw", "x 2 3:4 / / rw - a b c", "1 2 3:4 / / rw shared:z - a b c", "\n"} {
		if got, err := ParseMountinfo(strings.NewReader(text)); err == nil {
			t.Errorf("parse %q = %v, no error", text, got)
		}
	}
}
