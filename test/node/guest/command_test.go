//go:build linux

package guest

import (
	"errors"
	"fmt"
	"os/exec"
	"strings"
	"testing"
	"time"
)

// output is what a program prints. One that fails fails the test.
func output(t *testing.T, name string, args ...string) string {
	t.Helper()
	out, err := run(name, args...)
	if err != nil {
		t.Fatal(err)
	}
	return out
}

func run(name string, args ...string) (string, error) {
	cmd := exec.Command(name, args...)
	var stderr strings.Builder
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		err = fmt.Errorf("run %q: %w: %s%s", cmd.Args, err, out, stderr.String())
	}
	return string(out), err
}

func firstLine(text string) string {
	line, _, _ := strings.Cut(text, "\n")
	return line
}

func lastLine(text string) string {
	all := lines(text)
	if len(all) == 0 {
		return ""
	}
	return all[len(all)-1]
}

// patience is what anything may take before it counts as hanging. The machine
// is emulated, and slow, and what it runs on has other work.
const patience = 2 * time.Minute

// hangTime is how long something has to take before it counts as hanging.
const hangTime = 5 * time.Second

var errNotYet = errors.New("not yet")

// await calls a function until it gives no error.
func await[T any](t *testing.T, what string, try func() (T, error)) T {
	t.Helper()
	return awaitWithin(t, patience, what, try)
}

func awaitWithin[T any](t *testing.T, patience time.Duration, what string, try func() (T, error)) T {
	t.Helper()
	for end := time.Now().Add(patience); ; time.Sleep(50 * time.Millisecond) {
		v, err := try()
		if err == nil {
			return v
		}
		if time.Now().After(end) {
			t.Fatalf("wait for %s: %v", what, err)
		}
	}
}
