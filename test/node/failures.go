//go:build linux

package main

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
)

// saidAtMost are the lines that are repeated of a test that failed.
const saidAtMost = 60

// failures repeats what each test said that did not pass, and what was said
// after the last one: of a log that someone keeps, the end is what is kept.
func failures(output string) string {
	var names []string
	said := make(map[string][]string)
	passed := make(map[string]bool)
	turn := regexp.MustCompile(`^=== (?:RUN|CONT|NAME) +(\S+)`)
	verdict := regexp.MustCompile(`^ *--- (PASS|FAIL|SKIP): (\S+)`)
	const atTheEnd = "(at the end)"
	current := atTheEnd
	for line := range strings.Lines(output) {
		line = strings.TrimSuffix(line, "\n")
		if match := turn.FindStringSubmatch(line); match != nil {
			current = match[1]
			names = append(names, current)
		} else if match := verdict.FindStringSubmatch(line); match != nil {
			passed[match[2]] = match[1] == "PASS"
			current = atTheEnd
		} else if line != "PASS" && line != "FAIL" {
			said[current] = append(said[current], line)
		}
	}
	names = slices.Compact(slices.Sorted(slices.Values(names)))
	if len(said[atTheEnd]) > 0 {
		names = append(names, atTheEnd)
	}
	var b strings.Builder
	for _, name := range names {
		if passed[name] {
			continue
		}
		fmt.Fprintf(&b, "== not passed: %s\n", name)
		lines := said[name]
		if more := len(lines) - saidAtMost; more > 0 {
			fmt.Fprintf(&b, "   | (%d lines before)\n", more)
			lines = lines[more:]
		}
		for _, line := range lines {
			fmt.Fprintf(&b, "   | %s\n", line)
		}
	}
	return b.String()
}
