package volumes

import (
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/mountward/mountward/pkg/facts"
	"github.com/mountward/mountward/pkg/hostview"
	"github.com/mountward/mountward/pkg/internal/linux/linuxtest"
)

// TestTheOverlayTellsTheFileSystemOfItsUpperDirectory also where the name leads
// elsewhere or nowhere, by the kernel's handle; a kernel without them does not,
// and what it is sure of rests on sizes.
func TestTheOverlayTellsTheFileSystemOfItsUpperDirectory(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("needs root: mounts")
	}
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	mountAt(t, "stage", dir, "tmpfs", "size=16m")
	mountAt(t, linuxtest.Ext4(t), dir+"/vol", "ext4", "")
	mkdir(t, dir+"/vol/up", dir+"/vol/work", dir+"/lower")
	mountAt(t, "overlay", dir+"/over", "overlay", "lowerdir="+dir+"/lower,upperdir="+dir+"/vol/up,workdir="+dir+"/vol/work")
	v := openView(t, hostview.RungStatmount)
	find := func(host UpperHost, path string) Upper {
		t.Helper()
		e, ok := realTable(t, v, os.Getpid()).At(dir + "/over")
		if !ok {
			t.Fatal("no overlay")
		}
		return FindUpper(t.Context(), host, e, path)
	}
	there := find(v, dir+"/over")
	if there.Verified.Truth != facts.Yes || !there.ByHandle || there.UUID == ([16]byte{}) || there.At.MountPoint != dir+"/vol" {
		t.Errorf("%+v", there)
	}
	if u := find(withoutHandles{v}, dir+"/over"); u.Verified.Truth != facts.Yes || u.ByHandle || u.UUID != ([16]byte{}) {
		t.Errorf("without handles: %+v", u)
	}
	if u := find(v, ""); u.Verified.Truth != facts.Unknown || u.UUID != ([16]byte{}) {
		t.Errorf("at no known place: %+v", u)
	}
	if err := syscall.Unmount(dir+"/vol", 0); err != nil {
		t.Fatal(err)
	}
	if u := find(v, dir+"/over"); u.Verified.Truth != facts.Unknown || u.UUID != there.UUID || u.At.Device != (facts.DeviceNumber{}) {
		t.Errorf("the name leads nowhere: %+v", u)
	}
	mkdir(t, dir+"/vol/up")
	if u := find(v, dir+"/over"); u.Verified.Truth != facts.No || !u.ByHandle || u.UUID != there.UUID {
		t.Errorf("the name leads to what was below: %+v", u)
	}
}
