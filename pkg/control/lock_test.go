package control

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/mountward/mountward/pkg/internal/linux"
	"github.com/mountward/mountward/pkg/internal/linux/linuxtest"
)

// TestMain makes this program the daemon that is killed.
func TestMain(m *testing.M) {
	linuxtest.Linger("killed", func(args []string) (any, error) {
		lock := new(Lock)
		if err := lock.Take(args[0]); err != nil {
			return nil, err
		}
		l, err := Listen(args[0])
		return []any{lock, l}, err
	})
	m.Run()
}

func TestALockHasOneHolder(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "run")
	var a, b Lock
	if err := a.Take(dir); err != nil {
		t.Fatal(err)
	}
	if err := a.Take(dir); err != nil {
		t.Errorf("taken again by its holder: %v", err)
	}
	if err := b.Take(dir); !errors.Is(err, ErrHeld) || !strings.Contains(err.Error(), "process ") {
		t.Errorf("%v", err)
	}
	a.Release()
	if err := b.Take(dir); err != nil {
		t.Errorf("after the release: %v", err)
	}
	b.Release()
	if err := os.Remove(dir + "/lock"); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink("elsewhere", dir+"/lock"); err != nil {
		t.Fatal(err)
	}
	if err := a.Take(dir); err == nil || errors.Is(err, ErrHeld) {
		t.Errorf("a symbolic link: %v", err)
	}
	if _, err := os.Lstat(dir + "/elsewhere"); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("it was followed: %v", err)
	}
}

// TestADeadDaemonKeepsNothing: neither the lock nor the socket is that of a daemon
// which was killed while a thread of it hangs in the kernel. To both it is open.
func TestADeadDaemonKeepsNothing(t *testing.T) {
	needsRoot(t)
	dir := t.TempDir()
	killed := linuxtest.Start(t, "killed", nil, dir)
	for end := time.Now().Add(time.Minute); !linux.Ending("/proc", killed.Pid); time.Sleep(time.Millisecond) {
		if time.Now().After(end) {
			t.Fatal("the child has not come so far")
		}
	}
	var a, b Lock
	if err := a.Take(dir); err != nil {
		t.Fatal(err)
	}
	defer a.Release()
	if err := b.Take(dir); !errors.Is(err, ErrHeld) {
		t.Errorf("one more: %v", err)
	}
	served(t, dir, fake{})
	if _, err := Ask(t.Context(), dir, Request{Verb: VerbStatus}); err != nil {
		t.Error(err)
	}
}

// TestOthersSwitchNothingOff: where anybody can write into the runtime directory,
// nothing that is found there is believed.
func TestOthersSwitchNothingOff(t *testing.T) {
	dir := t.TempDir()
	now := time.Now()
	if err := (Emergency{Since: now, Until: now.Add(time.Hour)}).Write(dir); err != nil {
		t.Fatal(err)
	}
	var a Lock
	if err := a.Take(dir); err != nil {
		t.Fatal(err)
	}
	defer a.Release()
	if err := os.Chmod(dir, 0o777); err != nil {
		t.Fatal(err)
	}
	if _, on, err := ReadEmergency(dir); on || err == nil || !strings.Contains(err.Error(), "chmod go-w "+dir) {
		t.Errorf("the note: %t, %v", on, err)
	}
	if err := new(Lock).Take(dir); err == nil || errors.Is(err, ErrHeld) || !strings.Contains(err.Error(), "chmod go-w "+dir) {
		t.Errorf("the lock: %v", err)
	}
	if os.Geteuid() != 0 {
		return
	}
	if err := errors.Join(os.Chmod(dir, 0o755), os.Chown(dir, 65534, 65534)); err != nil {
		t.Fatal(err)
	}
	if _, on, err := ReadEmergency(dir); on || err == nil || !strings.Contains(err.Error(), "chown root "+dir) {
		t.Errorf("the note in a directory of another user: %t, %v", on, err)
	}
}
