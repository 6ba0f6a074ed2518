package discover

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	"github.com/mountward/mountward/pkg/internal/wait"
)

const maxCommandLine = 1 << 20 // bytes; what follows is not read

// CommandLine returns the arguments of a process, none of a kernel thread. One
// that does not answer within most leaves a goroutine behind that waits.
func CommandLine(ctx context.Context, proc string, pid int, most time.Duration) ([]string, error) {
	if most == 0 {
		return readArguments(proc, pid)
	}
	args, err := wait.For(ctx, most, func() ([]string, error) { return readArguments(proc, pid) }, nil)
	if errors.Is(err, wait.ErrNoAnswer) {
		err = fmt.Errorf("its command line could not be read: its memory is waited for: %w", err)
	}
	return args, err
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
