package main

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"runtime/debug"
	"slices"
	"strings"
	"syscall"

	"github.com/mountward/mountward/pkg/audit"
)

const (
	crashText   = ".txt"  // printed by a daemon that crashed, or runs
	crashTold   = ".told" // is in the trail
	crashesKept = 5
	maxCrash    = 64 << 10 // bytes of one
)

// watchCrashes lets the Go runtime print into a file why it ends the daemon,
// where no recover can help (a panic in some goroutine, concurrent map writes):
// of a launched daemon standard error leads nowhere. What earlier daemons
// printed comes into the trail, once.
func (d *daemon) watchCrashes(dir string) error {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return fmt.Errorf("make directory of crashes: %w", err)
	}
	err := d.tellCrashes(dir)
	name := fmt.Sprintf("%s-%d%s", d.now().UTC().Format("20060102T150405.000000000"), os.Getpid(), crashText)
	file, openErr := os.OpenFile(filepath.Join(dir, name), os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if openErr != nil {
		return errors.Join(err, fmt.Errorf("open file for a crash: %w", openErr))
	}
	// The runtime has a copy of the descriptor, and with it the lock: while it
	// is held this daemon lives.
	for _, step := range []error{lockNow(file), debug.SetCrashOutput(file, debug.CrashOptions{}), file.Close()} {
		if step != nil {
			err = errors.Join(err, fmt.Errorf("watch for a crash: %w", step))
		}
	}
	return err
}

// tellCrashes records what is in the files of daemons that are no more, and
// removes those of daemons that ended in peace and all but the last few others.
func (d *daemon) tellCrashes(dir string) error {
	entries, err := os.ReadDir(dir) // sorted: the oldest first
	if err != nil {
		return fmt.Errorf("look for crashes: %w", err)
	}
	var errs []error
	var told []string
	for _, entry := range entries {
		path := filepath.Join(dir, entry.Name())
		switch {
		case !entry.Type().IsRegular():
		case filepath.Ext(path) == crashTold:
			told = append(told, path)
		case filepath.Ext(path) == crashText:
			if event, err := takeCrash(path); err != nil {
				errs = append(errs, fmt.Errorf("read a crash: %w", err))
			} else if event != nil {
				d.trail.Load().Record(*event)
				told = append(told, strings.TrimSuffix(path, crashText)+crashTold)
			}
		}
	}
	slices.Sort(told)
	for _, path := range told[:max(0, len(told)-crashesKept)] {
		errs = append(errs, os.Remove(path))
	}
	return errors.Join(errs...)
}

// takeCrash reads a file and renames it, so that it is told once. It returns
// nil for one of a daemon that lives or printed nothing.
func takeCrash(path string) (*audit.Crash, error) {
	file, err := os.OpenFile(path, os.O_RDWR, 0)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	if err := lockNow(file); err != nil {
		if errors.Is(err, syscall.EWOULDBLOCK) {
			return nil, nil
		}
		return nil, err
	}
	info, err := file.Stat()
	if err != nil {
		return nil, err
	}
	if info.Size() == 0 {
		return nil, os.Remove(path)
	}
	text, err := io.ReadAll(io.LimitReader(file, maxCrash))
	if err != nil {
		return nil, err
	}
	err = cmp.Or(file.Truncate(int64(len(text))), os.Rename(path, strings.TrimSuffix(path, crashText)+crashTold))
	if err != nil {
		return nil, err
	}
	event := &audit.Crash{Panic: strings.TrimSpace(string(text)), Fatal: true, At: info.ModTime().UTC()}
	// A newline in the text of a panic is followed by a tab.
	if at := stackStart().FindIndex(text); at != nil {
		event.Panic, event.Stack = strings.TrimSpace(string(text[:at[0]])), strings.TrimSpace(string(text[at[0]:]))
	}
	if event.Panic == "" {
		event.Panic = fatalText
	}
	return event, nil
}

// fatalText stands for the text of a fatal error. The Go runtime writes it to
// standard error alone, before it turns to the file (Go 1.26, measured).
const fatalText = "fatal error of the Go runtime: the stack says in what"

func stackStart() *regexp.Regexp { return regexp.MustCompile(`(?m)^(goroutine|runtime stack:)`) }

func lockNow(file *os.File) error {
	return syscall.Flock(int(file.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
}
