//go:build linux

package main

import (
	"io"
	"os"
	"os/signal"

	"golang.org/x/sys/unix"
)

// pause waits for SIGTERM or SIGINT and reaps the processes that are given to
// it meanwhile, as the first process of a pid namespace has to.
func pause(io.Writer, []string) error {
	signals := make(chan os.Signal, 8)
	signal.Notify(signals, unix.SIGTERM, unix.SIGINT, unix.SIGCHLD)
	for s := range signals {
		if s != unix.SIGCHLD {
			return nil
		}
		reap()
	}
	return nil
}

func reap() {
	for {
		pid, err := unix.Wait4(-1, nil, unix.WNOHANG, nil)
		if pid <= 0 || err != nil {
			return
		}
	}
}
