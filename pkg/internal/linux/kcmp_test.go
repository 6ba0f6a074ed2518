package linux

import (
	"os"
	"runtime"
	"testing"

	"golang.org/x/sys/unix"
)

// TestThreadsShareTheirFilesUntilTheyDoNot: a thread that has left shares
// neither its descriptors nor its directories.
func TestThreadsShareTheirFilesUntilTheyDoNot(t *testing.T) {
	type thread struct {
		id  int
		err error
	}
	started, end := make(chan thread), make(chan struct{})
	defer close(end)
	one := func(leave uintptr) int {
		go func() {
			runtime.LockOSThread() // and never unlocked: the thread ends with it
			var err error
			if unix.Gettid() == os.Getpid() { // nothing would be compared
				started <- thread{}
				<-end
				return
			}
			if leave != 0 {
				err = unix.Unshare(int(leave))
			}
			started <- thread{unix.Gettid(), err}
			<-end
		}()
		s := <-started
		if s.err != nil {
			t.Fatal(s.err)
		}
		return s.id
	}
	start := func(leave uintptr) int {
		if id := one(leave); id != 0 {
			return id
		}
		return one(leave) // the first thread is taken now
	}
	for _, test := range []struct {
		leave       uintptr
		files, dirs bool
	}{{0, true, true}, {unix.CLONE_FILES, false, true}, {unix.CLONE_FS, true, false}} {
		id := start(test.leave)
		files, err := SharesFiles(os.Getpid(), id)
		if err != nil {
			t.Fatal(err)
		}
		dirs, err := SharesDirectories(os.Getpid(), id)
		if err != nil || files != test.files || dirs != test.dirs {
			t.Errorf("after unshare %#x: files %t, directories %t, %v; want %t, %t", test.leave, files, dirs, err, test.files, test.dirs)
		}
	}
	if _, err := SharesFiles(os.Getpid(), 1<<30); err == nil || !Gone(err) {
		t.Errorf("a thread that is not there: %v", err)
	}
}
