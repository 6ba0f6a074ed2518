package namespaces

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"testing"
)

const (
	roleVariable = "NAMESPACES_TEST_ROLE"
	doneVariable = "NAMESPACES_TEST_NAMESPACE"
)

// TestMain moves the test process into a mount namespace of its own, with
// private mounts: whatever is mounted is gone with the process, however it ends.
func TestMain(m *testing.M) {
	if role := os.Getenv(roleVariable); role != "" {
		if err := play(role, os.Args[1:]); err != nil {
			fmt.Fprintln(os.Stderr, role+":", err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	if os.Geteuid() == 0 && os.Getenv(doneVariable) == "" {
		if err := isolate(); err != nil {
			fmt.Fprintln(os.Stderr, "make a mount namespace for the tests:", err)
			os.Exit(1)
		}
	}
	os.Exit(m.Run())
}

func isolate() error {
	runtime.LockOSThread()
	if err := syscall.Unshare(syscall.CLONE_NEWNS); err != nil {
		return err
	}
	if err := syscall.Mount("", "/", "", syscall.MS_REC|syscall.MS_PRIVATE, ""); err != nil {
		return err
	}
	return syscall.Exec("/proc/self/exe", os.Args, append(os.Environ(), doneVariable+"=1"))
}

// play is what a child process of the tests does. All live until their standard
// input ends.
func play(role string, args []string) error {
	switch role {
	case "hold": // mounts at a directory
		if err := syscall.Mount("held", args[0], "tmpfs", 0, ""); err != nil {
			return err
		}
	case "wait":
	case "keep": // has the file of a namespace open
		f, err := os.Open(args[0])
		if err != nil {
			return err
		}
		defer f.Close()
	case "chroot": // the same as "hold", and changes its root to another directory
		if err := syscall.Mount("held", args[0], "tmpfs", 0, ""); err != nil {
			return err
		}
		if err := syscall.Chroot(args[1]); err != nil {
			return err
		}
	case "thread": // the same as "hold", on a thread of its own
		ready := make(chan error)
		var unshare func()
		unshare = func() {
			runtime.LockOSThread()
			if syscall.Gettid() == os.Getpid() {
				go unshare() // the first thread is the process
				select {}
			}
			err := syscall.Unshare(syscall.CLONE_NEWNS)
			if err == nil {
				err = syscall.Mount("held", args[0], "tmpfs", 0, "")
			}
			fmt.Println(syscall.Gettid())
			ready <- err
			select {}
		}
		go unshare()
		if err := <-ready; err != nil {
			return err
		}
	case "leave": // the same as "hold", and ends when a child is in its place
		if err := syscall.Mount("held", args[0], "tmpfs", 0, ""); err != nil {
			return err
		}
		fmt.Println("ready")
		line := make([]byte, 1)
		if _, err := os.Stdin.Read(line); err != nil {
			return err
		}
		p, err := os.StartProcess("/proc/self/exe", []string{"child"}, &os.ProcAttr{
			Env: []string{roleVariable + "=wait"}, Files: []*os.File{os.Stdin, os.Stdout, os.Stderr},
		})
		if err != nil {
			return err
		}
		fmt.Println(p.Pid)
		return nil
	case "census":
		return json.NewEncoder(os.Stdout).Encode(look(args[0]))
	default:
		return errors.New("no such role")
	}
	fmt.Println("ready")
	_, err := io.Copy(io.Discard, os.Stdin)
	return err
}

// process is a child of the tests.
type process struct {
	*os.Process
	in   *os.File
	out  *bufio.Reader
	done bool
}

// line reads one line that the child prints.
func (p *process) line(t testing.TB) string {
	t.Helper()
	text, err := p.out.ReadString('\n')
	if err != nil {
		t.Fatalf("the child said %q: %v", text, err)
	}
	return strings.TrimSpace(text)
}

// end ends the child and waits for it.
func (p *process) end() {
	if !p.done {
		p.done = true
		_ = p.in.Close()
		_ = p.Kill()
		_, _ = p.Wait()
	}
}

// child starts the test binary in a role.
func child(t testing.TB, role string, attr *syscall.SysProcAttr, args ...string) *process {
	t.Helper()
	inR, inW, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	outR, outW, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	p, err := os.StartProcess("/proc/self/exe", append([]string{"child"}, args...), &os.ProcAttr{
		Dir: "/", Env: append(os.Environ(), roleVariable+"="+role),
		Files: []*os.File{inR, outW, os.Stderr}, Sys: attr,
	})
	_, _ = inR.Close(), outW.Close()
	if err != nil {
		t.Fatal(err)
	}
	c := &process{Process: p, in: inW, out: bufio.NewReader(outR)}
	t.Cleanup(func() {
		c.end()
		_ = outR.Close()
	})
	return c
}

func ownNamespace() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Unshareflags: syscall.CLONE_NEWNS}
}

// holder starts a child in a mount namespace of its own with a tmpfs at dir.
func holder(t testing.TB, dir string) (*process, uint64) {
	t.Helper()
	p := child(t, "hold", ownNamespace(), dir)
	p.line(t)
	return p, inodeOfTask(t, strconv.Itoa(p.Pid))
}

func inodeOfTask(t testing.TB, task string) uint64 {
	t.Helper()
	link, err := os.Readlink("/proc/" + task + "/ns/mnt")
	if err != nil {
		t.Fatal(err)
	}
	inode, ok := inodeOf(link)
	if !ok {
		t.Fatalf("%q is no namespace", link)
	}
	return inode
}

func needRoot(t testing.TB) {
	t.Helper()
	if os.Geteuid() != 0 {
		t.Skip("needs root: mount namespaces")
	}
}
