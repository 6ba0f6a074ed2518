package control

import (
	"fmt"
	"os"
	"path/filepath"
	"time"
)

const (
	socketName = "control.sock"
	maxAddress = 107 // bytes of a socket's path that the kernel takes; unix(7)
)

// The bounds of one connection. Nobody who means it needs a hundredth of them.
const (
	maxRequest  = 4 << 10 // bytes
	maxResponse = 4 << 20 // bytes
	messageTime = 2 * time.Second
)

// Path returns the socket of the daemon with this runtime directory
// (settings.RuntimeDir).
func Path(dir string) string { return filepath.Join(dir, socketName) }

// address returns a path by which the kernel takes the name of a socket in a
// directory, however long the directory's own is, until it is released.
func address(dir, name string) (path string, release func(), err error) {
	if path = filepath.Join(dir, name); len(path) <= maxAddress {
		return path, func() {}, nil
	}
	d, err := os.Open(dir)
	if err != nil {
		return "", nil, err
	}
	return fmt.Sprintf("/proc/self/fd/%d/%s", d.Fd(), name), func() { _ = d.Close() }, nil
}
