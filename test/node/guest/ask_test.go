//go:build linux

package guest

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"os/exec"
	"strings"
	"testing"
	"time"
)

// The exit codes of doctor, pins and exposure.
const (
	exitSound      = 0
	exitFound      = 1
	exitCannotTell = 2
)

// ask reads what "mountward ARG... -o json" prints, which must end with this
// exit code. On a machine as slow as an emulated one something can take too
// long once; not again and again.
func ask[T any](t *testing.T, code int, args ...string) T {
	t.Helper()
	for end := time.Now().Add(patience); ; {
		v, got, stderr := tryAsk[T](t, args...)
		if got == code {
			return v
		}
		if !strings.Contains(stderr, "did not answer in") || time.Now().After(end) {
			t.Fatalf("mountward %q: exit code %d, want %d: %s\n%+v", args, got, code, stderr, v)
		}
		t.Logf("once more: %s", lastLine(stderr))
	}
}

// tryAsk returns what is printed with any exit code.
func tryAsk[T any](t *testing.T, args ...string) (v T, code int, stderr string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	cmd := exec.CommandContext(ctx, "/usr/bin/mountward", append(args, "-o", "json")...)
	var out, errs bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errs
	err := cmd.Run()
	var failed *exec.ExitError
	if err != nil && (!errors.As(err, &failed) || ctx.Err() != nil) {
		t.Fatalf("mountward %q does not end: %v: %s", args, err, errs.String())
	}
	if out.Len() > 0 {
		if err := json.Unmarshal(out.Bytes(), &v); err != nil {
			t.Fatalf("mountward %q: %v: %s", args, err, out.String())
		}
	}
	return v, cmd.ProcessState.ExitCode(), errs.String()
}

// shell runs commands as they were printed, one by one.
func shell(t *testing.T, commands []string) {
	t.Helper()
	if len(commands) == 0 {
		t.Fatal("no command was printed")
	}
	for _, command := range commands {
		t.Logf("$ %s", command)
		output(t, "sh", "-c", command)
	}
}

// answered is yes, no or unknown, and why.
type answered struct{ Answer, Why string }
