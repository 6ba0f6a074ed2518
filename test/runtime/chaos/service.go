//go:build linux

package main

import (
	"fmt"
	"os"
	"os/exec"
	"sync"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// restartAfter is how long systemd waits before it starts a service again, by
// default.
const restartAfter = 100 * time.Millisecond

// service is mountward under a supervisor that starts it again whenever it
// ends, as its unit does.
type service struct {
	args   []string
	output string // file
	mortal bool   // its ends are part of the test

	mu      sync.Mutex
	process *os.Process // nil between two
	ours    bool        // the end of the process is our doing
	ended   []string    // ends that were not
	crashes int         // of those, by a signal or a panic

	stop chan struct{}
	done chan struct{}
}

func startService(output string, args ...string) *service {
	s := &service{args: args, output: output, stop: make(chan struct{}), done: make(chan struct{})}
	go s.supervise()
	return s
}

func (s *service) supervise() {
	defer close(s.done)
	for {
		if err := s.once(); err != nil {
			s.mu.Lock()
			s.ended = append(s.ended, err.Error())
			s.mu.Unlock()
		}
		select {
		case <-s.stop:
			return
		case <-time.After(restartAfter):
		}
	}
}

// once runs the program until it ends, and returns how, unless that was our
// doing.
func (s *service) once() error {
	out, err := os.OpenFile(s.output, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	defer out.Close()
	cmd := exec.Command(s.args[0], s.args[1:]...)
	cmd.Stdout, cmd.Stderr = out, out
	s.mu.Lock()
	select {
	case <-s.stop:
		s.mu.Unlock()
		return nil
	default:
	}
	if err = cmd.Start(); err == nil {
		s.process, s.ours = cmd.Process, false
	}
	s.mu.Unlock()
	if err != nil {
		return err
	}
	_ = cmd.Wait() // how it ended is in its state
	s.mu.Lock()
	defer s.mu.Unlock()
	s.process = nil
	if s.ours || s.mortal {
		return nil
	}
	// 2 is the exit code of a panic.
	if status, ok := cmd.ProcessState.Sys().(syscall.WaitStatus); ok && (status.Signaled() || status.ExitStatus() == 2) {
		s.crashes++
	}
	return fmt.Errorf("mountward ended by itself: %v", cmd.ProcessState)
}

// signal sends a signal to the program, if it runs. mortal says that it is to
// end.
func (s *service) signal(sig unix.Signal, mortal bool) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.process == nil {
		return false
	}
	s.ours = s.ours || mortal
	return s.process.Signal(sig) == nil
}

// pid is the process of the program, 0 where there is none just now.
func (s *service) pid() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.process == nil {
		return 0
	}
	return s.process.Pid
}

// end ends the service for good, and returns what ended by itself meanwhile.
func (s *service) end() (ended []string, crashes int) {
	close(s.stop)
	s.signal(unix.SIGCONT, false)
	s.signal(unix.SIGTERM, true)
	select {
	case <-s.done:
	case <-time.After(20 * time.Second):
		s.signal(unix.SIGKILL, true)
		<-s.done
		return append(s.ended, "mountward did not end when it was asked to"), s.crashes + 1
	}
	return s.ended, s.crashes
}
