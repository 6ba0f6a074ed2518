//go:build linux

package harness

import (
	"errors"
	"fmt"
	"os"
	"os/signal"
	"syscall"

	"golang.org/x/sys/unix"
)

// workDir holds everything that the inside writes: it is on the tmpfs that
// covers /run, and short, as the path of a unix socket has to be.
const workDir = "/run/mw"

// initialize is the first process of the pid namespace. It makes the mount
// namespace, starts the inside, adopts and reaps what is orphaned there, and
// returns the exit code of the inside. Its own exit ends all other processes.
func initialize(cgroup string, cover []string) (int, error) {
	if err := makeMounts(cover); err != nil {
		return 0, err
	}
	signals := make(chan os.Signal, 8)
	signal.Notify(signals, unix.SIGINT, unix.SIGTERM, unix.SIGHUP, unix.SIGQUIT)

	err := errors.Join(
		os.Setenv(stageVariable, stageInside+" "+cgroup),
		os.Setenv("TMPDIR", workDir),
	)
	if err != nil {
		return 0, fmt.Errorf("set environment of inside: %w", err)
	}
	child, err := os.StartProcess("/proc/self/exe", os.Args, &os.ProcAttr{
		Files: []*os.File{os.Stdin, os.Stdout, os.Stderr},
	})
	if err != nil {
		return 0, fmt.Errorf("start inside: %w", err)
	}
	go func() {
		for s := range signals {
			_ = unix.Kill(child.Pid, s.(syscall.Signal)) // an error says that it has just ended
		}
	}()
	for {
		var status syscall.WaitStatus
		pid, err := syscall.Wait4(-1, &status, 0, nil)
		switch {
		case errors.Is(err, unix.EINTR):
		case err != nil:
			return 0, fmt.Errorf("wait for inside: %w", err)
		case pid == child.Pid:
			return exitCode(status), nil
		}
	}
}

// makeMounts makes everything private before it makes anything shared: in the
// other order a host whose root is shared would get our mounts.
func makeMounts(cover []string) error {
	if err := unix.Mount("", "/", "", unix.MS_REC|unix.MS_PRIVATE, ""); err != nil {
		return fmt.Errorf("make mounts private: %w", err)
	}
	if err := unix.Mount("", "/", "", unix.MS_REC|unix.MS_SHARED, ""); err != nil {
		return fmt.Errorf("make mounts shared: %w", err)
	}
	if err := unix.Mount("proc", "/proc", "proc", unix.MS_NOSUID|unix.MS_NODEV|unix.MS_NOEXEC, ""); err != nil {
		return fmt.Errorf("mount /proc: %w", err)
	}
	for _, dir := range append([]string{"/run"}, cover...) {
		if err := unix.Mount("mountward-test", dir, "tmpfs", 0, "mode=755"); err != nil {
			return fmt.Errorf("cover %s: %w", dir, err)
		}
	}
	if err := os.Mkdir(workDir, 0o755); err != nil {
		return fmt.Errorf("make work directory: %w", err)
	}
	return nil
}
