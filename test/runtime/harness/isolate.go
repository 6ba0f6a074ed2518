//go:build linux

package harness

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"runtime"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"
)

// ErrNeedsRoot says that a process without root cannot be isolated.
var ErrNeedsRoot = errors.New("needs root")

// A program runs as three processes: the one that was called ("outside"),
// the first process of the pid namespace ("init"), and the one that returns
// from Isolate ("inside"). The last two are told by this variable, as
// "<stage> <cgroup>".
const stageVariable = "MOUNTWARD_RUNTIME_STAGE"

const (
	stageInit   = "init"
	stageInside = "inside"
)

// Isolate continues the program in mount and pid namespaces of its own and
// returns only there; outside it waits, passes signals on and exits with the
// exit code of the inside. It is the first thing that main or TestMain does.
//
// Inside, no mount reaches the host, every mount is shared with later
// namespaces as on a node with systemd, /proc shows the new pid namespace, and
// /run and the directories to cover, which must exist, are empty and private,
// as is TMPDIR. When the outside ends, even by SIGKILL, every process and mount
// of the inside ends with it. The cgroups of the run are removed by the outside
// or, if that was killed, by the next run.
//
// Without root it returns ErrNeedsRoot.
func Isolate(cover ...string) error {
	if os.Geteuid() != 0 {
		return ErrNeedsRoot
	}
	switch stage, cgroup := currentStage(); stage {
	case stageInside:
		return nil
	case stageInit:
		code, err := initialize(cgroup, cover)
		if err != nil {
			fmt.Fprintln(os.Stderr, "harness:", err)
			code = 1
		}
		os.Exit(code)
	}
	code, err := outside()
	if err != nil {
		return err
	}
	os.Exit(code)
	return nil
}

// Isolated says whether this process is one that Isolate returned in.
func Isolated() bool {
	stage, _ := currentStage()
	return stage == stageInside
}

// currentStage is empty outside. The variable alone does not tell: children of
// the inside inherit it, and are outside of an isolation of their own.
func currentStage() (stage, cgroup string) {
	stage, cgroup, _ = strings.Cut(os.Getenv(stageVariable), " ")
	switch {
	case stage == stageInit && os.Getpid() == 1, stage == stageInside && os.Getppid() == 1:
		return stage, cgroup
	}
	return "", ""
}

// outside starts the init process and returns the exit code of the inside.
func outside() (int, error) {
	group, err := newCgroup()
	if err != nil {
		return 0, err
	}
	code, err := waitInside(group.name)
	return code, errors.Join(err, group.remove())
}

func waitInside(cgroup string) (int, error) {
	// The kernel sends the parent death signal when the thread that made the
	// child ends, so this thread has to live as long as the process.
	runtime.LockOSThread()

	signals := make(chan os.Signal, 8)
	signal.Notify(signals, unix.SIGINT, unix.SIGTERM, unix.SIGHUP, unix.SIGQUIT)
	defer signal.Stop(signals)

	cmd := exec.Command("/proc/self/exe", os.Args[1:]...)
	cmd.Args[0] = os.Args[0]
	cmd.Env = append(os.Environ(), stageVariable+"="+stageInit+" "+cgroup)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = os.Stdin, os.Stdout, os.Stderr
	cmd.SysProcAttr = &syscall.SysProcAttr{
		Cloneflags: unix.CLONE_NEWNS | unix.CLONE_NEWPID,
		Pdeathsig:  unix.SIGKILL,
		Setpgid:    true, // the terminal's signals come once, through us
	}
	if err := cmd.Start(); err != nil {
		return 0, fmt.Errorf("start isolated process: %w", err)
	}
	done := make(chan error, 1)
	go func() { done <- cmd.Wait() }()
	for {
		select {
		case s := <-signals:
			_ = cmd.Process.Signal(s) // an error says that it has just ended
		case err := <-done:
			var exit *exec.ExitError
			if err != nil && !errors.As(err, &exit) {
				return 0, fmt.Errorf("wait for isolated process: %w", err)
			}
			return exitCode(cmd.ProcessState.Sys().(syscall.WaitStatus)), nil
		}
	}
}

// exitCode is the code of a process as a shell gives it.
func exitCode(status syscall.WaitStatus) int {
	if status.Signaled() {
		return 128 + int(status.Signal())
	}
	return status.ExitStatus()
}
