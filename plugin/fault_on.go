//go:build faults

package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"
)

// fault goes wrong as the file "fault" in the runtime directory says, one
// handler a line: "CreateContainer panic", "StartContainer sleep 3s". It is for
// tests of what cannot be brought about in any other way, and in no binary that
// is shipped.
func (d *daemon) fault(h handler) {
	text, err := os.ReadFile(filepath.Join(d.settings.RuntimeDir, "fault"))
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
		}
	}
}
