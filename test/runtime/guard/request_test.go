//go:build linux

package guard_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// awaitRequest waits until something was sent to a process that stands still.
func awaitRequest(tb testing.TB, pid int) {
	tb.Helper()
	process, err := unix.PidfdOpen(pid, 0)
	if err != nil {
		tb.Fatal(err)
	}
	defer unix.Close(process)
	for end := time.Now().Add(20 * time.Second); ; time.Sleep(time.Millisecond) {
		if unread(process, pid) {
			return
		}
		if time.Now().After(end) {
			tb.Fatalf("nothing was sent to process %d", pid)
		}
	}
}

// unread reports whether a socket of a process has something to read.
func unread(process, pid int) bool {
	all, _ := filepath.Glob(fmt.Sprintf("/proc/%d/fd/*", pid))
	for _, path := range all {
		if target, err := os.Readlink(path); err != nil || !strings.HasPrefix(target, "socket:") {
			continue
		}
		number, _ := strconv.Atoi(filepath.Base(path)) // the kernel's own names
		fd, err := unix.PidfdGetfd(process, number, 0)
		if err != nil {
			continue
		}
		waiting, err := unix.IoctlGetInt(fd, unix.SIOCINQ)
		unix.Close(fd)
		if err == nil && waiting > 0 {
			return true
		}
	}
	return false
}
