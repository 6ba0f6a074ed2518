//go:build linux

package guest

import (
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"
	"time"
)

// TestMain fails where the tests left something on the node.
func TestMain(m *testing.M) {
	before, err := things()
	code := 1
	if err == nil {
		code = m.Run()
	}
	if err == nil {
		err = nothingMoreThan(before)
	}
	if err != nil {
		fmt.Println("look for what is left behind:", err)
		code = 1
	}
	os.Exit(code)
}

// nothingMoreThan waits until nothing is there but what was before: udev can
// hold a device for a moment after it was released.
func nothingMoreThan(before []string) error {
	for end := time.Now().Add(patience); ; time.Sleep(100 * time.Millisecond) {
		after, err := things()
		if err != nil {
			return err
		}
		left := slices.DeleteFunc(after, func(thing string) bool { return slices.Contains(before, thing) })
		if len(left) == 0 {
			return nil
		}
		if time.Now().After(end) {
			return errors.New(strings.Join(left, "; "))
		}
	}
}

// things is what a test could leave: mounts, devices, containers.
func things() ([]string, error) {
	var all []string
	for _, args := range [][]string{
		{"findmnt", "--list", "--noheadings", "--output", "TARGET,SOURCE"},
		{"lsblk", "--list", "--noheadings", "--output", "NAME,TYPE"},
		{"losetup", "--list", "--noheadings", "--output", "NAME,BACK-FILE"},
		{"/usr/local/bin/ctr", "--namespace", "k8s.io", "containers", "ls", "--quiet"},
		{"sh", "-c", "ls -d /var/tmp/node-* /var/lib/kubelet/pods/* 2>/dev/null || true"},
	} {
		out, err := run(args[0], args[1:]...)
		if err != nil {
			return nil, err
		}
		for _, line := range lines(out) {
			all = append(all, strings.Join(strings.Fields(line), " "))
		}
	}
	return all, nil
}
