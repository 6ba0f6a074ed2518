package linuxtest

import (
	"os"
	"runtime"
	"syscall"
	"time"
)

// Linger is for a TestMain. In a process that Start has started in the role it
// calls prepare and does not return: the first thread ends and others stay, with
// all that is open, as in a process that was killed while a thread of it hangs in
// the kernel.
func Linger(role string, prepare func(args []string) (open any, err error)) {
	if os.Getenv(roleVariable) != role {
		return
	}
	open, err := prepare(os.Args[1:])
	exitOn(role, err)
	var pipe [2]int
	exitOn(role, syscall.Pipe(pipe[:]))
	stay := func() { _, _ = syscall.Read(pipe[0], make([]byte, 1)) }
	ends := make(chan struct{})
	for {
		// Each takes a thread and keeps it: one of them gets the first.
		go func() {
			runtime.LockOSThread()
			if syscall.Gettid() != os.Getpid() {
				stay()
			}
			close(ends)
			_, _, _ = syscall.RawSyscall(syscall.SYS_EXIT, 0, 0, 0)
		}()
		select {
		case <-ends:
			stay()
			runtime.KeepAlive(open)
		case <-time.After(time.Millisecond):
		}
	}
}
