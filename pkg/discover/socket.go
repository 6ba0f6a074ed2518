package discover

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"slices"
	"strings"
)

// The bounds of the list of sockets that is read.
const (
	maxSocketList = 16 << 20
	acceptsConn   = "00010000" // __SO_ACCEPTCON: somebody listens
)

// sockets returns the paths of the unix sockets in the network namespace of
// process 1 that somebody listens on and that look like a runtime's.
func sockets(proc string) ([]string, error) {
	for _, name := range []string{"/1/net/unix", "/net/unix"} {
		f, err := os.Open(proc + name)
		if errors.Is(err, fs.ErrNotExist) || errors.Is(err, fs.ErrPermission) {
			continue
		}
		if err != nil {
			return nil, err
		}
		defer f.Close()
		paths, err := listening(io.LimitReader(f, maxSocketList))
		if err != nil {
			return nil, fmt.Errorf("read %s: %w", proc+name, err)
		}
		return paths, nil
	}
	return nil, nil
}

// listening reads the kernel's list of unix sockets, sorted. A path is the rest
// of its line.
func listening(r io.Reader) ([]string, error) {
	var paths []string
	lines := bufio.NewScanner(r)
	for lines.Scan() {
		rest, fields := lines.Text(), make([]string, 0, 7)
		for len(fields) < 7 {
			field, after, ok := strings.Cut(strings.TrimLeft(rest, " "), " ")
			if !ok {
				break
			}
			fields, rest = append(fields, field), after
		}
		if len(fields) == 7 && fields[3] == acceptsConn && strings.HasPrefix(rest, "/") && runtimeSocket(rest) {
			paths = append(paths, rest)
		}
	}
	slices.Sort(paths)
	return slices.Compact(paths), lines.Err()
}

func runtimeSocket(p string) bool {
	switch path.Base(p) {
	case "containerd.sock", "crio.sock", "cri-dockerd.sock":
		return true
	default:
		return false
	}
}
