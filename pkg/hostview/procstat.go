package hostview

import (
	"fmt"
	"os"
	"strconv"
	"strings"
)

// Where a field of /proc/<pid>/stat stands behind the name; proc(5) counts it
// from 1, and the name is the second.
const (
	statParent = 4 - 3
	statStart  = 22 - 3
)

// statField reads a number of <proc>/<pid>/stat. The name before it is in
// brackets and may hold any of them.
func statField(proc string, pid, at int) (uint64, error) {
	file := fmt.Sprintf("%s/%d/stat", proc, pid)
	text, err := os.ReadFile(file)
	if err != nil {
		return 0, err
	}
	fields := strings.Fields(string(text[strings.LastIndexByte(string(text), ')')+1:]))
	if len(fields) <= at {
		return 0, fmt.Errorf("read %s: no field %d in it", file, at+3)
	}
	n, err := strconv.ParseUint(fields[at], 10, 64)
	if err != nil {
		return 0, fmt.Errorf("read %s: field %d is %q", file, at+3, fields[at])
	}
	return n, nil
}

// parentOf reads the number of the parent of a process.
func parentOf(proc string, pid int) (int, error) {
	parent, err := statField(proc, pid, statParent)
	if err == nil && (parent == 0 || parent > 1<<31-1) {
		err = fmt.Errorf("process %d: parent %d", pid, parent)
	}
	return int(parent), err
}

// RuntimeIdentity names the process whose view it is as no other one is named
// until the node boots again: "<pid>@<clock ticks from boot to its start>". It
// is "" where that cannot be told.
func (v *View) RuntimeIdentity() string {
	start, err := statField(v.proc, v.pid, statStart)
	if err != nil {
		return ""
	}
	if v.process != nil {
		if alive, err := v.process.Alive(); err != nil || !alive {
			return "" // it was another one that was read, or a zombie
		}
	}
	return fmt.Sprintf("%d@%d", v.pid, start)
}
