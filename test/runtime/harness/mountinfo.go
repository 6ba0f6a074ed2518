//go:build linux

package harness

import (
	"bufio"
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"
)

// Mount is a line of a mount table, see proc_pid_mountinfo(5). The numbers of
// peer groups are zero where there is none.
type Mount struct {
	ID, Parent    int
	Device        string // MAJ:MIN
	Root          string // what of the file system is mounted
	Point         string
	Options       []string // of the mount
	Shared        int      // the peer group
	Master        int      // the peer group that it receives from
	PropagateFrom int      // the nearest one of those that the reader can see
	Unbindable    bool
	FSType        string
	Source        string
	SuperOptions  []string // of the file system
}

// Propagation is the propagation as findmnt(8) prints it.
func (m *Mount) Propagation() string {
	switch {
	case m.Shared != 0 && m.Master != 0:
		return "shared,slave"
	case m.Shared != 0:
		return "shared"
	case m.Master != 0:
		return "private,slave"
	case m.Unbindable:
		return "unbindable"
	}
	return "private"
}

// Mounts is a mount table, in the order of the kernel.
type Mounts []Mount

// At is the topmost mount on a path, or nil.
func (ms Mounts) At(point string) *Mount {
	for i := len(ms) - 1; i >= 0; i-- {
		if ms[i].Point == point {
			return &ms[i]
		}
	}
	return nil
}

// Mountinfo is the mount table of a process, or of the caller for 0.
func Mountinfo(pid int) (Mounts, error) {
	name := "self"
	if pid != 0 {
		name = strconv.Itoa(pid)
	}
	f, err := os.Open("/proc/" + name + "/mountinfo")
	if err != nil {
		return nil, fmt.Errorf("open mount table: %w", err)
	}
	defer f.Close()
	return ParseMountinfo(f)
}

// Mounted says whether a path is a mount point in the mount namespace of the
// caller, which is the node's.
func Mounted(path string) (bool, error) {
	mounts, err := Mountinfo(0)
	if err != nil {
		return false, err
	}
	return mounts.At(path) != nil, nil
}

// ParseMountinfo reads a mount table as it is in a file of /proc.
func ParseMountinfo(r io.Reader) (Mounts, error) {
	var mounts Mounts
	in := bufio.NewReader(r)
	for {
		line, err := in.ReadString('\n')
		if line != "" {
			m, err := parseMount(strings.TrimSuffix(line, "\n"))
			if err != nil {
				return nil, err
			}
			mounts = append(mounts, m)
		}
		if err == io.EOF {
			return mounts, nil
		}
		if err != nil {
			return nil, fmt.Errorf("read mount table: %w", err)
		}
	}
}

func parseMount(line string) (Mount, error) {
	head, tail, ok := strings.Cut(line, " - ")
	fields, last := strings.Split(head, " "), strings.SplitN(tail, " ", 3)
	if !ok || len(fields) < 6 || len(last) != 3 {
		return Mount{}, fmt.Errorf("parse mount %q: missing fields", line)
	}
	m := Mount{
		Device:       fields[2],
		Root:         unescape(fields[3]),
		Point:        unescape(fields[4]),
		Options:      strings.Split(fields[5], ","),
		FSType:       last[0],
		Source:       unescape(last[1]),
		SuperOptions: strings.Split(last[2], ","),
	}
	numbers := map[string]*int{"shared": &m.Shared, "master": &m.Master, "propagate_from": &m.PropagateFrom}
	set := func(to *int, text string) error {
		n, err := strconv.Atoi(text)
		if err != nil {
			return fmt.Errorf("parse mount %q: %w", line, err)
		}
		*to = n
		return nil
	}
	if err := set(&m.ID, fields[0]); err != nil {
		return Mount{}, err
	}
	if err := set(&m.Parent, fields[1]); err != nil {
		return Mount{}, err
	}
	for _, field := range fields[6:] {
		name, value, _ := strings.Cut(field, ":")
		if name == "unbindable" {
			m.Unbindable = true
		} else if to := numbers[name]; to != nil {
			if err := set(to, value); err != nil {
				return Mount{}, err
			}
		}
	}
	return m, nil
}

// unescape undoes the octal escapes of space, tab, newline, backslash and hash.
func unescape(s string) string {
	return strings.NewReplacer(`\040`, " ", `\011`, "\t", `\012`, "\n", `\134`, `\`, `\043`, "#").Replace(s)
}
