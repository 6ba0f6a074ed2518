package control

import (
	"fmt"
	"net"
	"os"
	"strconv"
	"strings"
	"time"

	"github.com/mountward/mountward/pkg/internal/linux"
)

// notifyTime bounds how long a notification may take; systemd reads at once.
const notifyTime = time.Second

// Notifier tells systemd about the daemon, by the protocol of sd_notify(3). The
// nil Notifier tells nobody.
type Notifier struct{ address string }

// NewNotifier returns the notifier for a value of $NOTIFY_SOCKET: the path of a
// socket, or a name of the abstract namespace that begins with "@". It is nil
// for "" and for kinds of sockets that we cannot write to.
func NewNotifier(socket string) *Notifier {
	if !strings.HasPrefix(socket, "/") && !strings.HasPrefix(socket, "@") {
		return nil
	}
	return &Notifier{socket} // package net takes "@" for the abstract namespace
}

// WatchdogEvery returns how often Alive is wanted, half of the time after which
// systemd kills, from the values of $WATCHDOG_USEC and $WATCHDOG_PID. It is 0
// where nobody waits for it.
func WatchdogEvery(usec, pid string) time.Duration {
	n, err := strconv.ParseInt(usec, 10, 64)
	if err != nil || n <= 0 || n > int64(time.Duration(1<<62)/time.Microsecond) {
		return 0
	}
	if pid != "" && pid != strconv.Itoa(os.Getpid()) {
		return 0
	}
	return time.Duration(n) * time.Microsecond / 2
}

// Ready says that the start is over, or the reload.
func (n *Notifier) Ready(status string) error { return n.send("READY=1", "STATUS="+line(status)) }

// Status says in one line how it goes.
func (n *Notifier) Status(status string) error { return n.send("STATUS=" + line(status)) }

// Alive says that the daemon was found to work.
func (n *Notifier) Alive() error { return n.send("WATCHDOG=1") }

// Reloading says that a reload begins; Ready ends it.
func (n *Notifier) Reloading() error {
	now, err := linux.Monotonic()
	if err != nil {
		return fmt.Errorf("notify systemd: %w", err)
	}
	return n.send("RELOADING=1", fmt.Sprintf("MONOTONIC_USEC=%d", now.Microseconds()))
}

// Stopping says that the end has begun.
func (n *Notifier) Stopping() error { return n.send("STOPPING=1") }

// send writes one datagram with an assignment a line.
func (n *Notifier) send(lines ...string) error {
	if n == nil {
		return nil
	}
	conn, err := net.DialUnix("unixgram", nil, &net.UnixAddr{Net: "unixgram", Name: n.address})
	if err != nil {
		return fmt.Errorf("notify systemd: %w", err)
	}
	defer conn.Close()
	if err := conn.SetWriteDeadline(time.Now().Add(notifyTime)); err != nil {
		return fmt.Errorf("notify systemd: %w", err)
	}
	if _, err := conn.Write([]byte(strings.Join(lines, "\n"))); err != nil {
		return fmt.Errorf("notify systemd: %w", err)
	}
	return nil
}

// line keeps a text from being more than one assignment.
func line(s string) string {
	return strings.Map(func(r rune) rune {
		if r < ' ' || r == 0x7f {
			return '?'
		}
		return r
	}, s)
}
