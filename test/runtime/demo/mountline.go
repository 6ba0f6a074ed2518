//go:build linux

package main

import (
	"bufio"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/mountward/mountward/test/runtime/harness"
)

// mountLine returns the topmost mount on a path in the table of a process, and
// its line as the kernel has it; nil and "" for none.
func mountLine(pid int, point string) (*harness.Mount, string, error) {
	mounts, err := harness.Mountinfo(pid)
	if err != nil {
		return nil, "", err
	}
	mount := mounts.At(point)
	if mount == nil {
		return nil, "", nil
	}
	f, err := os.Open(filepath.Join("/proc", strconv.Itoa(pid), "mountinfo"))
	if err != nil {
		return nil, "", fmt.Errorf("open mount table: %w", err)
	}
	defer f.Close()
	scanner := bufio.NewScanner(f)
	for scanner.Scan() {
		if strings.HasPrefix(scanner.Text(), strconv.Itoa(mount.ID)+" ") {
			return mount, scanner.Text(), nil
		}
	}
	return nil, "", errors.Join(fmt.Errorf("find mount %d again: not there", mount.ID), scanner.Err())
}
