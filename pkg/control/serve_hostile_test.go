package control

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"
)

// TestNoClientHoldsUpTheDaemon: whatever clients do, the next one is answered, and
// nothing is left of them.
func TestNoClientHoldsUpTheDaemon(t *testing.T) {
	needsRoot(t)
	dir := t.TempDir()
	served(t, dir, fake{})
	before := runtime.NumGoroutine()
	valid := []byte(`{"schema":"mountward.request/v1","verb":"status"}` + "\n")
	for name, client := range map[string]func(*testing.T, *net.UnixConn){
		"silence": func(*testing.T, *net.UnixConn) {},
		"half a request": func(t *testing.T, c *net.UnixConn) {
			_, _ = c.Write(valid[:20])
		},
		"half a request and gone": func(t *testing.T, c *net.UnixConn) {
			_, _ = c.Write(valid[:20])
			_ = c.Close()
		},
		"garbage without end": func(t *testing.T, c *net.UnixConn) {
			_, _ = c.Write([]byte(strings.Repeat("x", 1<<20)))
		},
		"asks and does not read": func(t *testing.T, c *net.UnixConn) {
			_ = c.SetReadBuffer(1)
			_, _ = c.Write(valid)
		},
	} {
		t.Run(name, func(t *testing.T) {
			for range 8 {
				client(t, connect(t, dir))
			}
			answered(t, dir)
		})
	}
	t.Run("ten thousand connections", func(t *testing.T) {
		var work sync.WaitGroup
		for range 10 {
			work.Go(func() {
				var held []net.Conn
				for range 1000 {
					c, err := net.Dial("unix", Path(dir))
					if errors.Is(err, syscall.EAGAIN) {
						continue // too many at one time for the kernel
					}
					if err != nil {
						t.Errorf("dial: %v", err)
						return
					}
					if held = append(held, c); len(held) == 50 {
						for _, c := range held {
							_ = c.Close()
						}
						held = nil
					}
				}
			})
		}
		work.Wait()
		answered(t, dir)
	})
	for end := time.Now().Add(patience); runtime.NumGoroutine() > before+1; time.Sleep(10 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("%d goroutines, %d before", runtime.NumGoroutine(), before)
		}
	}
}

// TestWhatWasGivenUpIsNotDone: a daemon that hung finds it in its socket.
func TestWhatWasGivenUpIsNotDone(t *testing.T) {
	needsRoot(t)
	dir, asked := t.TempDir(), make(chan time.Duration, 2)
	l, err := Listen(dir)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	if _, err := Ask(ctx, dir, Request{Verb: VerbEmergency, For: "1h"}); !errors.Is(err, ErrNoAnswer) {
		t.Fatalf("%v, want no answer", err)
	}
	serveUntilEnd(t, l, dir, fake{asked})
	if _, err := Ask(t.Context(), dir, Request{Verb: VerbEmergency, For: "1m"}); err != nil {
		t.Fatal(err)
	}
	if got := <-asked; got != time.Minute || len(asked) != 0 {
		t.Errorf("an emergency of %s, which was given up", got)
	}
}

// TestARequestIsBounded: who sends more than one has is told so, and not listened
// to any longer.
func TestARequestIsBounded(t *testing.T) {
	needsRoot(t)
	dir := t.TempDir()
	served(t, dir, fake{})
	conn := connect(t, dir)
	if _, err := conn.Write([]byte(strings.Repeat(" ", maxRequest+1))); err != nil {
		t.Fatal(err)
	}
	answer, _ := io.ReadAll(conn) // the rest is thrown away, which may be an error
	if want := fmt.Sprintf("longer than %d bytes", maxRequest); !strings.Contains(string(answer), want) {
		t.Errorf("answer %q, want %q", answer, want)
	}
}

// TestTooManyAreToldToComeAgain: and who is told so comes again.
func TestTooManyAreToldToComeAgain(t *testing.T) {
	needsRoot(t)
	dir := t.TempDir()
	served(t, dir, fake{})
	busy := func() bool {
		for range maxConnections {
			connect(t, dir)
		}
		line, err := exchange(withTimeout(t), dir, Request{Schema: RequestSchema, Verb: VerbStatus})
		r, _ := parseResponse(line)
		if err != nil {
			t.Fatalf("%s, %v; want busy", line, err)
		}
		return r.Busy
	}
	// On a machine that is busy itself the silent ones may have been given up by
	// then.
	for end := time.Now().Add(patience); !busy(); {
		if time.Now().After(end) {
			t.Fatal("it is never busy")
		}
	}
	if _, err := Ask(t.Context(), dir, Request{Verb: VerbStatus}); err != nil {
		t.Errorf("once the silent ones were given up: %v", err)
	}
}

func withTimeout(t *testing.T) context.Context {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	t.Cleanup(cancel)
	return ctx
}

// TestOnlyRootIsAnswered: also where somebody has opened the directory and the
// socket to others.
func TestOnlyRootIsAnswered(t *testing.T) {
	needsRoot(t)
	dir := t.TempDir()
	asked := make(chan time.Duration, 2)
	served(t, dir, fake{asked})
	for _, path := range []string{filepath.Dir(dir), dir, Path(dir)} {
		if err := os.Chmod(path, 0o777); err != nil {
			t.Fatal(err)
		}
	}
	ask := func(uid uintptr) (string, error) {
		var answer []byte
		var err error
		done := make(chan struct{})
		go func() { // the thread is not unlocked: it ends with the goroutine
			defer close(done)
			runtime.LockOSThread()
			if _, _, errno := syscall.RawSyscall(syscall.SYS_SETRESUID, uid, uid, uid); errno != 0 {
				err = errno
				return
			}
			var fd int
			if fd, err = syscall.Socket(syscall.AF_UNIX, syscall.SOCK_STREAM, 0); err != nil {
				return
			}
			conn := os.NewFile(uintptr(fd), "client")
			defer conn.Close()
			if err = syscall.Connect(fd, &syscall.SockaddrUnix{Name: Path(dir)}); err != nil {
				return
			}
			_, _ = conn.Write([]byte(`{"schema":"mountward.request/v1","verb":"emergency","for":"1h"}` + "\n"))
			answer, _ = io.ReadAll(conn)
		}()
		<-done
		return string(answer), err
	}
	if answer, err := ask(65534); err != nil || answer != "" {
		t.Errorf("nobody is told %q, %v", answer, err)
	}
	if answer, err := ask(0); err != nil || !strings.Contains(answer, "careful") {
		t.Errorf("root is told %q, %v", answer, err)
	}
	if n := len(asked); n != 1 {
		t.Errorf("%d emergencies, want root's alone", n)
	}
}
