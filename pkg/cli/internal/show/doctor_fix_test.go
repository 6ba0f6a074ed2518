package show

import (
	"io"
	"strings"
	"testing"

	"github.com/mountward/mountward/pkg/doctor"
	"github.com/mountward/mountward/pkg/facts"
	"github.com/mountward/mountward/pkg/internal/shell"
)

// TestAFixIsPrintedAsItIsToBeDone: a line that is added replaces no file, and a
// command is the one that was meant, whatever the name in it.
func TestAFixIsPrintedAsItIsToBeDone(t *testing.T) {
	command := "mount --make-rshared " + shell.Quote("/run/k\nPROBLEM forged\x1b[31m \\ '")
	d := doctor.Document{Findings: []doctor.Finding{{
		Code: "c", Answer: facts.No, Subject: "s", Message: "m",
		Fixes: []doctor.Fix{
			{What: "add", File: "/etc/fstab", Content: "/a /b none rbind 0 0\n", Add: true},
			{What: "write", File: "/etc/x.conf", Content: "x\n"},
			{What: "run", Commands: []string{command}},
		},
	}}}
	got := text(t, func(w io.Writer) error { return DoctorTable(w, d) })
	for _, line := range []string{"add to /etc/fstab, to what it has:\n", "write /etc/x.conf:\n", "$ " + command + "\n"} {
		if !strings.Contains(got, line) {
			t.Errorf("no %q in\n%s", line, got)
		}
	}
	if strings.Contains(got, "write /etc/fstab") {
		t.Errorf("fstab is replaced:\n%s", got)
	}
}
