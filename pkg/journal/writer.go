package journal

import (
	"errors"
	"fmt"
	"os"
	"sync"
	"syscall"
	"time"

	"github.com/mountward/mountward/pkg/internal/linux"
)

// DefaultSocket is where journald listens for the native protocol.
const DefaultSocket = "/run/systemd/journal/socket"

// DefaultTimeout is how long one record waits for room in journald's queue.
const DefaultTimeout = time.Second

// Writer sends records to a journal socket. It is safe for concurrent use;
// while one record waits for room the others wait behind it.
type Writer struct {
	path string
	mu   sync.Mutex
	sock *os.File // nil after Close
}

// NewWriter returns a Writer for the datagram socket at path. The socket need
// not exist yet, and may go and come back: every record is addressed anew. A
// record for which there is no room within timeout (0: DefaultTimeout) fails.
func NewWriter(path string, timeout time.Duration) (*Writer, error) {
	if timeout <= 0 {
		timeout = DefaultTimeout
	}
	// The socket is a blocking one on purpose. poll(2) tells an unconnected
	// datagram socket nothing about room at the receiver, so the netpoller
	// would sleep out its whole deadline; SO_SNDTIMEO wakes at once.
	fd, err := syscall.Socket(syscall.AF_UNIX, syscall.SOCK_DGRAM|syscall.SOCK_CLOEXEC, 0)
	if err != nil {
		return nil, fmt.Errorf("open socket for journal %s: %w", path, err)
	}
	sock := os.NewFile(uintptr(fd), "journal")
	wait := syscall.NsecToTimeval(timeout.Nanoseconds())
	if err := syscall.SetsockoptTimeval(fd, syscall.SOL_SOCKET, syscall.SO_SNDTIMEO, &wait); err != nil {
		return nil, errors.Join(fmt.Errorf("limit wait for journal %s: %w", path, err), sock.Close())
	}
	return &Writer{path: path, sock: sock}, nil
}

// Send sends one record. A record too large for a datagram goes in a sealed
// memory file. The error is syscall.EAGAIN when journald made no room in time,
// ENOENT or ECONNREFUSED when nobody listens, os.ErrClosed after Close.
func (w *Writer) Send(fields []Field) error {
	record, err := Encode(fields)
	if err != nil {
		return err
	}
	return w.SendEncoded(record)
}

// SendEncoded sends a record as Encode has made it, with the errors of Send.
func (w *Writer) SendEncoded(record []byte) error {
	err := w.sendmsg(record, nil)
	if errors.Is(err, syscall.EMSGSIZE) || errors.Is(err, syscall.ENOBUFS) {
		err = w.sendFile(record)
	}
	if err != nil {
		return fmt.Errorf("send record of %d bytes to journal %s: %w", len(record), w.path, err)
	}
	return nil
}

// Close closes the socket. It waits for a Send under way.
func (w *Writer) Close() error {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.sock == nil {
		return os.ErrClosed
	}
	sock := w.sock
	w.sock = nil
	return sock.Close()
}

func (w *Writer) sendFile(record []byte) error {
	file, err := linux.SealedMemfd("mountward-journal", record)
	if err != nil {
		return err
	}
	err = w.sendmsg(nil, syscall.UnixRights(int(file.Fd())))
	return errors.Join(err, file.Close())
}

// sendmsg tries again when a signal came in between: the runtime's own
// preemption signals must not lose a record.
func (w *Writer) sendmsg(data, rights []byte) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.sock == nil {
		return os.ErrClosed
	}
	conn, err := w.sock.SyscallConn()
	if err != nil {
		return err
	}
	var sent error
	err = conn.Control(func(fd uintptr) {
		for tries := 0; tries < 3; tries++ {
			sent = syscall.Sendmsg(int(fd), data, rights, &syscall.SockaddrUnix{Name: w.path}, syscall.MSG_NOSIGNAL)
			if !errors.Is(sent, syscall.EINTR) {
				return
			}
		}
	})
	return errors.Join(err, sent)
}
