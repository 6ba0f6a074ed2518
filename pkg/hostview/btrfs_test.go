package hostview

import (
	"context"
	"os"
	"syscall"
	"testing"

	"github.com/mountward/mountward/pkg/internal/linux/linuxtest"
)

func TestABtrfsTellsItsIDOfEveryDirectoryAndFile(t *testing.T) {
	dir := stage(t)
	for i, devices := range []int{1, 2} {
		nodes := linuxtest.Btrfs(t, devices)
		at := mkdir(t, dir+"/"+string(rune('a'+i)))
		data := ""
		for _, node := range nodes {
			data += ",device=" + node
		}
		mount(t, nodes[0], at, "btrfs", 0, data[1:])
		// Not only detached: the loop devices are wanted back.
		t.Cleanup(func() {
			if err := syscall.Unmount(at, 0); err != nil {
				t.Errorf("unmount %s: %v", at, err)
			}
		})
		linuxtest.Subvolume(t, at, "sub")
		write(t, at+"/sub/file", 1)
		mkdir(t, at+"/sub/dir")
		// One file of it by itself, in a directory of another file system.
		alone := write(t, dir+"/alone"+string(rune('a'+i)), 0)
		mount(t, at+"/sub/file", alone, "", syscall.MS_BIND, "")
		t.Cleanup(func() { detach(t, alone) })
		v := openView(t, Options{})
		first, err := v.Btrfs(context.Background(), at)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := os.Stat("/sys/fs/btrfs/" + first.FSID); err != nil || first.Devices != devices {
			t.Errorf("%+v: %v, want %d devices and an id that sysfs has", first, err, devices)
		}
		for _, path := range []string{"/sub", "/sub/file", "/sub/dir"} {
			if got, err := v.Btrfs(context.Background(), at+path); err != nil || got != first {
				t.Errorf("%s: %+v %v, want %+v", path, got, err, first)
			}
		}
		_, err = v.Btrfs(context.Background(), alone)
		refused(t, "a file that is mounted by itself", err, "mounted by itself")
	}
	_, err := openView(t, Options{}).Btrfs(context.Background(), dir)
	refused(t, "tmpfs", err, "inappropriate ioctl")
}
