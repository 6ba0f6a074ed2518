package linuxtest

import (
	"os"
	"testing"
)

const mkfsExt4 = "/usr/sbin/mkfs.ext4"

// Ext4 makes an ext4 on a loop device and returns its node.
func Ext4(t testing.TB) string {
	t.Helper()
	if _, err := os.Stat(mkfsExt4); err != nil {
		t.Skip("needs root and mkfs.ext4 (e2fsprogs): ", err)
	}
	node := Loop(t, 32<<20)
	run(t, mkfsExt4, "-q", "-F", node)
	return node
}

// run runs a program that makes a file system, without its output.
func run(t testing.TB, program ...string) {
	t.Helper()
	null, err := os.OpenFile(os.DevNull, os.O_RDWR, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer null.Close()
	p, err := os.StartProcess(program[0], program, &os.ProcAttr{Files: []*os.File{null, null, os.Stderr}})
	if err != nil {
		t.Fatal(err)
	}
	if state, err := p.Wait(); err != nil || !state.Success() {
		t.Fatalf("%s: %v %v", program[0], state, err)
	}
}
