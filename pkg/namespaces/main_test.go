package namespaces

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"runtime"
	"strconv"
	"syscall"
	"testing"

	"github.com/mountward/mountward/pkg/internal/linux/linuxtest"
)

// TestMain runs the tests in a mount namespace of their own.
func TestMain(m *testing.M) { linuxtest.Main(m, syscall.MS_PRIVATE, play) }

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
			Env: linuxtest.Role("wait"), Files: []*os.File{os.Stdin, os.Stdout, os.Stderr},
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
	return linuxtest.Wait()
}

func ownNamespace() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Unshareflags: syscall.CLONE_NEWNS}
}

// holder starts a child in a mount namespace of its own with a tmpfs at dir.
func holder(t testing.TB, dir string) (*linuxtest.Child, uint64) {
	t.Helper()
	p := linuxtest.Start(t, "hold", ownNamespace(), dir)
	p.Line(t)
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
