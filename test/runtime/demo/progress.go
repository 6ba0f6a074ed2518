//go:build linux

package main

import (
	"fmt"
	"os"
)

// progress says what is being waited for. On a terminal it is one line that
// goes away.
type progress struct {
	w        *os.File
	terminal bool
}

func newProgress(f *os.File) *progress { return &progress{f, terminal(f)} }

const eraseLine = "\r\x1b[K"

func (p *progress) say(what string) {
	if p.terminal {
		fmt.Fprint(p.w, eraseLine, "demo: ", what, " ...")
		return
	}
	fmt.Fprintln(p.w, "demo:", what)
}

func (p *progress) clear() {
	if p.terminal {
		fmt.Fprint(p.w, eraseLine)
	}
}
