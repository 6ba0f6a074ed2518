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

// patience bounds what should take milliseconds.
const patience = 20 * time.Second

func needsRoot(t *testing.T) {
	t.Helper()
	if os.Geteuid() != 0 {
		t.Skip("needs root")
	}
}

// served is a daemon's socket that is served until the test ends.
func served(t *testing.T, dir string, d Daemon) {
	t.Helper()
	l, err := Listen(dir)
	if err != nil {
		t.Fatal(err)
	}
	serveUntilEnd(t, l, dir, d)
}

func serveUntilEnd(t *testing.T, l *Listener, dir string, d Daemon) {
	t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan struct{})
	go func() { l.Serve(ctx, "v-test", d); close(done) }()
	t.Cleanup(func() {
		cancel()
		select {
		case <-done:
		case <-time.After(patience):
			t.Error("the server does not end")
		}
		if _, err := os.Lstat(Path(dir)); !errors.Is(err, os.ErrNotExist) {
			t.Errorf("the socket is left behind: %v", err)
		}
	})
}

func connect(t *testing.T, dir string) *net.UnixConn {
	t.Helper()
	conn, err := net.Dial("unix", Path(dir))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close() })
	return conn.(*net.UnixConn)
}

// TestAskAndAnswer: what is asked arrives, and so does what comes of it.
func TestAskAndAnswer(t *testing.T) {
	needsRoot(t)
	dir, asked := t.TempDir(), make(chan time.Duration, 1)
	served(t, dir, fake{asked})
	if info, err := os.Stat(Path(dir)); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("socket %v, %v; want mode 0600", info.Mode(), err)
	}
	r, err := Ask(t.Context(), dir, Request{Verb: VerbStatus})
	if err != nil || r.Status == nil || r.Status.PID != 7 || r.Version != "v-test" {
		t.Errorf("status %+v, %v", r, err)
	}
	r, err = Ask(t.Context(), dir, Request{Verb: VerbEmergency, For: "3m"})
	if err != nil || r.Warning != "careful" || <-asked != 3*time.Minute {
		t.Errorf("emergency %+v, %v", r, err)
	}
	if _, err = Ask(t.Context(), dir, Request{Verb: VerbEmergency, End: true}); err != nil || <-asked != 0 {
		t.Errorf("end: %v", err)
	}
	r, err = Ask(t.Context(), dir, Request{Verb: VerbReload})
	if err != nil || r.Policy == nil || r.Policy.Name != "p" || len(r.Policy.Wrong) != 1 || r.Status != nil {
		t.Errorf("reload %+v, %v", r, err)
	}
	for length, want := range map[string]string{"1s": errTest.Error(), "2s": "the daemon failed: boom", "0s": "want 1s to 24h"} {
		if _, err := Ask(t.Context(), dir, Request{Verb: VerbEmergency, For: length}); err == nil || !strings.Contains(err.Error(), want) || errors.Is(err, ErrNoAnswer) {
			t.Errorf("%s: %v, want an answer with %q", length, err, want)
		}
	}
}

// TestAReloadThatHangsIsOver in a time that is bounded, with an answer, and
// others are answered meanwhile.
func TestAReloadThatHangsIsOver(t *testing.T) {
	needsRoot(t)
	dir := t.TempDir()
	served(t, dir, fake{})
	done := make(chan error, 1)
	go func() {
		_, err := Ask(context.Background(), dir, Request{Verb: VerbReload})
		done <- err
	}()
	for range 3 {
		if _, err := Ask(t.Context(), dir, Request{Verb: VerbStatus}); err != nil {
			t.Error(err)
		}
	}
	select {
	case err := <-done:
		if err == nil || !strings.Contains(err.Error(), errTest.Error()) || errors.Is(err, ErrNoAnswer) {
			t.Errorf("%v, want the daemon's answer", err)
		}
	case <-time.After(reloadTime + patience):
		t.Fatal("it hangs")
	}
}

// TestNobodyAnswers: no socket, a dead one, and a daemon that says nothing are
// all the same to who asks.
func TestNobodyAnswers(t *testing.T) {
	needsRoot(t)
	none, dead, mute := t.TempDir(), t.TempDir(), t.TempDir()
	abandoned(t, dead)
	l, err := Listen(mute)
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	for name, dir := range map[string]string{"none": none, "dead": dead, "mute": mute, "no directory": filepath.Join(none, "x")} {
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		_, err := Ask(ctx, dir, Request{Verb: VerbStatus})
		cancel()
		if !errors.Is(err, ErrNoAnswer) {
			t.Errorf("%s: %v, want no answer", name, err)
		}
	}
}

// abandoned leaves the socket of a daemon that was killed.
func abandoned(t *testing.T, dir string) {
	t.Helper()
	l, err := net.ListenUnix("unix", &net.UnixAddr{Net: "unix", Name: Path(dir)})
	if err != nil {
		t.Fatal(err)
	}
	l.SetUnlinkOnClose(false)
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
}

// TestListen: the socket of a dead daemon is replaced, that of a living one is
// not, and nothing else ever is.
func TestListen(t *testing.T) {
	needsRoot(t)
	t.Run("a dead one", func(t *testing.T) {
		dir := t.TempDir()
		abandoned(t, dir)
		served(t, dir, fake{})
		if _, err := Ask(t.Context(), dir, Request{Verb: VerbStatus}); err != nil {
			t.Error(err)
		}
	})
	t.Run("a living one", func(t *testing.T) {
		dir := t.TempDir()
		served(t, dir, fake{})
		if _, err := Listen(dir); !errors.Is(err, ErrInUse) {
			t.Errorf("%v, want in use", err)
		}
		if _, err := Ask(t.Context(), dir, Request{Verb: VerbStatus}); err != nil {
			t.Errorf("the living one was hurt: %v", err)
		}
	})
	t.Run("no socket", func(t *testing.T) {
		dir := t.TempDir()
		if err := os.WriteFile(Path(dir), []byte("mine"), 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := Listen(dir); err == nil {
			t.Error("a file was taken for a dead socket")
		}
		if text, _ := os.ReadFile(Path(dir)); string(text) != "mine" {
			t.Error("the file is gone")
		}
	})
	t.Run("a directory of others", func(t *testing.T) {
		dir := t.TempDir()
		if err := os.Chmod(dir, 0o777); err != nil {
			t.Fatal(err)
		}
		if _, err := Listen(dir); err == nil || !strings.Contains(err.Error(), "chmod go-w") {
			t.Errorf("%v, want a hint", err)
		}
	})
	t.Run("a long path", func(t *testing.T) {
		dir := filepath.Join(t.TempDir(), strings.Repeat("d", 100), strings.Repeat("e", 100))
		served(t, dir, fake{})
		if _, err := Ask(t.Context(), dir, Request{Verb: VerbStatus}); err != nil {
			t.Error(err)
		}
		if info, err := os.Stat(dir); err != nil || info.Mode().Perm() != 0o700 {
			t.Errorf("directory %v, %v; want mode 0700", info.Mode(), err)
		}
	})
	t.Run("taken away", func(t *testing.T) {
		dir := t.TempDir()
		l, err := Listen(dir)
		if err != nil {
			t.Fatal(err)
		}
		if l.lost() {
			t.Error("lost at once")
		}
		if err := os.Remove(Path(dir)); err != nil {
			t.Fatal(err)
		}
		other, err := Listen(dir)
		if err != nil {
			t.Fatal(err)
		}
		defer other.Close()
		if !l.lost() {
			t.Error("not noticed")
		}
		if err := l.Close(); err != nil {
			t.Error(err)
		}
		if _, err := os.Lstat(Path(dir)); err != nil {
			t.Errorf("the other's socket was removed: %v", err)
		}
	})
}

// answered asks until there is an answer: on a machine that is busy a question may
// take longer than who asks would wait.
func answered(t *testing.T, dir string) {
	t.Helper()
	for end := time.Now().Add(patience); ; {
		_, err := Ask(t.Context(), dir, Request{Verb: VerbStatus})
		if err == nil {
			return
		}
		if time.Now().After(end) {
			t.Fatalf("never answered, the last time: %v", err)
		}
	}
}

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
