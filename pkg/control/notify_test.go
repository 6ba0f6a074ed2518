package control

import (
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// TestNotify: systemd gets what sd_notify(3) says, on both kinds of sockets, one
// datagram each.
func TestNotify(t *testing.T) {
	t.Parallel()
	for name, address := range map[string]string{
		"a path":       filepath.Join(t.TempDir(), "notify"),
		"an abstract ": fmt.Sprintf("@mountward-test-%d", os.Getpid()),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			socket, err := net.ListenUnixgram("unixgram", &net.UnixAddr{Net: "unixgram", Name: address})
			if err != nil {
				t.Fatal(err)
			}
			defer socket.Close()
			next := func() string {
				t.Helper()
				if err := socket.SetReadDeadline(time.Now().Add(20 * time.Second)); err != nil {
					t.Fatal(err)
				}
				b := make([]byte, 4096)
				n, err := socket.Read(b)
				if err != nil {
					t.Fatal(err)
				}
				return string(b[:n])
			}
			n := NewNotifier(address)
			for _, step := range []struct {
				send func() error
				want string
			}{
				{func() error { return n.Ready("12 rules") }, "READY=1\nSTATUS=12 rules"},
				{func() error { return n.Status("a\nREADY=1\x00") }, "STATUS=a?READY=1?"},
				{n.Alive, "WATCHDOG=1"},
				{n.Stopping, "STOPPING=1"},
			} {
				if err := step.send(); err != nil {
					t.Fatal(err)
				}
				if diff := cmp.Diff(step.want, next()); diff != "" {
					t.Errorf("(-want +got):\n%s", diff)
				}
			}
			if err := n.Reloading(); err != nil {
				t.Fatal(err)
			}
			usec, ok := strings.CutPrefix(next(), "RELOADING=1\nMONOTONIC_USEC=")
			if us, err := strconv.ParseInt(usec, 10, 64); !ok || err != nil || us <= 0 {
				t.Errorf("MONOTONIC_USEC=%q, %v", usec, err)
			}
		})
	}
}

// TestNobodyToNotify: without a socket nothing is sent, and a socket that is gone
// is an error that does not hang.
func TestNobodyToNotify(t *testing.T) {
	t.Parallel()
	for _, address := range []string{"", "vsock:2:1", "notify"} {
		if err := NewNotifier(address).Ready("x"); err != nil {
			t.Errorf("%q: %v", address, err)
		}
	}
	if err := NewNotifier(filepath.Join(t.TempDir(), "gone")).Alive(); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("%v, want no such file", err)
	}
}

func TestWatchdogEvery(t *testing.T) {
	t.Parallel()
	us := strconv.Itoa(os.Getpid())
	for _, test := range []struct {
		usec, pid string
		want      time.Duration
	}{
		{"", "", 0},
		{"30000000", "", 15 * time.Second},
		{"30000000", us, 15 * time.Second},
		{"30000000", "1", 0},
		{"0", "", 0},
		{"-5", "", 0},
		{"x", "", 0},
		{"9223372036854775807", "", 0},
	} {
		if got := WatchdogEvery(test.usec, test.pid); got != test.want {
			t.Errorf("%q of process %q: %s, want %s", test.usec, test.pid, got, test.want)
		}
	}
}
