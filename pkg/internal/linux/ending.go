package linux

import (
	"fmt"
	"os"
	"strconv"
	"strings"
)

// Ending reports whether a process was killed or has ended. It can be there for
// long all the same: a thread that hangs in the kernel keeps what the process
// has open, its locks and the sockets at which nobody listens any more.
//
// Source: State, SigPnd and ShdPnd in proc_pid_status(5).
func Ending(proc string, pid int) bool {
	text, err := os.ReadFile(fmt.Sprintf("%s/%d/status", proc, pid))
	if err != nil {
		return false
	}
	for line := range strings.Lines(string(text)) { // a newline in a name is escaped
		key, value, _ := strings.Cut(strings.TrimSpace(line), ":\t")
		switch key {
		case "State":
			if strings.HasPrefix(value, "Z") || strings.HasPrefix(value, "X") {
				return true
			}
		case "SigPnd", "ShdPnd":
			const kill = 1 << (9 - 1) // SIGKILL
			if pending, err := strconv.ParseUint(value, 16, 64); err == nil && pending&kill != 0 {
				return true
			}
		}
	}
	return false
}
