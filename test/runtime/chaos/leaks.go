//go:build linux

package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"time"

	"golang.org/x/sys/unix"

	"github.com/mountward/mountward/test/runtime/harness"
)

const (
	// settleTime is how long what is ended may take to be gone.
	settleTime = time.Minute
	// entryAge is how old an entry of the runtime directory must be before a
	// Synchronize that does not list its container removes it, and a little.
	entryAge = 62 * time.Second
)

// inventory is what a node has that can leak.
type inventory struct {
	mounts    map[string]int
	processes map[string]int
}

func (c *chaos) takeInventory() (inventory, error) {
	i := inventory{map[string]int{}, map[string]int{}}
	table, err := harness.Mountinfo(0)
	if err != nil {
		return i, err
	}
	for _, m := range table {
		i.mounts[m.FSType+" on "+m.Point]++
	}
	all, err := filepath.Glob("/proc/[0-9]*/cmdline")
	if err != nil {
		return i, err
	}
	for _, file := range all {
		pid, _ := strconv.Atoi(filepath.Base(filepath.Dir(file)))
		text, err := os.ReadFile(file)
		if err != nil || len(text) == 0 || pid == c.node.PID() || c.service != nil && pid == c.service.pid() {
			continue // it ended meanwhile, or is to be there
		}
		i.processes[strconv.Itoa(pid)+" "+strings.TrimSpace(strings.ReplaceAll(string(text), "\x00", " "))]++
	}
	return i, nil
}

// added is what is in after and not in before.
func added(before, after map[string]int) []string {
	var all []string
	for what, n := range after {
		for range n - before[what] {
			all = append(all, what)
		}
	}
	return all
}

// judgeInventory waits until nothing is there that was not there before, and
// counts what stays.
func (c *chaos) judgeInventory(before inventory) error {
	for end := time.Now().Add(settleTime); ; time.Sleep(50 * time.Millisecond) {
		after, err := c.takeInventory()
		if err != nil {
			return err
		}
		mounts, processes := added(before.mounts, after.mounts), added(before.processes, after.processes)
		if len(mounts)+len(processes) == 0 {
			return nil
		}
		if time.Now().Before(end) {
			continue
		}
		for _, m := range mounts {
			c.fault("leaked_mounts", "", m)
		}
		for _, p := range processes {
			if strings.Contains(p, c.node.Binaries.Shim) {
				c.count("runtime_orphans", 1)
				continue
			}
			c.fault("leaked_processes", "", p)
		}
		return nil
	}
}

// entries are the files that mountward keeps of containers.
func (c *chaos) entries() (names []string, newest time.Time, err error) {
	dir := filepath.Join(c.ward.Dir, "run", "containers")
	files, err := os.ReadDir(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, newest, nil
	}
	for _, f := range files {
		names = append(names, f.Name())
		if info, err := f.Info(); err == nil && info.ModTime().After(newest) {
			newest = info.ModTime()
		}
	}
	return names, newest, err
}

// ageEntries waits until the entries of containers that are gone are old enough
// to be forgotten.
func (c *chaos) ageEntries() error {
	names, newest, err := c.entries()
	if err == nil && len(names) > 0 {
		c.say("%d entries of containers whose end mountward did not see; waiting until they are old", len(names))
		time.Sleep(time.Until(newest.Add(entryAge)))
	}
	return err
}

// judgeEntries waits until no entry is left.
func (c *chaos) judgeEntries() error {
	for end := time.Now().Add(settleTime); ; time.Sleep(50 * time.Millisecond) {
		names, _, err := c.entries()
		if err != nil || len(names) == 0 {
			return err
		}
		if time.Now().After(end) {
			for _, name := range names {
				c.fault("leaked_entries", "", name)
			}
			return nil
		}
	}
}

var digits = regexp.MustCompile("[0-9]+")

// openFiles are the descriptors of a process: what each leads to, and how many.
func openFiles(pid int) (map[string]int, error) {
	dir := fmt.Sprintf("/proc/%d/fd", pid)
	fds, err := os.ReadDir(dir)
	if err != nil {
		return nil, fmt.Errorf("list descriptors: %w", err)
	}
	all := make(map[string]int)
	for _, fd := range fds {
		to, err := os.Readlink(filepath.Join(dir, fd.Name()))
		if err != nil {
			continue // closed meanwhile
		}
		// The number of a socket, a pipe or a process is another one after each
		// restart.
		all[digits.ReplaceAllString(to, "N")]++
	}
	return all, nil
}

// allOpen is openFiles, once the plugin has all open that it keeps open: the socket
// of the command line, and the watch of the policy files.
func (c *chaos) allOpen(pid int) (map[string]int, error) {
	for end := time.Now().Add(settleTime); ; time.Sleep(5 * time.Millisecond) {
		files, err := openFiles(pid)
		if err != nil {
			return nil, err
		}
		_, err = os.Lstat(filepath.Join(c.ward.Dir, "run", "control.sock"))
		if err == nil && files["anon_inode:inotify"] > 0 {
			return openFiles(pid)
		}
		if time.Now().After(end) {
			return nil, fmt.Errorf("wait for the plugin to open what it keeps open: it has %v: %w", files, err)
		}
	}
}

// judgeFiles compares the descriptors of the plugin with those it had.
func (c *chaos) judgeFiles(pid int, before map[string]int) error {
	for end := time.Now().Add(settleTime); ; time.Sleep(50 * time.Millisecond) {
		after, err := openFiles(pid)
		if err != nil {
			return err
		}
		more := added(before, after)
		if len(more) == 0 {
			return nil
		}
		if time.Now().After(end) {
			for _, what := range more {
				c.fault("leaked_fds", "", what)
			}
			return nil
		}
	}
}

// goroutines ends the plugin with SIGQUIT, upon which the Go runtime prints the
// stack of every goroutine, and returns who started them: nothing that mountward
// says of itself is needed. Its service starts it again.
func (c *chaos) goroutines() (map[string]int, error) {
	before, err := os.ReadFile(c.service.output)
	if err != nil {
		return nil, err
	}
	pid := c.service.pid()
	if pid == 0 || !c.service.signal(unix.SIGQUIT, true) {
		return nil, errors.New("count goroutines: mountward does not run")
	}
	for end := time.Now().Add(settleTime); c.service.pid() == pid; time.Sleep(5 * time.Millisecond) {
		if time.Now().After(end) {
			return nil, errors.New("count goroutines: SIGQUIT does not end mountward")
		}
	}
	after, err := os.ReadFile(c.service.output)
	if err != nil {
		return nil, err
	}
	return creators(string(after[len(before):])), nil
}

// creators counts the goroutines of a stack dump by the function that started
// them.
func creators(dump string) map[string]int {
	all := make(map[string]int)
	for block := range strings.SplitSeq(dump, "\n\n") {
		if !strings.HasPrefix(strings.TrimSpace(block), "goroutine ") {
			continue
		}
		by := "main"
		if _, text, ok := strings.Cut(block, "created by "); ok {
			by, _, _ = strings.Cut(text, " in goroutine")
			by, _, _ = strings.Cut(by, "\n")
		}
		all[by]++
	}
	return all
}

// judgeGoroutines compares the plugin that lived through everything with one
// that was just started.
func (c *chaos) judgeGoroutines() error {
	old, err := c.goroutines()
	if err != nil {
		return err
	}
	if err := c.awaitConnected(); err != nil {
		return err
	}
	fresh, err := c.goroutines()
	if err != nil {
		return err
	}
	if old["main"] == 0 || fresh["main"] == 0 {
		return fmt.Errorf("count goroutines: no stacks in what mountward wrote: %v, %v", old, fresh)
	}
	for _, by := range added(fresh, old) {
		c.fault("leaked_goroutines", "", "started by "+by)
	}
	return nil
}
