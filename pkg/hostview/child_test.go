package hostview

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"strconv"
	"syscall"
	"testing"
	"time"

	"github.com/mountward/mountward/pkg/facts"
	"github.com/mountward/mountward/pkg/internal/linux/linuxtest"
)

// play is what a child process of the tests does: "hold" mounts a tmpfs in its
// own namespace, with a few things in it, and lives until its standard input ends; "shim" takes the
// name of a shim and a working directory and lives as long; "look" opens the
// view of another process and prints what it sees.
func play(role string, args []string) error {
	switch role {
	case "hold":
		if err := syscall.Mount("held", args[0], "tmpfs", 0, ""); err != nil {
			return err
		}
		if err := os.MkdirAll(args[0]+"/sub", 0o755); err != nil {
			return err
		}
		if err := os.Symlink(args[0]+"/sub", args[0]+"/link"); err != nil {
			return err
		}
		if err := os.WriteFile(args[0]+"/sub/file", []byte("held"), 0o600); err != nil {
			return err
		}
		return linuxtest.Wait()
	case "shim":
		if err := os.Chdir(args[0]); err != nil {
			return err
		}
		if err := os.WriteFile("/proc/self/comm", []byte("containerd-shim"), 0); err != nil {
			return err
		}
		return linuxtest.Wait()
	case "look":
		pid, err := strconv.Atoi(args[0])
		if err != nil {
			return err
		}
		return json.NewEncoder(os.Stdout).Encode(lookAt(pid, args[1]))
	}
	return errors.New("no such role")
}

type seen struct {
	Open, Lookup string
	Namespace    facts.Answer
	Rung         string
	Mount        facts.HostMount
	Mounts       int
}

func lookAt(pid int, path string) (s seen) {
	v, err := Open(Options{PID: pid, Wait: time.Minute})
	if err != nil {
		s.Open = err.Error()
		return s
	}
	defer v.Close()
	s.Namespace, s.Rung = v.Namespace(), v.Rung()
	if s.Mount, err = v.Lookup(context.Background(), path); err != nil {
		s.Lookup = err.Error()
	}
	if t, err := v.Table(context.Background()); err == nil {
		s.Mounts = t.Len()
	}
	return s
}

// holder starts a process in a mount namespace of its own, where a tmpfs with
// the directory "sub", a file in it and a link to it is mounted at dir.
func holder(t *testing.T, dir string) *linuxtest.Child {
	t.Helper()
	p := linuxtest.Start(t, "hold", &syscall.SysProcAttr{Unshareflags: syscall.CLONE_NEWNS}, dir)
	p.Line(t) // it is ready
	return p
}

func looker(t *testing.T, attr *syscall.SysProcAttr, pid int, path string) (s seen) {
	t.Helper()
	p := linuxtest.Start(t, "look", attr, strconv.Itoa(pid), path)
	if err := json.NewDecoder(p.Out).Decode(&s); err != nil {
		t.Fatal(err)
	}
	return s
}
