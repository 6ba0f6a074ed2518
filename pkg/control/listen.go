package control

import (
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"sync"
	"syscall"

	"github.com/mountward/mountward/pkg/internal/file"
	"github.com/mountward/mountward/pkg/internal/linux"
)

// ErrInUse matches the error of Listen where a living daemon has the socket.
var ErrInUse = errors.New("another daemon listens there")

// Listener is the socket of a daemon.
type Listener struct {
	*net.UnixListener
	path string
	made fs.FileInfo // what we made at path

	once   sync.Once
	closed error
}

// Listen makes the socket in a runtime directory (settings.RuntimeDir), for root
// alone. That of a daemon which is dead is replaced, that of one which lives is
// not.
func Listen(dir string) (*Listener, error) {
	l, err := listen(dir)
	if err != nil {
		return nil, fmt.Errorf("listen on %s: %w", Path(dir), err)
	}
	return l, nil
}

func listen(dir string) (*Listener, error) {
	if err := prepare(dir); err != nil {
		return nil, err
	}
	if err := dead(dir); err != nil {
		return nil, err
	}
	// It comes into being under another name, so that nobody can connect before
	// it has its mode, and nobody finds no socket meanwhile.
	name := fmt.Sprintf(".%s.%d", socketName, os.Getpid())
	temporary := filepath.Join(dir, name)
	if err := os.Remove(temporary); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	addr, release, err := address(dir, name)
	if err != nil {
		return nil, err
	}
	defer release()
	socket, err := net.ListenUnix("unix", &net.UnixAddr{Net: "unix", Name: addr})
	if err != nil {
		return nil, err
	}
	socket.SetUnlinkOnClose(false) // by then the name can be another daemon's
	l := &Listener{UnixListener: socket, path: Path(dir)}
	if err = os.Chmod(temporary, 0o600); err == nil {
		if l.made, err = os.Lstat(temporary); err == nil {
			err = os.Rename(temporary, l.path)
		}
	}
	if err != nil {
		return nil, errors.Join(err, socket.Close(), os.Remove(temporary))
	}
	return l, nil
}

// Close ends the listening and removes the socket, if it is still ours. It may be
// called again.
func (l *Listener) Close() error {
	l.once.Do(func() {
		l.closed = l.UnixListener.Close()
		if !l.lost() {
			l.closed = errors.Join(l.closed, os.Remove(l.path))
		}
	})
	return l.closed
}

// lost reports whether the socket is no longer where commands look for it.
func (l *Listener) lost() bool {
	now, err := os.Lstat(l.path)
	return err != nil || !os.SameFile(now, l.made)
}

// prepare makes a runtime directory, and refuses one in which others could put a
// socket of theirs.
func prepare(dir string) error {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	return file.Guarded(dir)
}

// dead returns nil where nobody listens at the socket's path.
func dead(dir string) error {
	info, err := os.Lstat(Path(dir))
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil
	case err != nil:
		return err
	case info.Mode().Type() != fs.ModeSocket:
		return errors.New("there is something that is no socket")
	}
	addr, release, err := address(dir, socketName)
	if err != nil {
		return err
	}
	defer release()
	conn, err := net.Dial("unix", addr)
	switch {
	case err == nil:
		defer conn.Close() // it was only to see that somebody takes it
		// Of one that is dead a thread may hang in the kernel and keep the socket.
		if pid, err := linux.PeerPID(conn.(*net.UnixConn)); err == nil && linux.Ending("/proc", pid) {
			return nil
		}
		return ErrInUse
	case errors.Is(err, syscall.ECONNREFUSED), errors.Is(err, fs.ErrNotExist):
		return nil
	default: // EAGAIN: too many wait there already
		return fmt.Errorf("%w: %w", ErrInUse, err)
	}
}
