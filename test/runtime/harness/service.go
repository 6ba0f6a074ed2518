//go:build linux

package harness

import (
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"syscall"

	"golang.org/x/sys/unix"
)

// Service stands in for a service of the node: a process with its name and
// arguments, in the mount namespace that its unit would give it. It is a copy of
// the shell that reads its standard input, so it does what it is told with Tell.
type Service struct {
	Name string   // of the process
	Args []string // of its command line, after "-s NAME"
	// Of is the process whose mount namespace it is in, 0 for ours.
	Of int
	// Unshare gives it a copy of that namespace, with these propagations of "/"
	// and all below set one after the other, as systemd's MountFlags does.
	Unshare      bool
	Propagations []uintptr

	PID int

	cmd   *exec.Cmd
	stdin io.WriteCloser
	out   io.Reader
}

// Start starts the service. Its program is copied into dir.
func (s *Service) Start(dir string) error {
	program, err := CopyProgram("/bin/sh", filepath.Join(dir, s.Name))
	if err != nil {
		return err
	}
	s.cmd = exec.Command(program, append([]string{"-s", s.Name}, s.Args...)...)
	s.cmd.Stderr = os.Stderr
	s.cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	if s.stdin, err = s.cmd.StdinPipe(); err != nil {
		return err
	}
	if s.out, err = s.cmd.StdoutPipe(); err != nil {
		return err
	}
	if err := OnThread(func() error {
		if err := s.enter(); err != nil {
			return err
		}
		return s.cmd.Start()
	}); err != nil {
		return fmt.Errorf("start %s: %w", s.Name, err)
	}
	s.PID = s.cmd.Process.Pid
	// A program that is executed has its name a little before its arguments.
	_, err = s.Tell("echo")
	return err
}

func (s *Service) enter() error {
	if s.Of == 0 && !s.Unshare {
		return nil
	}
	if err := unix.Unshare(unix.CLONE_FS); err != nil {
		return err
	}
	if s.Of != 0 {
		if err := EnterMounts(s.Of); err != nil {
			return err
		}
	}
	if !s.Unshare {
		return nil
	}
	if err := unix.Unshare(unix.CLONE_NEWNS); err != nil {
		return err
	}
	for _, p := range s.Propagations {
		if err := unix.Mount("", "/", "", unix.MS_REC|p, ""); err != nil {
			return err
		}
	}
	return nil
}

// Tell has the shell run a line, and returns the first line that it prints.
func (s *Service) Tell(line string) (string, error) {
	if _, err := fmt.Fprintln(s.stdin, line); err != nil {
		return "", err
	}
	var answer []byte
	for one := make([]byte, 1); ; {
		if _, err := s.out.Read(one); err != nil {
			return "", fmt.Errorf("%s: read its answer to %q: %w", s.Name, line, err)
		}
		if one[0] == '\n' {
			return string(answer), nil
		}
		answer = append(answer, one[0])
	}
}

// Stop ends the service and all that it started.
func (s *Service) Stop() error {
	if s.cmd == nil || s.cmd.Process == nil {
		return nil
	}
	err := unix.Kill(-s.PID, unix.SIGKILL)
	_ = s.cmd.Wait() // it was killed
	return err
}

// OnThread runs f on a thread that ends with it, so that f can change what is
// the thread's own: its mount namespace, its root.
func OnThread(f func() error) error {
	done := make(chan error, 1)
	go func() {
		runtime.LockOSThread()
		if unix.Gettid() == unix.Getpid() {
			// The first thread never ends, and is what /proc/self shows: it is
			// kept away from f, which another one gets.
			defer runtime.UnlockOSThread()
			done <- OnThread(f)
			return
		}
		done <- f() // never unlocked: the thread ends with the function
	}()
	return <-done
}

// EnterMounts moves a thread that shares no directory with others, see OnThread
// and unshare(CLONE_FS), to the mount namespace of a process.
func EnterMounts(pid int) error {
	f, err := os.Open(fmt.Sprintf("/proc/%d/ns/mnt", pid))
	if err != nil {
		return err
	}
	defer f.Close()
	return unix.Setns(int(f.Fd()), unix.CLONE_NEWNS)
}

// CopyProgram copies a program, unless it is there, and returns the path of the
// copy.
func CopyProgram(from, to string) (string, error) {
	if _, err := os.Stat(to); err == nil {
		return to, nil
	}
	data, err := os.ReadFile(from)
	if err != nil {
		return "", err
	}
	if err := os.MkdirAll(filepath.Dir(to), 0o755); err != nil {
		return "", err
	}
	return to, os.WriteFile(to, data, 0o755)
}
