package control

import (
	"context"
	"errors"
	"net"
	"os"
	"path/filepath"
	"strings"
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
