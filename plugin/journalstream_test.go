package main

import (
	"fmt"
	"os"
	"path/filepath"
	"syscall"
	"testing"
)

func TestToJournalIsToldByTheFileItself(t *testing.T) {
	f, err := os.Create(filepath.Join(t.TempDir(), "stderr"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	var stat syscall.Stat_t
	if err := syscall.Fstat(int(f.Fd()), &stat); err != nil {
		t.Fatal(err)
	}
	for _, test := range []struct {
		name   string
		file   *os.File
		stream string
		want   bool
	}{
		{"the stream itself", f, fmt.Sprintf("%d:%d", stat.Dev, stat.Ino), true},
		{"another inode", f, fmt.Sprintf("%d:%d", stat.Dev, stat.Ino+1), false},
		{"another device", f, fmt.Sprintf("%d:%d", stat.Dev+1, stat.Ino), false},
		{"no service", f, "", false},
		{"garbage", f, "x", false},
		{"no output at all", nil, fmt.Sprintf("%d:%d", stat.Dev, stat.Ino), false},
	} {
		if got := toJournal(test.file, test.stream); got != test.want {
			t.Errorf("%s: toJournal(%q) = %t, want %t", test.name, test.stream, got, test.want)
		}
	}
}
