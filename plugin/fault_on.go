//go:build faults

package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"time"
)

// fault goes wrong as the file "fault" in the runtime directory says, one
// handler a line: "CreateContainer panic", "StartContainer sleep 3s", "StopContainer
// kill", "StopContainer kill-all" with the runtime first. What kills goes wrong
// once. It is for tests of what cannot be brought about in any other way, and in no
// binary that is shipped.
func (d *daemon) fault(h handler) {
	path := filepath.Join(d.settings.RuntimeDir, "fault")
	text, err := os.ReadFile(path)
	if err != nil {
		return
	}
	for line := range strings.Lines(string(text)) {
		words := strings.Fields(line)
		if len(words) < 2 || words[0] != string(h) {
			continue
		}
		switch words[1] {
		case "panic":
			panic(fmt.Sprintf("fault: %s", h))
		case "sleep":
			pause, err := time.ParseDuration(words[2])
			if err != nil {
				panic(err)
			}
			time.Sleep(pause)
		case "kill", "kill-all":
			if err := os.Remove(path); err != nil {
				return // another one was first
			}
			if words[1] == "kill-all" {
				_ = syscall.Kill(d.state.connection().pid, syscall.SIGKILL)
			}
			_ = syscall.Kill(os.Getpid(), syscall.SIGKILL)
		}
	}
}
