// Package linuxtest makes real devices and file systems for tests.
package linuxtest

import (
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"syscall"
	"testing"
	"unsafe"
)

// The ioctls of linux/loop.h, and where struct loop_config has its flags.
const (
	loopConfigure = 0x4c0a
	loopGetFree   = 0x4c82
	configSize    = 304
	configFlags   = 60
	autoclear     = 4
)

// Loop binds a free loop device to a new sparse file until the test is over and
// nothing is mounted from it, and returns its node. Should the test be killed,
// the kernel unbinds it.
func Loop(t testing.TB, size int64) string {
	t.Helper()
	return LoopIn(t, t.TempDir(), size)
}

// LoopIn is Loop with the file "disk" in a directory.
func LoopIn(t testing.TB, dir string, size int64) string {
	t.Helper()
	if os.Geteuid() != 0 {
		t.Skip("needs root: loop devices")
	}
	file, err := os.Create(filepath.Join(dir, "disk"))
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	if err := file.Truncate(size); err != nil {
		t.Fatal(err)
	}
	control, err := os.OpenFile("/dev/loop-control", os.O_RDWR, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer control.Close()
	for range 20 {
		n, err := ioctl(control, loopGetFree, 0)
		if err != nil {
			t.Fatal(err)
		}
		name := fmt.Sprintf("/dev/loop%d", n)
		device, err := os.OpenFile(name, os.O_RDWR, 0)
		if err != nil {
			t.Fatal(err)
		}
		var config [configSize]byte
		binary.NativeEndian.PutUint32(config[:], uint32(file.Fd()))
		binary.NativeEndian.PutUint32(config[configFlags:], autoclear)
		if _, err = ioctl(device, loopConfigure, uintptr(unsafe.Pointer(&config))); err == nil {
			t.Cleanup(func() { _ = device.Close() }) // unbinds it
			return name
		}
		_ = device.Close()
		if !errors.Is(err, syscall.EBUSY) { // another took it meanwhile
			t.Fatal(err)
		}
	}
	t.Fatal("no loop device is free")
	return ""
}

func ioctl(f *os.File, request, argument uintptr) (int, error) {
	n, _, errno := syscall.Syscall(syscall.SYS_IOCTL, f.Fd(), request, argument)
	if errno != 0 {
		return 0, os.NewSyscallError("ioctl", errno)
	}
	return int(n), nil
}
