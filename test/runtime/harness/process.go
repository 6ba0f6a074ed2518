//go:build linux

package harness

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"time"

	"golang.org/x/sys/unix"
)

// process is a running containerd.
type process struct {
	cmd    *exec.Cmd
	exited chan struct{}
	err    error // why, once exited is closed
}

// startProcess starts a program whose output is added to a file.
func startProcess(cmd *exec.Cmd, log string) (*process, error) {
	f, err := os.OpenFile(log, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o644)
	if err != nil {
		return nil, fmt.Errorf("open log: %w", err)
	}
	defer f.Close()
	cmd.Stdout, cmd.Stderr = f, f
	if err := cmd.Start(); err != nil {
		return nil, fmt.Errorf("start %s: %w", cmd.Path, err)
	}
	p := &process{cmd: cmd, exited: make(chan struct{})}
	go func() {
		p.err = cmd.Wait()
		close(p.exited)
	}()
	return p, nil
}

// running says whether the process has not ended. A nil process has.
func (p *process) running() bool {
	if p == nil {
		return false
	}
	select {
	case <-p.exited:
		return false
	default:
		return true
	}
}

// kill sends a signal and waits for the end, which SIGKILL brings about where
// the signal does not.
func (p *process) kill(s unix.Signal) error {
	if !p.running() {
		return nil
	}
	if err := p.cmd.Process.Signal(s); err != nil && !errors.Is(err, os.ErrProcessDone) {
		return fmt.Errorf("signal %s: %w", p.cmd.Path, err)
	}
	select {
	case <-p.exited:
		return nil
	case <-time.After(30 * time.Second):
	}
	if err := p.cmd.Process.Kill(); err != nil && !errors.Is(err, os.ErrProcessDone) {
		return fmt.Errorf("kill %s: %w", p.cmd.Path, err)
	}
	<-p.exited
	return fmt.Errorf("stop %s: no answer to %s", p.cmd.Path, s)
}
