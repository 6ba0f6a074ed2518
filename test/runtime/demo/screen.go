//go:build linux

package main

import (
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	"golang.org/x/sys/unix"
)

// width is that of the screen in columns.
const width = 100

// screen prints steps, evidence and what came of each.
type screen struct {
	w         io.Writer
	colour    bool
	held, not int
}

func newScreen(f *os.File) *screen {
	return &screen{w: f, colour: terminal(f) && os.Getenv("NO_COLOR") == ""}
}

func terminal(f *os.File) bool {
	_, err := unix.IoctlGetTermios(int(f.Fd()), unix.TCGETS)
	return err == nil && os.Getenv("TERM") != "dumb"
}

const (
	bold  = "1"
	green = "32"
	red   = "1;31"
	dim   = "2"
)

func (s *screen) paint(colour, text string) string {
	if !s.colour {
		return text
	}
	return "\x1b[" + colour + "m" + text + "\x1b[0m"
}

func (s *screen) heading(text string) { fmt.Fprintln(s.w, s.paint(bold, text)) }

// say prints sentences below a heading.
func (s *screen) say(text string) { fmt.Fprintln(s.w, strings.Join(wrap("  ", "  ", text), "\n")) }

// evidence prints what was seen, as it was, beside where it was seen.
func (s *screen) evidence(where, text string) {
	lines := wrap(fmt.Sprintf("  %-8s ", where), strings.Repeat(" ", 11), text)
	fmt.Fprintln(s.w, strings.Join(lines, "\n"))
}

// text prints a file.
func (s *screen) text(text string) {
	for line := range strings.Lines(text) {
		fmt.Fprintln(s.w, s.paint(dim, "  | "+strings.TrimSuffix(line, "\n")))
	}
}

// proves prints whether something holds, that is said as if it does.
func (s *screen) proves(holds bool, what string) {
	if !holds {
		s.failed(what, "")
		return
	}
	s.held++
	fmt.Fprintln(s.w, s.verdict(green, "OK", what))
}

// failed prints what does not hold, and why if that is not above.
func (s *screen) failed(what, why string) {
	s.not++
	fmt.Fprintln(s.w, s.verdict(red, "FAILED", "Not so: "+what))
	for line := range strings.Lines(why) {
		s.evidence("", line)
	}
}

func (s *screen) verdict(colour, word, what string) string {
	lines := wrap(fmt.Sprintf("%-10s ", word), strings.Repeat(" ", 11), what)
	lines[0] = s.paint(colour, word) + strings.TrimPrefix(lines[0], word)
	return strings.Join(lines, "\n")
}

// end prints the sum and returns an error unless everything held.
func (s *screen) end(took time.Duration) error {
	s.heading(fmt.Sprintf("%d of %d hold. It took %.1f s.", s.held, s.held+s.not, took.Seconds()))
	if s.not != 0 {
		return errFailed
	}
	return nil
}

// wrap breaks text between words. A word that is longer than a line stays
// whole.
func wrap(first, next, text string) []string {
	var lines []string
	line, empty := first, true
	for _, word := range strings.Fields(text) {
		if !empty && len(line)+len(word) > width {
			lines = append(lines, strings.TrimRight(line, " "))
			line = next
		}
		line, empty = line+word+" ", false
	}
	return append(lines, strings.TrimRight(line, " "))
}
