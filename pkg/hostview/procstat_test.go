package hostview

import (
	"fmt"
	"os"
	"testing"
)

func TestTheRuntimeIsNamedByItsNumberAndItsStart(t *testing.T) {
	const line = "%d (a) b) S 5 7 7 0 -1 4194560 1 0 0 0 0 0 0 0 20 0 1 0 %s 1 1\n"
	for name, tc := range map[string]struct{ text, want string }{
		"a line":   {fmt.Sprintf(line, 7, "1234"), "7@1234"},
		"no start": {"7 (a) S 5 7 7", ""},
		"no ticks": {fmt.Sprintf(line, 7, "-1"), ""},
		"empty":    {"", ""},
	} {
		proc := t.TempDir()
		mkdir(t, proc+"/7")
		if err := os.WriteFile(proc+"/7/stat", []byte(tc.text), 0o600); err != nil {
			t.Fatal(err)
		}
		if got := (&View{proc: proc, pid: 7}).RuntimeIdentity(); got != tc.want {
			t.Errorf("%s: %q, want %q", name, got, tc.want)
		}
	}
}

func TestAnotherProcessHasAnotherIdentity(t *testing.T) {
	dir := stage(t)
	self := openView(t, Options{})
	first := holder(t, mkdir(t, dir+"/a"))
	child := openView(t, Options{PID: first.Pid})
	id := child.RuntimeIdentity()
	if id == "" || id == self.RuntimeIdentity() || id != child.RuntimeIdentity() {
		t.Errorf("%q, and ours is %q", id, self.RuntimeIdentity())
	}
	if err := first.Kill(); err != nil {
		t.Fatal(err)
	}
	if _, err := first.Wait(); err != nil {
		t.Fatal(err)
	}
	if id := child.RuntimeIdentity(); id != "" {
		t.Errorf("a process that is gone: %q", id)
	}
}
