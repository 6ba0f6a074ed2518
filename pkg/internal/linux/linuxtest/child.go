package linuxtest

import (
	"bufio"
	"fmt"
	"io"
	"os"
	"runtime"
	"slices"
	"strings"
	"syscall"
	"testing"
)

const (
	roleVariable     = "LINUXTEST_ROLE"
	isolatedVariable = "LINUXTEST_ISOLATED"
)

// Main is the TestMain of a package whose tests mount. As root they run in a
// mount namespace of their own, with mounts of the propagation MS_PRIVATE or
// MS_SLAVE: whatever is mounted is gone with the process, however it ends. In a
// process that Start has started play is called instead, and when it returns the
// process ends.
func Main(m *testing.M, propagation uintptr, play func(role string, args []string) error) {
	if role := os.Getenv(roleVariable); role != "" {
		exitOn(role, play(role, os.Args[1:]))
		os.Exit(0)
	}
	if os.Geteuid() == 0 && os.Getenv(isolatedVariable) == "" {
		exitOn("make a mount namespace for the tests", isolate(propagation))
	}
	os.Exit(m.Run())
}

func exitOn(what string, err error) {
	if err != nil {
		fmt.Fprintf(os.Stderr, "%s: %v\n", what, err)
		os.Exit(1)
	}
}

// isolate executes the program again, which makes the new namespace of this
// thread that of the process.
func isolate(propagation uintptr) error {
	runtime.LockOSThread()
	if err := syscall.Unshare(syscall.CLONE_NEWNS); err != nil {
		return err
	}
	if err := syscall.Mount("", "/", "", syscall.MS_REC|propagation, ""); err != nil {
		return err
	}
	return syscall.Exec("/proc/self/exe", os.Args, append(os.Environ(), isolatedVariable+"=1"))
}

// Wait says that a role is played and lasts until the test is done with it.
func Wait() error {
	fmt.Println("ready")
	_, err := io.Copy(io.Discard, os.Stdin)
	return err
}

// Child is a process of the test program that plays a role.
type Child struct {
	*os.Process
	In   io.Writer     // its standard input
	Out  *bufio.Reader // and output
	in   *os.File
	done bool
}

// Start starts the test program in a role, until the test is over. Where sys
// makes a mount namespace by Unshareflags, Go makes all of its mounts private;
// by Cloneflags it does not.
func Start(t testing.TB, role string, sys *syscall.SysProcAttr, args ...string) *Child {
	t.Helper()
	return StartFile(t, "/proc/self/exe", role, sys, args...)
}

// Role is the environment of a child, that a child starts for one.
func Role(role string) []string {
	all := slices.DeleteFunc(os.Environ(), func(v string) bool { return strings.HasPrefix(v, roleVariable+"=") })
	return append(all, roleVariable+"="+role)
}

// StartFile is Start with the path of the program, a copy of it for one.
func StartFile(t testing.TB, program, role string, sys *syscall.SysProcAttr, args ...string) *Child {
	t.Helper()
	if role == "" {
		t.Fatal("a child without a role would run the tests")
	}
	inR, inW, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	outR, outW, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	p, err := os.StartProcess(program, append([]string{"child"}, args...), &os.ProcAttr{
		Dir: "/", Env: Role(role), Files: []*os.File{inR, outW, os.Stderr}, Sys: sys,
	})
	_, _ = inR.Close(), outW.Close()
	if err != nil {
		t.Fatal(err)
	}
	c := &Child{Process: p, In: inW, Out: bufio.NewReader(outR), in: inW}
	t.Cleanup(func() {
		c.End()
		_ = outR.Close()
	})
	return c
}

// Line returns the next line that the child prints, "ready" by Wait.
func (c *Child) Line(t testing.TB) string {
	t.Helper()
	text, err := c.Out.ReadString('\n')
	if err != nil {
		t.Fatalf("the child said %q: %v", text, err)
	}
	return strings.TrimSpace(text)
}

// End ends the child and waits for that.
func (c *Child) End() {
	if !c.done {
		c.done = true
		_, _ = c.in.Close(), c.Kill()
		_, _ = c.Wait()
	}
}
