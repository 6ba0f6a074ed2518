package discover

import (
	"context"
	"fmt"
	"io"
	"os"
	"strings"
	"time"
)

const maxCommandLine = 1 << 20 // bytes; what follows is not read

// commandLine returns the arguments of a process, none of a kernel thread. One
// that does not answer within wait leaves a goroutine behind that waits.
func commandLine(ctx context.Context, proc string, pid int, wait time.Duration) ([]string, error) {
	if wait == 0 {
		return readArguments(proc, pid)
	}
	type answer struct {
		args []string
		err  error
	}
	done := make(chan answer, 1)
	go func() {
		args, err := readArguments(proc, pid)
		done <- answer{args, err}
	}()
	timer := time.NewTimer(wait)
	defer timer.Stop()
	select {
	case a := <-done:
		return a.args, a.err
	case <-timer.C:
		return nil, fmt.Errorf("its command line could not be read in %v: its memory is waited for", wait)
	case <-ctx.Done():
		return nil, fmt.Errorf("its command line was not read: %w", ctx.Err())
	}
}

func readArguments(proc string, pid int) ([]string, error) {
	f, err := os.Open(fmt.Sprintf("%s/%d/cmdline", proc, pid))
	if err != nil {
		return nil, err
	}
	defer f.Close()
	text, err := io.ReadAll(io.LimitReader(f, maxCommandLine))
	if err != nil {
		return nil, err
	}
	return arguments(string(text)), nil
}

// arguments takes a command line apart. A process that writes a title over its
// arguments, as k3s does, fills up with zeros.
func arguments(text string) []string {
	text = strings.TrimRight(text, "\x00")
	if text == "" {
		return nil
	}
	return strings.Split(text, "\x00")
}
