//go:build linux

package main

import (
	"bufio"
	"bytes"
	"errors"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/sys/unix"

	"github.com/mountward/mountward/test/runtime/harness"
	"github.com/mountward/mountward/test/runtime/ward"
)

// With this variable the test program is the demo.
const beDemo = "MOUNTWARD_TEST_DEMO"

func TestMain(m *testing.M) {
	if os.Getenv(beDemo) != "" {
		main()
		return
	}
	os.Exit(m.Run())
}

func demoCommand(t *testing.T, args ...string) *exec.Cmd {
	t.Helper()
	harness.NeedsRoot(t)
	cmd := exec.Command("/proc/self/exe", args...)
	cmd.Env = append(os.Environ(), beDemo+"=1")
	return cmd
}

// verdicts are the first words of the lines that begin with one.
func verdicts(screen string) []string {
	var all []string
	for line := range strings.Lines(screen) {
		for _, word := range []string{"OK", "FAILED"} {
			if strings.HasPrefix(line, word+" ") {
				all = append(all, word)
			}
		}
	}
	return all
}

func TestEveryStepHoldsOnOneScreen(t *testing.T) {
	out, err := demoCommand(t).Output()
	screen := string(out)
	if err != nil {
		t.Fatalf("%v\n%s", err, screen)
	}
	if diff := cmp.Diff([]string{"OK", "OK", "OK", "OK", "OK", "OK"}, verdicts(screen)); diff != "" {
		t.Errorf("verdicts (-want +got):\n%s\n%s", diff, screen)
	}
	// 55, and a few where tmpfs stands for loop devices.
	if n := strings.Count(screen, "\n"); n > 60 {
		t.Errorf("%d lines are more than one screen", n)
	}
	for line := range strings.Lines(screen) {
		if strings.Contains(line, "\x1b") || len(strings.TrimSuffix(line, "\n")) > width {
			t.Errorf("line %q is coloured or longer than %d", line, width)
		}
	}
}

// TestStepsFailWithoutTheirPolicy: a demo that cannot fail shows nothing.
func TestStepsFailWithoutTheirPolicy(t *testing.T) {
	out, err := demoCommand(t, "-mode", "audit").Output()
	screen := string(out)
	var exit *exec.ExitError
	if !errors.As(err, &exit) || exit.ExitCode() != 1 {
		t.Errorf("error = %v, want exit code 1", err)
	}
	if diff := cmp.Diff([]string{"OK", "FAILED", "FAILED", "FAILED", "OK", "OK"}, verdicts(screen)); diff != "" {
		t.Errorf("verdicts (-want +got):\n%s\n%s", diff, screen)
	}
}

// TestInterruptLeavesNothing interrupts it where it has containers, mounts and
// loop devices.
func TestInterruptLeavesNothing(t *testing.T) {
	for _, signal := range []unix.Signal{unix.SIGINT, unix.SIGKILL} {
		t.Run(signal.String(), func(t *testing.T) {
			before := leftovers(t)
			cmd := demoCommand(t)
			out, err := cmd.StdoutPipe()
			if err != nil {
				t.Fatal(err)
			}
			if err := cmd.Start(); err != nil {
				t.Fatal(err)
			}
			reached := false
			for lines := bufio.NewScanner(out); lines.Scan() && !reached; {
				reached = strings.HasPrefix(lines.Text(), "(c)")
			}
			// An error says that it has ended, which Wait tells.
			_ = cmd.Process.Signal(signal)
			if err := cmd.Wait(); err == nil || !reached {
				t.Errorf("ended with %v, reached (c): %t", err, reached)
			}
			// The kernel takes mounts and devices down behind the last process.
			var left map[string]bool
			for deadline := time.Now().Add(30 * time.Second); time.Now().Before(deadline); time.Sleep(50 * time.Millisecond) {
				left = leftovers(t)
				maps.DeleteFunc(left, func(name string, _ bool) bool { return before[name] })
				if len(left) == 0 {
					return
				}
			}
			t.Errorf("left over: %v", left)
		})
	}
}

// leftovers lists loop devices of demos, processes that are one, and mounts.
func leftovers(t *testing.T) map[string]bool {
	t.Helper()
	found := make(map[string]bool)
	loops, err := filepath.Glob("/sys/block/loop*/loop/backing_file")
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range loops {
		if text, err := os.ReadFile(file); err == nil && bytes.Contains(text, []byte("mountward-demo-")) {
			found[file+" "+string(text)] = true
		}
	}
	environments, err := filepath.Glob("/proc/[0-9]*/environ")
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range environments {
		if text, err := os.ReadFile(file); err == nil && bytes.Contains(text, []byte(beDemo+"=1")) {
			found[file] = true
		}
	}
	mounts, err := harness.Mountinfo(0)
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range mounts {
		if strings.HasPrefix(m.Point, hostDir) {
			found[m.Point] = true
		}
	}
	return found
}

// TestEveryDifferenceIsSaid has a record that is right, and wrong ones.
func TestEveryDifferenceIsSaid(t *testing.T) {
	is := truth{rootfs: "/b/rootfs", upper: "/u", upperDevice: "7:0", dataDevice: "7:1", mounts: []string{"/data"}}
	rootfs := map[string]any{"path": "/b/rootfs", "upperdir": "/u", "device": "7:0", "no_lv": "none"}
	data := map[string]any{"destination": "/data", "kind": "csi", "device": "7:1", "lv": "vg/lv"}
	record := func(rootfs, data map[string]any) ward.Record {
		return ward.Record{"rootfs": rootfs, "mounts": []any{data}}
	}
	if wrong := is.differences(record(rootfs, data)); len(wrong) != 0 {
		t.Errorf("a right record: %q", wrong)
	}
	for _, part := range []map[string]any{rootfs, data} {
		for member := range part {
			altered := maps.Clone(part)
			delete(altered, member)
			r := record(altered, data)
			if part["destination"] != nil {
				r = record(rootfs, altered)
			}
			if wrong := is.differences(r); len(wrong) == 0 {
				t.Errorf("a record without %s of %v: nothing said", member, part)
			}
		}
	}
}

func TestWrapKeepsToTheScreen(t *testing.T) {
	got := wrap("  one ", "      ", strings.Repeat("word ", 40))
	for _, line := range got {
		if len(line) > width {
			t.Errorf("%q is longer than %d", line, width)
		}
	}
	if words := strings.Count(strings.Join(got, " "), "word"); words != 40 {
		t.Errorf("%d words of 40", words)
	}
}
