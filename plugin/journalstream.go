package main

import (
	"fmt"
	"os"
	"syscall"
)

// toJournal reports whether what is written to the file is in the journal
// already: stream is $JOURNAL_STREAM, "DEVICE:INODE" of the socket that systemd
// connected a service's output to. A variable that was inherited by a process
// whose output leads elsewhere names another file. Source: systemd.exec(5).
func toJournal(f *os.File, stream string) bool {
	if f == nil || stream == "" {
		return false
	}
	info, err := f.Stat()
	if err != nil {
		return false // a line too many is better than none
	}
	stat, ok := info.Sys().(*syscall.Stat_t)
	return ok && stream == fmt.Sprintf("%d:%d", stat.Dev, stat.Ino)
}
