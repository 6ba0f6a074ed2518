package pins

import (
	"errors"
	"os"
	"runtime"
	"strings"
	"syscall"
)

// more are the words of a role that few tests have: privateat=DIRECTORY,
// bind=FROM:TO, umount=PATH, overlay=LOWER:UPPER:WORK:AT, and leave=DIRECTORY:FILE
// for a thread of its own that goes there and opens the file.
func more(do, what string) error {
	part := append(strings.Split(what, ":"), "", "", "", "")
	switch do {
	case "privateat":
		return syscall.Mount("", what, "", syscall.MS_PRIVATE, "")
	case "bind":
		return syscall.Mount(part[0], part[1], "", syscall.MS_BIND, "")
	case "umount":
		return syscall.Unmount(what, 0)
	case "overlay":
		return syscall.Mount("overlay", part[3], "overlay", 0, "lowerdir="+part[0]+",upperdir="+part[1]+",workdir="+part[2])
	case "leave":
		return leave(part[0], part[1])
	case "netns":
		return enterNet(what)
	}
	return errors.New("no such word")
}

// leave has a thread leave the process, with its directories and descriptors.
func leave(dir, file string) error {
	return onThread(func() error {
		if err := syscall.Unshare(syscall.CLONE_FS | syscall.CLONE_FILES); err != nil {
			return err
		}
		if err := os.Chdir(dir); err != nil {
			return err
		}
		_, err := syscall.Open(file, syscall.O_RDONLY, 0)
		return err
	})
}

// enterNet has a thread go into a network namespace.
func enterNet(file string) error {
	return onThread(func() error {
		fd, err := syscall.Open(file, syscall.O_RDONLY|syscall.O_CLOEXEC, 0)
		if err != nil {
			return err
		}
		defer syscall.Close(fd)
		setns := map[string]uintptr{"amd64": 308, "arm64": 268}[runtime.GOARCH]
		if _, _, errno := syscall.RawSyscall(setns, uintptr(fd), syscall.CLONE_NEWNET, 0); errno != 0 {
			return errno
		}
		return nil
	})
}

// onThread does something on a thread that lasts as long as the process and is
// not its first one.
func onThread(do func() error) error {
	done := make(chan error)
	var try func()
	try = func() {
		runtime.LockOSThread() // and never unlocked
		if syscall.Gettid() == os.Getpid() {
			go try()
		} else {
			done <- do()
		}
		select {}
	}
	go try()
	return <-done
}
