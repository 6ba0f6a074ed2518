package linux

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"golang.org/x/sys/unix"
)

// bind binds a free loop device to a file until the test is over; should the
// test be killed, the kernel unbinds it (LO_FLAGS_AUTOCLEAR).
func bind(t *testing.T, file string) string {
	t.Helper()
	control, err := os.OpenFile("/dev/loop-control", os.O_RDWR, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer control.Close()
	backing, err := os.Open(file)
	if err != nil {
		t.Fatal(err)
	}
	defer backing.Close()
	for range 20 {
		n, err := unix.IoctlRetInt(int(control.Fd()), unix.LOOP_CTL_GET_FREE)
		if err != nil {
			t.Fatal(err)
		}
		name := fmt.Sprintf("loop%d", n)
		loop, err := os.OpenFile("/dev/"+name, os.O_RDONLY, 0)
		if err != nil {
			t.Fatal(err)
		}
		err = unix.IoctlLoopConfigure(int(loop.Fd()), &unix.LoopConfig{
			Fd: uint32(backing.Fd()), Info: unix.LoopInfo64{Flags: unix.LO_FLAGS_READ_ONLY | unix.LO_FLAGS_AUTOCLEAR},
		})
		if err == nil {
			t.Cleanup(func() { loop.Close() })
			return name
		}
		loop.Close()
		if !errors.Is(err, unix.EBUSY) { // another took it meanwhile
			t.Fatal(err)
		}
	}
	t.Fatal("no loop device is free")
	return ""
}

func TestLoopStatus(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("needs root: loop devices")
	}
	file := filepath.Join(t.TempDir(), "image")
	if err := os.WriteFile(file, make([]byte, 1<<20), 0o600); err != nil {
		t.Fatal(err)
	}
	var st unix.Stat_t
	if err := unix.Stat(file, &st); err != nil {
		t.Fatal(err)
	}
	name := bind(t, file)
	want := LoopStatus{Major: unix.Major(st.Dev), Minor: unix.Minor(st.Dev)}
	if got, err := LoopStatusOf("/dev", name); err != nil || got != want {
		t.Errorf("over a file: %+v %v, want %+v", got, err, want)
	}
	if err := os.Remove(file); err != nil {
		t.Fatal(err)
	}
	if got, err := LoopStatusOf("/dev", name); err != nil || got != want {
		t.Errorf("over a deleted file: %+v %v, want %+v", got, err, want)
	}

	above := bind(t, "/dev/"+name)
	if err := unix.Stat("/dev/"+name, &st); err != nil {
		t.Fatal(err)
	}
	want = LoopStatus{
		Major: unix.Major(st.Dev), Minor: unix.Minor(st.Dev),
		BlockMajor: unix.Major(st.Rdev), BlockMinor: unix.Minor(st.Rdev),
	}
	if got, err := LoopStatusOf("/dev", above); err != nil || got != want {
		t.Errorf("over a block device: %+v %v, want %+v", got, err, want)
	}
}

func TestWhatIsNoLoopDeviceIsRefused(t *testing.T) {
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "loop0"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink("/dev/null", filepath.Join(dir, "loop1")); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"loop0", "loop1", "loop2"} {
		if got, err := LoopStatusOf(dir, name); err == nil {
			t.Errorf("%s = %+v", name, got)
		}
	}
}
